/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60; args: means; label: slow-asan */
/* TEST ranks: 3; backend: p2p; timeout: 60; args: same */
/* TEST ranks: 1 5 8; timeout: 60; args: same; label: long */
/*
 * FRAME-1, FRAME-2. Matter in uniform motion, in equilibrium with radiation:
 * energy a T^4 gamma^2 (1 + beta^2 / 3) and flux 4/3 gamma^2 a T^4 v stay what
 * they were, and so does the temperature: k standard errors over runs, at
 * speeds along an axis and askew, on boxes and Voronoi cells. With groups whose
 * opacities differ, each has the energy of eq. (P4). A beam on an
 * absorber gives its momentum w / c, to the last bit, whether that moves or
 * not. Energy and momentum close in every step, with mirrors, a blackbody and
 * vacuum as well, and nothing but these takes momentum where there is no comb;
 * a state that is saved has it. The state is the same on all ranks as on one.
 * Packets that gain more than sums have room for are split; without end, it is
 * an error. Bad velocities are errors.
 *
 * Arguments: `means`, of several runs; `same`, the states of one. (Of all
 * speeds, directions and meshes the means are in tests/run/problems.sh.)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/tally.h>

#include "physics/planck.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { RUNS = 6, STEPS = 4, CELLS = 3 };
enum { GROUPS = 20 };
/* Of groups there are many more comparisons. */
static const double k = 4.5, k_group = 7.0, light = 2.0;
static const double lowest = 0.3, highest = 15.0;

static const struct storm_wall_part periodic = {.kind = STORM_WALL_PERIODIC};
static const struct storm_region everywhere = {.material = 0};

static struct storm_problem make_problem(const struct storm_material *matter)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = light,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},
        .materials = matter,
        .n_materials = 1,
        .regions = &everywhere,
        .n_regions = 1,
        .n_groups = 1,
        .emit_per_cell = 40,
        .min_per_cell = 20,
        .max_per_cell = 80,
        .comb = true,
        .seed = 1,
        .motion = true,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&periodic, 1};
    return p;
}

/* ---- a beam ------------------------------------------------------------- */

/* The error of the balance of momentum, and what matter has got along d. */
static double balance(struct imc_box *box, int d, double *matter_out)
{
    struct storm_imc_momenta momenta = STORM_IMC_MOMENTA_INIT;
    CHECK_OK(storm_imc_momentum(box->imc, box->engine, &momenta));
    *matter_out = momenta.matter[d];
    return momenta.error;
}

/* What all cells have got along d in the last step. */
static double pushed(struct imc_box *box, int d)
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *push = calloc(3 * n + 1, sizeof *push), sum = 0.0;
    CHECK(push != NULL);
    CHECK_OK(storm_imc_get(box->imc, box->engine, STORM_IMC_PUSH, push));
    for (size_t i = 0; i < n; i++)
        sum += push[3 * i + (size_t)d];
    free(push);
    CHECK_OK(storm_context_reduce(box->context, &sum, 1, MPI_DOUBLE, MPI_SUM));
    return sum;
}

static void check_beam(double beta)
{
    const struct storm_material matter = {
        .absorption = {.coef = 1e6, .max = 1e12},
        .velocity_cm_s = {0.0, beta * light, 0.0}};
    struct imc_box box = {.problem = make_problem(&matter)};
    const double n[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, weight = 3.0;
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    imc_box_open_periodic(&box, MPI_COMM_WORLD, CELLS, false);
    const struct storm_packet packet = {
        .id = {.lo = 1},
        .position_cm = {0.4, 0.5, 0.45},
        .direction = {n[0], n[1], n[2]},
        .weight_erg = weight,
        .birth_weight_erg = weight,
    };
    imc_box_add(&box, packet);
    double energy[4], given;
    (void)imc_box_step(&box, 0.0, 0.05, energy);
    CHECK(energy[1] == weight);
    for (int d = 0; d < 3; d++) {
        CHECK(pushed(&box, d) == weight * n[d] / light);
        CHECK(balance(&box, d, &given) <= 1e-18);
        CHECK(given == weight * n[d] / light);
    }
    imc_box_close(&box);
}

/* ---- equilibrium -------------------------------------------------------- */

struct motion {
    double beta[3];
    bool voronoi, groups;
};
enum { ENERGY, FLUX, TEMPERATURE = FLUX + 3, GROUP, VALUES = GROUP + GROUPS };

static void total(struct imc_box *box, double values_out[VALUES])
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *flux = calloc(3 * n + 1, sizeof *flux);
    double *t = calloc(n + 1, sizeof *t);
    double *group = calloc(n * GROUPS + 1, sizeof *group);
    int n_groups = box->problem.n_groups > 1 ? GROUPS : 0;
    CHECK(flux != NULL && t != NULL && group != NULL);
    CHECK_OK(storm_imc_get_moment(box->imc, STORM_IMC_FLUX, flux));
    if (n_groups > 0)
        CHECK_OK(storm_imc_get_moment(box->imc, STORM_IMC_GROUPS, group));
    CHECK_OK(storm_imc_get(box->imc, box->engine, STORM_IMC_TEMPERATURE, t));
    memset(values_out, 0, VALUES * sizeof *values_out);
    for (size_t i = 0; i < n; i++) {
        double volume = storm_mesh_volume_cm3(box->mesh, (storm_cell_idx)i);
        for (int d = 0; d < 3; d++)
            values_out[FLUX + d] += flux[3 * i + (size_t)d] * volume;
        values_out[TEMPERATURE] += t[i] * volume;
        for (int g = 0; g < n_groups; g++)
            values_out[GROUP + g] +=
                group[i * (size_t)n_groups + (size_t)g] * volume;
    }
    free(group);
    free(t);
    free(flux);
    CHECK_OK(storm_context_reduce(box->context, values_out, VALUES, MPI_DOUBLE,
                                  MPI_SUM));
    values_out[ENERGY] = imc_box_total(box, STORM_IMC_RADIATION_PATH);
}

