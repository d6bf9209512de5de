/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm; timeout: 60 */
/* TEST ranks: 5; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 3; backend: ofi-tcp; timeout: 60; label: slow-asan */
/*
 * storm_remap of an application's records by its accessors: each goes to the
 * cell of its position, on whichever rank; positions outside go to the
 * boundary, which may put them back, or are an error without one; nothing is
 * dropped and nothing else in the
 * records changes. What is refused leaves the engine and its step numbers as
 * they were.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/remap.h>

#include "support/cuts.h"
#include "support/dice.h"

enum { N_RECORDS = 3000, SIDE = 6, N_CELLS = SIDE * SIDE * SIDE };

/* Not a multiple of the parts it consists of, and the position not in front. */
struct record {
    uint32_t number, scratch;
    storm_cell_id cell;
    double x[3];
    char text[20];
    storm_cell_idx idx;
};

static double *get_position(void *record)
{
    return ((struct record *)record)->x;
}

static storm_cell_idx *get_idx(void *record)
{
    return &((struct record *)record)->idx;
}

static storm_cell_id *get_cell(void *record)
{
    return &((struct record *)record)->cell;
}

static uint32_t *get_scratch(void *record)
{
    return &((struct record *)record)->scratch;
}

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_engine *engine;
    int rank;
    uint64_t step;      /* that the physics has seen last */
    uint64_t n_outside; /* that the boundary has seen */
    int n_errors;       /* logged on this rank */
};

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)packet;
    ((struct world *)self)->step = storm_step_number(step);
    outcome->fate = STORM_FATE_CENSUS;
}

/* Beyond the upper walls: absorbed. Beyond the lower: put back, with an answer
 * and in a state that other boundaries may leave it in. */
static void put_back(void *self, struct storm_step *step, void *packet,
                     struct storm_outcome *outcome)
{
    struct record *record = packet;
    (void)step;
    static const storm_fate fates[] = {STORM_FATE_CONTINUE, STORM_FATE_CENSUS,
                                       STORM_FATE_SEND};
    ((struct world *)self)->n_outside++;
    outcome->fate = fates[record->number % 3];
    outcome->rank = 0;
    record->idx = (storm_cell_idx)(record->number % 2) * N_CELLS;
    record->scratch = ~record->number;
    for (int d = 0; d < 3; d++) {
        if (record->x[d] > 1.0)
            outcome->fate = STORM_FATE_ABSORBED;
        record->x[d] = fabs(record->x[d]);
    }
}

static const struct storm_remap_access access = {.size = sizeof access,
                                                 .position_cm = get_position,
                                                 .cell_idx = get_idx,
                                                 .cell = get_cell,
                                                 .scratch = get_scratch};

static void fill_text(uint32_t number, char text[20])
{
    for (int k = 0; k < 20; k++)
        text[k] = (char)(dice_mix(number) >> k);
}

/* A function of the number and the round alone. */
static void make_position(uint32_t number, int round, double x[3])
{
    struct dice dice = dice_make((uint64_t)round, number);
    for (int d = 0; d < 3; d++) {
        x[d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
        switch (dice_roll(&dice, 8)) {
        case 0: /* on a plane */
            x[d] = floor(x[d] * SIDE) / SIDE;
            break;
        case 1:
            x[d] = dice_roll(&dice, 2) ? 1.0 : 0.0;
            break;
        case 2:
            if (round == 2)
                x[d] = dice_roll(&dice, 2) ? 1.0 + x[d] / 8 : -x[d];
            break;
        default:
            break;
        }
    }
}

/* What put_back makes of it; false: it is absorbed. */
static bool final_position(uint32_t number, int round, double x[3])
{
    bool stays = true;
    make_position(number, round, x);
    for (int d = 0; d < 3; d++) {
        stays = stays && x[d] <= 1.0;
        x[d] = fabs(x[d]);
    }
    return stays;
}

static void add_records(struct world *w)
{
    storm_cell_idx n = storm_mesh_n_cells(w->mesh);
    int size = storm_context_size(w->context);
    for (uint32_t i = (uint32_t)w->rank; i < N_RECORDS; i += (uint32_t)size) {
        struct record record = {.number = i, .scratch = 77};
        record.idx = (storm_cell_idx)(i % (uint32_t)n);
        fill_text(i, record.text);
        CHECK_OK(storm_engine_add(w->engine, &record));
    }
}

static void set_positions(struct world *w, int round)
{
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n; i++) {
        struct record *record = packets[i];
        make_position(record->number, round, record->x);
    }
}

static struct storm_change *recut(struct world *w, uint64_t seed)
{
    uint64_t weight[N_CELLS + 1];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        weight[i] = storm_mesh_cell_id(w->mesh, i) < 61 * (seed + 1) ? 1 : 9;
    return cut_change(w->mesh, weight);
}

static void check_record(const struct world *w, const struct record *record,
                         int round)
{
    double x[3];
    char text[20];
    struct storm_cell_ref where;
    CHECK(final_position(record->number, round, x));
    CHECK(memcmp(x, record->x, sizeof x) == 0);
    fill_text(record->number, text);
    CHECK(memcmp(text, record->text, sizeof text) == 0);
    CHECK_EQ(record->scratch, 0);
    CHECK_OK(storm_mesh_locate(w->mesh, x, &where));
    CHECK_EQ(where.rank, w->rank);
    CHECK_EQ(where.idx, record->idx);
    CHECK_EQ(storm_mesh_cell_id(w->mesh, where.idx), record->cell);
}

