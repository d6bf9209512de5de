/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blackbody walls: the area of their parts, and which rank makes which packets.
 *
 * A part is covered with tiles. Packets are distributed over tiles by area, and
 * within a tile lie anywhere on the part: all that is the same on every rank. A
 * rank visits the tiles that its own cells touch and makes the packets that are
 * in these cells. So no rank needs to know the cells of others, or tests many
 * more packets than it makes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/problem.h"
#include "physics/shape.h"

static const char wall_label[] = "imc walls";

const struct storm_wall_part *imc_edge_at(const struct storm_problem *problem,
                                          int wall, const double point_cm[3])
{
    const struct storm_wall *edges = problem_wall(problem, (size_t)wall);
    for (size_t i = edges != NULL ? edges->n : 0; i > 0; i--)
        if (storm_shape_contains(&edges->parts[i - 1].shape, point_cm))
            return &edges->parts[i - 1];
    return NULL;
}

bool imc_wall_is(const struct storm_problem *problem, int wall,
                 const double point_cm[3], storm_wall_kind kind)
{
    const struct storm_wall_part *edge = imc_edge_at(problem, wall, point_cm);
    return edge != NULL && edge->kind == kind;
}

const struct storm_wall_part *imc_edge_middle(const struct storm_imc *imc,
                                              storm_cell_idx cell, int face,
                                              int wall)
{
    static const double middle[2] = {0.25, 0.5}; /* of a triangle, about */
    double point[3];
    storm_mesh_centre(imc->mesh, cell, point);
    if (imc->mesh->n_boundaries > 0)
        imc->mesh->ops->sample_face(imc->mesh, cell, face, middle, point);
    else
        point[wall / 2] = wall % 2 ? imc->problem->hi_cm[wall / 2]
                                   : imc->problem->lo_cm[wall / 2];
    return imc_edge_at(imc->problem, wall, point);
}

/* A rectangle on a wall, in its two directions. */
struct wall_patch {
    double lo[2], hi[2];
};

struct wall_part {
    const struct storm_problem *problem;
    const struct storm_wall_part *edge;
    int wall;
};

static bool wall_is_there(const struct wall_part *w, double x, double y)
{
    int axis = w->wall / 2;
    double point[3];
    point[axis] =
        w->wall % 2 ? w->problem->hi_cm[axis] : w->problem->lo_cm[axis];
    point[(axis + 1) % 3] = x;
    point[(axis + 2) % 3] = y;
    return imc_edge_at(w->problem, w->wall, point) == w->edge;
}

/* Halves a patch until its corners and its middle agree: at least `sure`
 * times, at most `deepest` times. */
static double wall_patch_area(const struct wall_part *w,
                              const struct wall_patch *p, int sure, int deepest)
{
    double dx = p->hi[0] - p->lo[0], dy = p->hi[1] - p->lo[1];
    double mx = p->lo[0] + 0.5 * dx, my = p->lo[1] + 0.5 * dy;
    /* A little inside: edges belong to the patches on both sides. */
    double ex = 1e-9 * dx, ey = 1e-9 * dy;
    int n = wall_is_there(w, mx, my) +
            wall_is_there(w, p->lo[0] + ex, p->lo[1] + ey) +
            wall_is_there(w, p->hi[0] - ex, p->lo[1] + ey) +
            wall_is_there(w, p->lo[0] + ex, p->hi[1] - ey) +
            wall_is_there(w, p->hi[0] - ex, p->hi[1] - ey);
    if (sure <= 0 && (n == 0 || n == 5))
        return n == 5 ? dx * dy : 0.0;
    if (deepest <= 0)
        return dx * dy * n / 5.0;
    double area = 0.0;
    for (int k = 0; k < 4; k++) {
        struct wall_patch q = {{k & 1 ? mx : p->lo[0], k & 2 ? my : p->lo[1]},
                               {k & 1 ? p->hi[0] : mx, k & 2 ? p->hi[1] : my}};
        area += wall_patch_area(w, &q, sure - 1, deepest - 1);
    }
    return area;
}

static int wall_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Cuts of a patch in its two directions, in order. */
struct wall_cuts {
    double *at[2];
    size_t n[2];
    bool boxes; /* all shapes are boxes */
};

