/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dump: the fields of the cells in fields-<step>.h5, in order of their
 * tags; the first dump also writes the mesh.
 */
#include "io/io_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/packet.h>

#include "base/env.h"
#include "base/exact.h"
#include "io/io_cells.h"
#include "io/io_h5.h"
#include "io/io_means.h"

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
    void *const *packets = storm_engine_packets(source->engine, &n);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest,
                       ((const struct storm_packet *)packets[i])->weight_erg);
    storm_exact *sums =
        storm_alloc(memory, "output", (n_groups * n_cells + 1) * sizeof *sums);
    storm_status status =
        storm_context_agree(source->context,
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
        values != NULL ? storm_imc_get_moment(source->imc, moment, values)
                       : STORM_ERR_NOMEM;
    status = storm_context_agree(source->context, status);
    if (status == STORM_OK && moment == STORM_IMC_GROUPS &&
        source->radiation == STORM_IMC_RADIATION_CENSUS)
        status = groups_at_census(source, n, values);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        char name[64];
        io_moment_name(moment, i, name, sizeof name);
        for (size_t cell = 0; cell < n_cells; cell++)
            mine[cell] = values[n * cell + i];
        status = io_cells_put_mean(means, file, name, mine);
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
            status = io_cells_put_mean(means, file, io_field_names[k], mine);
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
        status = io_h5_put_number(file, "time", source->time_s);
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
    if (status == STORM_OK && storm_context_rank(source->context) == 0) {
        io_add_xdmf(source, series);
        if (source->replica <= 1)
            status = io_write_xdmf(source, series);
    }
    return storm_context_agree(source->context, status);
}
