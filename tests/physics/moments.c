/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/*
 * MOMENTS-1 to MOMENTS-3: a beam in vacuum has the flux c E and the pressure E
 * along itself; in an absorber its momentum is its energy over c. Radiation in
 * equilibrium, with random walk and without, has a third of its energy density
 * as pressure, no flux and the Planck spectrum: k standard errors over runs.
 * Energy by group adds up to that of the cell. The state is the same as without
 * moments, and these are the same bits on all ranks as on one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/tally.h>

#include "base/hash.h"
#include "physics/planck.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { GROUPS = 4, RUNS = 8, STEPS = 3, CELLS = 4 };
static const double k = 4.5; /* 2 * (6 + 4) comparisons */
static const unsigned all =
    STORM_IMC_GROUPS | STORM_IMC_FLUX | STORM_IMC_PRESSURE | STORM_IMC_MOMENTUM;

static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
static const struct storm_region everywhere = {.material = 0};

static struct storm_problem make_problem(const struct storm_material *matter)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = 2.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},
        .materials = matter,
        .n_materials = 1,
        .regions = &everywhere,
        .n_regions = 1,
        .n_groups = GROUPS,
        .group_min_kev = 0.5,
        .group_max_kev = 12.0,
        .emit_per_cell = 20,
        .min_per_cell = 10,
        .max_per_cell = 60,
        .comb = true,
        .seed = 1,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&mirror, 1};
    return p;
}

static void open_box(struct imc_box *box, MPI_Comm comm, unsigned moments)
{
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {CELLS, CELLS, CELLS}};
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
    CHECK_OK(storm_imc_request(box->imc, moments));
}

/* Values of a moment; free them. */
static double *get(struct imc_box *box, storm_imc_moment moment)
{
    size_t n = storm_imc_moment_values(box->imc, moment) *
               (size_t)storm_mesh_n_cells(box->mesh);
    double *values = calloc(n + 1, sizeof *values);
    CHECK(values != NULL);
    CHECK_OK(storm_imc_get_moment(box->imc, moment, values));
    return values;
}

/* Sums over all cells, which have equal volumes, divided by their number. */
static void mean(struct imc_box *box, storm_imc_moment moment,
                 double *means_out)
{
    size_t n = storm_imc_moment_values(box->imc, moment);
    double *values = get(box, moment);
    for (size_t i = 0; i < n; i++) {
        means_out[i] = 0.0;
        for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box->mesh); c++)
            means_out[i] += values[n * (size_t)c + i] / pow(CELLS, 3);
    }
    free(values);
    CHECK_OK(storm_context_reduce(box->context, means_out, (int)n, MPI_DOUBLE,
                                  MPI_SUM));
}

/* ---- a beam ------------------------------------------------------------- */

static void check_beam(double absorption)
{
    const struct storm_material matter = {
        .absorption = {.coef = absorption, .max = 1e12},
        .temperature_kev = 0.0};
    struct imc_box box = {.problem = make_problem(&matter)};
    const double n[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, weight = 3.0, dt = 0.05;
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    open_box(&box, MPI_COMM_WORLD, all);
    const struct storm_packet packet = {
        .id = {.lo = 1},
        .position_cm = {0.4, 0.5, 0.45},
        .direction = {n[0], n[1], n[2]},
        .weight_erg = weight,
        .birth_weight_erg = weight,
        .group = 2,
    };
    imc_box_add(&box, packet);
    double energy[4], e[GROUPS], flux[3], pressure[6], momentum[3];
    (void)imc_box_step(&box, 0.0, dt, energy);
    mean(&box, STORM_IMC_GROUPS, e);
    mean(&box, STORM_IMC_FLUX, flux);
    mean(&box, STORM_IMC_PRESSURE, pressure);
    mean(&box, STORM_IMC_MOMENTUM, momentum);
    CHECK(e[2] > 0.0 && e[0] == 0.0 && e[1] == 0.0 && e[3] == 0.0);
    CHECK(absorption > 0.0 || fabs(e[2] - weight) < 1e-13);
    for (int d = 0; d < 3; d++) {
        CHECK(fabs(flux[d] - 2.0 * e[2] * n[d]) < 1e-13);
        CHECK(fabs(pressure[d] - e[2] * n[d] * n[d]) < 1e-13);
        CHECK(fabs(pressure[3 + d] - e[2] * n[d] * n[(d + 1) % 3]) < 1e-13);
        CHECK(fabs(momentum[d] * pow(CELLS, 3) - energy[1] * n[d] / 2.0) <
              1e-13);
    }
    CHECK((energy[1] > 0.1) == (absorption > 0.0));
    imc_box_close(&box);
}

/* ---- equilibrium -------------------------------------------------------- */

/* Share of a group of the Planck function at 1 keV. */
static double right(int g)
{
    double ratio = pow(24.0, 1.0 / GROUPS);
    double below = g > 0 ? storm_planck_below(0.5 * pow(ratio, g)) : 0.0;
    double up =
        g + 1 < GROUPS ? storm_planck_below(0.5 * pow(ratio, g + 1)) : 1.0;
    return up - below;
}

/* A hash of all values, by tag, in any order. */
static uint64_t hash_moments(struct imc_box *box)
{
    uint64_t sum = 0;
    for (unsigned m = STORM_IMC_GROUPS; m <= STORM_IMC_MOMENTUM; m *= 2) {
        size_t n = storm_imc_moment_values(box->imc, (storm_imc_moment)m);
        double *values = get(box, (storm_imc_moment)m);
        for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box->mesh); c++)
            for (size_t i = 0; i < n; i++)
                sum += storm_hash_fold_real(
                    storm_hash_fold(m * 8 + i,
                                    storm_mesh_cell_id(box->mesh, c)),
                    values[n * (size_t)c + i]);
        free(values);
    }
    CHECK_OK(storm_context_reduce(box->context, &sum, 1, MPI_UINT64_T,
                                  MPI_SUM));
    return sum;
}

