/* SPDX-License-Identifier: BSD-3-Clause */
/* Speed of implicit Monte Carlo, next to free streaming in the same cells. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/imc.h>
#include <storm/streaming.h>

#include "base/math.h"
#include "bench/bench.h"
#include "bench/bench_measure.h"
#include "bench/bench_octree.h"
#include "bench/bench_roofline.h"
#include "run/run_points.h"
#include "run/run_summary.h"

/* A cube of gas and radiation in equilibrium with reflecting walls, in units
 * with c = a = 1. Optical thickness of a cell, so that a third of the events
 * are collisions. */
static const double imc_absorption = 0.1;
static const double imc_scattering = 0.4;

/* Ends of the groups; the temperature is 1 keV. */
static const double imc_min_kev = 0.01, imc_max_kev = 30.0;

/* Cells that a packet crosses in the cube, per cbrt(cells); as in bench
 * uniform. */
static const double imc_crossings[] = {[STORM_MESH_CARTESIAN] = 1.5,
                                       [STORM_MESH_OCTREE] = 1.5,
                                       [STORM_MESH_VORONOI] = 1.37};
static const double imc_cells_a_step = 15.0;

static const double imc_max_imbalance = 1e-13;

/* For each run of the bare kernel. */
static const double imc_kernel_seconds = 0.25;

struct imc_bench {
    struct storm_context *context;
    struct storm_bench_imc_params params; /* no zeros left */
    struct storm_material gas;
    struct storm_region everywhere;
    struct storm_wall_part mirror;
    struct storm_problem problem;
    double dt_s;

    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_bench_loop loop;

    double kernel_rate;
    struct storm_bench_roofline roof;
    struct storm_run_summary summary;
};

/* ---- the problem --------------------------------------------------------- */

static void imc_prepare(struct imc_bench *b)
{
    struct storm_bench_imc_params *p = &b->params;
    uint64_t ranks = (uint64_t)storm_context_size(b->context);
    if (p->cells == 0)
        p->cells = (p->cells_per_rank > 0 ? p->cells_per_rank : 5000) * ranks;
    p->emit = p->emit > 0 ? p->emit : 5;
    p->groups = p->groups > 0 ? p->groups : 1;
    p->cycles = p->cycles > 0 ? p->cycles : 8;
    if (p->timed == 0)
        p->timed = p->cycles < 5 ? p->cycles : 5;
    /* In cells; the cube has side 1. */
    double per_cm = imc_crossings[p->mesh] * storm_cbrt((double)p->cells);
    b->dt_s = imc_cells_a_step / per_cm;
    b->gas = (struct storm_material){
        .name = "gas",
        .absorption = {.coef = imc_absorption * per_cm, .max = STORM_UNLIMITED},
        .scattering = {.coef = imc_scattering * per_cm, .max = STORM_UNLIMITED},
        .heat_capacity = {.coef = 400.0, .max = STORM_UNLIMITED},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0,
    };
    b->mirror = (struct storm_wall_part){.kind = STORM_WALL_REFLECT};
    b->problem = (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1.0, 1.0, 1.0},
        .materials = &b->gas,
        .n_materials = 1,
        .regions = &b->everywhere,
        .n_regions = 1,
        .n_groups = p->groups,
        .group_min_kev = p->groups > 1 ? imc_min_kev : 0.0,
        .group_max_kev = p->groups > 1 ? imc_max_kev : 0.0,
        .emit_per_cell = p->emit,
        .min_per_cell = 2,
        .max_per_cell = 3 * p->emit,
        .comb = true,
        .seed = (uint64_t)storm_options_int(storm_context_options(b->context),
                                            "seed"),
    };
    for (int k = 0; k < STORM_N_WALLS; k++)
        b->problem.walls[k] = (struct storm_wall){&b->mirror, 1};
}

static storm_status imc_make_mesh(struct imc_bench *b)
{
    if (b->params.mesh == STORM_MESH_VORONOI) {
        struct storm_points_params set = {.size = sizeof set,
                                          .seed = b->problem.seed,
                                          .n_total = b->params.cells,
                                          .hi_cm = {1.0, 1.0, 1.0}};
        struct storm_voronoi_params voronoi = {
            .size = sizeof voronoi, .hi_cm = {1.0, 1.0, 1.0}, .lloyd = 5};
        return run_points_mesh(b->context, &set, &voronoi, &b->mesh);
    }
    if (b->params.mesh == STORM_MESH_OCTREE)
        return storm_bench_octree(b->context, b->params.cells, 0.0, 1.0,
                                  &b->mesh);
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1.0, 1.0, 1.0}};
    storm_bench_uniform_shape(b->params.cells, cart.n);
    return storm_mesh_create_cart(b->context, &cart, &b->mesh);
}

static storm_status imc_make_engine(struct imc_bench *b)
{
    struct storm_comb_params comb = {
        .size = sizeof comb,
        .seed = b->problem.seed,
        .n_min = b->problem.min_per_cell,
        .n_max = b->problem.max_per_cell,
        .remainder = storm_imc_deposit,
        .remainder_self = b->imc,
    };
    struct storm_streaming_params streaming = {
        .size = sizeof streaming, .speed_cm_s = 1.0, .dt_s = b->dt_s};
    storm_status status = storm_comb_create(b->context, &comb, &b->comb);
    if (status == STORM_OK)
        status = storm_streaming_create(b->context, b->mesh, &streaming,
                                        &b->loop.streaming);
    status = storm_context_agree(b->context, status);
    if (status < 0)
        return status;
    struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = sizeof(struct storm_packet),
    };
    status = storm_engine_create(b->context, &engine, &b->loop.engine);
    if (status < 0)
        return status;
    status = storm_imc_attach(b->imc, b->loop.engine);
    if (status == STORM_OK)
        status = storm_comb_attach(b->comb, b->loop.engine);
    if (status == STORM_OK)
        status = storm_imc_start(b->imc, b->loop.engine);
    return storm_context_agree(b->context, status);
}

