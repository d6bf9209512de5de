/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uniform emission on a Voronoi mesh that moves: what building, remapping and
 * switching decompositions cost beside a step.
 *
 * Before every step but the first each generator moves by `speed` cell sizes in
 * a direction of its own; then the mesh is cut anew, such that about a tenth of
 * the cells changes hands on two ranks, and back. A mesh of the same generators
 * is built from nothing as well: the limit that the others are judged by.
 */
#include "bench/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/change.h>
#include <storm/packet.h>
#include <storm/remap.h>
#include <storm/voronoi.h>

#include "base/clock.h"
#include "bench/bench_measure.h"
#include "bench/bench_uniform.h"
#include "io/io_summary.h"
#include "view/chart.h"

static const double motion_speed = 0.1; /* cell sizes per step */

/* What is measured, in seconds, the maximum over ranks. */
enum {
    MOTION_BUILD,   /* from nothing */
    MOTION_REBUILD, /* storm_mesh_move */
    MOTION_REMAP,   /* after it */
    MOTION_SWITCH,  /* storm_mesh_use */
    MOTION_FOLLOW,  /* remap after that */
    MOTION_STEP,
    MOTION_N
};
static const char *const motion_names[MOTION_N] = {
    "build", "rebuild", "remap", "switch", "switch_remap", "step"};

struct motion {
    const struct storm_bench_motion_params *params;
    struct storm_uniform problem;
    struct storm_uniform_pass pass;
    struct storm_cut *even, *uneven;
    double size_cm; /* of a cell */
    double *seconds[MOTION_N];
    size_t n[MOTION_N];
    double median[MOTION_N];
    struct storm_remap_stats remap;
    uint64_t changed_hands, cells_switched;
};

/* ---- one measurement ----------------------------------------------------- */

static storm_status motion_record(struct motion *m, int what, double from_s)
{
    double seconds = storm_clock_seconds() - from_s;
    storm_status status = storm_bench_max(m->pass.context, &seconds);
    if (status >= 0)
        m->seconds[what][m->n[what]++] = seconds;
    return status;
}

/* Where the generators of this rank's cells are next: a function of the tag and
 * the cycle. Inside of the box. */
static storm_status motion_next(const struct motion *m, double (*x)[3])
{
    const struct storm_mesh *mesh = m->pass.mesh;
    double lo[3], hi[3];
    storm_mesh_box(mesh, lo, hi);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double u[4], direction[3];
        const struct storm_packet_id key = {.hi = m->pass.loop.cycle,
                                            .lo = storm_mesh_cell_id(mesh, i)};
        storm_status status = storm_mesh_generator(mesh, i, x[i]);
        if (status < 0)
            return status;
        storm_random(m->problem.seed, STORM_STREAM_MESH, key, 0, u);
        storm_isotropic(u[0], u[1], direction);
        for (int d = 0; d < 3; d++) {
            double step = m->params->speed * m->size_cm * direction[d];
            bool fits = x[i][d] + step > lo[d] && x[i][d] + step < hi[d];
            x[i][d] += fits ? step : -step;
            x[i][d] = fmin(fmax(x[i][d], lo[d]), hi[d]);
        }
    }
    return STORM_OK;
}

static storm_status motion_remap(struct motion *m, struct storm_change *change,
                                 int what)
{
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    double begin = storm_clock_seconds();
    storm_status status =
        storm_remap(m->pass.loop.engine, m->pass.mesh, change, NULL, &stats);
    if (status < 0)
        return status;
    if (what == MOTION_REMAP) {
        m->remap.fixed += stats.fixed;
        m->remap.walked += stats.walked;
        m->remap.moved += stats.moved;
        m->remap.longest =
            stats.longest > m->remap.longest ? stats.longest : m->remap.longest;
    }
    return motion_record(m, what, begin);
}

