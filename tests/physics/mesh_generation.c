/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; timeout: 60 */
/*
 * CENSUS-1: objects notice that their mesh was partitioned anew under them.
 * Every call is then STORM_ERR_STATE with one message that names the remedy;
 * storm_imc_follow moves the state of an implicit Monte Carlo object, free
 * streaming follows in its next step; the state is the same afterwards. Rank 0
 * gets nearly all cells at first, then nearly none: so accesses out of bounds
 * are far out. CENSUS-3: nor do packets pass that were not remapped after cells
 * have moved.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/mesh.h>
#include <storm/remap.h>
#include <storm/streaming.h>
#include <storm/voronoi.h>

#include "bench/bench_kernel.h"
#include "support/check.h"
#include "support/cuts.h"
#include "support/dice.h"

enum { SIDE = 6, N_CELLS = SIDE * SIDE * SIDE };

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    int n_errors;          /* logged on this rank */
    const char *must_name; /* in each of them */
};

static void world_log(void *self, storm_log_level level, int rank,
                      const char *message)
{
    struct world *world = self;
    (void)rank;
    /* The engine adds where the callback failed. */
    if (level != STORM_LOG_ERROR || strstr(message, " failed in step ") != NULL)
        return;
    world->n_errors++;
    CHECK(strstr(message, "storm_imc_follow: ") == message ||
          strstr(message, "changed since") != NULL ||
          strstr(message, "cells have moved ") != NULL);
    CHECK(strstr(message, world->must_name) != NULL);
}

static void world_open(struct world *world)
{
    struct storm_context_params params = {
        .size = sizeof params, .log = world_log, .log_self = world};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {SIDE, SIDE, SIDE}};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &world->context));
    CHECK_OK(storm_mesh_create_cart(world->context, &cart, &world->mesh));
    CHECK_EQ(storm_mesh_generation(world->mesh), 0);
}

static void world_close(struct world *world)
{
    storm_mesh_destroy(world->mesh);
    storm_context_destroy(world->context);
}

/* Nearly all cells to the first rank, or to the last. */
static struct storm_change *world_change(struct world *world, bool to_first)
{
    uint64_t weight[N_CELLS + 1] = {0}, before;
    storm_cell_idx n = storm_mesh_n_cells(world->mesh);
    for (storm_cell_idx i = 0; i < n; i++) {
        storm_cell_id id = storm_mesh_cell_id(world->mesh, i);
        weight[i] = id == (to_first ? N_CELLS - 1 : 0);
    }
    before = storm_mesh_generation(world->mesh);
    struct storm_change *change = cut_change(world->mesh, weight);
    CHECK_EQ(storm_mesh_generation(world->mesh), before + 1);
    return change;
}

static void world_recut(struct world *world, bool to_first)
{
    storm_change_destroy(world_change(world, to_first));
}

/* The call fails, with exactly one message. */
#define CHECK_STALE(_world, _call)                 \
    do {                                           \
        int _before = (_world)->n_errors;          \
        CHECK((_call) == STORM_ERR_STATE);         \
        CHECK_EQ((_world)->n_errors - _before, 1); \
    } while (0)

/* ---- implicit Monte Carlo ----------------------------------------------- */

static const struct storm_material material = {
    .name = "matter",
    .absorption = {.coef = 2, .max = 1e12},
    .heat_capacity = {.coef = 1, .max = 1e12},
    .temperature_kev = 0.5,
    .radiation_temperature_kev = -1};
static const struct storm_region region = {.material = 0};
static const struct storm_problem problem = {
    STORM_PROBLEM_SIZES,    .light_cm_s = 1,        .radiation_erg_cm3_kev4 = 1,
    .hi_cm = {1, 1, 1},     .materials = &material, .n_materials = 1,
    .regions = &region,     .n_regions = 1,         .n_groups = 1,
    .emit_per_cell = 3,     .min_per_cell = 1,      .max_per_cell = 4,
    .steer_by_error = true, .comb = true,           .seed = 1};

struct matter {
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
};

static void matter_step(struct matter *matter, int i)
{
    CHECK_OK(storm_imc_set_step(matter->imc, 0.1 * i, 0.1));
    CHECK_OK(storm_engine_step(matter->engine));
}

