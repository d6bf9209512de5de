/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a deck goes, for numbers of ranks and backends. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench.h"

#include "bench/bench_crew.h"
#include "bench/bench_measure.h"
#include "run/run.h"
#include "run/run_summary.h"
#include "view/chart.h"

/* ---- one run ------------------------------------------------------------- */

struct breakdown {
    struct storm_bench_breakdown_params params; /* no zeros left */
    struct storm_bench_points points;
};

/* Progress of one pass. */
struct breakdown_progress {
    const struct storm_progress *to;
    const struct storm_bench_pass *pass;
};

static void breakdown_report(void *self, const char *what, double fraction)
{
    const struct breakdown_progress *progress = self;
    const struct storm_bench_pass *pass = progress->pass;
    char text[192];
    snprintf(text, sizeof text, "%s%s", pass->what, what);
    if (progress->to->report != NULL)
        progress->to->report(progress->to->self, text,
                             pass->done + pass->share * fraction);
}

static storm_status breakdown_body(struct storm_context *own,
                                   struct storm_bench_pass *pass, void *self)
{
    const struct breakdown *breakdown = self;
    struct breakdown_progress to = {&breakdown->params.progress, pass};
    const struct storm_progress progress = {breakdown_report, &to};
    return run_measure(own, breakdown->params.deck, &progress, &pass->summary);
}

/* ---- what is shown ------------------------------------------------------- */

/* Share of physics in the time; the rest is transport between ranks. */
static double breakdown_ratio(const struct storm_bench_point *point)
{
    const struct storm_run_summary *s = &point->best;
    return s->seconds > 0.0 ? s->timed.times.physics / s->seconds : 0.0;
}

/* Of the time of all ranks. */
static double breakdown_share(const struct storm_bench_point *point,
                              double seconds)
{
    const struct storm_run_summary *s = &point->best;
    double all = s->seconds * s->ranks;
    return all > 0.0 ? seconds / all : 0.0;
}

static void breakdown_device_json(struct storm_json *json,
                                  const struct storm_bench_point *point)
{
    const struct storm_run_device *d = &point->best.work;
    if (d->launches == 0)
        return;
    storm_json_text(json, "device", point->best.device);
    storm_json_uint(json, "device_launches", d->launches);
    storm_json_real(json, "device_kernel_seconds", d->kernel_seconds);
    storm_json_real(json, "device_kernel_share",
                    breakdown_share(point, d->kernel_seconds));
    storm_json_real(json, "device_copy_seconds", d->copy_seconds);
    storm_json_real(json, "device_copy_share",
                    breakdown_share(point, d->copy_seconds));
    storm_json_uint(json, "device_bytes_put", d->bytes_to);
    storm_json_uint(json, "device_bytes_got", d->bytes_from);
}

static void breakdown_point_json(struct storm_json *json,
                                 const struct storm_bench_point *point)
{
    const struct storm_run_summary *s = &point->best;
    storm_json_open(json, NULL, '{');
    storm_run_route_json(json, point->ranks, point->backend, s);
    storm_json_uint(json, "cycles", s->cycles);
    storm_json_real(json, "seconds", s->seconds);
    storm_run_times_json(json, &s->timed.times);
    storm_json_real(json, "physics_ratio", breakdown_ratio(point));
    storm_json_real(json, "imbalance", s->imbalance);
    storm_json_uint(json, "steps", s->timed.events);
    storm_json_uint(json, "transfers", s->timed.transfers);
    storm_json_uint(json, "bytes_sent", s->timed.bytes_sent);
    storm_json_hash(json, "state_hash", s->state_hash);
    storm_json_bool(json, "oversubscribed", point->oversubscribed);
    breakdown_device_json(json, point);
    storm_json_close(json, '}');
}

static char *breakdown_json(const struct breakdown *breakdown)
{
    struct storm_json json;
    const struct storm_bench_points *points = &breakdown->points;
    struct storm_run_summary sum = storm_bench_points_sum(points);
    sum.title = storm_deck_title(breakdown->params.deck);
    sum.backend = points->n_backends == 1 ? points->backends[0] : "all";
    storm_bench_json_begin(&json, "breakdown", &sum);
    storm_json_uint(&json, "repeats", breakdown->params.repeat);
    storm_json_bool(&json, "oversubscribed",
                    storm_bench_points_crowded(&breakdown->points));
    storm_json_open(&json, "points", '[');
    for (size_t i = 0; i < breakdown->points.n; i++)
        breakdown_point_json(&json, &breakdown->points.point[i]);
    storm_json_close(&json, ']');
    return storm_bench_json_end(&json);
}

/* Milliseconds of a step, mean of the ranks: the numbers of table and bars. */
static void breakdown_ms(const struct storm_bench_point *point,
                         double ms_out[IO_N_TIMES])
{
    double per_step =
        point->best.cycles > 0 ? 1e3 / (double)point->best.cycles : 0.0;
    storm_run_times(&point->best.timed.times, ms_out);
    for (int k = 0; k < IO_N_TIMES; k++)
        ms_out[k] *= per_step;
}

/* Kernels run while the host does other work: shares are not parts of a
 * whole. */
