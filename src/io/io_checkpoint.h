/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: all that a run needs to go on, checkpoint-<step>.h5.
 *
 *   P1  A run that goes on gives the same bits as one that was never stopped,
 *       on any number of ranks.
 *   P2  A file is written under another name and renamed once it is on the
 *       disk: what is called checkpoint-<step>.h5 was whole.
 *   P3  Every array has checksums. A file that cannot be read any more is
 *       passed over, with a warning, for the one before it.
 *   P4  A file of another mesh or seed, of other materials, groups or
 *       constants is an error. Walls, sources, steps and numbers of packets may
 *       change: the run goes on with them.
 *   P5  Memory on rank 0 does not grow with the number of ranks.
 */
#ifndef STORM_IO_CHECKPOINT_H
#define STORM_IO_CHECKPOINT_H

#include <stdint.h>

#include <storm/packet.h>

#include "physics/imc.h"
#include "run/run.h"

enum { CHECKPOINT_VERSION = 1, CHECKPOINT_PATH = 4096 };

/* Numbers of the run, the same on all ranks. */
struct checkpoint_head {
    uint64_t version, step;
    uint64_t n_cells, n_groups, seed, mesh_hash, matter_hash; /* P4 */
    uint64_t n_packets, state_hash;
    uint64_t created, absorbed, escaped; /* packets, so far */
    double start_s, time_s, nominal_s, worst_balance;
};

/* What a rank takes out of a file: its cells' state, a share of the packets,
 * and on rank 0 the accounts and the list of dumps. */
struct checkpoint {
    struct checkpoint_head head;
    double *cells; /* IMC_STATE_VALUES each */
    struct storm_packet *packets;
    size_t n_packets;
    struct storm_ledger account[STORM_LEDGER_ACCOUNTS];
    char *grids;
};

/* checkpoint.c: writes the present state. Collective; STORM_ERR_IO is logged. */
storm_status checkpoint_write(struct run *run,
                              const struct checkpoint_head *head,
                              const char *dir, const char *name);

/* Reads. Local; STORM_ERR_IO: the file is damaged or was made by another
 * version. Clear it also after an error. */
storm_status checkpoint_read(const struct run *run, const char *path,
                             struct checkpoint *checkpoint_out);
void checkpoint_clear(struct checkpoint *checkpoint);

/* run_restart.c: may the run write to out_dir? Not beside another's checkpoints
 * (logged), whose deck and dumps it would replace. On rank 0. */
bool run_may_start(const struct run *run);

/* Writes one if it is due, and removes those before it that are too many.
 * Collective. */
storm_status run_checkpoint(struct run *run, bool last);

/* Puts the run where the newest good one of restart_dir has it. Collective. */
storm_status run_restart(struct run *run);

#endif /* STORM_IO_CHECKPOINT_H */
