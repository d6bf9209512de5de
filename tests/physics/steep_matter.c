/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60; label: slow-asan */
/*
 * Eq. (35): matter whose energy grows as T^6 would emit one and a half times
 * what it has in a long step. It emits all of it, and absorbs less by as much:
 * in a closed box it keeps radiation of a T^4, grey and with groups, and comes
 * to k a T^4 where a host multiplies emission by k, within k_errors standard
 * errors over steps. (With emission alone bounded it is less by a fifth.)
 */
#include <math.h>
#include <stdio.h>

#include "support/check.h"
#include "support/imc_box.h"

static const double k_errors = 4.5;
static const struct storm_wall_part periodic = {.kind = STORM_WALL_PERIODIC};
static const struct storm_region all = {.material = 0};

enum { WARM = 15, STEPS = 40 };

/* Radiation of matter with 5 T^6 that shares this energy with k T^4. */
static double radiation_of(double energy, double k)
{
    double lo = 0.0, hi = 2.0;
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (lo + hi), t4 = t * t * t * t;
        if (5.0 * t4 * t * t + k * t4 < energy)
            lo = t;
        else
            hi = t;
    }
    return k * pow(lo, 4.0);
}

static void check(uint64_t n_groups, double k)
{
    const struct storm_material matter = {
        .absorption = {.coef = 1.0,
                       .e_exp = n_groups > 1 ? -1.0 : 0.0,
                       .max = 1e3},
        .heat_capacity = {.coef = 30, .t_exp = 5, .max = 1e12},
        .temperature_kev = 1,
        .radiation_temperature_kev = 1};
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .materials = &matter, .n_materials = 1, .regions = &all,
                    .n_regions = 1, .n_groups = n_groups, .group_min_kev = 0.5,
                    .group_max_kev = 10, .emit_per_cell = 2000,
                    .min_per_cell = 500, .max_per_cell = 2000, .comb = true,
                    .seed = 1}};
    double energy[4], sum = 0.0, square = 0.0, times[2] = {k, k};
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        box.problem.walls[wall] = (struct storm_wall){&periodic, 1};
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1, 1, 1},
                                     .n = {2, 1, 1},
                                     .periodic = {true, true, true}};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    CHECK_OK(storm_imc_set(box.imc, STORM_IMC_EMISSION, times));
    for (int i = 0; i < WARM + STEPS; i++) {
        CHECK(imc_box_step(&box, 50.0 * i, 50.0, energy) <= 1e-13);
        double now = imc_box_total(&box, STORM_IMC_RADIATION_CENSUS);
        if (i < WARM)
            continue;
        sum += now;
        square += now * now;
    }
    double mean = sum / STEPS, right = radiation_of(6.0, k);
    double error = sqrt((square / STEPS - mean * mean) / (STEPS - 1));
    if (storm_context_rank(box.context) == 0)
        printf("%d groups, emission times %g: %.4f +- %.4f, right %.4f\n",
               (int)n_groups, k, mean, error, right);
    check_where("%d groups, emission times %g", (int)n_groups, k);
    CHECK(fabs(mean - right) <= k_errors * error);
    CHECK(error < 0.01 * right);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(1, 1.0);
    check(4, 1.0);
    check(1, 2.0);
    MPI_Finalize();
    return CHECK_PASS;
}
