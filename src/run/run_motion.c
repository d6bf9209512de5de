/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Motion of the generators at the end of a step.
 *
 *   MOTION-1  Where a generator goes is a function of where it is, of the box
 *             and of the length of the step, in additions, multiplications and
 *             divisions: the same bits on any number of ranks, and after a
 *             restart.
 *   MOTION-2  All motions are one-to-one maps of the box: generators do not
 *             meet, and none leaves the box.
 *   MOTION-3  Packets stay where they are; those that a box leaves behind when
 *             it contracts have escaped and are counted as such. But those that
 *             diffuse in matter that moves ride with their cells, and the step
 *             before knows how fast (storm_imc_set_frame).
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include <storm/change.h>
#include <storm/context.h>

#include "base/env.h"
#include "deck/deck.h"
#include "run/run.h"

static const char motion_label[] = "run";

/* Max angle of a part of a step of the vortex; with the classic method of Runge
 * and Kutta a turn is off by some 1e-8 of the box then. */
static const double motion_max_angle = 0.05;

/* ---- maps ---------------------------------------------------------------- */

/* A motion in one step. */
struct motion {
    const struct deck_motion *deck;
    double dt_s;
    struct storm_mesh_box box, new_box;
    double factor; /* expand */
    /* translate: what lies in [lo, hi] moves by `by`; from there to the walls
     * less and less. Without a material the box is periodic, all of it moves.
     */
    double lo[3], hi[3], by[3];
};

/* Square to the axis the flow has the stream function
 * K (1 - x^2 / a^2) (1 - y^2 / b^2), x and y from the middle of the box, a and
 * b half its sides: no divergence, along the walls at the walls. With
 * K = rate a b / 2 it turns by `rate` round the middle. */
static void motion_flow(const struct motion *m, const double half[2],
                        const double x[2], double v_out[2])
{
    double s = x[0] / half[0], t = x[1] / half[1], rate = m->deck->rate;
    v_out[0] = -rate * half[0] * t * (1.0 - s * s);
    v_out[1] = rate * half[1] * s * (1.0 - t * t);
}

/* One step of Runge and Kutta. */
static void motion_turn(const struct motion *m, const double half[2], double dt,
                        double x[2])
{
    static const double stage[4] = {0.0, 0.5, 0.5, 1.0};
    static const double weight[4] = {1.0, 2.0, 2.0, 1.0};
    double v[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
    for (int k = 0; k < 4; k++) {
        double y[2] = {x[0] + stage[k] * dt * v[0],
                       x[1] + stage[k] * dt * v[1]};
        motion_flow(m, half, y, v);
        sum[0] += weight[k] * v[0];
        sum[1] += weight[k] * v[1];
    }
    for (int d = 0; d < 2; d++)
        x[d] += dt / 6.0 * sum[d];
}

static void motion_vortex(const struct motion *m, double x[3])
{
    double n = ceil(fabs(m->deck->rate) * m->dt_s / motion_max_angle);
    double half[2], middle[2], y[2];
    for (int k = 0; k < 2; k++) {
        int d = (m->deck->axis + 1 + k) % 3;
        half[k] = 0.5 * (m->box.hi_cm[d] - m->box.lo_cm[d]);
        middle[k] = m->box.lo_cm[d] + half[k];
        y[k] = x[d] - middle[k];
    }
    for (double i = 0.0; i < n; i++)
        motion_turn(m, half, m->dt_s / n, y);
    for (int k = 0; k < 2; k++) {
        int d = (m->deck->axis + 1 + k) % 3;
        x[d] = fmin(fmax(middle[k] + y[k], m->box.lo_cm[d]), m->box.hi_cm[d]);
    }
}

static void motion_translate(const struct motion *m, double x[3])
{
    for (int d = 0; d < 3; d++) {
        double share = 1.0;
        if (x[d] < m->lo[d])
            share = (x[d] - m->box.lo_cm[d]) / (m->lo[d] - m->box.lo_cm[d]);
        else if (x[d] > m->hi[d])
            share = (m->box.hi_cm[d] - x[d]) / (m->box.hi_cm[d] - m->hi[d]);
        x[d] += share * m->by[d];
    }
}

static void motion_expand(const struct motion *m, double x[3])
{
    for (int d = 0; d < 3; d++)
        x[d] *= m->factor;
}

static void motion_map(const struct motion *m, double x[3])
{
    switch ((enum deck_motion_kind)m->deck->kind) {
    case DECK_MOTION_NONE:
        break;
    case DECK_MOTION_TRANSLATE:
        motion_translate(m, x);
        break;
    case DECK_MOTION_VORTEX:
        motion_vortex(m, x);
        break;
    case DECK_MOTION_EXPAND:
        motion_expand(m, x);
        break;
    }
}

/* ---- what a map needs ---------------------------------------------------- */

/* The cells of the material, and as much around them as they are wide: next to
 * it cells keep their shape. Collective. */
static storm_status motion_extent(const struct run *run, struct motion *m)
{
    enum { LO = 0, HI = 3, WIDTH = 6, N = 9 }; /* maxima; LO negative */
    double max[N];
    for (int i = 0; i < N; i++)
        max[i] = -DBL_MAX;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++) {
        double lo[3], hi[3];
        int material = storm_imc_material(run->imc, i);
        if (material < 0 || material >= (int)run->problem.n_materials ||
            material != run->moving)
            continue;
        storm_mesh_bounds(run->mesh, i, lo, hi);
        for (int d = 0; d < 3; d++) {
            max[LO + d] = fmax(max[LO + d], -lo[d]);
            max[HI + d] = fmax(max[HI + d], hi[d]);
            max[WIDTH + d] = fmax(max[WIDTH + d], hi[d] - lo[d]);
        }
    }
    storm_status status =
        storm_context_reduce(run->context, max, N, MPI_DOUBLE, MPI_MAX);
    for (int d = 0; d < 3 && status == STORM_OK; d++) {
        m->lo[d] = -max[LO + d] - max[WIDTH + d];
        m->hi[d] = max[HI + d] + max[WIDTH + d];
    }
    return status;
}

