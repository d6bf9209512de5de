/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: shm mpirma; timeout: 60 */
/*
 * With transport.connect: neighbours a rank has a route to every rank that owns
 * a neighbour of one of its cells before the first packet is sent there; with
 * lazy it has none without packets until there is a new partition, and then
 * those. Streaming and implicit Monte Carlo alike.
 */
#include <stdlib.h>

#include <storm/imc.h>

#include "problem.h"
#include "support/cuts.h"

enum { MAX_RANKS = 16 };

static bool has_route(const struct storm_engine *engine, int wanted)
{
    int rank;
    uint64_t packets;
    for (size_t i = 0;
         storm_engine_traffic(engine, i, &rank, &packets) == STORM_OK; i++)
        if (rank == wanted)
            return true;
    return false;
}

/* Ranks that own a neighbour of a cell of this rank. */
static int find_neighbours(const struct storm_mesh *mesh, int self,
                           bool is_neighbour[MAX_RANKS])
{
    int n = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            if (face.rank < 0 || face.rank == self || is_neighbour[face.rank])
                continue;
            is_neighbour[face.rank] = true;
            n++;
        }
    return n;
}

/* Routes to all present and former neighbours, or to none. */
static void check_routes(const struct storm_engine *engine,
                         const bool expected[MAX_RANKS], int size)
{
    for (int rank = 0; rank < size; rank++)
        CHECK_EQ(has_route(engine, rank), expected[rank]);
}

/* Nearly all cells to the last rank: others become its neighbours. */
static void recut(struct storm_mesh *mesh)
{
    uint64_t weight[480];
    storm_cell_idx n = storm_mesh_n_cells(mesh);
    CHECK(n <= 480);
    for (storm_cell_idx i = 0; i < n; i++)
        weight[i] = 1000 >> (storm_mesh_cell_id(mesh, i) / 48);
    cut_mesh(mesh, weight);
}

static void check_streaming(bool neighbours)
{
    struct problem p = problem_default();
    bool expected[MAX_RANKS] = {false};
    p.streaming_params.emit_per_cell = 0;
    problem_open(&p, MPI_COMM_WORLD);
    int rank = storm_context_rank(p.context);
    int size = storm_context_size(p.context);
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(storm_engine_step(p.engine));
        if (neighbours || turn > 0)
            CHECK(find_neighbours(p.mesh, rank, expected) > 0 || turn > 0 ||
                  size == 1);
        check_routes(p.engine, expected, size);
        recut(p.mesh);
    }
    problem_close(&p);
}

/* Cold, transparent and closed: nothing is emitted. */
static void check_imc(bool neighbours)
{
    static const struct storm_material material = {
        .name = "cold",
        .absorption = {.coef = 1, .max = 1},
        .heat_capacity = {.coef = 1, .max = 1},
        .radiation_temperature_kev = -1};
    static const struct storm_region region = {.material = 0};
    const struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                          .light_cm_s = 1,
                                          .radiation_erg_cm3_kev4 = 1,
                                          .hi_cm = {10, 8, 6},
                                          .materials = &material,
                                          .n_materials = 1,
                                          .regions = &region,
                                          .n_regions = 1,
                                          .n_groups = 1,
                                          .max_per_cell = 1};
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {10, 8, 6}, .n = {10, 8, 6}};
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_engine *engine;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    CHECK_OK(storm_imc_create(context, mesh, &problem, &imc));
    struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_engine_create(context, &params, &engine));
    CHECK_OK(storm_imc_attach(imc, engine));
    CHECK_OK(storm_imc_start(imc, engine));
    CHECK_OK(storm_imc_set_step(imc, 0.0, 1e-3));
    CHECK_OK(storm_engine_step(engine));
    bool expected[MAX_RANKS] = {false};
    if (neighbours)
        find_neighbours(mesh, storm_context_rank(context), expected);
    check_routes(engine, expected, storm_context_size(context));
    storm_engine_destroy(engine);
    storm_imc_destroy(imc);
    storm_mesh_destroy(mesh);
    storm_context_destroy(context);
}

int main(void)
{
    static const char *const words[] = {"lazy", "neighbours"};
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 2; i++) {
        check_where("connect %s", words[i]);
        setenv("STORM_CONNECT", words[i], 1);
        check_streaming(i == 1);
        check_imc(i == 1);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
