/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60 */
/* TEST ranks: 1 2 5; timeout: 60; label: long */
/*
 * MESH-14 on octrees: random refinement and coarsening, with random cuts in
 * between, against brute force over all cells: the tree, tags, neighbours' tags
 * and what becomes of each cell. Refine and coarsen again gives the same
 * geometry with new tags. Errors leave the mesh as it was. A mesh that is made
 * again from its leaves and tags, dealt to any ranks in any order, is the same;
 * leaves that are no octree are refused.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>

#include "mesh/mesh_hilbert.h"
#include "mesh/octree/octree_mesh.h"
#include "octree_brute.h"
#include "support/dice.h"

enum { MAX_CELLS = 5000, MAX_LEVEL = 4, DEPTH = 10 };

static const struct storm_octree_params cases[] = {
    OCTREE_CASE(0, 0, 3, .periodic = {false}),
    OCTREE_CASE(0, 1, 2, .periodic = {true, false, true}),
    OCTREE_CASE(1, 0, 3, .periodic = {true, true, true}),
    OCTREE_CASE(3, 0, 3, .n = {2, 1, 3}, .periodic = {true, false, false}),
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* ---- all cells, on every rank ------------------------------------------- */

struct cell {
    uint64_t begin; /* along the curve of level DEPTH */
    struct cube cube;
    storm_cell_id tag;
    bool refine, join;
};

/* In order of the places. */
struct forest {
    const struct storm_octree_params *octree;
    int n;
    struct cell cells[MAX_CELLS];
    storm_cell_id next_tag;
};

static uint64_t begin_of(const struct storm_octree_params *c,
                         const struct cube *cube)
{
    const int32_t n[3] = {octree_roots(c, 0), octree_roots(c, 1),
                          octree_roots(c, 2)};
    return storm_hilbert_tree_position(n, cube->level, cube->ijk)
           << 3 * (DEPTH - cube->level);
}

static int by_begin(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The cell with a place; there is one. */
static const struct cell *cell_at(const struct forest *f, uint64_t begin)
{
    int low = 0, high = f->n;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (f->cells[middle].begin <= begin)
            low = middle;
        else
            high = middle;
    }
    return &f->cells[low];
}

/* Cubes in order; those that were there keep their tags. */
static void forest_fill(struct forest *f, const struct tree *tree,
                        const struct forest *before)
{
    f->octree = tree->octree;
    f->n = tree->n;
    CHECK(f->n <= MAX_CELLS);
    for (int i = 0; i < f->n; i++)
        f->cells[i] =
            (struct cell){.begin = begin_of(f->octree, &tree->cubes[i]),
                          .cube = tree->cubes[i]};
    qsort(f->cells, (size_t)f->n, sizeof *f->cells, by_begin);
    f->next_tag = before->next_tag;
    for (int i = 0; i < f->n; i++) {
        struct cell *cell = &f->cells[i];
        const struct cell *old = cell_at(before, cell->begin);
        bool is_kept = before->n > 0 && old->begin == cell->begin &&
                       old->cube.level == cell->cube.level;
        cell->tag = is_kept ? old->tag : f->next_tag++;
    }
}

/* The mesh has just these cells. */
static void check_cells(const struct storm_mesh *mesh, const struct forest *f)
{
    const struct octree_part *part = octree_part_of(mesh);
    CHECK_EQ(storm_mesh_n_cells_total(mesh), f->n);
    CHECK_EQ(storm_mesh_next_tag(mesh), f->next_tag);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        const struct cell *cell = &f->cells[mesh->part->first + (uint64_t)i];
        struct cube cube = octree_cube(f->octree, mesh, i);
        CHECK(memcmp(&cube, &cell->cube, sizeof cube) == 0);
        CHECK_EQ(storm_mesh_cell_id(mesh, i), cell->tag);
    }
    for (size_t k = 0; k < part->borders.n; k++) {
        const struct storm_border *border = &part->borders.array[k];
        if (border->rank < 0)
            continue;
        uint64_t place = storm_mesh_first_place(mesh, border->rank);
        CHECK_EQ(border->id, f->cells[place + (uint64_t)border->idx].tag);
    }
}

