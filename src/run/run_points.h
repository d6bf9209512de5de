/* SPDX-License-Identifier: BSD-3-Clause */
/* Voronoi meshes of generated points: each rank makes an equal share. */
#ifndef STORM_RUN_POINTS_H
#define STORM_RUN_POINTS_H

#include <storm/voronoi.h>

/* This rank's share of the points; release with storm_points_free. Collective.
 * STORM_ERR_NOMEM, STORM_ERR_ARG (bad set). */
storm_status run_points_share(struct storm_context *context,
                              const struct storm_points_params *set,
                              double **points_out, uint64_t *n_out);

/* Makes a mesh; the points are added to `voronoi`. Collective. Also the
 * statuses of storm_mesh_create_voronoi. */
storm_status run_points_mesh(struct storm_context *context,
                             const struct storm_points_params *set,
                             const struct storm_voronoi_params *voronoi,
                             struct storm_mesh **mesh_out);

/* The same with sharp interfaces: after the relaxations of `voronoi` points too
 * near to an interface make room for pairs, which are not relaxed. Also the
 * statuses of storm_pairs_create. */
storm_status run_points_sharp(struct storm_context *context,
                              const struct storm_points_params *set,
                              const struct storm_voronoi_params *voronoi,
                              struct storm_mesh **mesh_out);

#endif /* STORM_RUN_POINTS_H */
