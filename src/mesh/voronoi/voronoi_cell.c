/* SPDX-License-Identifier: BSD-3-Clause */
/* A cell's memory, initial box, exact predicates and faces. voronoi_clip.h
 * cuts. */
#include "mesh/voronoi/voronoi_cell.h"

#include <string.h>

#include "base/port.h"

static const char cell_label[] = "mesh clipper";

enum { CELL_PLANES = 64, CELL_VERTICES = 128, CELL_WALLS = 6 };

/* A face this small, relative to the square of its distance from its two
 * generators, is below the rounding errors of its corners. */
static const double cell_min_area = 1e-13;

/* ---- memory ------------------------------------------------------------- */

static storm_status cell_resize(struct voronoi_cell *cell, size_t element_bytes,
                                size_t old, size_t wanted, void *array_inout)
{
    void *array;
    memcpy(&array, array_inout, sizeof array);
    void *bigger =
        storm_alloc(cell->memory, cell_label, wanted * element_bytes);
    if (bigger == NULL)
        return STORM_ERR_NOMEM;
    if (old > 0)
        memcpy(bigger, array, old * element_bytes);
    storm_free(cell->memory, array);
    memcpy(array_inout, &bigger, sizeof bigger);
    return STORM_OK;
}

static storm_status cell_more_planes(struct voronoi_cell *cell)
{
    size_t old = (size_t)cell->planes_capacity;
    size_t wanted = old > 0 ? 2 * old : CELL_PLANES;
    storm_status status =
        cell_resize(cell, sizeof *cell->planes, old, wanted, &cell->planes);
    if (status == STORM_OK)
        status =
            cell_resize(cell, sizeof *cell->start, old, wanted, &cell->start);
    if (status == STORM_OK)
        cell->planes_capacity = (int32_t)wanted;
    return status;
}

static storm_status cell_more_vertices(struct voronoi_cell *cell)
{
    size_t old = (size_t)cell->vertices_capacity;
    size_t wanted = old > 0 ? 2 * old : CELL_VERTICES;
    double **reals[] = {&cell->x, &cell->y, &cell->z, &cell->r2, &cell->side};
    storm_status status = STORM_OK;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (status == STORM_OK)
            status = cell_resize(cell, sizeof(double), old,
                                 wanted + VORONOI_PADDING, reals[i]);
    if (status == STORM_OK)
        status = cell_resize(cell, sizeof *cell->vertices, old, wanted,
                             &cell->vertices);
    if (status == STORM_OK)
        status = cell_resize(cell, sizeof *cell->is_sure, old, wanted,
                             &cell->is_sure);
    if (status == STORM_OK)
        status =
            cell_resize(cell, sizeof *cell->edges, old, wanted, &cell->edges);
    if (status == STORM_OK)
        status = cell_resize(cell, sizeof *cell->removed, old, wanted,
                             &cell->removed);
    if (status == STORM_OK)
        cell->vertices_capacity = (int32_t)wanted;
    return status;
}

storm_status voronoi_cell_grow(struct voronoi_cell *cell)
{
    storm_status status = STORM_OK;
    if (cell->n_planes >= cell->planes_capacity)
        status = cell_more_planes(cell);
    if (status == STORM_OK && cell->n_vertices + 2 > cell->vertices_capacity)
        status = cell_more_vertices(cell);
    return status;
}

storm_status voronoi_cell_create(struct storm_memory *memory,
                                 struct voronoi_cell *cell_out)
{
    struct voronoi_cell cell = {.memory = memory};
    storm_status status = cell_more_planes(&cell);
    if (status == STORM_OK)
        status = cell_more_vertices(&cell);
    if (status < 0) {
        voronoi_cell_destroy(&cell);
        return status;
    }
    *cell_out = cell;
    return STORM_OK;
}

void voronoi_cell_destroy(struct voronoi_cell *cell)
{
    void *blocks[] = {cell->planes,  cell->start, cell->x,       cell->y,
                      cell->z,       cell->r2,    cell->side,    cell->vertices,
                      cell->is_sure, cell->edges, cell->removed, cell->found,
                      cell->ordered};
    if (cell->memory == NULL)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        storm_free(cell->memory, blocks[i]);
    *cell = (struct voronoi_cell){.memory = NULL};
}

/* ---- planes ------------------------------------------------------------- */

/* The plane to `behind`, as seen from generator `from`. */
static struct voronoi_plane cell_plane(const struct voronoi_points *points,
                                       int32_t from, int32_t behind)
{
    struct voronoi_plane plane = {.behind = behind};
    if (behind < 0) {
        int wall = ~behind, d = wall / 2;
        double here = points->x[d][from];
        plane.n[d] = wall % 2 ? 1.0 : -1.0;
        plane.norm2 = 1.0;
        plane.d =
            wall % 2 ? points->space.hi[d] - here : here - points->space.lo[d];
        if (points->space.period[d] > 0.0) /* twice as far as a cell reaches */
            plane.d = points->space.period[d];
        return plane;
    }
    for (int d = 0; d < 3; d++)
        plane.n[d] = points->x[d][behind] - points->x[d][from];
    plane.norm2 = plane.n[0] * plane.n[0] + plane.n[1] * plane.n[1] +
                  plane.n[2] * plane.n[2];
    plane.d = 0.5 * plane.norm2;
    return plane;
}