/* The sides of all boxes cut a wall; `cuts` has room. */
static void wall_cut(const struct wall_part *w, const struct wall_patch *p,
                     struct wall_cuts *cuts)
{
    const struct storm_wall *edges = &w->problem->walls[w->wall];
    cuts->boxes = true;
    for (int k = 0; k < 2; k++) {
        int d = (w->wall / 2 + 1 + k) % 3;
        double *at = cuts->at[k];
        size_t n = 0;
        at[n++] = p->lo[k];
        at[n++] = p->hi[k];
        for (size_t i = 0; i < edges->n; i++) {
            const struct storm_shape *s = &edges->parts[i].shape;
            if (s->kind == STORM_SHAPE_BOX) {
                at[n++] = fmin(fmax(s->lo_cm[d], p->lo[k]), p->hi[k]);
                at[n++] = fmin(fmax(s->hi_cm[d], p->lo[k]), p->hi[k]);
            } else if (s->kind != STORM_SHAPE_ALL) {
                cuts->boxes = false;
            }
        }
        qsort(at, n, sizeof *at, wall_compare);
        cuts->n[k] = n;
    }
}

/* The area of the part within a patch. If there are only boxes each piece of it
 * is all in or all out; others are halved, as above. */
static double wall_area(const struct wall_part *w, const struct wall_patch *p,
                        struct wall_cuts *cuts, int sure, int deepest)
{
    double area = 0.0;
    wall_cut(w, p, cuts);
    for (size_t i = 0; i + 1 < cuts->n[0]; i++)
        for (size_t j = 0; j + 1 < cuts->n[1]; j++) {
            struct wall_patch q = {{cuts->at[0][i], cuts->at[1][j]},
                                   {cuts->at[0][i + 1], cuts->at[1][j + 1]}};
            double dx = q.hi[0] - q.lo[0], dy = q.hi[1] - q.lo[1];
            if (!(dx > 0.0) || !(dy > 0.0))
                continue;
            if (!cuts->boxes)
                area += wall_patch_area(w, &q, sure, deepest);
            else if (wall_is_there(w, q.lo[0] + 0.5 * dx, q.lo[1] + 0.5 * dy))
                area += dx * dy;
        }
    return area;
}

/* The area of the whole part. */
static double wall_edge_area(const struct wall_part *w, struct wall_cuts *cuts)
{
    enum { SURE = 5, DEEPEST = 13 };
    struct wall_patch all;
    for (int k = 0; k < 2; k++) {
        int d = (w->wall / 2 + 1 + k) % 3;
        all.lo[k] = w->problem->lo_cm[d];
        all.hi[k] = w->problem->hi_cm[d];
    }
    return wall_area(w, &all, cuts, SURE, DEEPEST);
}

/* ---- tiles -------------------------------------------------------------- */

/* Areas become whole numbers, this for the largest. */
static const double wall_scale = 0x1p36;

/* One tile of the rectangle around the part. */
static struct wall_patch wall_tile(const struct imc_wall *wall, size_t i)
{
    struct wall_patch p;
    const size_t at[2] = {i % IMC_TILES, i / IMC_TILES};
    for (int k = 0; k < 2; k++) {
        double width = wall->hi[k] - wall->lo[k];
        p.lo[k] = wall->lo[k] + width * ((double)at[k] / IMC_TILES);
        p.hi[k] = wall->lo[k] + width * ((double)(at[k] + 1) / IMC_TILES);
    }
    return p;
}

/* The rectangle of the wall around a part. */
static void wall_bounds(const struct wall_part *w, struct imc_wall *wall)
{
    double lo[3], hi[3];
    storm_shape_bounds(&w->edge->shape, lo, hi);
    for (int k = 0; k < 2; k++) {
        int d = (w->wall / 2 + 1 + k) % 3;
        wall->lo[k] = fmax(lo[d], w->problem->lo_cm[d]);
        wall->hi[k] = fmin(hi[d], w->problem->hi_cm[d]);
    }
}

