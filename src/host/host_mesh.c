/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 3: grids and points. Given cells: host_given.c. */
#include "host/host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <storm/voronoi.h>

#include "mesh/mesh_hilbert.h"

/* Are the walls those of a box, and periodic ones pairs? */
static storm_status mesh_periodic(const struct storm_host *host,
                                  bool periodic_out[3])
{
    if (host->n_walls > STORM_N_WALLS)
        return host_fail(host, STORM_ERR_ARG,
                         "wall %zu is set: a box has walls 0 to %d",
                         host->n_walls - 1, STORM_N_WALLS - 1);
    for (size_t d = 0; d < 3; d++) {
        bool is[2] = {false, false};
        for (size_t side = 0; side < 2; side++)
            is[side] = 2 * d + side < host->n_walls &&
                       host->walls[2 * d + side].kind == STORM_WALL_PERIODIC;
        if (is[0] != is[1])
            return host_fail(host, STORM_ERR_ARG,
                             "walls %zu and %zu: expected both periodic or "
                             "neither",
                             2 * d, 2 * d + 1);
        periodic_out[d] = is[0];
    }
    return STORM_OK;
}

/* ---- grids -------------------------------------------------------------- */

/* The block is in the grid, and those of all ranks have as many cells. */
static storm_status cart_check_block(const struct storm_host *host,
                                     const int32_t n_all[3],
                                     const int64_t first[3], const int64_t n[3],
                                     size_t *n_block_out)
{
    if (first == NULL || n == NULL)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_mesh_cart: expected first cell and "
                         "number of cells, got no array");
    uint64_t product = 1;
    for (int d = 0; d < 3; d++) {
        if (n[d] < 0 || n[d] > n_all[d] || first[d] < 0 ||
            first[d] > n_all[d] - n[d])
            return host_fail(host, STORM_ERR_ARG,
                             "storm_host_mesh_cart: direction %d: expected a "
                             "block within 0 to %" PRId32 ", got %" PRId64
                             " cells from %" PRId64,
                             d, n_all[d], n[d], first[d]);
        product *= (uint64_t)n[d];
    }
    *n_block_out = (size_t)product;
    return STORM_OK;
}

static storm_status cart_sizes(const struct storm_host *host, int32_t n_out[3])
{
    for (int d = 0; d < 3; d++) {
        size_t n = host->edges[d] != NULL ? host->n_edges[d] - 1 : 1;
        if (n > STORM_HILBERT_MAX)
            return host_fail(host, STORM_ERR_ARG,
                             "storm_host_mesh_cart: direction %d: expected %d "
                             "cells at most, got %zu",
                             d, STORM_HILBERT_MAX, n);
        n_out[d] = (int32_t)n;
    }
    return STORM_OK;
}

static storm_status cart_make(struct storm_host *host, const int32_t n[3],
                              const bool periodic[3])
{
    static const double unit[2] = {0.0, 1.0};
    struct storm_cart_params params = {.size = sizeof params};
    for (int d = 0; d < 3; d++) {
        params.n[d] = n[d];
        params.edges_cm[d] = host->edges[d] != NULL ? host->edges[d] : unit;
        params.periodic[d] = periodic[d];
    }
    return storm_mesh_create_cart(host->context, &params, &host->mesh);
}

static void cart_tags(const int32_t n_all[3], const int64_t first[3],
                      const int64_t n[3], storm_cell_id *tags)
{
    size_t at = 0;
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++) {
                const int32_t ijk[3] = {(int32_t)(first[0] + i),
                                        (int32_t)(first[1] + j),
                                        (int32_t)(first[2] + k)};
                tags[at++] = storm_hilbert_position(n_all, ijk);
            }
}

/* The route of a mesh that was just made; without it there is no mesh. */
static storm_status mesh_finish(struct storm_host *host,
                                enum host_mesh_kind kind, storm_cell_id *tags,
                                size_t n)
{
    storm_status status = host_route_open(host, tags, n);
    if (status < 0) {
        storm_mesh_destroy(host->mesh);
        host->mesh = NULL;
        return status;
    }
    host->mesh_kind = kind;
    host->n_boundaries = storm_mesh_n_boundaries(host->mesh);
    host->stage = HOST_MESH;
    return STORM_OK;
}

