/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few collective operations that a module needs to open and close, whoever
 * provides them: MPI in a run, threads in a test.
 */
#ifndef STORM_BASE_BOOT_H
#define STORM_BASE_BOOT_H

#include <stddef.h>

#include <storm/status.h>

struct storm_boot {
    void *self;
    int rank;
    int size;
    const void *mpi_comm; /* an MPI_Comm of these ranks, if they have one */

    /* Collective, blocks: all_out[i * bytes] is what rank i gave. */
    storm_status (*allgather)(void *self, const void *mine, size_t bytes,
                              void *all_out);

    /* Collective, blocks: the smallest of all ranks' values. */
    storm_status (*minimum)(void *self, int mine, int *min_out);

    /* Collective: starts a barrier on the first call and answers STORM_AGAIN
     * until all ranks have started it, then STORM_OK. Never blocks. */
    storm_status (*barrier_try)(void *self);
};

/* Calls barrier_try until it is done, idling in between. Blocks. */
storm_status storm_boot_barrier(const struct storm_boot *boot);

/* The worst status of all ranks: the caller's own if it is an error,
 * STORM_ERR_PEER if only others have one. Collective, blocks. */
storm_status storm_boot_agree(const struct storm_boot *boot, storm_status mine);

#endif /* STORM_BASE_BOOT_H */