/* Groups are those of the energies, in the frame of the mesh; the first and the
 * last have photons beyond their outer edges. */
static void check_photons(struct imc_box *box)
{
    uint64_t mine[2] = {0, 0};
    size_t n;
    void *const *packets = storm_engine_packets(box->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_photon *photon = packets[i];
        double kev = photon->energy_kev;
        double at = GROUPS * log(kev / lowest) / log(highest / lowest);
        double group = fmin(fmax(floor(at), 0.0), GROUPS - 1);
        CHECK(kev > 0.0 && kev < 300.0);
        CHECK(photon->packet.group == (int32_t)group ||
              fabs(at - rint(at)) < 1e-9);
        mine[0] += kev < lowest;
        mine[1] += kev > highest;
    }
    MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_UINT64_T, MPI_SUM,
                  storm_context_comm(box->context));
    CHECK(mine[0] > 0 && mine[1] > 0);
}

/* Of one run on all ranks; if states are compared, also alone. */
static void one_run(const struct motion *motion, uint64_t seed, bool same,
                    double values_out[VALUES])
{
    struct storm_material matter = {
        .absorption = {.coef = 3.0, .max = 1e12},
        .scattering = {.coef = 2.0, .max = 1e12},
        .heat_capacity = {.coef = 1.0, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0,
    };
    struct imc_box boxes[2];
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    unsigned wanted = STORM_IMC_FLUX | (motion->groups ? STORM_IMC_GROUPS : 0u);
    if (motion->groups) {
        matter.absorption.e_exp = -1.0;
        matter.scattering.e_exp = 0.5;
    }
    for (int d = 0; d < 3; d++)
        matter.velocity_cm_s[d] = motion->beta[d] * light;
    int n = same ? 2 : 1;
    for (int i = 0; i < n; i++) {
        boxes[i] = (struct imc_box){.problem = make_problem(&matter)};
        boxes[i].problem.seed = seed;
        if (motion->groups) {
            boxes[i].problem.n_groups = GROUPS;
            boxes[i].problem.group_min_kev = lowest;
            boxes[i].problem.group_max_kev = highest;
            boxes[i].problem.emit_per_cell *= 4;
            boxes[i].problem.max_per_cell *= 4;
        }
        imc_box_open_periodic(&boxes[i], comms[i], CELLS, motion->voronoi);
        CHECK_OK(storm_imc_request(boxes[i].imc, wanted));
        CHECK_OK(storm_imc_start(boxes[i].imc, boxes[i].engine));
        for (int step = 0; step < STEPS; step++) {
            double energy[4], given;
            CHECK(imc_box_step(&boxes[i], 0.2 * step, 0.2, energy) <= 1e-15);
            CHECK(balance(&boxes[i], 0, &given) <= 1e-15);
        }
    }
    total(&boxes[0], values_out);
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_energy(boxes[0].imc, boxes[0].engine, &e));
    CHECK(e.error <= 1e-13);
    CHECK(fabs(e.matter_erg + e.radiation_erg + e.work_erg - e.start_erg) <=
          1e-12 * e.start_erg);
    if (motion->groups)
        check_photons(&boxes[0]);
    if (n == 2)
        CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[1]));
    for (int i = 0; i < n; i++)
        imc_box_close(&boxes[i]);
}

