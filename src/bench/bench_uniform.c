/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_uniform.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"
#include "bench/bench_octree.h"
#include "bench/bench_voronoi.h"
#include "run/run_points.h"

/* The cube, the energy in it and the speed of what fills it. */
static const double uniform_side_cm = 2.0 * STORM_UNIFORM_HALF_CM;
static const double uniform_light_cm_s = STORM_UNIFORM_LIGHT_CM_S;

/* A line crosses a quarter of the surface of the cells per volume: 5.82 n^(2/3)
 * for n random points in a unit cube (J. L. Meijering, Philips Res. Rep. 8,
 * 270, 1953), some percent less when they are relaxed. */
static const double uniform_voronoi_crossings = 1.37;

/* Packets and energy must both add up; the balance is of exact sums. */
static const double uniform_max_imbalance = 1e-13;

/* For each run of the bare kernel. */
static const double uniform_kernel_seconds = 0.25;

/* ---- shape of the mesh --------------------------------------------------- */

static int64_t uniform_distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Is the box a better answer for `cells` than the best so far? */
static bool uniform_better(const int64_t n[3], const int64_t best[3],
                           int64_t cells)
{
    if (n[2] > 2 * n[0])
        return false;
    int64_t d = uniform_distance(n[0] * n[1] * n[2], cells);
    int64_t d_best = uniform_distance(best[0] * best[1] * best[2], cells);
    if (d != d_best)
        return d < d_best;
    return n[2] * best[0] < best[2] * n[0];
}

void storm_bench_uniform_shape(uint64_t cells, int64_t n_out[3])
{
    enum { REACH = 400 }; /* of the search, more than enough for 10^9 cells */
    int64_t wanted = cells > 0 ? (int64_t)cells : 1;
    int64_t root = (int64_t)storm_cbrt((double)wanted) + 1;
    int64_t best[3] = {root, root, root};
    for (int64_t a = root; a > 0 && a > root - REACH; a--)
        for (int64_t b = a; b <= 2 * a && b < a + REACH; b++) {
            int64_t c = wanted / (a * b);
            for (int64_t n2 = c; n2 <= c + 1; n2++) {
                int64_t n[3] = {a, b, n2};
                if (n2 >= b && uniform_better(n, best, wanted))
                    memcpy(best, n, sizeof best);
            }
        }
    memcpy(n_out, best, sizeof best);
}

/* ---- one pass ------------------------------------------------------------ */

/* Cycle c moves c + 1 times as many packets as the first. */
static double uniform_work(uint32_t cycles)
{
    return 0.5 * cycles * (cycles + 1.0);
}

static void uniform_report_progress(struct storm_uniform_pass *pass,
                                    double part)
{
    const struct storm_uniform *u = pass->problem;
    double done =
        uniform_work(pass->loop.cycle) + part * (pass->loop.cycle + 1.0);
    double fraction = fmin(done / uniform_work(u->params.cycles), 1.0);
    uint32_t shown = pass->loop.cycle < u->params.cycles ? pass->loop.cycle + 1
                                                         : u->params.cycles;
    storm_progress_report(pass->context, &u->params.progress,
                          u->done + u->share * fraction,
                          "%scycle %" PRIu32 " of %" PRIu32,
                          u->what != NULL ? u->what : "", shown,
                          u->params.cycles);
}

static void uniform_progress(void *self, uint64_t finished, uint64_t created)
{
    uniform_report_progress(self, created > 0
                                      ? (double)finished / (double)created
                                      : 0.0);
}

static storm_status uniform_cartesian(struct storm_uniform_pass *pass)
{
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    for (int k = 0; k < 3; k++) {
        cart.lo_cm[k] = -0.5 * uniform_side_cm;
        cart.hi_cm[k] = 0.5 * uniform_side_cm;
        cart.n[k] = pass->problem->n[k];
    }
    return storm_mesh_create_cart(pass->context, &cart, &pass->mesh);
}

static storm_status uniform_voronoi(struct storm_uniform_pass *pass)
{
    const struct storm_uniform *u = pass->problem;
    struct storm_points_params set = {.size = sizeof set,
                                      .kind = u->params.points,
                                      .seed = u->seed,
                                      .n_total = u->params.cells};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .lloyd = u->params.lloyd};
    for (int k = 0; k < 3; k++) {
        set.lo_cm[k] = voronoi.lo_cm[k] = -0.5 * uniform_side_cm;
        set.hi_cm[k] = voronoi.hi_cm[k] = 0.5 * uniform_side_cm;
    }
    return run_points_mesh(pass->context, &set, &voronoi, &pass->mesh);
}

