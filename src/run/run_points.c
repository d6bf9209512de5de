/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_points.h"

#include <storm/context.h>
#include <storm/io.h>

#include "base/env.h"

storm_status run_points_share(struct storm_context *context,
                              const struct storm_points_params *set,
                              double **points_out, uint64_t *n_out)
{
    uint64_t rank = (uint64_t)storm_context_rank(context);
    uint64_t size = (uint64_t)storm_context_size(context);
    uint64_t first = set->n_total / size * rank;
    uint64_t end =
        rank + 1 < size ? set->n_total / size * (rank + 1) : set->n_total;
    double *points =
        storm_alloc(storm_context_env(context)->memory, "points",
                    ((size_t)(end - first) + 1) * 3 * sizeof *points);
    storm_status status =
        points != NULL ? storm_points_make(set, first, end - first, points)
                       : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status < 0) {
        storm_points_free(context, points);
        return status;
    }
    *points_out = points;
    *n_out = end - first;
    return STORM_OK;
}

storm_status run_points_mesh(struct storm_context *context,
                             const struct storm_points_params *set,
                             const struct storm_voronoi_params *voronoi,
                             struct storm_mesh **mesh_out)
{
    struct storm_voronoi_params params = *voronoi;
    double *points = NULL;
    storm_status status =
        run_points_share(context, set, &points, &params.n_points);
    params.points_cm = points;
    if (status >= 0)
        status = storm_mesh_create_voronoi(context, &params, mesh_out);
    storm_points_free(context, points);
    return status;
}
