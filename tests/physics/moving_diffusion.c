/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60; args: means; label: slow-asan */
/* TEST ranks: 3; backend: p2p; timeout: 60; args: same */
/* TEST ranks: 1 5 8; timeout: 60; args: same; label: long */
/*
 * DRIFT-1 to DRIFT-5. Matter that is thick, in part or everywhere, in uniform
 * motion and in equilibrium with radiation that diffuses or walks: energy a T^4
 * gamma^2 (1 + beta^2 / 3) and flux 4/3 gamma^2 a T^4 v stay what they were,
 * and so does the temperature: k standard errors over runs, on boxes and
 * Voronoi cells. With groups, of which some diffuse or walk and others fly,
 * each has the energy of eq. (P4), and photons that go with matter are bluer.
 * Energy and momentum close in every step; the state is the same on all ranks
 * as on one.
 *
 * A pulse in matter that moves, at beta tau from 0.01 to 10, is that at rest,
 * displaced: mean and variance (k standard errors); in boxes that are fixed,
 * and in Voronoi cells that go with matter.
 *
 * Work: in the flow sin(pi x) between mirrors, without absorption, E v^(4/3) is
 * constant along paths (k standard errors and terms of beta^2); matter keeps
 * its temperature, and mirrors get the pressure (10 %).
 *
 * Arguments: `means`, of several runs; `same`, the states of one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/imc_user.h>
#include <storm/remap.h>
#include <storm/tally.h>
#include <storm/voronoi.h>

#include "physics/planck.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { RUNS = 6, STEPS = 4, CELLS = 3, GROUPS = 12 };
/* Of groups there are many more comparisons. */
static const double k = 4.5, k_group = 7.0, light = 2.0;
static const double lowest = 0.4, highest = 12.0;

static const struct storm_wall_part periodic = {.kind = STORM_WALL_PERIODIC};
static const struct storm_region halves[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.4, -1, -1},
               .hi_cm = {2, 2, 2}}},
};

static struct storm_problem make_problem(const struct storm_material *matter,
                                         size_t n)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES, .light_cm_s = light, .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},  .materials = matter, .n_materials = n,
        .regions = halves,   .n_regions = n,      .n_groups = 1,
        .emit_per_cell = 40, .min_per_cell = 20,  .max_per_cell = 80,
        .comb = true,        .seed = 1,           .motion = true,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&periodic, 1};
    return p;
}

static double balance(struct imc_box *box)
{
    struct storm_imc_momenta momenta = STORM_IMC_MOMENTA_INIT;
    CHECK_OK(storm_imc_momentum(box->imc, box->engine, &momenta));
    return momenta.error;
}

/* ---- equilibrium -------------------------------------------------------- */

struct motion {
    double beta[3];
    bool voronoi, mixed, walk, groups;
};
enum {
    ENERGY,
    FLUX,
    TEMPERATURE = FLUX + 3,
    GROUP,
    BLUE = GROUP + GROUPS, /* photons that go with matter */
    VALUES
};

static void total(struct imc_box *box, double values_out[VALUES])
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *flux = calloc(3 * n + 1, sizeof *flux);
    double *t = calloc(n + 1, sizeof *t);
    double *group = calloc(n * GROUPS + 1, sizeof *group);
    size_t n_groups = box->problem.n_groups > 1 ? GROUPS : 0;
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
        for (size_t g = 0; g < n_groups; g++)
            values_out[GROUP + g] += group[i * n_groups + g] * volume;
    }
    free(group);
    free(t);
    free(flux);
    CHECK_OK(storm_context_reduce(box->context, values_out, VALUES, MPI_DOUBLE,
                                  MPI_SUM));
    values_out[ENERGY] = imc_box_total(box, STORM_IMC_RADIATION_PATH);
}

/* The mean cosine to the velocity of what packets have, weighted by the energy
 * of their photons as well. */
static double blue(struct imc_box *box, const double beta[3])
{
    double sums[2] = {0.0, 0.0};
    double size =
        sqrt(beta[0] * beta[0] + beta[1] * beta[1] + beta[2] * beta[2]);
    size_t n;
    void *const *packets = storm_engine_packets(box->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_photon *photon = packets[i];
        const double *d = photon->packet.direction;
        double weight = photon->packet.weight_erg * photon->energy_kev;
        sums[0] += weight;
        for (int axis = 0; axis < 3; axis++)
            sums[1] += weight * d[axis] * beta[axis] / size;
    }
    CHECK_OK(storm_context_reduce(box->context, sums, 2, MPI_DOUBLE, MPI_SUM));
    return sums[1] / sums[0];
}

