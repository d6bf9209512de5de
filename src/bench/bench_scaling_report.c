/* SPDX-License-Identifier: BSD-3-Clause */
/* The points of the scaling benchmark as JSON, table and picture. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "bench/bench_measure.h"
#include "bench/bench_scaling.h"
#include "view/chart.h"

static bool scaling_is_weak(const struct storm_scaling *scaling)
{
    return scaling->params.mode == STORM_BENCH_WEAK;
}

static const char *scaling_mesh(const struct storm_scaling *scaling)
{
    return storm_mesh_kind_name(scaling->params.uniform.mesh);
}

/* ---- JSON ---------------------------------------------------------------- */

static void scaling_point_json(struct storm_json *json,
                               const struct storm_scaling *scaling,
                               size_t i_ranks, size_t i_backend)
{
    const struct storm_bench_point *point =
        storm_scaling_at(scaling, i_ranks, i_backend);
    const struct storm_run_summary *s = &point->best;
    double over_p2p = storm_scaling_over_p2p(scaling, i_ranks, i_backend);
    storm_json_open(json, NULL, '{');
    storm_run_route_json(json, point->ranks, point->backend, s);
    storm_json_uint(json, "cells", s->cells);
    storm_json_real(json, "dt_s", scaling->dt_s[i_ranks]);
    storm_json_uint(json, "steps", s->timed.events);
    storm_json_uint(json, "transfers", s->timed.transfers);
    storm_json_real(json, "seconds", s->seconds);
    storm_json_real(json, "seconds_per_cycle",
                    storm_scaling_seconds(scaling, point));
    storm_json_real(json, "median_seconds_per_cycle",
                    storm_scaling_median(scaling, point));
    storm_json_real(json, "efficiency",
                    storm_scaling_efficiency(scaling, i_ranks, i_backend));
    storm_json_real(json, "speedup_over_p2p", over_p2p); /* NaN: null */
    storm_json_real(json, "kernel_steps_per_second",
                    storm_scaling_kernel(scaling, i_ranks));
    storm_json_real(json, "kernel_ratio",
                    storm_scaling_kernel_ratio(scaling, i_ranks, i_backend));
    storm_json_hash(json, "state_hash", s->state_hash);
    storm_json_bool(json, "oversubscribed", point->oversubscribed);
    storm_json_close(json, '}');
}

/* All backends, separated by commas. */
static void scaling_backends(const struct storm_scaling *scaling, char *text,
                             size_t bytes)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < scaling->points.n_backends && n < bytes; i++) {
        int wrote = snprintf(text + n, bytes - n, "%s%s", i > 0 ? "," : "",
                             scaling->points.backends[i]);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

char *storm_scaling_json(const struct storm_scaling *scaling)
{
    const struct storm_bench_uniform_params *uniform = &scaling->params.uniform;
    struct storm_json json;
    char backends[256];
    scaling_backends(scaling, backends, sizeof backends);
    struct storm_run_summary sum = storm_bench_points_sum(&scaling->points);
    sum.title = scaling_is_weak(scaling) ? "weak scaling" : "strong scaling";
    sum.backend = backends;
    storm_bench_json_begin(&json, "scaling", &sum);
    storm_json_text(&json, "mode",
                    scaling_is_weak(scaling) ? "weak" : "strong");
    storm_json_text(&json, "mesh", scaling_mesh(scaling));
    storm_json_uint(&json, "cells_per_rank", uniform->cells_per_rank);
    storm_json_uint(&json, "emit", uniform->emit);
    storm_json_uint(&json, "timed_cycles", uniform->timed);
    storm_json_uint(&json, "repeats", scaling->params.repeat);
    storm_json_bool(&json, "oversubscribed",
                    storm_bench_points_crowded(&scaling->points));
    storm_json_open(&json, "points", '[');
    for (size_t i = 0; i < scaling->points.n_ranks; i++)
        for (size_t k = 0; k < scaling->points.n_backends; k++)
            scaling_point_json(&json, scaling, i, k);
    storm_json_close(&json, ']');
    return storm_bench_json_end(&json);
}

/* ---- table --------------------------------------------------------------- */

static void scaling_row(struct storm_page *page,
                        const struct storm_scaling *scaling, size_t i_ranks,
                        size_t i_backend)
{
    const struct storm_bench_point *point =
        storm_scaling_at(scaling, i_ranks, i_backend);
    double over_p2p = storm_scaling_over_p2p(scaling, i_ranks, i_backend);
    char number[STORM_GROUPED_BYTES], speedup[16] = "-";
    if (isfinite(over_p2p))
        snprintf(speedup, sizeof speedup, "%.2f", over_p2p);
    storm_page_add(
        page, "  %5d%s %-8s %12s %10.4f %10.4f %9.1f %% %9s %8.0f %%\n",
        point->ranks, point->oversubscribed ? "*" : " ", point->backend,
        storm_page_grouped(point->best.timed.events, number),
        storm_scaling_seconds(scaling, point),
        storm_scaling_median(scaling, point),
        100.0 * storm_scaling_efficiency(scaling, i_ranks, i_backend), speedup,
        100.0 * storm_scaling_kernel_ratio(scaling, i_ranks, i_backend));
}

char *storm_scaling_table(const struct storm_scaling *scaling)
{
    const struct storm_bench_uniform_params *uniform = &scaling->params.uniform;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page,
                   "%s scaling of uniform emission, %s cells on each rank "
                   "(%s)\n",
                   scaling_is_weak(scaling) ? "Weak" : "Strong",
                   storm_page_grouped(uniform->cells_per_rank, number),
                   scaling_mesh(scaling));
    storm_page_add(&page,
                   "Seconds per cycle, mean of the last %" PRIu32 " of %" PRIu32
                   "; best and median of %" PRIu32 "\n\n",
                   uniform->timed, uniform->cycles, scaling->params.repeat);
    storm_page_add(&page, "  %5s  %-8s %12s %10s %10s %11s %9s %10s\n", "ranks",
                   "backend", "steps", "seconds", "median", "efficiency",
                   "over p2p", "of kernel");
    for (size_t i = 0; i < scaling->points.n_ranks; i++)
        for (size_t k = 0; k < scaling->points.n_backends; k++)
            scaling_row(&page, scaling, i, k);
    storm_page_add(&page,
                   "\n  same steps and same state with all backends, bit for "
                   "bit\n");
    if (storm_bench_points_crowded(&scaling->points))
        storm_page_add(&page, "  * more ranks than cores: they take turns, so "
                              "times do not show scaling\n");
    return storm_page_end(&page);
}

