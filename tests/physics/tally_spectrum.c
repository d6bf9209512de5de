/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60; label: slow-asan slow-mpich */
/*
 * The spectrum of a hot slab against its integral: of thickness 1, at 1 keV for
 * good, absorbing and not scattering, it sends through each of its sides, per
 * area and time, once it is steady,
 *   (a c / 4) b_g * integral of 2 mu (1 - exp(-sigma_g / mu)) over 0 < mu < 1,
 * with b_g the share of the group in the Planck function. k standard errors
 * over runs; the opacities are those of the physics.
 */
#include <math.h>
#include <stdio.h>

#include <storm/tally.h>

#include "physics/imc.h"
#include "physics/planck.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { GROUPS = 5, RUNS = 6, STEPS = 16, WALLS = STORM_N_WALLS + 1 };
static const double k = 5.0; /* 10 comparisons, 5 degrees of freedom */
static const double lowest = 0.5, highest = 12.0;
static const double times[] = {8.0, 16.0};

static const struct storm_material matter = {
    .absorption = {.coef = 6.0, .e_exp = -1.0, .max = 1e12},
    .scattering = {.max = 1e12},
    .temperature_kev = 1.0,
};
static const struct storm_region everywhere = {.material = 0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

/* Energy by side and group; opacities of the groups. */
static void one_run(uint64_t seed, double energy_out[2][GROUPS],
                    double sigma_out[GROUPS])
{
    struct imc_box box = {.problem = {
                              STORM_PROBLEM_SIZES,
                              .light_cm_s = 1.0,
                              .radiation_erg_cm3_kev4 = 1.0,
                              .hi_cm = {1, 1, 1},
                              .materials = &matter,
                              .n_materials = 1,
                              .regions = &everywhere,
                              .n_regions = 1,
                              .n_groups = GROUPS,
                              .group_min_kev = lowest,
                              .group_max_kev = highest,
                              .emit_per_cell = 300,
                              .max_per_cell = 1000,
                              .seed = seed,
                          }};
    for (int wall = 2; wall < STORM_N_WALLS; wall++)
        box.problem.walls[wall] = (struct storm_wall){&mirror, 1};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {8, 1, 1}};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    struct storm_tally tally = STORM_TALLY_INIT;
    tally.name = "spectrum";
    tally.by = 1u << STORM_TALLY_TIME | 1u << STORM_TALLY_GROUP |
               1u << STORM_TALLY_WALL;
    tally.time_edges_s = times;
    tally.n_times = 1;
    size_t number;
    CHECK_OK(storm_imc_tally_add(box.imc, &tally, &number));
    imc_box_run(&box, 1.0, STEPS);
    double energy[3][GROUPS][WALLS];
    CHECK_EQ(storm_imc_tally_n_bins(box.imc, number), 3 * GROUPS * WALLS);
    CHECK_OK(storm_imc_tally_get(box.imc, number, &energy[0][0][0], NULL,
                                 NULL));
    for (int g = 0; g < GROUPS; g++) {
        sigma_out[g] = box.imc->opacity[g].absorb;
        for (int side = 0; side < 2; side++)
            energy_out[side][g] = energy[1][g][side];
        for (int wall = 2; wall < WALLS; wall++)
            CHECK(energy[1][g][wall] == 0.0);
    }
    imc_box_close(&box);
}

static double right(int g, double sigma)
{
    enum { POINTS = 20000 };
    double ratio = pow(highest / lowest, 1.0 / GROUPS), sum = 0.0;
    double below = g > 0 ? storm_planck_below(lowest * pow(ratio, g)) : 0.0;
    double up =
        g + 1 < GROUPS ? storm_planck_below(lowest * pow(ratio, g + 1)) : 1.0;
    for (int i = 0; i < POINTS; i++) {
        double mu = (i + 0.5) / POINTS;
        sum += 2.0 * mu * (1.0 - exp(-sigma / mu)) / POINTS;
    }
    return 0.25 * (up - below) * sum * (times[1] - times[0]);
}

int main(int argc, char **argv)
{
    double sum[2][GROUPS] = {{0.0}}, square[2][GROUPS] = {{0.0}};
    double sigma[GROUPS];
    MPI_Init(&argc, &argv);
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double energy[2][GROUPS];
        one_run(seed, energy, sigma);
        for (int i = 0; i < 2 * GROUPS; i++) {
            double e = energy[i / GROUPS][i % GROUPS];
            sum[i / GROUPS][i % GROUPS] += e / RUNS;
            square[i / GROUPS][i % GROUPS] += e * e / RUNS;
        }
    }
    for (int i = 0; i < 2 * GROUPS; i++) {
        int g = i % GROUPS;
        double mean = sum[i / GROUPS][g], answer = right(g, sigma[g]);
        double error = sqrt((square[i / GROUPS][g] - mean * mean) / (RUNS - 1));
        printf("side %d, group %d: %.5f +- %.5f, right %.5f\n", i / GROUPS, g,
               mean, error, answer);
        CHECK(fabs(mean - answer) <= k * error);
        CHECK(error < 0.05 * answer);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