/* ---- change ------------------------------------------------------------- */

static void check_change(const struct storm_mesh *mesh,
                         const struct storm_change *change,
                         const struct forest *before, uint64_t first,
                         const struct forest *after)
{
    static storm_cell_id tags[MAX_CELLS], carried[MAX_CELLS];
    for (storm_cell_idx i = 0; i < storm_change_n_old(change); i++) {
        const struct cell *old = &before->cells[first + (uint64_t)i];
        const struct cell *right = cell_at(after, old->begin);
        struct storm_cell_ref to;
        storm_cell_fate fate = storm_change_to(change, i, &to);
        uint64_t place = storm_mesh_first_place(mesh, to.rank);
        CHECK(to.idx >= 0);
        CHECK_EQ(after->cells[place + (uint64_t)to.idx].tag, right->tag);
        CHECK_EQ(fate == STORM_CELL_KEPT, right->tag == old->tag);
        tags[i] = old->tag;
    }
    CHECK_OK(storm_mesh_carry(mesh, change, sizeof *tags, tags, carried));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        struct storm_cell_ref from;
        storm_cell_id tag = storm_mesh_cell_id(mesh, i);
        bool is_kept = storm_change_from(change, i, &from);
        CHECK_EQ(is_kept, tag < before->next_tag);
        CHECK_EQ(carried[i], is_kept ? tag : 0);
    }
}

/* Eight cells from i on that are all of a parent. */
static bool is_family(const struct forest *f, int i)
{
    const struct cell *cells = &f->cells[i];
    int level = cells->cube.level;
    if (i + 8 > f->n || level == 0 || cells->begin >> 3 * (DEPTH - level) & 7)
        return false;
    for (int k = 1; k < 8; k++)
        if (cells[k].cube.level != level)
            return false;
    return true;
}

/* A function of tags, so the same on any number of ranks. */
static void choose(struct forest *f, uint64_t seed, unsigned refine,
                   unsigned join)
{
    for (int i = 0; i < f->n; i++) {
        struct cell *cell = &f->cells[i];
        cell->join = false;
        cell->refine = cell->cube.level < MAX_LEVEL &&
                       dice_mix(cell->tag * 77 + seed) % 100 < refine;
    }
    for (int i = 0; i < f->n; i++) {
        bool is_free = is_family(f, i) &&
                       dice_mix(f->cells[i].tag * 99 + seed) % 100 < join;
        for (int k = 0; k < 8 && is_free; k++)
            is_free = !f->cells[i + k].refine;
        for (int k = 0; k < 8 && is_free; k++)
            f->cells[i + k].join = true;
    }
}

/* The smallest balanced tree of what was chosen. */
static void predict(const struct forest *f, struct tree *tree)
{
    tree->octree = f->octree;
    tree->n = 0;
    for (int i = 0; i < f->n; i++) {
        struct cube cube = f->cells[i].cube;
        if (f->cells[i].join) {
            cube.level--;
            for (int d = 0; d < 3; d++)
                cube.ijk[d] /= 2;
            i += 7;
        }
        tree->cubes[tree->n++] = cube;
        if (f->cells[i].refine)
            tree_cut(tree, tree->n - 1);
    }
    tree_balance(tree);
}

/* Cells that were to be joined: how many were, and how many balance kept. */
static int n_joined, n_held;

static void count_joins(const struct forest *before, const struct forest *f)
{
    for (int i = 0; i < before->n; i++) {
        const struct cell *cell = &before->cells[i];
        bool is_kept = cell_at(f, cell->begin)->tag == cell->tag;
        n_joined += cell->join && !is_kept;
        n_held += cell->join && is_kept;
    }
}

