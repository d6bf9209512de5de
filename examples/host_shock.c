/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3; timeout: 60 */
/*
 * Radiation hydrodynamics in a slab: gas that radiation heats and pushes.
 *
 *   cc host_shock.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *   mpiexec -n 3 ./a.out PROFILE.csv CELLS PACKETS TIME SETTLE OUT.csv
 *
 * The gas is the host's: a gamma law, finite volumes of second order (MUSCL
 * and Hancock's step with HLLC fluxes) on a mesh of boxes along x. In each step
 * it moves, then the library has its density, velocity and heat, and makes a
 * step of radiation; what that has given to matter, energy and momentum in the
 * frame of the mesh, is added to energy and momentum of the gas. The heat is
 * what motion leaves of the energy: no account is needed for the work.
 *
 * Without arguments: a hot gas expands between mirrors; mass, momentum and
 * energy of gas and radiation are those of the start, and the hash at the end
 * is the same on any number of ranks.
 *
 * With a profile of tests/reference/radiative_shock.py or radiation_tube.py:
 * from this state for TIME, the mean after SETTLE into OUT.csv. The first and
 * last twentieth of the cells keep the state of the profile: matter that moves
 * and is thick, so that radiation is in equilibrium with it, before walls of
 * its temperature.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/storm.h>

#include "slab.h"

enum { N_BED = 20 /* a bed is this part of the cells */, N_COLUMNS = 5 };
static const double cfl = 0.4;

struct host {
    struct setup setup;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
    storm_cell_idx n, n_ghosts; /* cells of this rank */
    int *place;                 /* of a cell, along x */
    gas *now, *start;           /* conserved, per volume, by local cell */
    gas *state, *state_ghosts;  /* primitive */
    gas (*face)[2], (*face_ghosts)[2]; /* primitive, at low and high x */
    double *values, *vectors;          /* one and three for each cell */
    double *mean; /* N_COLUMNS for each cell of all ranks */
    double mean_s, dt;
    double width;              /* of a cell; the slab has an area of 1 */
    double impulse;            /* given to the walls by the gas */
    double first[3], error[3]; /* mass, momentum, energy */
};

