/* SPDX-License-Identifier: BSD-3-Clause */
/* One face after the other, for any processor. */
#include "mesh/voronoi/voronoi_geom.h"
#include "physics/imc_kernel.h"
#include "physics/track_kernel.h"

static inline uint64_t voronoi_pick(const struct voronoi_block *block,
                                    uint32_t n_blocks, const float y[3],
                                    const float u[3], float radius)
{
    float height[VORONOI_MAX_BLOCKS][VORONOI_WIDTH];
    float slope[VORONOI_MAX_BLOCKS][VORONOI_WIDTH];
    float latest[VORONOI_WIDTH]; /* the latest exit time */
    const float doubt = VORONOI_DOUBT * radius;
    for (int k = 0; k < VORONOI_WIDTH; k++)
        latest[k] = INFINITY;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int k = 0; k < VORONOI_WIDTH; k++) {
            const float n0 = block[b].n[0][k], n1 = block[b].n[1][k],
                        n2 = block[b].n[2][k];
            float h =
                block[b].distance[k] - ((n0 * y[0] + n1 * y[1]) + n2 * y[2]);
            float s = (n0 * u[0] + n1 * u[1]) + n2 * u[2];
            float t = (h + doubt) / (s - VORONOI_DOUBT);
            t = s > 4.0f * VORONOI_DOUBT ? t : INFINITY;
            latest[k] = t < latest[k] ? t : latest[k];
            height[b][k] = h;
            slope[b][k] = s;
        }
    float end = latest[0];
    for (int k = 1; k < VORONOI_WIDTH; k++)
        end = latest[k] < end ? latest[k] : end;
    end = end > 0.0f ? end : 0.0f;
    if (end == INFINITY)
        return 0;
    uint64_t mask = 0;
    float max = doubt + VORONOI_DOUBT * end;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int k = 0; k < VORONOI_WIDTH; k++)
            mask |= (uint64_t)(height[b][k] - end * slope[b][k] <= max)
                    << (b * VORONOI_WIDTH + (unsigned)k);
    return mask;
}

const struct storm_track_ops storm_track_voronoi = {
    .mesh = &storm_mesh_voronoi,
    .advance = track_advance,
    .imc = imc_advance,
};