/* ---- picture ------------------------------------------------------------- */

/* Numbers of the chart: as many as there are ranks in every row. */
struct scaling_curves {
    double *ranks;
    double *seconds, *ideal; /* by backend */
};

static bool scaling_make_curves(const struct storm_scaling *scaling,
                                struct scaling_curves *curves)
{
    const struct storm_context *context = scaling->points.context;
    size_t n = scaling->points.n_ranks, all = n * scaling->points.n_backends;
    curves->ranks = storm_bench_alloc(context, n, sizeof *curves->ranks);
    curves->seconds = storm_bench_alloc(context, all, sizeof *curves->seconds);
    curves->ideal = storm_bench_alloc(context, all, sizeof *curves->ideal);
    if (curves->ranks == NULL || curves->seconds == NULL ||
        curves->ideal == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        curves->ranks[i] = scaling->points.ranks[i];
        for (size_t k = 0; k < scaling->points.n_backends; k++) {
            curves->seconds[k * n + i] =
                storm_scaling_seconds(scaling, storm_scaling_at(scaling, i, k));
            curves->ideal[k * n + i] = storm_scaling_ideal(scaling, i, k);
        }
    }
    return true;
}

static char *scaling_draw(const struct storm_scaling *scaling,
                          const struct scaling_curves *curves,
                          struct storm_chart_series *series)
{
    size_t n = scaling->points.n_ranks, n_series = 0;
    bool weak = scaling_is_weak(scaling);
    for (size_t k = 0; k < scaling->points.n_backends; k++) {
        series[n_series++] = (struct storm_chart_series){NULL,
                                                         STORM_CHART_REFERENCE,
                                                         (int)k,
                                                         n,
                                                         curves->ranks,
                                                         curves->ideal + k * n,
                                                         NULL,
                                                         NULL,
                                                         0};
        series[n_series++] =
            (struct storm_chart_series){scaling->points.backends[k],
                                        STORM_CHART_BOTH,
                                        (int)k,
                                        n,
                                        curves->ranks,
                                        curves->seconds + k * n,
                                        NULL,
                                        NULL,
                                        0};
    }
    /* Only for the legend: all dashed lines. */
    series[n_series++] = (struct storm_chart_series){
        "ideal", STORM_CHART_REFERENCE, 7, 0, NULL, NULL, NULL, NULL, 0};
    char subtitle[160], number[STORM_GROUPED_BYTES];
    snprintf(subtitle, sizeof subtitle,
             "uniform emission, %s cells per rank (%s)%s",
             storm_page_grouped(scaling->params.uniform.cells_per_rank, number),
             scaling_mesh(scaling),
             storm_bench_points_crowded(&scaling->points)
                 ? "; more ranks than cores"
                 : "");
    struct storm_chart chart = {
        .title = weak ? "Weak scaling" : "Strong scaling",
        .subtitle = subtitle,
        .x = {.label = "ranks",
              .log = true,
              .ticks = curves->ranks,
              .n_ticks = n},
        .y = {.label = "time per cycle (s)", .log = !weak, .from_zero = weak},
        .series = series,
        .n_series = n_series,
    };
    return storm_chart_svg(&chart);
}

char *storm_scaling_picture(const struct storm_scaling *scaling)
{
    const struct storm_context *context = scaling->points.context;
    struct scaling_curves curves = {NULL, NULL, NULL};
    struct storm_chart_series *series =
        storm_bench_alloc(context, 2 * scaling->points.n_backends + 1,
                          sizeof *series);
    char *svg = NULL;
    if (series != NULL && scaling_make_curves(scaling, &curves))
        svg = scaling_draw(scaling, &curves, series);
    storm_bench_free(context, curves.ideal);
    storm_bench_free(context, curves.seconds);
    storm_bench_free(context, curves.ranks);
    storm_bench_free(context, series);
    return svg;
}
