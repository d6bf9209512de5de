/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_points.h"

#include <string.h>

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

/* The generators of a mesh. */
static storm_status points_of_mesh(struct storm_context *context,
                                   const struct storm_mesh *mesh,
                                   double **points_out, uint64_t *n_out)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    double *points = storm_alloc(storm_context_env(context)->memory, "points",
                                 (n + 1) * 3 * sizeof *points);
    storm_status status = points != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = storm_mesh_generator(mesh, (storm_cell_idx)i, &points[3 * i]);
    status = storm_context_agree(context, status);
    if (status < 0) {
        storm_points_free(context, points);
        return status;
    }
    *points_out = points;
    *n_out = n;
    return STORM_OK;
}

/* This rank's share of a set, relaxed. */
static storm_status points_relaxed(struct storm_context *context,
                                   const struct storm_points_params *set,
                                   const struct storm_voronoi_params *voronoi,
                                   double **points_out, uint64_t *n_out)
{
    struct storm_mesh *mesh = NULL;
    if (voronoi->lloyd == 0)
        return run_points_share(context, set, points_out, n_out);
    storm_status status = run_points_mesh(context, set, voronoi, &mesh);
    if (status == STORM_OK)
        status = points_of_mesh(context, mesh, points_out, n_out);
    storm_mesh_destroy(mesh);
    return status;
}

/* Points that pairs allow, then the pairs; takes `points` over. */
static storm_status points_mix(struct storm_context *context,
                               const struct storm_pairs *pairs, double *points,
                               uint64_t n, struct storm_voronoi_params *params)
{
    uint64_t n_pairs, n_kept = 0;
    const double *pair = storm_pairs_points(pairs, &n_pairs);
    double *all = storm_alloc(storm_context_env(context)->memory, "points",
                              (size_t)(n + n_pairs + 1) * 3 * sizeof *all);
    if (all != NULL) {
        for (uint64_t i = 0; i < n; i++)
            if (storm_pairs_allow(pairs, &points[3 * i]))
                memcpy(&all[3 * n_kept++], &points[3 * i], 3 * sizeof *all);
        if (n_pairs > 0)
            memcpy(&all[3 * n_kept], pair, 3 * (size_t)n_pairs * sizeof *all);
    }
    storm_points_free(context, points);
    params->points_cm = all;
    params->n_points = n_kept + n_pairs;
    params->lloyd = 0;
    return storm_context_agree(context,
                               all != NULL ? STORM_OK : STORM_ERR_NOMEM);
}

storm_status run_points_sharp(struct storm_context *context,
                              const struct storm_points_params *set,
                              const struct storm_voronoi_params *voronoi,
                              struct storm_mesh **mesh_out)
{
    struct storm_voronoi_params params = *voronoi;
    struct storm_pairs *pairs = NULL;
    double *points = NULL;
    uint64_t n = 0;
    struct storm_points_params others = *set;
    storm_status status = storm_pairs_create(context, set, &pairs);
    if (status == STORM_OK) {
        others.n_total = storm_pairs_n_others(pairs);
        status = points_relaxed(context, &others, voronoi, &points, &n);
    }
    params.points_cm = NULL;
    if (status == STORM_OK)
        status = points_mix(context, pairs, points, n, &params);
    if (status == STORM_OK)
        status = storm_mesh_create_voronoi(context, &params, mesh_out);
    storm_points_free(context, (double *)(uintptr_t)params.points_cm);
    storm_pairs_destroy(pairs);
    return status;
}
