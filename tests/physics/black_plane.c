/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan */
/* TEST ranks: 1 2 5; timeout: 60; label: long */
/*
 * Blackbody planes (PLANE-1 to PLANE-3).
 *
 * On boxes and Voronoi cells, with scattering, random walk and groups, the
 * state has the bits of one rank. In a cavity of one temperature a plane of
 * that temperature changes nothing, at rest or at 0.3 of the speed of light in
 * either direction: the energy density stays 1 in every cell (k = 5 standard
 * errors, from 16 seeds). Energy created is that of the area of each side.
 * Nothing gets past a plane at zero temperature, wherever it is between, in or
 * on faces of cells, at rest or moving, in cells that reach out of a periodic
 * box too; unless it lets packets pass.
 */
#include <math.h>
#include <stdio.h>

#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { SEEDS = 16, LAYERS = 8 };
static const double even_k = 5.0;
static const double one_kev[2] = {0.0, 1.0}, zero_kev[2] = {0.0, 0.0};

static const struct storm_wall_part through = {.kind = STORM_WALL_PERIODIC};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT},
                                    black = {.kind = STORM_WALL_BLACKBODY,
                                             .temperature = {one_kev, 1},
                                             .stop_s = STORM_UNLIMITED,
                                             .packets = 1000};
static const struct storm_material materials[] = {
    {.temperature_kev = 1.0, .radiation_temperature_kev = 1.0},
    {.absorption = {.coef = 1, .max = STORM_UNLIMITED},
     .scattering = {.coef = 200, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1.0}};
static const struct storm_region everywhere[] = {{.material = 0},
                                                 {.material = 1}};

static struct storm_black_plane plane_of(double at, double velocity)
{
    return (struct storm_black_plane){.at_cm = at,
                                      .velocity_cm_s = velocity,
                                      .lo_cm = {-1, -1},
                                      .hi_cm = {2, 2},
                                      .temperature = {one_kev, 1},
                                      .stop_s = STORM_UNLIMITED,
                                      .packets = 1000};
}

static struct storm_problem problem_of(const struct storm_black_plane *plane)
{
    struct storm_problem p = {STORM_PROBLEM_SIZES,
                              .light_cm_s = 1,
                              .radiation_erg_cm3_kev4 = 1,
                              .hi_cm = {1, 1, 1},
                              .materials = materials,
                              .n_materials = 2,
                              .regions = everywhere,
                              .n_regions = 1,
                              .planes = plane,
                              .n_planes = 1,
                              .n_groups = 1,
                              .max_per_cell = 200,
                              .seed = 4};
    for (int w = 2; w < STORM_N_WALLS; w++)
        p.walls[w] = (struct storm_wall){&mirror, 1};
    return p;
}

/* n layers along x; 0: Voronoi cells; -1: the same, periodic in y and z. */
static void box_open(struct imc_box *box, MPI_Comm comm, int64_t n)
{
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {n, 2, 1}};
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 100, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1},
                                           .periodic = {0, n < 0, n < 0}};
    for (int wall = 2; n < 0 && wall < STORM_N_WALLS; wall++)
        box->problem.walls[wall] = (struct storm_wall){&through, 1};
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    if (n > 0)
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    else
        CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
    imc_box_open(box);
}

/* ---- the same bits ------------------------------------------------------ */

static uint64_t hash_on(MPI_Comm comm, const struct storm_problem *problem,
                        int64_t n)
{
    struct imc_box box = {.problem = *problem};
    double energy[4];
    box_open(&box, comm, n);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    for (int i = 0; i < 3; i++)
        CHECK(imc_box_step(&box, 0.2 * i, 0.2, energy) <= 1e-14);
    uint64_t hash = imc_box_hash(&box);
    imc_box_close(&box);
    return hash;
}

static void check_bits(void)
{
    struct storm_black_plane planes[2] = {plane_of(0.3, 0.0),
                                          plane_of(0.2, 0.4)};
    planes[0].axis = 2;
    planes[0].hi_cm[0] = 0.6;
    planes[1].temperature_formula = "0.5 + t";
    struct storm_problem problem = problem_of(planes);
    problem.n_planes = 2;
    problem.n_regions = 2;
    problem.n_groups = 3;
    problem.group_min_kev = 0.1;
    problem.group_max_kev = 10.0;
    problem.emit_per_cell = 3;
    problem.max_per_cell = 8;
    problem.random_walk = true;
    for (int64_t n = 0; n <= 10; n += 10)
        CHECK_EQ(hash_on(MPI_COMM_WORLD, &problem, n),
                 hash_on(MPI_COMM_SELF, &problem, n));
}

/* ---- equilibrium -------------------------------------------------------- */

