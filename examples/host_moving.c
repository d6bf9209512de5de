/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 120 */
/*
 * Radiation hydrodynamics: gas on moving Voronoi cells and implicit Monte
 * Carlo, with a partition for each, and checkpoints.
 *
 *   cc host_moving.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out [cells=N] [steps=N] [load=FILE] [save=NAME every=N]
 *
 * A ball of hot gas, in which radiation has three times the pressure of the
 * gas, explodes and shines on a cold dense cloud. In each cell the gas gets the
 * energy and momentum that packets have lost there, and nothing else: with what
 * has left, both stay what they were. All that is printed is the same on any
 * number of ranks, also if the run continues from a checkpoint (save=half
 * every=10, then load=half-10). docs/radiation-hydrodynamics.md explains it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/storm.h>

#include "checkpoint.h"
#include "gas.h"

/* cm, g, s, erg, keV; the speed of light is not reduced. */
static const double light_cm_s = 2.99792458e10;
static const double a_erg_cm3_kev4 = 1.3720172e14;
static const double heat_erg_g_kev = 2.877e15; /* of ionised hydrogen */
static const double box_cm = 10.0;
static const double max_g = 1e5; /* more than all gas: bounds of exact sums */
static const double courant = 0.3, growth = 1.3;
static const double first_dt_s = 1e-11, max_dt_s = 3e-10;

/* What there is once, and goes to checkpoints. */
struct head {
    uint64_t step;
    double time_s, dt_s;
    double start[4];           /* total momentum and energy */
    struct storm_sum walls[3]; /* momentum that gas has given to walls */
};

struct host {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_cut *gas_cut, *packet_cut;
    struct storm_imc *imc;
    struct storm_engine *engine;
    gas *gas;                     /* by local cell */
    struct state *state, *ghosts; /* by local cell, by ghost */
    struct head run;
    double error[2]; /* of momentum and energy; relative, the largest so far */
};

static size_t n_cells(const struct host *host)
{
    return (size_t)storm_mesh_n_cells(host->mesh);
}

static double volume_cm3(const struct host *host, size_t i)
{
    return storm_mesh_volume_cm3(host->mesh, (storm_cell_idx)i);
}

/* ---- the mesh changes --------------------------------------------------- */

/* Gas, radiation's view of matter, and packets go where their cells went. */
static void follow(struct host *host, struct storm_change *change)
{
    gas *before = host->gas;
    host->gas = array(n_cells(host), sizeof(gas));
    must(storm_mesh_carry(host->mesh, change, sizeof(gas), before, host->gas));
    must(storm_imc_follow(host->imc, change));
    must(storm_remap(host->engine, host->mesh, change, NULL, NULL));
    storm_change_destroy(change);
    free(before);
}

static void use(struct host *host, struct storm_cut *cut)
{
    struct storm_change *change;
    must(storm_mesh_use(host->mesh, cut, &change));
    follow(host, change);
}

/* Generators move by find_states, and stay away from the walls. */
static void move(struct host *host)
{
    double(*x)[3] = array(n_cells(host), sizeof *x);
    for (size_t i = 0; i < n_cells(host); i++) {
        must(storm_mesh_generator(host->mesh, (storm_cell_idx)i, x[i]));
        for (int d = 0; d < 3; d++) {
            x[i][d] += host->state[i].w[d] * host->run.dt_s;
            x[i][d] = fmin(fmax(x[i][d], 1e-3 * box_cm), 0.999 * box_cm);
        }
    }
    struct storm_change *change;
    must(storm_mesh_move(host->mesh, &x[0][0], NULL, &change));
    free(x);
    follow(host, change);
}

/* ---- gas ---------------------------------------------------------------- */

