/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: the state of the cells as rows of numbers. */
#include <string.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"

enum { STATE_LEDGER_WORDS = sizeof(struct storm_ledger) / sizeof(int64_t) };
_Static_assert(STATE_LEDGER_WORDS * sizeof(int64_t) ==
                   sizeof(struct storm_ledger),
               "a ledger is whole words");

/* Versions of the meaning of the numbers: a cell that has its material from the
 * problem, and one that has brought it along. */
enum { STATE_AT_REST = 1, STATE_MOVED = 2 };

/* A row of either. */
enum {
    STATE_TEMPERATURE,
    STATE_ENERGY,
    STATE_RADIATION,
    STATE_MATERIAL, /* MOVED alone */
    STATE_MAX_VALUES
};
_Static_assert((int)IMC_STATE_VALUES == (int)STATE_MATERIAL,
               "and the material");

/* Materials may be other than those at the centres once a mesh has changed. */
static uint64_t state_version(const struct storm_imc *imc)
{
    return imc->mesh->part->tags == NULL ? STATE_AT_REST : STATE_MOVED;
}

static void state_get(const struct storm_imc *imc, double *rows_out)
{
    uint64_t version = state_version(imc);
    size_t n = storm_imc_state_values(version);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        double *row = &rows_out[n * (size_t)i];
        row[STATE_TEMPERATURE] = imc->temperature[i];
        row[STATE_ENERGY] = imc->energy[i];
        row[STATE_RADIATION] = imc->radiation[i];
        if (version == STATE_MOVED)
            row[STATE_MATERIAL] = imc->material[i];
    }
}

static void state_set(struct storm_imc *imc, uint64_t version,
                      const double *rows)
{
    size_t n = storm_imc_state_values(version);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        const double *row = &rows[n * (size_t)i];
        imc->temperature[i] = row[STATE_TEMPERATURE];
        imc->energy[i] = row[STATE_ENERGY];
        imc->radiation[i] = row[STATE_RADIATION];
        if (version == STATE_AT_REST)
            continue;
        imc->material[i] = (int)row[STATE_MATERIAL];
        imc->track.cells[i].outside = imc->material[i] == STORM_OUTSIDE;
    }
}

/* ---- public ------------------------------------------------------------- */

size_t storm_imc_state_values(uint64_t version)
{
    return version == STATE_AT_REST ? IMC_STATE_VALUES
           : version == STATE_MOVED ? STATE_MAX_VALUES
                                    : 0;
}

storm_status storm_imc_state_layout(const struct storm_imc *imc,
                                    struct storm_imc_layout *layout_out)
{
    const struct storm_imc_layout layout = {
        .size = sizeof layout,
        .version = state_version(imc),
        .cell_values = storm_imc_state_values(state_version(imc)),
        .n_accounts = STORM_LEDGER_ACCOUNTS,
        .account_words = STATE_LEDGER_WORDS,
    };
    return storm_sized_write(&layout, sizeof layout, layout_out);
}

storm_status storm_imc_save_state(struct storm_imc *imc, double *cells_out,
                                  int64_t *accounts_out)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    storm_status status = imc_check(imc);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->account, imc->context, sum);
    if (status < 0)
        return status;
    memcpy(accounts_out, sum, sizeof sum);
    state_get(imc, cells_out);
    return STORM_OK;
}

static bool state_is_good(const struct storm_imc *imc, size_t k, double value)
{
    if (k == STATE_MATERIAL)
        return value >= STORM_OUTSIDE &&
               value <= (double)imc->problem->n_materials &&
               value == (double)(int)value;
    return value >= 0.0 && value <= STORM_UNLIMITED;
}

static storm_status state_check(const struct storm_imc *imc, uint64_t version,
                                const double *cells)
{
    size_t n = storm_imc_state_values(version);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (size_t k = 0; k < n; k++) {
            double value = cells[n * (size_t)i + k];
            if (state_is_good(imc, k, value))
                continue;
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "storm_imc_load_state: expected %s, got %g as "
                            "value %zu of local cell %d",
                            k == STATE_MATERIAL ? "a material"
                                                : "numbers from 0",
                            value, k, i);
            return STORM_ERR_ARG;
        }
    return STORM_OK;
}

storm_status storm_imc_load_state(struct storm_imc *imc, uint64_t version,
                                  const double *cells, const int64_t *accounts)
{
    if (storm_imc_state_values(version) == 0)
        return STORM_ERR_NOSUP;
    storm_status status = imc->in_step ? STORM_ERR_STATE : imc_check(imc);
    if (status == STORM_OK)
        status = state_check(imc, version, cells);
    if (version == STATE_MOVED)
        status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    const size_t bytes = (size_t)imc->n_cells * sizeof(double);
    state_set(imc, version, cells);
    memset(imc->deposited, 0, bytes);
    memset(imc->emitted, 0, bytes);
    memset(imc->account, 0, sizeof imc->account);
    if (imc->env->rank == 0) /* they are sums over all ranks */
        memcpy(imc->account, accounts, sizeof imc->account);
    return version == STATE_MOVED ? imc_cells_finish(imc) : STORM_OK;
}
