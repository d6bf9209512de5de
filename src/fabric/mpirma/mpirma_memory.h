/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that peers may reach, and the windows it lies in.
 *
 * Nearly everything is allocated from one window created at open: MPI knows its
 * address on every rank, so that an operation needs nothing else. A dynamic
 * window takes what no longer fits; because implementations allow some thirty
 * attachments at most, slabs are attached to it and divided in turn.
 *
 *   WINDOW-1  Every window is locked for all ranks from open to close
 *             (lock_all).
 *   WINDOW-2  Every window is of the unified memory model; others are refused.
 *   WINDOW-3  MPI creates and frees windows by calls that wait for all ranks:
 *             if one is killed while others are in them, they wait for ever.
 *             The program learns of the loss by its `lost` call alone, and must
 *             end itself. No other fabric has such calls.
 */
#ifndef STORM_FABRIC_MPIRMA_MEMORY_H
#define STORM_FABRIC_MPIRMA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <storm/status.h>

#include "base/boot.h"
#include "base/env.h"
#include "fabric/fabric_extents.h"

enum mpirma_window { MPIRMA_ALLOCATED, MPIRMA_DYNAMIC, MPIRMA_N_WINDOWS };

/* A block of memory that a window reaches, from which regions are allocated. */
struct mpirma_arena {
    enum mpirma_window window;
    void *raw;           /* as MPI gave it */
    unsigned char *base; /* the same, aligned */
    MPI_Aint at;         /* of base in the window */
    uint64_t bytes;
    struct storm_extents extents;
};

struct mpirma_memory {
    const struct storm_env *env;
    MPI_Win window[MPIRMA_N_WINDOWS]; /* MPI_WIN_NULL: there is none */
    uint64_t slab_bytes;              /* of the first slabs */
    struct mpirma_arena **arena; /* [0] in the allocated window, if that is */
    size_t n_arenas, arena_capacity;
    uint64_t bytes; /* in all arenas */
};

/* Collective over `boot`, which has a communicator whose errors return. One or
 * both windows, or an error on every rank, logged. */
storm_status mpirma_memory_open(struct mpirma_memory *memory,
                                const struct storm_env *env,
                                const struct storm_boot *boot);

/* Collective; the ranks must have nothing in flight. Also after an open that
 * failed. */
void mpirma_memory_close(struct mpirma_memory *memory);

/* Allocates zeroed memory, aligned to a cache line. STORM_ERR_NOMEM, logged
 * at `refusal`. */
storm_status mpirma_memory_carve(struct mpirma_memory *memory, uint64_t bytes,
                                 storm_log_level refusal,
                                 struct mpirma_arena **arena_out,
                                 struct storm_extent *extent_out);

void mpirma_memory_return(struct mpirma_memory *memory,
                          struct mpirma_arena *arena,
                          struct storm_extent extent);

/* Does any memory of this rank lie in the window? */
bool mpirma_memory_has(const struct mpirma_memory *memory,
                       enum mpirma_window window);

/* Logs an error of MPI; returns STORM_ERR_FABRIC. peer < 0: none. */
storm_status mpirma_failed(const struct storm_env *env, const char *what,
                           int peer, int rc);

#endif /* STORM_FABRIC_MPIRMA_MEMORY_H */
