/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between simulated nodes, for one-sided operations and messages
 * alike.
 *
 *   SIMNET-1  A node has one adapter: a clock for what it sends, one for what
 *             it receives and one for its atomics. A message takes its bytes'
 *             time on both of the first two, one after the other for all ranks
 *             of the node. Between adapters there is no contention.
 *   SIMNET-2  Within a node the sending rank copies, and nothing is shared.
 */
#ifndef STORM_BASE_SIM_NETWORK_H
#define STORM_BASE_SIM_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sim/sim_time.h"

/* Are the two on one node? */
bool storm_sim_near(const struct storm_sim_rank *a,
                    const struct storm_sim_rank *b);

/* When a message that leaves at `date` has arrived; both adapters have then
 * passed it on. Within a node: after the latency. */
double storm_sim_cross(struct storm_sim_rank *from, struct storm_sim_rank *to,
                       double date, size_t bytes);

/* When an atomic that has arrived at `date` is done. */
double storm_sim_atomic(struct storm_sim_rank *at, double date);

/* Latency to a peer: the time of a message of no bytes. */
double storm_sim_latency(const struct storm_sim_rank *from,
                         const struct storm_sim_rank *to);

#endif /* STORM_BASE_SIM_NETWORK_H */
