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
#include "io/io_means.h"

/* What is averaged, by volume. Sums of a bin: the volume, and it times each
 * energy; then for each material its volume, and that times T; then the volume
 * times each value of the moments that are densities. */
enum { VOLUME, RADIATION, MATERIAL, TEMPERATURE, PROFILE_FIELDS };
enum { SUM_MATTER = TEMPERATURE, SUMS_A_MATERIAL = 2 };

/* Moments that are densities. */
static const storm_imc_moment profile_moments[] = {
    STORM_IMC_GROUPS, STORM_IMC_FLUX, STORM_IMC_PRESSURE};
enum { PROFILE_MOMENTS = sizeof profile_moments / sizeof profile_moments[0] };

static const char profile_label[] = "output";

struct profile {
    const struct io_source *source;
    struct io_bins bins;
    struct storm_memory *memory;
    double *field[PROFILE_FIELDS]; /* per cell */
    struct storm_exact_unit unit[PROFILE_FIELDS];
    size_t n_more; /* values of moments, of a cell */
    double *more;  /* per cell: all of a moment, of all cells, after another */
    struct storm_exact_unit unit_more[PROFILE_MOMENTS];
    size_t n_sums;    /* of a bin */
    storm_exact *sum; /* n_sums for each bin */
};

/* ---- moments ------------------------------------------------------------- */

/* Values of a cell; 0: not asked for. */
static size_t profile_values(const struct profile *p, storm_imc_moment moment)
{
    return (p->source->moments & (unsigned)moment) != 0
               ? storm_imc_moment_values(p->source->imc, moment)
               : 0;
}

static storm_status profile_get_more(struct profile *p)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(p->source->mesh);
    double *to = p->more;
    storm_status status = STORM_OK;
    for (size_t m = 0; m < PROFILE_MOMENTS && status == STORM_OK; m++) {
        size_t n = profile_values(p, profile_moments[m]);
        if (n > 0)
            status = io_get_moment(p->source, profile_moments[m], to);
        to += n * n_cells;
    }
    return status;
}

static void profile_add_more(struct profile *p, storm_exact *sum,
                             storm_cell_idx cell, double volume)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(p->source->mesh);
    const double *from = p->more;
    for (size_t m = 0; m < PROFILE_MOMENTS; m++) {
        size_t n = profile_values(p, profile_moments[m]);
        for (size_t k = 0; k < n; k++)
            storm_exact_add(sum++, volume * from[n * (size_t)cell + k],
                            p->unit_more[m]);
        from += n * n_cells;
    }
}

/* The largest term of each moment, this rank's. */
static void profile_largest(const struct profile *p, double *max_out)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(p->source->mesh);
    const double *from = p->more;
    for (size_t m = 0; m < PROFILE_MOMENTS; m++) {
        size_t n = profile_values(p, profile_moments[m]);
        max_out[m] = 0.0;
        for (size_t k = 0; k < n * n_cells; k++)
            max_out[m] =
                fmax(max_out[m], p->field[VOLUME][k / n] * fabs(from[k]));
        from += n * n_cells;
    }
}

static void profile_head_more(const struct profile *p, struct storm_page *page)
{
    for (size_t m = 0; m < PROFILE_MOMENTS; m++)
        for (size_t k = 0; k < profile_values(p, profile_moments[m]); k++) {
            char name[64];
            io_moment_name(profile_moments[m], k, name, sizeof name);
            storm_page_add(page, ",%s", name);
        }
}

/* ---- sums ---------------------------------------------------------------- */

static void profile_add(struct profile *p, size_t bin, storm_cell_idx cell,
                        double volume)
{
    storm_exact *sum = &p->sum[p->n_sums * bin];
    int material = storm_imc_material(p->source->imc, cell);
    storm_exact_add(&sum[VOLUME], volume, p->unit[VOLUME]);
    profile_add_more(p, sum + p->n_sums - p->n_more, cell, volume);
    for (int k = RADIATION; k <= MATERIAL; k++)
        storm_exact_add(&sum[k], volume * p->field[k][cell], p->unit[k]);
    if (material < 0 || (size_t)material >= p->source->n_materials)
        return; /* empty */
    sum += SUM_MATTER + SUMS_A_MATERIAL * (size_t)material;
    storm_exact_add(&sum[0], volume, p->unit[VOLUME]);
    storm_exact_add(&sum[1], volume * p->field[TEMPERATURE][cell],
                    p->unit[TEMPERATURE]);
}

static double profile_edge(const struct profile *p, size_t bin)
{
    if (p->bins.edges_cm != NULL)
        return p->bins.edges_cm[bin];
    return p->bins.lo_cm +
           (p->bins.hi_cm - p->bins.lo_cm) * ((double)bin / (double)p->bins.n);
}