static void adapt(struct storm_mesh *mesh, struct forest *f)
{
    static storm_cell_idx refine[MAX_CELLS], join[MAX_CELLS];
    static struct tree tree;
    static struct forest before;
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    uint64_t first = mesh->part->first;
    params.refine = refine;
    params.remove = join;
    /* downwards: the order does not matter */
    for (storm_cell_idx i = storm_mesh_n_cells(mesh) - 1; i >= 0; i--) {
        if (f->cells[first + (uint64_t)i].refine)
            refine[params.n_refine++] = i;
        if (f->cells[first + (uint64_t)i].join)
            join[params.n_remove++] = i;
    }
    before = *f;
    predict(&before, &tree);
    forest_fill(f, &tree, &before);
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    check_cells(mesh, f);
    check_change(mesh, change, &before, first, f);
    count_joins(&before, f);
    storm_change_destroy(change);
}

/* Another partition, which the next refinement keeps to; every third time all
 * cells but few are on one rank. */
static void recut(struct storm_mesh *mesh, struct storm_cut *cut, uint64_t seed)
{
    static uint64_t weight[MAX_CELLS];
    struct storm_change *change;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        storm_cell_id tag = storm_mesh_cell_id(mesh, i);
        uint64_t dice = dice_mix(tag + 1000 * seed);
        weight[i] = seed % 3 == 2 ? dice % 50 == 0 : dice % 10;
    }
    storm_cut_set(cut, weight);
    CHECK_OK(storm_mesh_use(mesh, cut, &change));
    storm_change_destroy(change);
}

static void forest_open(struct forest *f, const struct storm_mesh *mesh,
                        const struct storm_octree_params *octree)
{
    static struct tree tree;
    static const struct forest none;
    tree.octree = octree;
    tree.n = 0;
    for (int32_t i = 0; i < octree_roots(octree, 0); i++)
        for (int32_t j = 0; j < octree_roots(octree, 1); j++)
            for (int32_t k = 0; k < octree_roots(octree, 2); k++)
                tree.cubes[tree.n++] = (struct cube){0, {i, j, k}};
    for (int i = 0; i < tree.n;) {
        if (octree_asks(octree, &tree.cubes[i]))
            tree_cut(&tree, i);
        else
            i++;
    }
    tree_balance(&tree);
    forest_fill(f, &tree, &none);
    check_cells(mesh, f);
}

/* ---- made again from leaves --------------------------------------------- */

struct given {
    int64_t leaves[MAX_CELLS][STORM_OCTREE_LEAF];
    storm_cell_id tags[MAX_CELLS];
    struct storm_octree_params params;
};

/* The leaves that are dealt to this rank, in the order of the dice; a mesh of
 * its own has no wish for levels. */
static void given_fill(struct given *g, const struct storm_mesh *mesh,
                       const struct forest *f, uint64_t seed)
{
    uint64_t n = 0;
    for (int i = 0; i < f->n; i++) {
        int k = (int)((uint64_t)i * 4799 % (uint64_t)f->n); /* a prime */
        const struct cell *cell = &f->cells[f->n > 4799 ? i : k];
        if ((int)(dice_mix(cell->tag + seed) % 7) % mesh->env->size !=
            mesh->env->rank)
            continue;
        g->leaves[n][0] = cell->cube.level;
        for (int d = 0; d < 3; d++)
            g->leaves[n][1 + d] = cell->cube.ijk[d];
        g->tags[n++] = cell->tag;
    }
    g->params = *f->octree;
    g->params.level = g->params.refine_levels = 0;
    g->params.leaves = &g->leaves[0][0];
    g->params.n_leaves = n;
    g->params.tags = g->tags;
    g->params.next_tag = f->next_tag;
}

