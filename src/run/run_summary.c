/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/info.h>
#include <storm/version.h>

#include "base/memory.h"

/* ---- the report ---------------------------------------------------------- */

/* It may outlive the context, so it has its own memory book. */
struct storm_run_report {
    struct storm_memory *memory;
    char *parts[STORM_RUN_N_PARTS];
    uint64_t stopped_step; /* 0: not stopped */
};

static struct storm_run_report *report_new(void)
{
    struct storm_memory *memory;
    if (storm_memory_create(&memory) < 0)
        return NULL;
    struct storm_run_report *report =
        storm_alloc(memory, "report", sizeof *report);
    if (report == NULL)
        storm_memory_end(memory);
    else
        report->memory = memory;
    return report;
}

storm_status storm_run_report_make(struct storm_context *context,
                                   storm_status status,
                                   char *parts[STORM_RUN_N_PARTS],
                                   struct storm_run_report **report_out)
{
    struct storm_run_report *report = report_new();
    bool complete =
        parts[STORM_RUN_JSON] != NULL && parts[STORM_RUN_TABLE] != NULL;
    if (status >= 0 &&
        (report == NULL || (storm_context_rank(context) == 0 && !complete)))
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0) {
        for (int i = 0; i < STORM_RUN_N_PARTS; i++)
            report->parts[i] = parts[i];
        *report_out = report;
        return STORM_OK;
    }
    for (int i = 0; i < STORM_RUN_N_PARTS; i++)
        free(parts[i]);
    storm_run_report_destroy(report);
    return status;
}

void storm_run_report_destroy(struct storm_run_report *report)
{
    if (report == NULL)
        return;
    for (int i = 0; i < STORM_RUN_N_PARTS; i++)
        free(report->parts[i]);
    struct storm_memory *memory = report->memory;
    storm_free(memory, report);
    storm_memory_end(memory);
}

const char *storm_run_report_text(const struct storm_run_report *report,
                                  storm_run_part part)
{
    bool exists = (int)part >= 0 && (int)part < STORM_RUN_N_PARTS;
    return exists ? report->parts[part] : NULL;
}

void storm_run_report_set_stopped(struct storm_run_report *report,
                                  uint64_t step)
{
    report->stopped_step = step;
}

uint64_t storm_run_report_stopped(const struct storm_run_report *report)
{
    return report->stopped_step;
}

/* ---- progress ------------------------------------------------------------ */

void storm_progress_report(struct storm_context *context,
                           const struct storm_progress *progress,
                           double fraction, const char *format, ...)
{
    if (progress->report == NULL || storm_context_rank(context) != 0)
        return;
    char what[128];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    progress->report(progress->self, what, fraction);
}

/* ---- the summary --------------------------------------------------------- */

/* Pointers to all counters of a storm_stats that add up over ranks. */
enum { REPORT_N_COUNTS = 14, REPORT_N_TIMES = IO_N_TIMES };

static void report_counts(struct storm_stats *s,
                          uint64_t *counts_out[REPORT_N_COUNTS])
{
    uint64_t *counts[REPORT_N_COUNTS] = {
        &s->steps,         &s->created,     &s->census,    &s->absorbed,
        &s->escaped,       &s->events,      &s->transfers, &s->bytes_sent,
        &s->batches,       &s->growths,     &s->waves,     &s->iterations,
        &s->control_polls, &s->allocations,
    };
    memcpy(counts_out, counts, sizeof counts);
}

static void report_times(struct storm_times *t,
                         double *times_out[REPORT_N_TIMES])
{
    double *times[REPORT_N_TIMES] = {&t->physics,   &t->progress,
                                     &t->send_recv, &t->termination,
                                     &t->growth,    &t->idle};
    memcpy(times_out, times, sizeof times);
}

void storm_run_times(const struct storm_times *times,
                     double times_out[IO_N_TIMES])
{
    struct storm_times copy = *times;
    double *time[REPORT_N_TIMES];
    report_times(&copy, time);
    for (int i = 0; i < REPORT_N_TIMES; i++)
        times_out[i] = *time[i];
}

