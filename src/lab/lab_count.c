/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_count.h"

#include "base/sim/sim_time.h"

storm_status lab_count_sum(struct storm_context *context,
                           struct lab_totals *totals_out)
{
    const struct storm_sim_counts counts = *storm_sim_counts();
    uint64_t max[2] = {counts.messages, counts.collectives};
    double sum[3] = {(double)counts.messages, (double)counts.operations,
                     (double)counts.bytes};
    double ranks = storm_context_size(context);
    storm_status status =
        storm_context_reduce(context, max, 2, MPI_UINT64_T, MPI_MAX);
    if (status >= 0)
        status = storm_context_reduce(context, sum, 3, MPI_DOUBLE, MPI_SUM);
    *totals_out = (struct lab_totals){
        .mean_messages = sum[0] / ranks,
        .mean_operations = sum[1] / ranks,
        .mean_bytes = sum[2] / ranks,
        .max_messages = max[0],
        .max_collectives = max[1],
    };
    return status;
}