/* Every record is somewhere, once. */
static void check_records(const struct world *w, int round)
{
    static int seen[N_RECORDS];
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < n; i++) {
        check_record(w, packets[i], round);
        seen[((const struct record *)packets[i])->number]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, seen, N_RECORDS, MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (uint32_t i = 0; i < N_RECORDS; i++) {
        double x[3];
        CHECK_EQ(seen[i], final_position(i, round, x));
    }
}

static void check_round(struct world *w, int round)
{
    const struct storm_boundary boundary = {
        .size = sizeof boundary, .self = w, .apply = put_back};
    const struct storm_remap_params params = {
        .size = sizeof params, .access = &access, .boundary = &boundary};
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    struct storm_change *change = recut(w, (uint64_t)round);
    w->n_outside = 0;
    CHECK_OK(storm_remap(w->engine, w->mesh, change, &params, &stats));
    storm_change_destroy(change);
    check_records(w, round);
    MPI_Allreduce(MPI_IN_PLACE, &w->n_outside, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_EQ(stats.outside, w->n_outside);
    CHECK((w->n_outside > 0) == (round == 2));
}

/* ---- refused ------------------------------------------------------------- */

static void check_refused(struct world *w)
{
    struct storm_remap_params params = STORM_REMAP_PARAMS_INIT;
    struct storm_remap_access part = access;
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    struct storm_boundary boundary = {.apply = put_back};
    struct storm_change *change = recut(w, 1);
    /* records of another size: rank 0 says so, once */
    w->n_errors = 0;
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, NULL, NULL),
             STORM_ERR_ARG);
    CHECK_EQ(w->n_errors, w->rank == 0);
    part.scratch = NULL;
    params.access = &part;
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, NULL),
             STORM_ERR_ARG);
    params.access = &access;
    params.boundary = &boundary; /* without its size */
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, NULL),
             STORM_ERR_ARG);
    params.boundary = NULL;
    /* of one rank alone */
    int last = storm_context_size(w->context) - 1;
    stats.size = w->rank == last ? 0 : sizeof stats;
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, &stats),
             w->rank == last ? STORM_ERR_ARG : STORM_ERR_PEER);
    struct storm_change *later = recut(w, 0);
    if (last > 0)
        CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, NULL),
                 STORM_ERR_STATE);
    storm_change_destroy(later);
    storm_change_destroy(change);
}

/* After all that it is step 5 that comes, wherever there are records. */
static void check_step(struct world *w)
{
    w->step = 5;
    CHECK_OK(storm_engine_step(w->engine));
    CHECK_EQ(w->step, 5);
}

/* A record outside, and nobody to take it: it cannot be dropped. */
static void check_outside(struct world *w)
{
    struct storm_remap_params params = {.size = sizeof params,
                                        .access = &access};
    struct record record = {.number = 0, .x = {0.5, 0.5, 1.5}};
    if (w->rank == 0)
        CHECK_OK(storm_engine_add(w->engine, &record));
    struct storm_change *change = recut(w, 0);
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, NULL),
             w->rank == 0 ? STORM_ERR_ARG : STORM_ERR_PEER);
    storm_change_destroy(change);
}

/* A cell index that there was not ends the engine, on all ranks. */
static void check_bad_index(struct world *w)
{
    struct storm_remap_params params = {.size = sizeof params,
                                        .access = &access};
    struct record record = {.number = 0, .idx = N_CELLS};
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n; i++)
        ((struct record *)packets[i])->idx = 0;
    if (w->rank == 0)
        CHECK_OK(storm_engine_add(w->engine, &record));
    struct storm_change *change = recut(w, 9);
    CHECK_EQ(storm_remap(w->engine, w->mesh, change, &params, NULL),
             w->rank == 0 ? STORM_ERR_ARG : STORM_ERR_PEER);
    storm_change_destroy(change);
}

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *message)
{
    (void)rank, (void)message;
    ((struct world *)self)->n_errors += level == STORM_LOG_ERROR;
}

int main(int argc, char **argv)
{
    struct world w = {.step = 0};
    struct storm_context_params context = {
        .size = sizeof context, .log = count_errors, .log_self = &w};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {SIDE, SIDE, SIDE}};
    struct storm_physics physics = {
        .size = sizeof physics, .self = &w, .step = stay};
    struct storm_engine_params params = {.size = sizeof params,
                                         .record_bytes = sizeof(struct record),
                                         .physics = &physics};
    _Static_assert(sizeof(struct record) % 16 == 0, "a record of the engine");
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &context, &w.context));
    w.rank = storm_context_rank(w.context);
    CHECK_OK(storm_mesh_create_cart(w.context, &cart, &w.mesh));
    CHECK_OK(storm_engine_create(w.context, &params, &w.engine));
    add_records(&w);
    storm_engine_set_step(w.engine, 5);
    for (int round = 0; round < 3; round++) {
        check_where("round %d, rank %d", round, w.rank);
        set_positions(&w, round);
        check_round(&w, round);
    }
    check_refused(&w);
    check_step(&w);
    check_bad_index(&w);
    storm_engine_destroy(w.engine);
    CHECK_OK(storm_engine_create(w.context, &params, &w.engine));
    check_outside(&w);
    storm_engine_destroy(w.engine);
    storm_mesh_destroy(w.mesh);
    storm_context_destroy(w.context);
    MPI_Finalize();
    return CHECK_PASS;
}