static void check_restored(struct storm_context *context,
                           const struct storm_mesh *mesh,
                           const struct forest *f, uint64_t seed)
{
    static struct given given;
    struct storm_mesh *again;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        const struct cube *cube =
            &f->cells[mesh->part->first + (uint64_t)i].cube;
        int64_t leaf[STORM_OCTREE_LEAF];
        CHECK_OK(storm_octree_leaf(mesh, i, leaf));
        CHECK_EQ(leaf[0], cube->level);
        for (int d = 0; d < 3; d++)
            CHECK_EQ(leaf[1 + d], cube->ijk[d]);
    }
    given_fill(&given, mesh, f, seed);
    CHECK_OK(storm_mesh_create_octree(context, &given.params, &again));
    check_cells(again, f);
    CHECK(!storm_mesh_is_in_order(again));
    storm_mesh_destroy(again);
    if (seed > 0)
        return;
    given.params.tags = NULL; /* places, as in a new mesh */
    CHECK_OK(storm_mesh_create_octree(context, &given.params, &again));
    CHECK(storm_mesh_is_in_order(again));
    CHECK_EQ(storm_mesh_next_tag(again), f->n);
    CHECK_EQ(storm_mesh_n_cells_total(again), f->n);
    storm_mesh_destroy(again);
}

static void check_sequence(struct storm_context *context,
                           const struct storm_octree_params *octree, int i_case)
{
    enum { ROUNDS = 8 };
    static struct forest f;
    struct storm_mesh *mesh;
    struct storm_cut *cut;
    CHECK_OK(storm_mesh_create_octree(context, octree, &mesh));
    CHECK_OK(storm_cut_create(mesh, &cut));
    forest_open(&f, mesh, octree);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        check_where("case %d, round %d, %d cells", i_case, (int)round, f.n);
        choose(&f, round, round % 3 == 0 ? 6 : 1, round % 3 == 0 ? 10 : 60);
        adapt(mesh, &f);
        if (round % 2 == 0)
            recut(mesh, cut, round);
        check_cells(mesh, &f);
        double now, then;
        CHECK_OK(storm_cut_imbalance(cut, &now, &then));
        if (round > 0)
            CHECK(now == then); /* it goes by the weights */
        if (round % 4 == 0)
            check_restored(context, mesh, &f, round);
    }
    for (int k = 0; k < 12 && f.n > 1; k++) { /* down to the roots */
        choose(&f, 0, 0, 100);
        adapt(mesh, &f);
    }
    CHECK_EQ(f.n, octree_roots(octree, 0) * octree_roots(octree, 1) *
                      octree_roots(octree, 2));
    storm_cut_destroy(cut);
    storm_mesh_destroy(mesh);
}

/* ---- there and back ----------------------------------------------------- */

static void check_undone(struct storm_context *context)
{
    static struct forest f, before;
    static const struct storm_octree_params octree =
        OCTREE_CASE(0, 1, 2, .periodic = {false, true, true});
    struct storm_mesh *mesh;
    CHECK_OK(storm_mesh_create_octree(context, &octree, &mesh));
    forest_open(&f, mesh, &octree);
    before = f;
    for (int i = 0; i < f.n; i++)
        f.cells[i].refine = f.cells[i].cube.level == 3;
    adapt(mesh, &f);
    CHECK(f.n > before.n);
    for (int i = 0; i < f.n; i++)
        f.cells[i].join = f.cells[i].tag >= before.next_tag;
    adapt(mesh, &f);
    CHECK_EQ(f.n, before.n);
    for (int i = 0; i < f.n; i++) {
        CHECK(memcmp(&f.cells[i].cube, &before.cells[i].cube,
                     sizeof f.cells[i].cube) == 0);
        if (f.cells[i].cube.level == 3) /* others were cut by balance */
            CHECK(f.cells[i].tag != before.cells[i].tag);
    }
    storm_mesh_destroy(mesh);
}

/* ---- errors ------------------------------------------------------------- */

static int n_errors;

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *text)
{
    (void)self, (void)rank, (void)text;
    n_errors += level == STORM_LOG_ERROR;
}

/* `here`: this rank's lists are what is wrong. */
static void check_refused(struct storm_mesh *mesh, const struct forest *f,
                          const struct storm_adapt_params *params, bool here)
{
    struct storm_change *change = NULL;
    uint64_t generation = storm_mesh_generation(mesh);
    n_errors = 0;
    CHECK_EQ(storm_mesh_adapt(mesh, params, &change),
             here ? STORM_ERR_ARG : STORM_ERR_PEER);
    CHECK_EQ(n_errors, here);
    CHECK(change == NULL);
    CHECK_EQ(storm_mesh_generation(mesh), generation);
    check_cells(mesh, f);
}