void storm_run_times_json(struct storm_json *json,
                          const struct storm_times *times)
{
    double time[REPORT_N_TIMES];
    storm_run_times(times, time);
    storm_json_open(json, "breakdown", '{');
    for (int i = 0; i < REPORT_N_TIMES; i++)
        storm_json_real(json, io_time_names[i], time[i]);
    storm_json_close(json, '}');
}

void storm_run_stats_add(struct storm_stats *sum,
                         const struct storm_stats *before,
                         const struct storm_stats *after)
{
    struct storm_stats a = *before, b = *after;
    uint64_t *to[REPORT_N_COUNTS], *x[REPORT_N_COUNTS], *y[REPORT_N_COUNTS];
    report_counts(sum, to);
    report_counts(&a, x);
    report_counts(&b, y);
    for (int i = 0; i < REPORT_N_COUNTS; i++)
        *to[i] += *y[i] - *x[i];
    sum->census = after->census;
    sum->ring_bytes_peak = after->ring_bytes_peak;
    sum->pinned_bytes_peak = after->pinned_bytes_peak;
    sum->seconds += after->seconds - before->seconds;

    double *t[REPORT_N_TIMES], *u[REPORT_N_TIMES], *v[REPORT_N_TIMES];
    report_times(&sum->times, t);
    report_times(&a.times, u);
    report_times(&b.times, v);
    for (int i = 0; i < REPORT_N_TIMES; i++)
        *t[i] += *v[i] - *u[i];
}

static storm_status report_reduce_stats(struct storm_context *context,
                                        struct storm_stats *stats)
{
    uint64_t *from[REPORT_N_COUNTS], counts[REPORT_N_COUNTS];
    report_counts(stats, from);
    for (int i = 0; i < REPORT_N_COUNTS; i++)
        counts[i] = *from[i];
    storm_status status = storm_context_reduce(context, counts, REPORT_N_COUNTS,
                                               MPI_UINT64_T, MPI_SUM);
    for (int i = 0; i < REPORT_N_COUNTS; i++)
        *from[i] = counts[i];

    double *times[REPORT_N_TIMES];
    report_times(&stats->times, times);
    for (int i = 0; i < REPORT_N_TIMES && status >= 0; i++) {
        status =
            storm_context_reduce(context, times[i], 1, MPI_DOUBLE, MPI_SUM);
        *times[i] /= storm_context_size(context);
    }
    return status;
}

/* The backend that the engine uses, not the one asked for. */
static void report_backend(const struct storm_engine *engine,
                           struct storm_run_summary *summary)
{
    struct storm_backend_used used = STORM_BACKEND_USED_INIT;
    if (storm_engine_backend(engine, &used) < 0)
        return;
    summary->backend = used.backend;
    summary->near = used.node_backend;
    summary->protocol = used.protocol;
    snprintf(summary->provider, sizeof summary->provider, "%s", used.provider);
}

static storm_status report_device(struct storm_context *context,
                                  struct storm_run_summary *summary)
{
    struct storm_device_used used = STORM_DEVICE_USED_INIT;
    if (storm_context_device(context, &used) == STORM_OK)
        snprintf(summary->device, sizeof summary->device, "%s", used.name);
    uint64_t sums[] = {used.launches, used.bytes_to, used.bytes_from};
    double seconds[] = {used.kernel_seconds, used.copy_seconds};
    storm_status status =
        storm_context_reduce(context, sums, 3, MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = storm_context_reduce(context, seconds, 2, MPI_DOUBLE, MPI_SUM);
    summary->work = (struct storm_run_device){
        .launches = sums[0],
        .bytes_to = sums[1],
        .bytes_from = sums[2],
        .kernel_seconds = seconds[0],
        .copy_seconds = seconds[1],
    };
    return status;
}

/* Inserts a label into the list, in its order; the last one may drop out. */
static void report_memory_insert(struct storm_run_memory *memory,
                                 const char *label, double peak_mb)
{
    size_t i = memory->n;
    if (i < STORM_RUN_N_LABELS)
        memory->n++;
    else if (memory->entry[--i].peak_mb >= peak_mb)
        return;
    for (; i > 0 && memory->entry[i - 1].peak_mb < peak_mb; i--)
        memory->entry[i] = memory->entry[i - 1];
    memory->entry[i].label = label;
    memory->entry[i].peak_mb = peak_mb;
}

static void report_memory(const struct storm_context *context,
                          struct storm_run_memory *memory_out)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    double least = 0.0; /* the first entry is the total */
    memory_out->n = 0;
    for (size_t i = 0; storm_context_memory(context, i, &entry) == STORM_OK;
         i++) {
        double peak_mb = 1e-6 * (double)entry.peak_bytes;
        if (i == 0)
            least = 0.01 * peak_mb;
        else if (peak_mb >= least && peak_mb > 0.0)
            report_memory_insert(memory_out, entry.label, peak_mb);
    }
}

