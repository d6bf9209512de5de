/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the start from a file: `fields` of a deck. */
#include <string.h>

#include <storm/context.h>
#include <storm/imc.h>

#include "base/env.h"
#include "base/hash.h"
#include "io/io_snapshot.h"
#include "run/run.h"

static bool fields_has(const char *name)
{
    return name != NULL && strcmp(name, "none") != 0;
}

storm_status run_fields_check(const struct storm_deck *deck,
                              const struct storm_env *env)
{
    const struct deck_fields *f = &deck->values.fields;
    const char *const names[3] = {f->density, f->temperature,
                                  f->radiation_temperature};
    const struct io_snapshot from = {f->file, f->by == 1, NULL};
    storm_status status = STORM_OK;
    for (int i = 0; i < 3 && status == STORM_OK && fields_has(f->file); i++)
        if (fields_has(names[i]))
            status = io_snapshot_check(env, &from, names[i]);
    return status;
}

/* Density at constant temperature. */
static storm_status fields_set_density(struct run *run, const double *values,
                                       double *room)
{
    storm_status status =
        storm_imc_get(run->imc, run->engine, STORM_IMC_TEMPERATURE, room);
    if (status == STORM_OK)
        status = storm_imc_set(run->imc, STORM_IMC_DENSITY, values);
    return status < 0 ? status
                      : storm_imc_set(run->imc, STORM_IMC_TEMPERATURE, room);
}

static storm_status fields_set(struct run *run, int i, const double *values,
                               double *room)
{
    return i == 0   ? fields_set_density(run, values, room)
           : i == 1 ? storm_imc_set(run->imc, STORM_IMC_TEMPERATURE, values)
                    : storm_imc_set_start(run->imc, values);
}

/* Adds those of all cells, in any order. Collective. */
static storm_status fields_hash(const struct run *run, int i,
                                const double *values, uint64_t *hash)
{
    uint64_t sum = 0;
    for (storm_cell_idx k = 0; k < storm_mesh_n_cells(run->mesh); k++) {
        uint64_t cell =
            storm_hash_fold((uint64_t)i + 1, storm_mesh_cell_id(run->mesh, k));
        sum += storm_hash_fold_real(cell, values[k]);
    }
    storm_status status =
        storm_context_reduce(run->context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    *hash += sum;
    return status;
}

storm_status run_fields_read(struct run *run, bool sets, uint64_t *hash_out)
{
    const struct deck_fields *f = &run->deck->values.fields;
    const char *const names[3] = {f->density, f->temperature,
                                  f->radiation_temperature};
    const struct io_snapshot from = {f->file, f->by == 1, run->mesh};
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    *hash_out = 0;
    if (!fields_has(f->file))
        return STORM_OK;
    size_t n = (size_t)storm_mesh_n_cells(run->mesh);
    double *values =
        storm_alloc(memory, "fields", 2 * (n + 1) * sizeof *values);
    storm_status status =
        storm_context_agree(run->context,
                            values != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (int i = 0; i < 3 && status == STORM_OK; i++) {
        if (!fields_has(names[i]))
            continue;
        status = io_snapshot_read(run->context, &from, names[i], values);
        if (status == STORM_OK)
            status = fields_hash(run, i, values, hash_out);
        if (status == STORM_OK && sets)
            status = fields_set(run, i, values, values + n + 1);
    }
    storm_free(memory, values);
    return status;
}