static struct voronoi_row cell_row(const struct voronoi_space *space,
                                   const struct voronoi_plane *plane)
{
    struct voronoi_row row = {.number = 0};
    if (plane->behind < 0) {
        for (int d = 0; d < 3; d++)
            row.n[d] = (int64_t)plane->n[d];
        row.twice_d = 2 * (int64_t)(plane->d * space->per_grid);
        return row;
    }
    row.number = (uint64_t)plane->behind + 1;
    for (int d = 0; d < 3; d++) {
        row.n[d] = (int64_t)(plane->n[d] * space->per_grid);
        row.twice_d += (voronoi_int)row.n[d] * row.n[d];
    }
    return row;
}

bool voronoi_cell_beyond(const struct voronoi_cell *cell, int32_t vertex,
                         const struct voronoi_plane *plane)
{
    struct voronoi_row rows[4];
    const struct voronoi_space *space = &cell->points->space;
    for (int i = 0; i < 3; i++)
        rows[i] =
            cell_row(space, &cell->planes[cell->vertices[vertex].plane[i]]);
    rows[3] = cell_row(space, plane);
    return voronoi_exact_side(rows, (uint64_t)cell->self + 1) > 0;
}

void voronoi_meet_exactly(const struct voronoi_space *space,
                          const struct voronoi_plane *planes,
                          const int32_t which[3], double y_out[3])
{
    struct voronoi_row rows[3];
    double y[3];
    for (int i = 0; i < 3; i++)
        rows[i] = cell_row(space, &planes[which[i]]);
    bool meet = voronoi_exact_vertex(rows, y);
    STORM_ASSERT(meet);
    for (int d = 0; d < 3; d++)
        y_out[d] = meet ? y[d] * space->grid : 0.0;
}

/* ---- start -------------------------------------------------------------- */

static void cell_start_vertex(struct voronoi_cell *cell, int corner)
{
    struct voronoi_vertex *vertex = &cell->vertices[corner];
    double y[3], r2 = 0.0;
    int n_low = 0;
    for (int d = 0; d < 3; d++) {
        int up = corner >> d & 1;
        int32_t wall = 2 * d + up;
        y[d] = up ? cell->planes[wall].d : -cell->planes[wall].d;
        r2 += y[d] * y[d];
        n_low += !up;
        vertex->plane[d] = wall;
        vertex->next[d] = corner ^ 1 << d;
    }
    if (n_low % 2 == 1) { /* left-handed */
        int32_t plane = vertex->plane[1], next = vertex->next[1];
        vertex->plane[1] = vertex->plane[2];
        vertex->next[1] = vertex->next[2];
        vertex->plane[2] = plane;
        vertex->next[2] = next;
    }
    cell->x[corner] = y[0];
    cell->y[corner] = y[1];
    cell->z[corner] = y[2];
    cell->r2[corner] = r2;
    cell->is_sure[corner] = false;
    if (r2 > cell->reach2)
        cell->reach2 = r2;
}

void voronoi_cell_start(struct voronoi_cell *cell,
                        const struct voronoi_points *points, int32_t self)
{
    cell->points = points;
    cell->self = self;
    for (int d = 0; d < 3; d++)
        cell->centre[d] = points->x[d][self];
    cell->n_planes = CELL_WALLS;
    for (int32_t wall = 0; wall < CELL_WALLS; wall++)
        cell->planes[wall] = cell_plane(points, self, ~wall);
    cell->n_vertices = 8;
    cell->reach2 = 0.0;
    for (int corner = 0; corner < 8; corner++)
        cell_start_vertex(cell, corner);
}

/* ---- faces -------------------------------------------------------------- */

/* The point where three of the planes meet, as the corner of a face. */
static void cell_meet(const struct voronoi_space *space,
                      const struct voronoi_plane *planes, int32_t which[3],
                      double y_out[3])
{
    if (STORM_UNLIKELY(voronoi_meet(planes, which, y_out) != VORONOI_SURE))
        voronoi_meet_exactly(space, planes, which, y_out);
}

static void cell_make_sure(struct voronoi_cell *cell, int32_t v)
{
    int32_t which[3];
    double y[3];
    memcpy(which, cell->vertices[v].plane, sizeof which);
    cell_meet(&cell->points->space, cell->planes, which, y);
    cell->x[v] = y[0];
    cell->y[v] = y[1];
    cell->z[v] = y[2];
    cell->is_sure[v] = true;
}

void voronoi_cell_find_faces(struct voronoi_cell *cell)
{
    for (int32_t i = 0; i < cell->n_planes; i++)
        cell->start[i] = -1;
    for (int32_t v = 0; v < cell->n_vertices; v++) {
        if (STORM_UNLIKELY(!cell->is_sure[v]))
            cell_make_sure(cell, v);
        for (int k = 0; k < 3; k++)
            cell->start[cell->vertices[v].plane[k]] = v;
    }
}