/* The same generators, from nothing. */
static storm_status motion_build(struct motion *m, const double *x)
{
    struct storm_voronoi_params voronoi = STORM_VORONOI_PARAMS_INIT;
    struct storm_mesh *mesh = NULL;
    storm_mesh_box(m->pass.mesh, voronoi.lo_cm, voronoi.hi_cm);
    voronoi.points_cm = x;
    voronoi.n_points = (uint64_t)storm_mesh_n_cells(m->pass.mesh);
    storm_status status = storm_bench_barrier(m->pass.context);
    double begin = storm_clock_seconds();
    if (status >= 0)
        status = storm_mesh_create_voronoi(m->pass.context, &voronoi, &mesh);
    if (status >= 0)
        status = motion_record(m, MOTION_BUILD, begin);
    storm_mesh_destroy(mesh);
    return status;
}

static storm_status motion_move(struct motion *m)
{
    struct storm_context *context = m->pass.context;
    size_t n = (size_t)storm_mesh_n_cells(m->pass.mesh) + 1;
    struct storm_change *change = NULL;
    double(*x)[3] = storm_bench_alloc(context, n, sizeof *x);
    storm_status status = x != NULL ? motion_next(m, x) : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = motion_build(m, &x[0][0]);
    if (status >= 0)
        status = storm_bench_barrier(context);
    double begin = storm_clock_seconds();
    if (status >= 0)
        status = storm_mesh_move(m->pass.mesh, &x[0][0], NULL, &change);
    if (status >= 0)
        status = motion_record(m, MOTION_REBUILD, begin);
    if (status >= 0)
        status = motion_remap(m, change, MOTION_REMAP);
    storm_change_destroy(change);
    storm_bench_free(context, x);
    return status;
}

static storm_status motion_use(struct motion *m, struct storm_cut *cut)
{
    struct storm_change *change = NULL;
    storm_status status = storm_bench_barrier(m->pass.context);
    double begin = storm_clock_seconds();
    if (status >= 0)
        status = storm_mesh_use(m->pass.mesh, cut, &change);
    if (status < 0)
        return status;
    for (storm_cell_idx i = 0; i < storm_change_n_old(change); i++) {
        struct storm_cell_ref to;
        (void)storm_change_to(change, i, &to);
        m->changed_hands += to.rank != storm_context_rank(m->pass.context);
        m->cells_switched++;
    }
    status = motion_record(m, MOTION_SWITCH, begin);
    if (status >= 0)
        status = motion_remap(m, change, MOTION_FOLLOW);
    storm_change_destroy(change);
    return status;
}

/* Heavier along the curve. */
static uint64_t motion_weight(void *self, storm_cell_idx cell)
{
    const struct motion *m = self;
    const struct storm_mesh *mesh = m->pass.mesh;
    uint64_t place =
        storm_mesh_first_place(mesh, storm_context_rank(m->pass.context)) +
        (uint64_t)cell;
    return 1000 + 1500 * place / storm_mesh_n_cells_total(mesh);
}

/* ---- all of them --------------------------------------------------------- */

static storm_status motion_change(struct motion *m)
{
    storm_status status = motion_move(m);
    if (status >= 0 && storm_context_size(m->pass.context) > 1) {
        storm_cut_fill(m->uneven, motion_weight, m);
        status = motion_use(m, m->uneven);
        if (status >= 0)
            status = motion_use(m, m->even);
    }
    return status;
}

static storm_status motion_cycles(struct motion *m)
{
    storm_status status = STORM_OK;
    while (status >= 0 && m->pass.loop.cycle < m->problem.params.cycles) {
        if (m->pass.loop.cycle > 0)
            status = motion_change(m);
        double begin = storm_clock_seconds();
        if (status >= 0)
            status = storm_uniform_cycle(&m->pass);
        if (status >= 0 && m->pass.loop.cycle > 1)
            status = motion_record(m, MOTION_STEP, begin);
    }
    return status;
}

