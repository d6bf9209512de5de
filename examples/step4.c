/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Step 4: the bundled physics in a program of your own.
 *
 *   cc step4.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * A blackbody heats a cold slab from the left: implicit Monte Carlo. In the
 * middle the program saves what a host would write to its restart files. A
 * second set of objects loads that, continues, and ends with the same hash.
 *
 * What to see: a problem; the objects it needs, and the order in which they are
 * created; fields of the cells; state and packets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/imc.h>
#include <storm/streaming.h>

enum { N_X = 20, N_YZ = 4, N_CELLS = N_X * N_YZ * N_YZ };
enum { N_STEPS = 10, N_SAVED = 5 /* steps before the state is saved */ };
static const double dt_s = 1e-11;

/* The max of a power law must be set: zero is no default there. */
static const struct storm_material foam = {
    .absorption = {.coef = 5.0, .t_exp = -1.0, .max = 100.0},
    .heat_capacity = {.coef = 1e15, .max = STORM_UNLIMITED},
    .temperature_kev = 0.1,
    .radiation_temperature_kev = -1.0, /* the same */
};
static const struct storm_region everywhere = {.material = 0};
static const double one_kev[] = {0.0, 1.0}; /* time, temperature */
static const struct storm_wall_part hot = {
    .kind = STORM_WALL_BLACKBODY,
    .temperature = {one_kev, 1},
    .stop_s = STORM_UNLIMITED,
    .packets = 2000,
};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

/* Walls: hot at low x, mirrors in y and z; at high x there is none: vacuum. */
static struct storm_problem slab(void)
{
    struct storm_problem problem = STORM_PROBLEM_INIT;
    problem.light_cm_s = 2.99792458e10;
    problem.radiation_erg_cm3_kev4 = 1.3720172e14;
    problem.hi_cm[0] = problem.hi_cm[1] = problem.hi_cm[2] = 1.0;
    problem.materials = &foam;
    problem.n_materials = 1;
    problem.regions = &everywhere;
    problem.n_regions = 1;
    problem.walls[0] = (struct storm_wall){&hot, 1};
    for (int wall = 2; wall < STORM_N_WALLS; wall++)
        problem.walls[wall] = (struct storm_wall){&mirror, 1};
    problem.n_groups = 1; /* grey */
    problem.emit_per_cell = 10;
    problem.min_per_cell = 4;
    problem.max_per_cell = 40;
    problem.comb = true;
    problem.seed = 1;
    return problem;
}

struct host {
    struct storm_context *context; /* of the caller */
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
};

static storm_status open_host(struct host *host)
{
    struct storm_problem problem = slab(); /* copied by storm_imc_create */
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    memcpy(cart.hi_cm, problem.hi_cm, sizeof cart.hi_cm);
    cart.n[0] = N_X;
    cart.n[1] = cart.n[2] = N_YZ;
    storm_status status =
        storm_mesh_create_cart(host->context, &cart, &host->mesh);
    if (status >= 0)
        status =
            storm_imc_create(host->context, host->mesh, &problem, &host->imc);
    if (status < 0)
        return status;
    /* The comb limits the number of packets of a cell. What it rounds off
     * counts as absorbed, so that no energy is lost. */
    struct storm_comb_params comb = STORM_COMB_PARAMS_INIT;
    comb.seed = problem.seed;
    comb.n_min = problem.min_per_cell;
    comb.n_max = problem.max_per_cell;
    comb.remainder = storm_imc_deposit;
    comb.limit = storm_imc_max_packets;
    comb.remainder_self = comb.limit_self = host->imc;
    status = storm_comb_create(host->context, &comb, &host->comb);
    status = storm_context_agree(host->context, status);

    struct storm_engine_params engine = STORM_ENGINE_PARAMS_INIT;
    engine.record_bytes = sizeof(struct storm_packet);
    if (status >= 0)
        status = storm_engine_create(host->context, &engine, &host->engine);
    if (status >= 0)
        status = storm_imc_attach(host->imc, host->engine);
    if (status >= 0)
        status = storm_comb_attach(host->comb, host->engine);
    return storm_context_agree(host->context, status);
}

/* The engine borrows the others: it is the first to go. */
static void close_host(struct host *host)
{
    storm_engine_destroy(host->engine);
    storm_comb_destroy(host->comb);
    storm_imc_destroy(host->imc);
    storm_mesh_destroy(host->mesh);
}

static storm_status run_steps(struct host *host, int first, int end)
{
    storm_status status = STORM_OK;
    for (int step = first; step < end && status >= 0; step++) {
        status = storm_imc_set_step(host->imc, step * dt_s, dt_s);
        if (status >= 0)
            status = storm_engine_step(host->engine);
    }
    return storm_context_agree(host->context, status);
}