storm_status storm_run_summary_reduce(struct storm_context *context,
                                      const struct storm_engine *engine,
                                      struct storm_run_summary *summary)
{
    summary->ranks = storm_context_size(context);
    if (engine != NULL)
        report_backend(engine, summary);
    report_memory(context, &summary->memory);
    enum { EVENTS, RINGS, PINNED, PEAK, N };
    double max[N] = {[EVENTS] = (double)summary->timed.events,
                     [RINGS] = 1e-6 * (double)summary->run.ring_bytes_peak,
                     [PINNED] = 1e-6 * (double)summary->run.pinned_bytes_peak,
                     [PEAK] = 1e-6 * (double)storm_process_peak_bytes()};
    storm_status status =
        storm_context_reduce(context, max, N, MPI_DOUBLE, MPI_MAX);
    if (status >= 0)
        status = report_device(context, summary);
    if (status >= 0)
        status = report_reduce_stats(context, &summary->run);
    if (status >= 0)
        status = report_reduce_stats(context, &summary->timed);
    double mean = (double)summary->timed.events / summary->ranks;
    summary->imbalance = mean > 0.0 ? max[EVENTS] / mean : 1.0;
    summary->ring_memory_mb = max[RINGS];
    summary->pinned_memory_mb = max[PINNED];
    summary->peak_memory_mb = max[PEAK];
    return status;
}

/* Census and peaks are states, not counts. */
static void report_stats_sum(struct storm_stats *sum,
                             const struct storm_stats *part)
{
    static const struct storm_stats nothing;
    struct storm_stats before = *sum;
    storm_run_stats_add(sum, &nothing, part);
    sum->census = before.census + part->census;
    sum->ring_bytes_peak = before.ring_bytes_peak;
    sum->pinned_bytes_peak = before.pinned_bytes_peak;
}

void storm_run_summary_add(struct storm_run_summary *sum,
                           const struct storm_run_summary *part)
{
    report_stats_sum(&sum->run, &part->run);
    report_stats_sum(&sum->timed, &part->timed);
    sum->seconds += part->seconds;
    sum->cycles += part->cycles;
    sum->energy_balance = fmax(sum->energy_balance, part->energy_balance);
    sum->imbalance = fmax(sum->imbalance, part->imbalance);
    sum->peak_memory_mb = fmax(sum->peak_memory_mb, part->peak_memory_mb);
    sum->ring_memory_mb = fmax(sum->ring_memory_mb, part->ring_memory_mb);
    sum->pinned_memory_mb = fmax(sum->pinned_memory_mb, part->pinned_memory_mb);
    if (part->ranks >= sum->ranks) { /* the last with most ranks */
        sum->memory = part->memory;
        sum->ranks = part->ranks;
        sum->cells = part->cells;
        sum->state_hash = part->state_hash;
    }
}

static double report_rate(const struct storm_run_summary *s)
{
    return s->seconds > 0.0 ? (double)s->timed.events / s->seconds / s->ranks
                            : 0.0;
}

static void report_json_counts(struct storm_json *json,
                               const struct storm_run_summary *s)
{
    uint64_t gone = s->run.absorbed + s->run.escaped;
    storm_json_uint(json, "packets_created", s->run.created);
    storm_json_uint(json, "packets_finished", s->run.census + gone);
    storm_json_uint(json, "packets_absorbed", s->run.absorbed);
    storm_json_uint(json, "packets_escaped", s->run.escaped);
    storm_json_uint(json, "packets_census", s->run.census);
    storm_json_uint(json, "steps", s->timed.events);
    storm_json_uint(json, "transfers", s->timed.transfers);
    storm_json_uint(json, "bytes_sent", s->timed.bytes_sent);
    storm_json_uint(json, "batches", s->timed.batches);
    storm_json_uint(json, "growths", s->run.growths);
    storm_json_uint(json, "iterations", s->timed.iterations);
    storm_json_uint(json, "waves", s->timed.waves);
    storm_json_uint(json, "control_polls", s->timed.control_polls);
    storm_json_uint(json, "allocations", s->timed.allocations);
}

