/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; args: 5; timeout: 60 */
/* TEST ranks: 1 2 5; args: 100; timeout: 900; label: long */
/*
 * Random sequences of motion, refinement, cuts, steps and restarts of free
 * streaming on a Voronoi mesh have the same bits on any number of ranks, and as
 * a run on one rank without cuts and restarts, also in a partition that a host
 * keeps; so do those of refinement, cuts, steps and restarts on an octree.
 * Energy stays exact. The argument is the number of sequences.
 */
#include <stdio.h>

#include <storm/engine.h>
#include <storm/octree.h>
#include <storm/remap.h>
#include <storm/streaming.h>

#include "moving.h"

enum { N_POINTS = 120, N_OPS = 12, EMIT = 2 };

/* ---- worlds -------------------------------------------------------------- */

struct world {
    MPI_Comm comm;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_streaming *streaming;
    struct storm_engine *engine;
    struct storm_cut *cuts[2];
    int rank, size;
    uint64_t step;          /* next */
    storm_cell_id next_tag; /* that no cell has had, when the mesh is made */
    bool is_periodic, is_octree;
    bool is_hosts; /* the partition is that of the points, and stays */
    storm_cell_id parts_tag; /* octree: tags of the parts of cells that were cut
                                last, from here on; 0: none */
    bool is_alone; /* then partition and restarts are of no interest */
};

static void world_make_physics(struct world *w)
{
    struct storm_streaming_params streaming = {.size = sizeof streaming,
                                               .seed = 4,
                                               .speed_cm_s = 1.0,
                                               .dt_s = 0.3,
                                               .emit_per_cell = EMIT};
    struct storm_engine_params engine = {
        .size = sizeof engine, .record_bytes = sizeof(struct storm_packet)};
    for (int wall = 1; wall < STORM_N_WALLS && !w->is_periodic; wall++)
        streaming.walls[wall] = STORM_WALL_REFLECT;
    CHECK_OK(storm_streaming_create(w->context, w->mesh, &streaming,
                                    &w->streaming));
    CHECK_OK(storm_engine_create(w->context, &engine, &w->engine));
    CHECK_OK(storm_streaming_attach(w->streaming, w->engine));
    storm_engine_set_step(w->engine, w->step);
    for (int i = 0; i < 2; i++)
        CHECK_OK(storm_cut_create(w->mesh, &w->cuts[i]));
}

static void world_make_mesh(struct world *w, size_t n,
                            const struct moving_cell *cells)
{
    struct storm_voronoi_params params = {
        .size = sizeof params, .hi_cm = {1, 1, 1}, .n_points = n};
    double *points = malloc((3 * n + 1) * sizeof *points);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    CHECK(points != NULL && tags != NULL);
    for (size_t i = 0; i < n; i++) {
        memcpy(points + 3 * i, cells[i].x, sizeof cells[i].x);
        tags[i] = cells[i].tag;
    }
    params.points_cm = points;
    params.tags = tags;
    params.next_tag = w->next_tag;
    params.keep_partition = w->is_hosts;
    for (int d = 0; d < 3; d++)
        params.periodic[d] = w->is_periodic;
    CHECK_OK(storm_mesh_create_voronoi(w->context, &params, &w->mesh));
    free(tags);
    free(points);
}

/* A cell of an octree, to restart from. */
struct leaf {
    int64_t numbers[STORM_OCTREE_LEAF];
    storm_cell_id tag;
};

/* From leaves; of none on all ranks: 64 cells. */
static void world_make_octree(struct world *w, size_t n,
                              const struct leaf *leaves)
{
    struct storm_octree_params params = {.size = sizeof params,
                                         .hi_cm = {1, 1, 1},
                                         .level = 2,
                                         .n_leaves = n,
                                         .next_tag = w->next_tag};
    int64_t(*numbers)[STORM_OCTREE_LEAF] = malloc((n + 1) * sizeof *numbers);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    CHECK(numbers != NULL && tags != NULL);
    for (size_t i = 0; i < n; i++) {
        memcpy(numbers[i], leaves[i].numbers, sizeof numbers[i]);
        tags[i] = leaves[i].tag;
    }
    params.leaves = &numbers[0][0];
    params.tags = tags;
    for (int d = 0; d < 3; d++)
        params.periodic[d] = w->is_periodic;
    CHECK_OK(storm_mesh_create_octree(w->context, &params, &w->mesh));
    free(tags);
    free(numbers);
}

