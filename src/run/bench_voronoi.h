/* SPDX-License-Identifier: BSD-3-Clause */
/* Voronoi meshes of point sets, for benchmarks. */
#ifndef STORM_RUN_BENCH_VORONOI_H
#define STORM_RUN_BENCH_VORONOI_H

#include <storm/mesh.h>

/* Makes a mesh of a set; every rank makes an equal share of the points, and
 * `voronoi` is completed by them. Collective. */
storm_status
storm_bench_voronoi_mesh(struct storm_context *context,
                         const struct storm_points_params *set,
                         const struct storm_voronoi_params *voronoi,
                         struct storm_mesh **mesh_out);

/* The word for a kind of set. */
const char *storm_bench_points_name(storm_points_kind kind);

#endif /* STORM_RUN_BENCH_VORONOI_H */
