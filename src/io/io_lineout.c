/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line-outs: the fields of the cells at points of a line, as CSV.
 *
 * A point is in one cell, of one rank: sums over ranks are its values, the same
 * bits on any number of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/text.h"
#include "io/io_fields.h"
#include "io/io_means.h"

/* What is taken of a point, one array after the other; the tag in two halves,
 * which doubles hold. */
enum lineout_value {
    LINEOUT_FOUND, /* 1: it is in the mesh */
    LINEOUT_TAG_HIGH,
    LINEOUT_TAG_LOW,
    LINEOUT_MATERIAL, /* and 1, as outside is -1 */
    LINEOUT_TEMPERATURE,
    LINEOUT_RADIATION,
    LINEOUT_ENERGY,
    LINEOUT_VALUES
};

/* Densities of the moments. */
static const storm_imc_moment lineout_moments[] = {
    STORM_IMC_GROUPS, STORM_IMC_FLUX, STORM_IMC_PRESSURE};
enum { LINEOUT_MOMENTS = sizeof lineout_moments / sizeof lineout_moments[0] };

static const char lineout_label[] = "output";

struct lineout {
    const struct io_source *source;
    const struct io_line *line;
    struct storm_memory *memory;
    storm_cell_idx *cell; /* of this rank, by point; -1: none */
    size_t n_columns;     /* LINEOUT_VALUES and values of moments */
    double *value;        /* n_columns arrays of a value for each point */
    double *room;         /* for all values of one field or moment */
};

static void lineout_point(const struct io_line *line, size_t i, double x_out[3])
{
    double part = (double)i / (double)(line->n - 1);
    for (int d = 0; d < 3; d++)
        x_out[d] =
            line->from_cm[d] + part * (line->to_cm[d] - line->from_cm[d]);
}

/* Values of a cell; 0: not asked for. */
static size_t lineout_n(const struct io_source *source, size_t m)
{
    return (source->moments & (unsigned)lineout_moments[m]) != 0
               ? storm_imc_moment_values(source->imc, lineout_moments[m])
               : 0;
}

/* ---- values -------------------------------------------------------------- */

static storm_status lineout_locate(struct lineout *l)
{
    const struct storm_mesh *mesh = l->source->mesh;
    const int rank = storm_context_rank(l->source->context);
    storm_status status = STORM_OK;
    for (size_t i = 0; i < l->line->n && status >= 0; i++) {
        double x[3];
        struct storm_cell_ref where = {.rank = -1};
        lineout_point(l->line, i, x);
        status = storm_mesh_locate(mesh, x, &where);
        bool mine = status == STORM_OK && where.rank == rank;
        l->cell[i] = mine ? where.idx : -1;
        if (status == STORM_ERR_ARG)
            status = STORM_OK; /* not in the mesh */
        if (!mine)
            continue;
        storm_cell_id tag = storm_mesh_cell_id(mesh, where.idx);
        l->value[LINEOUT_FOUND * l->line->n + i] = 1.0;
        l->value[LINEOUT_TAG_HIGH * l->line->n + i] = (double)(tag >> 24);
        l->value[LINEOUT_TAG_LOW * l->line->n + i] = (double)(tag & 0xffffff);
        l->value[LINEOUT_MATERIAL * l->line->n + i] =
            1.0 + storm_imc_material(l->source->imc, where.idx);
    }
    return storm_context_agree(l->source->context,
                               status < 0 ? status : STORM_OK);
}

/* One column from values by cell, `n` for each, of which it is the k-th. */
static void lineout_take(struct lineout *l, size_t column, size_t n, size_t k)
{
    for (size_t i = 0; i < l->line->n; i++)
        if (l->cell[i] >= 0)
            l->value[column * l->line->n + i] =
                l->room[n * (size_t)l->cell[i] + k];
}

static storm_status lineout_fill(struct lineout *l)
{
    const struct io_source *source = l->source;
    const storm_imc_field from[LINEOUT_VALUES] = {
        [LINEOUT_TEMPERATURE] = STORM_IMC_TEMPERATURE,
        [LINEOUT_RADIATION] = source->radiation,
        [LINEOUT_ENERGY] = STORM_IMC_MATERIAL_ENERGY,
    };
    storm_status status = lineout_locate(l);
    for (size_t k = LINEOUT_TEMPERATURE; k < LINEOUT_VALUES && status >= 0;
         k++) {
        status = storm_imc_get(source->imc, source->engine, from[k], l->room);
        if (status == STORM_OK)
            lineout_take(l, k, 1, 0);
    }
    size_t column = LINEOUT_VALUES;
    for (size_t m = 0; m < LINEOUT_MOMENTS && status >= 0; m++) {
        size_t n = lineout_n(source, m);
        if (n > 0)
            status = io_get_moment(source, lineout_moments[m], l->room);
        for (size_t k = 0; k < n && status == STORM_OK; k++)
            lineout_take(l, column++, n, k);
    }
    for (size_t k = 0; k < l->n_columns && status >= 0; k++)
        status =
            storm_context_reduce(source->context, l->value + k * l->line->n,
                                 (int)l->line->n, MPI_DOUBLE, MPI_SUM);
    return status;
}

/* ---- text ---------------------------------------------------------------- */

static void lineout_number(struct storm_page *page, double value)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s", text);
}

