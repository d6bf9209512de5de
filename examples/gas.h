/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ideal gas for host_moving.c: what a cell has, and what flows through a
 * face that moves.
 */
#ifndef STORM_EXAMPLES_GAS_H
#define STORM_EXAMPLES_GAS_H

#include <math.h>

#include <storm/packet.h>

static const double gamma_gas = 5.0 / 3.0;

/* All that a cell has: it is conserved. Energy is that of heat and motion. */
enum { MASS, MOMENTUM, ENERGY = 4, N_Q };
typedef double gas[N_Q];

/* What its neighbours need of it. */
struct state {
    double rho, v[3], pressure;
    double w[3]; /* velocity of its generator */
    storm_cell_id tag;
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Heat is the energy that is not of motion. */
static double heat_erg(const gas q)
{
    const double *p = &q[MOMENTUM];
    return fmax(q[ENERGY] - 0.5 * dot(p, p) / q[MASS], 1e-30 * q[ENERGY]);
}

/* HLLC (Toro, Spruce and Speares 1994), per area and time, from s[0] to s[1],
 * through a face that moves with w; then back to the frame at rest. */
static void hllc(const struct state *const s[2], const double normal[3],
                 const double w[3], gas out)
{
    double v[2][3], speed[2], sound[2], wave[2], mass[2];
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < 3; d++)
            v[k][d] = s[k]->v[d] - w[d];
        speed[k] = dot(v[k], normal);
        sound[k] = sqrt(gamma_gas * s[k]->pressure / s[k]->rho);
    }
    wave[0] = fmin(0.0, fmin(speed[0] - sound[0], speed[1] - sound[1]));
    wave[1] = fmax(0.0, fmax(speed[0] + sound[0], speed[1] + sound[1]));
    for (int k = 0; k < 2; k++)
        mass[k] = s[k]->rho * (wave[k] - speed[k]);
    double star = (s[1]->pressure - s[0]->pressure + mass[0] * speed[0] -
                   mass[1] * speed[1]) /
                  (mass[0] - mass[1]);
    int k = star >= 0.0 ? 0 : 1; /* the side that flows through the face */
    double jump = star - speed[k], p = s[k]->pressure;
    double flow = star * mass[k] / (wave[k] - star),
           p_star = p + mass[k] * jump;
    double energy = p / ((gamma_gas - 1.0) * s[k]->rho) +
                    0.5 * dot(v[k], v[k]) + jump * (star + p / mass[k]);
    out[MASS] = flow;
    for (int d = 0; d < 3; d++)
        out[MOMENTUM + d] =
            flow * (v[k][d] + jump * normal[d]) + p_star * normal[d];
    out[ENERGY] = flow * energy + p_star * star;
    out[ENERGY] += dot(w, &out[MOMENTUM]) + 0.5 * dot(w, w) * flow;
    for (int d = 0; d < 3; d++)
        out[MOMENTUM + d] += w[d] * flow;
}

#endif /* STORM_EXAMPLES_GAS_H */
