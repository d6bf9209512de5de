/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run or a benchmark reports: progress, the summary over all ranks, and
 * the texts made of it.
 *
 * The caller fills a summary with what this rank knows, reduces it, and then
 * writes on rank 0 the JSON object (common keys first, its own after) and the
 * table.
 */
#ifndef STORM_RUN_SUMMARY_H
#define STORM_RUN_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/run.h>

#include "base/json.h"
#include "base/page.h"
#include "io/io_summary.h"

enum { STORM_RUN_N_PARTS = STORM_RUN_PICTURE + 1 };

/*
 * Ends a run: agrees on the status and makes the report. Collective.
 * Rank 0 gives the texts, JSON and table at least, from malloc; they belong
 * to the report or are freed.
 */
storm_status storm_run_report_make(struct storm_context *context,
                                   storm_status status,
                                   char *parts[STORM_RUN_N_PARTS],
                                   struct storm_run_report **report_out);

struct storm_run_summary {
    const char *title;
    uint64_t cycles;
    uint64_t cells;
    double seconds; /* of the timed part, maximum over ranks already */
    double energy_balance;
    uint64_t state_hash;

    /* This rank's; storm_run_summary_reduce makes them sums over all ranks,
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
storm_status storm_run_summary_reduce(struct storm_context *context,
                                      const struct storm_engine *engine,
                                      struct storm_run_summary *summary);

/* Adds what a part of a measurement gave: counts, times and seconds are summed,
 * of peaks, ranks and errors the largest stays. Local. */
void storm_run_summary_add(struct storm_run_summary *sum,
                           const struct storm_run_summary *part);

/* The keys every summary has, into an object that is open. */
void storm_run_summary_json(struct storm_json *json,
                            const struct storm_run_summary *summary);

/* One of many measurements: with how many ranks, and how packets travelled. */
void storm_run_route_json(struct storm_json *json, int ranks,
                          const char *backend,
                          const struct storm_run_summary *summary);

/* The times of the breakdown, in the order of io_time_names. */
void storm_run_times(const struct storm_times *times,
                     double times_out[IO_N_TIMES]);
void storm_run_times_json(struct storm_json *json,
                          const struct storm_times *times);

/* Where the time went, one line per category. */
void storm_run_summary_table(struct storm_page *table,
                             const struct storm_run_summary *summary);

/* The last rows of a table and the same: the state, and where the time went. */
void storm_run_summary_end(struct storm_page *table,
                           const struct storm_run_summary *summary);

/* Adds the difference of two readings of the same counters to `sum`. */
void storm_run_stats_add(struct storm_stats *sum,
                         const struct storm_stats *before,
                         const struct storm_stats *after);

/* Reports how far the run is; on rank 0 alone, and only if there is a callback. */
void storm_progress_report(struct storm_context *context,
                           const struct storm_progress *progress,
                           double fraction, const char *format, ...)
    STORM_PRINTF(4, 5);

#endif /* STORM_RUN_SUMMARY_H */
