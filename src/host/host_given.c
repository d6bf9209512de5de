/* SPDX-License-Identifier: BSD-3-Clause */
/* Given cells: the arrays of a caller, who names the cell behind a face by its
 * tag, as storm/given.h wants them: by rank and index. */
#include "host/host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "mesh/mesh_tags.h"

storm_status storm_host_give_cells(struct storm_host *host, size_t n,
                                   const uint64_t *tags,
                                   const double *points_cm,
                                   const double *volumes_cm3,
                                   const double *centroids_cm)
{
    storm_status status =
        host_enter(host, "storm_host_give_cells", HOST_SETUP, HOST_RUN);
    if (status < 0)
        return status;
    if (n > 0 && (tags == NULL || points_cm == NULL || volumes_cm3 == NULL))
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_give_cells: expected tags, points and "
                         "volumes, got no array");
    if (n > SIZE_MAX / 64)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_give_cells: %zu cells", n);
    host->given = (struct host_given){
        .n = n,
        .tags = tags,
        .points = points_cm,
        .volumes = volumes_cm3,
        .centroids = centroids_cm != NULL ? centroids_cm : points_cm};
    return STORM_OK;
}

storm_status
storm_host_give_faces(struct storm_host *host, const uint64_t *first_face,
                      const double *normals, const double *on_planes_cm,
                      const double *areas_cm2, const int64_t *behind)
{
    struct host_given *g;
    storm_status status =
        host_enter(host, "storm_host_give_faces", HOST_SETUP, HOST_RUN);
    if (status < 0)
        return status;
    g = &host->given;
    if (first_face == NULL ||
        (g->n > 0 && (normals == NULL || on_planes_cm == NULL ||
                      areas_cm2 == NULL || behind == NULL)))
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_give_faces: expected an array of each "
                         "kind, got NULL");
    for (size_t i = 0; i <= g->n; i++)
        if (i == 0 ? first_face[0] != 0
                   : first_face[i] < first_face[i - 1] ||
                         first_face[i] > SIZE_MAX / 64)
            return host_fail(host, STORM_ERR_ARG,
                             "storm_host_give_faces: first_face %zu: expected "
                             "numbers that begin with 0 and do not decrease, "
                             "got %" PRIu64,
                             i, first_face[i]);
    g->first_face = first_face;
    g->normals = normals;
    g->on_planes = on_planes_cm;
    g->areas = areas_cm2;
    g->behind = behind;
    return STORM_OK;
}

/* Planes relative to the point of the cell. */
static void given_planes(const struct host_given *g, double *on_planes)
{
    for (size_t i = 0; i < g->n; i++)
        for (uint64_t f = g->first_face[i]; f < g->first_face[i + 1]; f++)
            for (size_t d = 0; d < 3; d++)
                on_planes[3 * f + d] =
                    g->on_planes[3 * f + d] - g->points[3 * i + d];
}

/* Faces of boundaries, and the tags behind the others. */
static storm_status given_sort_faces(const struct storm_host *host,
                                     size_t n_faces, storm_cell_id *asked,
                                     size_t *n_asked_out)
{
    const struct host_given *g = &host->given;
    size_t n = 0;
    for (size_t f = 0; f < n_faces; f++) {
        if (g->behind[f] >= 0)
            asked[n++] = (storm_cell_id)g->behind[f];
        else if (g->behind[f] < -(int64_t)host->n_boundaries)
            return host_fail(host, STORM_ERR_ARG,
                             "face %zu: %" PRId64 " is behind it; expected the "
                             "tag of a cell, or -1 less the number of a "
                             "boundary; there are %d",
                             f, g->behind[f], host->n_boundaries);
    }
    *n_asked_out = n;
    return STORM_OK;
}

