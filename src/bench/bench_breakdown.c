/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a deck goes, for numbers of ranks and backends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

#include "base/env.h"
#include "bench/bench_crew.h"
#include "bench/bench_measure.h"
#include "run/run.h"
#include "run/run_summary.h"
#include "view/chart.h"

/* One number of ranks with one backend. */
struct breakdown_point {
    int ranks;
    const char *backend;
    bool oversubscribed;
    struct storm_run_summary best;
};

struct breakdown {
    struct storm_context *context;
    struct storm_bench_breakdown_params params; /* no zeros left */
    uint32_t *ranks;
    size_t n_ranks;
    const char *backends[STORM_BENCH_MOST_BACKENDS];
    size_t n_backends;
    struct breakdown_point *points; /* backends of the fewest ranks first */
    size_t n_points;
};

/* ---- one run ------------------------------------------------------------- */

struct breakdown_pass {
    const struct breakdown *breakdown;
    struct breakdown_point *point;
    double told, share; /* of the whole: done before, and part of, this */
    struct storm_run_summary summary;
};

static void breakdown_report(void *self, const char *what, double fraction)
{
    const struct breakdown_pass *pass = self;
    const struct storm_progress *to = &pass->breakdown->params.progress;
    char text[192];
    snprintf(text, sizeof text, "%d rank%s, %s, %s", pass->point->ranks,
             pass->point->ranks == 1 ? "" : "s", pass->point->backend, what);
    if (to->report != NULL)
        to->report(to->self, text, pass->told + pass->share * fraction);
}

static storm_status breakdown_body(struct storm_context *own, void *self)
{
    struct breakdown_pass *pass = self;
    const struct storm_progress progress = {breakdown_report, pass};
    double crowded = storm_context_env(own)->crowded ? 1.0 : 0.0;
    storm_status status = run_measure(own, pass->breakdown->params.deck,
                                      &progress, &pass->summary);
    if (status >= 0)
        status = storm_bench_max(own, &crowded);
    pass->point->oversubscribed = crowded > 0.0;
    return status;
}

/* All runs end in the same state. */
static storm_status breakdown_compare(const struct breakdown_pass *pass)
{
    const struct breakdown_point *first = &pass->breakdown->points[0];
    if (first->best.ranks == 0 ||
        first->best.state_hash == pass->summary.state_hash)
        return STORM_OK;
    storm_context_log(pass->breakdown->context, STORM_LOG_ERROR,
                      "wrong result: %d ranks with backend %s end in state "
                      "%016" PRIx64 ", but %d with %s in %016" PRIx64,
                      pass->point->ranks, pass->point->backend,
                      pass->summary.state_hash, first->ranks, first->backend,
                      first->best.state_hash);
    return STORM_ERR_STATE;
}

static storm_status breakdown_measure(struct breakdown *breakdown, size_t i,
                                      uint32_t repeat)
{
    struct breakdown_point *point = &breakdown->points[i];
    double share =
        1.0 / (double)(breakdown->n_points * breakdown->params.repeat);
    struct breakdown_pass pass = {
        .breakdown = breakdown,
        .point = point,
        .told = share * (double)(repeat * breakdown->n_points + i),
        .share = share,
    };
    struct storm_bench_crew crew = {point->ranks, point->backend};
    storm_status status =
        storm_bench_crew_run(breakdown->context, &crew, breakdown_body, &pass);
    if (status >= 0 && storm_context_rank(breakdown->context) == 0) {
        status = breakdown_compare(&pass);
        if (repeat == 0 || pass.summary.seconds < point->best.seconds)
            point->best = pass.summary;
    }
    return status == STORM_ERR_LOST
               ? status
               : storm_context_agree(breakdown->context, status);
}

/* ---- what is shown ------------------------------------------------------- */

static bool breakdown_is_crowded(const struct breakdown *breakdown)
{
    bool crowded = false;
    for (size_t i = 0; i < breakdown->n_points; i++)
        crowded = crowded || breakdown->points[i].oversubscribed;
    return crowded;
}

/* Physics alone, of the time: what is left for moving packets about. */
static double breakdown_ratio(const struct breakdown_point *point)
{
    const struct storm_run_summary *s = &point->best;
    return s->seconds > 0.0 ? s->timed.times.physics / s->seconds : 0.0;
}

static void breakdown_point_json(struct storm_json *json,
                                 const struct breakdown_point *point)
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
    storm_json_close(json, '}');
}

