/* SPDX-License-Identifier: BSD-3-Clause */
/* Directions about another one. */
#ifndef STORM_PHYSICS_TURN_H
#define STORM_PHYSICS_TURN_H

#include <math.h>

#include <storm/packet.h>

#include "base/port.h"

/* `along` times a normal and `across` times a unit vector across it, which u
 * turns about it. */
static inline void imc_turn(const double normal[3], double along, double across,
                            double u, double direction_out[3])
{
    double circle[3], a[3], b[3];
    storm_isotropic(0.5, u, circle);
    /* Two directions across the normal, from its smallest component. */
    int k = fabs(normal[0]) < fabs(normal[1]) ? 0 : 1;
    k = fabs(normal[2]) < fabs(storm_port_get(normal, k)) ? 2 : k;
    double least = storm_port_get(normal, k);
    for (int d = 0; d < 3; d++)
        a[d] = (d == k) - least * normal[d];
    double inverse = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int d = 0; d < 3; d++)
        a[d] *= inverse;
    for (int d = 0; d < 3; d++)
        b[d] = normal[(d + 1) % 3] * a[(d + 2) % 3] -
               normal[(d + 2) % 3] * a[(d + 1) % 3];
    for (int d = 0; d < 3; d++)
        direction_out[d] =
            along * normal[d] + across * (circle[0] * a[d] + circle[1] * b[d]);
}

/* The direction with this cosine to a normal; u turns it about that. */
static inline void imc_about(const double normal[3], double mu, double u,
                             double direction_out[3])
{
    imc_turn(normal, mu, sqrt(1.0 - mu * mu), u, direction_out);
}

/* Rounding must not add up over many turns. */
static inline void imc_unit(double direction[3])
{
    double square = direction[0] * direction[0] + direction[1] * direction[1] +
                    direction[2] * direction[2];
    double inverse = 1.0 / sqrt(square);
    for (int d = 0; d < 3; d++)
        direction[d] *= inverse;
}

#endif /* STORM_PHYSICS_TURN_H */
