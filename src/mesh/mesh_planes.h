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

enum { STORM_PLANES_WIDTH = 8 };

/* What tracking reads of up to eight planes: unit normal and distance, in
 * single precision, and what is behind: a local cell or ~index of a border.
 * Unused places have distance infinity. */
struct storm_planes_block {
    float n[3][STORM_PLANES_WIDTH];
    float distance[STORM_PLANES_WIDTH];
    int32_t next[STORM_PLANES_WIDTH];
};

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