void storm_run_summary_json(struct storm_json *json,
                            const struct storm_run_summary *summary)
{
    char mpi[128];
    storm_mpi_name(mpi, sizeof mpi);

    storm_json_text(json, "storm_version", storm_version());
    storm_json_text(json, "title", summary->title);
    storm_json_text(json, "backend", summary->backend);
    storm_json_text(json, "protocol", summary->protocol);
    storm_json_text(json, "mpi", mpi);
    storm_json_text(json, "provider", summary->provider);
    storm_json_text(json, "node_backend", summary->near ? summary->near : "");
    storm_json_text(json, "device", summary->device);
    storm_json_int(json, "ranks", summary->ranks);
    storm_json_uint(json, "cycles", summary->cycles);
    storm_json_uint(json, "cells", summary->cells);
    report_json_counts(json, summary);
    storm_json_real(json, "seconds", summary->seconds);
    storm_json_real(json, "steps_per_second_per_rank", report_rate(summary));

    storm_run_times_json(json, &summary->timed.times);
    storm_json_real(json, "imbalance", summary->imbalance);
    storm_json_real(json, "energy_balance", summary->energy_balance);
    storm_json_hash(json, "state_hash", summary->state_hash);
    storm_json_real(json, "peak_memory_mb", summary->peak_memory_mb);
    storm_json_real(json, "ring_memory_mb", summary->ring_memory_mb);
    storm_json_real(json, "pinned_memory_mb", summary->pinned_memory_mb);
    storm_json_open(json, "memory_by_label_mb", '{');
    for (size_t i = 0; i < summary->memory.n; i++)
        storm_json_real(json, summary->memory.entry[i].label,
                        summary->memory.entry[i].peak_mb);
    storm_json_close(json, '}');
}

void storm_run_route_json(struct storm_json *json, int ranks,
                          const char *backend,
                          const struct storm_run_summary *summary)
{
    storm_json_int(json, "ranks", ranks);
    storm_json_text(json, "backend", backend);
    storm_json_text(json, "provider", summary->provider);
    storm_json_text(json, "protocol", summary->protocol);
    storm_json_text(json, "node_backend", summary->near ? summary->near : "");
}

void storm_run_summary_table(struct storm_page *table,
                             const struct storm_run_summary *summary)
{
    static const char *const label[REPORT_N_TIMES] = {
        "moving packets",      "driving the network", "sending and receiving",
        "looking for the end", "making rings",        "waiting"};
    double time[REPORT_N_TIMES], sum = 0.0;
    storm_run_times(&summary->timed.times, time);
    for (int i = 0; i < REPORT_N_TIMES; i++)
        sum += time[i];
    storm_page_add(table, "  %-32s %9s %8s\n", "time, mean of the ranks",
                   "seconds", "share");
    for (int i = 0; i < REPORT_N_TIMES; i++)
        storm_page_add(table, "    %-11s  %-21s %7.3f %6.1f %%\n",
                       io_time_names[i], label[i], time[i],
                       sum > 0.0 ? 100.0 * time[i] / sum : 0.0);
}

static void report_memory_table(struct storm_page *table,
                                const struct storm_run_summary *summary)
{
    storm_page_add(table, "\n  %-32s %9s\n", "peak memory", "MB");
    storm_page_add(table, "    %-30s %9.1f\n", "of the largest process",
                   summary->peak_memory_mb);
    for (size_t i = 0; i < summary->memory.n; i++)
        storm_page_add(table, "    %-30s %9.1f\n",
                       summary->memory.entry[i].label,
                       summary->memory.entry[i].peak_mb);
}

void storm_run_summary_end(struct storm_page *table,
                           const struct storm_run_summary *summary)
{
    storm_page_add(table,
                   "  state hash  %016" PRIx64
                   " (the same on any number of ranks)\n\n",
                   summary->state_hash);
    storm_run_summary_table(table, summary);
    report_memory_table(table, summary);
}
