/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cold cells that a wave reaches in the step. Where the heat capacity grows
 * with temperature, cold matter would take 1 / beta of what comes in, maybe a
 * thousandth, and several steps to heat: the wave would move with the time
 * step. Their beta is that of the secant from the present temperature to the
 * one that the cell should reach, eqs. (D8) and (D9).
 */
#include <math.h>

#include "physics/imc.h"
#include "physics/imc_ddmc.h"

/* Radiation that comes in or is there, over that of matter's temperature: below
 * this the tangent is as good. */
static const double heat_min = 1.5;

enum { HEAT_HALVINGS = 40 };

/* What a cell has to share between matter and radiation at the end of the step,
 * in keV^4 of radiation, beside the energy of its matter; and the hottest
 * around it. */
struct heat_cell {
    double radiation, hottest_kev4;
};

/* eq. (D8) */
static struct heat_cell heat_around(const struct storm_imc *imc,
                                    storm_cell_idx i)
{
    const struct imc_ddmc *ddmc = &imc->ddmc;
    double a = imc->problem->radiation_erg_cm3_kev4;
    double length = imc->track.light_cm_s * imc->dt_s;
    double own = imc_halo_kev4(imc, i), before = 0.0;
    struct heat_cell heat = {fmax(own, imc->radiation[i] / a), own};
    heat.hottest_kev4 = heat.radiation;
    for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++) {
        double there = imc_ddmc_behind_kev4(imc, i, (int)(f - ddmc->first[i]));
        double leak = ddmc->faces[f].leak - before;
        before = ddmc->faces[f].leak;
        if (!(there > own))
            continue;
        heat.radiation += leak * length * (there - own);
        heat.hottest_kev4 = fmax(heat.hottest_kev4, there);
    }
    return heat;
}

/* Warms `block`, whose cells are to be looked at: halves the range of the
 * temperature at which matter and radiation have what there is. */
static storm_status heat_block(struct storm_imc *imc, struct imc_block *block)
{
    const double a = imc->problem->radiation_erg_cm3_kev4;
    size_t n = block->b.n;
    double lo[n], hi[n], start[n], all[n];
    storm_status status = STORM_OK;
    block->b.is_estimate = 1;
    for (size_t k = 0; k < n; k++) {
        struct heat_cell heat = heat_around(imc, block->cell[k]);
        lo[k] = block->temperature[k];
        hi[k] = fmax(sqrt(sqrt(heat.hottest_kev4)), lo[k]);
        start[k] = block->energy[k];
        all[k] = start[k] + a * heat.radiation;
    }
    for (int j = 0; j <= HEAT_HALVINGS && status >= 0; j++) {
        for (size_t k = 0; k < n; k++)
            block->temperature[k] = j == 0 ? hi[k] : 0.5 * (lo[k] + hi[k]);
        status = imc_ask_energy(imc);
        for (size_t k = 0; k < n && status >= 0; k++) {
            double t = block->temperature[k], t2 = t * t;
            bool is_above = block->value[k] + a * (t2 * t2) >= all[k];
            if (is_above)
                hi[k] = t;
            else if (j > 0)
                lo[k] = t;
            else
                lo[k] = hi[k]; /* hotter than anything around it */
            block->extra[k] = block->value[k];
        }
    }
    for (size_t k = 0; k < n && status >= 0; k++) {
        storm_cell_idx i = block->cell[k];
        double t = block->temperature[k], from = imc->temperature[i];
        double gain = block->extra[k] - start[k];
        double radiation = a * (t * t * (t * t) - from * from * (from * from));
        /* eq. (D9) */
        if (gain > 0.0 && radiation > 0.0)
            imc_fields_set_beta(imc, i, radiation / gain * imc->emission[i]);
    }
    return status;
}

storm_status imc_ddmc_heat(struct storm_imc *imc)
{
    bool *only = imc->ddmc.heats;
    bool any = false;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        only[i] =
            imc->ddmc.cells[i].is_in && imc->problem->emit_per_cell > 0 &&
            imc_is_warm(imc, imc->material[i]) &&
            heat_around(imc, i).radiation > heat_min * imc_halo_kev4(imc, i);
        any = any || only[i];
    }
    return any ? imc_matter_each(imc, only, heat_block) : STORM_OK;
}
