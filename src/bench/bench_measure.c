/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_measure.h"

#include <stdlib.h>

#include "engine/engine_context.h"

storm_status storm_bench_barrier(struct storm_context *context)
{
    return storm_boot_barrier(&context->boot);
}

storm_status storm_bench_max(struct storm_context *context, double *inout)
{
    return storm_context_reduce(context, inout, 1, MPI_DOUBLE, MPI_MAX);
}

storm_status storm_bench_sum(struct storm_context *context, double *inout)
{
    return storm_context_reduce(context, inout, 1, MPI_DOUBLE, MPI_SUM);
}

storm_status storm_bench_sum_uint(struct storm_context *context,
                                  uint64_t *inout, int n)
{
    return storm_context_reduce(context, inout, n, MPI_UINT64_T, MPI_SUM);
}

static int measure_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double storm_bench_median(double *values, size_t n)
{
    if (n == 0)
        return 0.0;
    qsort(values, n, sizeof *values, measure_compare);
    return n % 2 == 1 ? values[n / 2]
                      : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}