static storm_status given_fill_faces(const struct storm_host *host,
                                     size_t n_faces,
                                     const struct storm_cell_ref *where,
                                     struct host_faces *faces)
{
    const struct host_given *g = &host->given;
    size_t n = 0;
    for (size_t f = 0; f < n_faces; f++) {
        if (g->behind[f] < 0) {
            faces->ranks[f] = -1;
            faces->neighbours[f] = (storm_cell_idx)(-1 - g->behind[f]);
            continue;
        }
        faces->ranks[f] = where[n].rank;
        faces->neighbours[f] = where[n].idx;
        if (where[n++].rank < 0)
            return host_fail(host, STORM_ERR_ARG,
                             "face %zu: tag %" PRId64 " is behind it: no rank "
                             "has given this cell",
                             f, g->behind[f]);
    }
    return STORM_OK;
}

/* Ranks and indices of the cells behind the faces. Collective. */
static storm_status given_find_faces(struct storm_host *host, size_t n_faces,
                                     struct host_faces *faces)
{
    const struct host_given *g = &host->given;
    storm_cell_id *asked = NULL;
    struct storm_cell_ref *where = NULL;
    size_t n_asked = 0;
    storm_status status = host_array(host, n_faces, sizeof *asked, &asked);
    if (status == STORM_OK)
        status = host_array(host, n_faces, sizeof *where, &where);
    if (status == STORM_OK)
        status = given_sort_faces(host, n_faces, asked, &n_asked);
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = storm_tags_find(host->context, g->tags, g->n, asked, n_asked,
                                 where);
    if (status == STORM_OK)
        status = given_fill_faces(host, n_faces, where, faces);
    host_free(host, where);
    host_free(host, asked);
    return host_agree(host, status);
}

storm_status host_given_params(struct storm_host *host,
                               struct host_faces *faces,
                               struct storm_given_params *params_out)
{
    const struct host_given *g = &host->given;
    size_t n_faces = 0;
    storm_status status = STORM_OK;
    *faces = (struct host_faces){.ranks = NULL};
    if (g->first_face == NULL)
        status = host_fail(host, STORM_ERR_STATE,
                           "given cells: expected storm_host_give_cells and "
                           "then storm_host_give_faces before");
    else
        n_faces = (size_t)g->first_face[g->n];
    if (status == STORM_OK)
        status = host_array(host, 3 * n_faces, sizeof *faces->on_planes,
                            &faces->on_planes);
    if (status == STORM_OK)
        status = host_array(host, n_faces, sizeof *faces->ranks, &faces->ranks);
    if (status == STORM_OK)
        status = host_array(host, n_faces, sizeof *faces->neighbours,
                            &faces->neighbours);
    status = host_agree(host, status);
    if (status < 0)
        return status;
    given_planes(g, faces->on_planes);
    *params_out = (struct storm_given_params){
        .size = sizeof *params_out,
        .n_cells = g->n,
        .n_boundaries = (uint64_t)host->n_boundaries,
        .tags = g->tags,
        .points_cm = g->points,
        .volumes_cm3 = g->volumes,
        .centroids_cm = g->centroids,
        .first_face = g->first_face,
        .normals = g->normals,
        .on_planes_cm = faces->on_planes,
        .areas_cm2 = g->areas,
        .ranks = faces->ranks,
        .neighbours = faces->neighbours,
    };
    return given_find_faces(host, n_faces, faces);
}

void host_given_release(struct storm_host *host, struct host_faces *faces)
{
    host_free(host, faces->neighbours);
    host_free(host, faces->ranks);
    host_free(host, faces->on_planes);
    host->given = (struct host_given){.n = 0};
}

storm_status host_given_tags(struct storm_host *host,
                             const struct storm_given_params *params,
                             storm_cell_id **tags_out)
{
    size_t n = (size_t)params->n_cells;
    storm_cell_id *tags = NULL;
    storm_status status = host_array(host, n, sizeof *tags, &tags);
    if (status == STORM_OK && n > 0)
        memcpy(tags, params->tags, n * sizeof *tags);
    *tags_out = tags;
    return status;
}
