/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the start from a file: `fields` of a deck. */
#include <math.h>
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

/* Densities, temperatures of matter and of radiation. */
enum { FIELDS_RADIATION = 2, FIELDS_N };
static const struct io_snapshot_range fields_ranges[FIELDS_N] = {
    {"a number above 0 up to 1e300", true, STORM_UNLIMITED, false, 0},
    {"a number from 0 to 1e30", false, 1e30, true, 0},
    {"a number from 0 to 1e30", false, 1e30, true, 0},
};

/* Dumps have no value (NaN) where there is none: outside, and of temperatures
 * of matter without heat capacity. There the start stays as the deck has it;
 * `now` are the values of cells. */
static bool fields_lacks(const struct run *run, int i, storm_cell_idx cell)
{
    int m = storm_imc_material(run->imc, cell);
    return m == STORM_OUTSIDE ||
           (i != FIELDS_RADIATION && storm_imc_is_held(run->imc, m));
}

static storm_status fields_fill(const struct run *run, int i, double *values,
                                double *room)
{
    bool of_matter = i != FIELDS_RADIATION;
    storm_status status = of_matter ? storm_imc_get(run->imc, run->engine,
                                                    STORM_IMC_TEMPERATURE, room)
                                    : STORM_OK;
    for (storm_cell_idx k = 0; k < storm_mesh_n_cells(run->mesh); k++)
        if (isnan(values[k]) && fields_ranges[i].may_lack &&
            fields_lacks(run, i, k))
            values[k] = of_matter ? room[k] : 0.0;
    return status;
}

/* Does every cell have matter, so that every value counts? */
static bool fields_fill_all(const struct storm_deck *deck)
{
    struct storm_problem p;
    deck_get_problem(deck, &p);
    bool fill = p.n_regions > 0 && p.regions[0].number == 0 &&
                p.regions[0].shape.kind == STORM_SHAPE_ALL;
    for (size_t i = 0; i < p.n_regions; i++)
        fill = fill && p.regions[i].material >= 0;
    return fill;
}

storm_status run_fields_check(const struct storm_deck *deck,
                              const struct storm_env *env)
{
    const struct deck_fields *f = &deck->values.fields;
    const char *const names[3] = {f->density, f->temperature,
                                  f->radiation_temperature};
    const struct io_snapshot from = {f->file, f->by == 1, NULL};
    bool is_cart = deck->values.mesh.kind == STORM_MESH_CARTESIAN;
    size_t n[3];
    storm_status status = STORM_OK;
    for (int i = 0; i < 3 && status == STORM_OK && fields_has(f->file); i++) {
        struct io_snapshot_range range = fields_ranges[i];
        if (!fields_fill_all(deck))
            range.expected = NULL;
        if (is_cart)
            range.rows = run_start_cells(deck, n);
        if (fields_has(names[i]))
            status = io_snapshot_check(env, &from, names[i], &range);
    }
    return status;
}

/* As the cells of this rank have it: names file, array and cell. Those of
 * matter are ignored where there is none. Collective. */
static storm_status fields_look(const struct run *run, int i, const char *name,
                                const double *values)
{
    storm_status status = STORM_OK;
    for (storm_cell_idx k = 0;
         k < storm_mesh_n_cells(run->mesh) && status == STORM_OK; k++) {
        int m = storm_imc_material(run->imc, k);
        if ((i != FIELDS_RADIATION &&
             (m < 0 || m >= (int)run->problem.n_materials)) ||
            (io_snapshot_is_good(&fields_ranges[i], values[k]) &&
             !isnan(values[k])))
            continue;
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "%s: `%s` for cell %llu: expected %s, got %g",
                          run->deck->values.fields.file, name,
                          (unsigned long long)storm_mesh_cell_id(run->mesh, k),
                          fields_ranges[i].expected, values[k]);
        status = STORM_ERR_ARG;
    }
    return storm_context_agree(run->context, status);
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
            status = fields_fill(run, i, values, values + n + 1);
        if (status == STORM_OK)
            status = fields_hash(run, i, values, hash_out);
        if (status == STORM_OK)
            status = fields_look(run, i, names[i], values);
        if (status == STORM_OK && sets)
            status = fields_set(run, i, values, values + n + 1);
    }
    storm_free(memory, values);
    return status;
}