/* Generators move with the gas, and a little to the middle of their cells. */
static void find_states(struct host *host)
{
    storm_cell_idx n_ghosts;
    must(storm_mesh_n_ghosts(host->mesh, &n_ghosts));
    free(host->state);
    free(host->ghosts);
    host->state = array(n_cells(host), sizeof *host->state);
    host->ghosts = array((size_t)n_ghosts, sizeof *host->ghosts);
    for (size_t i = 0; i < n_cells(host); i++) {
        storm_cell_idx cell = (storm_cell_idx)i;
        struct state *s = &host->state[i];
        const double *q = host->gas[i];
        double volume = volume_cm3(host, i), x[3], centre[3];
        s->tag = storm_mesh_cell_id(host->mesh, cell);
        s->rho = q[MASS] / volume;
        s->pressure = (gamma_gas - 1.0) * heat_erg(q) / volume;
        must(storm_mesh_generator(host->mesh, cell, x));
        storm_mesh_centre(host->mesh, cell, centre);
        for (int d = 0; d < 3; d++) {
            s->v[d] = q[MOMENTUM + d] / q[MASS];
            s->w[d] = s->v[d] + 0.1 * (centre[d] - x[d]) / max_dt_s;
        }
    }
    must(storm_mesh_ghosts(host->mesh, sizeof *host->state, host->state,
                           host->ghosts));
}

/* What leaves cell i through a face. Both cells compute it from the cell of
 * lower tag, so that one gets what the other loses, to the last bit. */
static void face_flux(const struct host *host, size_t i,
                      const struct storm_face *face, gas out)
{
    const struct state *mine = &host->state[i];
    const struct state *other = face->ghost >= 0
                                    ? &host->ghosts[face->ghost]
                                    : &host->state[face->neighbour];
    bool turn = other->tag < mine->tag;
    const struct state *sides[2] = {turn ? other : mine, turn ? mine : other};
    double normal[3], w[3], sign = turn ? -1.0 : 1.0;
    for (int d = 0; d < 3; d++) {
        normal[d] = sign * face->normal[d];
        w[d] = 0.5 * (mine->w[d] + other->w[d]);
    }
    hllc(sides, normal, w, out);
    for (int k = 0; k < N_Q; k++)
        out[k] *= sign;
}

/* Godunov's scheme on the mesh as it is; the faces move with the gas. */
static void advance_gas(struct host *host)
{
    find_states(host);
    for (size_t i = 0; i < n_cells(host); i++)
        for (int k = 0; k < storm_mesh_n_faces(host->mesh, (storm_cell_idx)i);
             k++) {
            struct storm_face face = STORM_FACE_INIT;
            gas flux = {0.0};
            must(storm_mesh_face(host->mesh, (storm_cell_idx)i, k, &face));
            if (face.rank >= 0)
                face_flux(host, i, &face, flux);
            for (int d = 0; d < 3 && face.rank < 0; d++) {
                flux[MOMENTUM + d] = host->state[i].pressure * face.normal[d];
                must(storm_sum_add(&host->run.walls[d], flux[MOMENTUM + d] *
                                                            face.area_cm2 *
                                                            host->run.dt_s));
            }
            for (int q = 0; q < N_Q; q++)
                host->gas[i][q] -= flux[q] * face.area_cm2 * host->run.dt_s;
        }
}

/* ---- radiation ---------------------------------------------------------- */

/* Density, heat and velocity of the gas to the library. */
static void give(struct host *host)
{
    size_t n = n_cells(host);
    double *rho = array(n, sizeof *rho), *heat = array(n, sizeof *heat);
    double(*v)[3] = array(n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        rho[i] = host->gas[i][MASS] / volume_cm3(host, i);
        heat[i] = heat_erg(host->gas[i]) / volume_cm3(host, i);
        for (int d = 0; d < 3; d++)
            v[i][d] = host->gas[i][MOMENTUM + d] / host->gas[i][MASS];
    }
    must(storm_imc_set(host->imc, STORM_IMC_DENSITY, rho));
    must(storm_imc_set(host->imc, STORM_IMC_MATERIAL_ENERGY, heat));
    must(storm_imc_set(host->imc, STORM_IMC_VELOCITY, v[0]));
    free(rho);
    free(heat);
    free(v);
}

/* Transport. The gas gets what packets have lost in its cell, energy and
 * momentum in the frame of the mesh: its heat follows from both. */
