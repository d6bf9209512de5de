/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/walk_text.h"

#include <math.h>

#include <storm/packet.h>

#include "base/math.h"

double storm_walk_stay(double theta)
{
    return walk_stay(theta);
}

double storm_walk_exit(const struct storm_walk *walk, double u)
{
    return walk_exit(walk, u);
}

double storm_walk_radius(const struct storm_walk *walk, double theta,
                         const double u[4])
{
    return walk_radius(walk, theta, u);
}

/* ---- inside ------------------------------------------------------------- */

/* Eq. (16): probability to be below rho, times a constant. */
static double walk_below(double theta, double rho)
{
    double sum = 0.0;
    for (int n = 1; n <= 12; n++) {
        double x = walk_pi * n;
        double decay = storm_exp(-x * x * theta);
        double c, s;
        storm_cos_sin_turns(0.5 * n * rho, &c, &s);
        sum += decay * (s / x - rho * c);
        if (decay < 1e-12)
            break;
    }
    return sum;
}

/* The radius with this share of the packets below it. */
static double walk_place(double theta, double share)
{
    double low = 0.0, high = 1.0, goal = share * walk_below(theta, 1.0);
    for (int i = 0; i < 30; i++) {
        double middle = 0.5 * (low + high);
        if (walk_below(theta, middle) < goal)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Packets below rho go as rho^3 near the centre, and those beyond as (1 -
 * rho)^2 near the surface. s^3 (4 - 3 s) does the same: rho is smooth in s. */
static void walk_make_places(struct storm_walk *walk)
{
    double ratio = storm_log(walk_last / walk_first);
    for (int i = 0; i <= STORM_WALK_SHAPES; i++) {
        double theta = walk_first * storm_exp(ratio * i / STORM_WALK_SHAPES);
        walk->place[i][0] = 0.0;
        walk->place[i][STORM_WALK_PLACES] = 1.0;
        for (int j = 1; j < STORM_WALK_PLACES; j++) {
            double s = (double)j / STORM_WALK_PLACES;
            walk->place[i][j] = walk_place(theta, s * s * s * (4.0 - 3.0 * s));
        }
    }
}

void storm_walk_make(struct storm_walk *walk)
{
    walk->theta[0] = walk_solve(1e-20);
    walk->theta[STORM_WALK_NODES] = 0.0;
    for (int i = 1; i < STORM_WALK_NODES; i++)
        walk->theta[i] = walk_solve((double)i / STORM_WALK_NODES);
    walk_make_places(walk);
}