/* Of one run on all ranks; if states are compared, also alone. */
static void one_run(const struct motion *motion, uint64_t seed, bool same,
                    double values_out[VALUES])
{
    struct storm_material matter[2] = {{
        .absorption = {.coef = 3.0, .max = 1e12},
        .scattering = {.coef = 120.0, .max = 1e12},
        .heat_capacity = {.coef = 1.0, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0,
    }};
    struct imc_box boxes[2];
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int d = 0; d < 3; d++)
        matter[0].velocity_cm_s[d] = motion->beta[d] * light;
    if (motion->groups) {
        matter[0].absorption.coef = motion->walk ? 400.0 : 3.0;
        matter[0].absorption.e_exp = motion->walk ? -1.0 : -0.5;
        matter[0].scattering.coef = motion->walk ? 5.0 : 120.0;
        matter[0].scattering.e_exp = -2.0;
    }
    matter[1] = matter[0];
    matter[1].scattering.coef = 2.0;
    int n = same ? 2 : 1;
    for (int i = 0; i < n; i++) {
        boxes[i] = (struct imc_box){
            .problem = make_problem(matter, motion->mixed ? 2 : 1)};
        boxes[i].problem.seed = seed;
        boxes[i].problem.diffusion = !motion->walk;
        boxes[i].problem.random_walk = motion->walk;
        if (motion->groups) {
            boxes[i].problem.n_groups = GROUPS;
            boxes[i].problem.group_min_kev = lowest;
            boxes[i].problem.group_max_kev = highest;
            boxes[i].problem.emit_per_cell *= 4;
            boxes[i].problem.max_per_cell *= 4;
        }
        imc_box_open_periodic(&boxes[i], comms[i], CELLS, motion->voronoi);
        CHECK_OK(storm_imc_request(boxes[i].imc,
                                   STORM_IMC_FLUX | STORM_IMC_EVENTS |
                                       (motion->groups ? STORM_IMC_GROUPS
                                                       : 0u)));
        CHECK_OK(storm_imc_start(boxes[i].imc, boxes[i].engine));
        for (int step = 0; step < STEPS; step++) {
            double energy[4];
            CHECK(imc_box_step(&boxes[i], 0.2 * step, 0.2, energy) <= 1e-15);
            CHECK(balance(&boxes[i]) <= 1e-15);
        }
    }
    total(&boxes[0], values_out);
    if (motion->groups)
        values_out[BLUE] = blue(&boxes[0], motion->beta);
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_energy(boxes[0].imc, boxes[0].engine, &e));
    CHECK(e.error <= 1e-13);
    CHECK(fabs(e.matter_erg + e.radiation_erg + e.work_erg - e.start_erg) <=
          1e-12 * e.start_erg);
    uint64_t events[STORM_IMC_N_EVENTS];
    CHECK_OK(storm_imc_get_events(boxes[0].imc, events));
    CHECK(events[motion->walk ? STORM_IMC_WALK : STORM_IMC_DIFFUSION] > 100);
    if (n == 2)
        CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[1]));
    for (int i = 0; i < n; i++)
        imc_box_close(&boxes[i]);
}

/* Eq. (P4), by Gauss's rule of three points in panels. */
static double group_energy(double beta, int g)
{
    const int n = 20;
    double gamma = 1.0 / sqrt(1.0 - beta * beta), sum = 0.0;
    double ratio = highest / lowest;
    double lo = g > 0 ? lowest * pow(ratio, (double)g / GROUPS) : 0.0;
    double hi = g + 1 < GROUPS ? lowest * pow(ratio, (double)(g + 1) / GROUPS)
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

/* The right value of `blue`: energy at an instant goes as D^-4, that of photons
 * as 1 / D. */
static double right_blue(double beta)
{
    const int n = 1000;
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < n; i++) {
        double mu = -1.0 + (2.0 * i + 1.0) / n;
        double part = pow(1.0 - mu * beta, -5.0);
        sums[0] += part;
        sums[1] += part * mu;
    }
    return sums[1] / sums[0];
}

