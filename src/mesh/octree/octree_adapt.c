/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refinement and coarsening: the mesh as it would be.
 *
 * The new tree is the smallest balanced one (OCTREE-1) whose inner nodes are
 * those of the old tree, but the parents of cells that are joined, and the
 * cells that are cut. So balance brings back parents that are needed: their
 * cells are not joined.
 *
 * A new leaf asks who has its place in the old tree: the same leaf, which it
 * stays, a larger one, of which it is a part, or smaller ones, which have been
 * joined to it. It is a function of the two trees alone. The same question, of
 * old leaves to the new tree, gives them their heirs.
 */
#include <string.h>

#include <mpi.h>

#include <storm/change.h>

#include "mesh/mesh_change.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_tags.h"
#include "mesh/octree/octree_words.h"

static const char adapt_label[] = "mesh tree";

/* What becomes of a cell, if balance allows it. */
enum adapt_mark { ADAPT_KEEP = 0, ADAPT_CUT, ADAPT_JOIN };

/* A leaf as others ask for it. */
struct adapt_row {
    uint64_t code;
    storm_cell_id tag;
    uint64_t weight;
};

struct adapt {
    const struct storm_mesh *mesh;
    const struct octree_mesh *octree;
    const struct octree_part *old;
    const uint64_t *old_weight; /* NULL: all one */
    uint8_t *marks;             /* by old cell: enum adapt_mark */
    uint8_t *n_inner;           /* the same: of struct octree_paths */
    /* The new leaves as they are sorted, before they are partitioned. */
    struct octree_leaves leaves;
    struct storm_cell_ref *at; /* the old cell at the place of each */
    struct adapt_row *rows;    /* that cell */
    uint64_t *weight;
    struct storm_mesh_next next;
};

static struct octree_node adapt_old(const struct adapt *a, storm_cell_idx cell)
{
    return octree_node(a->octree, a->old->codes[cell]);
}

/* ---- what is asked for -------------------------------------------------- */

/* Marks cells, each once in both lists. */
static storm_status adapt_mark(struct adapt *a, const storm_cell_idx *cells,
                               size_t n, enum adapt_mark mark)
{
    const struct storm_env *env = a->mesh->env;
    for (size_t i = 0; i < n; i++) {
        storm_cell_idx cell = cells[i];
        bool exists = cell >= 0 && cell < a->mesh->part->n_cells;
        int level = exists ? adapt_old(a, cell).level : 0;
        const char *reason =
            !exists                        ? "there is no such cell"
            : a->marks[cell] != ADAPT_KEEP ? "it is listed twice"
            : mark == ADAPT_CUT && level == a->octree->depth
                ? "it cannot be cut: it is of the deepest level"
            : mark == ADAPT_JOIN && level == 0
                ? "it cannot be joined: it is a root cell"
                : NULL;
        if (reason != NULL) {
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "storm_mesh_adapt: cell %d of level %d: %s", cell,
                            level, reason);
            return STORM_ERR_ARG;
        }
        a->marks[cell] = (uint8_t)mark;
    }
    return STORM_OK;
}

static storm_status adapt_open(struct adapt *a,
                               const struct storm_adapt_params *params)
{
    const struct storm_env *env = a->mesh->env;
    size_t n = (size_t)a->mesh->part->n_cells;
    if (params->n_add > 0) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "cells of an octree have no generators to add: refine "
                        "cells");
        return STORM_ERR_NOSUP;
    }
    a->marks =
        storm_alloc(env->memory, adapt_label, (n + 1) * sizeof *a->marks);
    a->n_inner =
        storm_alloc(env->memory, adapt_label, (n + 1) * sizeof *a->n_inner);
    a->next.partition =
        storm_alloc(env->memory, adapt_label,
                    ((size_t)env->size + 1) * sizeof *a->next.partition);
    if (a->marks == NULL || a->n_inner == NULL || a->next.partition == NULL)
        return STORM_ERR_NOMEM;
    storm_status status =
        adapt_mark(a, params->refine, params->n_refine, ADAPT_CUT);
    return status < 0
               ? status
               : adapt_mark(a, params->remove, params->n_remove, ADAPT_JOIN);
}

static void adapt_log_incomplete(const struct adapt *a, uint64_t code)
{
    const struct octree_mesh *octree = a->octree;
    struct octree_node node = octree_node(octree, code);
    int32_t ijk[3];
    double lo[3];
    storm_hilbert_tree_ijk(octree->n, node.level, node.position, ijk);
    for (int d = 0; d < 3; d++)
        lo[d] = octree_plane(octree, node.level, d, ijk[d]);
    storm_log_write(&a->mesh->env->log, STORM_LOG_ERROR,
                    "storm_mesh_adapt: of the eight cells of level %d from "
                    "(%g, %g, %g) cm on, which would be joined, not all are "
                    "listed, or some are cut in smaller ones",
                    node.level + 1, lo[0], lo[1], lo[2]);
}

