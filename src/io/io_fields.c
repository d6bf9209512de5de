/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dump: the fields of the cells in fields-<step>.h5, in order of ids; with
 * the first of them, the mesh.
 */
#include "io/io_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "io/io_h5.h"
#include "physics/imc.h"
#include "run/run.h"

const char *const output_field_names[OUTPUT_N_FIELDS] = {
    "material_temperature", "material_energy", "radiation_energy",
    "radiation_temperature"};

static void fields_fill(void *self, size_t first, size_t n, void *out)
{
    const double *values = self;
    memcpy(out, values + first, n * sizeof *values);
}

/* One field of this rank's cells. */
static storm_status fields_get(const struct run *run, int i_field,
                               double *values)
{
    const storm_imc_field from[OUTPUT_N_FIELDS] = {
        STORM_IMC_TEMPERATURE, STORM_IMC_MATERIAL_ENERGY, run_radiation(run),
        run_radiation(run)};
    storm_status status =
        storm_imc_get(run->imc, run->engine, from[i_field], values);
    if (status == STORM_OK && i_field == OUTPUT_N_FIELDS - 1)
        for (storm_cell_idx i = 0; i < run->imc->n_cells; i++)
            values[i] = sqrt(sqrt(values[i] / run->problem.radiation));
    return status;
}

static storm_status fields_file(const struct run *run, double *mine)
{
    char name[64];
    snprintf(name, sizeof name, "fields-%" PRIu64 ".h5", run->step);
    struct output_h5 *file = NULL;
    storm_status status =
        output_h5_create(run->context, run->out_dir, name, &file);
    if (status == STORM_OK)
        status = output_h5_mark(file, "time", run->time_s);
    for (int k = 0; k < OUTPUT_N_FIELDS && status == STORM_OK; k++) {
        const struct output_array array = {.name = output_field_names[k],
                                           .kind = OUTPUT_REAL,
                                           .columns = 1,
                                           .n = (size_t)run->imc->n_cells,
                                           .self = mine,
                                           .fill = fields_fill};
        status = storm_context_agree(run->context, fields_get(run, k, mine));
        if (status == STORM_OK)
            status = output_h5_put(file, &array);
    }
    storm_status closed = output_h5_close(file);
    return status < 0 ? status : closed;
}

storm_status output_fields(struct run *run)
{
    double *mine = malloc(((size_t)run->imc->n_cells + 1) * sizeof *mine);
    storm_status status =
        storm_context_agree(run->context,
                            mine != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK && run->n_points == 0)
        status = output_mesh(run);
    if (status == STORM_OK)
        status = fields_file(run, mine);
    free(mine);
    if (status == STORM_OK && storm_context_rank(run->context) == 0) {
        status = output_partition(run);
        if (status == STORM_OK)
            status = output_xdmf(run);
    }
    return storm_context_agree(run->context, status);
}
