/* SPDX-License-Identifier: BSD-3-Clause */
/* Voronoi meshes of point sets: every rank makes an equal share of the points. */
#ifndef STORM_RUN_POINTS_H
#define STORM_RUN_POINTS_H

#include <storm/mesh.h>

/* This rank's share of a set; release with storm_points_free. Collective. */
storm_status run_points_share(struct storm_context *context,
                              const struct storm_points_params *set,
                              double **points_out, uint64_t *n_out);

/* Makes a mesh of a set; `voronoi` is completed by the points. Collective. */
storm_status run_points_mesh(struct storm_context *context,
                             const struct storm_points_params *set,
                             const struct storm_voronoi_params *voronoi,
                             struct storm_mesh **mesh_out);

#endif /* STORM_RUN_POINTS_H */