/* Energy by group adds up. */
static void check_sum(struct imc_box *box)
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *path = calloc(n + 1, sizeof *path);
    double *groups = get(box, STORM_IMC_GROUPS);
    CHECK(path != NULL);
    CHECK_OK(storm_imc_get(box->imc, box->engine, STORM_IMC_RADIATION_PATH,
                           path));
    for (size_t c = 0; c < n; c++) {
        double sum = 0.0;
        for (int g = 0; g < GROUPS; g++)
            sum += groups[GROUPS * c + (size_t)g];
        CHECK(fabs(sum - path[c]) <= 1e-14 * path[c]);
    }
    free(groups);
    free(path);
}

/* Pressure, flux and groups relative to the energy, of one run on all ranks;
 * the same with others. */
enum { VALUES = 3 + 3 + GROUPS };
static void one_run(uint64_t seed, bool walk, double values_out[VALUES])
{
    const struct storm_material matter = {
        .absorption = {.coef = walk ? 300.0 : 5.0, .e_exp = -1.0, .max = 1e12},
        .scattering = {.coef = 1.0, .max = 1e12},
        .heat_capacity = {.coef = walk ? 0.5 : 2.0, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0,
    };
    struct imc_box boxes[3];
    const MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_WORLD};
    int n = seed == 1 ? 3 : 1;
    for (int i = 0; i < n; i++) {
        boxes[i] = (struct imc_box){.problem = make_problem(&matter)};
        boxes[i].problem.seed = seed;
        boxes[i].problem.random_walk = walk;
        open_box(&boxes[i], comms[i], i < 2 ? all : 0);
        CHECK_OK(storm_imc_start(boxes[i].imc, boxes[i].engine));
        imc_box_run(&boxes[i], 0.1, STEPS);
    }
    check_sum(&boxes[0]);
    double pressure[6], flux[3], groups[GROUPS], energy = 0.0;
    mean(&boxes[0], STORM_IMC_PRESSURE, pressure);
    mean(&boxes[0], STORM_IMC_FLUX, flux);
    mean(&boxes[0], STORM_IMC_GROUPS, groups);
    for (int g = 0; g < GROUPS; g++)
        energy += groups[g];
    CHECK(fabs(pressure[0] + pressure[1] + pressure[2] - energy) < 1e-13);
    for (int d = 0; d < 3; d++) {
        values_out[d] = pressure[d] / energy;
        values_out[3 + d] = flux[d] / (2.0 * energy);
    }
    for (int g = 0; g < GROUPS; g++)
        values_out[6 + g] = groups[g] / energy;
    if (n == 3) {
        CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[2]));
        CHECK_EQ(hash_moments(&boxes[0]), hash_moments(&boxes[1]));
    }
    for (int i = 0; i < n; i++)
        imc_box_close(&boxes[i]);
}

static void check_equilibrium(bool walk)
{
    double sum[VALUES] = {0.0}, square[VALUES] = {0.0};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double values[VALUES];
        check_where("walk %d, seed %d", walk, (int)seed);
        one_run(seed, walk, values);
        for (int i = 0; i < VALUES; i++) {
            sum[i] += values[i] / RUNS;
            square[i] += values[i] * values[i] / RUNS;
        }
    }
    for (int i = 0; i < VALUES; i++) {
        double error = sqrt((square[i] - sum[i] * sum[i]) / (RUNS - 1));
        double answer = i < 3 ? 1.0 / 3 : i < 6 ? 0.0 : right(i - 6);
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0)
            printf("walk %d, value %d: %.5f +- %.5f, right %.5f\n", walk, i,
                   sum[i], error, answer);
        CHECK(fabs(sum[i] - answer) <= k * error + 1e-9);
        CHECK(error < 0.02);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_beam(0.0);
    check_beam(3.0);
    check_equilibrium(false);
    check_equilibrium(true);
    MPI_Finalize();
    return CHECK_PASS;
}
