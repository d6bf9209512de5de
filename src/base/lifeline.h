/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are the other ranks still there? A stream to each neighbour in the tree of
 * ranks (parent (i - 1) / 2), watched for its end: however a process ends, the
 * system closes its streams.
 *
 *   L1  A rank that ends without storm_lifeline_close is noticed by its
 *       neighbours at once, and told to all others: a thread that sleeps
 *       otherwise sees to it, whatever the rank itself is doing.
 *   L2  Once a rank is lost check answers STORM_ERR_LOST, always. The first
 *       time, it says so on the lowest rank that is left.
 *   L3  check costs one load.
 *   L4  Neighbours that cannot reach each other do without; rank 0 warns once.
 *   L5  Nothing here blocks for longer than a few seconds, and only in open.
 */
#ifndef STORM_BASE_LIFELINE_H
#define STORM_BASE_LIFELINE_H

#include <storm/status.h>

#include "base/boot.h"
#include "base/log.h"

struct storm_lifeline;

/* Seconds after which the loss of a whole machine is known, too. */
enum { STORM_LIFELINE_S = 5 };

/* Called by the thread when a rank is lost; NULL: nobody is. */
struct storm_lifeline_call {
    void (*lost)(void *self, int rank);
    void *self;
};

/* Collective, same status on every rank; `log` must outlive it. */
storm_status storm_lifeline_open(const struct storm_log *log,
                                 const struct storm_boot *boot,
                                 struct storm_lifeline_call call,
                                 struct storm_lifeline **lifeline_out);

/* Local: neighbours that go on do not take this for an end. NULL is fine. */
void storm_lifeline_close(struct storm_lifeline *lifeline);

/* Local. NULL: all is well. */
storm_status storm_lifeline_check(struct storm_lifeline *lifeline);

#endif /* STORM_BASE_LIFELINE_H */
