/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dump: the fields of the cells in fields-<step>.h5, in order of their
 * tags; the first dump also writes the mesh.
 */
#include "io/io_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/packet.h>
#include <storm/version.h>

#include "base/env.h"
#include "base/exact.h"
#include "io/io_cells.h"
#include "io/io_h5.h"
#include "io/io_means.h"

const char *const io_field_names[IO_N_FIELDS] = {
    "material_temperature", "material_energy", "radiation_energy",
    "radiation_temperature"};

/* What a name begins with, and its unit. */
const char *io_unit(const struct io_source *source, const char *name)
{
    static const char *const units[][2] = {{"material_temperature", "keV"},
                                           {"radiation_temperature", "keV"},
                                           {"material_energy", "erg/cm3"},
                                           {"radiation_energy", "erg/cm3"},
                                           {"flux_", "erg/cm2/s"},
                                           {"pressure_", "erg/cm3"},
                                           {"momentum_", "g cm/s"},
                                           {"volume", "cm3"},
                                           {"centroid", "cm"},
                                           {"generator", "cm"},
                                           {"points", "cm"},
                                           {"box", "cm"},
                                           {"position", "cm"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strncmp(name, units[i][0], strlen(units[i][0])) == 0)
            return source->natural ? NULL : units[i][1];
    return NULL;
}

storm_status io_put_unit(const struct io_source *source,
                         struct io_h5_writer *file, const char *name)
{
    const char *unit = io_unit(source, name);
    return unit == NULL ? STORM_OK : io_h5_put_text(file, name, "unit", unit);
}

storm_status io_put_head(const struct io_source *source,
                         struct io_h5_writer *file)
{
    storm_status status =
        io_h5_put_text(file, NULL, "storm_version", storm_version());
    if (status == STORM_OK && source->title != NULL)
        status = io_h5_put_text(file, NULL, "title", source->title);
    return status;
}

bool io_field_has(const struct io_source *source, const char *name,
                  int material, double value)
{
    if (material == STORM_OUTSIDE)
        return false;
    if (strncmp(name, "material_", 9) != 0 ||
        !storm_imc_is_held(source->imc, material))
        return true;
    return strcmp(name, "material_temperature") == 0 && value > 0.0;
}

/* Values, their errors and units; NaN where there is no value. */
static storm_status fields_put_one(const struct io_means *means,
                                   struct io_h5_writer *file, const char *name,
                                   double *values)
{
    const struct io_source *source = means->source;
    char error[96];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(source->mesh); i++)
        if (!io_field_has(source, name, storm_imc_material(source->imc, i),
                          values[i]))
            values[i] = (double)NAN;
    storm_status status = io_cells_put_mean(means, file, name, values);
    if (status == STORM_OK)
        status = io_put_unit(source, file, name);
    snprintf(error, sizeof error, "%s" IO_ERROR_SUFFIX, name);
    if (status == STORM_OK && means->n > 1)
        status = io_put_unit(source, file, error);
    return status;
}

/* One field of this rank's cells. */
static storm_status fields_get(const struct io_source *source, int i_field,
                               double *values)
{
    const storm_imc_field from[IO_N_FIELDS] = {
        STORM_IMC_TEMPERATURE, STORM_IMC_MATERIAL_ENERGY, source->radiation,
        source->radiation};
    storm_status status =
        storm_imc_get(source->imc, source->engine, from[i_field], values);
    if (status == STORM_OK && i_field == IO_N_FIELDS - 1)
        for (storm_cell_idx i = 0; i < storm_mesh_n_cells(source->mesh); i++)
            values[i] = sqrt(sqrt(values[i] / source->radiation_constant));
    return status;
}

void io_moment_name(storm_imc_moment moment, size_t i, char *name_out,
                    size_t bytes)
{
    static const char *const pairs[] = {"xx", "yy", "zz", "xy", "yz", "zx"};
    if (moment == STORM_IMC_GROUPS)
        snprintf(name_out, bytes, "radiation_energy_group_%zu", i);
    else if (moment == STORM_IMC_PRESSURE)
        snprintf(name_out, bytes, "pressure_%s", pairs[i]);
    else if (moment == STORM_IMC_EVENTS)
        snprintf(name_out, bytes, "events_%s",
                 storm_imc_event_name((storm_imc_event)i));
    else
        snprintf(name_out, bytes, "%s_%c",
                 moment == STORM_IMC_FLUX ? "flux" : "momentum", "xyz"[i]);
}

