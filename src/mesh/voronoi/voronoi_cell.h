/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One Voronoi cell: the box, cut by the bisectors to other generators until
 * no further one can reach it. In periodic directions it begins with one period
 * to both sides of its generator, and the bisectors to the images of that cut
 * off at least half of it.
 *
 *   VCELL-1  Which planes bound the cell and which of them meet in each vertex
 *            is exact (voronoi_exact.h); it does not depend on the order of
 *            cutting or on which far generators were tested.
 *   VCELL-2  The geometry of a face is a function of the generators around it,
 *            in their order, relative to the first of its two, alone. Both its
 *            cells, on whichever rank, get the same bits, and both drop it if
 *            it is too small. Images are ordered by generator, then by shift:
 *            so they are in the same order as seen from any image, and all
 *            images of a face have the same bits.
 *   VCELL-3  The cell is that among the known generators. It is the true one if
 *            they are all that lie within voronoi_cell_radius.
 *   VCELL-4  Arrays grow as needed; a cell may have any number of faces.
 *
 * A vertex is known by its three planes, in the order that makes the
 * determinant of their normals positive, and by the vertices it shares an edge
 * with: next[i] is the one across from plane[i].
 */
#ifndef STORM_MESH_VORONOI_CELL_H
#define STORM_MESH_VORONOI_CELL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "mesh/voronoi/voronoi_exact.h"
#include "mesh/voronoi/voronoi_points.h"

/* Arrays of vertices are padded: loops take eight at a time. */
enum { VORONOI_PADDING = 8 };

/* n . y <= d, relative to the generator. */
struct voronoi_plane {
    double n[3]; /* exact; a wall's has length 1 */
    double d;
    double norm2;   /* n . n */
    int32_t behind; /* the generator behind it, or ~wall */
};

struct voronoi_vertex {
    int32_t plane[3];
    int32_t next[3];
};

struct voronoi_edge {
    int32_t a, b; /* planes, as in the vertex that is removed */
    int32_t kept; /* the vertex that remains */
};

/* Result of the search. */
struct voronoi_found {
    float distance2;
    int32_t index;
};

/*
 * What is known of a cell before it is built. Points that are done (their own
 * cells are finished) are skipped, except those listed as neighbours. One bit
 * for each point of a leaf; and one for each leaf of a group, set if all its
 * points are done.
 */
struct voronoi_hints {
    const uint8_t *done_points, *done_leaves; /* NULL: none is */
    const int32_t *neighbours;                /* among those that are done */
    int32_t n_neighbours;
};

struct voronoi_cell {
    struct storm_memory *memory;
    const struct voronoi_points *points;
    int32_t self;
    double centre[3];
    double reach2;       /* of the farthest vertex */
    double doubt;        /* within this, times the norm of a plane, the side a
                          * vertex is on is not certain */
    double last_radius2; /* of the previous cell: a first estimate */

    struct voronoi_plane *planes;
    int32_t *start; /* by plane: scratch of the cut; then a vertex of the
                        * face, -1: none */
    int32_t n_planes, planes_capacity;

    double *x, *y, *z, *r2, *side; /* by vertex */
    struct voronoi_vertex *vertices;
    bool *is_sure; /* the coordinates are those of a corner of a face */
    struct voronoi_edge *edges;
    int32_t *removed;
    int32_t n_vertices, vertices_capacity; /* and VORONOI_PADDING more */

    struct voronoi_found *found, *ordered;
    size_t n_found, found_capacity, ordered_capacity;
};

struct voronoi_face {
    double area;
    double centroid[3]; /* relative to the generator of lower id */
};

/* Points may be changed between cells. */
storm_status voronoi_cell_create(struct storm_memory *memory,
                                 struct voronoi_cell *cell_out);
void voronoi_cell_destroy(struct voronoi_cell *cell);

/* Builds the cell of a known generator; voronoi_clip.h, compiled for several
 * instruction sets, with the same bits from all. */
typedef storm_status voronoi_build_fn(struct voronoi_cell *cell,
                                      const struct voronoi_points *points,
                                      int32_t self,
                                      const struct voronoi_hints *hints);
voronoi_build_fn voronoi_build_plain;
voronoi_build_fn voronoi_build_avx2;
voronoi_build_fn voronoi_build_avx512;
/* The best one for this processor. */
voronoi_build_fn *voronoi_build_choice(void);

/* All generators within this radius must be known. */
static inline double voronoi_cell_radius(const struct voronoi_cell *cell)
{
    return 2.0 * sqrt(cell->reach2) * (1.0 + 0x1p-29);
}

/* After the build: `start` by plane, and all vertices sure. */
void voronoi_cell_find_faces(struct voronoi_cell *cell);

/* The face on a plane whose `start` is not -1. False: too small, dropped. */
bool voronoi_cell_face(struct voronoi_cell *cell, int32_t plane,
                       struct voronoi_face *face_out);

/* The vertices of such a face, anticlockwise as seen from outside: the first
 * one, which does not depend on the order of cuts, and the next one. */
