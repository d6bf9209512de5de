/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's cells: built in rounds until no unknown generator can matter.
 *
 * A cell is done when everything within its radius is known: because it has
 * been asked for, or because no other rank has anything there. Its faces are
 * listed at once, each by the cell of lower order (those to ghosts and walls by
 * the local cell): the other cell has the same face (VCELL-1, VCELL-2).
 */
#include <math.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/port.h"
#include "mesh/voronoi/voronoi_build.h"
#include "mesh/voronoi/voronoi_ghost.h"

static const char build_label[] = "mesh cells";

/* Radius of the first ball of a cell whose radius is not known, relative to the
 * diagonal of the box of its leaf of eight generators. */
static const double build_first_guess = 1.2;

/* The same if the radius was known before the generators moved, relative to
 * that. */
static const double build_warm_guess = 1.1;

/* The build in progress. */
struct build {
    const struct storm_mesh *mesh;
    bool alone; /* one rank without images: there are no ghosts */
    struct voronoi_part *part;
    struct voronoi_cell cell;
    struct voronoi_ghosts ghosts;
    struct voronoi_links links;
    double *covered;            /* by cell: all generators within this radius
                                   are known */
    struct voronoi_ball *balls; /* to ask about in the next round */
    int32_t *open;              /* cells that are not done */
    size_t n_open;

    /* What finished cells know about unfinished ones (by VCELL-1 it is right).
     * By cell, a list of neighbours; see struct voronoi_hints. */
    int32_t *first_hint;      /* -1: none */
    struct build_hint *hints; /* in use or free */
    int32_t free_hint, n_hints;
    size_t hints_capacity;
    int32_t *neighbours; /* of the present cell, as known points */
    size_t neighbours_capacity;
    uint8_t *done; /* by cell */
    uint8_t *done_points, *done_leaves;
};

struct build_hint {
    int32_t neighbour; /* a cell of this rank */
    int32_t next;
};

static storm_status build_reserve(struct build *b)
{
    struct storm_memory *memory = b->mesh->env->memory;
    struct voronoi_part *part = b->part;
    size_t n = (size_t)part->base.n_cells + 1;
    part->radius = storm_alloc(memory, build_label, n * sizeof(double));
    size_t n_asked = b->alone ? 1 : n;
    b->covered = storm_alloc(memory, build_label, n_asked * sizeof(double));
    b->balls = storm_alloc(memory, build_label, n_asked * sizeof *b->balls);
    b->open = storm_alloc(memory, build_label, n * sizeof *b->open);
    part->first_key =
        storm_alloc(memory, build_label,
                    (size_t)b->mesh->env->size * sizeof *part->first_key);
    b->done = storm_alloc(memory, build_label, n);
    b->first_hint = storm_alloc(memory, build_label, n * sizeof(int32_t));
    if (part->radius == NULL || b->covered == NULL || b->balls == NULL ||
        b->open == NULL || b->done == NULL || b->first_hint == NULL ||
        part->first_key == NULL)
        return STORM_ERR_NOMEM;
    b->free_hint = -1;
    for (size_t i = 0; i < n; i++)
        b->first_hint[i] = -1;
    storm_status status = voronoi_links_reserve(memory, &b->links, n);
    return status < 0 ? status : voronoi_cell_create(memory, &b->cell);
}

/* All but the links. */
static void build_release(struct build *b)
{
    struct storm_memory *memory = b->mesh->env->memory;
    void *blocks[] = {b->open,       b->balls,       b->covered,
                      b->done,       b->first_hint,  b->hints,
                      b->neighbours, b->done_points, b->done_leaves};
    voronoi_ghosts_close(&b->ghosts);
    voronoi_cell_destroy(&b->cell);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        storm_free(memory, blocks[i]);
}

/* ---- hints -------------------------------------------------------------- */

