/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; timeout: 150 */
/* TEST ranks: 3; timeout: 300; label: long */
/*
 * Calls on meshes that change when one rank gets no memory, for every
 * allocation of every rank in turn: all ranks return, that rank with
 * STORM_ERR_NOMEM and the others with STORM_ERR_PEER; the mesh is as it was;
 * nothing is left allocated. For a Cartesian mesh, for a Voronoi mesh with tags
 * of its own, and for an octree, which is also made again from its leaves.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/octree.h>
#include <storm/voronoi.h>

#include "base/env.h"
#include "support/check.h"
#include "support/dice.h"

enum { N_CELLS = 5 * 4 * 3, ROW = 13 };

/* ---- memory that runs out ------------------------------------------------ */

static int n_left; /* the allocation that is refused, counted down; 0: none */

void *__real_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes);
void *__wrap_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes);

void *__wrap_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes)
{
    if (n_left > 0 && --n_left == 0)
        return NULL;
    return __real_storm_alloc(memory, label, bytes);
}

storm_status __real_storm_reserve(struct storm_memory *memory,
                                  const char *label, size_t element_bytes,
                                  size_t n_wanted, void **array_inout,
                                  size_t *capacity_inout);
storm_status __wrap_storm_reserve(struct storm_memory *memory,
                                  const char *label, size_t element_bytes,
                                  size_t n_wanted, void **array_inout,
                                  size_t *capacity_inout);

storm_status __wrap_storm_reserve(struct storm_memory *memory,
                                  const char *label, size_t element_bytes,
                                  size_t n_wanted, void **array_inout,
                                  size_t *capacity_inout)
{
    if (n_wanted > *capacity_inout && n_left > 0 && --n_left == 0)
        return STORM_ERR_NOMEM;
    return __real_storm_reserve(memory, label, element_bytes, n_wanted,
                                array_inout, capacity_inout);
}

/* ---- calls --------------------------------------------------------------- */

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_cut *cut, *other; /* only the first is used */
    struct storm_change *change;
    bool moves; /* and is refined */
    bool is_octree;
    storm_cell_id removed; /* next */
    char local[N_CELLS * ROW], rows[N_CELLS * ROW];
};

static storm_status call_create(struct world *w)
{
    struct storm_cut *cut;
    storm_status status = storm_cut_create(w->mesh, &cut);
    if (status == STORM_OK)
        storm_cut_destroy(cut);
    return status;
}

static storm_status call_imbalance(struct world *w)
{
    double now, then;
    return storm_cut_imbalance(w->cut, &now, &then);
}

static uint64_t weigh(void *self, storm_cell_idx cell)
{
    const struct world *w = self;
    uint64_t id = storm_mesh_cell_id(w->mesh, cell);
    return storm_mesh_generation(w->mesh) % 2 ? 1 : id * id;
}

/* Another partition each time. */
static storm_status call_use(struct world *w)
{
    storm_cut_fill(w->cut, weigh, w);
    return storm_mesh_use(w->mesh, w->cut, &w->change);
}

/* The partition that it has. */
static storm_status call_use_again(struct world *w)
{
    return storm_mesh_use(w->mesh, w->cut, &w->change);
}

static storm_status call_carry(struct world *w)
{
    return storm_mesh_carry(w->mesh, w->change, ROW, w->local, w->rows);
}

static storm_status call_n_ghosts(struct world *w)
{
    storm_cell_idx n;
    return storm_mesh_n_ghosts(w->mesh, &n);
}

static storm_status call_ghosts(struct world *w)
{
    storm_cell_idx n;
    storm_status status = storm_mesh_n_ghosts(w->mesh, &n);
    if (status < 0)
        return status;
    char *ghosts = malloc((size_t)n * ROW + 1);
    CHECK(ghosts != NULL);
    status = storm_mesh_ghosts(w->mesh, ROW, w->local, ghosts);
    free(ghosts);
    return status;
}

static storm_status call_find(struct world *w)
{
    storm_cell_id tags[] = {1, N_CELLS - 1, N_CELLS};
    struct storm_cell_ref where[3];
    return storm_mesh_find(w->mesh, 3, tags, where);
}

static storm_status call_rows(struct world *w)
{
    return storm_mesh_rows(w->mesh, ROW, w->local, w->rows);
}

