/* SPDX-License-Identifier: BSD-3-Clause */
/* Where sources are: parts of cells and parts of walls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "physics/imc.h"
#include "physics/shape.h"

static const char source_label[] = "imc sources";

/* ---- the part of a cell that lies in a shape ------------------------------ */

/* Both are boxes: exactly. */
static double source_box_share(const struct storm_shape *shape,
                               const double centre[3], const double half[3])
{
    double share = 1.0;
    for (int d = 0; d < 3; d++) {
        double low = centre[d] - half[d], high = centre[d] + half[d];
        double inside = fmin(high, shape->hi[d]) - fmax(low, shape->lo[d]);
        double part = inside / (high - low);
        if (!(part > 1e-12)) /* it touches, but for rounding */
            return 0.0;
        share *= part < 1.0 - 1e-12 ? part : 1.0;
    }
    return share;
}

/* Share of `n` points of the cell that are in the shape. */
static double source_sample_share(const struct storm_imc *imc,
                                  const struct storm_shape *shape,
                                  storm_cell_idx cell, uint64_t n)
{
    struct storm_packet_id key = {.hi = 1,
                                  .lo = storm_mesh_cell_id(imc->mesh, cell)};
    uint64_t inside = 0;
    for (uint64_t i = 0; i < n; i++) {
        double u[4], point[3];
        storm_random(0, STORM_STREAM_MESH, key, i, u);
        storm_mesh_sample(imc->mesh, cell, u, point);
        inside += storm_shape_contains(shape, point);
    }
    return (double)inside / (double)n;
}

/* May the shape and the cell's bounding box have points in common? */
static bool source_may_meet(const struct storm_imc *imc,
                            const struct storm_shape *shape,
                            storm_cell_idx cell)
{
    double lo[3], hi[3];
    storm_shape_bounds(shape, lo, hi);
    for (int d = 0; d < 3; d++) {
        size_t k = 3 * (size_t)cell + (size_t)d;
        /* Extents of cells that are no boxes come from samples. */
        double reach = (imc->is_box[cell] ? 1.0 : 1.5) * imc->half[k];
        if (imc->centre[k] + reach < lo[d] || imc->centre[k] - reach > hi[d])
            return false;
    }
    return true;
}

static double source_share(const struct storm_imc *imc,
                           const struct storm_shape *shape, storm_cell_idx cell)
{
    enum { FEW = 64, MANY = 16384 };
    size_t k = 3 * (size_t)cell;
    if (imc->track.cells[cell].outside)
        return 0.0;
    if (shape->kind == STORM_SHAPE_ALL)
        return 1.0;
    if (!source_may_meet(imc, shape, cell))
        return 0.0;
    if (shape->kind == STORM_SHAPE_BOX && imc->is_box[cell])
        return source_box_share(shape, &imc->centre[k], &imc->half[k]);
    double share = source_sample_share(imc, shape, cell, FEW);
    if (share == 1.0)
        return 1.0;
    return source_sample_share(imc, shape, cell, MANY);
}

/* ---- the cells of a source ------------------------------------------------ */

/* Volumes become whole numbers, this for the largest: their sums over cells
 * do not depend on who adds them. */
static const double source_scale = 0x1p36;

