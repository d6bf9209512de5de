/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dump: the fields of the cells in fields-<step>.h5, in order of their
 * tags; the first dump also writes the mesh.
 */
#include "io/io_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/env.h"
#include "io/io_cells.h"
#include "io/io_h5.h"

const char *const io_field_names[IO_N_FIELDS] = {
    "material_temperature", "material_energy", "radiation_energy",
    "radiation_temperature"};

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

static storm_status fields_put(const struct io_source *source,
                               struct io_h5_writer *file, double *mine)
{
    storm_status status = STORM_OK;
    for (int k = 0; k < IO_N_FIELDS && status == STORM_OK; k++) {
        const struct io_cells rows = {io_field_names[k], IO_H5_REAL, 1, mine};
        status =
            storm_context_agree(source->context, fields_get(source, k, mine));
        if (status == STORM_OK)
            status = io_cells_put(source, file, &rows);
    }
    return status < 0 ? status : io_cells_put_tags(source, file);
}

/* If the mesh has changed, the step says which file has it. */
static storm_status fields_file(const struct io_source *source,
                                uint64_t mesh_step, double *mine)
{
    char name[64];
    snprintf(name, sizeof name, "fields-%" PRIu64 ".h5", source->step);
    struct io_h5_writer *file = NULL;
    storm_status status =
        io_h5_create(source->context, source->dir, name, &file);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "time", source->time_s);
    if (status == STORM_OK && mesh_step > 0)
        status = io_h5_put_number(file, "mesh_step", (double)mesh_step);
    if (status == STORM_OK)
        status = fields_put(source, file, mine);
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
    storm_free(memory, mine);
    if (status == STORM_OK)
        status = io_write_partition(source);
    if (status == STORM_OK && storm_context_rank(source->context) == 0)
        status = io_write_xdmf(source, series);
    return storm_context_agree(source->context, status);
}