static storm_status imc_open(struct imc_bench *b)
{
    imc_prepare(b);
    b->loop = (struct storm_bench_loop){.context = b->context,
                                        .cycles = b->params.cycles,
                                        .timed = b->params.timed,
                                        .kernel_seconds = imc_kernel_seconds};
    storm_status status = imc_make_mesh(b);
    if (status >= 0)
        status = storm_imc_create(b->context, b->mesh, &b->problem, &b->imc);
    return status < 0 ? status : imc_make_engine(b);
}

static void imc_close(struct imc_bench *b)
{
    storm_bench_loop_close(&b->loop);
    storm_engine_destroy(b->loop.engine);
    storm_streaming_destroy(b->loop.streaming);
    storm_comb_destroy(b->comb);
    storm_imc_destroy(b->imc);
    storm_mesh_destroy(b->mesh);
}

/* ---- time ---------------------------------------------------------------- */

static storm_status imc_cycle(struct imc_bench *b)
{
    const uint32_t cycle = b->loop.cycle;
    double energy_erg[4], balance;
    storm_progress_report(b->context, &b->params.progress,
                          (double)cycle / b->params.cycles,
                          "cycle %" PRIu32 " of %" PRIu32, cycle + 1,
                          b->params.cycles);
    storm_status status = storm_imc_set_step(b->imc, cycle * b->dt_s, b->dt_s);
    if (status >= 0)
        status = storm_bench_loop_cycle(&b->loop);
    if (status >= 0)
        status =
            storm_imc_balance(b->imc, b->loop.engine, energy_erg, &balance);
    if (status >= 0)
        b->summary.energy_balance = fmax(b->summary.energy_balance, balance);
    return status < 0 ? status : storm_bench_loop_kernel(&b->loop);
}

static storm_status imc_measure(struct imc_bench *b)
{
    storm_status status = STORM_OK;
    while (status >= 0 && b->loop.cycle < b->params.cycles)
        status = imc_cycle(b);
    if (status >= 0)
        status = storm_imc_hash(b->imc, b->loop.engine, &b->summary.state_hash);
    if (status < 0)
        return status;
    b->summary.title = "implicit Monte Carlo";
    b->kernel_rate = storm_bench_loop_kernel_rate(&b->loop);
    status = storm_bench_loop_summary(&b->loop, b->mesh, &b->summary);
    if (status < 0 || b->summary.energy_balance <= imc_max_imbalance)
        return status;
    if (storm_context_rank(b->context) == 0)
        storm_context_log(b->context, STORM_LOG_ERROR,
                          "wrong result: energy off by %.3g",
                          b->summary.energy_balance);
    return STORM_ERR_STATE;
}

/* ---- report -------------------------------------------------------------- */

static char *imc_json(const struct imc_bench *b)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "imc", &b->summary);
    storm_json_text(&json, "mesh", storm_mesh_kind_name(b->params.mesh));
    storm_json_uint(&json, "groups", b->params.groups);
    storm_json_uint(&json, "emit", b->params.emit);
    storm_json_uint(&json, "timed_cycles", b->params.timed);
    storm_json_real(&json, "dt_s", b->dt_s);
    storm_json_uint(&json, "seed", b->problem.seed);
    storm_bench_json_counters(&json, &b->loop.counters, "step",
                              (double)b->summary.timed.events);
    storm_bench_json_device(&json, &b->loop, &b->summary);
    storm_bench_json_kernel(
        &json, &b->summary, b->kernel_rate,
        "free streaming in the same cells, per rank, all ranks at once, "
        "median of one run after each of the last cycles");
    storm_bench_json_roofline(&json, &b->roof, storm_bench_rate(&b->summary));
    return storm_bench_json_end(&json);
}

static char *imc_table(const struct imc_bench *b)
{
    const struct storm_run_summary *s = &b->summary;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page, "Implicit Monte Carlo in a cube in equilibrium\n\n");
    storm_page_add(&page, "  cells       %s, %s\n",
                   storm_page_grouped(s->cells, number),
                   b->params.mesh == STORM_MESH_VORONOI  ? "Voronoi"
                   : b->params.mesh == STORM_MESH_OCTREE ? "octree"
                                                         : "Cartesian");
    storm_page_add(&page, "  groups      %" PRIu32 "%s\n", b->params.groups,
                   b->params.groups == 1 ? ", grey" : "");
    storm_bench_table_ranks(&page, s);
    storm_bench_table_steps(&page, s, b->params.timed);
    storm_bench_table_counters(&page, &b->loop.counters, "step",
                               (double)s->timed.events);
    storm_bench_table_device(&page, &b->loop, &b->summary);
    storm_bench_table_speed(&page, s, b->kernel_rate,
                            "free streaming in the same cells");
    storm_bench_table_roofline(&page, &b->roof, storm_bench_rate(s));
    storm_run_summary_end(&page, s);
    return storm_page_end(&page);
}

storm_status storm_bench_imc(struct storm_context *context,
                             const struct storm_bench_imc_params *params,
                             struct storm_run_report **report_out)
{
    struct imc_bench b = {.context = context, .params = *params};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = imc_open(&b);
    if (status >= 0)
        status = imc_measure(&b);
    if (status >= 0)
        status =
            storm_bench_roofline(context, b.mesh, imc_kernel_seconds, &b.roof);
    imc_close(&b);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = imc_json(&b);
        parts[STORM_RUN_TABLE] = imc_table(&b);
    }
    return storm_run_report_make(context, status, parts, report_out);
}