static void world_open(struct world *w, MPI_Comm comm, uint64_t seed)
{
    struct moving_cell cells[N_POINTS];
    size_t n = 0;
    *w = (struct world){.comm = comm,
                        .is_alone = comm == MPI_COMM_SELF,
                        .is_periodic = seed % 2,
                        .is_octree = seed % 5 == 4,
                        .is_hosts = seed % 5 == 2};
    CHECK_OK(storm_context_create(comm, NULL, &w->context));
    w->rank = storm_context_rank(w->context);
    w->size = storm_context_size(w->context);
    for (uint64_t i = (uint64_t)w->rank; i < N_POINTS;
         i += (uint64_t)w->size, n++) {
        struct dice dice = dice_make(seed, i);
        cells[n].tag = 7 * i;
        for (int d = 0; d < 3; d++)
            cells[n].x[d] = moving_uniform(&dice);
    }
    w->next_tag = 7 * N_POINTS;
    if (w->is_octree)
        world_make_octree(w, 0, NULL);
    else
        world_make_mesh(w, n, cells);
    world_make_physics(w);
}

static void world_release(struct world *w)
{
    storm_engine_destroy(w->engine);
    storm_streaming_destroy(w->streaming);
    storm_mesh_destroy(w->mesh);
}

static void world_close(struct world *w)
{
    world_release(w);
    storm_context_destroy(w->context);
}

/* ---- what is done -------------------------------------------------------- */

static void remap(struct world *w, struct storm_change *change,
                  struct dice *dice)
{
    struct storm_remap_params params = STORM_REMAP_PARAMS_INIT;
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    params.never_jump = dice_roll(dice, 2);
    params.jump_after = (uint32_t)dice_roll(dice, 3);
    CHECK_OK(storm_remap(w->engine, w->mesh, change, &params, &stats));
    CHECK_EQ(stats.outside, 0);
    storm_change_destroy(change);
}

static void do_step(struct world *w, struct dice *dice)
{
    (void)dice;
    CHECK_OK(storm_engine_step(w->engine));
    w->step++;
}

/* Cuts some cells, or joins those that were cut last: no others have all eight
 * for certain. */
static void do_adapt_octree(struct world *w, struct dice *dice)
{
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    uint64_t seed = dice_word(dice);
    bool is_join = w->parts_tag > 0 && dice_roll(dice, 2);
    storm_cell_idx n = storm_mesh_n_cells(w->mesh);
    storm_cell_idx *list = malloc(((size_t)n + 1) * sizeof *list);
    CHECK(list != NULL);
    params.remove = params.refine = list;
    for (storm_cell_idx i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(w->mesh, i);
        if (is_join && tag >= w->parts_tag)
            list[params.n_remove++] = i;
        if (!is_join && dice_mix(seed ^ tag) % 16 == 0)
            list[params.n_refine++] = i;
    }
    w->parts_tag = is_join ? 0 : storm_mesh_next_tag(w->mesh);
    CHECK_OK(storm_mesh_adapt(w->mesh, &params, &change));
    free(list);
    remap(w, change, dice);
}

static void do_move(struct world *w, struct dice *dice)
{
    if (w->is_octree) {
        do_adapt_octree(w, dice);
        return;
    }
    static const double amounts[] = {0.01, 0.1, 1.0, 10.0};
    struct storm_change *change;
    double by = amounts[dice_roll(dice, 4)];
    uint64_t seed = dice_word(dice);
    double *x =
        malloc((3 * (size_t)storm_mesh_n_cells(w->mesh) + 1) * sizeof *x);
    CHECK(x != NULL);
    moving_random(w->mesh, by / cbrt((double)storm_mesh_n_cells_total(w->mesh)),
                  seed, x);
    CHECK_OK(storm_mesh_move(w->mesh, x, NULL, &change));
    free(x);
    remap(w, change, dice);
}

