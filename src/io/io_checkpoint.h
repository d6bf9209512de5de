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
 *   CHECKPOINT-5  Every rank writes its cells, or an equal share of them
 *                 (CELLS-2), and its packets. Memory does not grow with the
 *                 number of ranks.
 *   CHECKPOINT-6  A mesh that is not the one that the deck makes any more is
 *                 built from the file: generators or leaves, tags and box.
 *                 CHECKPOINT-4 then asks for the mesh and materials that the
 *                 run began with.
 */
#ifndef STORM_IO_CHECKPOINT_H
#define STORM_IO_CHECKPOINT_H

#include <stdint.h>

#include <storm/packet.h>

#include "io/io_fields.h"
#include "io/io_files.h"

/* Versions of the file. Version 3 is written; versions 1, with checksums of
 * HDF5, and 2 can be read. Those of version 3 have what a mesh needs that has
 * changed, or whose tags are not places. The state of physics has a version of
 * its own, 1 or what the file says (storm_imc_state_layout). */
enum {
    IO_CHECKPOINT_VERSION = 2,
    IO_CHECKPOINT_VERSION_MESH = 3,
    IO_CHECKPOINT_STATE_VERSION = 1
};

/* Numbers of the run, the same on all ranks. */
struct io_checkpoint_head {
    uint64_t version, step;
    /* CHECKPOINT-4 */
    uint64_t n_cells, n_groups, seed, mesh_hash, matter_hash;
    uint64_t n_packets, state_hash;
    uint64_t created, absorbed, escaped; /* packets, so far */
    double start_s, time_s, nominal_s, worst_balance;
};

/* What a mesh is built from (CHECKPOINT-6). */
enum {
    IO_CHECKPOINT_DECK = 0,
    IO_CHECKPOINT_GENERATORS, /* of a Voronoi mesh */
    IO_CHECKPOINT_LEAVES      /* of an octree */
};

/* Of a file of version 3, the same on all ranks. */
struct io_checkpoint_mesh {
    uint64_t state_version;
    uint64_t source;                   /* IO_CHECKPOINT_DECK, ...; in what is
                                          written: not 0 if it has changed */
    uint64_t next_tag;                 /* storm_mesh_next_tag */
    uint64_t first_mesh, first_matter; /* hashes as in the head, at the start of
                                          the run */
    uint64_t dump_step, dump_hash;     /* of struct io_series */
    double lo_cm[3], hi_cm[3];
};

/* What is wrong with a file, the worst last. */
typedef enum io_checkpoint_damage {
    IO_CHECKPOINT_SOUND = 0,
    IO_CHECKPOINT_NO_MEMORY,
    IO_CHECKPOINT_HEAD, /* not readable, or of another version */
    IO_CHECKPOINT_MESH,
    IO_CHECKPOINT_ACCOUNTS,
    IO_CHECKPOINT_DUMPS,
    IO_CHECKPOINT_CELLS,
    IO_CHECKPOINT_PACKETS,
    IO_CHECKPOINT_TALLIES
} io_checkpoint_damage;

/* What a rank reads from a file: a share of the cells, in order of their tags
 * as storm_mesh_unrows takes them, a share of the packets, the accounts and the
 * list of dumps. */
struct io_checkpoint {
    struct io_checkpoint_head head;
    struct io_checkpoint_mesh mesh; /* also of files that do not have it */
    size_t n_cells;
    double *cells;
    double *generators; /* of a Voronoi mesh that has changed, else NULL */
    int64_t *leaves;    /* the same of an octree */
    storm_cell_id *tags;
    int64_t *accounts;
    void *packets;
    size_t n_packets, record_bytes;
    int64_t *tallies; /* on rank 0; NULL: the file has none */
    size_t n_tallies; /* words */
    char *grids;
    int damage; /* io_checkpoint_damage, as this rank sees it */
    struct storm_memory *memory; /* book of the arrays */
};

/* Writes the current state; source and series as for dumps. Collective, blocks.
 * STORM_ERR_IO (logged; no file is left), STORM_ERR_NOMEM, STORM_ERR_NOSUP (a
 * mesh that has changed and has neither generators nor leaves, logged) or an
 * error of physics. */
storm_status io_checkpoint_write(const struct io_source *source,
                                 const struct io_series *series,
                                 const struct io_checkpoint_head *head,
                                 const struct io_checkpoint_mesh *mesh);

/* Path of the file; false: too long. */
bool io_checkpoint_path(const char *dir, uint64_t step,
                        char path_out[IO_PATH_BYTES]);

/* Reads a file for the physics of `source`, whatever its mesh. Local.
 * STORM_ERR_IO: see `damage`. Call clear also after an error. */
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
