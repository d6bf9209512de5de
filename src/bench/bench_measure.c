/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_measure.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench/bench_kernel.h"
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

void *storm_bench_alloc(const struct storm_context *context, size_t n,
                        size_t element_bytes)
{
    return storm_alloc(context->env.memory, "bench", n * element_bytes);
}

void storm_bench_free(const struct storm_context *context, void *array)
{
    if (array != NULL) /* else there may be no context yet */
        storm_free(context->env.memory, array);
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

/* ---- cycles of transport ------------------------------------------------- */

/* Adds what the device of this rank has done since. */
static void measure_device(struct storm_bench_loop *loop,
                           const struct storm_device_counts *before)
{
    struct storm_device_counts now =
        storm_device_counts(loop->context->env.device);
    loop->device.launches += now.launches - before->launches;
    loop->device.kernel_seconds += now.kernel_seconds - before->kernel_seconds;
    loop->device.bytes_put += now.bytes_put - before->bytes_put;
    loop->device.bytes_got += now.bytes_got - before->bytes_got;
}

static storm_status measure_device_sum(struct storm_bench_loop *loop)
{
    struct storm_device_counts *d = &loop->device;
    uint64_t sums[] = {d->launches, d->bytes_put, d->bytes_got};
    storm_status status = storm_bench_sum_uint(loop->context, sums, 3);
    d->launches = sums[0];
    d->bytes_put = sums[1];
    d->bytes_got = sums[2];
    loop->device_name = storm_device_name(loop->context->env.device);
    return status < 0 ? status
                      : storm_bench_sum(loop->context, &d->kernel_seconds);
}

storm_status storm_bench_loop_cycle(struct storm_bench_loop *loop)
{
    struct storm_device_counts device =
        storm_device_counts(loop->context->env.device);
    struct storm_stats before = STORM_STATS_INIT, after = STORM_STATS_INIT;
    const bool is_timed = loop->cycle >= loop->cycles - loop->timed;
    if (!loop->is_counting)
        storm_bench_counters_open(&loop->counters);
    loop->is_counting = true;
    storm_engine_stats(loop->engine, &before);
    if (is_timed)
        storm_bench_counters_begin(&loop->counters);
    storm_status status =
        storm_context_agree(loop->context, storm_engine_step(loop->engine));
    if (status < 0)
        return status;
    if (is_timed)
        storm_bench_counters_end(&loop->counters);
    storm_engine_stats(loop->engine, &after);
    if (is_timed) {
        double seconds = after.seconds - before.seconds;
        status = storm_bench_max(loop->context, &seconds);
        loop->seconds += seconds;
        storm_run_stats_add(&loop->stats, &before, &after);
        measure_device(loop, &device);
    }
    loop->cycle++;
    return status;
}

void storm_bench_loop_close(struct storm_bench_loop *loop)
{
    if (loop->is_counting)
        storm_bench_counters_close(&loop->counters);
    loop->is_counting = false;
}

/* Crossings per second and rank, on all ranks at once. */
static storm_status measure_kernel(struct storm_bench_loop *loop,
                                   double *rate_out)
{
    double rate = 0.0;
    storm_status status = storm_bench_barrier(loop->context);
    if (status >= 0)
        status = storm_context_agree(loop->context,
                                     storm_bench_kernel(loop->streaming,
                                                        loop->engine,
                                                        loop->kernel_seconds,
                                                        &rate));
    if (status >= 0)
        status = storm_bench_sum(loop->context, &rate);
    *rate_out = rate / storm_context_size(loop->context);
    return status;
}

storm_status storm_bench_loop_kernel(struct storm_bench_loop *loop)
{
    uint32_t left = loop->cycles - loop->cycle;
    double warm_up;
    if (left >= loop->timed || left >= STORM_BENCH_MAX_KERNELS)
        return STORM_OK;
    storm_status status =
        loop->n_rates == 0 ? measure_kernel(loop, &warm_up) : STORM_OK;
    return status < 0 ? status
                      : measure_kernel(loop, &loop->rates[loop->n_rates++]);
}

double storm_bench_loop_kernel_rate(struct storm_bench_loop *loop)
{
    return storm_bench_median(loop->rates, loop->n_rates);
}

storm_status storm_bench_loop_summary(struct storm_bench_loop *loop,
                                      const struct storm_mesh *mesh,
                                      struct storm_run_summary *summary)
{
    summary->cycles = loop->cycles;
    summary->cells = storm_mesh_n_cells_total(mesh);
    summary->seconds = loop->seconds;
    summary->timed = loop->stats;
    summary->run = (struct storm_stats)STORM_STATS_INIT;
    storm_engine_stats(loop->engine, &summary->run);
    storm_status status =
        storm_bench_counters_reduce(loop->context, &loop->counters);
    if (status >= 0)
        status = measure_device_sum(loop);
    return status < 0
               ? status
               : storm_run_summary_reduce(loop->context, loop->engine, summary);
}

/* ---- reports ------------------------------------------------------------- */

double storm_bench_rate(const struct storm_run_summary *s)
{
    return (double)s->timed.events / (s->seconds * s->ranks);
}

void storm_bench_json_begin(struct storm_json *json, const char *benchmark,
                            const struct storm_run_summary *summary)
{
    storm_json_begin(json, true);
    storm_json_open(json, NULL, '{');
    storm_json_text(json, "benchmark", benchmark);
    storm_run_summary_json(json, summary);
}

char *storm_bench_json_end(struct storm_json *json)
{
    storm_json_close(json, '}');
    return storm_json_end(json);
}

void storm_bench_json_kernel(struct storm_json *json,
                             const struct storm_run_summary *summary,
                             double kernel_rate, const char *kernel_is)
{
    storm_json_real(json, "kernel_steps_per_second", kernel_rate);
    storm_json_text(json, "kernel_is", kernel_is);
    storm_json_real(json, "kernel_ratio",
                    storm_bench_rate(summary) / kernel_rate);
}

void storm_bench_json_device(struct storm_json *json,
                             const struct storm_bench_loop *loop,
                             const struct storm_run_summary *s)
{
    const struct storm_device_counts *d = &loop->device;
    if (d->launches == 0)
        return;
    storm_json_uint(json, "device_launches", d->launches);
    storm_json_real(json, "device_kernel_seconds", d->kernel_seconds);
    storm_json_real(json, "device_kernel_share",
                    d->kernel_seconds / (s->seconds * s->ranks));
    storm_json_uint(json, "device_bytes_put", d->bytes_put);
    storm_json_uint(json, "device_bytes_got", d->bytes_got);
}

void storm_bench_table_device(struct storm_page *page,
                              const struct storm_bench_loop *loop,
                              const struct storm_run_summary *s)
{
    const struct storm_device_counts *d = &loop->device;
    if (d->launches == 0)
        return;
    storm_page_add(page,
                   "  device      %s: %" PRIu64 " launches, %.3f s of kernels "
                   "(%.0f %% of the time), %.3g GB put, %.3g GB got\n",
                   loop->device_name, d->launches, d->kernel_seconds,
                   100.0 * d->kernel_seconds / (s->seconds * s->ranks),
                   1e-9 * (double)d->bytes_put, 1e-9 * (double)d->bytes_got);
}

void storm_bench_table_ranks(struct storm_page *page,
                             const struct storm_run_summary *s)
{
    storm_page_add(page, "  ranks       %d, backend %s, protocol %s\n",
                   s->ranks, s->backend, s->protocol);
}

void storm_bench_table_steps(struct storm_page *page,
                             const struct storm_run_summary *s, uint32_t timed)
{
    char number[STORM_GROUPED_BYTES];
    storm_page_add(page,
                   "  steps       %s in the %" PRIu32 " timed cycles, %.3f s\n",
                   storm_page_grouped(s->timed.events, number), timed,
                   s->seconds);
}

void storm_bench_table_speed(struct storm_page *page,
                             const struct storm_run_summary *s,
                             double kernel_rate, const char *kernel)
{
    double rate = storm_bench_rate(s);
    storm_page_add(page,
                   "  speed       %.2f million steps per second and rank\n"
                   "              %.0f %% of %s (%.2f million)\n"
                   "  energy      balance closed to %.1e\n",
                   1e-6 * rate, 100.0 * rate / kernel_rate, kernel,
                   1e-6 * kernel_rate, s->energy_balance);
}
