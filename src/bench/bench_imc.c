/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast implicit Monte Carlo is, beside free streaming in the same cells. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/imc.h>
#include <storm/streaming.h>

#include "bench/bench.h"
#include "bench/bench_measure.h"
#include "run/run_points.h"
#include "run/run_summary.h"

/* A cube of gas and radiation in equilibrium, mirrors all round, in units
 * where c = a = 1. Per cell a packet meets this much that absorbs or
 * scatters: a third of its events are collisions. */
static const double imc_absorption = 0.1;
static const double imc_scattering = 0.4;

/* Cells a packet crosses, on the way through the cube, per cbrt(cells); as
 * bench uniform has it. */
static const double imc_crossings[] = {
    [STORM_MESH_CARTESIAN] = 1.5, [STORM_MESH_VORONOI] = 1.37};
static const double imc_cells_a_step = 15.0;

static const double imc_most_imbalance = 1e-13;

/* As bench uniform: the bare kernel runs after each of the last cycles. */
static const double imc_kernel_seconds = 0.25;
enum { IMC_MOST_KERNELS = 5 };

struct imc_bench {
    struct storm_context *context;
    struct storm_bench_imc_params params; /* no zeros left */
    struct storm_material gas;
    struct storm_region everywhere;
    struct storm_edge mirror;
    struct storm_problem problem;
    double dt_s;

    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
    struct storm_streaming *streaming; /* for the bare kernel */

    uint32_t cycle;
    double kernel_rate;
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
    p->cycles = p->cycles > 0 ? p->cycles : 8;
    if (p->timed == 0)
        p->timed = p->cycles < 5 ? p->cycles : 5;
    /* In cells; the cube has side 1. */
    double per_cm = imc_crossings[p->mesh] * cbrt((double)p->cells);
    b->dt_s = imc_cells_a_step / per_cm;
    b->gas = (struct storm_material){
        .name = "gas",
        .absorption = {.coef = imc_absorption * per_cm, .max = STORM_UNLIMITED},
        .scattering = {.coef = imc_scattering * per_cm, .max = STORM_UNLIMITED},
        .heat_capacity = {.coef = 400.0, .max = STORM_UNLIMITED},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0,
    };
    b->mirror = (struct storm_edge){.kind = STORM_EDGE_REFLECT};
    b->problem = (struct storm_problem){
        .light_cm_s = 1.0,
        .radiation = 1.0,
        .hi_cm = {1.0, 1.0, 1.0},
        .materials = &b->gas,
        .n_materials = 1,
        .regions = &b->everywhere,
        .n_regions = 1,
        .n_groups = 1,
        .emit_per_cell = p->emit,
        .min_per_cell = 2,
        .max_per_cell = 3 * p->emit,
        .comb = true,
        .seed = (uint64_t)storm_options_int(storm_context_options(b->context),
                                            "seed"),
    };
    for (int k = 0; k < STORM_N_WALLS; k++)
        b->problem.walls[k] = (struct storm_edges){&b->mirror, 1};
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
        return storm_points_mesh(b->context, &set, &voronoi, &b->mesh);
    }
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
                                        &b->streaming);
    status = storm_context_agree(b->context, status);
    if (status < 0)
        return status;
    struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = sizeof(struct storm_packet),
    };
    status = storm_engine_create(b->context, &engine, &b->engine);
    if (status < 0)
        return status;
    status = storm_imc_attach(b->imc, b->engine);
    if (status == STORM_OK)
        status = storm_comb_attach(b->comb, b->engine);
    if (status == STORM_OK)
        status = storm_imc_start(b->imc, b->engine);
    return storm_context_agree(b->context, status);
}

static storm_status imc_open(struct imc_bench *b)
{
    imc_prepare(b);
    storm_status status = imc_make_mesh(b);
    if (status >= 0)
        status = storm_imc_create(b->context, b->mesh, &b->problem, &b->imc);
    return status < 0 ? status : imc_make_engine(b);
}

static void imc_close(struct imc_bench *b)
{
    storm_engine_destroy(b->engine);
    storm_streaming_destroy(b->streaming);
    storm_comb_destroy(b->comb);
    storm_imc_destroy(b->imc);
    storm_mesh_destroy(b->mesh);
}

/* ---- time ---------------------------------------------------------------- */

static storm_status imc_cycle(struct imc_bench *b, bool timed)
{
    struct storm_stats before = STORM_STATS_INIT, after = STORM_STATS_INIT;
    double energy_erg[4], balance;
    storm_progress_report(b->context, &b->params.progress,
                          (double)b->cycle / b->params.cycles,
                          "cycle %" PRIu32 " of %" PRIu32, b->cycle + 1,
                          b->params.cycles);
    storm_engine_stats(b->engine, &before);
    storm_imc_set_step(b->imc, b->cycle * b->dt_s, b->dt_s);
    storm_status status =
        storm_context_agree(b->context, storm_engine_step(b->engine));
    if (status < 0)
        return status;
    storm_engine_stats(b->engine, &after);
    double seconds = after.seconds - before.seconds;
    status = storm_bench_max(b->context, &seconds);
    if (timed) {
        b->summary.seconds += seconds;
        storm_run_stats_add(&b->summary.timed, &before, &after);
    }
    b->cycle++;
    if (status >= 0)
        status = storm_imc_balance(b->imc, b->engine, energy_erg, &balance);
    if (status >= 0)
        b->summary.energy_balance = fmax(b->summary.energy_balance, balance);
    return status;
}