/* Distributes the area over the tiles. */
static void wall_share(const struct wall_part *w, struct wall_cuts *cuts,
                       struct imc_wall *wall)
{
    enum { SURE = 2, DEEPEST = 7 };
    double area[IMC_TILES * IMC_TILES], max = 0.0;
    for (size_t i = 0; i < IMC_TILES * IMC_TILES; i++) {
        struct wall_patch tile = wall_tile(wall, i);
        area[i] = wall_area(w, &tile, cuts, SURE, DEEPEST);
        max = fmax(max, area[i]);
    }
    wall->share[0] = 0;
    for (size_t i = 0; i < IMC_TILES * IMC_TILES; i++) {
        double share = max > 0.0 ? area[i] / max * wall_scale : 0.0;
        wall->share[i + 1] = wall->share[i] + (uint64_t)share;
    }
}

/* The first and the last tile, in one direction, that an interval touches. */
static void wall_span(const struct imc_wall *wall, int k, double lo, double hi,
                      size_t span_out[2])
{
    const double x[2] = {lo, hi};
    double width = wall->hi[k] - wall->lo[k];
    for (int i = 0; i < 2; i++) {
        /* A little more than it touches: edges are rounded. */
        double at = (x[i] - wall->lo[k]) / width * IMC_TILES;
        at += i == 0 ? -1e-6 : 1e-6;
        at = fmin(fmax(at, 0.0), (double)(IMC_TILES - 1));
        span_out[i] = (size_t)at;
    }
}

/* Marks the tiles under a cell of this rank that is on the wall. */
static void wall_mark(const struct storm_imc *imc, int where,
                      storm_cell_idx cell, struct imc_wall *wall)
{
    double lo[3], hi[3];
    size_t span[2][2];
    storm_mesh_bounds(imc->mesh, cell, lo, hi);
    for (int k = 0; k < 2; k++) {
        int d = (where / 2 + 1 + k) % 3;
        /* Through a periodic wall: it may be under tiles on both sides. */
        if (lo[d] < imc->problem->lo_cm[d] || hi[d] > imc->problem->hi_cm[d]) {
            lo[d] = imc->problem->lo_cm[d];
            hi[d] = imc->problem->hi_cm[d];
        }
        if (hi[d] < wall->lo[k] || lo[d] > wall->hi[k])
            return;
        wall_span(wall, k, lo[d], hi[d], span[k]);
    }
    for (size_t j = span[1][0]; j <= span[1][1]; j++)
        for (size_t i = span[0][0]; i <= span[0][1]; i++)
            wall->mine[j * IMC_TILES + i] = true;
}

static void wall_mark_all(struct storm_imc *imc)
{
    for (storm_cell_idx c = 0; c < imc->n_cells; c++)
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, c); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, c, k, &face);
            if (face.rank >= 0)
                continue;
            for (size_t i = 0; i < imc->problem->walls[face.wall].n; i++)
                if (imc->walls[face.wall][i].area_cm2 > 0.0)
                    wall_mark(imc, face.wall, c, &imc->walls[face.wall][i]);
        }
}

static storm_status wall_open(struct storm_imc *imc, int where, size_t i)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_wall *wall = &imc->walls[where][i];
    size_t n = IMC_TILES * IMC_TILES;
    struct wall_part w = {imc->problem, &imc->problem->walls[where].parts[i],
                          where};
    if (w.edge->kind != STORM_WALL_BLACKBODY)
        return STORM_OK;
    wall->share =
        storm_alloc(memory, wall_label, (n + 1) * sizeof *wall->share);
    wall->mine = storm_alloc(memory, wall_label, n * sizeof *wall->mine);
    size_t capacity = 2 * imc->problem->walls[where].n + 2;
    double *room = storm_alloc(memory, wall_label, 2 * capacity * sizeof *room);
    if (wall->share == NULL || wall->mine == NULL || room == NULL) {
        storm_free(memory, room);
        return STORM_ERR_NOMEM;
    }
    struct wall_cuts cuts = {.at = {room, room + capacity}};
    wall->area_cm2 = wall_edge_area(&w, &cuts);
    if (wall->area_cm2 > 0.0) {
        wall_bounds(&w, wall);
        wall_share(&w, &cuts, wall);
        if (wall->share[n] == 0) /* too thin to be found */
            wall->area_cm2 = 0.0;
    }
    storm_free(memory, room);
    /* Logged once: before the first step. */
    if (!(wall->area_cm2 > 0.0) && imc->env->rank == 0 && imc->dt_s == 0.0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "blackbody %zu of boundary %c_%s has no area: it emits "
                        "nothing",
                        i, "xyz"[where / 2], where % 2 ? "hi" : "lo");
    return STORM_OK;
}