static void build_mark(struct build *b, int32_t own)
{
    int32_t at = b->part->points.at[own];
    int32_t leaf = at / VORONOI_FAN, group = leaf / VORONOI_FAN;
    b->done_points[leaf] |= (uint8_t)(1u << at % VORONOI_FAN);
    if (b->done_points[leaf] == 0xff)
        b->done_leaves[group] |= (uint8_t)(1u << leaf % VORONOI_FAN);
}

/* After the indices of known points have changed. */
static storm_status build_mark_all(struct build *b)
{
    struct storm_memory *memory = b->mesh->env->memory;
    size_t n_leaves = (size_t)b->part->points.n / VORONOI_FAN + 1;
    storm_free(memory, b->done_points);
    storm_free(memory, b->done_leaves);
    b->done_points = storm_alloc(memory, build_label, n_leaves);
    b->done_leaves =
        storm_alloc(memory, build_label, n_leaves / VORONOI_FAN + 1);
    if (b->done_points == NULL || b->done_leaves == NULL)
        return STORM_ERR_NOMEM;
    for (int32_t i = 0; i < b->part->base.n_cells; i++)
        if (b->done[i])
            build_mark(b, i);
    return STORM_OK;
}

static storm_status build_add_hint(struct build *b, int32_t cell,
                                   int32_t neighbour)
{
    int32_t at = b->free_hint;
    if (at >= 0) {
        b->free_hint = b->hints[at].next;
    } else {
        void *array = b->hints;
        storm_status status =
            storm_reserve(b->mesh->env->memory, build_label, sizeof *b->hints,
                          (size_t)b->n_hints + 1, &array, &b->hints_capacity);
        if (status < 0)
            return status;
        b->hints = array;
        at = b->n_hints++;
    }
    b->hints[at] = (struct build_hint){.neighbour = neighbour,
                                       .next = b->first_hint[cell]};
    b->first_hint[cell] = at;
    return STORM_OK;
}

static void build_free_hints(struct build *b, int32_t cell)
{
    while (b->first_hint[cell] >= 0) {
        int32_t at = b->first_hint[cell];
        b->first_hint[cell] = b->hints[at].next;
        b->hints[at].next = b->free_hint;
        b->free_hint = at;
    }
}

/* The neighbours of a cell among those that are done. */
static storm_status build_hints(struct build *b, int32_t cell,
                                struct voronoi_hints *hints_out)
{
    int32_t n = 0;
    for (int32_t at = b->first_hint[cell]; at >= 0; at = b->hints[at].next) {
        void *array = b->neighbours;
        storm_status status =
            storm_reserve(b->mesh->env->memory, build_label,
                          sizeof *b->neighbours, (size_t)n + 1, &array,
                          &b->neighbours_capacity);
        if (status < 0)
            return status;
        b->neighbours = array;
        b->neighbours[n++] = b->part->points.at[b->hints[at].neighbour];
    }
    *hints_out = (struct voronoi_hints){.done_points = b->done_points,
                                        .done_leaves = b->done_leaves,
                                        .neighbours = b->neighbours,
                                        .n_neighbours = n};
    return STORM_OK;
}

/* ---- cells -------------------------------------------------------------- */

/* This rank's own generators, and their tags. */
static storm_status build_own(struct build *b, const struct voronoi_plan *plan)
{
    struct storm_memory *memory = b->mesh->env->memory;
    struct voronoi_part *part = b->part;
    struct voronoi_points *points = &part->points;
    size_t n = plan->records->n;
    points->space = plan->domain->space;
    storm_status status = voronoi_points_alloc(points, memory, n, 0);
    if (status >= 0 && plan->has_tags) {
        part->base.tags =
            storm_alloc(memory, build_label, (n + 1) * sizeof *part->base.tags);
        status = part->base.tags != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        const struct voronoi_record *record = &plan->records->array[i];
        points->order[i] = record->order;
        points->cell[i] = points->at[i] = (int32_t)i;
        for (int d = 0; d < 3; d++)
            points->x[d][i] = record->x[d];
        part->radius[i] = record->radius;
        if (plan->has_tags)
            part->base.tags[i] = record->tag;
    }
    if (!plan->keep_records) {
        storm_free(memory, plan->records->array);
        *plan->records = (struct voronoi_records){.n = 0};
    }
    voronoi_points_index(points);
    return STORM_OK;
}