static storm_status uniform_mesh(struct storm_uniform_pass *pass)
{
    switch (pass->problem->params.mesh) {
    case STORM_MESH_VORONOI:
        return uniform_voronoi(pass);
    case STORM_MESH_OCTREE:
        return storm_bench_octree(pass->context, pass->problem->params.cells,
                                  -0.5 * uniform_side_cm, 0.5 * uniform_side_cm,
                                  &pass->mesh);
    default:
        return uniform_cartesian(pass);
    }
}

storm_status storm_uniform_open(struct storm_uniform_pass *pass,
                                struct storm_uniform *problem,
                                struct storm_context *context,
                                storm_tally_kind tally)
{
    *pass = (struct storm_uniform_pass){
        .problem = problem,
        .context = context,
        .loop = {.context = context,
                 .cycles = problem->params.cycles,
                 .timed = problem->params.timed,
                 .kernel_seconds = problem->kernel_seconds}};
    struct storm_streaming_params streaming = {
        .size = sizeof streaming,
        .seed = problem->seed,
        .speed_cm_s = uniform_light_cm_s,
        .dt_s = problem->dt_s,
        .emit_per_cell = problem->params.emit,
        .emit_energy_erg_cm3 = 1.0,
        .tally = tally,
    };
    for (int k = 0; k < STORM_N_WALLS; k++)
        streaming.walls[k] = STORM_WALL_REFLECT;

    storm_status status = uniform_mesh(pass);
    if (status < 0)
        return status;
    status = storm_context_agree(context,
                                 storm_streaming_create(context, pass->mesh,
                                                        &streaming,
                                                        &pass->loop.streaming));
    if (status < 0)
        return status;
    struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = sizeof(struct storm_packet),
        .progress = uniform_progress,
        .progress_self = pass,
    };
    status = storm_engine_create(context, &engine, &pass->loop.engine);
    return status == STORM_OK
               ? storm_streaming_attach(pass->loop.streaming, pass->loop.engine)
               : status;
}

void storm_uniform_close(struct storm_uniform_pass *pass)
{
    storm_bench_loop_close(&pass->loop);
    storm_engine_destroy(pass->loop.engine);
    storm_streaming_destroy(pass->loop.streaming);
    storm_mesh_destroy(pass->mesh);
}

storm_status storm_uniform_cycle(struct storm_uniform_pass *pass)
{
    uniform_report_progress(pass, 0.0);
    storm_status status = storm_bench_loop_cycle(&pass->loop);
    if (status >= 0)
        uniform_report_progress(pass, 0.0);
    return status;
}

/* ---- the benchmark ------------------------------------------------------- */

storm_status storm_uniform_check(struct storm_context *context,
                                 const struct storm_run_summary *summary)
{
    uint64_t finished =
        summary->run.census + summary->run.absorbed + summary->run.escaped;
    bool right = summary->run.created == finished &&
                 fabs(summary->energy_balance) <= uniform_max_imbalance;
    if (right)
        return STORM_OK;
    if (storm_context_rank(context) == 0)
        storm_context_log(context, STORM_LOG_ERROR,
                          "wrong result: %" PRIu64 " packets created, %" PRIu64
                          " accounted for, energy off by %.3g",
                          summary->run.created, finished,
                          summary->energy_balance);
    return STORM_ERR_STATE;
}

static void uniform_mesh_json(struct storm_json *json,
                              const struct storm_uniform *u)
{
    storm_json_text(json, "mesh", storm_mesh_kind_name(u->params.mesh));
    if (u->params.mesh == STORM_MESH_VORONOI) {
        storm_json_uint(json, "lloyd", u->params.lloyd);
        storm_json_text(json, "distribution",
                        storm_bench_points_name(u->params.points));
        return;
    }
    if (u->params.mesh == STORM_MESH_OCTREE)
        return;
    storm_json_open(json, "shape", '[');
    for (int k = 0; k < 3; k++)
        storm_json_int(json, NULL, u->n[k]);
    storm_json_close(json, ']');
}