/* Removes an eighth of the cells, or nearly all, and adds some. */
static void do_adapt(struct world *w, struct dice *dice)
{
    if (w->is_octree) {
        do_adapt_octree(w, dice);
        return;
    }
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    uint64_t seed = dice_word(dice), part = dice_roll(dice, 6) ? 1 : 7;
    uint64_t n_add = dice_roll(dice, N_POINTS / 4) + 1;
    storm_cell_idx n = storm_mesh_n_cells(w->mesh);
    storm_cell_idx *gone = malloc(((size_t)n + 1) * sizeof *gone);
    double *points = malloc(3 * n_add * sizeof *points);
    storm_cell_id *tags = malloc(n_add * sizeof *tags);
    CHECK(gone != NULL && points != NULL && tags != NULL);
    for (storm_cell_idx i = 0; i < n; i++)
        if (dice_mix(seed ^ storm_mesh_cell_id(w->mesh, i)) % 8 < part)
            gone[params.n_remove++] = i;
    for (uint64_t k = (uint64_t)w->rank; k < n_add; k += (uint64_t)w->size) {
        struct dice where = dice_make(seed, k);
        for (int d = 0; d < 3; d++)
            points[3 * params.n_add + (size_t)d] = moving_uniform(&where);
        tags[params.n_add++] = storm_mesh_next_tag(w->mesh) + n_add - k;
    }
    params.remove = gone;
    params.add_cm = points;
    params.add_tags = dice_roll(dice, 2) ? tags : NULL;
    CHECK_OK(storm_mesh_adapt(w->mesh, &params, &change));
    free(tags);
    free(points);
    free(gone);
    remap(w, change, dice);
}

static void do_cut(struct world *w, struct dice *dice)
{
    if (w->is_hosts)
        return; /* it stays */
    struct storm_change *change;
    uint64_t seed = dice_word(dice), which = dice_roll(dice, 2);
    uint64_t kind = dice_roll(dice, 3);
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    uint64_t *weight = malloc((n + 1) * sizeof *weight);
    CHECK(weight != NULL);
    for (size_t i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(w->mesh, (storm_cell_idx)i);
        weight[i] = dice_mix(seed ^ tag) % 100;
        if (kind == 1) /* nearly all cells to few ranks */
            weight[i] = weight[i] == 0;
    }
    if (kind < 2) /* else the weights that it has */
        storm_cut_set(w->cuts[which], weight);
    free(weight);
    CHECK_OK(storm_mesh_use(w->mesh, w->cuts[which], &change));
    remap(w, change, dice);
}

/* ---- restart ------------------------------------------------------------- */

/* Sends an array to the next rank; what comes from the one before. */
static void *pass_on(const struct world *w, const void *array, size_t each,
                     size_t *n_inout)
{
    int to = (w->rank + 1) % w->size, from = (w->rank + w->size - 1) % w->size;
    int out = (int)(*n_inout * each), in;
    MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, w->comm,
                 MPI_STATUS_IGNORE);
    char *received = malloc((size_t)in + 1);
    CHECK(received != NULL);
    MPI_Sendrecv(array, out, MPI_BYTE, to, 0, received, in, MPI_BYTE, from, 0,
                 w->comm, MPI_STATUS_IGNORE);
    *n_inout = (size_t)in / each;
    return received;
}

/* Of a mesh: struct moving_cell, or struct leaf. */
static void *save_cells(const struct world *w, size_t *n_out)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    struct moving_cell *cells = malloc((n + 1) * sizeof *cells);
    struct leaf *leaves = malloc((n + 1) * sizeof *leaves);
    CHECK(cells != NULL && leaves != NULL);
    for (size_t i = 0; i < n; i++) {
        storm_cell_idx cell = (storm_cell_idx)i;
        cells[i].tag = leaves[i].tag = storm_mesh_cell_id(w->mesh, cell);
        if (w->is_octree)
            CHECK_OK(storm_octree_leaf(w->mesh, cell, leaves[i].numbers));
        else
            CHECK_OK(storm_mesh_generator(w->mesh, cell, cells[i].x));
    }
    void *others = w->is_octree ? pass_on(w, leaves, sizeof *leaves, &n)
                                : pass_on(w, cells, sizeof *cells, &n);
    free(leaves);
    free(cells);
    *n_out = n;
    return others;
}