/* The diagonal of the box of a cell's leaf. */
static double build_leaf(const struct voronoi_points *points, int32_t cell)
{
    double lo[3], hi[3], sum = 0.0;
    int32_t begin = cell / VORONOI_FAN * VORONOI_FAN;
    int32_t end = begin + VORONOI_FAN;
    if (end > points->n_own) { /* the last leaf: a full one */
        end = points->n_own;
        begin = end > VORONOI_FAN ? end - VORONOI_FAN : 0;
    }
    voronoi_points_box(points, begin, end, lo, hi);
    for (int d = 0; d < 3; d++)
        sum += (hi[d] - lo[d]) * (hi[d] - lo[d]);
    if (sum > 0.0)
        return sqrt(sum);
    for (int d = 0; d < 3; d++) { /* a single generator: a part of the box */
        double width = points->space.hi[d] - points->space.lo[d];
        sum += width * width;
    }
    return 0.1 * sqrt(sum);
}

static struct voronoi_ball build_ball(const struct build *b, int32_t cell,
                                      double radius)
{
    const struct voronoi_points *points = &b->part->points;
    int32_t at = points->at[cell];
    return (struct voronoi_ball){
        .x = {points->x[0][at], points->x[1][at], points->x[2][at]},
        .radius = radius};
}

/* The first requests: for cells that probably need them. */
static size_t build_first(struct build *b)
{
    size_t n = 0;
    int32_t n_cells = b->part->base.n_cells;
    b->n_open = (size_t)n_cells;
    for (int32_t i = 0; i < n_cells; i++) {
        b->open[i] = i;
        if (b->alone)
            continue;
        double last = b->part->radius[i];
        double radius =
            last > 0.0 ? build_warm_guess * last
                       : build_first_guess * build_leaf(&b->part->points, i);
        struct voronoi_ball ball = build_ball(b, i, radius);
        b->covered[i] = radius;
        if (voronoi_ghosts_touch(&b->ghosts, &ball))
            b->balls[n++] = ball;
    }
    return n;
}

/* What is behind a face, for the list. */
static int64_t build_link(const struct voronoi_points *points, int32_t behind)
{
    if (behind < 0)
        return voronoi_link_wall(~behind);
    if (points->cell[behind] >= 0)
        return points->cell[behind];
    return voronoi_link_ghost(points->order[behind],
                              voronoi_points_image(points, behind));
}

/* Lists a face of the cell that has just been finished, or the neighbour alone
 * if the face is too small. */
static storm_status build_face(struct build *b, int32_t own, int32_t plane)
{
    struct storm_memory *memory = b->mesh->env->memory;
    struct voronoi_cell *cell = &b->cell;
    struct voronoi_face face;
    int32_t behind = cell->planes[plane].behind;
    STORM_ASSERT(behind >= 0 ||
                 !(cell->points->space.period[~behind / 2] > 0.0));
    int64_t link = build_link(cell->points, behind);
    if (voronoi_cell_face(cell, plane, &face))
        return voronoi_links_add(memory, &b->links, own, link, &face);
    return behind < 0 ? STORM_OK
                      : voronoi_links_add_bare(memory, &b->links, own, link);
}

static storm_status build_faces(struct build *b, int32_t own)
{
    struct voronoi_cell *cell = &b->cell;
    storm_status status = STORM_OK;
    voronoi_cell_find_faces(cell);
    for (int32_t p = 0; p < cell->n_planes && status >= 0; p++) {
        if (cell->start[p] < 0)
            continue;
        int32_t behind = cell->planes[p].behind;
        int32_t other = behind >= 0 ? cell->points->cell[behind] : -1;
        if (other >= 0 && !b->done[other])
            status = build_add_hint(b, other, own);
        if (status >= 0 && (other < 0 || other > own))
            status = build_face(b, own, p);
    }
    return status;
}

