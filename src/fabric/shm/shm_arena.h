/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared memory of the ranks of one node: one file without a name, one
 * slice of it per rank, from which that rank allocates regions.
 *
 * The file is sparse: a slice is as large as the machine's memory and takes
 * pages only where regions are. It has no name in any file system, so nothing
 * is left behind however a run ends, and no mount option limits it.
 *
 *   SHM-ARENA-1  A process maps its own slice, and of others' the regions that
 *                it attaches: address space is the machine's memory once per
 *                engine, not once per rank, and many engines fit.
 *   SHM-ARENA-2  Nothing of it is part of a core dump. A dump reads what it
 *                writes: of a hole it would make pages, of a peer's ring one
 *                copy more for every rank that dies.
 *   SHM-ARENA-3  Signals that arrive while pages are allocated change nothing.
 */
#ifndef STORM_FABRIC_SHM_ARENA_H
#define STORM_FABRIC_SHM_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <storm/status.h>

#include "base/boot.h"
#include "base/env.h"
#include "fabric/fabric_extents.h"

struct shm_arena {
    const struct storm_env *env;
    int fd, rank;
    uint64_t slice_bytes;
    unsigned char *mine;          /* this rank's slice */
    struct storm_extents extents; /* of it */
};

/* Collective. STORM_ERR_NOSUP if the ranks are not all on one machine or the
 * memory of one cannot be opened by another; logged. */
storm_status shm_arena_open(struct shm_arena *arena,
                            const struct storm_env *env,
                            const struct storm_boot *boot);
void shm_arena_close(struct shm_arena *arena);

/* Allocates zeroed pages. STORM_ERR_NOMEM, logged at `refusal`. */
storm_status shm_arena_carve(struct shm_arena *arena, uint64_t bytes,
                             storm_log_level refusal,
                             struct storm_extent *extent_out);

/* Returns pages to the system. */
void shm_arena_return(struct shm_arena *arena, struct storm_extent extent);

/* Maps a region of any rank, `offset` bytes from the start of its slice. NULL,
 * logged at `refusal`. */
void *shm_arena_map(const struct shm_arena *arena, int rank, uint64_t offset,
                    uint64_t bytes, storm_log_level refusal);
void shm_arena_unmap(void *map, uint64_t bytes);

#endif /* STORM_FABRIC_SHM_ARENA_H */
