/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which side of a plane is the point where three others meet: exactly.
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
 */
#ifndef STORM_MESH_VORONOI_EXACT_H
#define STORM_MESH_VORONOI_EXACT_H

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

#endif /* STORM_MESH_VORONOI_EXACT_H */
