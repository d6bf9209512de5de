/* SPDX-License-Identifier: BSD-3-Clause */
/* Opacities and emission of the cells at the start of a step. */
#include <math.h>
#include <string.h>

#include "physics/imc.h"
#include "physics/planck.h"

/* Temperatures below this count as this in the Fleck factor: a material whose
 * heat capacity falls with T as fast as T^3 has a limit there. */
static const double imc_coldest_kev = 1e-30;

/* Less energy than this counts as zero. */
static const double imc_min_erg = 1e-250;

/* Eq. (35) makes the Fleck factor smaller by no more than this: matter whose
 * energy begins at some temperature would else hardly absorb there. It is not
 * for cells with more radiation than this times that in equilibrium: they are
 * to heat. */
static const double imc_least_part = 0.25, imc_lit = 2.0;

double imc_capacity_kev(double temperature_kev)
{
    return fmax(temperature_kev, imc_coldest_kev);
}

/* A cell of a block: what matter has answered. */
struct imc_asked {
    storm_cell_idx cell;
    bool is_warm;             /* its temperature may change */
    double capacity;          /* erg/keV/cm3, if it is warm */
    const double *absorption; /* 1/cm, of each group */
    const double *scattering;
};

static double imc_fleck_of(const struct storm_imc *imc, storm_cell_idx cell,
                           double beta, double sigma)
{
    double x = beta * imc->problem->light_cm_s * sigma * imc->dt_s;
    if (imc->velocity != NULL) /* the time of matter */
        x /= imc->motion[cell].gamma;
    return 1.0 / (1.0 + x);
}

/* Energy, eqs. (4) and (33). */
static double imc_radiates(const struct storm_imc *imc, storm_cell_idx cell,
                           double sigma, double fleck)
{
    const struct storm_problem *p = imc->problem;
    double t2 = imc->temperature[cell] * imc->temperature[cell];
    double volume = imc->volume[cell];
    return fleck * sigma * p->radiation_erg_cm3_kev4 * p->light_cm_s *
           (t2 * t2) * imc->dt_s * volume * imc->emission[cell];
}

/* Eq. (35): the part of the factor with which matter emits no more than it
 * has. */
static double imc_fleck_part(const struct storm_imc *imc, storm_cell_idx cell,
                             double sigma, double fleck)
{
    double t2 = imc->temperature[cell] * imc->temperature[cell];
    double balance =
        imc->problem->radiation_erg_cm3_kev4 * (t2 * t2) * imc->emission[cell];
    double has = imc_cell_erg(imc, cell);
    double radiates = imc_radiates(imc, cell, sigma, fleck);
    if (!(radiates > has) || !(has > 0.0) ||
        imc->radiation[cell] > imc_lit * balance)
        return 1.0;
    return fmax(has / radiates, imc_least_part);
}

/* f = 1 / (1 + beta c sigma dt), eqs. (3), (33) and (35). */
static double imc_fleck(const struct storm_imc *imc,
                        const struct imc_asked *asked, double sigma)
{
    const struct storm_problem *p = imc->problem;
    if (!asked->is_warm || p->emit_per_cell == 0)
        return 1.0;
    double t = imc_capacity_kev(imc->temperature[asked->cell]);
    double beta = 4.0 * p->radiation_erg_cm3_kev4 * (t * t * t) /
                  asked->capacity * imc->emission[asked->cell];
    double fleck = imc_fleck_of(imc, asked->cell, beta, sigma);
    return fleck * imc_fleck_part(imc, asked->cell, sigma, fleck);
}

/* What the material of a cell radiates in the step: never more than it has. */
static double imc_emission(const struct storm_imc *imc, storm_cell_idx cell,
                           double sigma, double fleck)
{
    const struct storm_problem *p = imc->problem;
    double energy = imc_radiates(imc, cell, sigma, fleck);
    if (p->emit_per_cell == 0)
        return 0.0;
    if (imc_is_warm(imc, imc->material[cell]))
        energy = fmin(energy, imc_cell_erg(imc, cell));
    return energy > imc_min_erg ? energy : 0.0;
}

static void imc_grey(struct storm_imc *imc, const struct imc_asked *asked)
{
    storm_cell_idx cell = asked->cell;
    double absorb = asked->absorption[0];
    double fleck = imc_fleck(imc, asked, absorb);
    imc->track.cells[cell].absorb = fleck * absorb;
    imc->track.cells[cell].scatter =
        (1.0 - fleck) * absorb + asked->scattering[0];
    if (imc->moments.effective != NULL) {
        double scatter = imc->track.cells[cell].scatter;
        imc->moments.effective[cell] =
            scatter > 0.0 ? (1.0 - fleck) * absorb / scatter : 0.0;
    }
    imc->emitted[cell] = imc_emission(imc, cell, absorb, fleck);
    imc->fleck[cell] = fleck;
}

/* Eqs. (12) to (14). */
static void imc_groups(struct storm_imc *imc, const struct imc_asked *asked)
{
    storm_cell_idx cell = asked->cell;
    size_t n = (size_t)imc->problem->n_groups;
    struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    double *spectrum = &imc->spectrum[(size_t)cell * n];
    double t = imc->temperature[cell];
    double shape = fmax(t, imc_coldest_kev), below = 0.0, planck_mean = 0.0;
    for (size_t g = 0; g < n; g++) {
        double up = g + 1 < n
                        ? storm_planck_below(imc->group_edge[g + 1] / shape)
                        : 1.0;
        o[g].absorb = asked->absorption[g];
        planck_mean += o[g].absorb * (up - below);
        spectrum[g] = planck_mean;
        below = up;
    }
    double fleck = imc_fleck(imc, asked, planck_mean);
    for (size_t g = 0; g < n; g++) {
        double absorb = o[g].absorb;
        o[g].absorb = fleck * absorb;
        o[g].scatter = (1.0 - fleck) * absorb + asked->scattering[g];
        spectrum[g] = planck_mean > 0.0 ? spectrum[g] / planck_mean : 1.0;
    }
    imc->track.cells[cell].absorb = fleck * planck_mean;
    imc->track.cells[cell].again = (1.0 - fleck) / fleck;
    imc->emitted[cell] = imc_emission(imc, cell, planck_mean, fleck);
    imc->fleck[cell] = fleck;
}

