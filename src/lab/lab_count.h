/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a simulated rank sends by MPI, one-sided operations that it
 * begins, the bytes of both, and how often it calls a collective operation. */
#ifndef STORM_LAB_COUNT_H
#define STORM_LAB_COUNT_H

#include <stdint.h>

#include <storm/context.h>

struct lab_totals {
    double mean_messages, mean_operations, mean_bytes; /* of a rank */
    uint64_t max_messages, max_collectives;
};

/* Over all ranks, since their start. Collective. */
storm_status lab_count_sum(struct storm_context *context,
                           struct lab_totals *totals_out);

#endif /* STORM_LAB_COUNT_H */