int32_t voronoi_cell_face_first(const struct voronoi_cell *cell, int32_t plane);
int32_t voronoi_cell_face_next(const struct voronoi_cell *cell, int32_t plane,
                               int32_t vertex);

/* A vertex relative to the generator: the same bits on every rank (VCELL-2). */
void voronoi_cell_corner(struct voronoi_cell *cell, int32_t vertex,
                         double y_out[3]);

/* Is one plane before the other: by the ids of the generators behind them,
 * walls last? */
bool voronoi_cell_before(int32_t behind, int32_t other);

/* ---- for the clipper ---------------------------------------------------- */

/* Starts with the box. */
void voronoi_cell_start(struct voronoi_cell *cell,
                        const struct voronoi_points *points, int32_t self);

/* Room for one more plane and the two vertices it can add. */
storm_status voronoi_cell_grow(struct voronoi_cell *cell);

static inline bool voronoi_cell_has_room(const struct voronoi_cell *cell)
{
    return cell->n_planes < cell->planes_capacity &&
           cell->n_vertices + 2 <= cell->vertices_capacity;
}

/* Exactly: is the vertex beyond the plane? */
bool voronoi_cell_beyond(const struct voronoi_cell *cell, int32_t vertex,
                         const struct voronoi_plane *plane);

/* The point where three of the planes meet, where the rounding errors of
 * voronoi_meet are too large. `which` is in order. */
void voronoi_meet_exactly(const struct voronoi_space *space,
                          const struct voronoi_plane *planes,
                          const int32_t which[3], double y_out[3]);

/* Sort key of planes: generators by index, walls after them; the same on every
 * rank. Below that the plane's own number. */
static inline uint64_t voronoi_plane_key(const struct voronoi_plane *planes,
                                         int32_t i)
{
    return (uint64_t)(uint32_t)planes[i].behind << 32 | (uint32_t)i;
}

/* Min and max, not swaps: branches would be mispredicted. */
static inline void voronoi_order_keys(uint64_t *a, uint64_t *b)
{
    uint64_t x = *a, y = *b;
    *a = x < y ? x : y;
    *b = x < y ? y : x;
}

/* How well the point where three planes meet is known. Rounding moves it by
 * about 2^-47 of its distance, over the determinant of the unit normals. */
typedef enum voronoi_met {
    VORONOI_LOST, /* not at all: below 2^-14 */
    VORONOI_NEAR, /* well enough for a filter before exact questions */
    VORONOI_SURE  /* as the corner of a face: at least 2^-8 */
} voronoi_met;

/* The point where three of the planes meet. They are taken in order, so that
 * bits do not depend on the caller; `which` is in order afterwards. */
static inline voronoi_met voronoi_meet(const struct voronoi_plane *planes,
                                       int32_t which[3], double y_out[3])
{
    const double min = 0x1p-28, sure = 0x1p-16; /* squares */
    uint64_t key0 = voronoi_plane_key(planes, which[0]);
    uint64_t key1 = voronoi_plane_key(planes, which[1]);
    uint64_t key2 = voronoi_plane_key(planes, which[2]);
    voronoi_order_keys(&key0, &key1);
    voronoi_order_keys(&key1, &key2);
    voronoi_order_keys(&key0, &key1);
    which[0] = (int32_t)(uint32_t)key0;
    which[1] = (int32_t)(uint32_t)key1;
    which[2] = (int32_t)(uint32_t)key2;
    const struct voronoi_plane *a = &planes[(uint32_t)key0];
    const struct voronoi_plane *b = &planes[(uint32_t)key1];
    const struct voronoi_plane *c = &planes[(uint32_t)key2];
    double bc0 = b->n[1] * c->n[2] - b->n[2] * c->n[1];
    double bc1 = b->n[2] * c->n[0] - b->n[0] * c->n[2];
    double bc2 = b->n[0] * c->n[1] - b->n[1] * c->n[0];
    double ca0 = c->n[1] * a->n[2] - c->n[2] * a->n[1];
    double ca1 = c->n[2] * a->n[0] - c->n[0] * a->n[2];
    double ca2 = c->n[0] * a->n[1] - c->n[1] * a->n[0];
    double ab0 = a->n[1] * b->n[2] - a->n[2] * b->n[1];
    double ab1 = a->n[2] * b->n[0] - a->n[0] * b->n[2];
    double ab2 = a->n[0] * b->n[1] - a->n[1] * b->n[0];
    double det = a->n[0] * bc0 + a->n[1] * bc1 + a->n[2] * bc2;
    double scale = a->norm2 * b->norm2 * c->norm2;
    if (!(det * det >= min * scale))
        return VORONOI_LOST;
    double inverse = 1.0 / det;
    y_out[0] = (a->d * bc0 + b->d * ca0 + c->d * ab0) * inverse;
    y_out[1] = (a->d * bc1 + b->d * ca1 + c->d * ab1) * inverse;
    y_out[2] = (a->d * bc2 + b->d * ca2 + c->d * ab2) * inverse;
    return det * det >= sure * scale ? VORONOI_SURE : VORONOI_NEAR;
}

#endif /* STORM_MESH_VORONOI_CELL_H */