static void check_equilibrium(const struct motion *motion, bool same)
{
    const int runs = same ? 1 : RUNS;
    const int n_values = motion->groups ? VALUES : GROUP;
    double sum[VALUES] = {0.0}, square[VALUES] = {0.0};
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
    right[BLUE] = right_blue(sqrt(b2));
    for (int seed = 1; seed <= runs; seed++) {
        double values[VALUES];
        check_where("beta %g, Voronoi %d, mixed %d, walk %d, groups %d, seed "
                    "%d",
                    sqrt(b2), motion->voronoi, motion->mixed, motion->walk,
                    motion->groups, seed);
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
            printf("beta %g, Voronoi %d, mixed %d, walk %d, groups %d, value "
                   "%d: %.5f +- %.5f, right %.5f: %+.1f errors\n",
                   sqrt(b2), motion->voronoi, motion->mixed, motion->walk,
                   motion->groups, i, sum[i], error, right[i],
                   (sum[i] - right[i]) / (error + 1e-9));
        CHECK(fabs(sum[i] - right[i]) <=
              (i < GROUP ? k : k_group) * error + 1e-9);
        CHECK(error < 0.03 * gamma2);
        CHECK(i < GROUP || error < 0.1 * right[i] + 2e-3);
    }
}

/* ---- a pulse ------------------------------------------------------------ */

enum { PULSE = 4000, PULSE_STEPS = 4, BINS = 40, FEW = 120, MAX_CELLS = 200 };

struct pulse {
    double beta;
    bool voronoi, rides, walk;
    double sigma, length, seconds; /* 1/cm; cm along x; of all steps */
};

static void open_pulse(struct imc_box *box, MPI_Comm comm,
                       const struct pulse *pulse)
{
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {pulse->length, 1, 1},
                                     .n = {BINS, 1, 1},
                                     .periodic = {true, true, true}};
    struct storm_voronoi_params cells = {.size = sizeof cells,
                                         .hi_cm = {pulse->length, 1, 1},
                                         .periodic = {true, true, true}};
    double points[FEW][3];
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    for (uint64_t i = 0; i < FEW; i++) {
        double u[4];
        const struct storm_packet_id id = {.lo = i};
        storm_random(8, STORM_STREAM_USER, id, 0, u);
        memcpy(points[i], u, sizeof points[i]);
        points[i][0] *= pulse->length;
    }
    cells.points_cm = &points[0][0];
    cells.n_points = storm_context_rank(box->context) == 0 ? FEW : 0;
    if (pulse->voronoi)
        CHECK_OK(storm_mesh_create_voronoi(box->context, &cells, &box->mesh));
    else
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
    for (uint64_t i = 0; i < PULSE; i++) {
        struct storm_packet packet = {
            .id = {.lo = i}, .weight_erg = 1.0, .birth_weight_erg = 1.0};
        double u[4];
        storm_random(9, STORM_STREAM_USER, packet.id, 0, u);
        storm_isotropic(u[0], u[1], packet.direction);
        storm_random(9, STORM_STREAM_USER, packet.id, 1, u);
        packet.position_cm[0] = (0.25 + 0.05 * u[0]) * pulse->length;
        packet.position_cm[1] = u[1];
        packet.position_cm[2] = u[2];
        imc_box_add(box, packet);
    }
}

/* Cells go with matter. */
static void ride(struct imc_box *box, double by_cm, double length)
{
    struct storm_change *change;
    double x[MAX_CELLS][3];
    storm_cell_idx n = storm_mesh_n_cells(box->mesh);
    CHECK(n <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < n; i++) {
        CHECK_OK(storm_mesh_generator(box->mesh, i, x[i]));
        x[i][0] += by_cm;
        x[i][0] -= floor(x[i][0] / length) * length;
        x[i][0] = x[i][0] < length ? x[i][0] : 0.0;
    }
    CHECK_OK(storm_mesh_move(box->mesh, &x[0][0], NULL, &change));
    CHECK_OK(storm_imc_follow(box->imc, change));
    CHECK_OK(storm_remap(box->engine, box->mesh, change, NULL, NULL));
    storm_change_destroy(change);
}

/* Mean and variance of the place along x, about the middle that matter takes
 * it to. Returns the hash. */