/* Seven of eight, on whichever ranks: an error on all. */
static void check_incomplete(struct storm_mesh *mesh, const struct forest *f)
{
    storm_cell_idx join[8];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change = NULL;
    int family = f->n / 2;
    while (!is_family(f, family))
        family++;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        int64_t place = (int64_t)mesh->part->first + i;
        if (place > family && place < family + 8)
            join[params.n_remove++] = i;
    }
    params.remove = join;
    n_errors = 0;
    CHECK_EQ(storm_mesh_adapt(mesh, &params, &change), STORM_ERR_ARG);
    CHECK_EQ(n_errors, mesh->env->rank == 0);
    check_cells(mesh, f);
}

static void check_errors(struct storm_context *context)
{
    static struct forest f;
    static const struct storm_octree_params octree =
        OCTREE_CASE(0, 1, 2, .periodic = {false});
    struct storm_mesh *mesh;
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    bool here = storm_context_rank(context) == storm_context_size(context) - 1;
    CHECK_OK(storm_mesh_create_octree(context, &octree, &mesh));
    forest_open(&f, mesh, &octree);
    const storm_cell_idx twice[2] = {0, 0}, none = storm_mesh_n_cells(mesh);
    params.refine = twice;
    params.n_refine = here ? 2 : 0;
    check_refused(mesh, &f, &params, here);
    params.n_refine = here;
    params.remove = twice; /* in both lists */
    params.n_remove = here;
    check_refused(mesh, &f, &params, here);
    params.n_remove = 0;
    params.refine = &none;
    check_refused(mesh, &f, &params, here);
    params.n_refine = 0;
    params.n_add = here;
    struct storm_change *change = NULL;
    CHECK_EQ(storm_mesh_adapt(mesh, &params, &change),
             here ? STORM_ERR_NOSUP : STORM_ERR_PEER);
    check_incomplete(mesh, &f);
    storm_mesh_destroy(mesh);
}

/* What is done to the first leaf of a rank that has some. */
enum wrong {
    WRONG_NONE,
    WRONG_LEVEL,
    WRONG_OUTSIDE,
    WRONG_MISSING,
    WRONG_TWICE,
    WRONG_PARENT,
    WRONG_TAG,
    WRONG_LARGE_TAG,
    WRONG_NEXT_TAG,
    WRONG_NO_TAGS,
    WRONG_END
};

static void given_spoil(struct given *g, enum wrong wrong)
{
    int64_t *leaf = g->leaves[0];
    if (wrong == WRONG_LEVEL)
        leaf[0] = 1000;
    if (wrong == WRONG_OUTSIDE)
        leaf[2] = -1;
    if (wrong == WRONG_MISSING)
        g->params.n_leaves--;
    if (wrong == WRONG_TWICE)
        memcpy(leaf, g->leaves[1], sizeof g->leaves[1]);
    if (wrong == WRONG_PARENT) {
        leaf[0]--;
        for (int d = 1; d < STORM_OCTREE_LEAF; d++)
            leaf[d] /= 2;
    }
    if (wrong == WRONG_TAG)
        g->tags[0] = g->tags[1];
    if (wrong == WRONG_LARGE_TAG)
        g->tags[0] = UINT64_C(1) << 48;
    if (wrong == WRONG_NEXT_TAG)
        g->params.next_tag = (UINT64_C(1) << 48) + 1;
}

