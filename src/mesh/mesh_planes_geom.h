/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planes as fractions (mesh_planes.h), for the inline geometry of meshes whose
 * cells are lists of planes. They only select the candidates for the exit,
 * which double precision decides. The includer adds planes_pick, for its
 * instruction set: physics/pick.h, pick_avx2.h or pick_avx512.h.
 *
 * In units of the cell's radius and of 1 / STORM_PLANES_ONE a point y of the
 * cell has a height above plane i, h = distance - n . y, and its direction u a
 * slope, s = n . u; it reaches the plane after h / s. Rounding to fractions
 * changes h by at most 0.5 (1 + |y|_1) <= 1.37 and s by at most 0.5 |u|_1 <=
 * 0.87; single precision adds less than 0.05 to either.
 */
#ifndef STORM_MESH_PLANES_GEOM_H
#define STORM_MESH_PLANES_GEOM_H

#include <math.h>
#include <stdint.h>

#include "mesh/mesh_planes.h"

/* Cells of more blocks are searched one plane after the other. */
enum { PLANES_MAX_BLOCKS = 8 };

/* Max error of a height and of a slope. */
#define PLANES_DOUBT_H 1.5f
#define PLANES_DOUBT_S 1.0f

/* Only planes as steep as this limit the path. */
#define PLANES_STEEP 4.0f

/*
 * Candidates for the exit: bit i of the result for plane i, from the position
 * relative to the cell's point, in units of its radius. At most
 * PLANES_MAX_BLOCKS blocks.
 *
 * The exit is not later than `end`, the min over the steep planes of
 * (h + DOUBT_H) / (s - DOUBT_S), nor is it negative; so it can only be a plane
 * with h - DOUBT_H <= end (s + DOUBT_S). No candidates: no plane is steep.
 */
static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3]);

/* Distance to the nearest plane, in any direction, less its max error. The same
 * bits for any instruction set: compilers may do eight planes at a time. */
static inline double planes_clearance(const struct storm_planes_block *blocks,
                                      uint32_t n_blocks, const float y[3],
                                      float radius)
{
    float min[STORM_PLANES_WIDTH];
    for (int k = 0; k < STORM_PLANES_WIDTH; k++)
        min[k] = INFINITY;
    for (uint32_t b = 0; b < n_blocks; b++) {
        const struct storm_planes_block *block = &blocks[b];
        for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
            float h =
                (float)block->distance[k] -
                (((float)block->n[0][k] * y[0] + (float)block->n[1][k] * y[1]) +
                 (float)block->n[2][k] * y[2]);
            min[k] = h < min[k] ? h : min[k];
        }
    }
    for (int k = 1; k < STORM_PLANES_WIDTH; k++)
        min[0] = min[k] < min[0] ? min[k] : min[0];
    return (double)(min[0] - PLANES_DOUBT_H) * (double)radius /
           (double)STORM_PLANES_ONE;
}

#endif /* STORM_MESH_PLANES_GEOM_H */