static storm_status call_sized(struct world *w)
{
    size_t sizes[N_CELLS];
    for (size_t i = 0; i < N_CELLS; i++)
        sizes[i] = i % ROW;
    return storm_mesh_rows_sized(w->mesh, sizes, w->local, w->rows);
}

static storm_status call_unrows(struct world *w)
{
    return storm_mesh_unrows(w->mesh, ROW, w->rows, w->local);
}

/* On a mesh that cannot, nothing is asked for. */
static storm_status call_move(struct world *w)
{
    double x[N_CELLS + 1][3];
    if (!w->moves)
        return STORM_OK;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++) {
        CHECK_OK(storm_mesh_generator(w->mesh, i, x[i]));
        x[i][0] = 0.9 * x[i][0] + 0.05;
    }
    return storm_mesh_move(w->mesh, &x[0][0], NULL, &w->change);
}

static const struct storm_octree_params octree = {
    .size = sizeof octree, .hi_cm = {2, 1, 1}, .n = {2, 1, 1}, .level = 1};

/* Cuts a cell, or joins its parts. */
static storm_status adapt_octree(struct world *w)
{
    storm_cell_idx list[N_CELLS];
    struct storm_adapt_params params = {
        .size = sizeof params, .refine = list, .remove = list};
    bool is_cut = storm_mesh_n_cells_total(w->mesh) > 16;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++) {
        int64_t leaf[STORM_OCTREE_LEAF];
        CHECK_OK(storm_octree_leaf(w->mesh, i, leaf));
        if (is_cut && leaf[0] == 2)
            list[params.n_remove++] = i;
        if (!is_cut && leaf[1] == 1 && leaf[2] == 1 && leaf[3] == 0)
            list[params.n_refine++] = i;
    }
    return storm_mesh_adapt(w->mesh, &params, &w->change);
}

/* Makes an octree again. */
static storm_status call_restore(struct world *w)
{
    int64_t leaves[N_CELLS][STORM_OCTREE_LEAF];
    storm_cell_id tags[N_CELLS];
    struct storm_octree_params params = octree;
    struct storm_mesh *mesh;
    if (!w->is_octree)
        return STORM_OK;
    params.leaves = &leaves[0][0];
    params.tags = tags;
    params.n_leaves = (uint64_t)storm_mesh_n_cells(w->mesh);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++) {
        CHECK_OK(storm_octree_leaf(w->mesh, i, leaves[i]));
        tags[i] = storm_mesh_cell_id(w->mesh, i);
    }
    storm_status status = storm_mesh_create_octree(w->context, &params, &mesh);
    if (status == STORM_OK)
        storm_mesh_destroy(mesh);
    return status;
}

/* Removes a cell and adds one. */
static storm_status call_adapt(struct world *w)
{
    storm_cell_idx gone[N_CELLS];
    double x[3];
    struct storm_adapt_params params = {
        .size = sizeof params, .remove = gone, .add_cm = x};
    struct dice dice = dice_make(storm_mesh_next_tag(w->mesh), 0);
    if (w->is_octree)
        return adapt_octree(w);
    if (!w->moves)
        return STORM_OK;
    for (int d = 0; d < 3; d++)
        x[d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        if (storm_mesh_cell_id(w->mesh, i) == w->removed)
            gone[params.n_remove++] = i;
    params.n_add = storm_context_rank(w->context) == 0;
    return storm_mesh_adapt(w->mesh, &params, &w->change);
}

static const struct {
    const char *name;
    storm_status (*call)(struct world *w);
    bool needs_change; /* one that is made before */
    bool keeps;        /* what is allocated belongs to the mesh */
    bool is_kinds; /* is done by the kind of mesh; others on the first alone */
} calls[] = {
    {"create", call_create, false, false, false},
    {"imbalance", call_imbalance, false, false, false},
    {"use", call_use, false, false, true},
    {"use again", call_use_again, false, false, false},
    {"carry", call_carry, true, false, false},
    {"n_ghosts", call_n_ghosts, true, false, false},
    {"ghosts", call_ghosts, true, true, false},
    {"find", call_find, false, false, true},
    {"rows", call_rows, false, false, false},
    {"rows_sized", call_sized, false, false, false},
    {"unrows", call_unrows, false, false, false},
    {"move", call_move, false, false, true},
    {"adapt", call_adapt, false, true, true}, /* ghosts */
    {"restore", call_restore, false, false, true},
};

/* ---- the test ------------------------------------------------------------ */

static size_t bytes_now(const struct world *w)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(w->context, 0, &entry));
    return entry.bytes;
}

