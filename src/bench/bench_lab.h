/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bench/bench_lab.h
 * Simulated scaling: what simulated ranks have written, as JSON, table and
 * charts, beside published times.
 *
 * Lifecycle  storm_bench_lab once, with the texts of all points; then free the
 *            texts of the report.
 * Ownership  texts are borrowed during the call; those of the report are the
 *            caller's.
 * Progress   local; does not block.
 * Threads    any.
 */
#ifndef STORM_BENCH_BENCH_LAB_H
#define STORM_BENCH_BENCH_LAB_H

#include <storm/status.h>

#include "bench/bench.h"

enum { STORM_LAB_MAX_BACKENDS = 4, STORM_LAB_N_PICTURES = 3 };

struct storm_bench_lab_params {
    storm_bench_mode mode;
    double uneven; /**< work of the first tenth of the ranks, times the mean */
    struct storm_bench_numbers ranks;
    const char *backend[STORM_LAB_MAX_BACKENDS];
    size_t n_backends;
    /** JSON of each point, by ranks, then backends; NULL: not there. */
    const char *const *points;
    /** Published times: lines "mode,ranks,backend,seconds" and comments that
     *  begin with #, of which the first is the source. NULL: none. */
    const char *published;
    const char *command; /**< that made this, for the JSON */
};

struct storm_bench_lab_report {
    char *json, *table;
    char *picture[STORM_LAB_N_PICTURES]; /**< storm_lab_pictures */
};

/** Names of their files. */
extern const char *const storm_lab_pictures[STORM_LAB_N_PICTURES];

/**
 * Make the report.
 *
 * @param[out] report_out  all texts, or none
 * @retval STORM_ERR_ARG   a point is no JSON of a simulated rank
 * @retval STORM_ERR_STATE backends have ended in different states
 * @retval STORM_ERR_NOMEM
 */
STORM_MUST_CHECK storm_status
storm_bench_lab(const struct storm_bench_lab_params *params,
                struct storm_bench_lab_report *report_out);

/** The value of a key in JSON that this program has written, up to the next
 *  comma or line; NULL: not there. Text begins behind its quote. */
const char *storm_lab_value(const char *json, const char *key);

#endif /* STORM_BENCH_BENCH_LAB_H */
