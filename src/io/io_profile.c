/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: averages over slices of the box, as CSV.
 *
 * Sums over cells are exact: the file is the same on any number of ranks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/exact.h"
#include "base/text.h"
#include "io/io_fields.h"
#include "io/io_files.h"

/* Sums of volume, and of volume times T, radiation energy, material energy. */
enum { PROFILE_SUMS = 4 };

static const char profile_label[] = "output";

struct profile {
    const struct io_source *source;
    struct io_bins bins;
    struct storm_memory *memory;
    double *field[PROFILE_SUMS]; /* per cell; the first is the volume */
    struct storm_exact_unit unit[PROFILE_SUMS];
    storm_exact *sum; /* PROFILE_SUMS for each bin */
};

/* ---- sums ---------------------------------------------------------------- */

static void profile_add(struct profile *p, size_t bin, storm_cell_idx cell,
                        double volume)
{
    storm_exact *sum = &p->sum[PROFILE_SUMS * bin];
    storm_exact_add(&sum[0], volume, p->unit[0]);
    for (int k = 1; k < PROFILE_SUMS; k++)
        storm_exact_add(&sum[k], volume * p->field[k][cell], p->unit[k]);
}

static double profile_edge(const struct profile *p, size_t bin)
{
    return p->bins.lo_cm +
           (p->bins.hi_cm - p->bins.lo_cm) * ((double)bin / (double)p->bins.n);
}

static size_t profile_bin(const struct profile *p, double x)
{
    double at = (x - p->bins.lo_cm) / (p->bins.hi_cm - p->bins.lo_cm) *
                (double)p->bins.n;
    if (!(at > 0.0))
        return 0;
    return at < (double)p->bins.n ? (size_t)at : p->bins.n - 1;
}

/* Width of a box along the axis. */
static double profile_width(const struct profile *p, storm_cell_idx cell)
{
    double area = 0.0;
    for (int k = 0; k < storm_mesh_n_faces(p->source->mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(p->source->mesh, cell, k, &face);
        if (fabs(face.normal[p->bins.axis]) == 1.0)
            area += 0.5 * face.area_cm2;
    }
    return p->field[0][cell] / area;
}

/* A box: each bin gets the part of it that is inside. */
static void profile_share(struct profile *p, storm_cell_idx cell, double centre)
{
    double width = profile_width(p, cell), low = centre - 0.5 * width;
    size_t last = profile_bin(p, low + width);
    for (size_t bin = profile_bin(p, low); bin <= last; bin++) {
        double from = fmax(low, profile_edge(p, bin));
        double to = fmin(low + width, profile_edge(p, bin + 1));
        double part = (to - from) / width;
        if (part > 1.0 - 1e-9)
            part = 1.0;
        if (part > 1e-9) /* else they only touch, within rounding */
            profile_add(p, bin, cell, part * p->field[0][cell]);
    }
}

static void profile_cells(struct profile *p)
{
    const struct storm_mesh *mesh = p->source->mesh;
    bool boxes = storm_mesh_cells_are_boxes(mesh);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double centre[3];
        if (storm_imc_material(p->source->imc, i) == STORM_OUTSIDE)
            continue;
        storm_mesh_centre(mesh, i, centre);
        double at = centre[p->bins.axis];
        if (boxes)
            profile_share(p, i, at);
        else
            profile_add(p, profile_bin(p, at), i, p->field[0][i]);
    }
}

/* Units from the largest term of any rank. */
static storm_status profile_units(struct profile *p)
{
    const double *volume = p->field[0];
    double max[PROFILE_SUMS] = {0.0};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->source->mesh); i++) {
        max[0] = fmax(max[0], volume[i]);
        for (int k = 1; k < PROFILE_SUMS; k++)
            max[k] = fmax(max[k], volume[i] * p->field[k][i]);
    }
    storm_status status =
        storm_context_reduce(p->source->context, max, PROFILE_SUMS, MPI_DOUBLE,
                             MPI_MAX);
    if (status < 0)
        return status;
    for (int k = 0; k < PROFILE_SUMS; k++)
        p->unit[k] = storm_exact_unit(max[k]);
    return STORM_OK;
}

