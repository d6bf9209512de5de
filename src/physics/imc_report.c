/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: calls between steps. */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/imc.h"

static const char move_label[] = "imc state"; /* being moved */

storm_status imc_check(const struct storm_imc *imc)
{
    return storm_mesh_check_generation(
        imc->mesh, imc->generation, "implicit Monte Carlo",
        "call storm_imc_rebalance, which moves the cells' "
        "state along");
}

int storm_imc_material(const struct storm_imc *imc, storm_cell_idx cell)
{
    return storm_mesh_is_repartitioned(imc->mesh, imc->generation)
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
    storm_cell_id first = storm_mesh_cell_id(imc->mesh, 0);
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
        storm_cell_id offset = packet->cell - first;
        if (offset < (storm_cell_id)imc->n_cells)
            storm_exact_add(&imc->track.cells[offset].deposit,
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

/* ---- after a repartition ------------------------------------------------ */

/* Number of values that this rank sends to, or receives from, each rank. */
static void move_counts(const uint64_t *from, const uint64_t *to, int me,
                        int size, int *counts_out, int *begin_out)
{
    int at = 0;
    for (int r = 0; r < size; r++) {
        uint64_t low = from[me] > to[r] ? from[me] : to[r];
        uint64_t high = from[me + 1] < to[r + 1] ? from[me + 1] : to[r + 1];
        counts_out[r] = high > low ? (int)(high - low) * IMC_STATE_VALUES : 0;
        begin_out[r] = at;
        at += counts_out[r];
    }
}

/* Sends the values of the cells to their ranks in the new partition. */
static storm_status move_values(struct storm_imc *imc,
                                const uint64_t *old_partition,
                                const double *out, double *in)
{
    int me = imc->env->rank, size = imc->env->size;
    size_t n = (size_t)size;
    struct storm_memory *memory = imc->env->memory;
    int *counts = storm_alloc(memory, move_label, 4 * n * sizeof *counts);
    storm_status status =
        storm_context_agree(imc->context,
                            counts != NULL && out != NULL && in != NULL
                                ? STORM_OK
                                : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        move_counts(old_partition, imc->mesh->partition, me, size, counts,
                    counts + n);
        move_counts(imc->mesh->partition, old_partition, me, size,
                    counts + 2 * n, counts + 3 * n);
        MPI_Request request;
        if (MPI_Ialltoallv(out, counts, counts + n, MPI_DOUBLE, in,
                           counts + 2 * n, counts + 3 * n, MPI_DOUBLE,
                           storm_context_comm(imc->context),
                           &request) != MPI_SUCCESS)
            status = STORM_ERR_FABRIC;
        else
            status = storm_context_wait(imc->context, &request);
    }
    if (status != STORM_ERR_LOST)
        storm_free(memory, counts);
    return status;
}

static uint64_t *imc_weights(const struct storm_imc *imc, bool by_cells)
{
    uint64_t *weight = storm_alloc(imc->env->memory, move_label,
                                   ((size_t)imc->n_cells + 1) * sizeof *weight);
    /* A cell has a cost even without events. */
    for (storm_cell_idx i = 0; weight != NULL && i < imc->n_cells; i++)
        weight[i] = by_cells ? 1 : 1 + imc->track.cells[i].events;
    return weight;
}

/* Repartitions the mesh by the work of the last step, or by cells. */
static storm_status imc_repartition(struct storm_imc *imc, bool by_cells)
{
    uint64_t *weight = imc_weights(imc, by_cells);
    storm_status status =
        storm_context_agree(imc->context,
                            weight != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_repartition(imc->mesh, weight);
    storm_free(imc->env->memory, weight);
    return status;
}

/* From the partition of the arrays to the present one. */
static storm_status imc_follow(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    uint64_t *old_partition = imc->partition;
    double *out = imc_state_new(imc), *in = NULL;
    storm_status status =
        storm_context_agree(imc->context,
                            out != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, out);
        return status;
    }
    imc_state_get(imc, out);
    imc->partition = NULL; /* not freed with the rest */
    imc_cells_close(imc);
    status = imc_cells_open(imc);
    if (status == STORM_OK) {
        in = imc_state_new(imc);
        status = move_values(imc, old_partition, out, in);
    }
    if (status == STORM_ERR_LOST)
        return status; /* MPI may use the memory until it is finalised */
    if (status == STORM_OK)
        imc_state_set(imc, in);
    else
        imc_cells_close(imc);
    storm_free(memory, in);
    storm_free(memory, out);
    storm_free(memory, old_partition);
    return status;
}

storm_status storm_imc_rebalance(struct storm_imc *imc, bool by_cells)
{
    storm_status status = STORM_OK;
    if (imc->partition == NULL) {
        storm_log_write(
            &imc->env->log, STORM_LOG_ERROR,
            "storm_imc_rebalance has failed before and the state of the "
            "cells is lost: destroy the object");
        return STORM_ERR_STATE;
    }
    if (!storm_mesh_is_repartitioned(imc->mesh, imc->generation))
        status = imc_repartition(imc, by_cells);
    return status < 0 ? status : imc_follow(imc);
}
