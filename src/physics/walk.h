/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random walk (Fleck and Canfield 1984): many scatterings inside a sphere as
 * one event, by the solution of the diffusion equation in it; with several
 * groups in its partially grey form, in which all thick groups walk as one.
 *
 * A packet starts at the centre of a sphere of radius R, diffuses with D = c /
 * (3 sigma), and is out when it first reaches R. In units theta = D t / R^2
 * all spheres are the same (eqs. 15 to 17).
 *
 *   WALK-1  storm_walk_stay is the probability to be still inside, to 1e-12.
 *   WALK-2  storm_walk_exit is its inverse, by a table, to 1e-5 of a theta.
 *   WALK-3  The radius a sphere has for diffusion is larger than that where the
 *           packet leaves by the extrapolation length, 0.7104 mean free paths.
 *   WALK-4  storm_walk_radius follows eq. (16), by a table, to 1e-3 of R.
 *   WALK-5  Groups are in order of thickness, so that those which are thick
 *           enough for a sphere are the first ones, and all that a walk needs
 *           of them (eqs. 19 to 24) is in the sums at the last of these.
 *   WALK-6  Groups walk where what each end of a walk adds to the mean square
 *           distance agrees with brute force to 10 % of the whole, whatever
 *           their opacities (storm_walk_deep).
 */
#ifndef STORM_PHYSICS_WALK_H
#define STORM_PHYSICS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORM_WALK_NODES = 4096,
    STORM_WALK_SHAPES = 64, /* of eq. (16): times, and places for each */
    STORM_WALK_PLACES = 64
};

static const double storm_walk_extrapolation = 0.7104;

/* Conditions under which a random walk is as accurate as transport: this many
 * mean free paths to the nearest face and to the end of the step, and this
 * share of them scattering; of scatterings that change the group, this share
 * into groups that walk; and with several groups this many paths between
 * changes of the group, and lengths of the mixture. */
static const double storm_walk_depth = 5.0;
static const double storm_walk_scatter = 0.9;
static const double storm_walk_together = 0.8;
static const double storm_walk_lengths = 7.0;

struct storm_walk {
    /* theta at evenly spaced probabilities to be inside */
    double theta[STORM_WALK_NODES + 1];
    /* places of packets inside, over R, for times evenly spaced in their
     * logarithm */
    double place[STORM_WALK_SHAPES + 1][STORM_WALK_PLACES + 1];
};

void storm_walk_make(struct storm_walk *walk);

/* Probability to be inside after theta. */
double storm_walk_stay(double theta);

/* The theta at which a packet gets out, from a uniform number. */
double storm_walk_exit(const struct storm_walk *walk, double u);

/* Distance from the centre, over R, of a packet still inside after theta,
 * from four uniform numbers. */
double storm_walk_radius(const struct storm_walk *walk, double theta,
                         const double u[4]);

/* ---- the medium of a walk ----------------------------------------------- */

/* Lengths are paths: times, by c. */
struct storm_walk_medium {
    double diffusion_cm; /* D / c */
    double beyond_cm;    /* extrapolation length */
    double lost_cm;      /* of the path to a census: the first flight is
                            straight */
    double leak_lost_cm; /* the same to a leak */
    double length_cm;    /* of a mixture: a walk takes several */
    double absorb;       /* 1/cm */
    double leak;         /* 1/cm: into groups that do not walk */
};

/* One group of opacity `absorb` and `scatter`. */
struct storm_walk_medium storm_walk_grey(double absorb, double scatter);

/* Sums over a group and all that are thicker; weights b_g are shares of the
 * Planck function, up to a common factor. */
enum storm_walk_sum {
    STORM_WALK_PLANCK,     /* b */
    STORM_WALK_REACH,      /* b / sigma */
    STORM_WALK_REACH2,     /* b / sigma^2 */
    STORM_WALK_STAY,       /* b over effective scattering e */
    STORM_WALK_STAY_REACH, /* b / (sigma e) */
    STORM_WALK_EVENTS,     /* b e */
    STORM_WALK_ABSORB,     /* b times absorption */
    STORM_WALK_SUMS
};

struct storm_walk_group {
    double thick; /* 1/cm, eq. (19); 0: never walks */
    double sum[STORM_WALK_SUMS];
    int32_t group;
};

/* eq. (19): from opacities of a group; `effective` is a part of `scatter`. */
double storm_walk_thickness(double absorb, double scatter, double effective);

/* A group by itself, before storm_walk_sort. */
struct storm_walk_group storm_walk_group(int32_t group, double planck,
                                         double absorb, double scatter,
                                         double effective);

/* Sorts the groups of a cell and adds up. */
void storm_walk_sort(struct storm_walk_group *groups, size_t n);

/* How many, from the first, are thick over this length. */
size_t storm_walk_thick(const struct storm_walk_group *groups, size_t n,
                        double length_cm);

/* The first n_thick of n groups as one, eqs. (20) to (23). */
struct storm_walk_medium
storm_walk_ensemble(const struct storm_walk_group *groups, size_t n,
                    size_t n_thick);

/* Whether a mixture may walk over this length, WALK-6. */
static inline bool storm_walk_deep(const struct storm_walk_medium *medium,
                                   double length_cm)
{
    return length_cm >= storm_walk_lengths * medium->length_cm;
}

/* How a walk ends. */
enum storm_walk_end { STORM_WALK_OUT, STORM_WALK_CENSUS, STORM_WALK_LEAK };

/* The group after a walk of the first n_thick of n groups, from two uniform
 * numbers, eq. (24). */
int32_t storm_walk_draw(const struct storm_walk_group *groups, size_t n,
                        size_t n_thick, enum storm_walk_end end,
                        const double u[2]);

#endif /* STORM_PHYSICS_WALK_H */
