/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a simulated rank sends by MPI: those of the library one by one,
 * and how often it calls a collective operation. Counted by wrapping the calls
 * when the program is linked. */
#ifndef STORM_LAB_COUNT_H
#define STORM_LAB_COUNT_H

#include <stdint.h>

#include <storm/context.h>

struct lab_totals {
    double mean_messages; /* of a rank */
    uint64_t max_messages, max_collectives;
};

/* Over all ranks, since their start. Collective. */
storm_status lab_count_sum(struct storm_context *context,
                           struct lab_totals *totals_out);

#endif /* STORM_LAB_COUNT_H */
