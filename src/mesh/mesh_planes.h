/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A convex cell as a list of planes about a point in it: no corners are stored.
 *
 *   PLANES-1  Coordinates are relative to that point. A cell lies where
 *             normal . y <= distance for all of its planes; no two of them are
 *             the same.
 *   PLANES-2  What is computed is a function of the planes in their order, the
 *             volume and `far`: the same bits on any rank, for any kind of mesh
 *             that has the same planes.
 */
#ifndef STORM_MESH_PLANES_H
#define STORM_MESH_PLANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORM_PLANES_WIDTH = 8, STORM_PLANES_ONE = 32767 };

/*
 * What tracking reads of up to eight planes, in 96 bytes: unit normal, distance
 * in units of `far`, and what is behind: a local cell or ~index of a border.
 * Fractions of STORM_PLANES_ONE, rounded to the nearest: they select what
 * double precision decides, see planes_pick. In unused places the normal is
 * zero and the distance STORM_PLANES_ONE.
 */
struct storm_planes_block {
    int16_t n[3][STORM_PLANES_WIDTH];
    int16_t distance[STORM_PLANES_WIDTH];
    int32_t next[STORM_PLANES_WIDTH];
};
_Static_assert(sizeof(struct storm_planes_block) == 96,
               "two blocks are three cache lines");

/* A plane at place k; NULL: none, with a next that must not be followed. */
struct storm_plane;
void storm_planes_place(struct storm_planes_block *block, size_t k, float far,
                        const struct storm_plane *plane, int32_t next);

static inline bool storm_planes_is_used(const struct storm_planes_block *block,
                                        size_t k)
{
    return (block->n[0][k] | block->n[1][k] | block->n[2][k]) != 0;
}

struct storm_plane {
    double normal[3]; /* outward unit vector */
    double distance;  /* from the point, not negative */
    double area;      /* of the cell's faces in it */
};

struct storm_planes {
    const struct storm_plane *array;
    size_t n;
    double far; /* no corner is farther from the point */
};

/* Uniform point of the cell from three uniform numbers. */
void storm_planes_sample(const struct storm_planes *planes, double volume,
                         const double u[3], double y_out[3]);

/* Uniform point of the cell's faces in plane i, from two uniform numbers. */
void storm_planes_sample_face(const struct storm_planes *planes, size_t i,
                              const double u[2], double y_out[3]);

/* The smallest box around the cell and the point, to rounding. */
void storm_planes_bounds(const struct storm_planes *planes, double lo_out[3],
                         double hi_out[3]);

/* Corners of the cell in plane i, anticlockwise as seen from outside; room for
 * n + 8. Returns their number; below 3: the face is lost in rounding. */
int storm_planes_corners(const struct storm_planes *planes, size_t i,
                         double (*corners_out)[3]);

/* Is the point so far from all planes of the blocks that rounding cannot
 * matter? */
bool storm_planes_is_deep(const struct storm_planes_block *blocks, size_t n,
                          float far, const double y[3]);

/* A plane of the blocks that the point is beyond, so far that rounding cannot
 * matter: the one in which the mirror image of the origin is nearest to the
 * point, to rounding. Else STORM_PLANES_DEEP, or STORM_PLANES_DOUBT. */
enum { STORM_PLANES_DEEP = -1, STORM_PLANES_DOUBT = -2 };
int storm_planes_beyond(const struct storm_planes_block *blocks, size_t n,
                        float far, const double y[3]);

#endif /* STORM_MESH_PLANES_H */