/* Cells are joined if all eight of a parent are. Collective; the same status on
 * every rank. */
static storm_status adapt_check_joins(const struct adapt *a)
{
    const struct storm_mesh *mesh = a->mesh;
    struct octree_words parents = {.n = 0};
    storm_status status = STORM_OK;
    /* Some MPI libraries compare unsigned integers as signed ones. */
    const uint64_t none = INT64_MAX;
    uint64_t n_total, bad = none;
    for (storm_cell_idx i = 0; i < mesh->part->n_cells && status >= 0; i++) {
        struct octree_node node = adapt_old(a, i);
        if (a->marks[i] != ADAPT_JOIN)
            continue;
        node = (struct octree_node){node.position / OCTREE_CHILDREN,
                                    node.level - 1};
        status =
            octree_words_add(mesh->env, &parents, octree_code(a->octree, node));
    }
    status = octree_words_sort(mesh->context, status, &parents, OCTREE_KEEP_ALL,
                               &n_total);
    for (size_t i = 0, end; i < parents.n && status >= 0; i = end) {
        for (end = i; end < parents.n && parents.array[end] == parents.array[i];
             end++)
            ;
        if (end - i != OCTREE_CHILDREN && bad == none)
            bad = parents.array[i] / 2; /* an inner node: its code is even */
    }
    octree_words_free(mesh->env, &parents);
    if (status >= 0)
        status =
            storm_context_reduce(mesh->context, &bad, 1, MPI_UINT64_T, MPI_MIN);
    if (status < 0 || bad == none)
        return status;
    if (mesh->env->rank == 0)
        adapt_log_incomplete(a, 2 * bad);
    return STORM_ERR_ARG;
}

/* ---- the tree ----------------------------------------------------------- */

/* The new leaves. Collective. */
static storm_status adapt_grow(struct adapt *a)
{
    static const int8_t deeper[] = {
        [ADAPT_KEEP] = 0, [ADAPT_CUT] = 1, [ADAPT_JOIN] = -1};
    size_t n = (size_t)a->mesh->part->n_cells;
    const struct octree_paths paths = {
        .n = n, .codes = a->old->codes, .n_inner = a->n_inner};
    for (size_t i = 0; i < n; i++)
        a->n_inner[i] = (uint8_t)(adapt_old(a, (storm_cell_idx)i).level +
                                  deeper[a->marks[i]]);
    return octree_regrow(a->octree, &paths, &a->leaves);
}

/* ---- from one tree to the other ----------------------------------------- */

/* The cells of a part, with those of the other ranks, that have the places
 * where leaves begin. Collective. */
static storm_status adapt_ask(const struct adapt *a, storm_status status,
                              const struct octree_part *part,
                              const struct octree_words *codes,
                              struct storm_cell_ref *at_out)
{
    const struct storm_env *env = a->mesh->env;
    size_t n = codes->n, *first = NULL;
    struct storm_messages out = {.n = 0}, asked, answers = {.n = 0};
    first = storm_alloc(env->memory, adapt_label, (n + 1) * sizeof *first);
    if (status >= 0 && first == NULL)
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        at_out[i].rank =
            storm_partition_owner(part->starts, env->size,
                                  octree_begin(codes->array[i]) / 2);
    if (status >= 0)
        status = storm_messages_rows(env, n, at_out, 1, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++)
        out.words[first[i]] = octree_begin(codes->array[i]);
    status = storm_messages_exchange(a->mesh->context, status, &out, &asked);
    for (size_t i = 0; i < asked.n && status >= 0; i++)
        for (size_t k = 0; k < asked.array[i].n_words; k++) {
            uint64_t *word = &asked.words[asked.array[i].first + k];
            *word = (uint64_t)octree_find(part, *word);
        }
    if (status >= 0)
        status =
            storm_messages_exchange(a->mesh->context, status, &asked, &answers);
    /* Messages come in order of rank, as they went. */
    for (size_t i = 0; i < n && status >= 0; i++)
        at_out[i].idx = (storm_cell_idx)answers.words[first[i]];
    storm_messages_release(env, &answers);
    storm_messages_release(env, &asked);
    storm_messages_release(env, &out);
    storm_free(env->memory, first);
    return status;
}

