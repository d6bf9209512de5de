/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opacities and heat capacities as powers, with floors and caps.
 *
 *   MATERIAL-1  Energy is the exact integral of the heat capacity from zero,
 *               floor and cap included (eq. 8), at a constant density;
 *               temperature is its inverse.
 *   MATERIAL-2  Small integer exponents are products, which are faster than
 *               storm_pow.
 *   MATERIAL-3  At rho_exp 0 the density changes no bit.
 */
#ifndef STORM_PHYSICS_MATERIAL_H
#define STORM_PHYSICS_MATERIAL_H

#include <stdbool.h>

#include <storm/matter.h>
#include <storm/problem.h>

/* T^exponent, MATERIAL-2. */
double storm_material_power(double base, double exponent);

/* A heat capacity: constant below t[0], a power up to t[1], then constant. */
struct storm_heat {
    bool held; /* no heat capacity: the temperature is constant */
    double coef, exponent;
    double low, high; /* below t[0], above t[1] */
    double t[2];
    double u[2]; /* energy density at t */
};

struct storm_heat storm_heat_make(const struct storm_power_law *law,
                                  double density_g_cm3);

/* erg/keV/cm3 */
double storm_heat_capacity(const struct storm_heat *heat,
                           double temperature_kev);

/* erg/cm3; 0 if held */
double storm_heat_energy(const struct storm_heat *heat, double temperature_kev);

/* keV; must not be held */
double storm_heat_temperature(const struct storm_heat *heat, double energy);

#endif /* STORM_PHYSICS_MATERIAL_H */
