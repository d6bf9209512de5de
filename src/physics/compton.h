/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scattering by electrons in the frame of matter, eqs. (C2) to (C7).
 *
 *   COMPTON-1  All is sampled exactly: no tables, no expansion in temperature
 *              or energy, no limit on the number of tries that is reached.
 *   COMPTON-2  The rate of collisions is n_e sigma_T c for any photon and
 *              temperature, and nothing is lost by that: the mean of
 *              1 - n.beta over thermal electrons is 1, and the cross section
 *              is never above sigma_T. What is too many are virtual collisions,
 *              which leave the photon as it is.
 */
#ifndef STORM_PHYSICS_COMPTON_H
#define STORM_PHYSICS_COMPTON_H

#include "physics/planck.h"

/* CODATA 2018: energy of an electron at rest, keV; Thomson cross section. */
static const double storm_electron_kev = 510.99895;
static const double storm_thomson_cm2 = 6.6524587321e-25;

/* The cosine of Thomson scattering, density 3/8 (1 + c^2), from a uniform
 * number (C2). */
double storm_thomson_cosine(double u);

/* gamma - 1 of a thermal electron, temperature in units of its rest energy;
 * density of gamma: gamma sqrt(gamma^2 - 1) exp(-gamma / theta), (C3). */
double storm_electron_draw(double theta, const struct storm_draws *draws);

/* A photon of this energy and direction meets a thermal electron. Returns its
 * energy after over that before, and turns it; or 0: a virtual collision. */
double storm_compton_draw(double temperature_kev, double energy_kev,
                          double direction[3], const struct storm_draws *draws);

#endif /* STORM_PHYSICS_COMPTON_H */