/* Crossings per second and rank of the bare kernel, on all ranks at once. */
static storm_status imc_kernel(struct imc_bench *b, double *rate_out)
{
    double rate = 0.0;
    storm_status status = storm_bench_barrier(b->context);
    if (status >= 0)
        status =
            storm_context_agree(b->context,
                                storm_streaming_bare_kernel(b->streaming,
                                                            b->engine,
                                                            imc_kernel_seconds,
                                                            &rate));
    if (status >= 0)
        status = storm_bench_sum(b->context, &rate);
    *rate_out = rate / storm_context_size(b->context);
    return status;
}

static storm_status imc_run(struct imc_bench *b)
{
    double rates[IMC_MOST_KERNELS], warm_up;
    size_t n_rates = 0;
    for (uint32_t cycle = 0; cycle < b->params.cycles; cycle++) {
        uint32_t left = b->params.cycles - cycle;
        bool timed = left <= b->params.timed;
        storm_status status = imc_cycle(b, timed);
        bool measure = timed && left <= IMC_MOST_KERNELS;
        if (status >= 0 && measure && n_rates == 0)
            status = imc_kernel(b, &warm_up);
        if (status >= 0 && measure)
            status = imc_kernel(b, &rates[n_rates++]);
        if (status < 0)
            return status;
    }
    b->kernel_rate = storm_bench_median(rates, n_rates);
    return STORM_OK;
}

static storm_status imc_measure(struct imc_bench *b)
{
    storm_status status = imc_run(b);
    if (status >= 0)
        status = storm_imc_hash(b->imc, b->engine, &b->summary.state_hash);
    if (status < 0)
        return status;
    b->summary.title = "implicit Monte Carlo";
    b->summary.cycles = b->params.cycles;
    b->summary.cells = storm_mesh_n_cells_total(b->mesh);
    b->summary.run = (struct storm_stats)STORM_STATS_INIT;
    storm_engine_stats(b->engine, &b->summary.run);
    status = storm_run_summary_reduce(b->context, b->engine, &b->summary);
    if (status < 0 || b->summary.energy_balance <= imc_most_imbalance)
        return status;
    if (storm_context_rank(b->context) == 0)
        storm_context_log(b->context, STORM_LOG_ERROR,
                          "wrong result: energy off by %.3g",
                          b->summary.energy_balance);
    return STORM_ERR_STATE;
}

/* ---- report -------------------------------------------------------------- */

static double imc_rate(const struct imc_bench *b)
{
    const struct storm_run_summary *s = &b->summary;
    return (double)s->timed.events / (s->seconds * s->ranks);
}

static char *imc_json(const struct imc_bench *b)
{
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_text(&json, "benchmark", "imc");
    storm_run_summary_json(&json, &b->summary);
    storm_json_text(&json, "mesh", storm_mesh_kind_name(b->params.mesh));
    storm_json_uint(&json, "emit", b->params.emit);
    storm_json_uint(&json, "timed_cycles", b->params.timed);
    storm_json_real(&json, "dt_s", b->dt_s);
    storm_json_uint(&json, "seed", b->problem.seed);
    storm_json_real(&json, "kernel_steps_per_second", b->kernel_rate);
    storm_json_text(&json, "kernel_is",
                    "free streaming in the same cells, per rank, all ranks at "
                    "once, median of one run after each of the last cycles");
    storm_json_real(&json, "kernel_ratio", imc_rate(b) / b->kernel_rate);
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

static char *imc_table(const struct imc_bench *b)
{
    const struct storm_run_summary *s = &b->summary;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page, "Implicit Monte Carlo in a cube in equilibrium\n\n");
    storm_page_add(&page, "  cells       %s, %s\n",
                   storm_page_grouped(s->cells, number),
                   b->params.mesh == STORM_MESH_VORONOI ? "Voronoi"
                                                        : "Cartesian");
    storm_page_add(&page, "  ranks       %d, backend %s, protocol %s\n",
                   s->ranks, s->backend, s->protocol);
    storm_page_add(&page, "  steps       %s",
                   storm_page_grouped(s->timed.events, number));
    storm_page_add(&page, " in the %" PRIu32 " timed cycles, %.3f s\n",
                   b->params.timed, s->seconds);
    storm_page_add(&page,
                   "  speed       %.2f million steps per second and rank\n"
                   "              %.0f %% of free streaming in the same cells "
                   "(%.2f million)\n",
                   1e-6 * imc_rate(b), 100.0 * imc_rate(b) / b->kernel_rate,
                   1e-6 * b->kernel_rate);
    storm_page_add(&page, "  energy      balance closed to %.1e\n",
                   s->energy_balance);
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
    imc_close(&b);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = imc_json(&b);
        parts[STORM_RUN_TABLE] = imc_table(&b);
    }
    return storm_run_report_make(context, status, parts, report_out);
}
