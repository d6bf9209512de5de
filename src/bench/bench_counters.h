/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions and cycles of this rank in user space, from the counters of the
 * processor.
 *
 *   COUNTERS-1  Both are counted, or none: then `missing` says why.
 *   COUNTERS-2  What is counted is the thread that opened them.
 *   COUNTERS-3  If the kernel shares out the counters by time, counts are
 *               scaled to the whole time.
 */
#ifndef STORM_BENCH_COUNTERS_H
#define STORM_BENCH_COUNTERS_H

#include <stdint.h>

#include <storm/status.h>

#include "base/json.h"
#include "base/page.h"

struct storm_context;

enum { STORM_BENCH_N_COUNTERS = 2 };

struct storm_bench_counters {
    int fd[STORM_BENCH_N_COUNTERS];
    const char *missing;                  /* NULL: they work */
    double begun[STORM_BENCH_N_COUNTERS]; /* at the last begin */
    /* Sums from begin to end: instructions, cycles. */
    double count[STORM_BENCH_N_COUNTERS];
};

/* Local; close in any case. */
void storm_bench_counters_open(struct storm_bench_counters *counters);
void storm_bench_counters_close(struct storm_bench_counters *counters);

/* The same for two other events of the kernel, for tests. */
void storm_bench_counters_open_events(
    struct storm_bench_counters *counters, uint32_t type,
    const uint64_t config[STORM_BENCH_N_COUNTERS]);

/* What lies between the two is added to the counts. Local. */
void storm_bench_counters_begin(struct storm_bench_counters *counters);
void storm_bench_counters_end(struct storm_bench_counters *counters);

/* Counts of all ranks together, missing if a rank has none. Collective. */
storm_status storm_bench_counters_reduce(struct storm_context *context,
                                         struct storm_bench_counters *counters);

/* Keys instructions_per_UNIT and cycles_per_UNIT, null if missing; a row of
 * a table. `n` units were counted. */
void storm_bench_json_counters(struct storm_json *json,
                               const struct storm_bench_counters *counters,
                               const char *unit, double n);
void storm_bench_table_counters(struct storm_page *page,
                                const struct storm_bench_counters *counters,
                                const char *unit, double n);

#endif /* STORM_BENCH_COUNTERS_H */