/* Eq. (P4), by Gauss's rule of three points in panels. */
static double group_energy(double beta, int g)
{
    const int n = 50;
    double gamma = 1.0 / sqrt(1.0 - beta * beta), sum = 0.0;
    double lo = g > 0 ? lowest * pow(highest / lowest, (double)g / GROUPS) : 0;
    double hi = g + 1 < GROUPS
                    ? lowest * pow(highest / lowest, (double)(g + 1) / GROUPS)
                    : INFINITY;
    for (int i = 0; i < 3 * n; i++) {
        double at = (i % 3 - 1) * sqrt(0.6), part = i % 3 == 1 ? 8.0 : 5.0;
        double mu = -1.0 + (2 * (i / 3) + 1.0 + at) / n;
        double doppler = gamma * (1.0 - mu * beta);
        sum += part / (18.0 * n) / pow(doppler, 4.0) *
               (storm_planck_below(doppler * hi) -
                storm_planck_below(doppler * lo));
    }
    return sum;
}

static void check_equilibrium(const struct motion *motion, bool same)
{
    double sum[VALUES] = {0.0}, square[VALUES] = {0.0};
    int n_values = motion->groups ? VALUES : GROUP;
    const int runs = same ? 1 : RUNS;
    double b2 = motion->beta[0] * motion->beta[0] +
                motion->beta[1] * motion->beta[1] +
                motion->beta[2] * motion->beta[2];
    double gamma2 = 1.0 / (1.0 - b2);
    double right[VALUES] = {
        [ENERGY] = gamma2 * (1.0 + b2 / 3.0), [TEMPERATURE] = 1.0};
    for (int d = 0; d < 3; d++)
        right[FLUX + d] = 4.0 / 3.0 * gamma2 * motion->beta[d] * light;
    for (int g = 0; g < GROUPS; g++)
        right[GROUP + g] = group_energy(sqrt(b2), g);
    for (int seed = 1; seed <= runs; seed++) {
        double values[VALUES];
        check_where("beta %g, Voronoi %d, groups %d, seed %d", sqrt(b2),
                    motion->voronoi, motion->groups, seed);
        one_run(motion, (uint64_t)seed, same, values);
        for (int i = 0; i < VALUES; i++) {
            sum[i] += values[i] / runs;
            square[i] += values[i] * values[i] / runs;
        }
    }
    if (same)
        return;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n_values; i++) {
        double error =
            sqrt(fmax(square[i] - sum[i] * sum[i], 0.0) / (runs - 1));
        if (rank == 0)
            printf("beta (%g, %g, %g), Voronoi %d, groups %d, value %d: %.5f "
                   "+- %.5f, right %.5f: %+.1f errors\n",
                   motion->beta[0], motion->beta[1], motion->beta[2],
                   motion->voronoi, motion->groups, i, sum[i], error, right[i],
                   (sum[i] - right[i]) / (error + 1e-9));
        CHECK(fabs(sum[i] - right[i]) <=
              (i < GROUP ? k : k_group) * error + 1e-9);
        CHECK(error < 0.03 * gamma2);
        CHECK(i < GROUP || error < 0.1 * right[i] + 1e-3);
    }
}

/* ---- walls, and a state that is saved ------------------------------------ */

static const double hot[2] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
static const struct storm_wall_part black = {.kind = STORM_WALL_BLACKBODY,
                                             .temperature = {hot, 1},
                                             .stop_s = STORM_UNLIMITED,
                                             .packets = 300};

static void open_walls(struct imc_box *box, const struct storm_material *matter)
{
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {CELLS, CELLS, CELLS}};
    *box = (struct imc_box){.problem = make_problem(matter)};
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        box->problem.walls[wall] = (struct storm_wall){&mirror, 1};
    box->problem.walls[0] = (struct storm_wall){&black, 1};
    box->problem.walls[1].n = 0; /* vacuum */
    box->problem.comb = false;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box->context));
    CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
}

/* Cells and accounts of one object into another, of the same mesh. */
static void copy_state(struct imc_box *from, struct imc_box *to)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    CHECK_OK(storm_imc_state_layout(from->imc, &layout));
    size_t n = (size_t)storm_mesh_n_cells(from->mesh) * layout.cell_values;
    double *cells = calloc(n + 1, sizeof *cells);
    int64_t *accounts =
        calloc(layout.n_accounts * layout.account_words, sizeof *accounts);
    CHECK(cells != NULL && accounts != NULL);
    CHECK_OK(storm_imc_save_state(from->imc, cells, accounts));
    CHECK_OK(storm_imc_load_state(to->imc, layout.version, cells, accounts));
    if (n > 0) { /* a velocity whose components alone are below c */
        cells[n - 1] = cells[n - 2] = 0.9 * light;
    }
    CHECK(storm_imc_load_state(to->imc, layout.version, cells, accounts) < 0);
    free(accounts);
    free(cells);
}

