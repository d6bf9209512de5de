/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leaves of a tree. It is known by its inner nodes, those that are cut in
 * eight, a set of positions for each level:
 *
 *   1. of a new mesh: from the coarsest level down, ask which nodes are to be
 *      cut;
 *   2. from the finest level up, add inner nodes until OCTREE-1 holds: if a
 *      node is inner, all nodes of its level that touch it exist, and so their
 *      parents are inner;
 *   3. leaves are the children of inner nodes that are not inner themselves. So
 *      among the codes of all children and of all inner nodes, they are those
 *      that occur once.
 *
 * After each level the set is sorted and spread over ranks, so that a rank has
 * its share of the work and the memory also where all refinement is in one
 * place. Sets do not depend on how they were spread.
 */
#include "mesh/octree/octree_words.h"

#include <mpi.h>

#include "base/boot.h"

static const char grow_label[] = "mesh tree";

/* A tree by its inner nodes, those that are cut in eight: positions by level,
 * spread over the ranks. */
struct octree_tree {
    int level;     /* all nodes of this level exist */
    int max_level; /* nodes of this level are leaves */
    struct octree_words inner[STORM_OCTREE_MAX_LEVEL + 1];
};

struct octree_grower {
    const struct octree_mesh *mesh;
    const struct storm_octree_params *params; /* of step 1 alone */
    struct octree_tree *tree;
    uint64_t first, end; /* this rank's positions of the start level */
    struct octree_leaves *leaves;
};

static struct octree_grower grow_open(const struct octree_mesh *mesh,
                                      struct octree_tree *tree)
{
    const struct storm_env *env = mesh->base.env;
    uint64_t rank = (uint64_t)env->rank, size = (uint64_t)env->size, n = 1;
    for (int d = 0; d < 3; d++)
        n *= (uint64_t)octree_count(mesh, tree->level, d);
    return (struct octree_grower){.mesh = mesh,
                                  .tree = tree,
                                  .first = n / size * rank,
                                  .end = rank + 1 < size ? n / size * (rank + 1)
                                                         : n};
}

/* ---- refinement --------------------------------------------------------- */

/* Adds a node to the inner ones of its level if it is to be cut. */
static storm_status grow_ask(struct octree_grower *g, struct octree_node node)
{
    const struct octree_mesh *mesh = g->mesh;
    double lo[3], hi[3];
    int32_t ijk[3];
    storm_hilbert_tree_ijk(mesh->n, node.level, node.position, ijk);
    for (int d = 0; d < 3; d++) {
        lo[d] = octree_plane(mesh, node.level, d, ijk[d]);
        hi[d] = octree_plane(mesh, node.level, d, ijk[d] + 1);
    }
    if (!g->params->refine(g->params->refine_self, lo, hi, node.level))
        return STORM_OK;
    return octree_words_add(mesh->base.env, &g->tree->inner[node.level],
                            node.position);
}

/* The nodes of a level that exist: of the start level all, then the children of
 * inner ones. */
static storm_status grow_ask_level(struct octree_grower *g, int level)
{
    storm_status status = STORM_OK;
    struct octree_node node = {.level = level};
    if (level == g->tree->level) {
        for (uint64_t i = g->first; i < g->end && status == STORM_OK; i++) {
            node.position = i;
            status = grow_ask(g, node);
        }
        return status;
    }
    const struct octree_words *parents = &g->tree->inner[level - 1];
    for (size_t i = 0; i < parents->n; i++)
        for (uint64_t w = 0; w < OCTREE_CHILDREN && status == STORM_OK; w++) {
            node.position = OCTREE_CHILDREN * parents->array[i] + w;
            status = grow_ask(g, node);
        }
    return status;
}

/* Step 1. */
static storm_status grow_refine(struct octree_grower *g)
{
    uint64_t n_inner = 1;
    storm_status status = STORM_OK;
    for (int level = g->tree->level;
         level < g->tree->max_level && n_inner > 0 && status >= 0; level++)
        status =
            octree_words_sort(g->mesh->base.context, grow_ask_level(g, level),
                              &g->tree->inner[level], OCTREE_KEEP_ONE,
                              &n_inner);
    return status;
}

/* ---- balance ------------------------------------------------------------ */

/* The parents in direction d of the nodes that touch node i of `level`: at most
 * two, its own first. */
