/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all benchmarks share: progress, sums over ranks, and the report.
 *
 * A benchmark fills a summary with what this rank knows, reduces it, and then
 * writes on rank 0 the JSON object (common keys first, its own after) and the
 * table.
 */
#ifndef STORM_RUN_BENCH_REPORT_H
#define STORM_RUN_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/bench.h>
#include <storm/context.h>
#include <storm/engine.h>

#include "base/json.h"
#include "run/page.h"

enum { STORM_BENCH_N_PARTS = STORM_BENCH_PICTURE + 1 };

/*
 * Ends a benchmark: agrees on the status and makes the report. Collective.
 * Rank 0 gives the texts, JSON and table at least, from malloc; they belong
 * to the report or are freed.
 */
storm_status storm_bench_finish(struct storm_context *context,
                                storm_status status,
                                char *parts[STORM_BENCH_N_PARTS],
                                struct storm_bench_report **report_out);

struct storm_bench_summary {
    const char *title;
    uint64_t cycles;
    uint64_t cells;
    double seconds; /* of the timed part, maximum over ranks already */
    double energy_balance;
    uint64_t state_hash;

    /* This rank's; storm_bench_summary_reduce makes them sums over all ranks,
     * but for the peaks (maximum) and the times (mean). */
    struct storm_stats run;   /* since the engine was made */
    struct storm_stats timed; /* of the timed part */

    /* Filled by reduce. */
    int ranks;
    double imbalance;
    double peak_memory_mb, ring_memory_mb, pinned_memory_mb;
    const char *backend, *near, *protocol;
    char provider[64];
};

/* Collective. `engine` tells how packets travelled; if NULL, the caller has
 * filled in backend and protocol. */
storm_status storm_bench_summary_reduce(struct storm_context *context,
                                        const struct storm_engine *engine,
                                        struct storm_bench_summary *summary);

/* Adds what a part of a benchmark gave: counts, times and seconds are summed,
 * of peaks, ranks and errors the largest stays. Local. */
void storm_bench_summary_add(struct storm_bench_summary *sum,
                             const struct storm_bench_summary *part);

/* The keys every benchmark has, into an object that is open. */
void storm_bench_summary_json(struct storm_json *json,
                              const struct storm_bench_summary *summary);

/* One of many measurements: with how many ranks, and how packets travelled. */
void storm_bench_way_json(struct storm_json *json, int ranks,
                          const char *backend,
                          const struct storm_bench_summary *summary);

/* The times of the breakdown and their names, in order. */
enum { STORM_BENCH_N_TIMES = 6 };
extern const char *const storm_bench_time_names[STORM_BENCH_N_TIMES];
void storm_bench_times(const struct storm_times *times,
                       double times_out[STORM_BENCH_N_TIMES]);
void storm_bench_times_json(struct storm_json *json,
                            const struct storm_times *times);

/* Where the time went, one line per category. */
void storm_bench_summary_table(struct storm_page *table,
                               const struct storm_bench_summary *summary);

/* The last rows of a table and the same: the state, and where the time went. */
void storm_bench_summary_end(struct storm_page *table,
                             const struct storm_bench_summary *summary);

/* Adds the difference of two readings of the same counters to `sum`. */
void storm_bench_stats_add(struct storm_stats *sum,
                           const struct storm_stats *before,
                           const struct storm_stats *after);

/* Tells how far we are; on rank 0 alone, and only if somebody listens. */
void storm_bench_tell(struct storm_context *context,
                      const struct storm_bench_progress *progress,
                      double fraction, const char *format, ...)
    STORM_PRINTF(4, 5);

/* Collectives of the context's ranks; the barrier gives the core away. */
storm_status storm_bench_barrier(struct storm_context *context);
storm_status storm_bench_max(struct storm_context *context, double *inout);
storm_status storm_bench_sum(struct storm_context *context, double *inout);
storm_status storm_bench_sum_uint(struct storm_context *context,
                                  uint64_t *inout, int n);

/* Sorts the values and returns the median. */
double storm_bench_median(double *values, size_t n);

#endif /* STORM_RUN_BENCH_REPORT_H */
