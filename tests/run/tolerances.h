/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far from the right answer the cases of this folder may be: relative, or
 * in standard errors (k). Seeds are fixed, so a case passes always or never.
 *
 *   case             what                                   sample
 *   su_olson         every point within `relative`, with    `seeds` runs
 *                    a standard error below `error`
 *   su_olson, short  every point within k errors and 1 %    3 runs; 8 on the
 *                                                           octree, 4 on
 *                                                           tetrahedra
 *   marshak_wave     place of 0.5 keV at 1, 5, 10 ns         3 runs
 *   marshak, short   the same at 1 ns                        3 runs
 *   marshak, meshes  and two meshes within k errors and      3 runs each
 *                    `mesh`
 *   absorber         share that comes through, within k      8 runs
 *   albedo           share that comes back, within k         8 runs
 *   infinite_medium  energies against the equation, within   8 runs
 *                    k errors and `steps` for the length of
 *                    the steps
 *   equilibrium      drift of the mean temperature, within k 20 runs
 */
#ifndef TESTS_RUN_TOLERANCES_H
#define TESTS_RUN_TOLERANCES_H

enum { SU_OLSON_SEEDS = 100, SU_OLSON_SHORT_SEEDS = 3 };
enum { SU_OLSON_OCTREE_SEEDS = 200, SU_OLSON_OCTREE_SHORT_SEEDS = 8 };
enum { SU_OLSON_TETRAHEDRA_SEEDS = 160, SU_OLSON_TETRAHEDRA_SHORT_SEEDS = 4 };
static const double su_olson_relative = 0.02;
static const double su_olson_error = 0.007;
static const double su_olson_short_k = 6.0;

enum { MARSHAK_SEEDS = 3, MARSHAK_SHORT_SEEDS = 3 };
static const double marshak_relative[3] = {0.03, 0.02, 0.02};
static const double marshak_short_k = 3.0;
static const double marshak_short_mesh = 0.015;

enum { ABSORBER_SEEDS = 8 };
static const double absorber_k = 3.0;

enum { ALBEDO_SEEDS = 8 };
static const double albedo_k = 3.0;

enum { INFINITE_SEEDS = 8 };
static const double infinite_k = 3.0;
static const double infinite_steps = 0.004;

enum { EQUILIBRIUM_SEEDS = 20 };
static const double equilibrium_k = 3.0;

#endif /* TESTS_RUN_TOLERANCES_H */