static uint64_t pulse_run(const struct pulse *pulse, MPI_Comm comm,
                          double values_out[2])
{
    const struct storm_material matter = {
        .scattering = {.coef = pulse->sigma, .max = 1e12},
        .temperature_kev = 0.001,
        .radiation_temperature_kev = 0.0,
        .velocity_cm_s = {pulse->beta * light, 0.0, 0.0}};
    struct imc_box box = {.problem = make_problem(&matter, 1)};
    double dt = pulse->seconds / PULSE_STEPS, frame[MAX_CELLS][3] = {{0.0}};
    double by = pulse->beta * light * dt, sums[3] = {0.0}, energy[4];
    box.problem.hi_cm[0] = pulse->length;
    box.problem.emit_per_cell = 0;
    box.problem.comb = false;
    box.problem.diffusion = !pulse->walk;
    box.problem.random_walk = pulse->walk;
    open_pulse(&box, comm, pulse);
    for (int step = 0; step < PULSE_STEPS; step++) {
        for (int i = 0; i < MAX_CELLS; i++)
            frame[i][0] = pulse->rides ? by / dt : 0.0;
        CHECK_OK(storm_imc_set_frame(box.imc, &frame[0][0]));
        (void)imc_box_step(&box, dt * step, dt, energy);
        CHECK(balance(&box) <= 1e-15);
        if (pulse->rides)
            ride(&box, by, pulse->length);
    }
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        double x =
            packet->position_cm[0] - 0.275 * pulse->length - by * PULSE_STEPS;
        x -= floor(x / pulse->length + 0.5) * pulse->length;
        sums[0] += packet->weight_erg;
        sums[1] += packet->weight_erg * x;
        sums[2] += packet->weight_erg * x * x;
    }
    CHECK_OK(storm_context_reduce(box.context, sums, 3, MPI_DOUBLE, MPI_SUM));
    values_out[0] = sums[1] / sums[0];
    values_out[1] = sums[2] / sums[0] - values_out[0] * values_out[0];
    uint64_t hash = imc_box_hash(&box);
    imc_box_close(&box);
    return hash;
}

/* The pulse in motion is that at rest, displaced. */
static void check_pulse(const struct pulse *pulse, bool same)
{
    struct pulse rest = *pulse;
    double moved[2], still[2], alone[2];
    rest.beta = 0.0;
    rest.rides = false;
    check_where("pulse: beta %g, Voronoi %d, rides %d, walk %d", pulse->beta,
                pulse->voronoi, pulse->rides, pulse->walk);
    uint64_t hash = pulse_run(pulse, MPI_COMM_WORLD, moved);
    if (same) {
        CHECK_EQ(pulse_run(pulse, MPI_COMM_SELF, alone), hash);
        return;
    }
    (void)pulse_run(&rest, MPI_COMM_WORLD, still);
    double tau = pulse->sigma * pulse->length / BINS, error[2];
    double right = 2.0 * light / (3.0 * pulse->sigma) * pulse->seconds;
    error[0] = sqrt(2.0 * still[1] / PULSE);
    error[1] = still[1] * sqrt(4.0 / PULSE);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("pulse: beta %g, tau beta %.2g, Voronoi %d, rides %d, walk %d: "
               "mean %.5f, at rest %.5f +- %.5f; variance %.6f, at rest %.6f "
               "+- %.6f, 2 D t %.6f, way %.4f\n",
               pulse->beta, tau * pulse->beta, pulse->voronoi, pulse->rides,
               pulse->walk, moved[0], still[0], error[0], moved[1], still[1],
               error[1], right, pulse->beta * light * pulse->seconds);
    CHECK(fabs(moved[0] - still[0]) <= k * error[0]);
    CHECK(fabs(moved[1] - still[1]) <= k * error[1]);
    CHECK(still[1] > right - k * error[1]);
}

/* ---- work ---------------------------------------------------------------- */

enum { FLOW = 20, FLOW_PACKETS = 4000, FLOW_STEPS = 5 };
static const double flow_speed = 0.1, flow_s = 0.5;

/* What a cell's energy is after the flow v = sin(pi x) flow_speed c: from the
 * start of its path, as E v^(4/3) is constant along it. */
static double flow_energy(double x)
{
    double pi = acos(-1.0), y = 0.5 * pi * x;
    double grows = exp(pi * flow_speed * light * flow_s);
    double from = 2.0 * atan(tan(y) / grows);
    return pow(sin(from) / sin(pi * x), 4.0 / 3.0);
}

/* Between mirrors: where matter is expanded radiation loses energy, which is
 * work, and no heat of matter. */
