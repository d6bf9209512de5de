/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: the state of the cells as rows of numbers. */
#include <string.h>

#include "base/sized.h"
#include "physics/imc.h"

static const char state_label[] = "imc state";

enum { STATE_LEDGER_WORDS = sizeof(struct storm_ledger) / sizeof(int64_t) };
_Static_assert(STATE_LEDGER_WORDS * sizeof(int64_t) ==
                   sizeof(struct storm_ledger),
               "a ledger is whole words");

double *imc_state_new(const struct storm_imc *imc)
{
    return storm_alloc(imc->env->memory, state_label,
                       ((size_t)imc->n_cells + 1) * IMC_STATE_VALUES *
                           sizeof(double));
}

void imc_state_get(const struct storm_imc *imc, double *rows_out)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        double *row = &rows_out[IMC_STATE_VALUES * (size_t)i];
        row[0] = imc->temperature[i];
        row[1] = imc->energy[i];
        row[2] = imc->radiation[i];
    }
}

void imc_state_set(struct storm_imc *imc, const double *rows)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        const double *row = &rows[IMC_STATE_VALUES * (size_t)i];
        imc->temperature[i] = row[0];
        imc->energy[i] = row[1];
        imc->radiation[i] = row[2];
    }
}

/* ---- public ------------------------------------------------------------- */

storm_status storm_imc_state_layout(const struct storm_imc *imc,
                                    struct storm_imc_layout *layout_out)
{
    const struct storm_imc_layout layout = {
        .size = sizeof layout,
        .version = IMC_STATE_VERSION,
        .cell_values = IMC_STATE_VALUES,
        .n_accounts = STORM_LEDGER_ACCOUNTS,
        .account_words = STATE_LEDGER_WORDS,
    };
    (void)imc;
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
    imc_state_get(imc, cells_out);
    return STORM_OK;
}

static storm_status state_check(const struct storm_imc *imc,
                                const double *cells)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (size_t k = 0; k < IMC_STATE_VALUES; k++) {
            double value = cells[IMC_STATE_VALUES * (size_t)i + k];
            if (value >= 0.0 && value <= STORM_UNLIMITED)
                continue;
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "storm_imc_load_state: expected numbers from 0, "
                            "got %g as value %zu of local cell %d",
                            value, k, i);
            return STORM_ERR_ARG;
        }
    return STORM_OK;
}

storm_status storm_imc_load_state(struct storm_imc *imc, uint64_t version,
                                  const double *cells, const int64_t *accounts)
{
    if (version != IMC_STATE_VERSION)
        return STORM_ERR_NOSUP;
    storm_status status = imc->in_step ? STORM_ERR_STATE : imc_check(imc);
    if (status == STORM_OK)
        status = state_check(imc, cells);
    if (status < 0)
        return status;
    const size_t bytes = (size_t)imc->n_cells * sizeof(double);
    imc_state_set(imc, cells);
    memset(imc->deposited, 0, bytes);
    memset(imc->emitted, 0, bytes);
    memset(imc->account, 0, sizeof imc->account);
    if (imc->env->rank == 0) /* they are sums over all ranks */
        memcpy(imc->account, accounts, sizeof imc->account);
    return STORM_OK;
}
