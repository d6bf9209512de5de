/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planes in single precision, eight side by side, for the inline geometry of
 * meshes whose cells are lists of planes (mesh_planes.h). They only select the
 * candidates for the exit, which double precision decides. The includer adds
 * planes_pick: physics/pick.h or, for AVX2, physics/pick_avx2.h.
 */
#ifndef STORM_MESH_PLANES_GEOM_H
#define STORM_MESH_PLANES_GEOM_H

#include <math.h>
#include <stdint.h>

#include "mesh/mesh_planes.h"

/* Cells of more blocks are searched one plane after the other. */
enum { PLANES_MAX_BLOCKS = 8 };

/* Max rounding error of a distance in single precision, relative to the cell:
 * eight roundings, times two. */
#define PLANES_DOUBT 0x1p-20f

/* Candidates for the exit: bit i of the result for plane i, from the position
 * relative to the cell's point. At most PLANES_MAX_BLOCKS blocks. */
static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3], float radius);

/* Distance to the nearest plane, in any direction; in single precision, less
 * the max rounding error. The order of operations is that of planes_pick:
 * compilers may do eight planes at a time. */
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
            float h = block->distance[k] -
                      ((block->n[0][k] * y[0] + block->n[1][k] * y[1]) +
                       block->n[2][k] * y[2]);
            min[k] = h < min[k] ? h : min[k];
        }
    }
    for (int k = 1; k < STORM_PLANES_WIDTH; k++)
        min[0] = min[k] < min[0] ? min[k] : min[0];
    return (double)min[0] - (double)(PLANES_DOUBT * radius);
}

#endif /* STORM_MESH_PLANES_GEOM_H */
