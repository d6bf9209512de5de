/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: calls between steps. */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/sized.h"
#include "engine/engine_keep.h"
#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/imc.h"

storm_status imc_check(const struct storm_imc *imc)
{
    return storm_mesh_check_generation(
        imc->mesh, imc->generation, "implicit Monte Carlo",
        "call storm_imc_follow, which moves the cells' state along");
}

bool storm_imc_is_held(const struct storm_imc *imc, int material)
{
    return !imc_is_warm(imc, material);
}

int storm_imc_material(const struct storm_imc *imc, storm_cell_idx cell)
{
    return storm_mesh_has_changed(imc->mesh, imc->generation)
               ? STORM_OUTSIDE
               : imc->material[cell];
}

/* ---- fields ------------------------------------------------------------- */

/* Exact sums, in any order of the packets. */
static storm_status imc_census(const struct storm_imc *imc,
                               struct storm_engine *engine, double *values_out)
{
    size_t n;
    const void *const *packets;
    double largest = 0.0;
    storm_status status =
        storm_context_agree(imc->context,
                            storm_engine_view(engine, &packets, &n));
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest,
                       ((const struct storm_packet *)packets[i])->weight_erg);
    status =
        storm_context_reduce(imc->context, &largest, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    struct storm_exact_unit unit = storm_exact_unit(largest);
    /* Between steps the deposits are zero: their array serves as scratch
     * here. */
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        storm_cell_idx i_cell = packet->cell_idx;
        if (i_cell >= 0 && i_cell < imc->n_cells &&
            storm_mesh_cell_id(imc->mesh, i_cell) == packet->cell)
            storm_exact_add(&imc->track.cells[i_cell].deposit,
                            packet->weight_erg, unit);
    }
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        values_out[i] = storm_exact_value(imc->track.cells[i].deposit, unit) /
                        imc->volume[i];
        imc->track.cells[i].deposit = 0;
    }
    return STORM_OK;
}

static void imc_get_material(const struct storm_imc *imc, double *values_out)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        values_out[i] = (double)imc->material[i];
}

static void imc_get_composition(const struct storm_imc *imc, double *values_out)
{
    size_t n = imc->problem->n_components, n_cells = (size_t)imc->n_cells;
    for (size_t i = 0; i < n_cells; i++)
        for (size_t k = 0; k < n; k++)
            values_out[i * n + k] = imc->composition[k * n_cells + i];
}

static storm_status imc_block_capacity(struct storm_imc *imc,
                                       struct imc_block *block)
{
    if (!imc_is_warm(imc, block->material))
        return STORM_OK;
    for (size_t k = 0; k < block->b.n; k++)
        block->temperature[k] = imc_capacity_kev(block->temperature[k]);
    storm_status status = imc_ask_capacity(imc);
    for (size_t k = 0; k < block->b.n && status >= 0; k++)
        imc->matter.values_out[block->cell[k]] = block->value[k];
    return status;
}

static storm_status imc_get_motion(const struct storm_imc *imc,
                                   storm_imc_field field, double *values_out)
{
    if (imc->velocity == NULL)
        return STORM_ERR_ARG;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (int d = 0; d < 3; d++)
            values_out[3 * (size_t)i + (size_t)d] =
                field == STORM_IMC_PUSH ? imc->push[3 * (size_t)i + (size_t)d]
                                        : *imc_velocity(imc, i, d);
    return STORM_OK;
}

/* Local, so that each rank logs its own fault. */
static storm_status imc_get_capacity(struct storm_imc *imc, double *values_out)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        values_out[i] = 0.0;
    imc->matter.values_out = values_out;
    storm_status status = imc_matter_each(imc, NULL, imc_block_capacity);
    imc->matter.values_out = NULL;
    if (status < 0)
        imc_fault_log(imc);
    return status;
}

static void imc_get_outside(const struct storm_imc *imc, double *values_out)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        values_out[i] = imc->track.cells[i].outside ? 1.0 : 0.0;
}

