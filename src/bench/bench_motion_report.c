/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bench motion` has measured, as JSON, table and picture. */
#include "bench/bench_motion.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_measure.h"
#include "io/io_summary.h"
#include "view/chart.h"

static const char *const motion_names[STORM_MOTION_N] = {
    [STORM_MOTION_BUILD] = "build",   [STORM_MOTION_REBUILD] = "rebuild",
    [STORM_MOTION_REMAP] = "remap",   [STORM_MOTION_SMOOTH] = "smooth_rebuild",
    [STORM_MOTION_SWITCH] = "switch", [STORM_MOTION_FOLLOW] = "switch_remap",
    [STORM_MOTION_STEP] = "step"};

static const char *const motion_labels[STORM_MOTION_N] = {
    [STORM_MOTION_BUILD] = "build from nothing",
    [STORM_MOTION_REBUILD] = "build after random motion",
    [STORM_MOTION_REMAP] = "remap after random motion",
    [STORM_MOTION_SMOOTH] = "build after smooth motion",
    [STORM_MOTION_SWITCH] = "switch of decompositions",
    [STORM_MOTION_FOLLOW] = "remap after the switch",
    [STORM_MOTION_STEP] = "step"};

/* ---- what follows from the times ----------------------------------------- */

static double motion_ratio(const struct storm_motion_result *r,
                           enum storm_motion_what a, enum storm_motion_what b)
{
    return r->median[b] > 0.0 ? r->median[a] / r->median[b] : 0.0;
}

/* Of the cells, that a switch gives to other ranks. */
static double motion_share(const struct storm_motion_result *r)
{
    return r->n_switched > 0 ? (double)r->changed_hands / (double)r->n_switched
                             : 0.0;
}

/* Of the packets, in percent: fixed by index, walked, changed ranks. */
static void motion_shares(const struct storm_motion_result *r,
                          double percent_out[3])
{
    const uint64_t n[3] = {r->remap.fixed, r->remap.walked, r->remap.moved};
    uint64_t all = n[0] + n[1] + n[2];
    for (int k = 0; k < 3; k++)
        percent_out[k] = all > 0 ? 100.0 * (double)n[k] / (double)all : 0.0;
}

/* ---- JSON ---------------------------------------------------------------- */

static void motion_values_json(struct storm_json *json,
                               const struct storm_motion_result *r)
{
    char key[64];
    storm_json_real(json, "speed", r->speed);
    for (int k = 0; k < STORM_MOTION_N; k++) {
        snprintf(key, sizeof key, "%s_seconds", motion_names[k]);
        storm_json_real(json, key, r->median[k]);
    }
    storm_json_real(json, "rebuild_speedup",
                    motion_ratio(r, STORM_MOTION_BUILD, STORM_MOTION_REBUILD));
    storm_json_real(json, "smooth_rebuild_speedup",
                    motion_ratio(r, STORM_MOTION_BUILD, STORM_MOTION_SMOOTH));
    storm_json_real(json, "remap_ratio",
                    motion_ratio(r, STORM_MOTION_REMAP, STORM_MOTION_STEP));
    storm_json_real(json, "switch_ratio",
                    motion_ratio(r, STORM_MOTION_SWITCH, STORM_MOTION_BUILD));
    storm_json_real(json, "switch_share", motion_share(r));
    storm_json_open(json, "remap", '{');
    storm_json_uint(json, "fixed", r->remap.fixed);
    storm_json_uint(json, "walked", r->remap.walked);
    storm_json_uint(json, "moved", r->remap.moved);
    storm_json_uint(json, "longest", r->remap.longest);
    storm_json_close(json, '}');
}

char *storm_motion_json(const struct storm_motion_result *result)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "motion", &result->summary);
    storm_json_uint(&json, "seed", result->seed);
    motion_values_json(&json, result);
    return storm_bench_json_end(&json);
}

char *storm_motion_sweep_json(const struct storm_motion_sweep *sweep)
{
    struct storm_json json;
    struct storm_run_summary sum = storm_bench_points_sum(&sweep->points);
    sum.title = "uniform emission on moving meshes";
    sum.backend = sweep->points.backends[0];
    storm_bench_json_begin(&json, "motion", &sum);
    storm_json_bool(&json, "oversubscribed",
                    storm_bench_points_crowded(&sweep->points));
    storm_json_open(&json, "points", '[');
    for (size_t i = 0; i < sweep->points.n * sweep->n_speeds; i++) {
        const struct storm_motion_result *r = &sweep->result[i];
        storm_json_open(&json, NULL, '{');
        storm_json_uint(&json, "ranks", (uint64_t)r->summary.ranks);
        storm_json_uint(&json, "cells", r->summary.cells);
        storm_json_hash(&json, "state_hash", r->summary.state_hash);
        motion_values_json(&json, r);
        storm_json_close(&json, '}');
    }
    storm_json_close(&json, ']');
    return storm_bench_json_end(&json);
}

/* ---- tables -------------------------------------------------------------- */

static void motion_ratios(struct storm_page *page,
                          const struct storm_motion_result *r)
{
    double percent[3];
    motion_shares(r, percent);
    storm_page_add(page,
                   "  remap       %.2f %% fixed by index, %.2f %% walked, "
                   "%.2f %% changed ranks; longest walk %" PRIu64 "\n",
                   percent[0], percent[1], percent[2], r->remap.longest);
    storm_page_add(page,
                   "  rebuild is %.2f times as fast as a build, %.2f after "
                   "smooth motion; remap is %.1f %% of a step\n",
                   motion_ratio(r, STORM_MOTION_BUILD, STORM_MOTION_REBUILD),
                   motion_ratio(r, STORM_MOTION_BUILD, STORM_MOTION_SMOOTH),
                   100.0 *
                       motion_ratio(r, STORM_MOTION_REMAP, STORM_MOTION_STEP));
    if (r->n[STORM_MOTION_SWITCH] > 0)
        storm_page_add(page,
                       "  a switch is %.1f %% of a build; %.1f %% of the cells "
                       "change hands\n",
                       100.0 * motion_ratio(r, STORM_MOTION_SWITCH,
                                            STORM_MOTION_BUILD),
                       100.0 * motion_share(r));
}

char *storm_motion_table(const struct storm_motion_result *result)
{
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page,
                   "Uniform emission on a Voronoi mesh that moves by %g "
                   "cell sizes per step\n\n",
                   result->speed);
    storm_page_add(&page, "  cells       %s\n",
                   storm_page_grouped(result->summary.cells, number));
    storm_bench_table_ranks(&page, &result->summary);
    for (int k = 0; k < STORM_MOTION_N; k++)
        if (result->n[k] > 0)
            storm_page_add(&page, "  %-14s %8.2f ms (median of %zu)\n",
                           motion_names[k], 1e3 * result->median[k],
                           result->n[k]);
    motion_ratios(&page, result);
    storm_run_summary_end(&page, &result->summary);
    return storm_page_end(&page);
}

static void motion_row(struct storm_page *page,
                       const struct storm_motion_result *r)
{
    double percent[3];
    motion_shares(r, percent);
    storm_page_add(page, "  %5d %6g", r->summary.ranks, r->speed);
    for (int k = 0; k < STORM_MOTION_N; k++)
        storm_page_add(page, " %8.2f", 1e3 * r->median[k]);
    storm_page_add(page, " %6.1f %% %8.2f %8.2f %8.2f %5" PRIu64 "\n",
                   100.0 *
                       motion_ratio(r, STORM_MOTION_REMAP, STORM_MOTION_STEP),
                   percent[0], percent[1], percent[2], r->remap.longest);
}

char *storm_motion_sweep_table(const struct storm_motion_sweep *sweep)
{
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page,
                   "Uniform emission on a Voronoi mesh that moves, %s cells\n"
                   "Medians in ms; speed in cell sizes per step; packets in "
                   "%%: fixed by index, walked, moved to another rank\n\n",
                   storm_page_grouped(sweep->result[0].summary.cells, number));
    storm_page_add(&page,
                   "  %5s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s "
                   "%5s\n",
                   "ranks", "speed", "build", "rebuild", "remap", "smooth",
                   "switch", "s.remap", "step", "of step", "fixed", "walked",
                   "moved", "hops");
    for (size_t i = 0; i < sweep->points.n * sweep->n_speeds; i++)
        motion_row(&page, &sweep->result[i]);
    if (sweep->is_strong)
        storm_page_add(&page, "\n  same state on all numbers of ranks, bit for "
                              "bit\n");
    if (storm_bench_points_crowded(&sweep->points))
        storm_page_add(&page, "  more ranks than cores: they take turns\n");
    return storm_page_end(&page);
}

/* ---- pictures ------------------------------------------------------------ */

char *storm_motion_picture(const struct storm_motion_result *result)
{
    static const char *const parts[] = {"time"};
    struct storm_bar bars[STORM_MOTION_N];
    double ms[STORM_MOTION_N];
    char subtitle[128];
    size_t n = 0;
    for (int k = 0; k < STORM_MOTION_N; k++) {
        if (result->n[k] == 0)
            continue;
        ms[n] = 1e3 * result->median[k];
        bars[n] = (struct storm_bar){motion_labels[k], NULL, &ms[n]};
        n++;
    }
    snprintf(subtitle, sizeof subtitle,
             "%" PRIu64 " cells, %d rank%s, %g cell sizes per step",
             result->summary.cells, result->summary.ranks,
             result->summary.ranks == 1 ? "" : "s", result->speed);
    const struct storm_bars chart = {.title = "A mesh that moves",
                                     .subtitle = subtitle,
                                     .label = "time (ms), median",
                                     .parts = parts,
                                     .n_parts = 1,
                                     .bars = bars,
                                     .n_bars = n};
    return storm_bars_svg(&chart);
}

/* What the bars of a sweep are made of: what a step of a run has. */
enum { MOTION_PARTS = 5 };
static const enum storm_motion_what motion_parts[MOTION_PARTS] = {
    STORM_MOTION_REBUILD, STORM_MOTION_REMAP, STORM_MOTION_SWITCH,
    STORM_MOTION_FOLLOW, STORM_MOTION_STEP};

/* A bar of a sweep and its texts. */
struct motion_bar {
    char name[128], group[32];
    double ms[MOTION_PARTS];
};

static void motion_bar_make(const struct storm_motion_result *r,
                            struct motion_bar *bar_out)
{
    double percent[3];
    motion_shares(r, percent);
    snprintf(bar_out->name, sizeof bar_out->name,
             "speed %g: %.1f %% fixed, %.1f %% walked, %.1f %% moved", r->speed,
             percent[0], percent[1], percent[2]);
    snprintf(bar_out->group, sizeof bar_out->group, "%d rank%s",
             r->summary.ranks, r->summary.ranks == 1 ? "" : "s");
    for (int k = 0; k < MOTION_PARTS; k++)
        bar_out->ms[k] = 1e3 * r->median[motion_parts[k]];
}

char *storm_motion_sweep_picture(const struct storm_motion_sweep *sweep)
{
    const struct storm_context *context = sweep->points.context;
    size_t n = sweep->points.n * sweep->n_speeds;
    struct motion_bar *texts = storm_bench_alloc(context, n, sizeof *texts);
    struct storm_bar *bars = storm_bench_alloc(context, n, sizeof *bars);
    const char *parts[MOTION_PARTS];
    char subtitle[160], *svg = NULL;
    for (int k = 0; k < MOTION_PARTS; k++)
        parts[k] = motion_labels[motion_parts[k]];
    for (size_t i = 0; texts != NULL && bars != NULL && i < n; i++) {
        motion_bar_make(&sweep->result[i], &texts[i]);
        bars[i] =
            (struct storm_bar){texts[i].name, texts[i].group, texts[i].ms};
    }
    snprintf(subtitle, sizeof subtitle,
             "%" PRIu64 " cells; speed in cell sizes per step, and how packets "
             "found their cells%s",
             sweep->result[0].summary.cells,
             storm_bench_points_crowded(&sweep->points)
                 ? "; more ranks than cores"
                 : "");
    const struct storm_bars chart = {.title = "A mesh that moves",
                                     .subtitle = subtitle,
                                     .label = "time (ms), medians",
                                     .parts = parts,
                                     .n_parts = MOTION_PARTS,
                                     .bars = bars,
                                     .n_bars = n};
    if (texts != NULL && bars != NULL)
        svg = storm_bars_svg(&chart);
    storm_bench_free(context, bars);
    storm_bench_free(context, texts);
    return svg;
}
