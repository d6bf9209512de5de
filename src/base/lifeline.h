/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects lost ranks: a TCP stream from rank i to each of its neighbours, ranks
 * (i - 1) / 2, 2i + 1 and 2i + 2, watched for its end. (Waves have a tree of
 * their own.) However a process ends, the system closes its streams.
 *
 *   LIFE-1  A rank that ends without storm_lifeline_close is noticed by its
 *           neighbours at once, and reported to all others by a thread that
 *           otherwise sleeps, whatever the rank itself is doing. Streams are
 *           closed by exec, but a child that a program forks without it keeps
 *           them open: it must close them, or the end of its parent is
 *           noticed only with its own.
 *   LIFE-2  Once a rank is lost check answers STORM_ERR_LOST, always. The first
 *           time it logs the loss on the lowest rank that is left.
 *   LIFE-3  check costs one load.
 *   LIFE-4  Neighbours that cannot reach each other, or have no thread, are not
 *           watched, and nothing else fails; rank 0 warns once, with a name.
 *   LIFE-5  Nothing here blocks for longer than a few seconds, and only in
 *           open.
 *   LIFE-6  After fail this rank counts as lost everywhere, itself included.
 *   LIFE-7  A machine from which nothing comes for `silence_s` seconds is lost.
 *           Not so a process that is stopped or computes: its system answers.
 *   LIFE-8  Whoever else connects to the port is closed unread, holds a bounded
 *           number of streams and delays open by no more than LIFE-5 allows;
 *           neighbours are accepted all the same. The secret is sent to no
 *           loopback but that of the neighbour.
 */
#ifndef STORM_BASE_LIFELINE_H
#define STORM_BASE_LIFELINE_H

#include <storm/status.h>

#include "base/boot.h"
#include "base/log.h"

struct storm_lifeline;

/* Seconds after which the end of a process is surely known to all. */
enum { STORM_LIFELINE_S = 5 };

/* Called by the thread when a rank is lost; NULL: no call. */
struct storm_lifeline_call {
    void (*lost)(void *self, int rank, const char *reason);
    void *self;
};

struct storm_lifeline_params {
    int silence_s;         /* LIFE-7; at least 1 */
    const char *interface; /* base/interface.h; may be "" */
    struct storm_lifeline_call call;
};

/* Collective, same status on every rank; `log` must outlive it. */
storm_status storm_lifeline_open(const struct storm_log *log,
                                 const struct storm_boot *boot,
                                 const struct storm_lifeline_params *params,
                                 struct storm_lifeline **lifeline_out);

/* Local: neighbours do not take this for a loss. NULL is allowed. */
void storm_lifeline_close(struct storm_lifeline *lifeline);

/* A rank that has failed while others wait for it, in calls that only a loss
 * ends, reports itself as lost. Local, never blocks; NULL is allowed. */
void storm_lifeline_fail(struct storm_lifeline *lifeline);

/* Local. NULL: STORM_OK. */
storm_status storm_lifeline_check(struct storm_lifeline *lifeline);

#endif /* STORM_BASE_LIFELINE_H */