static storm_status profile_reduce(struct profile *p)
{
    const struct storm_context *context = p->source->context;
    size_t n = PROFILE_SUMS * p->bins.n;
    int64_t *limbs = storm_alloc(p->memory, profile_label,
                                 STORM_EXACT_LIMBS * n * sizeof *limbs);
    storm_status status =
        storm_context_agree(context,
                            limbs != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(p->memory, limbs);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        storm_exact_split(p->sum[i], &limbs[STORM_EXACT_LIMBS * i]);
    status = storm_context_reduce(context, limbs, (int)(STORM_EXACT_LIMBS * n),
                                  MPI_INT64_T, MPI_SUM);
    for (size_t i = 0; i < n; i++)
        p->sum[i] = storm_exact_join(&limbs[STORM_EXACT_LIMBS * i]);
    storm_free(p->memory, limbs);
    return status;
}

/* ---- text ---------------------------------------------------------------- */

static void profile_number(struct storm_page *page, double value, char after)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s%c", text, after);
}

static char *profile_text(const struct profile *p)
{
    struct storm_page page = {0};
    storm_page_add(&page, "# time ");
    profile_number(&page, p->source->time_s, ' ');
    storm_page_add(&page, "from ");
    profile_number(&page, p->source->start_s, '\n');
    storm_page_add(&page, "position,material_temperature,radiation_temperature,"
                          "radiation_energy,material_energy,volume\n");
    for (size_t bin = 0; bin < p->bins.n; bin++) {
        double value[PROFILE_SUMS];
        for (int k = 0; k < PROFILE_SUMS; k++)
            value[k] = storm_exact_value(p->sum[PROFILE_SUMS * bin + (size_t)k],
                                         p->unit[k]);
        for (int k = 1; k < PROFILE_SUMS; k++)
            value[k] = value[0] > 0.0 ? value[k] / value[0] : 0.0;
        double a = p->source->radiation_constant;
        profile_number(&page,
                       0.5 * (profile_edge(p, bin) + profile_edge(p, bin + 1)),
                       ',');
        profile_number(&page, value[1], ',');
        profile_number(&page, sqrt(sqrt(value[2] / a)), ',');
        profile_number(&page, value[2], ',');
        profile_number(&page, value[3], ',');
        profile_number(&page, value[0], '\n');
    }
    return storm_page_end(&page);
}

static storm_status profile_write(const struct profile *p)
{
    char name[64], *text = profile_text(p);
    snprintf(name, sizeof name, "profile-%" PRIu64 ".csv", p->source->step);
    storm_status status =
        text != NULL
            ? io_write_text(p->source->context, p->source->dir, name, text)
            : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- the profile --------------------------------------------------------- */

static storm_status profile_open(struct profile *p)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(p->source->mesh) + 1;
    p->sum = storm_alloc(p->memory, profile_label,
                         (PROFILE_SUMS * p->bins.n + 1) * sizeof *p->sum);
    bool good = p->sum != NULL;
    for (int k = 0; k < PROFILE_SUMS; k++) {
        p->field[k] =
            storm_alloc(p->memory, profile_label, n_cells * sizeof(double));
        good = good && p->field[k] != NULL;
    }
    return good ? STORM_OK : STORM_ERR_NOMEM;
}

static storm_status profile_get(struct profile *p)
{
    const storm_imc_field from[PROFILE_SUMS] = {
        STORM_IMC_VOLUME, STORM_IMC_TEMPERATURE, p->source->radiation,
        STORM_IMC_MATERIAL_ENERGY};
    storm_status status = STORM_OK;
    for (int k = 0; k < PROFILE_SUMS && status == STORM_OK; k++)
        status = storm_imc_get(p->source->imc, p->source->engine, from[k],
                               p->field[k]);
    return status;
}

storm_status io_write_profile(const struct io_source *source,
                              const struct io_bins *bins)
{
    struct profile p = {.source = source,
                        .bins = *bins,
                        .memory = storm_context_env(source->context)->memory};
    storm_status status =
        storm_context_agree(source->context, profile_open(&p));
    if (status == STORM_OK)
        status = profile_get(&p);
    if (status == STORM_OK)
        status = profile_units(&p);
    if (status == STORM_OK) {
        profile_cells(&p);
        status = profile_reduce(&p);
    }
    if (status == STORM_OK && storm_context_rank(source->context) == 0)
        status = profile_write(&p);
    for (int k = 0; k < PROFILE_SUMS; k++)
        storm_free(p.memory, p.field[k]);
    storm_free(p.memory, p.sum);
    return storm_context_agree(source->context, status);
}