/* Energy density of the packets by cell and group, in exact sums: together they
 * are the radiation energy of the census. Collective. */
static storm_status groups_at_census(const struct io_source *source,
                                     size_t n_groups, double *values)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n_cells = (size_t)storm_mesh_n_cells(source->mesh), n;
    storm_status status =
        storm_context_agree(source->context,
                            storm_engine_fetch(source->engine));
    if (status < 0)
        return status;
    void *const *packets = storm_engine_packets(source->engine, &n);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest,
                       ((const struct storm_packet *)packets[i])->weight_erg);
    storm_exact *sums =
        storm_alloc(memory, "output", (n_groups * n_cells + 1) * sizeof *sums);
    status = storm_context_agree(source->context,
                                 sums != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_context_reduce(source->context, &largest, 1, MPI_DOUBLE,
                                      MPI_MAX);
    struct storm_exact_unit unit = storm_exact_unit(largest);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        const struct storm_packet *packet = packets[i];
        size_t cell = (size_t)packet->cell_idx, group = (size_t)packet->group;
        if (cell < n_cells && group < n_groups &&
            storm_mesh_cell_id(source->mesh, packet->cell_idx) == packet->cell)
            storm_exact_add(&sums[n_groups * cell + group], packet->weight_erg,
                            unit);
    }
    for (size_t k = 0; k < n_groups * n_cells && status == STORM_OK; k++)
        values[k] =
            storm_exact_value(sums[k], unit) /
            storm_mesh_volume_cm3(source->mesh, (storm_cell_idx)(k / n_groups));
    storm_free(memory, sums);
    return status;
}

storm_status io_get_moment(const struct io_source *source,
                           storm_imc_moment moment, double *values_out)
{
    size_t n = storm_imc_moment_values(source->imc, moment);
    if (moment == STORM_IMC_GROUPS &&
        source->radiation == STORM_IMC_RADIATION_CENSUS)
        return groups_at_census(source, n, values_out);
    return storm_context_agree(source->context,
                               storm_imc_get_moment(source->imc, moment,
                                                    values_out));
}

/* The i-th array without those of errors; their number is added to *n. */
static bool fields_name(const struct io_source *source, size_t i,
                        char *name_out, size_t bytes, size_t *n)
{
    *n = IO_N_FIELDS;
    if (i < IO_N_FIELDS) {
        snprintf(name_out, bytes, "%s", io_field_names[i]);
        return true;
    }
    for (unsigned m = 1; m <= source->moments; m *= 2) {
        size_t n_values =
            (source->moments & m) != 0
                ? storm_imc_moment_values(source->imc, (storm_imc_moment)m)
                : 0;
        if (i < *n + n_values) {
            io_moment_name((storm_imc_moment)m, i - *n, name_out, bytes);
            return true;
        }
        *n += n_values;
    }
    return false;
}

bool io_field_name(const struct io_source *source, size_t i, char *name_out,
                   size_t bytes)
{
    char name[64];
    size_t n, all;
    if (fields_name(source, i, name_out, bytes, &n))
        return true;
    if (source->replica <= 1 || !fields_name(source, i - n, name, 64, &all))
        return false;
    snprintf(name_out, bytes, "%s" IO_ERROR_SUFFIX, name);
    return true;
}

static storm_status moment_put(const struct io_means *means,
                               struct io_h5_writer *file,
                               storm_imc_moment moment, double *mine)
{
    const struct io_source *source = means->source;
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n_cells = (size_t)storm_mesh_n_cells(source->mesh);
    size_t n = storm_imc_moment_values(source->imc, moment);
    double *values =
        storm_alloc(memory, "output", (n * n_cells + 1) * sizeof *values);
    storm_status status =
        storm_context_agree(source->context,
                            values != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = io_get_moment(source, moment, values);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        char name[64];
        io_moment_name(moment, i, name, sizeof name);
        for (size_t cell = 0; cell < n_cells; cell++)
            mine[cell] = values[n * cell + i];
        status = fields_put_one(means, file, name, mine);
    }
    storm_free(memory, values);
    return status;
}