static char *uniform_json(const struct storm_uniform *u,
                          const struct storm_uniform_result *result,
                          const struct storm_uniform_costs *costs)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "uniform", &result->summary);
    uniform_mesh_json(&json, u);
    storm_json_uint(&json, "cells_wanted", u->params.cells);
    storm_json_uint(&json, "emit", u->params.emit);
    storm_json_uint(&json, "timed_cycles", u->params.timed);
    storm_json_real(&json, "dt_s", u->dt_s);
    storm_json_uint(&json, "seed", u->seed);
    storm_bench_json_counters(&json, &result->counters, "step",
                              (double)result->summary.timed.events);
    storm_bench_json_device(&json, &result->loop, &result->summary);
    storm_bench_json_kernel(&json, &result->summary, result->kernel_rate,
                            "per rank, all ranks at once, median of one run "
                            "after each of the last timed cycles");
    storm_bench_json_roofline(&json, &result->roof,
                              storm_bench_rate(&result->summary));
    if (u->params.costs > 0) {
        storm_json_real(&json, "exact_sum_cost", costs->exact_sum);
        storm_json_real(&json, "tally_cost", costs->tally);
        storm_json_real(&json, "statistics_cost", costs->statistics);
        storm_json_uint(&json, "costs_repeats", u->params.costs);
    }
    return storm_bench_json_end(&json);
}

static char *uniform_table(const struct storm_uniform *u,
                           const struct storm_uniform_result *result,
                           const struct storm_uniform_costs *costs)
{
    const struct storm_run_summary *s = &result->summary;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page,
                   "Uniform emission in a cube of %g cm, reflecting walls\n\n",
                   uniform_side_cm);
    storm_page_add(&page, "  cells       %s",
                   storm_page_grouped(s->cells, number));
    if (u->params.mesh == STORM_MESH_VORONOI)
        storm_page_add(&page, " (Voronoi, relaxed %" PRIu32 " times)",
                       u->params.lloyd);
    else if (u->params.mesh == STORM_MESH_OCTREE)
        storm_page_add(&page, " (octree, finer in the middle)");
    else
        storm_page_add(&page, " (%" PRId64 " x %" PRId64 " x %" PRId64 ")",
                       u->n[0], u->n[1], u->n[2]);
    if (u->params.cells != s->cells)
        storm_page_add(&page, ", the nearest to %s",
                       storm_page_grouped(u->params.cells, number));
    storm_page_add(&page, "\n");
    storm_bench_table_ranks(&page, s);
    storm_page_add(&page, "  packets     %s created in %" PRIu64 " cycles",
                   storm_page_grouped(s->run.created, number), s->cycles);
    storm_page_add(&page, ", %s alive\n",
                   storm_page_grouped(s->run.census, number));
    storm_bench_table_steps(&page, s, u->params.timed);
    storm_page_add(&page, "  transfers   %s packets to another rank\n",
                   storm_page_grouped(s->timed.transfers, number));
    storm_bench_table_counters(&page, &result->counters, "step",
                               (double)s->timed.events);
    storm_bench_table_device(&page, &result->loop, s);
    storm_bench_table_speed(&page, s, result->kernel_rate,
                            "the bare tracking kernel");
    storm_bench_table_roofline(&page, &result->roof, storm_bench_rate(s));
    storm_run_summary_end(&page, s);
    if (u->params.costs > 0)
        storm_page_add(&page,
                       "\n  cost of exact sums %.1f %%, of the tally %.1f %%, "
                       "of statistics %.1f %%\n",
                       100.0 * costs->exact_sum, 100.0 * costs->tally,
                       100.0 * costs->statistics);
    return storm_page_end(&page);
}

/* From crossings per step to seconds, given those per side of the cube. */
static void uniform_dt(struct storm_uniform *u, double per_side)
{
    const struct storm_bench_uniform_params *p = &u->params;
    u->dt_s = p->dt_s > 0.0 ? p->dt_s
                            : p->crossings / (per_side / uniform_side_cm) /
                                  uniform_light_cm_s;
}