/* What a rank would write: its cells, its packets, and the accounts of all. */
struct saved {
    struct storm_imc_layout layout;
    double *cells;
    int64_t *accounts;
    struct storm_packet *packets;
    size_t n_packets;
};

static storm_status save(struct host *host, struct saved *saved)
{
    void *const *packets =
        storm_engine_packets(host->engine, &saved->n_packets);
    storm_status status = storm_imc_state_layout(host->imc, &saved->layout);
    size_t n_cells = (size_t)storm_mesh_n_cells(host->mesh);
    size_t n_words = saved->layout.n_accounts * saved->layout.account_words;
    saved->cells =
        calloc(n_cells * saved->layout.cell_values + 1, sizeof(double));
    saved->accounts = calloc(n_words + 1, sizeof(int64_t));
    saved->packets = calloc(saved->n_packets + 1, sizeof(struct storm_packet));
    if (!saved->cells || !saved->accounts || !saved->packets)
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(host->context, status);
    if (status < 0)
        return status;
    for (size_t i = 0; i < saved->n_packets; i++)
        memcpy(&saved->packets[i], packets[i], sizeof(struct storm_packet));
    return storm_imc_save_state(host->imc, saved->cells, saved->accounts);
}

static storm_status start(struct host *host, struct saved *saved)
{
    storm_status status = storm_imc_start(host->imc, host->engine);
    status = storm_context_agree(host->context, status);
    if (status >= 0)
        status = run_steps(host, 0, N_SAVED);
    return status >= 0 ? save(host, saved) : status;
}

/* In place of storm_imc_start. Here every rank loads what it has saved; it
 * could as well be other ranks, with the rows of their own cells. */
static storm_status load(struct host *host, const struct saved *saved)
{
    storm_status status = storm_imc_load_state(host->imc, saved->layout.version,
                                               saved->cells, saved->accounts);
    for (size_t i = 0; i < saved->n_packets && status >= 0; i++)
        status = storm_engine_add(host->engine, &saved->packets[i]);
    storm_engine_set_step(host->engine, N_SAVED);
    return storm_context_agree(host->context, status);
}

struct result {
    double sum[2];  /* over the cells: temperature, deposited energy */
    double balance; /* relative error of the energy accounts */
    uint64_t hash;
};

static storm_status results(struct host *host, struct result *result)
{
    double kev[N_CELLS], deposited_erg[N_CELLS], energy_erg[4];
    storm_status status =
        storm_imc_get(host->imc, host->engine, STORM_IMC_TEMPERATURE, kev);
    if (status >= 0)
        status = storm_imc_get(host->imc, host->engine, STORM_IMC_DEPOSITED,
                               deposited_erg);
    for (int i = 0; i < storm_mesh_n_cells(host->mesh) && status >= 0; i++) {
        result->sum[0] += kev[i];
        result->sum[1] += deposited_erg[i];
    }
    status = storm_context_agree(host->context, status);
    if (status >= 0)
        status = storm_context_reduce(host->context, result->sum, 2, MPI_DOUBLE,
                                      MPI_SUM);
    if (status >= 0)
        status = storm_imc_balance(host->imc, host->engine, energy_erg,
                                   &result->balance);
    if (status >= 0)
        status = storm_imc_hash(host->imc, host->engine, &result->hash);
    return status;
}

/* From the start, or from what was saved if there is something. */
static storm_status run(struct host *host, struct saved *saved,
                        struct result *result)
{
    storm_status status = open_host(host);
    if (status >= 0)
        status = saved->cells ? load(host, saved) : start(host, saved);
    if (status >= 0)
        status = run_steps(host, N_SAVED, N_STEPS);
    return status >= 0 ? results(host, result) : status;
}

int main(int argc, char **argv)
{
    struct storm_context *context = NULL;
    struct saved saved = {.layout = STORM_IMC_LAYOUT_INIT};
    struct result a = {0}, b = {0};
    MPI_Init(&argc, &argv);
    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    for (int i = 0; i < 2 && status >= 0; i++) {
        struct host host = {.context = context};
        status = run(&host, &saved, i == 0 ? &a : &b);
        close_host(&host);
    }
    double error = a.balance + b.balance;
    int failed = status < 0 || a.hash != b.hash || error > 1e-12;
    if (status >= 0 && storm_context_rank(context) == 0)
        printf("step4: %d steps, mean temperature %.4f keV, last step deposits "
               "%.4e erg, hash %016" PRIx64 ", after restart %016" PRIx64 "\n",
               N_STEPS, a.sum[0] / N_CELLS, a.sum[1], a.hash, b.hash);
    free(saved.cells);
    free(saved.accounts);
    free(saved.packets);
    storm_context_destroy(context);
    MPI_Finalize();
    return failed;
}