static void check_work(MPI_Comm comm)
{
    const struct storm_material matter = {
        .scattering = {.coef = 1000.0, .max = 1e12},
        .heat_capacity = {.coef = 1.0, .max = 1e300},
        .temperature_kev = 1.0,
        .radiation_temperature_kev = 1.0};
    static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {FLOW, 1, 1}};
    struct imc_box box = {.problem = make_problem(&matter, 1)};
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    struct storm_imc_momenta m = STORM_IMC_MOMENTA_INIT;
    double v[FLOW][3] = {{0.0}}, t[FLOW], energy[4];
    double beta2 = 4.0 / 3.0 * flow_speed * flow_speed;
    check_where("%s", "work");
    box.problem.diffusion = true;
    box.problem.comb = false;
    box.problem.max_per_cell = FLOW_PACKETS;
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        box.problem.walls[wall] = (struct storm_wall){&mirror, 1};
    CHECK_OK(storm_context_create(comm, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    storm_cell_idx n = storm_mesh_n_cells(box.mesh);
    for (storm_cell_idx i = 0; i < n; i++) {
        double x[3];
        storm_mesh_centre(box.mesh, i, x);
        v[i][0] = flow_speed * light * sin(acos(-1.0) * x[0]);
    }
    CHECK_OK(storm_imc_set(box.imc, STORM_IMC_VELOCITY, &v[0][0]));
    for (int step = 0; step < FLOW_STEPS; step++) {
        double dt = flow_s / FLOW_STEPS;
        CHECK(imc_box_step(&box, dt * step, dt, energy) <= 1e-15);
        CHECK(balance(&box) <= 1e-15);
    }
    size_t n_packets;
    void *const *packets = storm_engine_packets(box.engine, &n_packets);
    double in[FLOW] = {0.0};
    for (size_t i = 0; i < n_packets; i++) {
        const struct storm_packet *p = packets[i];
        in[(int)(p->position_cm[0] * FLOW)] += p->weight_erg * FLOW;
    }
    CHECK_OK(storm_context_reduce(box.context, in, FLOW, MPI_DOUBLE, MPI_SUM));
    CHECK_OK(storm_imc_energy(box.imc, box.engine, &e));
    CHECK_OK(storm_imc_momentum(box.imc, box.engine, &m));
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_TEMPERATURE, t));
    for (storm_cell_idx i = 0; i < n; i++)
        CHECK(fabs(t[i] - 1.0) < 0.02);
    for (int quarter = 0; quarter < 4; quarter++) {
        double sum = 0.0, right = 0.0, error = sqrt(4.0 / FLOW / FLOW_PACKETS);
        for (int i = quarter * FLOW / 4; i < (quarter + 1) * FLOW / 4; i++) {
            sum += in[i] / FLOW;
            right += flow_energy((i + 0.5) / FLOW) / FLOW;
        }
        if (storm_context_rank(box.context) == 0)
            printf("work, quarter %d: %.5f, right %.5f +- %.1f %%\n", quarter,
                   sum, right, 100.0 * error);
        CHECK(fabs(sum / right - 1.0) <= k * error + beta2);
    }
    /* The pressure at the mirrors, a third of exp(+- rate t). */
    double rate = 4.0 / 3.0 * acos(-1.0) * flow_speed * light * flow_s;
    double push = (exp(rate) + exp(-rate) - 2.0) / rate * flow_s / 3.0;
    if (storm_context_rank(box.context) == 0)
        printf("work: %.5f, push on mirrors %.5f, right %.5f\n", e.work_erg,
               m.walls[0], push);
    CHECK(fabs(m.walls[0] / push - 1.0) < 0.1);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK(argc == 2);
    const bool same = strcmp(argv[1], "same") == 0;
    static const struct motion motions[] = {
        {{0.06, 0.06, -0.05}, .mixed = true},
        {{0.06, 0.06, -0.05}, .voronoi = true, .mixed = true},
        {{0.1, 0.0, 0.0}, .walk = true},
        {{0.06, 0.06, -0.05}, .walk = true, .voronoi = true, .mixed = true},
        {{0.06, 0.06, -0.05}, .mixed = true, .groups = true},
        {{0.06, 0.06, -0.05}, .voronoi = true, .mixed = true, .groups = true},
        {{0.06, 0.06, -0.05}, .walk = true, .mixed = true, .groups = true},
    };
    if (!same)
        check_work(MPI_COMM_WORLD);
    static const struct pulse pulses[] = {
        {.beta = 0.001, .sigma = 400, .length = 1, .seconds = 2},
        {.beta = 0.1, .sigma = 440, .length = 1, .seconds = 2},
        {.beta = 0.1, .sigma = 4000, .length = 1, .seconds = 2},
        {.beta = 0.1, .sigma = 400, .length = 1, .seconds = 0.5, .walk = true},
        {.beta = 0.1,
         .sigma = 100,
         .length = 2,
         .seconds = 3,
         .voronoi = true,
         .rides = true},
    };
    for (size_t i = 0; i < sizeof pulses / sizeof pulses[0]; i++)
        check_pulse(&pulses[i], same);
    for (size_t i = 0; i < sizeof motions / sizeof motions[0]; i++)
        check_equilibrium(&motions[i], same);
    MPI_Finalize();
    return CHECK_PASS;
}
