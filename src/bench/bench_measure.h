/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks measure with: collectives of their ranks, medians. */
#ifndef STORM_BENCH_MEASURE_H
#define STORM_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>

/* Collective; the barrier yields the core while it waits. */
storm_status storm_bench_barrier(struct storm_context *context);
storm_status storm_bench_max(struct storm_context *context, double *inout);
storm_status storm_bench_sum(struct storm_context *context, double *inout);
storm_status storm_bench_sum_uint(struct storm_context *context,
                                  uint64_t *inout, int n);

/* Sorts the values and returns the median. */
double storm_bench_median(double *values, size_t n);

#endif /* STORM_BENCH_MEASURE_H */