static storm_status fields_put(const struct io_means *means,
                               struct io_h5_writer *file, double *mine)
{
    const struct io_source *source = means->source;
    storm_status status = io_means_put_number(means, file);
    for (int k = 0; k < IO_N_FIELDS && status == STORM_OK; k++) {
        status =
            storm_context_agree(source->context, fields_get(source, k, mine));
        if (status == STORM_OK)
            status = fields_put_one(means, file, io_field_names[k], mine);
    }
    for (unsigned m = 1; m <= source->moments && status == STORM_OK; m *= 2)
        if ((source->moments & m) != 0)
            status = moment_put(means, file, (storm_imc_moment)m, mine);
    return status < 0 ? status : io_cells_put_tags(source, file);
}

/* If the mesh has changed, the step says which file has it. */
static storm_status fields_write(const struct io_means *means,
                                 uint64_t mesh_step, double *mine)
{
    const struct io_source *source = means->source;
    struct io_h5_writer *file = NULL;
    storm_status status =
        io_h5_create(source->context, source->dir, means->name, &file);
    if (status == STORM_OK)
        status = io_put_head(source, file);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "step", (double)source->step);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "time", source->time_s);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "start", source->start_s);
    if (status == STORM_OK && !source->natural)
        status = io_h5_put_text(file, NULL, "unit_of_time", "s");
    if (status == STORM_OK && mesh_step > 0)
        status = io_h5_put_number(file, "mesh_step", (double)mesh_step);
    if (status == STORM_OK)
        status = fields_put(means, file, mine);
    return io_h5_finish(file, status);
}

static storm_status fields_file(const struct io_source *source,
                                uint64_t mesh_step, double *mine)
{
    char name[64];
    struct io_means means;
    snprintf(name, sizeof name, "fields-%" PRIu64 ".h5", source->step);
    storm_status status = io_means_open(source, name, &means);
    if (status == STORM_OK && !means.is_done)
        status = fields_write(&means, mesh_step, mine);
    io_means_close(&means);
    return status;
}

static bool fields_vtk_name(void *self, size_t i, char *name_out, size_t bytes)
{
    return io_field_name(self, i, name_out, bytes);
}

/* The file for ParaView: of boxes, others are no cells that VTKHDF knows. */
static storm_status fields_vtk(const struct io_source *source,
                               uint64_t mesh_step)
{
    char name[64], fields[64], mesh[IO_MESH_NAME];
    struct io_source copy = *source;
    struct io_h5_writer *file = NULL;
    if (!storm_mesh_cells_are_boxes(source->mesh))
        return STORM_OK;
    snprintf(name, sizeof name, "fields-%" PRIu64 ".hdf", source->step);
    snprintf(fields, sizeof fields, "fields-%" PRIu64 ".h5", source->step);
    io_mesh_name(mesh_step, mesh);
    const struct io_h5_vtk what = {.mesh = mesh,
                                   .fields = fields,
                                   .n_cells =
                                       storm_mesh_n_cells_total(source->mesh),
                                   .time_s = source->time_s,
                                   .name = fields_vtk_name,
                                   .self = &copy};
    storm_status status =
        io_h5_create(source->context, source->dir, name, &file);
    if (status == STORM_OK)
        status = io_h5_put_vtk(file, &what);
    return io_h5_finish(file, status);
}

storm_status io_write_fields(const struct io_source *source,
                             struct io_series *series)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n_cells = (size_t)storm_mesh_n_cells(source->mesh);
    double *mine = storm_alloc(memory, "output", (n_cells + 1) * sizeof *mine);
    storm_status status =
        storm_context_agree(source->context,
                            mine != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = io_write_mesh(source, series);
    if (status == STORM_OK)
        status = fields_file(source, series->mesh_step, mine);
    if (status == STORM_OK)
        status = fields_vtk(source, series->mesh_step);
    storm_free(memory, mine);
    if (status == STORM_OK)
        status = io_write_partition(source);
    if (status == STORM_OK && storm_context_rank(source->context) == 0) {
        io_add_xdmf(source, series);
        if (source->replica <= 1)
            status = io_write_xdmf(source, series);
    }
    return storm_context_agree(source->context, status);
}
