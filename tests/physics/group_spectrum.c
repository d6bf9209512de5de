/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60; label: slow-asan slow-mpich */
/*
 * An infinite medium (a closed box) of 1 keV that cannot cool, no radiation at
 * the start: after some mean free times the radiation of every group is a T^4
 * times its share of the Planck function, whatever its opacity, which falls as
 * 1/E from 17 to 1 per cm; c = a = 1. And with random walk, ten times as thick
 * and with little heat capacity: it stays so from the start.
 *
 * Sample: 10 runs to t = 8, 50 packets emitted in each of 8 cells and 20
 * steps; every group within 4 standard errors (20 comparisons).
 */
#include <math.h>
#include <stdio.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/streaming.h>

#include "physics/planck.h"
#include "support/check.h"

enum { GROUPS = 10, RUNS = 10, STEPS = 20 };
static const double dt = 0.4, k = 4.0, lowest = 0.5, highest = 12.0;

/* One that cannot cool, from no radiation; and one so thick and light that
 * most collisions are effective scatterings, from equilibrium. */
static struct storm_material make_matter(bool walk)
{
    return (struct storm_material){
        .name = "gas",
        .absorption = {.coef = walk ? 100.0 : 10.0, .e_exp = -1.0, .max = 1e12},
        .scattering = {.max = 1e12},
        .heat_capacity = {.coef = walk ? 0.5 : 1e4, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = walk ? 1.0 : 0.0,
    };
}
static const struct storm_region everywhere = {.material = 0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

static struct storm_problem make_problem(const struct storm_material *matter,
                                         uint64_t seed, bool walk)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {2.0, 2.0, 2.0},
        .materials = matter,
        .n_materials = 1,
        .regions = &everywhere,
        .n_regions = 1,
        .n_groups = GROUPS,
        .group_min_kev = lowest,
        .group_max_kev = highest,
        .emit_per_cell = 50,
        .min_per_cell = 20,
        .max_per_cell = 400,
        .comb = true,
        .random_walk = walk,
        .seed = seed,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&mirror, 1};
    return p;
}

/* Energy of each group at the end, of all ranks. */
static void one_run(struct storm_context *context, uint64_t seed, bool walk,
                    double energy_out[GROUPS])
{
    struct storm_material matter = make_matter(walk);
    struct storm_problem problem = make_problem(&matter, seed, walk);
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {2, 2, 2}, .n = {2, 2, 2}};
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    CHECK_OK(storm_imc_create(context, mesh, &problem, &imc));
    struct storm_comb_params comb_params = {.size = sizeof comb_params,
                                            .seed = seed,
                                            .n_min = problem.min_per_cell,
                                            .n_max = problem.max_per_cell,
                                            .remainder = storm_imc_deposit,
                                            .remainder_self = imc};
    CHECK_OK(storm_comb_create(context, &comb_params, &comb));
    struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_engine_create(context, &params, &engine));
    CHECK_OK(storm_imc_attach(imc, engine));
    CHECK_OK(storm_comb_attach(comb, engine));
    CHECK_OK(storm_imc_start(imc, engine));
    for (int i = 0; i < STEPS; i++) {
        CHECK_OK(storm_imc_set_step(imc, i * dt, dt));
        CHECK_OK(storm_engine_step(engine));
    }
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    for (int g = 0; g < GROUPS; g++)
        energy_out[g] = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        CHECK(packet->group >= 0 && packet->group < GROUPS);
        energy_out[packet->group] += packet->weight_erg;
    }
    CHECK_OK(storm_context_reduce(context, energy_out, GROUPS, MPI_DOUBLE,
                                  MPI_SUM));
    storm_engine_destroy(engine);
    storm_comb_destroy(comb);
    storm_imc_destroy(imc);
    storm_mesh_destroy(mesh);
}

/* Share of a group of the Planck function at 1 keV; all groups together have
 * everything. */
static double right(int g)
{
    double ratio = pow(highest / lowest, 1.0 / GROUPS);
    double below = g > 0 ? storm_planck_below(lowest * pow(ratio, g)) : 0.0;
    double up =
        g + 1 < GROUPS ? storm_planck_below(lowest * pow(ratio, g + 1)) : 1.0;
    return up - below;
}

static void compare(struct storm_context *context, bool walk)
{
    const double volume = 8.0;
    double sum[GROUPS] = {0.0}, square[GROUPS] = {0.0};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double energy[GROUPS];
        one_run(context, seed, walk, energy);
        for (int g = 0; g < GROUPS; g++) {
            sum[g] += energy[g] / volume;
            square[g] += energy[g] * energy[g] / (volume * volume);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        double mean = sum[g] / RUNS;
        double error = sqrt((square[g] / RUNS - mean * mean) / (RUNS - 1));
        if (storm_context_rank(context) == 0)
            printf("%s group %d: %.5f +- %.5f, right %.5f\n",
                   walk ? "walk," : "", g, mean, error, right(g));
        CHECK(fabs(mean - right(g)) <= k * error);
        CHECK(error < 0.1 * right(g) + 1e-3);
    }
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    compare(context, false);
    compare(context, true);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