/* The bin of a place between the edges; of one beyond them, the next. */
static size_t profile_find(const struct profile *p, double x)
{
    size_t low = 0, high = p->bins.n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->bins.edges_cm[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t profile_bin(const struct profile *p, double x)
{
    if (p->bins.edges_cm != NULL)
        return profile_find(p, x);
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

/* Within the edges of all bins? Those of equal width fill the box. */
static bool profile_covers(const struct profile *p, double x)
{
    return p->bins.edges_cm == NULL ||
           (x >= p->bins.edges_cm[0] && x <= p->bins.edges_cm[p->bins.n]);
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
        else if (profile_covers(p, at))
            profile_add(p, profile_bin(p, at), i, p->field[VOLUME][i]);
    }
}

/* Units from the largest term of any rank. */
static storm_status profile_units(struct profile *p)
{
    const double *volume = p->field[VOLUME];
    enum { N_MAX = PROFILE_FIELDS + PROFILE_MOMENTS };
    double max[N_MAX] = {0.0};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->source->mesh); i++) {
        max[VOLUME] = fmax(max[VOLUME], volume[i]);
        for (int k = RADIATION; k < PROFILE_FIELDS; k++)
            max[k] = fmax(max[k], volume[i] * p->field[k][i]);
    }
    profile_largest(p, max + PROFILE_FIELDS);
    storm_status status = storm_context_reduce(p->source->context, max, N_MAX,
                                               MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    for (int m = 0; m < PROFILE_MOMENTS; m++)
        p->unit_more[m] = storm_exact_unit(max[PROFILE_FIELDS + m]);
    for (int k = 0; k < PROFILE_FIELDS; k++)
        p->unit[k] = storm_exact_unit(max[k]);
    return STORM_OK;
}

/* Integers of all ranks, a part at a time: MPI counts to 2^31. */
static storm_status profile_reduce_limbs(const struct storm_context *context,
                                         int64_t *limbs, size_t n)
{
    enum { PART = 1 << 24 };
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status >= 0; i += PART) {
        int part = (int)(n - i < PART ? n - i : PART);
        status = storm_context_reduce(context, limbs + i, part, MPI_INT64_T,
                                      MPI_SUM);
    }
    return status;
}