static void matter_open(struct matter *matter, struct world *world)
{
    CHECK_OK(storm_imc_create(world->context, world->mesh, &problem,
                              &matter->imc));
    struct storm_comb_params comb = {.size = sizeof comb,
                                     .n_min = problem.min_per_cell,
                                     .n_max = problem.max_per_cell,
                                     .remainder = storm_imc_deposit,
                                     .remainder_self = matter->imc,
                                     .limit = storm_imc_max_packets,
                                     .limit_self = matter->imc};
    struct storm_engine_params engine = {
        .size = sizeof engine, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_comb_create(world->context, &comb, &matter->comb));
    CHECK_OK(storm_engine_create(world->context, &engine, &matter->engine));
    CHECK_OK(storm_imc_attach(matter->imc, matter->engine));
    CHECK_OK(storm_comb_attach(matter->comb, matter->engine));
    CHECK_OK(storm_imc_start(matter->imc, matter->engine));
    matter_step(matter, 0);
}

static void matter_close(struct matter *matter)
{
    storm_engine_destroy(matter->engine);
    storm_comb_destroy(matter->comb);
    storm_imc_destroy(matter->imc);
}

static uint64_t matter_hash(struct matter *matter)
{
    uint64_t hash;
    CHECK_OK(storm_imc_hash(matter->imc, matter->engine, &hash));
    return hash;
}

/* All calls on a stale object. */
static void matter_check_stale(struct matter *matter, struct world *world)
{
    struct storm_imc *imc = matter->imc;
    struct storm_engine *engine = matter->engine;
    double values[N_CELLS], energy[4], error;
    uint64_t hash;
    for (int f = STORM_IMC_TEMPERATURE; f <= STORM_IMC_OUTSIDE; f++)
        CHECK_STALE(world,
                    storm_imc_get(imc, engine, (storm_imc_field)f, values));
    CHECK_STALE(world, storm_imc_hash(imc, engine, &hash));
    CHECK_STALE(world, storm_imc_balance(imc, engine, energy, &error));
    CHECK_STALE(world, storm_imc_start(imc, engine));
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    CHECK_OK(storm_imc_state_layout(imc, &layout));
    double *cells = calloc(N_CELLS * layout.cell_values, sizeof *cells);
    int64_t *accounts =
        calloc(layout.n_accounts * layout.account_words, sizeof *accounts);
    CHECK(cells != NULL && accounts != NULL);
    CHECK_STALE(world, storm_imc_save_state(imc, cells, accounts));
    CHECK_STALE(world,
                storm_imc_load_state(imc, layout.version, cells, accounts));
    free(cells);
    free(accounts);
    uint64_t weight[N_CELLS];
    CHECK_STALE(world,
                storm_imc_weights(imc, engine, STORM_IMC_BY_EVENTS, weight));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(world->mesh); i++) {
        CHECK(storm_imc_material(imc, i) == STORM_OUTSIDE);
        CHECK_EQ(storm_imc_max_packets(imc, i), problem.max_per_cell);
        storm_imc_deposit(imc, i, 1.0);
    }
}

/* By the events of the last step. */
static struct storm_change *matter_recut(struct matter *matter,
                                         struct world *world)
{
    uint64_t weight[N_CELLS + 1];
    CHECK_OK(storm_imc_weights(matter->imc, matter->engine, STORM_IMC_BY_EVENTS,
                               weight));
    return cut_change(world->mesh, weight);
}

/* Changes that the object cannot follow: none is lost by trying. Ranks have as
 * many cells before as afterwards. */
static void check_wrong(struct world *world, struct matter *a)
{
    uint64_t hash = matter_hash(a), weight[N_CELLS + 1] = {0};
    struct storm_change *to_first = world_change(world, true);
    CHECK_OK(storm_imc_follow(a->imc, to_first));
    world->must_name = "not the first"; /* once is enough */
    CHECK_STALE(world, storm_imc_follow(a->imc, to_first));
    storm_change_destroy(to_first);
    CHECK_EQ(matter_hash(a), hash);

    struct storm_change *equal = cut_change(world->mesh, weight);
    struct storm_change *none = cut_change(world->mesh, weight);
    CHECK_STALE(world, storm_imc_follow(a->imc, none));
    CHECK_OK(storm_imc_follow(a->imc, equal));
    CHECK_OK(storm_imc_follow(a->imc, none));
    CHECK_EQ(matter_hash(a), hash);
    storm_change_destroy(none);
    storm_change_destroy(equal);

    struct storm_change *first = world_change(world, true);
    struct storm_change *second = world_change(world, false);
    world->must_name = "changed again";
    CHECK_STALE(world, storm_imc_follow(a->imc, first));
    world->must_name = "not the first";
    CHECK_STALE(world, storm_imc_follow(a->imc, second));
    world->must_name = "storm_imc_follow";
    storm_change_destroy(second);
    storm_change_destroy(first);
}