static char *breakdown_json(const struct breakdown *breakdown)
{
    struct storm_json json;
    struct storm_run_summary sum = {
        .title = storm_deck_title(breakdown->params.deck),
        .backend = breakdown->n_backends == 1 ? breakdown->backends[0] : "all",
        .protocol = "all",
    };
    for (size_t i = 0; i < breakdown->n_points; i++)
        storm_run_summary_add(&sum, &breakdown->points[i].best);
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_text(&json, "benchmark", "breakdown");
    storm_run_summary_json(&json, &sum);
    storm_json_uint(&json, "repeats", breakdown->params.repeat);
    storm_json_bool(&json, "oversubscribed", breakdown_is_crowded(breakdown));
    storm_json_open(&json, "points", '[');
    for (size_t i = 0; i < breakdown->n_points; i++)
        breakdown_point_json(&json, &breakdown->points[i]);
    storm_json_close(&json, ']');
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

/* Milliseconds of a step, mean of the ranks: the numbers of table and bars. */
static void breakdown_ms(const struct breakdown_point *point,
                         double ms_out[OUTPUT_N_TIMES])
{
    double per_step =
        point->best.cycles > 0 ? 1e3 / (double)point->best.cycles : 0.0;
    storm_run_times(&point->best.timed.times, ms_out);
    for (int k = 0; k < OUTPUT_N_TIMES; k++)
        ms_out[k] *= per_step;
}

static char *breakdown_table(const struct breakdown *breakdown)
{
    struct storm_page page = {0};
    storm_page_add(&page,
                   "%s: where the time goes\n"
                   "Milliseconds per step, mean of the ranks\n\n  %5s  %-8s",
                   storm_deck_title(breakdown->params.deck), "ranks",
                   "backend");
    for (int k = 0; k < OUTPUT_N_TIMES; k++)
        storm_page_add(&page, " %11s", output_time_names[k]);
    storm_page_add(&page, " %9s\n", "imbalance");
    for (size_t i = 0; i < breakdown->n_points; i++) {
        const struct breakdown_point *point = &breakdown->points[i];
        double ms[OUTPUT_N_TIMES];
        breakdown_ms(point, ms);
        storm_page_add(&page, "  %5d%s %-8s", point->ranks,
                       point->oversubscribed ? "*" : " ", point->backend);
        for (int k = 0; k < OUTPUT_N_TIMES; k++)
            storm_page_add(&page, " %11.3f", ms[k]);
        storm_page_add(&page, " %9.2f\n", point->best.imbalance);
    }
    storm_page_add(&page, "\n  state hash %016" PRIx64 " of all runs\n",
                   breakdown->points[0].best.state_hash);
    if (breakdown_is_crowded(breakdown))
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
    for (size_t i = 0; i < breakdown->n_points; i++) {
        const struct breakdown_point *point = &breakdown->points[i];
        double *ms = b->ms + i * OUTPUT_N_TIMES;
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
        .parts = output_time_names,
        .n_parts = OUTPUT_N_TIMES,
        .bars = b->bars,
        .n_bars = breakdown->n_points,
    };
    return storm_bars_svg(&bars);
}

static char *breakdown_picture(const struct breakdown *breakdown)
{
    size_t n = breakdown->n_points;
    struct breakdown_bars b = {
        .bars = calloc(n, sizeof *b.bars),
        .ms = calloc(n, OUTPUT_N_TIMES * sizeof *b.ms),
        .groups = calloc(n, sizeof *b.groups),
    };
    char *svg = NULL;
    if (b.bars != NULL && b.ms != NULL && b.groups != NULL)
        svg = breakdown_draw(breakdown, &b);
    free(b.groups);
    free(b.ms);
    free(b.bars);
    return svg;
}

/* ---- the benchmark ------------------------------------------------------- */

/* Zeros become the defaults. */
static storm_status breakdown_prepare(struct breakdown *breakdown)
{
    struct storm_context *context = breakdown->context;
    struct storm_bench_breakdown_params *params = &breakdown->params;
    const uint32_t all = (uint32_t)storm_context_size(context);
    if (params->repeat == 0)
        params->repeat = 1;
    const uint32_t *given = params->ranks.n > 0 ? params->ranks.value : &all;
    storm_status status =
        storm_bench_rank_counts(context, given,
                                params->ranks.n > 0 ? params->ranks.n : 1,
                                &breakdown->ranks, &breakdown->n_ranks);
    if (status >= 0)
        status =
            storm_bench_backends(context, params->backends, breakdown->backends,
                                 &breakdown->n_backends);
    if (status < 0)
        return status;
    size_t n = breakdown->n_ranks * breakdown->n_backends;
    breakdown->points = calloc(n, sizeof *breakdown->points);
    status = storm_context_agree(context, breakdown->points != NULL
                                              ? STORM_OK
                                              : STORM_ERR_NOMEM);
    if (status < 0)
        return status;
    breakdown->n_points = n;
    for (size_t i = 0; i < n; i++) {
        breakdown->points[i].ranks =
            (int)breakdown->ranks[i / breakdown->n_backends];
        breakdown->points[i].backend =
            breakdown->backends[i % breakdown->n_backends];
    }
    return STORM_OK;
}

storm_status
storm_bench_breakdown(struct storm_context *context,
                      const struct storm_bench_breakdown_params *params,
                      struct storm_run_report **report_out)
{
    struct breakdown breakdown = {.context = context, .params = *params};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = breakdown_prepare(&breakdown);
    for (uint32_t repeat = 0; repeat < breakdown.params.repeat; repeat++)
        for (size_t i = 0; status >= 0 && i < breakdown.n_points; i++)
            status = breakdown_measure(&breakdown, i, repeat);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = breakdown_json(&breakdown);
        parts[STORM_RUN_TABLE] = breakdown_table(&breakdown);
        if (params->picture) {
            parts[STORM_RUN_PICTURE] = breakdown_picture(&breakdown);
            if (parts[STORM_RUN_PICTURE] == NULL)
                status = STORM_ERR_NOMEM;
        }
    }
    free(breakdown.points);
    free(breakdown.ranks);
    return storm_run_report_make(context, status, parts, report_out);
}