static void breakdown_device_table(struct storm_page *page,
                                   const struct breakdown *breakdown)
{
    for (size_t i = 0; i < breakdown->points.n; i++) {
        const struct storm_bench_point *point = &breakdown->points.point[i];
        const struct storm_run_device *d = &point->best.work;
        if (d->launches == 0)
            continue;
        storm_page_add(page,
                       "\n  %d rank%s, %s: %" PRIu64 " launches; kernels run "
                       "in %.1f %% of the time,\n    copies take %.1f %%: "
                       "%.3g GB put, %.3g GB got\n",
                       point->ranks, point->ranks == 1 ? "" : "s",
                       point->best.device, d->launches,
                       100.0 * breakdown_share(point, d->kernel_seconds),
                       100.0 * breakdown_share(point, d->copy_seconds),
                       1e-9 * (double)d->bytes_to,
                       1e-9 * (double)d->bytes_from);
    }
}

static char *breakdown_table(const struct breakdown *breakdown)
{
    struct storm_page page = {0};
    storm_page_add(&page,
                   "%s: where the time goes\n"
                   "Milliseconds per step, mean of the ranks\n\n  %5s  %-8s",
                   storm_deck_title(breakdown->params.deck), "ranks",
                   "backend");
    for (int k = 0; k < IO_N_TIMES; k++)
        storm_page_add(&page, " %11s", io_time_names[k]);
    storm_page_add(&page, " %9s\n", "imbalance");
    for (size_t i = 0; i < breakdown->points.n; i++) {
        const struct storm_bench_point *point = &breakdown->points.point[i];
        double ms[IO_N_TIMES];
        breakdown_ms(point, ms);
        storm_page_add(&page, "  %5d%s %-8s", point->ranks,
                       point->oversubscribed ? "*" : " ", point->backend);
        for (int k = 0; k < IO_N_TIMES; k++)
            storm_page_add(&page, " %11.3f", ms[k]);
        storm_page_add(&page, " %9.2f\n", point->best.imbalance);
    }
    breakdown_device_table(&page, breakdown);
    storm_page_add(&page, "\n  state hash %016" PRIx64 " of all runs\n",
                   breakdown->points.point[0].best.state_hash);
    if (storm_bench_points_crowded(&breakdown->points))
        storm_page_add(&page, "  * more ranks than cores: they take turns, and "
                              "whoever waits for a turn\n    has its clocks "
                              "running\n");
    return storm_page_end(&page);
}

/* The bars' texts and numbers, in one piece of memory each. */
struct breakdown_bars {
    struct storm_bar *bars;
    double *ms;
    char (*groups)[32];
};

static char *breakdown_draw(const struct breakdown *breakdown,
                            const struct breakdown_bars *b)
{
    for (size_t i = 0; i < breakdown->points.n; i++) {
        const struct storm_bench_point *point = &breakdown->points.point[i];
        double *ms = b->ms + i * IO_N_TIMES;
        breakdown_ms(point, ms);
        snprintf(b->groups[i], sizeof b->groups[i], "%d rank%s%s", point->ranks,
                 point->ranks == 1 ? "" : "s",
                 point->oversubscribed ? ", more than cores" : "");
        b->bars[i] = (struct storm_bar){point->backend, b->groups[i], ms};
    }
    struct storm_bars bars = {
        .title = "Where the time goes",
        .subtitle = storm_deck_title(breakdown->params.deck),
        .label = "time per step, mean of the ranks (ms)",
        .parts = io_time_names,
        .n_parts = IO_N_TIMES,
        .bars = b->bars,
        .n_bars = breakdown->points.n,
    };
    return storm_bars_svg(&bars);
}

static char *breakdown_picture(const struct breakdown *breakdown)
{
    const struct storm_context *context = breakdown->points.context;
    size_t n = breakdown->points.n;
    struct breakdown_bars b = {
        .bars = storm_bench_alloc(context, n, sizeof *b.bars),
        .ms = storm_bench_alloc(context, n, IO_N_TIMES * sizeof *b.ms),
        .groups = storm_bench_alloc(context, n, sizeof *b.groups),
    };
    char *svg = NULL;
    if (b.bars != NULL && b.ms != NULL && b.groups != NULL)
        svg = breakdown_draw(breakdown, &b);
    storm_bench_free(context, b.groups);
    storm_bench_free(context, b.ms);
    storm_bench_free(context, b.bars);
    return svg;
}

/* ---- the benchmark ------------------------------------------------------- */

storm_status
storm_bench_breakdown(struct storm_context *context,
                      const struct storm_bench_breakdown_params *params,
                      struct storm_run_report **report_out)
{
    struct breakdown breakdown = {.params = *params};
    struct storm_bench_breakdown_params *p = &breakdown.params;
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (p->repeat == 0)
        p->repeat = 1;
    if (p->ranks.n == 0)
        p->ranks = (struct storm_bench_numbers){
            .value = {(uint32_t)storm_context_size(context)}, .n = 1};
    storm_status status =
        storm_bench_points_open(context, &p->ranks, p->backends, p->repeat,
                                &breakdown.points);
    if (status >= 0)
        status = storm_bench_points_run(&breakdown.points, true, breakdown_body,
                                        &breakdown);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = breakdown_json(&breakdown);
        parts[STORM_RUN_TABLE] = breakdown_table(&breakdown);
        if (p->picture) {
            parts[STORM_RUN_PICTURE] = breakdown_picture(&breakdown);
            if (parts[STORM_RUN_PICTURE] == NULL)
                status = STORM_ERR_NOMEM;
        }
    }
    storm_bench_points_close(&breakdown.points);
    return storm_run_report_make(context, status, parts, report_out);
}