static struct storm_packet *save_packets(const struct world *w, size_t *n_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    struct storm_packet *saved = malloc((n + 1) * sizeof *saved);
    CHECK(saved != NULL);
    for (size_t i = 0; i < n; i++)
        memcpy(&saved[i], packets[i], sizeof saved[i]);
    void *others = pass_on(w, saved, sizeof *saved, &n);
    free(saved);
    *n_out = n;
    return others;
}

/* All but generators or leaves, tags and packets is lost, and all of that comes
 * back on other ranks. Packets find their cells by their tags in the step that
 * follows. */
static void do_restart(struct world *w, struct dice *dice)
{
    if (!w->is_alone) {
        size_t n_cells, n_packets;
        void *cells = save_cells(w, &n_cells);
        struct storm_packet *packets = save_packets(w, &n_packets);
        w->next_tag = storm_mesh_next_tag(w->mesh);
        world_release(w);
        if (w->is_octree)
            world_make_octree(w, n_cells, cells);
        else
            world_make_mesh(w, n_cells, cells);
        world_make_physics(w);
        for (size_t i = 0; i < n_packets; i++) {
            packets[i].cell_idx = -1;
            CHECK_OK(storm_streaming_add(w->streaming, w->engine, &packets[i]));
        }
        free(packets);
        free(cells);
    }
    do_step(w, dice);
}

/* ---- checks -------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*act)(struct world *w, struct dice *dice);
    bool steps;
} ops[] = {
    {"step", do_step, true},       {"move", do_move, false},
    {"adapt", do_adapt, false},    {"cut", do_cut, false},
    {"restart", do_restart, true}, {"step", do_step, true},
};

/* Number of packets and cells, hash of the packets, and of all after a step. */
struct state {
    uint64_t sums[3], hash;
};

static struct state state_of(struct world *w, bool stepped)
{
    struct state state = {.hash = 0};
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    state.sums[0] = n;
    state.sums[1] = (uint64_t)storm_mesh_n_cells(w->mesh);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        state.sums[2] += storm_packet_hash(packet);
        CHECK(packet->cell_idx >= 0);
        CHECK_EQ(storm_mesh_cell_id(w->mesh, packet->cell_idx), packet->cell);
    }
    MPI_Allreduce(MPI_IN_PLACE, state.sums, 3, MPI_UINT64_T, MPI_SUM, w->comm);
    if (stepped) {
        double energy[4], error;
        CHECK_OK(storm_streaming_hash(w->streaming, w->engine, &state.hash));
        CHECK_OK(storm_streaming_balance(w->streaming, w->engine, energy,
                                         &error));
        CHECK(error == 0.0);
    }
    return state;
}

/* What `all` has is what rank 0 has alone. */
static void check_same(struct world *all, struct world *alone, bool stepped)
{
    struct state mine = state_of(all, stepped), right = mine;
    if (all->rank == 0)
        right = state_of(alone, stepped);
    MPI_Bcast(&right, sizeof right, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(mine.sums[i], right.sums[i]);
    CHECK_EQ(mine.hash, right.hash);
}

static void check_sequence(uint64_t seed)
{
    struct world all, alone;
    struct dice dice = dice_make(99, seed);
    world_open(&all, MPI_COMM_WORLD, seed);
    if (all.rank == 0)
        world_open(&alone, MPI_COMM_SELF, seed);
    for (int i = 0; i < N_OPS; i++) {
        uint64_t op = dice_roll(&dice, sizeof ops / sizeof ops[0]);
        struct dice same = dice_make(dice_word(&dice), 0), again = same;
        check_where("sequence %d, operation %d: %s, rank %d", (int)seed, i,
                    ops[op].name, all.rank);
        ops[op].act(&all, &same);
        if (all.rank == 0)
            ops[op].act(&alone, &again);
        check_same(&all, &alone, ops[op].steps);
    }
    if (all.rank == 0)
        world_close(&alone);
    world_close(&all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t seed = 0; seed < n; seed++)
        check_sequence(seed);
    MPI_Finalize();
    return CHECK_PASS;
}