/* Momentum closes with walls of all kinds, and nothing else takes any; a state
 * has all of it. */
static void check_walls(void)
{
    const struct storm_material matter = {
        .absorption = {.coef = 3.0, .max = 1e12},
        .scattering = {.coef = 2.0, .max = 1e12},
        .heat_capacity = {.coef = 1.0, .max = 1e300},
        .temperature_kev = 0.5,
        .velocity_cm_s = {0.4, -0.6, 0.2},
    };
    struct imc_box box, copy;
    struct storm_imc_momenta m = STORM_IMC_MOMENTA_INIT, saved = m;
    open_walls(&box, &matter);
    open_walls(&copy, &matter);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    for (int step = 0; step < 3; step++) {
        double energy[4];
        CHECK(imc_box_step(&box, 0.2 * step, 0.2, energy) <= 1e-15);
        CHECK_OK(storm_imc_momentum(box.imc, box.engine, &m));
        CHECK(m.error <= 1e-15);
        for (int d = 0; d < 3; d++)
            CHECK(fabs(m.control[d]) <= 1e-16); /* terms are cut */
    }
    CHECK(m.created[0] > 0.0 && m.escaped[0] != 0.0);
    CHECK(m.walls[0] == 0.0 && m.walls[1] != 0.0 && m.walls[2] != 0.0);
    CHECK(m.matter[0] != 0.0);
    copy_state(&box, &copy);
    CHECK_OK(storm_imc_momentum(copy.imc, copy.engine, &saved));
    for (int d = 0; d < 3; d++) {
        CHECK(saved.matter[d] == m.matter[d] && saved.walls[d] == m.walls[d]);
        CHECK(saved.created[d] == m.created[d]);
        /* It has no packets. */
        CHECK(fabs(saved.control[d] - m.radiation[d]) <= 1e-15);
    }
    imc_box_close(&copy);
    imc_box_close(&box);
}

/* ---- weights that grow --------------------------------------------------- */

/* Matter meets packets with gamma = 1000: a collision can multiply a weight by
 * 4e6, more than units have room for, and the packet is split (FRAME-4). */
static void run_collider(struct imc_box *box, MPI_Comm comm)
{
    const struct storm_material matter = {
        .scattering = {.coef = 1e-2, .max = 1e12},
        .velocity_cm_s = {light * (1.0 - 5e-7), 0.0, 0.0}};
    *box = (struct imc_box){.problem = make_problem(&matter)};
    box->problem.emit_per_cell = 0;
    box->problem.comb = false;
    imc_box_open_periodic(box, comm, CELLS, false);
    for (uint64_t i = 0; i < 20; i++)
        imc_box_add(box, (struct storm_packet){
                             .id = {.lo = i + 1},
                             .position_cm = {0.2, 0.5, 0.04 * (double)i + 0.1},
                             .direction = {-0.6, 0.0, 0.8},
                             .weight_erg = 1.0,
                             .birth_weight_erg = 1.0,
                         });
    double energy[4], given;
    (void)imc_box_step(box, 0.0, 0.05, energy);
    CHECK(fabs(energy[1] + energy[3] - 20.0) <= 1e-14 * energy[3]);
    CHECK(balance(box, 0, &given) <= 1e-15);
}

static void check_growth(void)
{
    struct imc_box boxes[2];
    uint64_t sums[2] = {0, 0};
    run_collider(&boxes[0], MPI_COMM_WORLD);
    run_collider(&boxes[1], MPI_COMM_SELF);
    CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[1]));
    void *const *packets =
        storm_engine_packets(boxes[1].engine, (size_t *)&sums[0]);
    for (size_t i = 0; i < sums[0]; i++) {
        const struct storm_packet *packet = packets[i];
        CHECK(packet->weight_erg <= 0x1p20);
        sums[1] += packet->weight_erg > 0x1p18;
    }
    CHECK(sums[0] > 20 && sums[1] > 0);
    imc_box_close(&boxes[1]);
    imc_box_close(&boxes[0]);
}

/* Matter at 0.9 c piles radiation up on a mirror: each return multiplies a
 * weight by up to 19, without end. It is an error before memory is full. */
