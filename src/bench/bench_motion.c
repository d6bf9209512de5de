/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uniform emission on a Voronoi mesh that moves: what building, remapping and
 * switching decompositions cost beside a step.
 *
 * Before every step but the first generators move by up to `speed` cell sizes
 * in a vortex, then each by as much in a direction of its own; then the mesh is
 * cut anew, such that about a tenth of the cells changes hands on two ranks,
 * and back. A mesh of the same generators is built from nothing as well: the
 * limit that the others are judged by.
 */
#include "bench/bench_motion.h"

#include <inttypes.h>
#include <math.h>

#include <storm/change.h>
#include <storm/packet.h>
#include <storm/voronoi.h>

#include "base/clock.h"
#include "base/math.h"
#include "bench/bench_measure.h"
#include "bench/bench_uniform.h"

static const double motion_speeds[STORM_MOTION_SPEEDS] = {0.01, 0.1, 1.0};
static const double motion_speed = 0.1; /* of one run */

struct motion {
    const struct storm_bench_motion_params *params;
    struct storm_uniform problem;
    struct storm_uniform_pass pass;
    struct storm_cut *even, *uneven;
    double size_cm; /* of a cell */
    double *seconds[STORM_MOTION_N];
    struct storm_motion_result *result;
};

/* ---- one measurement ----------------------------------------------------- */

static storm_status motion_record(struct motion *m, int what, double from_s)
{
    double seconds = storm_clock_seconds() - from_s;
    storm_status status = storm_bench_max(m->pass.context, &seconds);
    if (status >= 0)
        m->seconds[what][m->result->n[what]++] = seconds;
    return status;
}

/* A flow that turns round the middle of the box, along z; at most 1. */
static void motion_vortex(const double lo[3], const double hi[3],
                          const double x[3], double v_out[3])
{
    double s = (2.0 * x[0] - lo[0] - hi[0]) / (hi[0] - lo[0]);
    double t = (2.0 * x[1] - lo[1] - hi[1]) / (hi[1] - lo[1]);
    v_out[0] = -t * (1.0 - s * s);
    v_out[1] = s * (1.0 - t * t);
    v_out[2] = 0.0;
}

/* Where the generators of this rank's cells are next: a function of the tag and
 * the cycle, or, in a vortex, of where they are. Inside of the box. */
static storm_status motion_next(const struct motion *m, bool is_smooth,
                                double (*x)[3])
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
        if (is_smooth)
            motion_vortex(lo, hi, x[i], direction);
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
    if (what == STORM_MOTION_REMAP) {
        struct storm_remap_stats *sum = &m->result->remap;
        sum->fixed += stats.fixed;
        sum->walked += stats.walked;
        sum->moved += stats.moved;
        sum->longest =
            stats.longest > sum->longest ? stats.longest : sum->longest;
    }
    return what < STORM_MOTION_N ? motion_record(m, what, begin) : STORM_OK;
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
        status = motion_record(m, STORM_MOTION_BUILD, begin);
    storm_mesh_destroy(mesh);
    return status;
}

/* A build of the generators from nothing is measured for random motion. */
static storm_status motion_move(struct motion *m, bool is_smooth)
{
    struct storm_context *context = m->pass.context;
    size_t n = (size_t)storm_mesh_n_cells(m->pass.mesh) + 1;
    struct storm_change *change = NULL;
    double(*x)[3] = storm_bench_alloc(context, n, sizeof *x);
    storm_status status =
        x != NULL ? motion_next(m, is_smooth, x) : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0 && !is_smooth)
        status = motion_build(m, &x[0][0]);
    if (status >= 0)
        status = storm_bench_barrier(context);
    double begin = storm_clock_seconds();
    if (status >= 0)
        status = storm_mesh_move(m->pass.mesh, &x[0][0], NULL, &change);
    if (status >= 0)
        status = motion_record(m,
                               is_smooth ? STORM_MOTION_SMOOTH
                                         : STORM_MOTION_REBUILD,
                               begin);
    if (status >= 0)
        status = motion_remap(m, change,
                              is_smooth ? STORM_MOTION_N : STORM_MOTION_REMAP);
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
        m->result->changed_hands +=
            to.rank != storm_context_rank(m->pass.context);
        m->result->n_switched++;
    }
    status = motion_record(m, STORM_MOTION_SWITCH, begin);
    if (status >= 0)
        status = motion_remap(m, change, STORM_MOTION_FOLLOW);
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
    storm_status status = motion_move(m, true);
    if (status >= 0)
        status = motion_move(m, false);
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
            status = motion_record(m, STORM_MOTION_STEP, begin);
    }
    return status;
}