void imc_fields_set_beta(struct storm_imc *imc, storm_cell_idx cell,
                         double beta)
{
    struct imc_cell *c = &imc->track.cells[cell];
    double old = imc->fleck[cell];
    double mean = c->absorb / old; /* sigma_P */
    double fleck = imc_fleck_of(imc, cell, beta, mean);
    size_t n = (size_t)imc->problem->n_groups;
    for (size_t g = 0; n > 1 && g < n; g++) {
        struct imc_opacity *o = &imc->opacity[(size_t)cell * n + g];
        double absorb = o->absorb / old, total = o->absorb + o->scatter;
        double effective = (1.0 - fleck) * absorb;
        o->absorb = fleck * absorb;
        o->scatter = fmax(total - o->absorb, effective);
    }
    if (n > 1)
        c->again = (1.0 - fleck) / fleck;
    else
        c->scatter = fmax(c->absorb + c->scatter - fleck * mean, 0.0);
    c->absorb = fleck * mean;
    imc->emitted[cell] = imc_emission(imc, cell, mean, fleck);
    imc->fleck[cell] = fleck;
}

/* Groups in order of thickness, for the random walk. What a group emits, over
 * its opacity, is its share of the Planck function. */
static void imc_order_groups(struct storm_imc *imc, storm_cell_idx cell)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    const double *spectrum = &imc->spectrum[(size_t)cell * n];
    struct storm_walk_group *thick = &imc->thick[(size_t)cell * n];
    double below = 0.0;
    for (size_t g = 0; g < n; g++) {
        double effective = imc_effective(&imc->track.cells[cell], &o[g]);
        double absorb = o[g].absorb + effective;
        double planck = absorb > 0.0 ? (spectrum[g] - below) / absorb : 0.0;
        below = spectrum[g];
        thick[g] = storm_walk_group((int32_t)g, planck, o[g].absorb,
                                    o[g].scatter, effective);
    }
    storm_walk_sort(thick, n);
}

/* Asks for a block and sets its cells. */
static storm_status imc_fields_block(struct storm_imc *imc,
                                     struct imc_block *block)
{
    size_t n_groups = block->b.n_groups;
    bool is_warm = imc_is_warm(imc, block->material);
    storm_status status = imc_ask_opacity(imc);
    for (size_t k = 0; k < block->b.n; k++)
        block->temperature[k] = imc_capacity_kev(block->temperature[k]);
    if (status >= 0 && is_warm && imc->problem->emit_per_cell > 0)
        status = imc_ask_capacity(imc);
    for (size_t k = 0; k < block->b.n && status >= 0; k++) {
        const struct imc_asked asked = {
            .cell = block->cell[k],
            .is_warm = is_warm,
            .capacity = block->value[k],
            .absorption = &block->absorption[k * n_groups],
            .scattering = &block->scattering[k * n_groups],
        };
        if (n_groups == 1)
            imc_grey(imc, &asked);
        else
            imc_groups(imc, &asked);
        if (imc->thick != NULL)
            imc_order_groups(imc, asked.cell);
    }
    return status;
}

/* A cell without matter: the host may have taken it away. */
static void imc_empty(struct storm_imc *imc, storm_cell_idx cell)
{
    size_t n = (size_t)imc->problem->n_groups;
    imc->track.cells[cell].absorb = imc->track.cells[cell].scatter = 0.0;
    if (imc->opacity != NULL)
        memset(&imc->opacity[(size_t)cell * n], 0, n * sizeof *imc->opacity);
    if (imc->thick != NULL)
        memset(&imc->thick[(size_t)cell * n], 0, n * sizeof *imc->thick);
}

/* Mean free paths over the radius that a walk needs, of the thickest group. */
static double imc_walk_reach(const struct storm_imc *imc, storm_cell_idx cell)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_cell *c = &imc->track.cells[cell];
    double most = 0.0;
    if (n == 1)
        return (c->absorb + c->scatter) / storm_walk_depth;
    for (size_t g = 0; g < n; g++) {
        const struct imc_opacity *o = &imc->opacity[(size_t)cell * n + g];
        most = fmax(most, storm_walk_thickness(o->absorb, o->scatter,
                                               imc_effective(c, o)));
    }
    return most / storm_walk_lengths;
}

void imc_fields_walks(struct storm_imc *imc)
{
    const double rounding = 1.0 + 1e-9;
    for (storm_cell_idx i = 0; imc->walk != NULL && i < imc->n_cells; i++)
        imc->track.cells[i].walks =
            imc->inside[i] * imc_walk_reach(imc, i) * rounding >= 1.0;
}

storm_status imc_fields_set(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        imc->emitted[i] = 0.0;
        imc->track.cells[i].events = 0;
        if (!imc_has_matter(imc, imc->material[i]))
            imc_empty(imc, i);
    }
    return imc_matter_each(imc, NULL, imc_fields_block);
}
