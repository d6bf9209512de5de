/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the clipper does with eight vertices, boxes or points at a time: loops
 * without branches, of which compilers make vectors.
 *
 *   wide_sides  distances of n vertices from `first` on, n at most 64 and a
 *               multiple of eight, from the plane p . y = d, times its norm,
 *               into cell->side; a bit for each above -doubt
 *   wide_near   a bit for each box of the group not farther from y than
 *               sqrt(hi2)
 *   wide_list   lists those of eight points from `first` on, without the bits
 *               in `done`, with range2[0] < distance^2 <= range2[1]; returns
 *               their number; writes up to eight
 */
#ifndef STORM_MESH_VORONOI_WIDE_H
#define STORM_MESH_VORONOI_WIDE_H

#include "mesh/voronoi/voronoi_cell.h"

/* 1 << i, as a table for vector loads. */
#define WIDE_BIT(_i) UINT64_C(1) << (_i)
#define WIDE_BITS(_i)                                                         \
    WIDE_BIT(_i), WIDE_BIT((_i) + 1), WIDE_BIT((_i) + 2), WIDE_BIT((_i) + 3), \
        WIDE_BIT((_i) + 4), WIDE_BIT((_i) + 5), WIDE_BIT((_i) + 6),           \
        WIDE_BIT((_i) + 7)
static const uint64_t wide_bits[64] = {
    WIDE_BITS(0),  WIDE_BITS(8),  WIDE_BITS(16), WIDE_BITS(24),
    WIDE_BITS(32), WIDE_BITS(40), WIDE_BITS(48), WIDE_BITS(56)};

static inline uint64_t wide_sides(const struct voronoi_cell *cell,
                                  int32_t first, int32_t n, const double p[3],
                                  double d, double doubt)
{
    const double *restrict x = cell->x + first, *restrict y = cell->y + first,
                           *restrict z = cell->z + first;
    double *restrict side = cell->side + first;
    double n0 = p[0], n1 = p[1], n2 = p[2];
    uint64_t hits = 0;
    for (int32_t i = 0; i < n; i++) {
        double s = (n0 * x[i] + n1 * y[i]) + (n2 * z[i] - d);
        side[i] = s;
        hits |= s > -doubt ? wide_bits[i] : 0;
    }
    return hits;
}

static inline unsigned wide_near(const struct voronoi_group *group,
                                 const double y[3], double hi2)
{
    double distance2[VORONOI_FAN];
    unsigned near = 0;
    voronoi_group_distance2(group, y, distance2);
    for (unsigned k = 0; k < VORONOI_FAN; k++)
        near |= (unsigned)(distance2[k] <= hi2) << k;
    return near;
}

static inline size_t wide_list(const struct voronoi_points *points,
                               int32_t first, const double y[3], unsigned done,
                               const double range2[2],
                               struct voronoi_found *found)
{
    double distance2[VORONOI_FAN];
    const double *x[3] = {points->x[0] + first, points->x[1] + first,
                          points->x[2] + first};
    double y0 = y[0], y1 = y[1], y2 = y[2];
    for (int k = 0; k < VORONOI_FAN; k++) {
        double dx = x[0][k] - y0, dy = x[1][k] - y1, dz = x[2][k] - y2;
        distance2[k] = dx * dx + dy * dy + dz * dz;
    }
    size_t n = 0;
    for (int k = 0; k < VORONOI_FAN; k++) {
        found[n].distance2 = (float)distance2[k];
        found[n].index = first + k;
        n += (size_t)((distance2[k] > range2[0]) & (distance2[k] <= range2[1]) &
                      !(done >> k & 1u));
    }
    return n;
}

#endif /* STORM_MESH_VORONOI_WIDE_H */