storm_status storm_imc_get(struct storm_imc *imc, struct storm_engine *engine,
                           storm_imc_field field, double *values_out)
{
    const double *const arrays[] = {
        [STORM_IMC_TEMPERATURE] = imc->temperature,
        [STORM_IMC_MATERIAL_ENERGY] = imc->energy,
        [STORM_IMC_RADIATION_PATH] = imc->radiation,
        [STORM_IMC_DEPOSITED] = imc->deposited,
        [STORM_IMC_EMITTED] =
            imc->velocity != NULL ? imc->radiated : imc->emitted,
        [STORM_IMC_VOLUME] = imc->volume,
        [STORM_IMC_DENSITY] = imc->density,
        [STORM_IMC_EMISSION] = imc->emission,
    };
    storm_status status = imc_check(imc);
    if (status < 0)
        return status;
    switch (field) {
    case STORM_IMC_RADIATION_CENSUS:
        return imc_census(imc, engine, values_out);
    case STORM_IMC_MATERIAL:
        imc_get_material(imc, values_out);
        return STORM_OK;
    case STORM_IMC_OUTSIDE:
        imc_get_outside(imc, values_out);
        return STORM_OK;
    case STORM_IMC_COMPOSITION:
        imc_get_composition(imc, values_out);
        return STORM_OK;
    case STORM_IMC_HEAT_CAPACITY:
        return imc_get_capacity(imc, values_out);
    case STORM_IMC_VELOCITY:
    case STORM_IMC_PUSH:
        return imc_get_motion(imc, field, values_out);
    case STORM_IMC_DENSITY:
    case STORM_IMC_EMISSION:
    case STORM_IMC_TEMPERATURE:
    case STORM_IMC_MATERIAL_ENERGY:
    case STORM_IMC_RADIATION_PATH:
    case STORM_IMC_DEPOSITED:
    case STORM_IMC_EMITTED:
    case STORM_IMC_VOLUME:
        memcpy(values_out, arrays[field],
               (size_t)imc->n_cells * sizeof *values_out);
        return STORM_OK;
    }
    return STORM_ERR_ARG;
}

/* ---- balance and hash --------------------------------------------------- */

storm_status storm_imc_balance(struct storm_imc *imc,
                               struct storm_engine *engine,
                               double energy_erg_out[4], double *error_out)
{
    storm_status status = imc_check(imc);
    return status < 0 ? status
                      : storm_census_balance(engine, imc->context, imc->account,
                                             energy_erg_out, error_out);
}

storm_status storm_imc_shares(struct storm_imc *imc,
                              struct storm_engine *engine,
                              struct storm_imc_share *shares_out)
{
    struct storm_ledger sum[STORM_IMC_METHODS];
    uint64_t numbers[2 * STORM_IMC_METHODS] = {0};
    uint64_t *packets = &numbers[STORM_IMC_METHODS];
    size_t n;
    const void *const *all;
    storm_status status =
        storm_context_agree(imc->context, storm_engine_view(engine, &all, &n));
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = all[i];
        packets[packet->optical_depth < 0.0 ? STORM_IMC_DIFFUSED
                                            : STORM_IMC_FLOWN]++;
    }
    for (int k = 0; k < STORM_IMC_METHODS; k++)
        numbers[k] = imc->crossings[k];
    status =
        storm_ledger_sum(imc->crossed, STORM_IMC_METHODS, imc->context, sum);
    if (status >= 0)
        status =
            storm_context_reduce(imc->context, numbers, 2 * STORM_IMC_METHODS,
                                 MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    double energy = 0.0;
    for (int k = 0; k < STORM_IMC_METHODS; k++)
        energy += storm_ledger_value(&sum[k]);
    for (int k = 0; k < STORM_IMC_METHODS; k++)
        shares_out[k] = (struct storm_imc_share){
            .energy = energy > 0.0 ? storm_ledger_value(&sum[k]) / energy : 0.0,
            .events = numbers[k],
            .packets = packets[k]};
    return STORM_OK;
}

/* Energy of all matter, of this rank, exactly. */
static struct storm_ledger imc_matter_now(const struct storm_imc *imc)
{
    struct storm_ledger now = {.n_since_carry = 0};
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        storm_ledger_add(&now, imc_cell_erg(imc, i));
    return now;
}

/* An account less others. */
static double imc_difference(struct storm_ledger from,
                             const struct storm_ledger *const *less, size_t n)
{
    for (size_t i = 0; i < n; i++)
        storm_ledger_merge(&from, less[i], -1);
    return storm_ledger_value(&from);
}

