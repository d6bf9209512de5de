/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of benchmarks: collectives, memory, medians, cycles with the
 * bare kernel, JSON and tables. */
#ifndef STORM_BENCH_MEASURE_H
#define STORM_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/streaming.h>

#include "bench/bench_counters.h"
#include "device/device.h"
#include "run/run_summary.h"

/* Collective; the barrier yields the core while it waits. */
storm_status storm_bench_barrier(struct storm_context *context);
storm_status storm_bench_max(struct storm_context *context, double *inout);
storm_status storm_bench_sum(struct storm_context *context, double *inout);
storm_status storm_bench_sum_uint(struct storm_context *context,
                                  uint64_t *inout, int n);

/* An array of n elements in the memory book of the context, zeroed; NULL: no
 * memory. Freeing NULL is allowed. */
void *storm_bench_alloc(const struct storm_context *context, size_t n,
                        size_t element_bytes);
void storm_bench_free(const struct storm_context *context, void *array);

/* Sorts the values and returns the median. */
double storm_bench_median(double *values, size_t n);

/* ---- cycles of transport ------------------------------------------------- */

/* The bare kernel runs after each of the last timed cycles, so that both have
 * the same load on the machine, and once before that, to warm up. */
enum { STORM_BENCH_MAX_KERNELS = 5 };

/* Cycles of an engine, of which the last ones are timed. */
struct storm_bench_loop {
    struct storm_context *context;
    struct storm_engine *engine;
    struct storm_streaming *streaming; /* has the bare kernel */
    uint32_t cycles, timed;
    double kernel_seconds; /* for each run of the kernel */

    uint32_t cycle;           /* how many have been run */
    double seconds;           /* timed cycles, maximum over ranks */
    struct storm_stats stats; /* this rank's, of the timed cycles */
    double rates[STORM_BENCH_MAX_KERNELS]; /* of the kernel */
    size_t n_rates;
    struct storm_device_counts device; /* of the timed cycles, of all ranks */
    const char *device_name;
    bool is_counting;                     /* counters are open */
    struct storm_bench_counters counters; /* of the timed cycles */
};

/* One more cycle; then the bare kernel, if it is due. Collective. */
storm_status storm_bench_loop_cycle(struct storm_bench_loop *loop);
storm_status storm_bench_loop_kernel(struct storm_bench_loop *loop);
void storm_bench_loop_close(struct storm_bench_loop *loop);

/* Steps per second and rank of the bare kernel: the median. */
double storm_bench_loop_kernel_rate(struct storm_bench_loop *loop);

/* Fills in the summary, except title, hash and balance. Collective. */
storm_status storm_bench_loop_summary(struct storm_bench_loop *loop,
                                      const struct storm_mesh *mesh,
                                      struct storm_run_summary *summary);

/* ---- reports ------------------------------------------------------------- */

/* Steps per second and rank. */
double storm_bench_rate(const struct storm_run_summary *summary);

/* The object with the keys that all have; its end. */
void storm_bench_json_begin(struct storm_json *json, const char *benchmark,
                            const struct storm_run_summary *summary);
char *storm_bench_json_end(struct storm_json *json);

/* The bare kernel as keys; ranks, steps and speed as rows. */
void storm_bench_json_kernel(struct storm_json *json,
                             const struct storm_run_summary *summary,
                             double kernel_rate, const char *kernel_is);
/* What devices did in the timed cycles; nothing without them. */
void storm_bench_json_device(struct storm_json *json,
                             const struct storm_bench_loop *loop,
                             const struct storm_run_summary *summary);
void storm_bench_table_device(struct storm_page *page,
                              const struct storm_bench_loop *loop,
                              const struct storm_run_summary *summary);
void storm_bench_table_ranks(struct storm_page *page,
                             const struct storm_run_summary *summary);
void storm_bench_table_steps(struct storm_page *page,
                             const struct storm_run_summary *summary,
                             uint32_t timed);
void storm_bench_table_speed(struct storm_page *page,
                             const struct storm_run_summary *summary,
                             double kernel_rate, const char *kernel);

#endif /* STORM_BENCH_MEASURE_H */
