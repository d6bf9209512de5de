/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks on Voronoi meshes share. */
#ifndef STORM_BENCH_VORONOI_H
#define STORM_BENCH_VORONOI_H

#include <storm/mesh.h>

/* The word for a kind of set. */
const char *storm_bench_points_name(storm_points_kind kind);

#endif /* STORM_BENCH_VORONOI_H */