static int grow_parents(const struct octree_mesh *mesh, int level, int d,
                        int32_t i, int32_t parents_out[2])
{
    int32_t n = octree_count(mesh, level - 1, d), own = i >> 1;
    int32_t other = i & 1 ? own + 1 : own - 1;
    parents_out[0] = own;
    if (mesh->periodic[d])
        other = (other + n) % n;
    if (other < 0 || other >= n || other == own)
        return 1;
    parents_out[1] = other;
    return 2;
}

/* Makes the parents of the nodes that touch an inner node of `level` inner. */
static storm_status grow_touch(struct octree_grower *g, int level,
                               uint64_t position)
{
    const struct octree_mesh *mesh = g->mesh;
    int32_t ijk[3], parents[3][2];
    int n[3];
    storm_status status = STORM_OK;
    storm_hilbert_tree_ijk(mesh->n, level, position, ijk);
    for (int d = 0; d < 3; d++)
        n[d] = grow_parents(mesh, level, d, ijk[d], parents[d]);
    for (int k = 0; k < OCTREE_CHILDREN && status == STORM_OK; k++) {
        int a = k & 1, b = k >> 1 & 1, c = k >> 2;
        if (a >= n[0] || b >= n[1] || c >= n[2])
            continue;
        const int32_t at[3] = {parents[0][a], parents[1][b], parents[2][c]};
        status = octree_words_add(mesh->base.env, &g->tree->inner[level - 1],
                                  storm_hilbert_tree_position(mesh->n,
                                                              level - 1, at));
    }
    return status;
}

/* Step 2. Below the start level all nodes are inner. */
static storm_status grow_balance(struct octree_grower *g)
{
    storm_status status = STORM_OK;
    uint64_t n_inner;
    for (int level = g->tree->max_level - 1;
         level > g->tree->level && status >= 0; level--) {
        for (size_t i = 0; i < g->tree->inner[level].n && status >= 0; i++)
            status = grow_touch(g, level, g->tree->inner[level].array[i]);
        status = octree_words_sort(g->mesh->base.context, status,
                                   &g->tree->inner[level - 1], OCTREE_KEEP_ONE,
                                   &n_inner);
    }
    return status;
}

/* ---- leaves ------------------------------------------------------------- */

static storm_status grow_add_leaf(struct octree_grower *g, int level,
                                  uint64_t position)
{
    struct octree_node node = {.position = position, .level = level};
    return octree_words_add(g->mesh->base.env, &g->leaves->codes,
                            octree_code(g->mesh, node));
}

/* An inner node and its children. */
static storm_status grow_add_inner(struct octree_grower *g, int level,
                                   uint64_t position)
{
    storm_status status = grow_add_leaf(g, level, position);
    for (uint64_t w = 0; w < OCTREE_CHILDREN && status == STORM_OK; w++)
        status = grow_add_leaf(g, level + 1, OCTREE_CHILDREN * position + w);
    return status;
}

/* Step 3. */
static storm_status grow_leaves(struct octree_grower *g)
{
    storm_status status = STORM_OK;
    for (uint64_t i = g->first; i < g->end && status == STORM_OK; i++)
        status = grow_add_leaf(g, g->tree->level, i);
    for (int level = g->tree->level; level < g->tree->max_level; level++) {
        struct octree_words *inner = &g->tree->inner[level];
        for (size_t i = 0; i < inner->n && status == STORM_OK; i++)
            status = grow_add_inner(g, level, inner->array[i]);
        octree_words_free(g->mesh->base.env, inner);
    }
    return octree_words_sort(g->mesh->base.context, status, &g->leaves->codes,
                             OCTREE_KEEP_LONE, &g->leaves->n_total);
}