static void check_runaway(void)
{
    const struct storm_material matter = {
        .scattering = {.coef = 50.0, .max = 1e12},
        .velocity_cm_s = {0.9 * light, 0.0, 0.0}};
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1, 1, 1},
                                     .n = {CELLS, CELLS, CELLS},
                                     .periodic = {false, true, true}};
    struct imc_box box = {.problem = make_problem(&matter)};
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    box.problem.walls[0] = box.problem.walls[1] =
        (struct storm_wall){&mirror, 1};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    imc_box_add(&box, (struct storm_packet){.id = {.lo = 1},
                                            .position_cm = {0.95, 0.5, 0.5},
                                            .direction = {0.6, 0.0, 0.8},
                                            .weight_erg = 1.0,
                                            .birth_weight_erg = 1.0});
    CHECK_OK(storm_imc_set_step(box.imc, 0.0, 1.0));
    storm_status status = storm_engine_step(box.engine);
    CHECK(status == STORM_ERR_STATE || status == STORM_ERR_PEER);
    imc_box_close(&box);
}

/* ---- velocities that are none ------------------------------------------- */

/* On all ranks. */
static void check_refused(const struct storm_problem *p)
{
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {CELLS, CELLS, CELLS}};
    struct imc_box box = {.problem = *p};
    for (int d = 0; d < 3; d++)
        cart.periodic[d] = true;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    CHECK_EQ(storm_imc_create(box.context, box.mesh, &box.problem, &box.imc),
             STORM_ERR_ARG);
    storm_mesh_destroy(box.mesh);
    storm_context_destroy(box.context);
}

static void check_faults(void)
{
    struct storm_material matter = {.temperature_kev = 1.0,
                                    .velocity_cm_s = {light, 0.0, 0.0}};
    struct storm_problem p = make_problem(&matter);
    CHECK_EQ(storm_problem_check(&p, NULL, NULL), 1);
    matter.velocity_cm_s[0] = NAN;
    CHECK_EQ(storm_problem_check(&p, NULL, NULL), 1);
    check_refused(&p);
    matter.velocity_cm_s[0] = 0.5 * light;
    CHECK_EQ(storm_problem_check(&p, NULL, NULL), 0);
    p.motion = false;
    CHECK_EQ(storm_problem_check(&p, NULL, NULL), 1);
    struct imc_box box = {.problem = make_problem(&matter)};
    imc_box_open_periodic(&box, MPI_COMM_WORLD, CELLS, false);
    size_t n = 3 * (size_t)storm_mesh_n_cells(box.mesh);
    double *v = calloc(n + 1, sizeof *v), *got = calloc(n + 1, sizeof *got);
    CHECK(v != NULL && got != NULL);
    /* In all cells, or in one: then other ranks learn of it. */
    for (int bad = 0; bad < 10; bad++) {
        static const double wrong[5][3] = {{1.0, 0.0, 0.0},
                                           {0.0, -1.0, 0.0},
                                           {0.6, 0.6, 0.6},
                                           {0.0, 0.0, (double)NAN},
                                           {0.0, (double)INFINITY, 0.0}};
        for (size_t i = 0; i < n; i++) {
            storm_cell_id tag =
                storm_mesh_cell_id(box.mesh, (storm_cell_idx)(i / 3));
            v[i] = bad < 5 || tag == 13 ? wrong[bad % 5][i % 3] * light : 0.1;
        }
        storm_status status = storm_imc_set(box.imc, STORM_IMC_VELOCITY, v);
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_VELOCITY, got));
        for (size_t i = 0; i < n; i++)
            CHECK(got[i] == (i % 3 == 0 ? 0.5 * light : 0.0));
    }
    for (size_t i = 0; i < n; i++)
        v[i] = 0.1 * light;
    CHECK_OK(storm_imc_set(box.imc, STORM_IMC_VELOCITY, v));
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_VELOCITY, got));
    CHECK(memcmp(v, got, n * sizeof *v) == 0);
    free(got);
    free(v);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK(argc == 2);
    const bool same = strcmp(argv[1], "same") == 0;
    check_faults();
    check_beam(0.0);
    check_beam(0.5);
    check_walls();
    check_growth();
    check_runaway();
    static const struct motion motions[] = {
        {{0.001, 0.0, 0.0}, false, false},  {{0.1, 0.0, 0.0}, false, false},
        {{0.5, 0.0, 0.0}, true, false},     {{0.3, -0.3, 0.2}, false, false},
        {{0.06, 0.06, -0.05}, true, false}, {{0.0, 0.5, 0.0}, false, true},
        {{-0.2, 0.3, 0.1}, true, true},
    };
    for (size_t i = 0; i < sizeof motions / sizeof motions[0]; i++)
        check_equilibrium(&motions[i], same);
    MPI_Finalize();
    return CHECK_PASS;
}