/* What must not change when a call fails. */
struct state {
    uint64_t generation, n_total, first;
    storm_cell_idx n_cells;
};

static struct state state_now(const struct world *w)
{
    struct state state;
    memset(&state, 0, sizeof state);
    state.generation = storm_mesh_generation(w->mesh);
    state.n_total = storm_mesh_n_cells_total(w->mesh);
    state.first =
        storm_mesh_first_place(w->mesh, storm_context_rank(w->context));
    state.n_cells = storm_mesh_n_cells(w->mesh);
    return state;
}

/* Refuses the n-th allocation of a rank in a call. Did it come to that? */
static bool check_refused(struct world *w, size_t i, int victim, int n)
{
    int rank = storm_context_rank(w->context);
    struct state state = state_now(w);
    size_t bytes = bytes_now(w);
    n_left = rank == victim ? n : 0;
    storm_status status = calls[i].call(w);
    int refused = rank == victim && n_left == 0;
    n_left = 0;
    MPI_Bcast(&refused, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (!refused) {
        CHECK_OK(status);
        w->removed -= 7; /* if it was */
        return false;
    }
    CHECK_EQ(status, rank == victim ? STORM_ERR_NOMEM : STORM_ERR_PEER);
    struct state after = state_now(w);
    CHECK(memcmp(&after, &state, sizeof state) == 0);
    CHECK(calls[i].keeps || bytes_now(w) == bytes);
    return true;
}

static void check_call(struct world *w, size_t i, int victim)
{
    bool refused = true;
    for (int n = 1; refused; n++) {
        check_where("%s, rank %d, allocation %d", calls[i].name, victim, n);
        if (calls[i].needs_change)
            CHECK_OK(call_use(w));
        refused = check_refused(w, i, victim, n);
        storm_change_destroy(w->change);
        w->change = NULL;
        CHECK(n < 1000);
    }
}

static void silence(void *self, storm_log_level level, int rank,
                    const char *message)
{
    (void)self, (void)level, (void)rank, (void)message;
}

static void make_voronoi(struct world *w)
{
    double points[N_CELLS][3];
    storm_cell_id tags[N_CELLS];
    struct dice dice = dice_make(1, 0);
    bool is_first = storm_context_rank(w->context) == 0;
    for (int i = 0; i < N_CELLS; i++) {
        for (int d = 0; d < 3; d++)
            points[i][d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
        tags[i] = 1000 - 7 * (storm_cell_id)i;
    }
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = &points[0][0],
                                          .n_points = is_first ? N_CELLS : 0,
                                          .tags = is_first ? tags : NULL};
    CHECK_OK(storm_mesh_create_voronoi(w->context, &params, &w->mesh));
    w->moves = true;
    w->removed = 1000;
}

static void check_mesh(struct world *w, bool is_first)
{
    CHECK_OK(storm_cut_create(w->mesh, &w->other));
    CHECK_OK(storm_cut_create(w->mesh, &w->cut));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (int victim = 0; victim < storm_context_size(w->context); victim++)
            if (calls[i].is_kinds || is_first)
                check_call(w, i, victim);
    storm_cut_destroy(w->cut); /* the one in use; the other is the mesh's */
    storm_mesh_destroy(w->mesh);
    CHECK_EQ(bytes_now(w), 0);
}

int main(int argc, char **argv)
{
    static struct world w;
    struct storm_context_params params = {.size = sizeof params,
                                          .log = silence};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {5, 4, 3}, .n = {5, 4, 3}};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &w.context));
    CHECK_OK(storm_mesh_create_cart(w.context, &cart, &w.mesh));
    check_mesh(&w, true);
    make_voronoi(&w);
    check_mesh(&w, false);
    w.moves = false;
    w.is_octree = true;
    CHECK_OK(storm_mesh_create_octree(w.context, &octree, &w.mesh));
    check_mesh(&w, false);
    storm_context_destroy(w.context);
    MPI_Finalize();
    return CHECK_PASS;
}
