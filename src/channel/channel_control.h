/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small, rare messages between any two ranks: create, grow and shrink rings.
 *
 *   CONTROL-1  Every message sent arrives exactly once, in order per pair of
 *              ranks.
 *   CONTROL-2  send and poll never block; send copies.
 *   CONTROL-3  close is collective and returns when every message has been
 *              received and dropped; no rank sends any more.
 *   CONTROL-4  The cost of a poll does not grow with the number of messages
 *              that others have not received yet.
 *   CONTROL-5  Of the reports of all ranks rank 0 logs the first that it gets,
 *              as a warning, and no other. Rank i passes on one, its own or the
 *              first that it gets, to rank (i - 1) / 2: no rank gets more than
 *              two, however many send one. poll does not return them.
 *
 * Implementations: over MPI here; between threads in the tests.
 */
#ifndef STORM_CHANNEL_CONTROL_H
#define STORM_CHANNEL_CONTROL_H

#include <stdint.h>

#include <mpi.h>

#include <storm/status.h>

#include "base/boot.h"
#include "base/env.h"
#include "channel/channel_message.h"

/* Control over messages of a boot's communicator; `boot` is of
 * storm_boot_mpi_open, and outlives it. Collective; BOOT-3. */
storm_status storm_control_mpi_open(const struct storm_boot *boot,
                                    const struct storm_env *env,
                                    struct storm_control **control_out);

/* Boot over a duplicate of a communicator, made by calls of MPI that wait for a
 * lost rank for ever: for when none is watched yet. Collective. */
storm_status storm_boot_mpi_open(MPI_Comm comm, struct storm_boot *boot_out);
/* A boot of the same ranks, watched as this one is. Collective; BOOT-3. */
storm_status storm_boot_mpi_copy(const struct storm_boot *boot,
                                 struct storm_boot *boot_out);
/* Tags of one user of a communicator. */
enum { STORM_MPI_TAGS = 4 };
struct storm_mpi_share {
    MPI_Comm comm; /* that of a boot */
    int tag;       /* the first of STORM_MPI_TAGS that are the user's alone */
};
/* For more users of a boot's communicator; all get an error if one rank comes
 * with one. Collective, and so is the order of returns; BOOT-3. */
storm_status storm_boot_mpi_share(const struct storm_boot *boot,
                                  storm_status mine,
                                  struct storm_mpi_share *share_out);
void storm_boot_mpi_return(const struct storm_boot *boot,
                           const struct storm_mpi_share *share);
/* A barrier by messages with one tag: BOOT-2. */
struct storm_mpi_barrier {
    MPI_Comm comm;
    int tag, rank, size;
    int distance; /* of the present round; 0: none has begun */
    MPI_Request request[2];
};
void storm_mpi_barrier_open(struct storm_mpi_barrier *barrier, MPI_Comm comm,
                            int tag);
/* Begins with the first call; STORM_AGAIN until all ranks have begun. */
storm_status storm_mpi_barrier_try(struct storm_mpi_barrier *barrier);
void storm_mpi_barrier_close(struct storm_mpi_barrier *barrier);
/* From now on its collective operations return STORM_ERR_LOST when a rank is
 * lost, instead of waiting for it. */
void storm_boot_mpi_watch(struct storm_boot *boot,
                          struct storm_lifeline *lifeline);
/* Waits for a request of those ranks likewise. */
storm_status storm_boot_mpi_wait(const struct storm_boot *boot,
                                 MPI_Request *request);
/* Its waits do not sleep, if the node is not crowded: IDLE-3. */
void storm_boot_mpi_awake(struct storm_boot *boot, bool awake);
/* As storm_boot_agree. If this rank brings an error and the others have not
 * come after so many seconds (0: for ever), they may be in a collective call
 * that it will not make: it logs that, and again every ten seconds, and reports
 * itself as lost. Time during which this process is stopped does not count. */
storm_status storm_boot_mpi_agree(const struct storm_boot *boot,
                                  storm_status mine, double patience_s,
                                  const struct storm_log *log);
void storm_boot_mpi_close(struct storm_boot *boot);

/* Begins a reduction to all ranks, in place. From the folder that the build
 * chooses: channel/host, or channel/sim. Collective. */
storm_status storm_reduce_begin(void *inout, int n, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm,
                                MPI_Request *request_out);

#endif /* STORM_CHANNEL_CONTROL_H */