/* Two objects on one mesh follow one after the other. Packets of the first are
 * remapped, those of the second are found by their tags in the next step. */
static void check_imc(void)
{
    struct world world = {.must_name = "storm_imc_follow"};
    struct storm_change *change;
    struct matter a, b;
    world_open(&world);
    matter_open(&a, &world);
    matter_open(&b, &world);
    uint64_t hash = matter_hash(&a);
    CHECK_EQ(matter_hash(&b), hash);
    for (int i = 0; i < 2; i++) {
        change = world_change(&world, i == 0);
        matter_check_stale(&a, &world);
        CHECK_OK(storm_imc_follow(a.imc, change));
        CHECK_EQ(matter_hash(&a), hash);
        CHECK_OK(storm_remap(a.engine, world.mesh, change, NULL, NULL));
        CHECK_EQ(matter_hash(&a), hash);
        matter_check_stale(&b, &world);
        CHECK_OK(storm_imc_follow(b.imc, change));
        CHECK_EQ(matter_hash(&b), hash);
        storm_change_destroy(change);
    }
    change = matter_recut(&a, &world);
    CHECK_OK(storm_imc_follow(a.imc, change));
    matter_check_stale(&b, &world);
    CHECK_OK(storm_imc_follow(b.imc, change));
    CHECK_OK(storm_remap(a.engine, world.mesh, change, NULL, NULL));
    storm_change_destroy(change);
    matter_step(&a, 1);
    matter_step(&b, 1);
    CHECK_EQ(matter_hash(&a), matter_hash(&b));
    CHECK(matter_hash(&a) != hash);

    check_wrong(&world, &a);
    CHECK_OK(storm_imc_set_step(a.imc, 0.2, 0.1));
    CHECK_STALE(&world, storm_engine_step(a.engine));
    matter_close(&b);
    matter_close(&a);
    world_close(&world);
}

/* ---- free streaming ----------------------------------------------------- */

struct light {
    struct storm_streaming *streaming;
    struct storm_engine *engine;
};

static void light_open(struct light *light, struct world *world,
                       uint64_t emit_per_cell)
{
    struct storm_streaming_params params = {.size = sizeof params,
                                            .seed = 1,
                                            .speed_cm_s = 1.0,
                                            .dt_s = 0.1,
                                            .emit_per_cell = emit_per_cell};
    struct storm_engine_params engine = {
        .size = sizeof engine, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_streaming_create(world->context, world->mesh, &params,
                                    &light->streaming));
    CHECK_OK(storm_engine_create(world->context, &engine, &light->engine));
    CHECK_OK(storm_streaming_attach(light->streaming, light->engine));
    CHECK_OK(storm_engine_step(light->engine));
}

static void light_close(struct light *light)
{
    storm_engine_destroy(light->engine);
    storm_streaming_destroy(light->streaming);
}

static void check_streaming(void)
{
    struct world world = {.must_name = "next step"};
    struct light light, same;
    double energy[4], error, speed;
    uint64_t hash, other;
    world_open(&world);
    light_open(&light, &world, 3);
    light_open(&same, &world, 3);
    world_recut(&world, true);
    CHECK_STALE(&world,
                storm_streaming_hash(light.streaming, light.engine, &hash));
    CHECK_STALE(&world, storm_streaming_balance(light.streaming, light.engine,
                                                energy, &error));
    CHECK_STALE(&world,
                storm_bench_kernel(light.streaming, light.engine, 0.0, &speed));
    CHECK(storm_streaming_energy_density(light.streaming) == NULL);
    CHECK_OK(storm_engine_step(light.engine));
    CHECK_OK(storm_streaming_hash(light.streaming, light.engine, &hash));
    CHECK(storm_streaming_energy_density(light.streaming) != NULL);
    world_recut(&world, false);
    CHECK_OK(storm_engine_step(same.engine));
    CHECK_OK(storm_streaming_hash(same.streaming, same.engine, &other));
    CHECK_EQ(hash, other);
    light_close(&same);
    light_close(&light);
    world_close(&world);
}