/* One cell: finished, or with a ball to request. */
static storm_status build_cell(struct build *b, int32_t own, size_t *n_balls)
{
    struct voronoi_part *part = b->part;
    struct voronoi_hints hints;
    storm_status status = build_hints(b, own, &hints);
    if (status < 0)
        return status;
    status = voronoi_of(b->mesh)->build_cell(&b->cell, &part->points,
                                             part->points.at[own], &hints);
    if (status < 0)
        return status;
    part->cost.n_builds++;
    double radius = voronoi_cell_radius(&b->cell);
    struct voronoi_ball ball = build_ball(b, own, radius);
    if (b->alone || radius <= b->covered[own] ||
        !voronoi_ghosts_touch(&b->ghosts, &ball)) {
        part->radius[own] = radius;
        b->done[own] = 1;
        build_mark(b, own);
        build_free_hints(b, own);
        return build_faces(b, own);
    }
    /* A cell whose neighbours are missing is far too large: limit the
     * growth. */
    ball.radius = fmin(radius, 2.0 * b->covered[own]);
    b->covered[own] = ball.radius;
    b->balls[(*n_balls)++] = ball;
    b->open[*n_balls - 1] = own;
    return STORM_OK;
}

/* Rounds until all ranks are done. */
static storm_status build_rounds(struct build *b)
{
    struct voronoi_part *part = b->part;
    const struct storm_context *context = b->mesh->context;
    storm_status status = STORM_OK;
    size_t n_balls = build_first(b);
    for (;;) {
        if (!b->alone)
            status = voronoi_ghosts_ask(&b->ghosts, status, b->balls, n_balls,
                                        &part->points);
        part->cost.n_rounds++;
        n_balls = 0;
        if (status >= 0)
            status = build_mark_all(b);
        for (size_t i = 0; i < b->n_open && status >= 0; i++)
            status = build_cell(b, b->open[i], &n_balls);
        b->n_open = n_balls;
        if (b->alone)
            return status;
        status = storm_context_agree(context, status);
        if (status < 0)
            return status;
        uint64_t n_left = b->n_open;
        status =
            storm_context_reduce(context, &n_left, 1, MPI_UINT64_T, MPI_SUM);
        if (status < 0 || n_left == 0)
            return status;
    }
}

storm_status voronoi_build(const struct storm_mesh *mesh,
                           const struct voronoi_plan *plan,
                           struct voronoi_part **part_out)
{
    struct storm_memory *memory = mesh->env->memory;
    struct build b = {.mesh = mesh,
                      .alone =
                          mesh->env->size == 1 &&
                          !voronoi_space_is_periodic(&plan->domain->space)};
    b.part = storm_alloc(memory, build_label, sizeof *b.part);
    storm_status status = b.part != NULL ? STORM_OK : STORM_ERR_NOMEM;
    if (status >= 0) {
        b.part->base.first = plan->first;
        b.part->base.n_cells = (storm_cell_idx)plan->records->n;
        b.part->domain = *plan->domain;
        status = build_reserve(&b);
        if (status >= 0)
            status = build_own(&b, plan);
    }
    status = storm_context_agree(mesh->context, status);
    if (status >= 0 && !mesh->is_hosts)
        status = voronoi_find_keys(mesh, b.part);
    if (status >= 0)
        status = voronoi_ghosts_open(&b.ghosts, mesh->context, b.part);
    if (status >= 0)
        status = build_rounds(&b);
    if (b.part != NULL)
        b.part->cost.n_ghosts = b.ghosts.n;
    build_release(&b); /* before the layout, which needs as much memory */
    if (status >= 0)
        status = voronoi_lay_out(mesh, &b.links, b.part);
    voronoi_links_free(memory, &b.links);
    status = storm_context_agree(mesh->context, status);
    if (status < 0) {
        voronoi_free_part(mesh, b.part != NULL ? &b.part->base : NULL);
        return status;
    }
    *part_out = b.part;
    return STORM_OK;
}
