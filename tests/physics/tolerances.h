/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far from the right answer the cases of this folder may be, in standard
 * errors (k) or relative. Seeds are fixed, so a case passes always or never; k
 * limits the odds that another seed fails.
 *
 *   case              what                                     one-sided odds
 *   uniform_density   24 means, each within k                  24 * 3e-7
 *   comb_unbiased     16 means, each within k                  16 * 3e-7
 *   burst_sphere      radius, relative: a rounding a crossing  -
 *   given_speed       min speed of the kernel, relative to     -
 *                     that on the native mesh
 */
#ifndef TESTS_PHYSICS_TOLERANCES_H
#define TESTS_PHYSICS_TOLERANCES_H

static const double uniform_density_k = 5.0;
static const double comb_unbiased_k = 5.0;
static const double burst_sphere_relative = 1e-14;
static const double given_speed_ratio = 0.7;

#endif /* TESTS_PHYSICS_TOLERANCES_H */
