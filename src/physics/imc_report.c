/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: calls between steps. */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/imc.h"

storm_status imc_check(const struct storm_imc *imc)
{
    return storm_mesh_check_generation(
        imc->mesh, imc->generation, "implicit Monte Carlo",
        "call storm_imc_follow, which moves the cells' state along");
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
    void *const *packets = storm_engine_packets(engine, &n);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest,
                       ((const struct storm_packet *)packets[i])->weight_erg);
    storm_status status =
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
        [STORM_IMC_EMITTED] = imc->emitted,
        [STORM_IMC_VOLUME] = imc->volume,
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

storm_status storm_imc_hash(struct storm_imc *imc, struct storm_engine *engine,
                            uint64_t *hash_out)
{
    const double *const fields[] = {imc->temperature, imc->energy,
                                    imc->radiation};
    storm_status status = imc_check(imc);
    return status < 0
               ? status
               : storm_census_hash(engine, imc->context, imc->mesh, fields,
                                   sizeof fields / sizeof fields[0], hash_out);
}
