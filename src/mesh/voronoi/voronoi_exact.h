/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which side of a plane is the point where three others meet, and which of
 * two generators is nearer to a position: exactly.
 *
 * Generators sit on a grid fine enough for every double of the box
 * (voronoi_points.h), so that in units of the grid everything is an integer,
 * and the answer is the sign of a determinant of at most 280 bits.
 *
 *   VEXACT-1  The sign is never wrong and never zero. Where four planes meet in
 *             a point, the answer is that of generators which have been moved
 *             by infinitely little, each by less than all of higher number
 *             (Edelsbrunner and Muecke, Simulation of simplicity, 1990; here it
 *             is the squared distance to generator i that is lowered by
 *             epsilon_i).
 *   VEXACT-2  So all cells, on every rank, are cells of one tessellation in
 *             general position: neighbours are mutual.
 *   VEXACT-3  In it a position belongs to the nearest generator, of several to
 *             the one of highest number: the walk to the nearest neighbour ends
 *             there. Positions need not be on the grid.
 */
#ifndef STORM_MESH_VORONOI_EXACT_H
#define STORM_MESH_VORONOI_EXACT_H

#include <math.h>
#include <stdint.h>

__extension__ typedef __int128 voronoi_int;

/* A plane 2 n . y = twice_d relative to a generator, in units of the grid. */
struct voronoi_row {
    int64_t n[3];        /* below 2^54 */
    voronoi_int twice_d; /* n . n for a bisector */
    uint64_t number;     /* of the generator behind it, from 1; 0: a wall */
};

/* 1 if the vertex of planes 0, 1, 2 (whose normals have a positive
 * determinant) lies beyond plane 3, else -1. `own` is the number of the
 * generator they are relative to. */
int voronoi_exact_side(const struct voronoi_row rows[4], uint64_t own);

/* The vertex, in units of the grid, to a rounding or two. False: the normals
 * are not independent. */
_Bool voronoi_exact_vertex(const struct voronoi_row rows[3],
                           double vertex_out[3]);

/* 1: x is nearer to b, -1: to a, 0: to neither. a and b are multiples of the
 * grid, 1 / per_grid; x is any double not much farther from the origin. */
int voronoi_exact_nearer(const double x[3], const double a[3],
                         const double b[3], double per_grid);

/* The same, in double precision if that is certain. Six roundings in each of
 * the products, and the largest of them is not smaller than the grid squared:
 * nothing underflows. */
static inline int voronoi_nearer(const double x[3], const double a[3],
                                 const double b[3], double per_grid)
{
    double sum = 0.0, size = 0.0;
    for (int d = 0; d < 3; d++) {
        double n = b[d] - a[d], to_a = x[d] - a[d], to_b = x[d] - b[d];
        sum += n * (to_a + to_b);
        size += fabs(n) * (fabs(to_a) + fabs(to_b));
    }
    double doubt = 0x1p-49 * size;
    return sum > doubt    ? 1
           : sum < -doubt ? -1
                          : voronoi_exact_nearer(x, a, b, per_grid);
}

#endif /* STORM_MESH_VORONOI_EXACT_H */
