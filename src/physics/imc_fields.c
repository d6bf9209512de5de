/* SPDX-License-Identifier: BSD-3-Clause */
/* Opacities and emission of the cells at the start of a step. */
#include <math.h>

#include "physics/imc.h"
#include "physics/planck.h"

/* Temperatures below this count as this in the Fleck factor: a material whose
 * heat capacity falls with T as fast as T^3 has a limit there. */
static const double imc_coldest_kev = 1e-30;

/* Less energy than this counts as zero. */
static const double imc_min_erg = 1e-250;

/* f = 1 / (1 + beta c sigma dt), eq. (3). */
static double imc_fleck(const struct storm_imc *imc, storm_cell_idx cell,
                        double sigma)
{
    const struct storm_problem *p = imc->problem;
    const struct storm_heat *heat = &imc->heat[imc->material[cell]];
    if (heat->held || p->emit_per_cell == 0)
        return 1.0;
    double t = fmax(imc->temperature[cell], imc_coldest_kev);
    double beta = 4.0 * p->radiation_erg_cm3_kev4 * (t * t * t) /
                  storm_heat_capacity(heat, t);
    return 1.0 / (1.0 + beta * p->light_cm_s * sigma * imc->dt_s);
}

/* What the material of a cell radiates in the step, eq. (4); never more than
 * it has. */
static double imc_emission(const struct storm_imc *imc, storm_cell_idx cell,
                           double sigma, double fleck)
{
    const struct storm_problem *p = imc->problem;
    double t2 = imc->temperature[cell] * imc->temperature[cell];
    double volume = imc->volume[cell];
    double energy = fleck * sigma * p->radiation_erg_cm3_kev4 * p->light_cm_s *
                    (t2 * t2) * imc->dt_s * volume;
    if (p->emit_per_cell == 0)
        return 0.0;
    if (!imc->heat[imc->material[cell]].held)
        energy = fmin(energy, imc->energy[cell] * volume);
    return energy > imc_min_erg ? energy : 0.0;
}

static void imc_grey(struct storm_imc *imc, storm_cell_idx cell)
{
    const struct storm_material *m =
        &imc->problem->materials[imc->material[cell]];
    double t = imc->temperature[cell];
    double absorb = storm_material_law(&m->absorption, t, 1.0);
    double fleck = imc_fleck(imc, cell, absorb);
    imc->track.cells[cell].absorb = fleck * absorb;
    imc->track.cells[cell].scatter =
        (1.0 - fleck) * absorb + storm_material_law(&m->scattering, t, 1.0);
    imc->emitted[cell] = imc_emission(imc, cell, absorb, fleck);
}

/* Eqs. (12) to (14). */
static void imc_groups(struct storm_imc *imc, storm_cell_idx cell)
{
    const struct storm_material *m =
        &imc->problem->materials[imc->material[cell]];
    size_t n = (size_t)imc->problem->n_groups;
    struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    double t = imc->temperature[cell];
    double shape = fmax(t, imc_coldest_kev), below = 0.0, planck_mean = 0.0;
    for (size_t g = 0; g < n; g++) {
        double e = imc->group_middle[g];
        double up = g + 1 < n
                        ? storm_planck_below(imc->group_edge[g + 1] / shape)
                        : 1.0;
        o[g].absorb = storm_material_law(&m->absorption, t, e);
        planck_mean += o[g].absorb * (up - below);
        o[g].emission = planck_mean;
        below = up;
    }
    double fleck = imc_fleck(imc, cell, planck_mean);
    for (size_t g = 0; g < n; g++) {
        double absorb = o[g].absorb;
        double effective = (1.0 - fleck) * absorb;
        o[g].absorb = fleck * absorb;
        o[g].scatter = effective + storm_material_law(&m->scattering, t,
                                                      imc->group_middle[g]);
        o[g].effective = o[g].scatter > 0.0 ? effective / o[g].scatter : 0.0;
        o[g].emission = planck_mean > 0.0 ? o[g].emission / planck_mean : 1.0;
    }
    imc->track.cells[cell].absorb = fleck * planck_mean;
    imc->emitted[cell] = imc_emission(imc, cell, planck_mean, fleck);
}

/* Groups in order of thickness, for the random walk. What a group emits, over
 * its opacity, is its share of the Planck function. */
static void imc_order_groups(struct storm_imc *imc, storm_cell_idx cell)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    struct storm_walk_group *thick = &imc->thick[(size_t)cell * n];
    double below = 0.0;
    for (size_t g = 0; g < n; g++) {
        double effective = o[g].effective * o[g].scatter;
        double absorb = o[g].absorb + effective;
        double planck = absorb > 0.0 ? (o[g].emission - below) / absorb : 0.0;
        below = o[g].emission;
        thick[g] = storm_walk_group((int32_t)g, planck, o[g].absorb,
                                    o[g].scatter, effective);
    }
    storm_walk_sort(thick, n);
}

void imc_fields_set(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        imc->emitted[i] = 0.0;
        imc->track.cells[i].events = 0;
        if (imc->material[i] < 0 ||
            imc->material[i] >= (int)imc->problem->n_materials)
            continue;
        if (imc->problem->n_groups == 1)
            imc_grey(imc, i);
        else
            imc_groups(imc, i);
        if (imc->thick != NULL)
            imc_order_groups(imc, i);
    }
}