/* CENSUS-3: packets left behind by a motion; after a cut they are found. */
static void check_left(bool cuts)
{
    struct world world = {.must_name = "remap"};
    struct light light, empty;
    struct storm_change *change;
    double points[N_CELLS][3];
    struct storm_voronoi_params params = {
        .size = sizeof params, .hi_cm = {1, 1, 1}, .points_cm = &points[0][0]};
    world_open(&world);
    int rank = storm_context_rank(world.context);
    storm_mesh_destroy(world.mesh);
    for (int i = 0; i < 20 && rank == 0; i++, params.n_points++)
        for (int d = 0; d < 3; d++)
            points[i][d] =
                (double)(dice_mix((uint64_t)(3 * i + d)) >> 11) * 0x1p-53;
    CHECK_OK(storm_mesh_create_voronoi(world.context, &params, &world.mesh));
    light_open(&light, &world, 3);
    light_open(&empty, &world, 0); /* without packets nothing is left */
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(world.mesh); i++) {
        CHECK_OK(storm_mesh_generator(world.mesh, i, points[i]));
        points[i][0] = 1.0 - points[i][0];
    }
    CHECK_OK(storm_mesh_move(world.mesh, &points[0][0], NULL, &change));
    if (cuts) { /* its remap does not make up for the other */
        uint64_t weight[N_CELLS] = {1};
        storm_change_destroy(change);
        change = cut_change(world.mesh, weight);
        CHECK_EQ(storm_remap(light.engine, world.mesh, change, NULL, NULL),
                 STORM_ERR_STATE);
        CHECK_EQ(world.n_errors, rank == 0);
        world.n_errors = 0;
    }
    CHECK_OK(storm_remap(empty.engine, world.mesh, change, NULL, NULL));
    CHECK_OK(storm_engine_step(empty.engine));
    CHECK_EQ(world.n_errors, 0);
    storm_change_destroy(change);
    CHECK_EQ(storm_engine_step(light.engine), STORM_ERR_STATE);
    CHECK_EQ(world.n_errors, rank == 0);
    light_close(&empty);
    light_close(&light);
    world_close(&world);
}

/* ---- polyhedra ---------------------------------------------------------- */

static void check_polyhedra(void)
{
    struct world world = {.must_name = "storm_polyhedra_open"};
    struct storm_polyhedra *polyhedra;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    world_open(&world);
    CHECK_OK(storm_polyhedra_open(world.mesh, &polyhedra));
    world_recut(&world, true);
    CHECK_STALE(&world, storm_polyhedra_build(polyhedra, 0, &p));
    storm_polyhedra_close(polyhedra);
    world_close(&world);
}

/* ---- during a step ------------------------------------------------------ */

struct inside {
    struct world *world;
    bool to_first;
    struct storm_change *change;
};

static storm_status inject(void *self, struct storm_step *step)
{
    struct inside *inside = self;
    (void)step;
    storm_change_destroy(inside->change);
    inside->change = world_change(inside->world, inside->to_first);
    return STORM_OK;
}

/* No packet is transported after that, and the step fails. */
static void check_inside(void)
{
    struct world world = {.must_name = "its mesh"};
    struct inside inside = {.world = &world, .to_first = true};
    struct storm_boundary boundary = {
        .size = sizeof boundary, .self = &inside, .inject = inject};
    struct light light;
    struct matter matter;
    world_open(&world);
    matter_open(&matter, &world);
    light_open(&light, &world, 3);
    CHECK_OK(storm_engine_use(light.engine, NULL, &boundary, NULL));
    CHECK_STALE(&world, storm_engine_step(light.engine));
    CHECK_OK(storm_imc_follow(matter.imc, inside.change));
    matter_step(&matter, 1);
    inside.to_first = false;
    CHECK_OK(storm_engine_use(matter.engine, NULL, &boundary, NULL));
    CHECK_OK(storm_imc_set_step(matter.imc, 0.2, 0.1));
    CHECK_STALE(&world, storm_engine_step(matter.engine));
    storm_change_destroy(inside.change);
    light_close(&light);
    matter_close(&matter);
    world_close(&world);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_imc();
    check_streaming();
    check_left(false);
    check_left(true);
    check_polyhedra();
    check_inside();
    MPI_Finalize();
    return CHECK_PASS;
}
