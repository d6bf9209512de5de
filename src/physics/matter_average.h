/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mean of a power law over a group of photon energies, eqs. (31) and (32).
 *
 *   AVERAGE-1  A pure function of its arguments.
 *   AVERAGE-2  Between the smallest and the largest value of the law in the
 *              group; relative error below storm_average_error.
 *   AVERAGE-3  Of a law that does not depend on the photon energy, the law to
 *              the last bit.
 */
#ifndef STORM_PHYSICS_MATTER_AVERAGE_H
#define STORM_PHYSICS_MATTER_AVERAGE_H

#include <storm/problem.h>

/* Of the quadrature, relative; tests/physics/matter_average.c. */
static const double storm_average_error = 1e-7;

/* A law at one temperature and density: scale * E^exponent, at least min and at
 * most max. */
struct storm_average_law {
    double scale, exponent;
    double min, max;
};

/* The law at a photon energy, as storm_power_law_value. */
double storm_average_at(const struct storm_average_law *law, double energy_kev);

/* Its mean over lo_kev .. hi_kev, 0 < lo < hi, at this temperature, >= 0.
 * STORM_GROUP_MIDDLE: at sqrt(lo) sqrt(hi). */
double storm_average(const struct storm_average_law *law,
                     storm_group_average kind, double temperature_kev,
                     double lo_kev, double hi_kev);

#endif /* STORM_PHYSICS_MATTER_AVERAGE_H */