static storm_status motion_open(struct motion *m)
{
    struct storm_context *context = m->pass.context;
    size_t n = 2 * (size_t)m->problem.params.cycles;
    double lo[3], hi[3];
    storm_status status = STORM_OK;
    for (int k = 0; k < STORM_MOTION_N; k++) {
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
    m->size_cm =
        storm_cbrt((hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) /
                   (double)storm_mesh_n_cells_total(m->pass.mesh));
    return status;
}

static storm_status motion_end(struct motion *m)
{
    struct storm_motion_result *r = m->result;
    struct storm_run_summary *summary = &r->summary;
    double energy_erg[4];
    for (int k = 0; k < STORM_MOTION_N; k++)
        r->median[k] =
            r->n[k] > 0 ? storm_bench_median(m->seconds[k], r->n[k]) : 0.0;
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
    uint64_t sums[2] = {r->changed_hands, r->n_switched};
    if (status >= 0)
        status = storm_bench_sum_uint(m->pass.context, sums, 2);
    r->changed_hands = sums[0];
    r->n_switched = sums[1];
    return status < 0 ? status : storm_uniform_check(m->pass.context, summary);
}

static void motion_close(struct motion *m)
{
    for (int k = 0; k < STORM_MOTION_N; k++)
        storm_bench_free(m->pass.context, m->seconds[k]);
    storm_uniform_close(&m->pass); /* its mesh destroys the cuts */
}

/* One number of ranks, one speed. `pass` names it in a sweep; NULL: none. */
static storm_status
motion_measure(struct storm_context *context,
               const struct storm_bench_motion_params *params,
               const struct storm_bench_pass *pass,
               struct storm_motion_result *result_out)
{
    const struct storm_bench_uniform_params uniform = {
        .mesh = STORM_MESH_VORONOI,
        .lloyd = 5,
        .cells = params->cells,
        .cells_per_rank = params->cells_per_rank,
        .cycles = params->cycles > 0 ? params->cycles : 6,
        .progress = params->progress};
    struct motion m = {.params = params, .result = result_out};
    *result_out = (struct storm_motion_result){.speed = params->speed};
    storm_status status = storm_uniform_prepare(context, &uniform, &m.problem);
    if (status < 0)
        return status;
    result_out->seed = m.problem.seed;
    if (pass != NULL) {
        m.problem.what = pass->what;
        m.problem.done = pass->done;
        m.problem.share = pass->share;
    }
    status =
        storm_uniform_open(&m.pass, &m.problem, context, STORM_TALLY_EXACT);
    if (status >= 0)
        status = motion_open(&m);
    if (status >= 0)
        status = motion_cycles(&m);
    if (status >= 0)
        status = motion_end(&m);
    motion_close(&m);
    return status;
}

static storm_status motion_alone(struct storm_context *context,
                                 const struct storm_bench_motion_params *params,
                                 char **parts)
{
    struct storm_bench_motion_params own = *params;
    struct storm_motion_result result;
    own.speed = own.speed > 0.0 ? own.speed : motion_speed;
    storm_status status = motion_measure(context, &own, NULL, &result);
    if (status < 0 || storm_context_rank(context) > 0)
        return status;
    parts[STORM_RUN_JSON] = storm_motion_json(&result);
    parts[STORM_RUN_TABLE] = storm_motion_table(&result);
    if (own.picture)
        parts[STORM_RUN_PICTURE] = storm_motion_picture(&result);
    return STORM_OK;
}

/* ---- numbers of ranks and speeds ----------------------------------------- */

struct motion_sweep {
    struct storm_motion_sweep all;
    struct storm_bench_motion_params params;
};

/* All speeds. */
static storm_status motion_body(struct storm_context *own,
                                struct storm_bench_pass *pass, void *self)
{
    struct motion_sweep *sweep = self;
    size_t n = sweep->all.n_speeds;
    size_t i = (size_t)(pass->point - sweep->all.points.point);
    struct storm_bench_pass part = *pass;
    storm_status status = STORM_OK;
    part.share = pass->share / (double)n;
    for (size_t k = 0; k < n && status >= 0; k++) {
        struct storm_bench_motion_params params = sweep->params;
        struct storm_motion_result *result = &sweep->all.result[i * n + k];
        params.speed = n > 1 ? motion_speeds[k] : params.speed;
        part.done = pass->done + (double)k * part.share;
        status = motion_measure(own, &params, &part, result);
        pass->summary = result->summary;
    }
    return status;
}

/* The same state on all numbers of ranks, for each speed. On rank 0. */
static storm_status motion_compare(struct storm_context *context,
                                   const struct storm_motion_sweep *all)
{
    for (size_t i = all->n_speeds; i < all->points.n * all->n_speeds; i++) {
        const struct storm_motion_result *a = &all->result[i % all->n_speeds];
        const struct storm_motion_result *b = &all->result[i];
        if (a->summary.state_hash == b->summary.state_hash)
            continue;
        storm_context_log(context, STORM_LOG_ERROR,
                          "wrong result: at speed %g, %d ranks end in state "
                          "%016" PRIx64 ", but %d in %016" PRIx64,
                          a->speed, a->summary.ranks, a->summary.state_hash,
                          b->summary.ranks, b->summary.state_hash);
        return STORM_ERR_STATE;
    }
    return STORM_OK;
}

static storm_status
motion_over_ranks(struct storm_context *context,
                  const struct storm_bench_motion_params *params, char **parts)
{
    struct motion_sweep sweep = {.params = *params};
    struct storm_motion_sweep *all = &sweep.all;
    const char *names[STORM_BENCH_MAX_BACKENDS];
    size_t n;
    all->n_speeds = params->speed > 0.0 ? 1 : STORM_MOTION_SPEEDS;
    if (params->cells == 0 && params->cells_per_rank == 0)
        sweep.params.cells = 20000;
    all->is_strong = sweep.params.cells > 0;
    storm_status status = storm_bench_backends(context, NULL, names, &n);
    if (status < 0)
        return status;
    status = storm_bench_points_open(context, &params->ranks, names[0], 1,
                                     &all->points);
    if (status >= 0) {
        all->result = storm_bench_alloc(context, all->points.n * all->n_speeds,
                                        sizeof *all->result);
        status =
            storm_context_agree(context, all->result != NULL ? STORM_OK
                                                             : STORM_ERR_NOMEM);
    }
    if (status >= 0)
        status =
            storm_bench_points_run(&all->points, false, motion_body, &sweep);
    if (status >= 0 && storm_context_rank(context) == 0 && all->is_strong)
        status = motion_compare(context, all);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = storm_motion_sweep_json(all);
        parts[STORM_RUN_TABLE] = storm_motion_sweep_table(all);
        if (params->picture)
            parts[STORM_RUN_PICTURE] = storm_motion_sweep_picture(all);
    }
    storm_bench_free(context, all->result);
    storm_bench_points_close(&all->points);
    return status;
}

storm_status storm_bench_motion(struct storm_context *context,
                                const struct storm_bench_motion_params *params,
                                struct storm_run_report **report_out)
{
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = params->ranks.n > 0
                              ? motion_over_ranks(context, params, parts)
                              : motion_alone(context, params, parts);
    return storm_run_report_make(context, status, parts, report_out);
}