static void radiate(struct host *host)
{
    size_t n = n_cells(host);
    double *in = array(n, sizeof *in), *out = array(n, sizeof *out);
    double(*push)[3] = array(n, sizeof *push);
    uint64_t *work = array(n, sizeof *work);
    give(host);
    must(storm_imc_set_step(host->imc, host->run.time_s, host->run.dt_s));
    must(storm_engine_step(host->engine));
    must(storm_imc_get(host->imc, host->engine, STORM_IMC_DEPOSITED, in));
    must(storm_imc_get(host->imc, host->engine, STORM_IMC_EMITTED, out));
    must(storm_imc_get(host->imc, host->engine, STORM_IMC_PUSH, push[0]));
    for (size_t i = 0; i < n; i++) {
        host->gas[i][ENERGY] += in[i] - out[i];
        for (int d = 0; d < 3; d++)
            host->gas[i][MOMENTUM + d] += push[i][d];
    }
    /* The next step will cost what this one did, in the same cells. */
    must(storm_imc_weights(host->imc, host->engine, STORM_IMC_BY_EVENTS, work));
    storm_cut_set(host->packet_cut, work);
    free(in);
    free(out);
    free(push);
    free(work);
}

/* No wave of gas and radiation together may cross a cell in a step. (Radiation
 * that streams through thin gas pushes it less than this expects.) */
static void choose_dt(struct host *host)
{
    double *radiation = array(n_cells(host), sizeof *radiation);
    must(storm_imc_get(host->imc, host->engine, STORM_IMC_RADIATION_PATH,
                       radiation));
    host->run.dt_s = fmin(growth * host->run.dt_s, max_dt_s);
    for (size_t i = 0; i < n_cells(host); i++) {
        double volume = volume_cm3(host, i);
        double stiff = gamma_gas * (gamma_gas - 1.0) * heat_erg(host->gas[i]) +
                       4.0 / 9.0 * radiation[i] * volume;
        double sound = sqrt(stiff / host->gas[i][MASS]);
        host->run.dt_s = fmin(host->run.dt_s, courant * cbrt(volume) / sound);
    }
    free(radiation);
    must(storm_context_reduce(host->context, &host->run.dt_s, 1, MPI_DOUBLE,
                              MPI_MIN));
}

/* ---- report ------------------------------------------------------------- */

/* Totals, in exact sums: the same digits on any number of ranks. */
static void report(struct host *host)
{
    enum { SIZE = N_Q, WALLS, N_SUMS = WALLS + 3 };
    const double c = light_cm_s;
    struct storm_sum sum[N_SUMS];
    double value[N_SUMS], now[4], error[2] = {0.0};
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    struct storm_imc_momenta p = STORM_IMC_MOMENTA_INIT;
    for (int k = 0; k < WALLS; k++)
        must(storm_sum_begin(&sum[k], k == MASS     ? max_g
                                      : k == ENERGY ? max_g * c * c
                                                    : max_g * c));
    for (size_t i = 0; i < n_cells(host); i++) {
        const double *q = host->gas[i];
        for (int k = 0; k < N_Q; k++)
            must(storm_sum_add(&sum[k], q[k]));
        must(storm_sum_add(&sum[SIZE], sqrt(dot(&q[MOMENTUM], &q[MOMENTUM]))));
    }
    memcpy(&sum[WALLS], host->run.walls, sizeof host->run.walls);
    must(storm_sum_reduce(host->context, sum, N_SUMS));
    must(storm_imc_energy(host->imc, host->engine, &e));
    must(storm_imc_momentum(host->imc, host->engine, &p));
    for (int k = 0; k < N_SUMS; k++)
        value[k] = storm_sum_value(&sum[k]);
    for (int d = 0; d < 3; d++)
        now[d] = value[MOMENTUM + d] + value[WALLS + d] + p.radiation[d] +
                 p.escaped[d];
    now[3] = value[ENERGY] + e.radiation_erg + e.escaped_erg;
    if (host->run.step == 0)
        memcpy(host->run.start, now, sizeof now);
    for (int d = 0; d < 3; d++)
        error[0] = fmax(error[0], fabs(now[d] - host->run.start[d]) /
                                      (value[SIZE] + e.radiation_erg / c));
    error[1] = fabs(now[3] / host->run.start[3] - 1.0);
    for (int k = 0; k < 2; k++)
        host->error[k] = fmax(host->error[k], error[k]);
    if (storm_context_rank(host->context) == 0)
        printf("%5" PRIu64 " %10.4e %14.10f %12.6e %12.6e %12.6e %7.1e "
               "%13.6e %13.6e %13.6e %13.6e %7.1e\n",
               host->run.step, host->run.time_s, value[MASS], value[ENERGY],
               e.radiation_erg, e.escaped_erg, error[1], value[MOMENTUM],
               p.radiation[0], p.escaped[0], value[WALLS], error[0]);
}