storm_status storm_host_mesh_cart(struct storm_host *host,
                                  const int64_t first[3], const int64_t n[3])
{
    bool periodic[3] = {false, false, false};
    int32_t n_all[3] = {1, 1, 1};
    size_t n_block = 0;
    storm_cell_id *tags = NULL;
    storm_status status =
        host_enter(host, "storm_host_mesh_cart", HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    status = cart_sizes(host, n_all);
    if (status == STORM_OK)
        status = mesh_periodic(host, periodic);
    if (status == STORM_OK)
        status = cart_check_block(host, n_all, first, n, &n_block);
    if (status == STORM_OK)
        status = host_array(host, n_block, sizeof *tags, &tags);
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = cart_make(host, n_all, periodic);
    if (status < 0) {
        host_free(host, tags);
        return status;
    }
    cart_tags(n_all, first, n, tags);
    return mesh_finish(host, HOST_CART, tags, n_block);
}

/* ---- points ------------------------------------------------------------- */

static storm_status points_check(const struct storm_host *host,
                                 const double *lo, const double *hi,
                                 const double *points, size_t n)
{
    if (lo == NULL || hi == NULL || (points == NULL && n > 0))
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_mesh_points: expected the corners of a "
                         "box and points, got no array");
    if (n > SIZE_MAX / 64)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_mesh_points: %zu points", n);
    for (size_t i = 0; i < 3 * n; i++)
        if (!isfinite(points[i]))
            return host_fail(host, STORM_ERR_ARG,
                             "storm_host_mesh_points: point %zu: expected "
                             "numbers, got %g",
                             i / 3, points[i]);
    return STORM_OK;
}

storm_status storm_host_set_tags(struct storm_host *host, const uint64_t *tags,
                                 size_t n)
{
    static const char what[] = "storm_host_set_tags";
    storm_cell_id *copy = NULL;
    storm_status status = host_enter(host, what, HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    if ((tags == NULL && n > 0) || n > SIZE_MAX / 64)
        return host_fail(host, STORM_ERR_ARG, "%s: %zu tags%s", what, n,
                         tags == NULL ? ", and no array" : "");
    status = host_array(host, n, sizeof *copy, &copy);
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++)
        copy[i] = (storm_cell_id)tags[i];
    host_free(host, host->point_tags);
    host->point_tags = copy;
    host->n_point_tags = n;
    return STORM_OK;
}

storm_status storm_host_mesh_points(struct storm_host *host,
                                    const double lo_cm[3],
                                    const double hi_cm[3],
                                    const double *points_cm, size_t n)
{
    storm_cell_id *tags = NULL;
    struct storm_voronoi_params params = STORM_VORONOI_PARAMS_INIT;
    storm_status status =
        host_enter(host, "storm_host_mesh_points", HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    status = mesh_periodic(host, params.periodic);
    if (status == STORM_OK)
        status = points_check(host, lo_cm, hi_cm, points_cm, n);
    if (status == STORM_OK && host->point_tags != NULL &&
        host->n_point_tags != n)
        status = host_fail(host, STORM_ERR_ARG,
                           "storm_host_mesh_points: expected as many points as "
                           "tags are set, %zu, got %zu",
                           host->n_point_tags, n);
    if (status == STORM_OK)
        status = host_array(host, n, sizeof *tags, &tags);
    status = host_agree(host, status);
    if (status == STORM_OK) {
        for (int d = 0; d < 3; d++) {
            params.lo_cm[d] = lo_cm[d];
            params.hi_cm[d] = hi_cm[d];
        }
        params.points_cm = points_cm;
        params.n_points = n;
        params.tags = host->point_tags;
        params.tags_out = tags;
        status = storm_mesh_create_voronoi(host->context, &params, &host->mesh);
    }
    if (status < 0) {
        host_free(host, tags);
        return status;
    }
    return mesh_finish(host, HOST_POINTS, tags, n);
}

/* ---- given cells -------------------------------------------------------- */

storm_status storm_host_mesh_given(struct storm_host *host, int n_boundaries)
{
    struct storm_given_params params = STORM_GIVEN_PARAMS_INIT;
    struct host_faces faces = {.ranks = NULL};
    storm_cell_id *tags = NULL;
    storm_status status =
        host_enter(host, "storm_host_mesh_given", HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    if (n_boundaries < 0 || (size_t)n_boundaries < host->n_walls)
        status = host_fail(host, STORM_ERR_ARG,
                           "storm_host_mesh_given: expected a number of "
                           "boundaries of %zu or more, as that many are set, "
                           "got %d",
                           host->n_walls, n_boundaries);
    status = host_agree(host, status);
    if (status < 0)
        return status;
    host->n_boundaries = n_boundaries;
    status = host_given_params(host, &faces, &params);
    if (status == STORM_OK)
        status = storm_mesh_create_given(host->context, &params, &host->mesh);
    if (status == STORM_OK)
        status = host_agree(host, host_given_tags(host, &params, &tags));
    size_t n = (size_t)params.n_cells;
    host_given_release(host, &faces);
    if (status < 0) {
        host_free(host, tags);
        storm_mesh_destroy(host->mesh);
        host->mesh = NULL;
        return status;
    }
    return mesh_finish(host, HOST_GIVEN, tags, n);
}