storm_status storm_uniform_prepare(struct storm_context *context,
                                   const struct storm_bench_uniform_params *p,
                                   struct storm_uniform *u_out)
{
    struct storm_uniform u = {.params = *p,
                              .share = 1.0,
                              .kernel_seconds = p->kernel_seconds > 0.0
                                                    ? p->kernel_seconds
                                                    : uniform_kernel_seconds};
    struct storm_bench_uniform_params *q = &u.params;
    uint64_t per_rank = q->cells_per_rank > 0 ? q->cells_per_rank : 5000;
    if (q->cells == 0)
        q->cells = per_rank * (uint64_t)storm_context_size(context);
    if (q->emit == 0)
        q->emit = 5;
    if (q->cycles == 0)
        q->cycles = 5;
    if (q->timed == 0)
        q->timed = q->cycles < 3 ? q->cycles : 3;
    if (!(q->crossings > 0.0))
        q->crossings = 15.0;
    if (q->timed > q->cycles || q->cells > (uint64_t)1 << 40) {
        storm_context_log(context, STORM_LOG_ERROR,
                          "uniform benchmark: more timed cycles than cycles, "
                          "or too many cells");
        return STORM_ERR_ARG;
    }
    u.seed =
        (uint64_t)storm_options_int(storm_context_options(context), "seed");
    if (q->mesh == STORM_MESH_VORONOI) {
        uniform_dt(&u,
                   uniform_voronoi_crossings * storm_cbrt((double)q->cells));
        *u_out = u;
        return STORM_OK;
    }
    if (q->mesh == STORM_MESH_OCTREE) {
        uniform_dt(&u, storm_bench_octree_crossings(q->cells));
        *u_out = u;
        return STORM_OK;
    }
    storm_bench_uniform_shape(q->cells, u.n);
    uint64_t made = (uint64_t)(u.n[0] * u.n[1] * u.n[2]);
    if (made != q->cells && storm_context_rank(context) == 0)
        storm_context_log(context,
                          p->cells > 0 ? STORM_LOG_WARN : STORM_LOG_INFO,
                          "%" PRIu64 " cells (%" PRId64 " x %" PRId64
                          " x %" PRId64 ") instead of %" PRIu64,
                          made, u.n[0], u.n[1], u.n[2], q->cells);
    /* Mean crossings per length: half of 1/h in each direction. */
    uniform_dt(&u, 0.5 * (double)(u.n[0] + u.n[1] + u.n[2]));
    *u_out = u;
    return STORM_OK;
}

storm_status storm_uniform_measure(struct storm_uniform_pass *pass,
                                   struct storm_uniform_result *result)
{
    const struct storm_uniform *u = pass->problem;
    struct storm_run_summary *summary = &result->summary;
    double energy_erg[4];
    storm_status status = STORM_OK;
    while (status >= 0 && pass->loop.cycle < u->params.cycles) {
        status = storm_uniform_cycle(pass);
        if (status >= 0)
            status = storm_bench_loop_kernel(&pass->loop);
    }
    if (status < 0)
        return status;
    result->kernel_rate = storm_bench_loop_kernel_rate(&pass->loop);
    status = storm_streaming_balance(pass->loop.streaming, pass->loop.engine,
                                     energy_erg, &summary->energy_balance);
    if (status >= 0)
        status = storm_streaming_hash(pass->loop.streaming, pass->loop.engine,
                                      &summary->state_hash);
    if (status < 0)
        return status;
    summary->title = "uniform emission";
    status = storm_bench_loop_summary(&pass->loop, pass->mesh, summary);
    result->counters = pass->loop.counters;
    result->loop = pass->loop;
    return status < 0 ? status : storm_uniform_check(pass->context, summary);
}

storm_status
storm_bench_uniform(struct storm_context *context,
                    const struct storm_bench_uniform_params *params,
                    struct storm_run_report **report_out)
{
    struct storm_uniform u;
    struct storm_uniform_result result = {0};
    struct storm_uniform_costs costs = {0};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = storm_uniform_prepare(context, params, &u);
    if (status < 0)
        return status;

    /* Each repeat of the costs is four passes. */
    u.share = 1.0 / (1.0 + 4.0 * u.params.costs);
    struct storm_uniform_pass pass;
    status = storm_uniform_open(&pass, &u, context, STORM_TALLY_EXACT);
    if (status >= 0)
        status = storm_uniform_measure(&pass, &result);
    if (status >= 0)
        status = storm_bench_roofline(context, pass.mesh, u.kernel_seconds,
                                      &result.roof);
    if (status >= 0 && u.params.picture)
        status = storm_uniform_picture(&pass, &parts[STORM_RUN_PICTURE]);
    storm_uniform_close(&pass);
    u.done = u.share;
    if (status >= 0 && u.params.costs > 0)
        status = storm_uniform_costs(&u, context, &costs);

    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = uniform_json(&u, &result, &costs);
        parts[STORM_RUN_TABLE] = uniform_table(&u, &result, &costs);
    }
    return storm_run_report_make(context, status, parts, report_out);
}
