/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy density on a slice: gathered to rank 0 and drawn there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "bench/bench_uniform.h"
#include "bench/heatmap.h"

static const double picture_half_cm = STORM_UNIFORM_HALF_CM;

void storm_uniform_texts(const struct storm_uniform_pass *pass, double z_cm,
                         double mean, double spread,
                         struct storm_uniform_texts *texts_out)
{
    struct storm_uniform_texts *t = texts_out;
    snprintf(t->title, sizeof t->title,
             "Energy density on the slice z = %.2f cm",
             fabs(z_cm) < 1e-9 ? 0.0 : z_cm);
    snprintf(t->subtitle, sizeof t->subtitle,
             "uniform emission, cycle %u: mean %.4g erg/cm³, spread %.1f %%",
             pass->cycle, mean, 100.0 * spread);
    t->label = "energy density (erg/cm³)";
}

/* This rank's part of the layer: pairs of (place in the layer, value). The
 * place is a double too, exact below 2^53. Returns the number of pairs. */
static size_t picture_collect(const struct storm_uniform_pass *pass,
                              double *pairs_out)
{
    const int64_t *n = pass->problem->n;
    const double *density = storm_streaming_energy_density(pass->streaming);
    size_t n_pairs = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(pass->mesh); i++) {
        double centre[3];
        int64_t at[3];
        storm_mesh_centre(pass->mesh, i, centre);
        for (int k = 0; k < 3; k++)
            at[k] = (int64_t)floor((centre[k] + picture_half_cm) /
                                   (2.0 * picture_half_cm) * (double)n[k]);
        if (at[2] != n[2] / 2)
            continue;
        pairs_out[2 * n_pairs] = (double)(at[1] * n[0] + at[0]);
        pairs_out[2 * n_pairs + 1] = density[i] / STORM_UNIFORM_LIGHT_CM_S;
        n_pairs++;
    }
    return n_pairs;
}

static char *picture_draw(const struct storm_uniform_pass *pass,
                          const double *layer)
{
    const int64_t *n = pass->problem->n;
    int64_t n_layer = n[0] * n[1];
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n_layer; i++)
        sum += layer[i];
    double mean = sum / (double)n_layer;
    for (int64_t i = 0; i < n_layer; i++)
        squares += (layer[i] - mean) * (layer[i] - mean);
    double spread = mean > 0.0 ? sqrt(squares / (double)n_layer) / mean : 0.0;
    double h = 2.0 * picture_half_cm / (double)n[2];
    int64_t layer_below = n[2] / 2;
    double z = -picture_half_cm + h * ((double)layer_below + 0.5);
    struct storm_uniform_texts texts;
    storm_uniform_texts(pass, z, mean, spread, &texts);
    struct storm_heatmap map = {
        .n = {n[0], n[1]},
        .lo = {-picture_half_cm, -picture_half_cm},
        .hi = {picture_half_cm, picture_half_cm},
        .value = layer,
        .title = texts.title,
        .subtitle = texts.subtitle,
        .axis = {"x (cm)", "y (cm)"},
        .value_label = texts.label,
    };
    return storm_heatmap_svg(&map);
}

/* Rank 0 takes the others' parts one by one. */
static storm_status picture_gather(const struct storm_uniform_pass *pass,
                                   double *pairs, size_t n_pairs, double *layer)
{
    MPI_Comm comm = storm_context_comm(pass->context);
    int rank = storm_context_rank(pass->context);
    int error = MPI_SUCCESS;
    if (rank != 0)
        error = MPI_Send(pairs, (int)(2 * n_pairs), MPI_DOUBLE, 0, 0, comm);
    else
        for (int from = 0; from < storm_context_size(pass->context); from++) {
            int n = (int)(2 * n_pairs);
            MPI_Status status;
            if (from != 0) {
                int64_t most = 2 * pass->problem->n[0] * pass->problem->n[1];
                error = MPI_Recv(pairs, (int)most, MPI_DOUBLE, from, 0, comm,
                                 &status);
                if (error == MPI_SUCCESS)
                    error = MPI_Get_count(&status, MPI_DOUBLE, &n);
            }
            if (error != MPI_SUCCESS)
                break;
            for (int i = 0; i < n; i += 2)
                layer[(int64_t)pairs[i]] = pairs[i + 1];
        }
    return error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
}

storm_status storm_uniform_picture(const struct storm_uniform_pass *pass,
                                   char **svg_out)
{
    if (pass->problem->params.mesh == STORM_MESH_VORONOI)
        return storm_uniform_slice(pass, svg_out);
    size_t n_layer = (size_t)pass->problem->n[0] * (size_t)pass->problem->n[1];
    double *pairs = malloc(2 * n_layer * sizeof *pairs);
    double *layer = calloc(n_layer, sizeof *layer);
    char *svg = NULL;
    storm_status status =
        storm_context_agree(pass->context, pairs != NULL && layer != NULL
                                               ? STORM_OK
                                               : STORM_ERR_NOMEM);
    if (status < 0)
        goto err_memory;
    status = picture_gather(pass, pairs, picture_collect(pass, pairs), layer);
    if (status >= 0 && storm_context_rank(pass->context) == 0) {
        svg = picture_draw(pass, layer);
        status = svg != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    status = storm_context_agree(pass->context, status);
    if (status >= 0)
        *svg_out = svg;
    else
        free(svg);
err_memory:
    free(layer);
    free(pairs);
    return status;
}
