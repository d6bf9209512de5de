/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random walk (Fleck and Canfield 1984): many scatterings inside a sphere as
 * one, by the solution of the diffusion equation in it.
 *
 * A packet starts at the centre of a sphere of radius R, diffuses with D = c /
 * (3 sigma), and is out when it first reaches R. In units theta = D t / R^2
 * all spheres are the same (eqs. 15 to 17).
 *
 *   W1  storm_walk_stay is the probability to be inside still, to 1e-12.
 *   W2  storm_walk_exit is its inverse, by a table, to 1e-5 of a theta.
 *   W3  The radius a sphere has for diffusion is larger than that where the
 *       packet leaves by the extrapolation length, 0.7104 mean free paths.
 */
#ifndef STORM_PHYSICS_WALK_H
#define STORM_PHYSICS_WALK_H

enum { STORM_WALK_NODES = 4096 };

static const double storm_walk_extrapolation = 0.7104;

/* theta at evenly spaced probabilities to be inside. */
struct storm_walk {
    double theta[STORM_WALK_NODES + 1];
};

void storm_walk_make(struct storm_walk *walk);

/* Probability to be inside after theta. */
double storm_walk_stay(double theta);

/* The theta at which a packet gets out, from a uniform number. */
double storm_walk_exit(const struct storm_walk *walk, double u);

/* Distance from the centre, over R, of a packet still inside after theta,
 * from three uniform numbers. */
double storm_walk_radius(double theta, const double u[3]);

#endif /* STORM_PHYSICS_WALK_H */
