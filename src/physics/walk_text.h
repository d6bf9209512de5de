/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of walk.h that kernels call, inlined: walk.c and walk_groups.c
 * are made of these, and so are kernels for devices. */
#ifndef STORM_PHYSICS_WALK_TEXT_H
#define STORM_PHYSICS_WALK_TEXT_H

#include <math.h>

#include <storm/packet.h>

#include "base/math.h"
#include "physics/walk.h"

static const double walk_pi = 3.14159265358979323846;

/* Both series converge everywhere; each is short on its side of this. */
static const double walk_between = 0.1;

/* Eq. (15), and its form for small theta (Poisson's sum). */
static inline double walk_stay(double theta)
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
static inline double walk_solve(double u)
{
    double low = 0.0, high = 5.0; /* 2 exp(-5 pi^2) = 7e-22 */
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (low + high);
        if (walk_stay(middle) > u)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static inline double walk_exit(const struct storm_walk *walk, double u)
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

/* The third of four uniform numbers in order has the distribution s^3 (4 - 3
 * s). */
static inline double walk_third(const double u[4])
{
    double a = fmax(u[0], u[1]), b = fmin(u[0], u[1]);
    double c = fmax(u[2], u[3]), d = fmin(u[2], u[3]);
    return a > c ? fmax(c, b) : fmax(a, d);
}

static inline double walk_radius(const struct storm_walk *walk, double theta,
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

/* ---- the medium ----------------------------------------------------------*/

static inline struct storm_walk_medium walk_grey(double absorb, double scatter)
{
    double free_path = 1.0 / (absorb + scatter);
    return (struct storm_walk_medium){
        .diffusion_cm = free_path / 3.0,
        .beyond_cm = storm_walk_extrapolation * free_path,
        .lost_cm = free_path,
        .length_cm = free_path,
        .absorb = absorb,
    };
}

/* A group that mostly absorbs does not diffuse, and one that rarely changes is
 * not part of a mixture. */
static inline double walk_thickness(double absorb, double scatter,
                                    double effective)
{
    return scatter >= storm_walk_scatter * (absorb + scatter) ? effective : 0.0;
}

static inline size_t walk_thick(const struct storm_walk_group *groups, size_t n,
                                double length_cm)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (groups[middle].thick * length_cm >= storm_walk_lengths)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of mixtures of mean free paths, the extrapolation length lies between that
 * of the mean path and that of the paths' own mean; eq. (21). */
static const double walk_of_mean = 0.36;

static inline struct storm_walk_medium
walk_ensemble(const struct storm_walk_group *groups, size_t n, size_t n_thick)
{
    const double *sum = groups[n_thick - 1].sum;
    double planck = sum[STORM_WALK_PLANCK], reach = sum[STORM_WALK_REACH];
    double events = sum[STORM_WALK_EVENTS];
    double out = 1.0 - events / groups[n - 1].sum[STORM_WALK_EVENTS];
    double heavy = sum[STORM_WALK_REACH2] / reach;
    double change = sum[STORM_WALK_STAY_REACH] / reach;
    double stay = sum[STORM_WALK_STAY] / planck, brief = planck / events;
    /* Those that have not leaked are in thinner groups, eq. (20). */
    double leak = out / (brief + out * (stay - brief));
    double fewer = 1.0 - leak * stay;
    double mean = reach / planck * fewer / fmax(1.0 - leak * change, 0.5);
    return (struct storm_walk_medium){
        .diffusion_cm = mean / 3.0,
        .beyond_cm = storm_walk_extrapolation *
                     (walk_of_mean * mean + (1.0 - walk_of_mean) * heavy),
        .lost_cm = heavy + change - stay, /* eq. (22) */
        .leak_lost_cm = change - brief,
        .length_cm = heavy + change - reach / planck,
        .absorb = sum[STORM_WALK_ABSORB] / planck * (fewer + leak * brief),
        .leak = leak,
    };
}

/* A group out of groups[from .. to), by its share in a sum. */
static inline int32_t walk_pick(const struct storm_walk_group *groups,
                                size_t from, size_t to,
                                enum storm_walk_sum which, double u)
{
    double before = from > 0 ? groups[from - 1].sum[which] : 0.0;
    double goal = before + u * (groups[to - 1].sum[which] - before);
    size_t low = from, high = to - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (groups[middle].sum[which] < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return groups[low].group;
}

/* Share of exits whose group is distributed as inside, the rest as the current;
 * found by brute force, tests/physics/walk_groups.c. */
static const double walk_inside_out = 0.25;

static inline int32_t walk_draw(const struct storm_walk_group *groups, size_t n,
                                size_t n_thick, enum storm_walk_end end,
                                const double u[2])
{
    if (end == STORM_WALK_LEAK)
        return walk_pick(groups, n_thick, n, STORM_WALK_EVENTS, u[0]);
    bool current = end == STORM_WALK_OUT && u[1] > walk_inside_out;
    return walk_pick(groups, 0, n_thick,
                     current ? STORM_WALK_REACH : STORM_WALK_PLANCK, u[0]);
}

#endif /* STORM_PHYSICS_WALK_TEXT_H */