static storm_status source_reduce(struct storm_imc *imc,
                                  struct imc_source *source,
                                  const double *volume)
{
    struct storm_ledger sum = {.n_since_carry = 0};
    double most = 0.0;
    uint64_t mine = 0, before = 0;
    for (size_t i = 0; i < source->n; i++) {
        storm_ledger_add(&sum, volume[i]);
        most = fmax(most, volume[i]);
    }
    storm_ledger_carry(&sum);
    storm_status status =
        storm_context_reduce(imc->context, &sum,
                             (int)(sizeof sum / sizeof(int64_t)), MPI_INT64_T,
                             MPI_SUM);
    if (status == STORM_OK)
        status =
            storm_context_reduce(imc->context, &most, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    for (size_t i = 0; i < source->n; i++) {
        source->share[i] = (uint64_t)(volume[i] / most * source_scale) + 1;
        mine += source->share[i];
    }
    MPI_Request request;
    if (MPI_Iexscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM,
                    storm_context_comm(imc->context), &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    status = storm_context_wait(imc->context, &request);
    if (imc->env->rank == 0)
        before = 0;
    source->total = mine;
    if (status == STORM_OK)
        status = storm_context_reduce(imc->context, &source->total, 1,
                                      MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    for (size_t i = 0; i < source->n; i++) { /* prefix sums, in place */
        uint64_t share = source->share[i];
        source->share[i] = before;
        before += share;
    }
    source->share[source->n] = before;
    source->volume_cm3 = storm_ledger_value(&sum);
    return STORM_OK;
}

static storm_status source_open(struct storm_imc *imc, size_t i)
{
    struct storm_memory *memory = imc->env->memory;
    const struct storm_shape *shape = &imc->problem->sources[i].shape;
    struct imc_source *source = &imc->sources[i];
    size_t most = (size_t)imc->n_cells + 1;
    double *volume = malloc(most * sizeof *volume);
    source->cells =
        storm_alloc(memory, source_label, most * sizeof *source->cells);
    source->share =
        storm_alloc(memory, source_label, most * sizeof *source->share);
    source->whole =
        storm_alloc(memory, source_label, most * sizeof *source->whole);
    bool ok = volume != NULL && source->cells != NULL &&
              source->share != NULL && source->whole != NULL;
    storm_status status =
        storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        for (storm_cell_idx c = 0; c < imc->n_cells; c++) {
            double share = source_share(imc, shape, c);
            if (!(share > 0.0))
                continue;
            source->cells[source->n] = c;
            source->whole[source->n] = share == 1.0;
            volume[source->n++] = share * imc->volume[c];
        }
        status = source_reduce(imc, source, volume);
    }
    if (status == STORM_OK && source->total == 0 && imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "source %zu lies in no cell: it does nothing", i);
    free(volume);
    return status;
}

/* ---- parts of walls ------------------------------------------------------- */

const struct storm_edge *imc_edge_at(const struct storm_problem *problem,
                                     int wall, const double point_cm[3])
{
    const struct storm_edges *edges = &problem->walls[wall];
    for (size_t i = edges->n; i > 0; i--)
        if (storm_shape_contains(&edges->edge[i - 1].part, point_cm))
            return &edges->edge[i - 1];
    return NULL;
}

bool imc_wall_reflects(const struct storm_problem *problem, int wall,
                       const double point_cm[3])
{
    const struct storm_edge *edge = imc_edge_at(problem, wall, point_cm);
    return edge != NULL && edge->kind == STORM_EDGE_REFLECT;
}

/* A rectangle on a wall, in its two directions. */
struct source_patch {
    double lo[2], hi[2];
};

struct source_wall {
    const struct storm_problem *problem;
    const struct storm_edge *edge;
    int wall;
};

static bool source_is_there(const struct source_wall *w, double x, double y)
{
    int axis = w->wall / 2;
    double point[3];
    point[axis] =
        w->wall % 2 ? w->problem->hi_cm[axis] : w->problem->lo_cm[axis];
    point[(axis + 1) % 3] = x;
    point[(axis + 2) % 3] = y;
    return imc_edge_at(w->problem, w->wall, point) == w->edge;
}

/* Halves a patch until its corners and its middle agree. */
static double source_patch_area(const struct source_wall *w,
                                const struct source_patch *p, int depth)
{
    double dx = p->hi[0] - p->lo[0], dy = p->hi[1] - p->lo[1];
    double mx = p->lo[0] + 0.5 * dx, my = p->lo[1] + 0.5 * dy;
    /* A little inside: edges belong to the patches on both sides. */
    double ex = 1e-9 * dx, ey = 1e-9 * dy;
    int n = source_is_there(w, mx, my) +
            source_is_there(w, p->lo[0] + ex, p->lo[1] + ey) +
            source_is_there(w, p->hi[0] - ex, p->lo[1] + ey) +
            source_is_there(w, p->lo[0] + ex, p->hi[1] - ey) +
            source_is_there(w, p->hi[0] - ex, p->hi[1] - ey);
    enum { SURE = 5, DEEPEST = 13 };
    if (depth >= SURE && (n == 0 || n == 5))
        return n == 5 ? dx * dy : 0.0;
    if (depth >= DEEPEST)
        return dx * dy * n / 5.0;
    double area = 0.0;
    for (int k = 0; k < 4; k++) {
        struct source_patch q = {
            {k & 1 ? mx : p->lo[0], k & 2 ? my : p->lo[1]},
            {k & 1 ? p->hi[0] : mx, k & 2 ? p->hi[1] : my}};
        area += source_patch_area(w, &q, depth + 1);
    }
    return area;
}

static int source_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sides of all boxes cut a wall into patches; if there are only boxes,
 * each is all in or all out. */
static storm_status source_edge_area(const struct source_wall *w,
                                     double *area_out)
{
    const struct storm_edges *edges = &w->problem->walls[w->wall];
    int axis = w->wall / 2;
    bool boxes = true;
    size_t n[2] = {0, 0};
    double *cuts[2];
    for (int k = 0; k < 2; k++) {
        int d = (axis + 1 + k) % 3;
        double lo = w->problem->lo_cm[d], hi = w->problem->hi_cm[d];
        cuts[k] = malloc((2 * edges->n + 2) * sizeof(double));
        if (cuts[k] == NULL) {
            free(k == 1 ? cuts[0] : NULL);
            return STORM_ERR_NOMEM;
        }
        cuts[k][n[k]++] = lo;
        cuts[k][n[k]++] = hi;
        for (size_t i = 0; i < edges->n; i++) {
            const struct storm_shape *s = &edges->edge[i].part;
            boxes = boxes &&
                    (s->kind == STORM_SHAPE_BOX || s->kind == STORM_SHAPE_ALL);
            if (s->kind != STORM_SHAPE_BOX)
                continue;
            cuts[k][n[k]++] = fmin(fmax(s->lo[d], lo), hi);
            cuts[k][n[k]++] = fmin(fmax(s->hi[d], lo), hi);
        }
        qsort(cuts[k], n[k], sizeof(double), source_compare);
    }
    double area = 0.0;
    for (size_t i = 0; i + 1 < n[0]; i++)
        for (size_t j = 0; j + 1 < n[1]; j++) {
            struct source_patch p = {{cuts[0][i], cuts[1][j]},
                                     {cuts[0][i + 1], cuts[1][j + 1]}};
            double dx = p.hi[0] - p.lo[0], dy = p.hi[1] - p.lo[1];
            if (!(dx > 0.0) || !(dy > 0.0))
                continue;
            if (!boxes)
                area += source_patch_area(w, &p, 0);
            else if (source_is_there(w, p.lo[0] + 0.5 * dx, p.lo[1] + 0.5 * dy))
                area += dx * dy;
        }
    free(cuts[0]);
    free(cuts[1]);
    *area_out = area;
    return STORM_OK;
}

static storm_status source_walls(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (int wall = 0; wall < STORM_N_WALLS; wall++) {
        const struct storm_edges *edges = &imc->problem->walls[wall];
        imc->wall_area[wall] = storm_alloc(imc->env->memory, source_label,
                                           (edges->n + 1) * sizeof(double));
        if (imc->wall_area[wall] == NULL)
            return STORM_ERR_NOMEM;
        for (size_t i = 0; i < edges->n && status == STORM_OK; i++) {
            struct source_wall w = {imc->problem, &edges->edge[i], wall};
            if (edges->edge[i].kind == STORM_EDGE_BLACKBODY)
                status = source_edge_area(&w, &imc->wall_area[wall][i]);
        }
    }
    return status;
}

/* ---- all ------------------------------------------------------------------ */

storm_status imc_source_open(struct storm_imc *imc)
{
    size_t n = imc->problem->n_sources;
    imc->sources = storm_alloc(imc->env->memory, source_label,
                               (n + 1) * sizeof *imc->sources);
    storm_status status =
        imc->sources != NULL ? source_walls(imc) : STORM_ERR_NOMEM;
    status = storm_context_agree(imc->context, status);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = source_open(imc, i);
    return status;
}

void imc_source_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    for (size_t i = 0; imc->sources != NULL && i < imc->problem->n_sources;
         i++) {
        storm_free(memory, imc->sources[i].cells);
        storm_free(memory, imc->sources[i].share);
        storm_free(memory, imc->sources[i].whole);
    }
    storm_free(memory, imc->sources);
    imc->sources = NULL;
    for (int wall = 0; wall < STORM_N_WALLS; wall++) {
        storm_free(memory, imc->wall_area[wall]);
        imc->wall_area[wall] = NULL;
    }
}
