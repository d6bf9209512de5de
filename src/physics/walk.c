/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/walk.h"

#include <math.h>

#include <storm/packet.h>

#include "base/math.h"

static const double walk_pi = 3.14159265358979323846;

/* Both series converge everywhere; each is short on its side of this. */
static const double walk_between = 0.1;

/* Eq. (15), and its form for small theta (Poisson's sum). */
double storm_walk_stay(double theta)
{
    double sum = 0.0;
    if (!(theta > 0.0))
        return 1.0;
    if (theta > walk_between) {
        for (int n = 1; n <= 8; n++) {
            double term = storm_exp(-(walk_pi * n) * (walk_pi * n) * theta);
            sum += n % 2 ? term : -term;
        }
        return 2.0 * sum;
    }
    for (int k = 0; k < 6; k++) {
        double x = k + 0.5;
        sum += storm_exp(-x * x / theta);
    }
    return 1.0 - 2.0 / sqrt(walk_pi * theta) * sum;
}

/* Where the probability is u, by bisection. */
static double walk_solve(double u)
{
    double low = 0.0, high = 5.0; /* 2 exp(-5 pi^2) = 7e-22 */
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (low + high);
        if (storm_walk_stay(middle) > u)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double storm_walk_exit(const struct storm_walk *walk, double u)
{
    /* One term of the series is enough here; (u/2)^3 is left out. */
    if (u < 0.02)
        return storm_log(2.0 / u) / (walk_pi * walk_pi);
    double at = u * STORM_WALK_NODES;
    int i = (int)at;
    if (i >= STORM_WALK_NODES - 8) /* it bends down to zero: rare */
        return walk_solve(u);
    double part = at - i;
    return walk->theta[i] + part * (walk->theta[i + 1] - walk->theta[i]);
}

/* ---- inside ------------------------------------------------------------- */

/* Before the first time the surface has no effect; after the last the shape
 * does not change. */
static const double walk_first = 0.03, walk_last = 0.4;

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

/* The third of four uniform numbers in order has the distribution s^3 (4 - 3
 * s). */
static double walk_third(const double u[4])
{
    double a = fmax(u[0], u[1]), b = fmin(u[0], u[1]);
    double c = fmax(u[2], u[3]), d = fmin(u[2], u[3]);
    return a > c ? fmax(c, b) : fmax(a, d);
}

double storm_walk_radius(const struct storm_walk *walk, double theta,
                         const double u[4])
{
    /* So early that the surface has no effect: the norm of three normal
     * numbers; a share of exp(-1/(4 theta)) is too far out. */
    if (theta < walk_first) {
        double circle[3];
        if (!(theta > 0.0))
            return 0.0;
        storm_isotropic(0.5, u[2], circle);
        double square =
            -4.0 * theta *
            (storm_log(u[0]) + storm_log(u[1]) * circle[0] * circle[0]);
        return square < 1.0 ? sqrt(square) : 1.0;
    }
    double at =
        fmin(storm_log(theta / walk_first) / storm_log(walk_last / walk_first),
             1.0) *
        STORM_WALK_SHAPES;
    double s = walk_third(u) * STORM_WALK_PLACES;
    int i = (int)at < STORM_WALK_SHAPES ? (int)at : STORM_WALK_SHAPES - 1;
    int j = (int)s < STORM_WALK_PLACES ? (int)s : STORM_WALK_PLACES - 1;
    const double *a = &walk->place[i][j], *b = &walk->place[i + 1][j];
    double early = a[0] + (s - j) * (a[1] - a[0]);
    double late = b[0] + (s - j) * (b[1] - b[0]);
    return early + (at - i) * (late - early);
}

void storm_walk_make(struct storm_walk *walk)
{
    walk->theta[0] = walk_solve(1e-20);
    walk->theta[STORM_WALK_NODES] = 0.0;
    for (int i = 1; i < STORM_WALK_NODES; i++)
        walk->theta[i] = walk_solve((double)i / STORM_WALK_NODES);
    walk_make_places(walk);
}