static void check_equilibrium(double at, double velocity)
{
    double sum[2 * LAYERS] = {0}, square[2 * LAYERS] = {0};
    struct storm_black_plane plane = plane_of(at, velocity);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct imc_box box = {.problem = problem_of(&plane)};
        double energy[4], values[2 * LAYERS] = {0};
        box.problem.seed = seed;
        box.problem.walls[0] = box.problem.walls[1] =
            (struct storm_wall){&black, 1};
        box_open(&box, MPI_COMM_SELF, LAYERS);
        CHECK_OK(storm_imc_start(box.imc, box.engine));
        for (int i = 0; i < 3; i++)
            CHECK(imc_box_step(&box, 0.4 * i, 0.4, energy) <= 1e-14);
        CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_RADIATION_PATH,
                               values));
        for (int c = 0; c < 2 * LAYERS; c++) {
            sum[c] += values[c];
            square[c] += values[c] * values[c];
        }
        imc_box_close(&box);
    }
    for (int c = 0; c < 2 * LAYERS; c++) {
        double mean = sum[c] / SEEDS;
        double error = sqrt((square[c] / SEEDS - mean * mean) / (SEEDS - 1.0));
        if (!(fabs(mean - 1.0) <= even_k * error))
            fprintf(stderr, "velocity %g, cell %d: %.4f (error %.4f)\n",
                    velocity, c, mean, error);
        CHECK(fabs(mean - 1.0) <= even_k * error);
        CHECK(error < 0.02);
    }
}

/* ---- energy ------------------------------------------------------------- */

static void check_energy(void)
{
    static const storm_plane_side sides[] = {STORM_PLANE_BOTH, STORM_PLANE_LOW,
                                             STORM_PLANE_HIGH};
    for (int i = 0; i < 3; i++) {
        struct storm_black_plane plane = plane_of(0.3, 0.2);
        plane.side = sides[i];
        plane.lo_cm[0] = 0.5;
        struct imc_box box = {.problem = problem_of(&plane)};
        double energy[4];
        box_open(&box, MPI_COMM_WORLD, LAYERS);
        CHECK(imc_box_step(&box, 0.0, 0.5, energy) <= 1e-14);
        double low = 1.2 * 1.2, high = 0.8 * 0.8;
        double both = i == 0 ? low + high : i == 1 ? low : high;
        CHECK(fabs(energy[0] - 0.25 * 0.5 * 0.5 * both) < 1e-13);
        imc_box_close(&box);
    }
}

/* ---- nothing gets past -------------------------------------------------- */

/* Energy beyond the plane in the end, of a source on its low side. */
static double energy_beyond(const struct storm_black_plane *plane, int64_t n,
                            double scattering)
{
    struct storm_material gas = {
        .scattering = {.coef = scattering, .max = STORM_UNLIMITED}};
    struct storm_source source = {.kind = STORM_SOURCE_POINT,
                                  .power = {one_kev, 1},
                                  .at_cm = {0.05, 0.5, 0.5},
                                  .cone_deg = 180.0,
                                  .stop_s = STORM_UNLIMITED,
                                  .packets = 2000};
    struct imc_box box = {.problem = problem_of(plane)};
    double energy[4], beyond = 0.0;
    box.problem.materials = &gas;
    box.problem.n_materials = 1;
    box.problem.sources = &source;
    box.problem.n_sources = 1;
    box.problem.random_walk = scattering > 100.0;
    box_open(&box, MPI_COMM_WORLD, n);
    for (int i = 0; i < 4; i++)
        CHECK(imc_box_step(&box, 0.5 * i, 0.5, energy) <= 1e-14);
    size_t n_packets;
    void *const *packets = storm_engine_packets(box.engine, &n_packets);
    for (size_t i = 0; i < n_packets; i++) {
        const struct storm_packet *p = packets[i];
        if (p->position_cm[0] > plane->at_cm + 2.0 * plane->velocity_cm_s)
            beyond += p->weight_erg;
    }
    MPI_Allreduce(MPI_IN_PLACE, &beyond, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK(energy[2] > 0.0 && energy[3] > 0.0);
    imc_box_close(&box);
    return beyond;
}

static void check_shadow(void)
{
    /* On faces of 10 layers, to rounding and not; within cells. */
    static const double places[] = {0.5, 0.3, 0.7000000000000001, 0.37};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            struct storm_black_plane plane = plane_of(places[i], 0.1 * k - 0.1);
            plane.temperature = (struct storm_curve){zero_kev, 1};
            CHECK(energy_beyond(&plane, 10, 0.0) == 0.0);
            CHECK(energy_beyond(&plane, 0, k == 0 ? 300.0 : 20.0) == 0.0);
            CHECK(energy_beyond(&plane, -1, 0.0) == 0.0);
            plane.passes = true;
            CHECK(energy_beyond(&plane, 10, 0.0) > 0.0);
        }
}

/* Far from the origin, where small distances are rounded away: the plane does
 * not take what it has just emitted (PLANE-2). */
static void check_far(double velocity)
{
    struct storm_black_plane plane = plane_of(1e6 + 0.4, velocity);
    struct imc_box box = {.problem = problem_of(&plane)};
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .lo_cm = {1e6, 0, 0},
                                     .hi_cm = {1e6 + 1, 1, 1},
                                     .n = {LAYERS, 2, 1}};
    double energy[4];
    box.problem.lo_cm[0] = 1e6;
    box.problem.hi_cm[0] = 1e6 + 1;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK(imc_box_step(&box, 0.0, 0.1, energy) <= 1e-14);
    CHECK(energy[0] > 0.0 && energy[2] == 0.0);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_bits();
    check_energy();
    check_shadow();
    check_far(0.0);
    check_far(0.3);
    check_equilibrium(0.5, 0.0);
    check_equilibrium(0.2, 0.3);
    check_equilibrium(0.9, -0.3);
    MPI_Finalize();
    return CHECK_PASS;
}