/* The old cells as rows to send; NULL: no memory. */
static struct adapt_row *adapt_rows(const struct adapt *a)
{
    const struct storm_mesh_part *part = a->mesh->part;
    size_t n = (size_t)part->n_cells;
    struct adapt_row *rows =
        storm_alloc(a->mesh->env->memory, adapt_label, (n + 1) * sizeof *rows);
    for (size_t i = 0; i < n && rows != NULL; i++)
        rows[i] = (struct adapt_row){
            .code = a->old->codes[i],
            .tag = storm_mesh_part_tag(part, (storm_cell_idx)i),
            .weight = a->old_weight != NULL ? a->old_weight[i] : 1};
    return rows;
}

/* What was where the new leaves are. Collective. */
static storm_status adapt_trace(struct adapt *a)
{
    struct storm_memory *memory = a->mesh->env->memory;
    size_t n = a->leaves.codes.n;
    struct adapt_row *own = adapt_rows(a);
    const struct storm_message_rows rows = {.bytes = sizeof *own, .rows = own};
    a->at = storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->at);
    a->rows = storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->rows);
    a->weight = storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->weight);
    a->leaves.tags =
        storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->leaves.tags);
    storm_status status = own != NULL && a->at != NULL && a->rows != NULL &&
                                  a->weight != NULL && a->leaves.tags != NULL
                              ? STORM_OK
                              : STORM_ERR_NOMEM;
    status = adapt_ask(a, status, a->old, &a->leaves.codes, a->at);
    if (status >= 0)
        status = storm_messages_fetch(a->mesh->context, status, &rows, n, a->at,
                                      a->rows);
    storm_free(memory, own);
    return status;
}

static bool adapt_is_kept(const struct adapt *a, size_t leaf)
{
    return a->rows[leaf].code == a->leaves.codes.array[leaf];
}

/* Tags and weights of the new leaves. Collective. */
static storm_status adapt_tag(struct adapt *a)
{
    const struct storm_mesh *mesh = a->mesh;
    size_t n = a->leaves.codes.n;
    uint64_t n_new = 0;
    storm_cell_id tag;
    for (size_t i = 0; i < n; i++)
        n_new += !adapt_is_kept(a, i);
    a->next.next_tag = mesh->next_tag;
    storm_status status =
        storm_tags_choose(mesh, n_new, &a->next.next_tag, &tag);
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        bool is_kept = adapt_is_kept(a, i);
        a->leaves.tags[i] = is_kept ? a->rows[i].tag : tag++;
        a->weight[i] = is_kept ? a->rows[i].weight : 1;
    }
    return STORM_OK;
}

/* ---- the part ----------------------------------------------------------- */

/* A cell of the old mesh in one word; is_part: it was cut. */
enum { ADAPT_RANK_SHIFT = 32 };
static const uint64_t adapt_part_bit = (uint64_t)1 << 63;

/* Each new leaf's old cell, if it stays or is a part of one; else all ones. */
static storm_status adapt_list_from(const struct adapt *a, uint64_t *from)
{
    for (size_t i = 0; i < a->leaves.codes.n && from != NULL; i++) {
        int level = octree_node(a->octree, a->leaves.codes.array[i]).level;
        bool is_part = octree_node(a->octree, a->rows[i].code).level < level;
        from[i] = (uint64_t)a->at[i].rank << ADAPT_RANK_SHIFT |
                  (uint64_t)a->at[i].idx | (is_part ? adapt_part_bit : 0);
        if (!is_part && !adapt_is_kept(a, i))
            from[i] = UINT64_MAX;
    }
    return storm_context_agree(a->mesh->context,
                               from != NULL ? STORM_OK : STORM_ERR_NOMEM);
}

/* from and part_of of the next mesh. Collective. */
static storm_status adapt_from(struct adapt *a)
{
    struct storm_memory *memory = a->mesh->env->memory;
    const struct storm_cell_ref none = {.rank = -1, .idx = -1};
    size_t n = (size_t)a->next.part->n_cells;
    uint64_t *sorted = storm_alloc(memory, adapt_label,
                                   (a->leaves.codes.n + 1) * sizeof *sorted);
    uint64_t *from = NULL;
    storm_status status = adapt_list_from(a, sorted);
    if (status >= 0)
        status =
            octree_words_move(a->mesh->context, sorted, a->leaves.partition,
                              a->next.partition, &from);
    a->next.from =
        storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->next.from);
    a->next.part_of =
        storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->next.part_of);
    if (status >= 0 && (a->next.from == NULL || a->next.part_of == NULL))
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++) {
        bool is_none = from[i] == UINT64_MAX;
        bool is_part = (from[i] & adapt_part_bit) != 0;
        const struct storm_cell_ref cell = {
            .rank = (int32_t)((from[i] & ~adapt_part_bit) >> ADAPT_RANK_SHIFT),
            .idx = (storm_cell_idx)(uint32_t)from[i]};
        a->next.from[i] = is_none || is_part ? none : cell;
        a->next.part_of[i] = !is_none && is_part ? cell : none;
    }
    storm_free(memory, from);
    storm_free(memory, sorted);
    return status;
}

