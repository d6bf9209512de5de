/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sim/sim_network.h"

enum { HEADER_BYTES = 64 }; /* what a message has besides its data */

static double later(double a, double b)
{
    return a > b ? a : b;
}

bool storm_sim_near(const struct storm_sim_rank *a,
                    const struct storm_sim_rank *b)
{
    return storm_sim_node_of(a) == storm_sim_node_of(b);
}

double storm_sim_latency(const struct storm_sim_rank *from,
                         const struct storm_sim_rank *to)
{
    const struct storm_sim_costs *costs = storm_sim_costs_of(from);
    return storm_sim_near(from, to) ? costs->near_latency_s : costs->latency_s;
}

double storm_sim_cross(struct storm_sim_rank *from, struct storm_sim_rank *to,
                       double date, size_t bytes)
{
    const struct storm_sim_costs *costs = storm_sim_costs_of(from);
    struct storm_sim_node *here = storm_sim_node_of(from);
    struct storm_sim_node *there = storm_sim_node_of(to);
    if (here == there)
        return date + costs->near_latency_s;
    double takes = later((double)(bytes + HEADER_BYTES) / costs->bandwidth,
                         costs->message_s);
    double out = takes * here->slowness, in = takes * there->slowness;
    here->sends = later(date, here->sends) + out;
    there->receives =
        later(here->sends + costs->latency_s - in, there->receives) + in;
    return there->receives;
}

double storm_sim_atomic(struct storm_sim_rank *at, double date)
{
    struct storm_sim_node *node = storm_sim_node_of(at);
    node->atomics =
        later(date, node->atomics) + storm_sim_costs_of(at)->atomic_s;
    return node->atomics;
}
