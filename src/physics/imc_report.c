/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: what may be asked or done between steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/hash.h"
#include "mesh/mesh_ops.h"
#include "mesh/mesh_partition.h"
#include "physics/imc.h"

int storm_imc_material(const struct storm_imc *imc, storm_cell_idx cell)
{
    return imc->material[cell];
}

/* ---- fields --------------------------------------------------------------- */

/* Exact sums, whatever the order of the packets. */
static storm_status imc_census(const struct storm_imc *imc,
                               struct storm_engine *engine, double *values_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    storm_cell_id first = storm_mesh_cell_id(imc->mesh, 0);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        largest =
            fmax(largest, ((const struct storm_packet *)packets[i])->weight);
    storm_status status =
        storm_context_reduce(imc->context, &largest, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    struct storm_exact_unit unit = storm_exact_unit(largest);
    /* Between steps the deposits are zero: their room serves here. */
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        storm_cell_id offset = packet->cell - first;
        if (offset < (storm_cell_id)imc->n_cells)
            storm_exact_add(&imc->track.cells[offset].deposit, packet->weight,
                            unit);
    }
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        values_out[i] = storm_exact_value(imc->track.cells[i].deposit, unit) /
                        imc->volume[i];
        imc->track.cells[i].deposit = 0;
    }
    return STORM_OK;
}

storm_status storm_imc_get(struct storm_imc *imc, struct storm_engine *engine,
                           storm_imc_field field, double *values_out)
{
    const double *from = imc->temperature;
    switch (field) {
    case STORM_IMC_TEMPERATURE:
        break;
    case STORM_IMC_MATERIAL_ENERGY:
        from = imc->energy;
        break;
    case STORM_IMC_RADIATION_PATH:
        from = imc->radiation;
        break;
    case STORM_IMC_RADIATION_CENSUS:
        return imc_census(imc, engine, values_out);
    }
    memcpy(values_out, from, (size_t)imc->n_cells * sizeof *values_out);
    return STORM_OK;
}

/* ---- balance -------------------------------------------------------------- */

storm_status storm_imc_balance(struct storm_imc *imc,
                               struct storm_engine *engine,
                               double energy_erg_out[4], double *error_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    struct storm_ledger *census = &imc->account[IMC_CENSUS];
    memset(census, 0, sizeof *census);
    for (size_t i = 0; i < n; i++)
        storm_ledger_add(census,
                         ((const struct storm_packet *)packets[i])->weight);
    return storm_ledger_balance(imc->account, imc->context, energy_erg_out,
                                error_out);
}

/* ---- hash ----------------------------------------------------------------- */

storm_status storm_imc_hash(struct storm_imc *imc, struct storm_engine *engine,
                            uint64_t *hash_out)
{
    uint64_t sum = 0; /* of hashes, modulo 2^64: any order */
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    for (size_t i = 0; i < n; i++)
        sum += storm_packet_hash(packets[i]);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        uint64_t hash = storm_hash_fold(UINT64_C(0x63656c6c),
                                        storm_mesh_cell_id(imc->mesh, i));
        hash = storm_hash_fold_real(hash, imc->temperature[i]);
        hash = storm_hash_fold_real(hash, imc->energy[i]);
        sum += storm_hash_fold_real(hash, imc->radiation[i]);
    }
    storm_status status =
        storm_context_reduce(imc->context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    *hash_out = storm_hash_word(sum);
    return STORM_OK;
}

/* ---- balance of work ------------------------------------------------------ */

/* How many of this rank's cells each rank gets, or gives, in values. */
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

/* Sends what the old cut had here to where the new one wants it. */
static storm_status move_values(struct storm_imc *imc, const uint64_t *old_cut,
                                const double *out, double *in)
{
    int me = imc->env->rank, size = imc->env->size;
    size_t n = (size_t)size;
    int *counts = malloc(4 * n * sizeof *counts);
    storm_status status =
        storm_context_agree(imc->context,
                            counts != NULL && out != NULL && in != NULL
                                ? STORM_OK
                                : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        move_counts(old_cut, imc->mesh->cut, me, size, counts, counts + n);
        move_counts(imc->mesh->cut, old_cut, me, size, counts + 2 * n,
                    counts + 3 * n);
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
        free(counts);
    return status;
}

static uint64_t *imc_weights(const struct storm_imc *imc, bool by_cells)
{
    uint64_t *weight = malloc(((size_t)imc->n_cells + 1) * sizeof *weight);
    /* A cell costs something even if nothing happens in it. */
    for (storm_cell_idx i = 0; weight != NULL && i < imc->n_cells; i++)
        weight[i] = by_cells ? 1 : 1 + imc->track.cells[i].events;
    return weight;
}

storm_status storm_imc_rebalance(struct storm_imc *imc, bool by_cells)
{
    size_t n = (size_t)imc->env->size + 1;
    uint64_t *weight = imc_weights(imc, by_cells);
    uint64_t *old_cut = malloc(n * sizeof *old_cut);
    double *out = imc_state_new(imc), *in = NULL;
    bool ok = weight != NULL && old_cut != NULL && out != NULL;
    storm_status status =
        storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        imc_state_get(imc, out);
        memcpy(old_cut, imc->mesh->cut, n * sizeof *old_cut);
        status = storm_mesh_repartition(imc->mesh, weight);
    }
    if (status == STORM_OK) {
        imc_cells_close(imc);
        status = imc_cells_open(imc);
    }
    if (status == STORM_OK) {
        in = imc_state_new(imc);
        status = move_values(imc, old_cut, out, in);
    }
    if (status == STORM_OK)
        imc_state_set(imc, in);
    if (status == STORM_ERR_LOST)
        return status; /* memory is MPI's until the end */
    free(in);
    free(out);
    free(old_cut);
    free(weight);
    return status;
}