/* Every call below can fail, on all ranks together; the reason is logged. */
static void must(storm_status status)
{
    if (status < 0) {
        fprintf(stderr, "host_shock: %s\n", storm_status_name(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *array(storm_cell_idx n, size_t bytes)
{
    void *memory = calloc((size_t)n + 1, bytes);
    if (memory == NULL)
        must(STORM_ERR_NOMEM);
    return memory;
}

/* ---- the gas ------------------------------------------------------------ */

/* What is beyond both ends of a cell, out of arrays with `n_ends` states for
 * each cell (1, or one at low and one at high x): of the neighbours or of a
 * mirror; at the end of a bed, which needs none, its own. */
static void neighbours(const struct host *h, storm_cell_idx i, int n_ends,
                       gas *cells, gas *ghosts, gas out[2])
{
    for (int k = 0; k < storm_mesh_n_faces(h->mesh, i); k++) {
        struct storm_face face = STORM_FACE_INIT;
        must(storm_mesh_face(h->mesh, i, k, &face));
        if (face.normal[0] == 0.0)
            continue;
        int high = face.normal[0] > 0.0;
        gas *from = face.rank < 0     ? &cells[n_ends * i]
                    : face.ghost >= 0 ? &ghosts[n_ends * face.ghost]
                                      : &cells[n_ends * face.neighbour];
        if (n_ends == 2) /* the end that is at this face */
            from += face.rank < 0 ? high : 1 - high;
        memcpy(out[high], *from, sizeof(gas));
        if (face.rank < 0 && h->setup.closed)
            out[high][V] = -out[high][V];
    }
}

/* States at both ends of a cell after half a step. */
static void predict(struct host *h, storm_cell_idx i)
{
    const double *w = h->state[i];
    gas side[2], ends[2], flows[2], u;
    neighbours(h, i, 1, h->state, h->state_ghosts, side);
    for (int q = 0; q < N_Q; q++) {
        double slope = limited(w[q] - side[0][q], side[1][q] - w[q]);
        ends[0][q] = w[q] - 0.5 * slope;
        ends[1][q] = w[q] + 0.5 * slope;
    }
    flow(ends[0], flows[0]);
    flow(ends[1], flows[1]);
    for (int k = 0; k < 2; k++) {
        to_conserved(ends[k], u);
        for (int q = 0; q < N_Q; q++)
            u[q] += 0.5 * h->dt / h->width * (flows[0][q] - flows[1][q]);
        to_primitive(u, h->face[i][k]);
    }
}

static void move_cell(struct host *h, storm_cell_idx i)
{
    gas side[2], low, high;
    neighbours(h, i, 2, h->face[0], h->face_ghosts[0], side);
    hllc(side[0], h->face[i][0], low);
    hllc(h->face[i][1], side[1], high);
    for (int q = 0; q < N_Q; q++)
        h->now[i][q] += h->dt / h->width * (low[q] - high[q]);
    if (h->setup.closed && h->place[i] == 0)
        h->impulse -= h->dt * low[MOMENTUM];
    if (h->setup.closed && h->place[i] == h->setup.cells - 1)
        h->impulse += h->dt * high[MOMENTUM];
}

/* Cells of the beds keep their state. */
static void hold(struct host *h)
{
    int bed = h->setup.closed ? 0 : h->setup.cells / N_BED;
    for (storm_cell_idx i = 0; i < h->n; i++)
        if (h->place[i] < bed || h->place[i] >= h->setup.cells - bed)
            memcpy(h->now[i], h->start[i], sizeof(gas));
}

/* The step follows the fastest wave of the gas: radiation is implicit and sets
 * no limit. */
static void move(struct host *h)
{
    double fastest = 0.0;
    for (storm_cell_idx i = 0; i < h->n; i++) {
        to_primitive(h->now[i], h->state[i]);
        fastest = fmax(fastest, fabs(h->state[i][V]) + sound(h->state[i]));
    }
    must(storm_context_reduce(h->context, &fastest, 1, MPI_DOUBLE, MPI_MAX));
    h->dt = cfl * h->width / fastest;
    must(storm_mesh_ghosts(h->mesh, sizeof(gas), h->state, h->state_ghosts));
    for (storm_cell_idx i = 0; i < h->n; i++)
        predict(h, i);
    must(storm_mesh_ghosts(h->mesh, 2 * sizeof(gas), h->face, h->face_ghosts));
    for (storm_cell_idx i = 0; i < h->n; i++)
        move_cell(h, i);
    hold(h);
}

/* ---- coupling ----------------------------------------------------------- */

/* Density, velocity and heat to the library. */
static void give(struct host *h)
{
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->values[i] = h->now[i][MASS];
    must(storm_imc_set(h->imc, STORM_IMC_DENSITY, h->values));
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->vectors[3 * i] = h->now[i][MOMENTUM] / h->now[i][MASS];
    must(storm_imc_set(h->imc, STORM_IMC_VELOCITY, h->vectors));
    for (storm_cell_idx i = 0; i < h->n; i++) {
        to_primitive(h->now[i], h->state[i]);
        h->values[i] = h->state[i][P] / (gamma_gas - 1.0);
    }
    must(storm_imc_set(h->imc, STORM_IMC_MATERIAL_ENERGY, h->values));
}

static void take(struct host *h, storm_imc_field field, double sign)
{
    must(storm_imc_get(h->imc, h->engine, field, h->values));
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->now[i][ENERGY] += sign * h->values[i] / h->width;
}

/* A step of radiation. The slab does not move along y and z: pushes along these
 * are chance, and its mirrors take them. */
static void transport(struct host *h, double time)
{
    give(h);
    must(storm_imc_set_step(h->imc, time, h->dt));
    must(storm_engine_step(h->engine));
    take(h, STORM_IMC_DEPOSITED, 1.0);
    take(h, STORM_IMC_EMITTED, -1.0);
    must(storm_imc_get(h->imc, h->engine, STORM_IMC_PUSH, h->vectors));
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->now[i][MOMENTUM] += h->vectors[3 * i] / h->width;
    memset(h->vectors, 0, 3 * (size_t)h->n * sizeof *h->vectors);
    hold(h);
}

/* ---- report ------------------------------------------------------------- */

/* Over time: of density, velocity, temperature, radiation energy and the square
 * of the velocity. */
static void add_to_mean(struct host *h)
{
    must(storm_imc_get(h->imc, h->engine, STORM_IMC_RADIATION_PATH, h->values));
    for (storm_cell_idx i = 0; i < h->n; i++) {
        double *mean = &h->mean[N_COLUMNS * h->place[i]];
        gas w;
        to_primitive(h->now[i], w);
        mean[0] += h->dt * w[RHO];
        mean[1] += h->dt * w[V];
        mean[2] += h->dt * w[P] / (w[RHO] * h->setup.gas);
        mean[3] += h->dt * h->values[i];
        mean[4] += h->dt * w[V] * w[V];
    }
    h->mean_s += h->dt;
}

static void write_mean(struct host *h)
{
    const struct setup *s = &h->setup;
    must(storm_context_reduce(h->context, h->mean, N_COLUMNS * s->cells,
                              MPI_DOUBLE, MPI_SUM));
    if (storm_context_rank(h->context) != 0)
        return;
    FILE *file = fopen(s->out, "w");
    if (file == NULL)
        must(STORM_ERR_IO);
    fprintf(file, "x,rho,v,t,theta,v_rms\n");
    for (int i = 0; i < s->cells; i++) {
        const double *mean = &h->mean[N_COLUMNS * i];
        fprintf(file, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n",
                s->points[0].x + (i + 0.5) * h->width, mean[0] / h->mean_s,
                mean[1] / h->mean_s, mean[2] / h->mean_s,
                sqrt(sqrt(mean[3] / h->mean_s / s->radiation)),
                sqrt(mean[4] / h->mean_s));
    }
    fclose(file);
}

/* Of gas and radiation; between mirrors they are those of the start. */
static void report(struct host *h, int step, double time)
{
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    struct storm_imc_momenta m = STORM_IMC_MOMENTA_INIT;
    double sum[4] = {0.0, 0.0, 0.0, h->impulse}, moved = 0.0;
    for (storm_cell_idx i = 0; i < h->n; i++)
        for (int q = 0; q < N_Q; q++)
            sum[q] += h->now[i][q] * h->width;
    must(storm_context_reduce(h->context, sum, 4, MPI_DOUBLE, MPI_SUM));
    must(storm_imc_energy(h->imc, h->engine, &e));
    must(storm_imc_momentum(h->imc, h->engine, &m));
    moved = m.radiation[0] + m.walls[0] + m.control[0] + m.escaped[0];
    const double total[3] = {sum[0], sum[1] + sum[3] + moved,
                             sum[2] + e.radiation_erg};
    if (step == 0)
        memcpy(h->first, total, sizeof total);
    /* Momentum: relative to the largest that flows, that of the impulse. */
    const double scale[3] = {total[0], fmax(fabs(sum[1]), fabs(sum[3])),
                             total[2]};
    for (int q = 0; q < 3 && step > 0; q++)
        h->error[q] =
            fmax(h->error[q], fabs(total[q] - h->first[q]) / scale[q]);
    if (storm_context_rank(h->context) == 0)
        printf("%6d  time %.6e  mass %.12e  momentum %.12e (radiation %.3e)  "
               "energy %.12e (radiation %.3e)\n",
               step, time, total[0], total[1], m.radiation[0], total[2],
               e.radiation_erg);
}

/* ---- life --------------------------------------------------------------- */

static void open_imc(struct host *h)
{
    const struct setup *s = &h->setup;
    const double heat = s->gas / (gamma_gas - 1.0);
    const struct storm_material matter = {
        .absorption = {.coef = s->absorption,
                       .rho_exp = s->opacity_by_density,
                       .max = STORM_UNLIMITED},
        .scattering = {.coef = s->scattering,
                       .rho_exp = s->opacity_by_density,
                       .max = STORM_UNLIMITED},
        .heat_capacity = {
            .coef = heat, .rho_exp = 1.0, .max = STORM_UNLIMITED}};
    const struct storm_region everywhere = {.material = 0};
    const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
    struct storm_wall_part ends[2];
    double kev[2][2] = {{0.0, s->points[0].theta},
                        {0.0, s->points[s->n_points - 1].theta}};
    struct storm_problem problem = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = s->light,
        .radiation_erg_cm3_kev4 = s->radiation,
        .lo_cm = {s->points[0].x},
        .hi_cm = {s->points[s->n_points - 1].x, 1.0, 1.0},
        .materials = &matter,
        .n_materials = 1,
        .regions = &everywhere,
        .n_regions = 1,
        .n_groups = 1,
        .emit_per_cell = (uint64_t)s->packets,
        .min_per_cell = (uint64_t)s->packets / 2 + 1,
        .max_per_cell = 2 * (uint64_t)s->packets,
        .comb = true,
        .seed = 1,
        .matter_by_host = true,
        .motion = true};
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        problem.walls[wall] = (struct storm_wall){&mirror, 1};
    for (int k = 0; k < 2 && !s->closed; k++) {
        ends[k] =
            (struct storm_wall_part){.kind = STORM_WALL_BLACKBODY,
                                     .temperature = {kev[k], 1},
                                     .stop_s = STORM_UNLIMITED,
                                     .packets = 10 * problem.emit_per_cell};
        problem.walls[k] = (struct storm_wall){&ends[k], 1};
    }
    must(storm_imc_create(h->context, h->mesh, &problem, &h->imc));
}

static void open_host(struct host *h)
{
    const struct setup *s = &h->setup;
    double lo = s->points[0].x, hi = s->points[s->n_points - 1].x;
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .lo_cm = {lo},
                                     .hi_cm = {hi, 1.0, 1.0},
                                     .n = {s->cells, 1, 1}};
    struct storm_comb_params comb = STORM_COMB_PARAMS_INIT;
    struct storm_engine_params engine = STORM_ENGINE_PARAMS_INIT;
    must(storm_mesh_create_cart(h->context, &cart, &h->mesh));
    open_imc(h);
    comb.seed = 1;
    comb.n_min = (uint64_t)s->packets / 2 + 1;
    comb.n_max = 2 * (uint64_t)s->packets;
    comb.remainder = storm_imc_deposit;
    comb.limit = storm_imc_max_packets;
    comb.remainder_self = comb.limit_self = h->imc;
    must(storm_comb_create(h->context, &comb, &h->comb));
    engine.record_bytes = storm_imc_record_bytes(h->imc);
    must(storm_engine_create(h->context, &engine, &h->engine));
    must(storm_imc_attach(h->imc, h->engine));
    must(storm_comb_attach(h->comb, h->engine));
    h->width = (hi - lo) / s->cells;
    h->n = storm_mesh_n_cells(h->mesh);
    must(storm_mesh_n_ghosts(h->mesh, &h->n_ghosts));
}

/* The state of the profile, gas and radiation. */
static void begin(struct host *h)
{
    const struct setup *s = &h->setup;
    h->place = array(h->n, sizeof *h->place);
    h->now = array(h->n, sizeof *h->now);
    h->start = array(h->n, sizeof *h->start);
    h->state = array(h->n, sizeof *h->state);
    h->face = array(h->n, sizeof *h->face);
    h->state_ghosts = array(h->n_ghosts, sizeof *h->state_ghosts);
    h->face_ghosts = array(h->n_ghosts, sizeof *h->face_ghosts);
    h->values = array(h->n, sizeof *h->values);
    h->vectors = array(3 * h->n, sizeof *h->vectors);
    h->mean = array(N_COLUMNS * s->cells, sizeof *h->mean);
    for (storm_cell_idx i = 0; i < h->n; i++) {
        double centre[3];
        storm_mesh_centre(h->mesh, i, centre);
        h->place[i] = (int)((centre[0] - s->points[0].x) / h->width);
        struct point p = profile_at(s, centre[0]);
        const gas w = {p.rho, p.v, s->gas * p.rho * p.t};
        to_conserved(w, h->start[i]);
        memcpy(h->now[i], h->start[i], sizeof(gas));
        h->values[i] = p.theta;
    }
    must(storm_imc_set_start(h->imc, h->values));
    give(h);
    must(storm_imc_start(h->imc, h->engine));
}

static void close_host(struct host *h)
{
    storm_engine_destroy(h->engine);
    storm_comb_destroy(h->comb);
    storm_imc_destroy(h->imc);
    storm_mesh_destroy(h->mesh);
    void *const arrays[] = {h->place,       h->now,         h->start,
                            h->state,       h->face,        h->state_ghosts,
                            h->face_ghosts, h->values,      h->vectors,
                            h->mean,        h->setup.points};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

int main(int argc, char **argv)
{
    struct host h = {.setup = {0}};
    uint64_t hash;
    double time = 0.0;
    int step = 0;
    MPI_Init(&argc, &argv);
    must(storm_context_create(MPI_COMM_WORLD, NULL, &h.context));
    if (!make_setup(argc, argv, &h.setup)) {
        fprintf(stderr, "host_shock: no profile, or wrong arguments\n");
        must(STORM_ERR_ARG);
    }
    open_host(&h);
    begin(&h);
    report(&h, step, time);
    while (time < h.setup.stop) {
        move(&h);
        transport(&h, time);
        time += h.dt;
        if (time > h.setup.settle)
            add_to_mean(&h);
        if (++step % 100 == 0 || h.setup.closed)
            report(&h, step, time);
    }
    give(&h); /* the hash is of what the library has */
    must(storm_imc_hash(h.imc, h.engine, &hash));
    if (h.setup.out != NULL)
        write_mean(&h);
    if (storm_context_rank(h.context) == 0) {
        printf("%d steps, hash %016" PRIx64 "\n", step, hash);
        if (h.setup.closed)
            printf("mass closes to %.1e, momentum to %.1e, energy to %.1e\n",
                   h.error[0], h.error[1], h.error[2]);
    }
    bool good = !h.setup.closed || (h.error[0] < 1e-13 && h.error[1] < 1e-12 &&
                                    h.error[2] < 1e-13);
    close_host(&h);
    storm_context_destroy(h.context);
    MPI_Finalize();
    return good ? 0 : 1;
}
