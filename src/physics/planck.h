/* SPDX-License-Identifier: BSD-3-Clause */
/* The Planck spectrum. */
#ifndef STORM_PHYSICS_PLANCK_H
#define STORM_PHYSICS_PLANCK_H

/* The share of the energy of a blackbody below x = E / T, to 1e-13 or so
 * (eq. 12). x >= 0, may be infinite. */
double storm_planck_below(double x);

#endif /* STORM_PHYSICS_PLANCK_H */