/* Places of the leaves from their numbers on all ranks. Collective. */
static storm_status grow_number(const struct octree_grower *g)
{
    const struct storm_env *env = g->mesh->base.env;
    struct octree_leaves *leaves = g->leaves;
    uint64_t n = leaves->codes.n;
    if (leaves->n_total >> 48 != 0) {
        if (env->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "a mesh cannot have %llu cells; 2^48 are too many",
                            (unsigned long long)leaves->n_total);
        return STORM_ERR_ARG;
    }
    leaves->partition =
        storm_alloc(env->memory, grow_label,
                    ((size_t)env->size + 1) * sizeof *leaves->partition);
    storm_status status =
        storm_context_agree(g->mesh->base.context, leaves->partition != NULL
                                                       ? STORM_OK
                                                       : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_boot_allgather(env->boot, &n, sizeof n,
                                      leaves->partition + 1);
    for (int r = 0; r < env->size && status >= 0; r++)
        leaves->partition[r + 1] += leaves->partition[r];
    return status;
}

void octree_leaves_free(const struct storm_env *env,
                        struct octree_leaves *leaves)
{
    octree_words_free(env, &leaves->codes);
    storm_free(env->memory, leaves->tags);
    storm_free(env->memory, leaves->partition);
    *leaves = (struct octree_leaves){.n_total = 0};
}

/* ---- trees -------------------------------------------------------------- */

static void grow_release(const struct storm_env *env, struct octree_tree *tree)
{
    for (int level = 0; level <= STORM_OCTREE_MAX_LEVEL; level++)
        octree_words_free(env, &tree->inner[level]);
}

/* The leaves of the smallest balanced tree (OCTREE-1) with these inner nodes,
 * of which the deepest are sorted. Releases the tree. Collective. */
static storm_status grow_settle(const struct octree_mesh *mesh,
                                struct octree_tree *tree,
                                struct octree_leaves *leaves)
{
    struct octree_grower g = grow_open(mesh, tree);
    g.leaves = leaves;
    storm_status status = grow_balance(&g);
    if (status >= 0)
        status = grow_leaves(&g);
    if (status >= 0)
        status = grow_number(&g);
    grow_release(mesh->base.env, tree);
    return status;
}

storm_status octree_grow(const struct octree_mesh *mesh,
                         const struct storm_octree_params *params,
                         struct octree_leaves *leaves)
{
    struct octree_tree tree = {.level = params->level,
                               .max_level =
                                   params->refine != NULL
                                       ? params->level + params->refine_levels
                                       : params->level};
    struct octree_grower g = grow_open(mesh, &tree);
    g.params = params;
    storm_status status = grow_refine(&g);
    if (status >= 0)
        return grow_settle(mesh, &tree, leaves);
    grow_release(mesh->base.env, &tree);
    return status;
}

/* ---- trees from paths --------------------------------------------------- */

static int grow_n_inner(const struct octree_mesh *mesh,
                        const struct octree_paths *paths, size_t i)
{
    return paths->n_inner != NULL ? paths->n_inner[i]
                                  : octree_node(mesh, paths->codes[i]).level;
}

/* Inner nodes of a level; each once, if paths are in order. */
static storm_status grow_list_level(const struct octree_mesh *mesh,
                                    const struct octree_paths *paths, int level,
                                    struct octree_words *inner)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < paths->n && status >= 0; i++) {
        if (grow_n_inner(mesh, paths, i) <= level)
            continue;
        struct octree_node node = octree_node(mesh, paths->codes[i]);
        uint64_t position = node.position >> 3 * (node.level - level);
        if (inner->n == 0 || inner->array[inner->n - 1] != position)
            status = octree_words_add(mesh->base.env, inner, position);
    }
    return status;
}

storm_status octree_regrow(const struct octree_mesh *mesh,
                           const struct octree_paths *paths,
                           struct octree_leaves *leaves)
{
    const struct storm_context *context = mesh->base.context;
    struct octree_tree tree = {.level = 0};
    uint64_t n_inner;
    for (size_t i = 0; i < paths->n; i++)
        if (grow_n_inner(mesh, paths, i) > tree.max_level)
            tree.max_level = grow_n_inner(mesh, paths, i);
    storm_status status =
        storm_context_reduce(context, &tree.max_level, 1, MPI_INT, MPI_MAX);
    if (status < 0)
        return status;
    for (int level = 0; level < tree.max_level && status >= 0; level++)
        status = grow_list_level(mesh, paths, level, &tree.inner[level]);
    if (tree.max_level > 0)
        status =
            octree_words_sort(context, status, &tree.inner[tree.max_level - 1],
                              OCTREE_KEEP_ONE, &n_inner);
    if (status >= 0)
        return grow_settle(mesh, &tree, leaves);
    grow_release(mesh->base.env, &tree);
    return status;
}