/* Where the old cells' places are now. Collective. */
static storm_status adapt_heirs(struct adapt *a, storm_status status)
{
    struct storm_memory *memory = a->mesh->env->memory;
    const struct octree_part *part = (struct octree_part *)a->next.part;
    size_t n = (size_t)a->mesh->part->n_cells;
    const struct octree_words codes = {.array = a->old->codes, .n = n};
    const struct storm_message_rows rows = {.bytes = sizeof *part->codes,
                                            .rows = part->codes};
    struct storm_cell_ref *at =
        storm_alloc(memory, adapt_label, (n + 1) * sizeof *at);
    uint64_t *found = storm_alloc(memory, adapt_label, (n + 1) * sizeof *found);
    a->next.heirs =
        storm_alloc(memory, adapt_label, (n + 1) * sizeof *a->next.heirs);
    if (at == NULL || found == NULL || a->next.heirs == NULL)
        status = STORM_ERR_NOMEM;
    status = adapt_ask(a, status, part, &codes, at);
    if (status >= 0)
        status =
            storm_messages_fetch(a->mesh->context, status, &rows, n, at, found);
    for (size_t i = 0; i < n && status >= 0; i++)
        a->next.heirs[i] = (struct storm_mesh_heir){
            .cell = at[i],
            .is_part = octree_node(a->octree, found[i]).level >
                       adapt_old(a, (storm_cell_idx)i).level};
    storm_free(memory, found);
    storm_free(memory, at);
    return status;
}

/* By the weights of the cut in use, or equal numbers. Collective. */
static storm_status adapt_partition(struct adapt *a)
{
    const struct storm_mesh *mesh = a->mesh;
    storm_status status = STORM_OK;
    if (a->old_weight != NULL)
        status = storm_partition_by_weight(mesh->context, a->leaves.partition,
                                           a->weight, a->next.partition);
    else
        storm_partition_equal(a->leaves.n_total, mesh->env->size,
                              a->next.partition);
    return status < 0 ? status
                      : storm_mesh_check_partition(mesh, a->next.partition);
}

/* From the new leaves to the next mesh. Collective. */
static storm_status adapt_build(struct adapt *a)
{
    const struct storm_mesh *mesh = a->mesh;
    storm_status status = adapt_trace(a);
    if (status >= 0)
        status = adapt_tag(a);
    if (status >= 0)
        status = adapt_partition(a);
    if (status >= 0)
        status =
            storm_context_agree(mesh->context,
                                octree_build(mesh, &a->leaves,
                                             a->next.partition, &a->next.part));
    if (status >= 0)
        status = adapt_heirs(a, adapt_from(a));
    a->next.n_total = a->leaves.n_total;
    return status;
}

storm_status octree_adapt(const struct storm_mesh *mesh,
                          const struct storm_adapt_params *params,
                          struct storm_mesh_next *next_out)
{
    struct storm_memory *memory = mesh->env->memory;
    struct adapt a = {.mesh = mesh,
                      .octree = octree_of(mesh),
                      .old = octree_part_of(mesh),
                      .old_weight = storm_cut_weight(mesh)};
    storm_status status =
        storm_context_agree(mesh->context, adapt_open(&a, params));
    if (status >= 0)
        status = adapt_check_joins(&a);
    if (status >= 0)
        status = adapt_grow(&a);
    if (status >= 0)
        status = adapt_build(&a);
    octree_leaves_free(mesh->env, &a.leaves);
    storm_free(memory, a.marks);
    storm_free(memory, a.n_inner);
    storm_free(memory, a.at);
    storm_free(memory, a.rows);
    storm_free(memory, a.weight);
    if (status >= 0) {
        *next_out = a.next;
        return STORM_OK;
    }
    octree_free_part(mesh, a.next.part);
    storm_free(memory, a.next.partition);
    storm_free(memory, a.next.from);
    storm_free(memory, a.next.part_of);
    storm_free(memory, a.next.heirs);
    return status;
}