static storm_status motion_fail(const struct run *run, const char *why)
{
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "mesh.motion, step %" PRIu64 ": %s", run->step, why);
    return STORM_ERR_ARG;
}

/* Collective. STORM_ERR_ARG (logged): it would leave the box. */
static storm_status motion_set_translate(const struct run *run,
                                         struct motion *m)
{
    storm_status status = STORM_OK;
    for (int d = 0; d < 3; d++) {
        m->by[d] = m->deck->velocity[d] * m->dt_s;
        m->lo[d] = m->box.lo_cm[d];
        m->hi[d] = m->box.hi_cm[d];
    }
    if (run->moving < 0)
        return STORM_OK;
    status = motion_extent(run, m);
    if (status < 0)
        return status;
    for (int d = 0; d < 3; d++) {
        if (m->by[d] == 0.0) { /* it may touch the walls */
            m->lo[d] = m->box.lo_cm[d];
            m->hi[d] = m->box.hi_cm[d];
            continue;
        }
        if (!(m->lo[d] > m->box.lo_cm[d]) || !(m->hi[d] < m->box.hi_cm[d]) ||
            !(m->lo[d] + m->by[d] > m->box.lo_cm[d]) ||
            !(m->hi[d] + m->by[d] < m->box.hi_cm[d]))
            return motion_fail(run,
                               "the material comes within a cell of a wall; "
                               "stop the run before, or take a larger box");
    }
    return STORM_OK;
}

/* Steps may have grown since the deck was checked. */
static storm_status motion_set_vortex(const struct run *run,
                                      const struct motion *m)
{
    return fabs(m->deck->rate) * m->dt_s <= DECK_MAX_TURN
               ? STORM_OK
               : motion_fail(run, "the vortex turns by more than 1000 radians; "
                                  "take shorter steps");
}

static storm_status motion_set_expand(const struct run *run, struct motion *m)
{
    m->factor = 1.0 + m->deck->rate * m->dt_s;
    if (!(m->factor > 0.0) || !isfinite(m->factor))
        return motion_fail(run, "the box would have no volume: rate * dt must "
                                "be above -1; take shorter steps");
    for (int d = 0; d < 3; d++) {
        m->new_box.lo_cm[d] *= m->factor;
        m->new_box.hi_cm[d] *= m->factor;
    }
    return STORM_OK;
}

/* ---- the step ------------------------------------------------------------ */

static storm_status motion_points(const struct run *run, const struct motion *m,
                                  double **points_out)
{
    size_t n = (size_t)storm_mesh_n_cells(run->mesh);
    double *x = storm_alloc(storm_context_env(run->context)->memory,
                            motion_label, (n + 1) * 3 * sizeof *x);
    storm_status status = x != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        status = storm_mesh_generator(run->mesh, (storm_cell_idx)i, &x[3 * i]);
        motion_map(m, &x[3 * i]);
    }
    *points_out = x;
    return storm_context_agree(run->context, status);
}

/* The map of a step, and where it takes generators. Collective. Free the
 * points. */
static storm_status motion_plan(const struct run *run, double dt_s,
                                struct motion *m_out, double **points_out)
{
    storm_status status = STORM_OK;
    *m_out =
        (struct motion){.deck = &run->deck->values.mesh.motion, .dt_s = dt_s};
    storm_mesh_box(run->mesh, m_out->box.lo_cm, m_out->box.hi_cm);
    m_out->new_box = m_out->box;
    if (m_out->deck->kind == DECK_MOTION_TRANSLATE)
        status = motion_set_translate(run, m_out);
    else if (m_out->deck->kind == DECK_MOTION_EXPAND)
        status = motion_set_expand(run, m_out);
    else
        status = motion_set_vortex(run, m_out);
    return status < 0 ? status : motion_points(run, m_out, points_out);
}

storm_status run_set_frame(struct run *run, double dt_s)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = (size_t)storm_mesh_n_cells(run->mesh);
    struct motion m;
    double *points = NULL;
    if (run->deck->values.mesh.motion.kind == DECK_MOTION_NONE ||
        !run->problem.motion || !run->problem.diffusion)
        return STORM_OK;
    storm_status status = motion_plan(run, dt_s, &m, &points);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        double x[3];
        status = storm_mesh_generator(run->mesh, (storm_cell_idx)i, x);
        for (int d = 0; d < 3; d++)
            points[3 * i + (size_t)d] =
                (points[3 * i + (size_t)d] - x[d]) / dt_s;
    }
    status = storm_context_agree(run->context, status);
    if (status == STORM_OK)
        status = storm_imc_set_frame(run->imc, points);
    storm_free(memory, points);
    return status;
}

storm_status run_move(struct run *run, double dt_s)
{
    struct motion m;
    uint64_t generation = storm_mesh_generation(run->mesh);
    bool expands = run->deck->values.mesh.motion.kind == DECK_MOTION_EXPAND;
    struct storm_change *change = NULL;
    double *points = NULL;
    if (run->deck->values.mesh.motion.kind == DECK_MOTION_NONE)
        return STORM_OK;
    storm_status status = motion_plan(run, dt_s, &m, &points);
    if (status == STORM_OK)
        status = storm_mesh_move(run->mesh, points, expands ? &m.new_box : NULL,
                                 &change);
    storm_free(storm_context_env(run->context)->memory, points);
    return status < 0 ? status : run_follow(run, generation, change);
}
