/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of points, beyond the public header. */
#ifndef STORM_MESH_POINTS_H
#define STORM_MESH_POINTS_H

#include <stdbool.h>

#include <storm/mesh.h>

/* The i-th of random points in the box; true: near a change of the material, as
 * a REFINED set sees it, and the set is one. */
bool storm_points_sample(const struct storm_points_params *params, uint64_t i,
                         double x_out[3]);

#endif /* STORM_MESH_POINTS_H */