static storm_status motion_open(struct motion *m)
{
    struct storm_context *context = m->pass.context;
    size_t n = 2 * (size_t)m->problem.params.cycles;
    double lo[3], hi[3];
    storm_status status = STORM_OK;
    for (int k = 0; k < MOTION_N; k++) {
        m->seconds[k] = storm_bench_alloc(context, n, sizeof(double));
        if (m->seconds[k] == NULL)
            status = STORM_ERR_NOMEM;
    }
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = storm_cut_create(m->pass.mesh, &m->even);
    if (status >= 0)
        status = storm_cut_create(m->pass.mesh, &m->uneven);
    storm_mesh_box(m->pass.mesh, lo, hi);
    m->size_cm = cbrt((hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) /
                      (double)storm_mesh_n_cells_total(m->pass.mesh));
    return status;
}

static storm_status motion_end(struct motion *m,
                               struct storm_run_summary *summary)
{
    double energy_erg[4];
    for (int k = 0; k < MOTION_N; k++)
        m->median[k] =
            m->n[k] > 0 ? storm_bench_median(m->seconds[k], m->n[k]) : 0.0;
    storm_status status =
        storm_streaming_balance(m->pass.loop.streaming, m->pass.loop.engine,
                                energy_erg, &summary->energy_balance);
    if (status >= 0)
        status =
            storm_streaming_hash(m->pass.loop.streaming, m->pass.loop.engine,
                                 &summary->state_hash);
    summary->title = "uniform emission on a moving mesh";
    if (status >= 0)
        status = storm_bench_loop_summary(&m->pass.loop, m->pass.mesh, summary);
    uint64_t sums[2] = {m->changed_hands, m->cells_switched};
    if (status >= 0)
        status = storm_bench_sum_uint(m->pass.context, sums, 2);
    m->changed_hands = sums[0];
    m->cells_switched = sums[1];
    return status < 0 ? status : storm_uniform_check(m->pass.context, summary);
}

/* ---- report -------------------------------------------------------------- */

static double motion_share(const struct motion *m)
{
    return m->cells_switched > 0
               ? (double)m->changed_hands / (double)m->cells_switched
               : 0.0;
}

static char *motion_json(const struct motion *m,
                         const struct storm_run_summary *summary)
{
    struct storm_json json;
    char key[64];
    storm_bench_json_begin(&json, "motion", summary);
    storm_json_real(&json, "speed", m->params->speed);
    storm_json_uint(&json, "seed", m->problem.seed);
    for (int k = 0; k < MOTION_N; k++) {
        snprintf(key, sizeof key, "%s_seconds", motion_names[k]);
        storm_json_real(&json, key, m->median[k]);
    }
    storm_json_real(&json, "rebuild_speedup",
                    m->median[MOTION_BUILD] / m->median[MOTION_REBUILD]);
    storm_json_real(&json, "remap_ratio",
                    m->median[MOTION_REMAP] / m->median[MOTION_STEP]);
    storm_json_real(&json, "switch_ratio",
                    m->median[MOTION_SWITCH] / m->median[MOTION_BUILD]);
    storm_json_real(&json, "switch_share", motion_share(m));
    storm_json_open(&json, "remap", '{');
    storm_json_uint(&json, "fixed", m->remap.fixed);
    storm_json_uint(&json, "walked", m->remap.walked);
    storm_json_uint(&json, "moved", m->remap.moved);
    storm_json_uint(&json, "longest", m->remap.longest);
    storm_json_close(&json, '}');
    return storm_bench_json_end(&json);
}