/* ---- checkpoints -------------------------------------------------------- */

/* What it saves of a cell, beside the state of the radiation. */
struct row {
    double generator[3];
    gas q;
};

static void save(struct host *host, const char *name)
{
    char path[256];
    struct head head = host->run;
    struct row *rows = array(n_cells(host), sizeof *rows);
    must(storm_sum_reduce(host->context, head.walls, 3));
    for (size_t i = 0; i < n_cells(host); i++) {
        must(storm_mesh_generator(host->mesh, (storm_cell_idx)i,
                                  rows[i].generator));
        memcpy(rows[i].q, host->gas[i], sizeof(gas));
    }
    snprintf(path, sizeof path, "%s-%" PRIu64, name, host->run.step);
    struct checkpoint_host mine = {&head, sizeof head, rows, sizeof *rows};
    checkpoint_write(host->context, path, host->mesh, host->imc, host->engine,
                     &mine);
    free(rows);
}

/* ---- life --------------------------------------------------------------- */

static void open_mesh(struct host *host, double *points, uint64_t n,
                      const storm_cell_id *tags)
{
    const struct storm_voronoi_params voronoi = {
        .size = sizeof voronoi,
        .hi_cm = {box_cm, box_cm, box_cm},
        .points_cm = points,
        .n_points = n,
        .tags = tags,
        .lloyd = tags == NULL ? 5 : 0}; /* those of a file are as they were */
    must(storm_mesh_create_voronoi(host->context, &voronoi, &host->mesh));
    must(storm_cut_create(host->mesh, &host->gas_cut));
    must(storm_cut_create(host->mesh, &host->packet_cut));
}

/* The host updates matter, which moves. Opacities are of the kind of free-free
 * absorption and of electrons. Walls are open: packets escape. */
static void open_radiation(struct host *host)
{
    struct storm_engine_params engine = STORM_ENGINE_PARAMS_INIT;
    const struct storm_region everywhere = {.material = 0};
    const double no_max = STORM_UNLIMITED;
    const struct storm_material matter = {
        .absorption = {290.0, .t_exp = -0.5, .rho_exp = 2.0, .max = 300.0},
        .scattering = {0.4, .rho_exp = 1.0, .max = no_max},
        .heat_capacity = {heat_erg_g_kev, .rho_exp = 1.0, .max = no_max}};
    const struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                          .light_cm_s = light_cm_s,
                                          .radiation_erg_cm3_kev4 =
                                              a_erg_cm3_kev4,
                                          .hi_cm = {box_cm, box_cm, box_cm},
                                          .materials = &matter,
                                          .n_materials = 1,
                                          .regions = &everywhere,
                                          .n_regions = 1,
                                          .n_groups = 1,
                                          .emit_per_cell = 20,
                                          .max_per_cell = 20,
                                          .matter_by_host = true,
                                          .motion = true,
                                          .seed = 1};
    must(storm_imc_create(host->context, host->mesh, &problem, &host->imc));
    engine.record_bytes = storm_imc_record_bytes(host->imc);
    must(storm_engine_create(host->context, &engine, &host->engine));
    must(storm_imc_attach(host->imc, host->engine));
    for (int d = 0; d < 3; d++)
        must(storm_sum_begin(&host->run.walls[d], max_g * light_cm_s));
}

/* A ball of 5 keV, a cloud, thin gas around them; all at rest. */
static void begin(struct host *host)
{
    double *kev = array(n_cells(host), sizeof *kev);
    host->gas = array(n_cells(host), sizeof(gas));
    for (size_t i = 0; i < n_cells(host); i++) {
        double x[3];
        storm_mesh_centre(host->mesh, (storm_cell_idx)i, x);
        bool ball = hypot(x[0] - 3.5, hypot(x[1] - 5.0, x[2] - 5.0)) < 1.5;
        bool cloud = hypot(x[0] - 7.0, hypot(x[1] - 5.0, x[2] - 5.0)) < 1.2;
        double rho = ball ? 1.0 : cloud ? 5.0 : 0.05, t = ball ? 5.0 : 0.1;
        host->gas[i][MASS] = rho * volume_cm3(host, i);
        host->gas[i][ENERGY] = heat_erg_g_kev * t * host->gas[i][MASS];
    }
    give(host);
    must(storm_imc_get(host->imc, host->engine, STORM_IMC_TEMPERATURE, kev));
    must(storm_imc_set_start(host->imc, kev)); /* radiation is in equilibrium */
    must(storm_imc_start(host->imc, host->engine));
    free(kev);
}