static storm_status profile_reduce(struct profile *p)
{
    const struct storm_context *context = p->source->context;
    size_t n = p->n_sums * p->bins.n;
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
    status = profile_reduce_limbs(context, limbs, STORM_EXACT_LIMBS * n);
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

/* The name of a column: what could end it or confuse readers becomes _. */
static void profile_column(struct storm_page *page, const char *material)
{
    storm_page_add(page, ",material_temperature_");
    for (const char *c = material != NULL ? material : ""; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '-' || *c == '.';
        storm_page_add(page, "%c", plain ? *c : '_');
    }
}

static void profile_head(const struct profile *p, struct storm_page *page)
{
    storm_page_add(page, "# time ");
    profile_number(page, p->source->time_s, ' ');
    storm_page_add(page, "from ");
    profile_number(page, p->source->start_s, ' ');
    const unsigned more = STORM_IMC_FLUX | STORM_IMC_PRESSURE;
    storm_page_add(page,
                   "%smeans by volume, of material_temperature over cells with "
                   "a heat capacity%s%s\n",
                   p->source->natural ? "; " : "s; ",
                   p->source->natural
                       ? ""
                       : "; position cm, temperatures keV, energies erg/cm3, "
                         "volume cm3",
                   !p->source->natural && (p->source->moments & more) != 0
                       ? ", fluxes erg/cm2/s, pressures erg/cm3"
                       : "");
    storm_page_add(page, "position,material_temperature,radiation_temperature,"
                         "radiation_energy,material_energy,volume");
    for (size_t m = 0; m < p->source->n_materials; m++)
        profile_column(page, p->source->materials[m].name);
    profile_head_more(p, page);
    storm_page_add(page, "\n");
}

/* Mean temperature from exact sums of volumes and of volumes times T; NaN where
 * there is no such matter. */
static double profile_mean(const struct profile *p, const storm_exact sum[2])
{
    double volume = storm_exact_value(sum[0], p->unit[VOLUME]);
    double product = storm_exact_value(sum[1], p->unit[TEMPERATURE]);
    return volume > 0.0 ? product / volume : (double)NAN;
}

/* The same of one material: NaN, as in dumps, if it has no temperature. */
static double profile_of_material(const struct profile *p, size_t m,
                                  const storm_exact sum[2])
{
    double value = profile_mean(p, sum);
    return io_field_has(p->source, "material_temperature", (int)m, value)
               ? value
               : (double)NAN;
}

/* The same of all matter with a heat capacity. */
static double profile_temperature(const struct profile *p,
                                  const storm_exact *matter)
{
    storm_exact sum[SUMS_A_MATERIAL] = {0};
    for (size_t m = 0; m < p->source->n_materials; m++) {
        if (storm_imc_is_held(p->source->imc, (int)m))
            continue;
        for (int k = 0; k < SUMS_A_MATERIAL; k++)
            sum[k] += matter[SUMS_A_MATERIAL * m + (size_t)k];
    }
    return profile_mean(p, sum);
}

static void profile_row_more(const struct profile *p, const storm_exact *sum,
                             double volume, struct storm_page *page)
{
    size_t left = p->n_more;
    for (size_t m = 0; m < PROFILE_MOMENTS; m++)
        for (size_t k = 0; k < profile_values(p, profile_moments[m]); k++) {
            double product = storm_exact_value(*sum++, p->unit_more[m]);
            profile_number(page, volume > 0.0 ? product / volume : (double)NAN,
                           --left > 0 ? ',' : '\n');
        }
}

static void profile_row(const struct profile *p, size_t bin,
                        struct storm_page *page)
{
    const storm_exact *sum = &p->sum[p->n_sums * bin];
    double value[SUM_MATTER];
    for (int k = VOLUME; k < SUM_MATTER; k++)
        value[k] = storm_exact_value(sum[k], p->unit[k]);
    for (int k = RADIATION; k < SUM_MATTER; k++)
        value[k] = value[VOLUME] > 0.0 ? value[k] / value[VOLUME] : (double)NAN;
    double a = p->source->radiation_constant;
    profile_number(page,
                   0.5 * (profile_edge(p, bin) + profile_edge(p, bin + 1)),
                   ',');
    profile_number(page, profile_temperature(p, sum + SUM_MATTER), ',');
    profile_number(page, sqrt(sqrt(value[RADIATION] / a)), ',');
    profile_number(page, value[RADIATION], ',');
    profile_number(page, value[MATERIAL], ',');
    size_t n = p->source->n_materials;
    profile_number(page, value[VOLUME], n + p->n_more > 0 ? ',' : '\n');
    for (size_t m = 0; m < n; m++)
        profile_number(page,
                       profile_of_material(p, m,
                                           sum + SUM_MATTER +
                                               SUMS_A_MATERIAL * m),
                       m + 1 < n + p->n_more ? ',' : '\n');
    profile_row_more(p, sum + p->n_sums - p->n_more, value[VOLUME], page);
}

static char *profile_text(const struct profile *p)
{
    struct storm_page page = {0};
    profile_head(p, &page);
    for (size_t bin = 0; bin < p->bins.n; bin++)
        profile_row(p, bin, &page);
    return storm_page_end(&page);
}

static storm_status profile_write(const struct profile *p)
{
    char name[64], *text = profile_text(p);
    snprintf(name, sizeof name, "profile-%" PRIu64 ".csv", p->source->step);
    storm_status status =
        text != NULL ? io_means_table(p->source, name, "position,volume", text)
                     : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- the profile --------------------------------------------------------- */

static storm_status profile_open(struct profile *p)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(p->source->mesh) + 1;
    for (size_t m = 0; m < PROFILE_MOMENTS; m++)
        p->n_more += profile_values(p, profile_moments[m]);
    p->n_sums =
        SUM_MATTER + SUMS_A_MATERIAL * p->source->n_materials + p->n_more;
    p->more = storm_alloc(p->memory, profile_label,
                          (p->n_more * n_cells + 1) * sizeof *p->more);
    p->sum = storm_alloc(p->memory, profile_label,
                         (p->n_sums * p->bins.n + 1) * sizeof *p->sum);
    bool good = p->sum != NULL && p->more != NULL;
    for (int k = 0; k < PROFILE_FIELDS; k++) {
        p->field[k] =
            storm_alloc(p->memory, profile_label, n_cells * sizeof(double));
        good = good && p->field[k] != NULL;
    }
    return good ? STORM_OK : STORM_ERR_NOMEM;
}

static storm_status profile_get(struct profile *p)
{
    const storm_imc_field from[PROFILE_FIELDS] = {
        STORM_IMC_VOLUME, p->source->radiation, STORM_IMC_MATERIAL_ENERGY,
        STORM_IMC_TEMPERATURE};
    storm_status status = STORM_OK;
    for (int k = 0; k < PROFILE_FIELDS && status == STORM_OK; k++)
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
        status = profile_get_more(&p);
    if (status == STORM_OK)
        status = profile_units(&p);
    if (status == STORM_OK) {
        profile_cells(&p);
        status = profile_reduce(&p);
    }
    if (status == STORM_OK && storm_context_rank(source->context) == 0)
        status = profile_write(&p);
    for (int k = 0; k < PROFILE_FIELDS; k++)
        storm_free(p.memory, p.field[k]);
    storm_free(p.memory, p.more);
    storm_free(p.memory, p.sum);
    return storm_context_agree(source->context, status);
}
