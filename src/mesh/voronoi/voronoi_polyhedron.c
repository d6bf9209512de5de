/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The polyhedra of Voronoi cells, built again from the generators.
 *
 *   POLYHEDRON-1  Same bits and same order on every rank, in every partition:
 *                 faces in order of the neighbours' ids, walls last; corners in
 *                 the order in which the faces name them.
 *   POLYHEDRON-2  The surface is closed: every edge is in two faces, once in
 *                 each direction. Corners go anticlockwise as seen from
 *                 outside.
 *   POLYHEDRON-3  Corners closer than rounding can tell apart are one. Faces
 *                 that have fewer than three corners then are left out.
 *   POLYHEDRON-4  Corners on a wall are on it exactly.
 */
#include <math.h>
#include <string.h>

#include "mesh/voronoi/voronoi_mesh.h"

static const char polyhedron_label[] = "mesh polyhedra";

/* Corners are accurate to 2^-39 of the cell's reach (voronoi_cell.c); closer to
 * each other than this, they may be the same. */
static const double polyhedron_same = 0x1p-36;

struct voronoi_polyhedra {
    struct storm_polyhedra base;
    struct voronoi_cell cell;

    /* The present polyhedron. */
    double (*corners)[3]; /* cm */
    size_t n_corners;
    int32_t *faces; /* each: how many corners, then their numbers */
    size_t n_faces, n_words;

    int32_t *number; /* by vertex: its corner; -1: none yet */
    int32_t *planes; /* with a face, in order */
    size_t corners_capacity, words_capacity, number_capacity, planes_capacity;
};

/* ---- memory ------------------------------------------------------------- */

static void polyhedra_free(struct storm_memory *memory,
                           struct voronoi_polyhedra *p)
{
    void *blocks[] = {p->corners, p->faces, p->number, p->planes};
    voronoi_cell_destroy(&p->cell);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        storm_free(memory, blocks[i]);
    storm_free(memory, p);
}