static void check_leaves(struct storm_context *context)
{
    static struct forest f;
    static struct given given;
    static const struct storm_octree_params octree =
        OCTREE_CASE(0, 1, 2, .periodic = {true, false, false});
    struct storm_mesh *mesh, *again = NULL;
    int rank = storm_context_rank(context), size = storm_context_size(context);
    CHECK_OK(storm_mesh_create_octree(context, &octree, &mesh));
    forest_open(&f, mesh, &octree);
    for (int wrong = WRONG_NONE; wrong < WRONG_END; wrong++) {
        check_where("leaves, error %d", wrong);
        given_fill(&given, mesh, &f, 0);
        CHECK(given.params.n_leaves > 2);
        if (rank == size - 1)
            given_spoil(&given, (enum wrong)wrong);
        if (wrong == WRONG_NO_TAGS && rank == 0)
            given.params.tags = NULL;
        n_errors = 0;
        storm_status status =
            storm_mesh_create_octree(context, &given.params, &again);
        CHECK_OK(storm_context_reduce(context, &n_errors, 1, MPI_INT, MPI_SUM));
        if (wrong == WRONG_NONE || (wrong == WRONG_NO_TAGS && size == 1)) {
            CHECK_OK(status);
            storm_mesh_destroy(again);
            continue;
        }
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        CHECK(n_errors >= 1);
    }
    storm_mesh_destroy(mesh);
}

/* Two roots of which one is whole, and the other has cells of level 2 next to
 * it: they fill the box, but are not balanced. */
static void check_unbalanced(struct storm_context *context)
{
    enum { N = 1 + 7 + 8 };
    int64_t leaves[N][STORM_OCTREE_LEAF] = {{0, 1, 0, 0}};
    struct storm_octree_params params = {.size = sizeof params,
                                         .hi_cm = {2, 1, 1},
                                         .n = {2, 1, 1},
                                         .leaves = &leaves[0][0]};
    struct storm_mesh *mesh = NULL;
    int n = 1;
    for (int level = 1; level <= 2; level++)
        for (int k = 0; k < 8; k++) {
            if (level == 1 && k == 1) /* (1, 0, 0) is cut */
                continue;
            leaves[n][0] = level;
            for (int d = 0; d < 3; d++)
                leaves[n][1 + d] =
                    (k >> d & 1) + (level == 2 && d == 0 ? 2 : 0);
            n++;
        }
    CHECK_EQ(n, N);
    params.n_leaves = storm_context_rank(context) == 0 ? N : 0;
    n_errors = 0;
    CHECK(storm_mesh_create_octree(context, &params, &mesh) < 0);
    CHECK_OK(storm_context_reduce(context, &n_errors, 1, MPI_INT, MPI_SUM));
    CHECK_EQ(n_errors, 1);
}

/* The first and the deepest level; a mesh of one cell. */
static void check_ends(struct storm_context *context)
{
    const struct storm_octree_params octree = {.size = sizeof octree,
                                               .hi_cm = {1, 1, 1}};
    const storm_cell_idx zero = 0;
    struct storm_mesh *mesh;
    struct storm_change *change;
    CHECK_OK(storm_mesh_create_octree(context, &octree, &mesh));
    for (int level = 0; level <= STORM_OCTREE_MAX_LEVEL; level++) {
        struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
        bool is_first = mesh->part->first == 0 && mesh->part->n_cells > 0;
        params.refine = params.remove = &zero;
        params.n_remove = is_first && level == 0;
        if (level == 0)
            CHECK(storm_mesh_adapt(mesh, &params, &change) < 0);
        params.n_remove = 0;
        params.n_refine = is_first;
        storm_status status = storm_mesh_adapt(mesh, &params, &change);
        CHECK_EQ(status >= 0, level < STORM_OCTREE_MAX_LEVEL);
        if (status >= 0)
            storm_change_destroy(change);
    }
    storm_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params quiet = {.size = sizeof quiet,
                                         .log = count_errors};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &context));
    for (int i = 0; i < N_CASES; i++)
        check_sequence(context, &cases[i], i);
    CHECK(n_joined > 100 && n_held > 100);
    check_where("undone");
    check_undone(context);
    check_where("errors");
    check_errors(context);
    check_leaves(context);
    check_where("unbalanced leaves");
    check_unbalanced(context);
    check_where("ends");
    check_ends(context);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
