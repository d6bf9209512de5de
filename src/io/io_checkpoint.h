/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: all that a run needs to restart, in checkpoint-<step>.h5. This
 * is the file format; when to write and which to keep is decided by the run
 * (run/run_restart.c).
 *
 *   CHECKPOINT-1  A restarted run gives the same bits as one that was never
 *                 stopped, on any number of ranks.
 *   CHECKPOINT-2  A file named checkpoint-<step>.h5 is complete and on the disk
 *                 (FILES-1); those before it are removed after that.
 *   CHECKPOINT-3  Every array has checksums. A damaged file is skipped, with a
 *                 warning that says what is damaged, and the one before it is
 *                 used.
 *   CHECKPOINT-4  A file of another mesh or seed, of other materials, groups
 *                 or constants is an error. Walls, sources, steps and numbers
 *                 of packets may change.
 *   CHECKPOINT-5  Every rank writes its cells and packets. Memory does not grow
 *                 with the number of ranks.
 */
#ifndef STORM_IO_CHECKPOINT_H
#define STORM_IO_CHECKPOINT_H

#include <stdint.h>

#include <storm/packet.h>

#include "io/io_fields.h"
#include "io/io_files.h"

/* Versions of the file and of the state of physics in it
 * (storm_imc_state_layout). Files of version 1 have checksums of HDF5; they can
 * be read. */
enum { IO_CHECKPOINT_VERSION = 2, IO_CHECKPOINT_STATE_VERSION = 1 };

/* Numbers of the run, the same on all ranks. */
struct io_checkpoint_head {
    uint64_t version, step;
    /* CHECKPOINT-4 */
    uint64_t n_cells, n_groups, seed, mesh_hash, matter_hash;
    uint64_t n_packets, state_hash;
    uint64_t created, absorbed, escaped; /* packets, so far */
    double start_s, time_s, nominal_s, worst_balance;
};

/* What is wrong with a file, the worst last. */
typedef enum io_checkpoint_damage {
    IO_CHECKPOINT_SOUND = 0,
    IO_CHECKPOINT_NO_MEMORY,
    IO_CHECKPOINT_HEAD, /* not readable, or of another version */
    IO_CHECKPOINT_ACCOUNTS,
    IO_CHECKPOINT_DUMPS,
    IO_CHECKPOINT_CELLS,
    IO_CHECKPOINT_PACKETS
} io_checkpoint_damage;

/* What a rank reads from a file: the state of its cells, a share of the
 * packets, the accounts and the list of dumps. */
struct io_checkpoint {
    struct io_checkpoint_head head;
    double *cells;
    int64_t *accounts;
    struct storm_packet *packets;
    size_t n_packets;
    char *grids;
    int damage; /* io_checkpoint_damage, as this rank sees it */
    struct storm_memory *memory; /* book of the arrays */
};

/* Writes the current state; source and series as for dumps. Collective, blocks.
 * STORM_ERR_IO (logged; no file is left), STORM_ERR_NOMEM, STORM_ERR_NOSUP (a
 * state of another version) or an error of physics. */
storm_status io_checkpoint_write(const struct io_source *source,
                                 const struct io_series *series,
                                 const struct io_checkpoint_head *head);

/* Path of the file; false: too long. */
bool io_checkpoint_path(const char *dir, uint64_t step,
                        char path_out[IO_PATH_BYTES]);

/* Reads a file for the mesh and physics of `source`; only the head if its
 * n_cells is not that of the mesh. Local. STORM_ERR_IO: see `damage`. Call
 * clear also after an error. */
storm_status io_checkpoint_read(const struct io_source *source,
                                const char *path,
                                struct io_checkpoint *checkpoint_out);
void io_checkpoint_clear(struct io_checkpoint *checkpoint);

/* The damage in words that follow the file's name. */
const char *io_checkpoint_damage_text(int damage);

/* The newest step below `below` that has a file, and the number of files below
 * `below`. Local. */
uint64_t io_checkpoint_newest(const char *dir, uint64_t below, size_t *n_out);

#endif /* STORM_IO_CHECKPOINT_H */
