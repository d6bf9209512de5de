/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/bench_voronoi.h"

#include <stdlib.h>

#include <storm/context.h>

storm_status
storm_bench_voronoi_mesh(struct storm_context *context,
                         const struct storm_points_params *set,
                         const struct storm_voronoi_params *voronoi,
                         struct storm_mesh **mesh_out)
{
    uint64_t rank = (uint64_t)storm_context_rank(context);
    uint64_t size = (uint64_t)storm_context_size(context);
    uint64_t first = set->n_total / size * rank;
    uint64_t end =
        rank + 1 < size ? set->n_total / size * (rank + 1) : set->n_total;
    struct storm_voronoi_params params = *voronoi;
    double *points = malloc(((size_t)(end - first) + 1) * 3 * sizeof *points);
    storm_status status =
        points != NULL ? storm_points_make(set, first, end - first, points)
                       : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    params.points_cm = points;
    params.n_points = end - first;
    if (status >= 0)
        status = storm_mesh_create_voronoi(context, &params, mesh_out);
    free(points);
    return status;
}
