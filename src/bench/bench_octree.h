/* SPDX-License-Identifier: BSD-3-Clause */
/* The octree of benchmarks: a cube with a ball in its middle that is one level
 * finer than the rest, so that packets meet sides with four faces. */
#ifndef STORM_BENCH_OCTREE_H
#define STORM_BENCH_OCTREE_H

#include <storm/octree.h>

/* About `cells` cells in a cube. Collective. */
storm_status storm_bench_octree(struct storm_context *context, uint64_t cells,
                                double lo_cm, double hi_cm,
                                struct storm_mesh **mesh_out);

/* How many of them a line along a side of the cube crosses, times 1.5: as many
 * as a line in any direction of the same length. */
double storm_bench_octree_crossings(uint64_t cells);

#endif /* STORM_BENCH_OCTREE_H */