static bool cell_before(int32_t a, int32_t b)
{
    return (uint32_t)a < (uint32_t)b;
}

/* A vertex relative to the generator of lower id of a face it is on: this
 * cell's, or the one behind `plane`. */
static void cell_corner(const struct voronoi_cell *cell, int32_t v,
                        int32_t plane, bool is_low, double y_out[3])
{
    const struct voronoi_points *points = cell->points;
    const struct voronoi_vertex *vertex = &cell->vertices[v];
    if (STORM_LIKELY(is_low)) {
        y_out[0] = cell->x[v];
        y_out[1] = cell->y[v];
        y_out[2] = cell->z[v];
        return;
    }
    int32_t low = cell->planes[plane].behind;
    struct voronoi_plane seen[3];
    for (int i = 0; i < 3; i++) {
        int32_t behind = cell->planes[vertex->plane[i]].behind;
        seen[i] = cell_plane(points, low, behind == low ? cell->self : behind);
    }
    int32_t which[3] = {0, 1, 2};
    cell_meet(&points->space, seen, which, y_out);
}

static int cell_slot(const struct voronoi_vertex *vertex, int32_t plane)
{
    int slot = vertex->plane[1] == plane ? 1 : 0;
    return vertex->plane[2] == plane ? 2 : slot;
}

/* The vertices of a face, in order, and how many; `first_out` is the one at
 * which the edge with the first of the neighbours begins: the same corner, from
 * whichever of the two cells. */
static int32_t cell_ring(const struct voronoi_cell *cell, int32_t plane,
                         bool forward, int32_t *ring, int32_t *first_out)
{
    static const int after[3] = {1, 2, 0}, before[3] = {2, 0, 1};
    const int *to = forward ? after : before, *by = forward ? before : after;
    int32_t v = cell->start[plane], n = 0, first = 0;
    uint32_t best = UINT32_MAX; /* as cell_before compares */
    do {
        const struct voronoi_vertex *vertex = &cell->vertices[v];
        int slot = cell_slot(vertex, plane);
        uint32_t behind =
            (uint32_t)cell->planes[vertex->plane[by[slot]]].behind;
        first = behind < best ? n : first;
        best = behind < best ? behind : best;
        ring[n++] = v;
        v = vertex->next[to[slot]];
    } while (v != cell->start[plane]);
    *first_out = first;
    return n;
}

bool voronoi_cell_face(struct voronoi_cell *cell, int32_t plane,
                       struct voronoi_face *face_out)
{
    int32_t behind = cell->planes[plane].behind;
    bool forward =
        cell_before(cell->self, behind); /* as seen from the lower one */
    struct voronoi_plane seen =
        forward ? cell->planes[plane]
                : cell_plane(cell->points, behind, cell->self);
    int32_t *ring = cell->removed; /* not in use after the cuts */
    int32_t first, n = cell_ring(cell, plane, forward, ring, &first);
    double origin[3], before[3] = {0.0}, moment[3] = {0.0}, sum = 0.0;
    cell_corner(cell, ring[first], plane, forward, origin);
    double far2 =
        origin[0] * origin[0] + origin[1] * origin[1] + origin[2] * origin[2];
    for (int32_t k = 1, at = first; k < n; k++) {
        double y[3];
        at = at + 1 < n ? at + 1 : 0;
        cell_corner(cell, ring[at], plane, forward, y);
        double r2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
        far2 = r2 > far2 ? r2 : far2;
        for (int d = 0; d < 3; d++)
            y[d] -= origin[d];
        double twice_area = seen.n[0] * (before[1] * y[2] - before[2] * y[1]) +
                            seen.n[1] * (before[2] * y[0] - before[0] * y[2]) +
                            seen.n[2] * (before[0] * y[1] - before[1] * y[0]);
        sum += twice_area;
        for (int d = 0; d < 3; d++) {
            moment[d] += twice_area * (before[d] + y[d]);
            before[d] = y[d];
        }
    }
    double area = 0.5 * sum / sqrt(seen.norm2);
    if (!(area > cell_min_area * far2))
        return false;
    face_out->area = area;
    for (int d = 0; d < 3; d++)
        face_out->centroid[d] = origin[d] + moment[d] / (3.0 * sum);
    return true;
}

int32_t voronoi_cell_face_first(const struct voronoi_cell *cell, int32_t plane)
{
    int32_t first;
    (void)cell_ring(cell, plane, true, cell->removed, &first);
    return cell->removed[first];
}

int32_t voronoi_cell_face_next(const struct voronoi_cell *cell, int32_t plane,
                               int32_t vertex)
{
    const struct voronoi_vertex *at = &cell->vertices[vertex];
    return at->next[(cell_slot(at, plane) + 1) % 3];
}

void voronoi_cell_corner(struct voronoi_cell *cell, int32_t vertex,
                         double y_out[3])
{
    cell_corner(cell, vertex, cell->vertices[vertex].plane[0], true, y_out);
}

bool voronoi_cell_before(int32_t behind, int32_t other)
{
    return cell_before(behind, other);
}