static storm_status polyhedra_open(const struct storm_mesh *mesh,
                                   struct storm_polyhedra **polyhedra_out)
{
    struct storm_memory *memory = mesh->env->memory;
    struct voronoi_polyhedra *p =
        storm_alloc(memory, polyhedron_label, sizeof *p);
    if (p == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = voronoi_cell_create(memory, &p->cell);
    if (status < 0) {
        polyhedra_free(memory, p);
        return status;
    }
    *polyhedra_out = &p->base;
    return STORM_OK;
}

static void polyhedra_close(struct storm_polyhedra *polyhedra)
{
    polyhedra_free(polyhedra->mesh->env->memory,
                   (struct voronoi_polyhedra *)polyhedra);
}

static storm_status polyhedron_reserve(struct voronoi_polyhedra *p, size_t n,
                                       int32_t **array, size_t *capacity)
{
    void *block = *array;
    storm_status status =
        storm_reserve(p->base.mesh->env->memory, polyhedron_label,
                      sizeof **array, n, &block, capacity);
    *array = block;
    return status;
}

/* Memory for all that the cell can need: each vertex is in three faces. */
static storm_status polyhedron_make_room(struct voronoi_polyhedra *p)
{
    size_t n_vertices = (size_t)p->cell.n_vertices;
    size_t n_planes = (size_t)p->cell.n_planes;
    void *corners = p->corners;
    storm_status status =
        storm_reserve(p->base.mesh->env->memory, polyhedron_label,
                      sizeof *p->corners, n_vertices, &corners,
                      &p->corners_capacity);
    p->corners = corners;
    if (status >= 0)
        status = polyhedron_reserve(p, n_planes + 3 * n_vertices, &p->faces,
                                    &p->words_capacity);
    if (status >= 0)
        status =
            polyhedron_reserve(p, n_vertices, &p->number, &p->number_capacity);
    if (status >= 0)
        status =
            polyhedron_reserve(p, n_planes, &p->planes, &p->planes_capacity);
    return status;
}

/* The planes that have a face, in the order of POLYHEDRON-1. */
static size_t polyhedron_order(struct voronoi_polyhedra *p)
{
    const struct voronoi_cell *cell = &p->cell;
    size_t n = 0;
    for (int32_t i = 0; i < cell->n_planes; i++) {
        if (cell->start[i] < 0)
            continue;
        size_t k = n++;
        for (; k > 0 &&
               voronoi_cell_before(cell->planes[i].behind,
                                   cell->planes[p->planes[k - 1]].behind);
             k--)
            p->planes[k] = p->planes[k - 1];
        p->planes[k] = i;
    }
    return n;
}

/* The coordinates of a vertex; POLYHEDRON-4. */
static void polyhedron_place(struct voronoi_polyhedra *p, int32_t vertex,
                             double x_out[3])
{
    const struct voronoi_domain *domain =
        &voronoi_part_of(p->base.mesh)->domain;
    voronoi_cell_corner(&p->cell, vertex, x_out);
    for (int d = 0; d < 3; d++)
        x_out[d] += p->cell.centre[d];
    for (int k = 0; k < 3; k++) {
        int32_t behind =
            p->cell.planes[p->cell.vertices[vertex].plane[k]].behind;
        if (behind < 0)
            x_out[~behind / 2] = ~behind % 2 ? domain->hi_cm[~behind / 2]
                                             : domain->lo_cm[~behind / 2];
    }
}

/* The number of a vertex's corner; that of an earlier one at the same place. */
static int32_t polyhedron_corner(struct voronoi_polyhedra *p, int32_t vertex,
                                 double same2)
{
    if (p->number[vertex] >= 0)
        return p->number[vertex];
    double x[3];
    size_t i = 0;
    polyhedron_place(p, vertex, x);
    for (; i < p->n_corners; i++) {
        double a = p->corners[i][0] - x[0], b = p->corners[i][1] - x[1],
               c = p->corners[i][2] - x[2];
        if (a * a + b * b + c * c <= same2)
            break;
    }
    if (i == p->n_corners)
        memcpy(p->corners[p->n_corners++], x, sizeof x);
    p->number[vertex] = (int32_t)i;
    return p->number[vertex];
}

/* Adds a corner to a face of n; drops repetitions: the same corner again, or an
 * edge there and back. Returns the new number. */
static int32_t polyhedron_append(int32_t *face, int32_t n, int32_t corner)
{
    if (n > 0 && face[n - 1] == corner)
        return n;
    if (n > 1 && face[n - 2] == corner)
        return n - 1;
    face[n] = corner;
    return n + 1;
}

/* The same where the end meets the beginning. *begin_out is the first that
 * stays. */
static int32_t polyhedron_close_ring(const int32_t *face, int32_t n,
                                     int32_t *begin_out)
{
    int32_t begin = 0;
    while (n - begin > 1) {
        if (face[begin] == face[n - 1]) {
            n--;
        } else if (n - begin > 2 && face[begin] == face[n - 2]) {
            n -= 2;
        } else if (n - begin > 2 && face[begin + 1] == face[n - 1]) {
            begin++;
            n--;
        } else {
            break;
        }
    }
    *begin_out = begin;
    return n - begin;
}

/* POLYHEDRON-2, POLYHEDRON-3 */
static void polyhedron_face(struct voronoi_polyhedra *p, int32_t plane,
                            double same2)
{
    int32_t *face = &p->faces[p->n_words + 1], n = 0, begin;
    int32_t first = voronoi_cell_face_first(&p->cell, plane), v = first;
    do {
        n = polyhedron_append(face, n, polyhedron_corner(p, v, same2));
        v = voronoi_cell_face_next(&p->cell, plane, v);
    } while (v != first);
    n = polyhedron_close_ring(face, n, &begin);
    if (n < 3)
        return;
    memmove(face, face + begin, (size_t)n * sizeof *face);
    face[-1] = n;
    p->n_words += (size_t)n + 1;
    p->n_faces++;
}

static storm_status polyhedra_build(struct storm_polyhedra *polyhedra,
                                    storm_cell_idx cell,
                                    struct storm_polyhedron *polyhedron_out)
{
    struct voronoi_polyhedra *p = (struct voronoi_polyhedra *)polyhedra;
    const struct storm_mesh *mesh = polyhedra->mesh;
    const struct voronoi_points *points = &voronoi_part_of(mesh)->points;
    const struct voronoi_hints hints = {.n_neighbours = 0};
    storm_status status =
        voronoi_of(mesh)->build_cell(&p->cell, points, points->at[cell],
                                     &hints);
    if (status >= 0)
        status = polyhedron_make_room(p);
    if (status < 0)
        return status;
    double same2 = polyhedron_same * polyhedron_same * p->cell.reach2;
    voronoi_cell_find_faces(&p->cell);
    p->n_corners = p->n_faces = p->n_words = 0;
    for (int32_t v = 0; v < p->cell.n_vertices; v++)
        p->number[v] = -1;
    size_t n_planes = polyhedron_order(p);
    for (size_t i = 0; i < n_planes; i++)
        polyhedron_face(p, p->planes[i], same2);

    polyhedron_out->n_corners = p->n_corners;
    polyhedron_out->corners_cm = (const double(*)[3])p->corners;
    polyhedron_out->n_faces = p->n_faces;
    polyhedron_out->faces = p->faces;
    polyhedron_out->n_words = p->n_words;
    return STORM_OK;
}

static storm_status polyhedra_generator(const struct storm_mesh *mesh,
                                        storm_cell_idx cell,
                                        double generator_cm_out[3])
{
    memcpy(generator_cm_out, voronoi_part_of(mesh)->heads[cell].generator,
           3 * sizeof *generator_cm_out);
    return STORM_OK;
}

static void polyhedra_unwrap(const struct storm_mesh *mesh, storm_cell_idx cell,
                             double x_cm_inout[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    voronoi_unwrap(&part->domain.space, part->heads[cell].generator,
                   x_cm_inout);
}

const struct storm_mesh_shape voronoi_shape = {
    .boxes = false,
    .generator = polyhedra_generator,
    .unwrap = polyhedra_unwrap,
    .open = polyhedra_open,
    .build = polyhedra_build,
    .close = polyhedra_close,
};
