/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: the state of the cells as rows of numbers. */
#include <stdlib.h>

#include "physics/imc.h"

double *imc_state_new(const struct storm_imc *imc)
{
    return malloc(((size_t)imc->n_cells + 1) * IMC_STATE_VALUES *
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
