/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: progress, the summary over all ranks, and its texts.
 *
 * The caller fills a summary with the values of this rank, reduces it, and then
 * writes on rank 0 the JSON object (common keys first, then its own) and the
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
 * Rank 0 passes the texts, at least JSON and table, from malloc; they belong
 * to the report or are freed. STORM_ERR_NOMEM (also if a text is missing), else
 * the status that was agreed on.
 */
storm_status storm_run_report_make(struct storm_context *context,
                                   storm_status status,
                                   char *parts[STORM_RUN_N_PARTS],
                                   struct storm_run_report **report_out);

/* The run was stopped after this step, for storm_run_report_stopped. */
void storm_run_report_set_stopped(struct storm_run_report *report,
                                  uint64_t step);

/* Peaks of this rank's memory by label, the largest first; those of less than a
 * hundredth of the whole are left out. */
enum { STORM_RUN_N_LABELS = 12 };
struct storm_run_memory {
    size_t n;
    struct {
        const char *label;
        double peak_mb;
    } entry[STORM_RUN_N_LABELS];
};

/* What devices did since their contexts were created: sums over all ranks. */
struct storm_run_device {
    uint64_t launches, bytes_to, bytes_from;
    double kernel_seconds, copy_seconds;
};

struct storm_run_summary {
    const char *title;
    uint64_t cycles;
    uint64_t cells;
    double seconds; /* of the timed part, already the max over ranks */
    double energy_balance;
    uint64_t state_hash;

    /* Of this rank; storm_run_summary_reduce makes them sums over all ranks,
     * except times (mean). */
    struct storm_stats run;   /* since the engine was created */
    struct storm_stats timed; /* of the timed part */

    /* Filled by reduce. */
    int ranks;
    double imbalance;
    double peak_memory_mb, ring_memory_mb, pinned_memory_mb;
    struct storm_run_memory memory;
    const char *backend, *near, *protocol;
    char provider[64];
    char device[96]; /* of rank 0 */
    struct storm_run_device work;
};

/* Collective. Takes the backend from `engine`; if NULL, the caller has filled
 * in backend and protocol. STORM_ERR_FABRIC, STORM_ERR_LOST. */
storm_status storm_run_summary_reduce(struct storm_context *context,
                                      const struct storm_engine *engine,
                                      struct storm_run_summary *summary);

/* Adds a part of a measurement: the sum of counts, times and seconds, the max
 * of peaks, ranks and errors. Local. */
void storm_run_summary_add(struct storm_run_summary *sum,
                           const struct storm_run_summary *part);

/* Writes the keys of every summary into an open object. */
void storm_run_summary_json(struct storm_json *json,
                            const struct storm_run_summary *summary);

/* Writes ranks and backend of one of many measurements. */
void storm_run_route_json(struct storm_json *json, int ranks,
                          const char *backend,
                          const struct storm_run_summary *summary);

/* The times of a breakdown, in the order of io_time_names. */
void storm_run_times(const struct storm_times *times,
                     double times_out[IO_N_TIMES]);
void storm_run_times_json(struct storm_json *json,
                          const struct storm_times *times);

/* Table of the times, one line per category. */
void storm_run_summary_table(struct storm_page *table,
                             const struct storm_run_summary *summary);

/* The end of a table: the state hash and the times. */
void storm_run_summary_end(struct storm_page *table,
                           const struct storm_run_summary *summary);

/* Adds the difference of two readings of the same counters to `sum`; census and
 * peaks become those of `after`. */
void storm_run_stats_add(struct storm_stats *sum,
                         const struct storm_stats *before,
                         const struct storm_stats *after);

/* Reports progress; on rank 0 alone, and only if there is a callback. */
void storm_progress_report(struct storm_context *context,
                           const struct storm_progress *progress,
                           double fraction, const char *format, ...)
    STORM_PRINTF(4, 5);

#endif /* STORM_RUN_SUMMARY_H */
