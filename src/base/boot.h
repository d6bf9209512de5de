/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few collective operations that a module needs to open and close, whoever
 * provides them: MPI in a run, threads in a test.
 *
 *   BOOT-1  Every operation is collective: all ranks call the same ones in the
 *           same order, with the same `bytes`.
 *   BOOT-2  A rank sends and receives a number of messages that grows as the
 *           logarithm of the number of ranks, and so does the number of ranks
 *           that it talks to. Of allgather only the latter is true: what it
 *           gathers grows with the ranks, in messages of STORM_BOOT_BYTES. It
 *           is not used by contexts and engines, except over libfabric's
 *           provider shm. (A mesh has bulk exchanges of MPI besides.)
 *   BOOT-3  When a rank is lost, operations return STORM_ERR_LOST instead of
 *           waiting for it. Whatever they return, the caller's memory is no
 *           longer written to: messages that are late land in the boot's own.
 *   BOOT-4  None of them allocates: a rank without memory takes part.
 */
#ifndef STORM_BASE_BOOT_H
#define STORM_BASE_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

enum {
    STORM_BOOT_BYTES = 1024, /* max of one message */
    STORM_BOOT_LINKS = 4     /* max of one exchange */
};

/* One message to a rank and one from a rank, which may be another. */
struct storm_boot_link {
    int to; /* -1: none */
    const void *mine;
    int from; /* -1: none */
    void *theirs_out;
};

struct storm_boot {
    void *self;
    int rank;
    int size;
    const void *mpi_comm; /* an MPI_Comm of these ranks, if they have one */

    /* Blocks: what rank 0 has in `inout`, at most STORM_BOOT_BYTES, is copied
     * to all others. */
    storm_status (*broadcast)(void *self, void *inout, size_t bytes);

    /* Blocks until the messages of all links of this rank have arrived. For
     * every message sent there is a link that receives it; at most one of a
     * call between two ranks in each direction. */
    storm_status (*exchange)(void *self, const struct storm_boot_link *link,
                             int n_links, size_t bytes);

    /* Blocks: the smallest of all ranks' values. */
    storm_status (*minimum)(void *self, int mine, int *min_out);

    /* Starts a barrier on the first call and answers STORM_AGAIN until all
     * ranks have started it, then STORM_OK. Never blocks. */
    storm_status (*barrier_try)(void *self);
};

/* Calls barrier_try until it is done, idling in between. Blocks. */
storm_status storm_boot_barrier(const struct storm_boot *boot);

/* The worst status of all ranks: the caller's own if it is an error,
 * STORM_ERR_PEER if only others have one. Collective, blocks. */
storm_status storm_boot_agree(const struct storm_boot *boot, storm_status mine);

/* Exclusive prefix sums over ranks, in place: zeros on rank 0. One message each
 * way per doubling of the number of ranks (BOOT-2), for every STORM_BOOT_BYTES.
 * Collective, blocks. */
storm_status storm_boot_exscan(const struct storm_boot *boot, uint64_t *inout,
                               size_t n);

/* all_out[i * bytes] is what rank i gave, at most STORM_BOOT_BYTES. One partner
 * per doubling of the number of ranks, but messages grow with it: for what
 * every rank must know of every other. Collective, blocks. */
storm_status storm_boot_allgather(const struct storm_boot *boot,
                                  const void *mine, size_t bytes,
                                  void *all_out);

#endif /* STORM_BASE_BOOT_H */