/* The walls of a box. */
static storm_status wall_open_all(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (int where = 0; where < STORM_N_WALLS; where++)
        for (size_t i = 0;
             i < imc->problem->walls[where].n && status == STORM_OK; i++)
            status = wall_open(imc, where, i);
    if (status == STORM_OK)
        wall_mark_all(imc);
    return storm_context_agree(imc->context, status);
}

/* The boundaries of a given mesh. */
static storm_status wall_open_numbered(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (size_t w = 0; w < problem_n_walls(imc->problem); w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        for (size_t i = 0; i < wall->n && status == STORM_OK; i++)
            if (wall->parts[i].kind == STORM_WALL_BLACKBODY)
                status = imc_boundary_open(imc, (int)w, i);
    }
    return status;
}

/* Temperatures of all blackbodies. */
static storm_status wall_open_curves(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (size_t w = 0; w < problem_n_walls(imc->problem); w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        for (size_t i = 0; i < wall->n && status == STORM_OK; i++)
            if (wall->parts[i].kind == STORM_WALL_BLACKBODY)
                status = curve_open(imc->env, &wall->parts[i].temperature,
                                    wall->parts[i].temperature_formula,
                                    &imc->walls[w][i].temperature);
    }
    return status;
}

static storm_status wall_begin(struct storm_imc *imc, size_t w, size_t i)
{
    static const char *const names[STORM_N_WALLS] = {"x_lo", "x_hi", "y_lo",
                                                     "y_hi", "z_lo", "z_hi"};
    const struct storm_wall_part *part =
        &problem_wall(imc->problem, w)->parts[i];
    struct curve_window window = imc_window(imc, part->start_s, part->stop_s);
    char name[96], number[24];
    struct curve_limits limits = {name, 1e30};
    if (part->temperature_formula == NULL || !(window.to > window.from))
        return STORM_OK;
    snprintf(number, sizeof number, "%zu", w);
    snprintf(name, sizeof name, "temperature of blackbody %zu of boundary %s",
             i,
             imc->mesh->n_boundaries > 0 || w >= STORM_N_WALLS ? number
                                                               : names[w]);
    return curve_begin(imc->env, &imc->walls[w][i].temperature, window,
                       &limits);
}

storm_status imc_wall_begin(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (size_t w = 0; w < problem_n_walls(imc->problem); w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        for (size_t i = 0; i < wall->n && status == STORM_OK; i++)
            if (wall->parts[i].kind == STORM_WALL_BLACKBODY)
                status = wall_begin(imc, w, i);
    }
    return status;
}

storm_status imc_wall_open(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    imc->walls =
        storm_alloc(memory, wall_label, imc->n_walls * sizeof *imc->walls);
    storm_status status = imc->walls != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t w = 0; w < imc->n_walls && status == STORM_OK; w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        size_t n = wall != NULL ? wall->n : 0;
        imc->walls[w] =
            storm_alloc(memory, wall_label, (n + 1) * sizeof *imc->walls[w]);
        if (imc->walls[w] == NULL)
            status = STORM_ERR_NOMEM;
    }
    if (status == STORM_OK)
        status = wall_open_curves(imc);
    status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    return imc->mesh->n_boundaries > 0 ? wall_open_numbered(imc)
                                       : wall_open_all(imc);
}

void imc_wall_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    for (size_t w = 0; imc->walls != NULL && w < imc->n_walls; w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        size_t n = imc->walls[w] != NULL && wall != NULL ? wall->n : 0;
        for (size_t i = 0; i < n; i++) {
            curve_close(imc->env, &imc->walls[w][i].temperature);
            storm_free(memory, imc->walls[w][i].share);
            storm_free(memory, imc->walls[w][i].mine);
            storm_free(memory, imc->walls[w][i].faces);
        }
        storm_free(memory, imc->walls[w]);
    }
    storm_free(memory, imc->walls);
    imc->walls = NULL;
}
