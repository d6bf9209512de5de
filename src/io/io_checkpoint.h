/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: all that a run needs to go on, checkpoint-<step>.h5. Here is the
 * file; when one is written and which stay is the run's (run/run_restart.c).
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

#include "io/io_fields.h"
#include "io/io_files.h"

/* Of the file, and of the state of physics in it (storm_imc_state_layout). */
enum { IO_CHECKPOINT_VERSION = 1, IO_CHECKPOINT_STATE_VERSION = 1 };

/* Numbers of the run, the same on all ranks. */
struct io_checkpoint_head {
    uint64_t version, step;
    uint64_t n_cells, n_groups, seed, mesh_hash, matter_hash; /* P4 */
    uint64_t n_packets, state_hash;
    uint64_t created, absorbed, escaped; /* packets, so far */
    double start_s, time_s, nominal_s, worst_balance;
};

/* What a rank takes out of a file: its cells' state, a share of the packets,
 * the accounts and the list of dumps. */
struct io_checkpoint {
    struct io_checkpoint_head head;
    double *cells;
    int64_t *accounts;
    struct storm_packet *packets;
    size_t n_packets;
    char *grids;
    struct storm_memory *memory; /* whose they are */
};

/* Writes the present state: source and series as for dumps. Collective, blocks;
 * STORM_ERR_IO is logged, and no file is left. */
storm_status io_checkpoint_write(const struct io_source *source,
                                 const struct io_series *series,
                                 const struct io_checkpoint_head *head);

/* The name of the file; false: it is too long. */
bool io_checkpoint_path(const char *dir, uint64_t step,
                        char path_out[IO_PATH_BYTES]);

/* Reads for the mesh and physics of `source`, whose state does not matter. If
 * n_cells is not the mesh's, the head alone. Local; STORM_ERR_IO: the file is
 * damaged or was made by another version. Clear it also after an error. */
storm_status io_checkpoint_read(const struct io_source *source,
                                const char *path,
                                struct io_checkpoint *checkpoint_out);
void io_checkpoint_clear(struct io_checkpoint *checkpoint);

/* The newest step below `below` that has a file, and how many there are below
 * it; 0: none. Local. */
uint64_t io_checkpoint_newest(const char *dir, uint64_t below, size_t *n_out);

#endif /* STORM_IO_CHECKPOINT_H */