static void start(struct host *host, uint64_t n)
{
    uint64_t first = checkpoint_share(host->context, n, 0);
    uint64_t end = checkpoint_share(host->context, n, 1);
    const struct storm_points_params points = {
        .size = sizeof points,
        .seed = 1,
        .n_total = n,
        .hi_cm = {box_cm, box_cm, box_cm}};
    double *x = array(end - first, 3 * sizeof *x);
    must(storm_points_make(&points, first, end - first, x));
    open_mesh(host, x, end - first, NULL);
    open_radiation(host);
    begin(host);
    host->run.dt_s = first_dt_s;
    free(x);
}

/* The mesh needs the generators before there is radiation to be loaded. No cell
 * has come or gone: tags are 0, 1, ... in order. */
static void load(struct host *host, const char *path)
{
    struct head head;
    struct checkpoint file;
    checkpoint_open(host->context, path, &head, sizeof head, &file);
    double *x = array(file.n, 3 * sizeof *x);
    storm_cell_id *tags = array(file.n, sizeof *tags);
    for (size_t i = 0; i < file.n; i++) {
        const struct row *row = checkpoint_row(&file, i);
        tags[i] = file.first + i;
        memcpy(&x[3 * i], row->generator, sizeof row->generator);
    }
    open_mesh(host, x, file.n, tags);
    open_radiation(host);
    struct row *rows = array(n_cells(host), sizeof *rows);
    checkpoint_load(&file, host->mesh, host->imc, host->engine, rows);
    host->gas = array(n_cells(host), sizeof(gas));
    for (size_t i = 0; i < n_cells(host); i++)
        memcpy(host->gas[i], rows[i].q, sizeof(gas));
    storm_engine_set_step(host->engine, head.step);
    if (storm_context_rank(host->context) > 0) /* sums are of all ranks */
        memcpy(head.walls, host->run.walls, sizeof head.walls);
    host->run = head;
    free(x);
    free(tags);
    free(rows);
}

static const char *option(int argc, char **argv, const char *name,
                          const char *normal)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, strlen(name)) == 0)
            return &argv[i][strlen(name)];
    return normal;
}

int main(int argc, char **argv)
{
    struct host host = {.run = {.step = 0}};
    MPI_Init(&argc, &argv);
    uint64_t cells = strtoull(option(argc, argv, "cells=", "300"), NULL, 10);
    uint64_t steps = strtoull(option(argc, argv, "steps=", "12"), NULL, 10);
    uint64_t every = strtoull(option(argc, argv, "every=", "1"), NULL, 10);
    const char *file = option(argc, argv, "save=", NULL);
    const char *from = option(argc, argv, "load=", NULL);
    must(storm_context_create(MPI_COMM_WORLD, NULL, &host.context));
    if (from != NULL)
        load(&host, from);
    else
        start(&host, cells);
    if (storm_context_rank(host.context) == 0)
        printf("# step time mass; energy of gas, radiation, escaped, error; "
               "momentum of gas, radiation, escaped, to walls, error\n");
    report(&host);
    while (host.run.step < steps) {
        use(&host, host.packet_cut);
        radiate(&host);
        use(&host, host.gas_cut);
        advance_gas(&host);
        move(&host);
        host.run.step++;
        host.run.time_s += host.run.dt_s;
        choose_dt(&host);
        report(&host);
        if (file != NULL && every > 0 && host.run.step % every == 0)
            save(&host, file);
    }
    uint64_t hash;
    give(&host);
    must(storm_imc_hash(host.imc, host.engine, &hash));
    if (storm_context_rank(host.context) == 0)
        printf("energy closes to %.1e, momentum to %.1e; hash %016" PRIx64 "\n",
               host.error[1], host.error[0], hash);
    storm_engine_destroy(host.engine);
    storm_imc_destroy(host.imc);
    storm_mesh_destroy(host.mesh); /* and its cuts */
    free(host.gas);
    free(host.state);
    free(host.ghosts);
    storm_context_destroy(host.context);
    MPI_Finalize();
    return !(host.error[0] < 1e-13 && host.error[1] < 1e-13);
}
