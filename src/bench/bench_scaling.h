/* SPDX-License-Identifier: BSD-3-Clause */
/* The scaling benchmark from inside: its points, and how they are shown. */
#ifndef STORM_BENCH_SCALING_H
#define STORM_BENCH_SCALING_H

#include "bench/bench.h"
#include "bench/bench_crew.h"
#include "bench/bench_uniform.h"

struct storm_scaling {
    struct storm_bench_scaling_params params; /* no zeros left */
    struct storm_bench_points points;
    double *dt_s; /* by number of ranks */
};

const struct storm_bench_point *
storm_scaling_at(const struct storm_scaling *scaling, size_t i_ranks,
                 size_t i_backend);

/* Time per cycle: of the best repeat, and of the median. */
double storm_scaling_seconds(const struct storm_scaling *scaling,
                             const struct storm_bench_point *point);
double storm_scaling_median(const struct storm_scaling *scaling,
                            const struct storm_bench_point *point);

/* What the best time would be if it scaled from that of the fewest ranks. */
double storm_scaling_ideal(const struct storm_scaling *scaling, size_t i_ranks,
                           size_t i_backend);

/* Ideal time over time. */
double storm_scaling_efficiency(const struct storm_scaling *scaling,
                                size_t i_ranks, size_t i_backend);

/* Time of p2p over time; not-a-number if p2p was not measured. */
double storm_scaling_over_p2p(const struct storm_scaling *scaling,
                              size_t i_ranks, size_t i_backend);

/* The bare kernel with as many ranks, steps per second and rank: the best that
 * was seen with any backend, as for times; and the part of it that is left. */
double storm_scaling_kernel(const struct storm_scaling *scaling,
                            size_t i_ranks);
double storm_scaling_kernel_ratio(const struct storm_scaling *scaling,
                                  size_t i_ranks, size_t i_backend);

/* bench_scaling_report.c: on rank 0; free the texts. */
char *storm_scaling_json(const struct storm_scaling *scaling);
char *storm_scaling_table(const struct storm_scaling *scaling);
char *storm_scaling_picture(const struct storm_scaling *scaling);

#endif /* STORM_BENCH_SCALING_H */
