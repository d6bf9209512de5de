/* SPDX-License-Identifier: BSD-3-Clause */
/* planes_pick (mesh/mesh_planes_geom.h), one plane after the other, for any
 * processor. */
#ifndef STORM_PHYSICS_PICK_H
#define STORM_PHYSICS_PICK_H

#include "mesh/mesh_planes_geom.h"

static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3], float radius)
{
    float height[PLANES_MAX_BLOCKS][STORM_PLANES_WIDTH];
    float slope[PLANES_MAX_BLOCKS][STORM_PLANES_WIDTH];
    float latest[STORM_PLANES_WIDTH]; /* the latest exit time */
    const float doubt = PLANES_DOUBT * radius;
    for (int k = 0; k < STORM_PLANES_WIDTH; k++)
        latest[k] = INFINITY;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
            const float n0 = block[b].n[0][k], n1 = block[b].n[1][k],
                        n2 = block[b].n[2][k];
            float h =
                block[b].distance[k] - ((n0 * y[0] + n1 * y[1]) + n2 * y[2]);
            float s = (n0 * u[0] + n1 * u[1]) + n2 * u[2];
            float t = (h + doubt) / (s - PLANES_DOUBT);
            t = s > 4.0f * PLANES_DOUBT ? t : INFINITY;
            latest[k] = t < latest[k] ? t : latest[k];
            height[b][k] = h;
            slope[b][k] = s;
        }
    float end = latest[0];
    for (int k = 1; k < STORM_PLANES_WIDTH; k++)
        end = latest[k] < end ? latest[k] : end;
    end = end > 0.0f ? end : 0.0f;
    if (end == INFINITY)
        return 0;
    uint64_t mask = 0;
    float max = doubt + PLANES_DOUBT * end;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int k = 0; k < STORM_PLANES_WIDTH; k++)
            mask |= (uint64_t)(height[b][k] - end * slope[b][k] <= max)
                    << (b * STORM_PLANES_WIDTH + (unsigned)k);
    return mask;
}

#endif /* STORM_PHYSICS_PICK_H */