static char *motion_table(const struct motion *m,
                          const struct storm_run_summary *summary)
{
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    uint64_t all = m->remap.fixed + m->remap.walked + m->remap.moved;
    double percent = all > 0 ? 100.0 / (double)all : 0.0;
    storm_page_add(&page,
                   "Uniform emission on a Voronoi mesh that moves by %g "
                   "cell sizes per step\n\n",
                   m->params->speed);
    storm_page_add(&page, "  cells       %s\n",
                   storm_page_grouped(summary->cells, number));
    storm_bench_table_ranks(&page, summary);
    for (int k = 0; k < MOTION_N; k++)
        if (m->n[k] > 0)
            storm_page_add(&page, "  %-13s %8.2f ms (median of %zu)\n",
                           motion_names[k], 1e3 * m->median[k], m->n[k]);
    storm_page_add(&page,
                   "  remap       %.2f %% fixed by index, %.2f %% walked, "
                   "%.2f %% changed ranks; longest walk %" PRIu64 "\n",
                   percent * (double)m->remap.fixed,
                   percent * (double)m->remap.walked,
                   percent * (double)m->remap.moved, m->remap.longest);
    storm_page_add(&page,
                   "  rebuild is %.2f times as fast as a build; remap is "
                   "%.1f %% of a step\n",
                   m->median[MOTION_BUILD] / m->median[MOTION_REBUILD],
                   100.0 * m->median[MOTION_REMAP] / m->median[MOTION_STEP]);
    if (m->n[MOTION_SWITCH] > 0)
        storm_page_add(&page,
                       "  a switch is %.1f %% of a build; %.1f %% of the cells "
                       "change hands\n",
                       100.0 * m->median[MOTION_SWITCH] /
                           m->median[MOTION_BUILD],
                       100.0 * motion_share(m));
    storm_run_summary_end(&page, summary);
    return storm_page_end(&page);
}

static char *motion_picture(const struct motion *m,
                            const struct storm_run_summary *summary)
{
    static const char *const labels[MOTION_N] = {
        "build from nothing",     "build after motion",
        "remap after motion",     "switch of decompositions",
        "remap after the switch", "step"};
    static const char *const parts[] = {"time"};
    struct storm_bar bars[MOTION_N];
    double ms[MOTION_N];
    char subtitle[128];
    size_t n = 0;
    for (int k = 0; k < MOTION_N; k++) {
        if (m->n[k] == 0)
            continue;
        ms[n] = 1e3 * m->median[k];
        bars[n] = (struct storm_bar){labels[k], NULL, &ms[n]};
        n++;
    }
    snprintf(subtitle, sizeof subtitle,
             "%" PRIu64 " cells, %d rank%s, %g cell sizes per step",
             summary->cells, summary->ranks, summary->ranks == 1 ? "" : "s",
             m->params->speed);
    const struct storm_bars chart = {.title = "A mesh that moves",
                                     .subtitle = subtitle,
                                     .label = "time (ms), median",
                                     .parts = parts,
                                     .n_parts = 1,
                                     .bars = bars,
                                     .n_bars = n};
    return storm_bars_svg(&chart);
}

/* ---- the benchmark ------------------------------------------------------- */

static void motion_close(struct motion *m)
{
    for (int k = 0; k < MOTION_N; k++)
        storm_bench_free(m->pass.context, m->seconds[k]);
    storm_uniform_close(&m->pass); /* its mesh destroys the cuts */
}

storm_status storm_bench_motion(struct storm_context *context,
                                const struct storm_bench_motion_params *params,
                                struct storm_run_report **report_out)
{
    struct storm_bench_motion_params own = *params;
    const struct storm_bench_uniform_params uniform = {
        .mesh = STORM_MESH_VORONOI,
        .lloyd = 5,
        .cells = own.cells,
        .cells_per_rank = own.cells_per_rank,
        .cycles = own.cycles > 0 ? own.cycles : 6,
        .progress = own.progress};
    struct motion m = {.params = &own};
    struct storm_run_summary summary = {0};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (!(own.speed > 0.0))
        own.speed = motion_speed;
    storm_status status = storm_uniform_prepare(context, &uniform, &m.problem);
    if (status < 0)
        return status;
    status =
        storm_uniform_open(&m.pass, &m.problem, context, STORM_TALLY_EXACT);
    if (status >= 0)
        status = motion_open(&m);
    if (status >= 0)
        status = motion_cycles(&m);
    if (status >= 0)
        status = motion_end(&m, &summary);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = motion_json(&m, &summary);
        parts[STORM_RUN_TABLE] = motion_table(&m, &summary);
        if (own.picture)
            parts[STORM_RUN_PICTURE] = motion_picture(&m, &summary);
    }
    motion_close(&m);
    return storm_run_report_make(context, status, parts, report_out);
}