static void lineout_head(const struct lineout *l, struct storm_page *page)
{
    const struct io_source *source = l->source;
    storm_page_add(page, "# time ");
    lineout_number(page, source->time_s);
    storm_page_add(page, " from ");
    lineout_number(page, source->start_s);
    storm_page_add(page, "%svalues of the cells along the line%s\n",
                   source->natural ? "; " : " s; ",
                   source->natural
                       ? ""
                       : "; distance, x, y, z cm, temperatures keV, energies "
                         "and pressures erg/cm3, fluxes erg/cm2/s");
    storm_page_add(page, "distance,x,y,z,cell,material,material_temperature,"
                         "radiation_temperature,radiation_energy,"
                         "material_energy");
    for (size_t m = 0; m < LINEOUT_MOMENTS; m++)
        for (size_t k = 0; k < lineout_n(source, m); k++) {
            char name[64];
            io_moment_name(lineout_moments[m], k, name, sizeof name);
            storm_page_add(page, ",%s", name);
        }
    storm_page_add(page, "\n");
}

static double lineout_at(const struct lineout *l, size_t column, size_t i)
{
    return l->value[column * l->line->n + i];
}

/* A value, or NaN where a dump has it. */
static void lineout_add(const struct lineout *l, struct storm_page *page,
                        const char *name, size_t i, double value)
{
    int material = (int)lineout_at(l, LINEOUT_MATERIAL, i) - 1;
    bool has = lineout_at(l, LINEOUT_FOUND, i) > 0.0 &&
               io_field_has(l->source, name, material, value);
    storm_page_add(page, ",");
    lineout_number(page, has ? value : (double)NAN);
}

/* cell -1: out of the mesh. */
static void lineout_row(const struct lineout *l, size_t i,
                        struct storm_page *page)
{
    double x[3], square = 0.0, a = l->source->radiation_constant;
    double radiation = lineout_at(l, LINEOUT_RADIATION, i);
    bool found = lineout_at(l, LINEOUT_FOUND, i) > 0.0;
    lineout_point(l->line, i, x);
    for (int d = 0; d < 3; d++)
        square += pow(l->line->to_cm[d] - l->line->from_cm[d], 2.0);
    lineout_number(page, sqrt(square) * ((double)i / (double)(l->line->n - 1)));
    for (int d = 0; d < 3; d++) {
        storm_page_add(page, ",");
        lineout_number(page, x[d]);
    }
    storm_page_add(page, ",%" PRId64 ",%d",
                   found
                       ? (int64_t)((uint64_t)lineout_at(l, LINEOUT_TAG_HIGH, i)
                                       << 24 |
                                   (uint64_t)lineout_at(l, LINEOUT_TAG_LOW, i))
                       : -1,
                   (int)lineout_at(l, LINEOUT_MATERIAL, i) - 1);
    lineout_add(l, page, "material_temperature", i,
                lineout_at(l, LINEOUT_TEMPERATURE, i));
    lineout_add(l, page, "radiation", i, sqrt(sqrt(radiation / a)));
    lineout_add(l, page, "radiation", i, radiation);
    lineout_add(l, page, "material_energy", i,
                lineout_at(l, LINEOUT_ENERGY, i));
    for (size_t k = LINEOUT_VALUES; k < l->n_columns; k++)
        lineout_add(l, page, "moment", i, lineout_at(l, k, i));
    storm_page_add(page, "\n");
}

static storm_status lineout_write(const struct lineout *l)
{
    char name[IO_LINE_NAME + 48];
    struct storm_page page = {0};
    lineout_head(l, &page);
    for (size_t i = 0; i < l->line->n; i++)
        lineout_row(l, i, &page);
    char *text = storm_page_end(&page);
    snprintf(name, sizeof name, "lineout-%s-%" PRIu64 ".csv", l->line->name,
             l->source->step);
    storm_status status =
        text != NULL ? io_means_table(l->source, name,
                                      "distance,x,y,z,cell,material", text)
                     : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- the line ------------------------------------------------------------ */

static storm_status lineout_open(struct lineout *l)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(l->source->mesh) + 1;
    size_t widest = 1;
    l->n_columns = LINEOUT_VALUES;
    for (size_t m = 0; m < LINEOUT_MOMENTS; m++) {
        size_t n = lineout_n(l->source, m);
        l->n_columns += n;
        widest = n > widest ? n : widest;
    }
    size_t n_values = l->n_columns * l->line->n;
    l->cell =
        storm_alloc(l->memory, lineout_label, l->line->n * sizeof *l->cell);
    l->value =
        storm_alloc(l->memory, lineout_label, n_values * sizeof *l->value);
    l->room = storm_alloc(l->memory, lineout_label,
                          widest * n_cells * sizeof *l->room);
    if (l->cell == NULL || l->value == NULL || l->room == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n_values; i++)
        l->value[i] = 0.0;
    return STORM_OK;
}

storm_status io_write_lineout(const struct io_source *source,
                              const struct io_line *line)
{
    struct lineout l = {.source = source,
                        .line = line,
                        .memory = storm_context_env(source->context)->memory};
    storm_status status =
        storm_context_agree(source->context, lineout_open(&l));
    if (status == STORM_OK)
        status = lineout_fill(&l);
    if (status == STORM_OK && storm_context_rank(source->context) == 0)
        status = lineout_write(&l);
    storm_free(l.memory, l.cell);
    storm_free(l.memory, l.value);
    storm_free(l.memory, l.room);
    return storm_context_agree(source->context, status);
}