/* Values of sums over all ranks: `now` is the energy of matter. */
static struct storm_imc_energies imc_energies(const struct storm_ledger *sum,
                                              const struct storm_ledger *more,
                                              const struct storm_ledger *now)
{
    struct storm_ledger start = more[IMC_MATTER], held, matter;
    storm_ledger_merge(&start, &more[IMC_START], 1);
    /* Emitted less absorbed by all matter, and with what the rest has gained:
     * by matter that is held. */
    held = sum[STORM_LEDGER_CREATED];
    storm_ledger_merge(&held, &more[IMC_GAINED], 1);
    storm_ledger_merge(&held, &more[IMC_WORK], 1);
    const struct storm_ledger *const by_others[] = {
        &more[IMC_START], &more[IMC_WALLS], &more[IMC_SOURCES], &more[IMC_USER],
        &sum[STORM_LEDGER_ABSORBED]};
    /* What matter should have, less what it has; radiation is exact. */
    matter = more[IMC_MATTER];
    storm_ledger_merge(&matter, &more[IMC_GAINED], 1);
    storm_ledger_merge(&matter, &more[IMC_HOST], 1);
    const struct storm_ledger *const has[] = {now};
    struct storm_ledger radiation = sum[STORM_LEDGER_CREATED];
    storm_ledger_merge(&radiation, &sum[STORM_LEDGER_ABSORBED], -1);
    storm_ledger_merge(&radiation, &sum[STORM_LEDGER_ESCAPED], -1);
    storm_ledger_merge(&matter, &radiation, 1);
    storm_ledger_merge(&matter, &sum[STORM_LEDGER_CENSUS], -1);
    struct storm_imc_energies e = {
        .size = sizeof e,
        .matter_erg = storm_ledger_value(now),
        .radiation_erg = storm_ledger_value(&sum[STORM_LEDGER_CENSUS]),
        .start_erg = storm_ledger_value(&start),
        .walls_erg = storm_ledger_value(&more[IMC_WALLS]),
        .sources_erg = storm_ledger_value(&more[IMC_SOURCES]),
        .user_erg = storm_ledger_value(&more[IMC_USER]),
        .escaped_erg = storm_ledger_value(&sum[STORM_LEDGER_ESCAPED]),
        .host_erg = storm_ledger_value(&more[IMC_HOST]),
        .held_erg = imc_difference(held, by_others,
                                   sizeof by_others / sizeof by_others[0]),
        .work_erg = storm_ledger_value(&more[IMC_WORK]),
    };
    double wrong = fabs(imc_difference(matter, has, 1));
    double all = fmax(e.matter_erg + e.radiation_erg,
                      e.start_erg + e.walls_erg + e.sources_erg + e.user_erg);
    e.error = wrong > 0.0 ? wrong / fmax(all, fabs(e.host_erg)) : 0.0;
    return e;
}

storm_status storm_imc_energy(struct storm_imc *imc,
                              struct storm_engine *engine,
                              struct storm_imc_energies *energies_out)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS], more[IMC_ACCOUNTS];
    double values[STORM_LEDGER_ACCOUNTS], error;
    storm_status status = imc_check(imc);
    if (status < 0)
        return status;
    struct storm_ledger mine = imc_matter_now(imc), now;
    /* Also fills the census of this rank. */
    status = storm_census_balance(engine, imc->context, imc->account, values,
                                  &error);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->account, STORM_LEDGER_ACCOUNTS,
                                  imc->context, sum);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->more, IMC_ACCOUNTS, imc->context, more);
    if (status == STORM_OK)
        status = storm_ledger_sum(&mine, 1, imc->context, &now);
    if (status < 0)
        return status;
    const struct storm_imc_energies energies = imc_energies(sum, more, &now);
    return storm_sized_write(&energies, sizeof energies, energies_out);
}

/* With what a host may have set. */
static storm_status imc_hash_more(struct storm_imc *imc,
                                  struct storm_engine *engine,
                                  uint64_t *hash_out)
{
    enum { FIELDS = 6 };
    size_t n_parts = imc->problem->n_components, n_cells = (size_t)imc->n_cells;
    size_t n = n_parts + (imc->velocity != NULL ? 3 : 0);
    struct storm_memory *memory = imc->env->memory;
    const double **fields =
        storm_alloc(memory, "imc hash", (FIELDS + n) * sizeof *fields);
    double *material =
        storm_alloc(memory, "imc hash", (n_cells + 1) * sizeof *material);
    storm_status status =
        fields != NULL && material != NULL ? STORM_OK : STORM_ERR_NOMEM;
    status = storm_context_agree(imc->context, status);
    if (status == STORM_OK) {
        const double *const own[FIELDS] = {imc->temperature, imc->energy,
                                           imc->radiation,   imc->density,
                                           imc->emission,    material};
        imc_get_material(imc, material);
        memcpy(fields, own, sizeof own);
        for (size_t k = 0; k < n; k++)
            fields[FIELDS + k] = k < n_parts
                                     ? &imc->composition[k * n_cells]
                                     : &imc->velocity[(k - n_parts) * n_cells];
        status = storm_census_hash(engine, imc->context, imc->mesh, fields,
                                   FIELDS + n, hash_out);
    }
    storm_free(memory, material);
    storm_free(memory, fields);
    return status;
}

storm_status storm_imc_hash(struct storm_imc *imc, struct storm_engine *engine,
                            uint64_t *hash_out)
{
    const double *const fields[] = {imc->temperature, imc->energy,
                                    imc->radiation};
    storm_status status = imc_check(imc);
    if (status < 0)
        return status;
    return imc->has_more
               ? imc_hash_more(imc, engine, hash_out)
               : storm_census_hash(engine, imc->context, imc->mesh, fields,
                                   sizeof fields / sizeof fields[0], hash_out);
}
