/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An octree from its leaves.
 *
 * The tree is grown again from the nodes above the leaves that are given. It is
 * balanced and fills the box; if it has as many leaves as are given, and those,
 * each once, then these do, too. A leaf goes to the rank that has it in the new
 * tree, with its tag.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <mpi.h>

#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_tags.h"
#include "mesh/octree/octree_words.h"

static const char restore_label[] = "mesh tree";

enum { LEAF_LEVEL, LEAF_IJK, LEAF_NUMBERS = STORM_OCTREE_LEAF };

/* No leaf with this place has come yet. */
static const storm_cell_id restore_none = UINT64_MAX;

/* A given leaf, as it is sent. */
struct restore_row {
    uint64_t code;
    storm_cell_id tag;
};
enum { ROW_WORDS = sizeof(struct restore_row) / sizeof(uint64_t) };

struct restore {
    struct octree_mesh *mesh;
    const struct storm_octree_params *params;
    size_t n;
    bool has_tags;
    struct restore_row *rows; /* in order of the codes */
    uint64_t *codes;          /* of the rows */
    struct octree_leaves *leaves;
    uint64_t *starts; /* n_ranks + 1: where those of each rank begin */
};

/* ---- what is given ------------------------------------------------------ */

static storm_status restore_refuse(const struct storm_env *env,
                                   const int64_t *leaf, const char *why)
{
    storm_log_write(&env->log, STORM_LOG_ERROR,
                    "octree: leaf (%" PRId64 ", %" PRId64 ", %" PRId64
                    ") of level %" PRId64 " %s",
                    leaf[LEAF_IJK], leaf[LEAF_IJK + 1], leaf[LEAF_IJK + 2],
                    leaf[LEAF_LEVEL], why);
    return STORM_ERR_ARG;
}

/* The code of a leaf, if there may be one like it. */
static storm_status restore_read(const struct octree_mesh *mesh,
                                 const int64_t *leaf, uint64_t *code_out)
{
    int64_t level = leaf[LEAF_LEVEL];
    struct octree_node node = {.level = (int)level};
    int32_t ijk[3];
    if (level < 0 || level > mesh->depth)
        return restore_refuse(mesh->base.env, leaf,
                              "is of no level that this octree can have");
    for (int d = 0; d < 3; d++) {
        int64_t i = leaf[LEAF_IJK + d];
        if (i < 0 || i >= octree_count(mesh, node.level, d))
            return restore_refuse(mesh->base.env, leaf, "is outside the box");
        ijk[d] = (int32_t)i;
    }
    node.position = storm_hilbert_tree_position(mesh->n, node.level, ijk);
    *code_out = octree_code(mesh, node);
    return STORM_OK;
}

static int restore_compare(const void *left, const void *right)
{
    const struct restore_row *a = left, *b = right;
    return (a->code > b->code) - (a->code < b->code);
}

static storm_status restore_take(struct restore *r)
{
    const struct storm_env *env = r->mesh->base.env;
    const struct storm_octree_params *params = r->params;
    storm_status status = STORM_OK;
    if (params->n_leaves > 0 && params->leaves == NULL) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "octree: leaves is NULL, but there are %" PRIu64,
                        params->n_leaves);
        return STORM_ERR_ARG;
    }
    if (params->n_leaves > INT32_MAX) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "octree: %" PRIu64 " leaves are too many for one rank, "
                        "max %d: give them from more ranks",
                        params->n_leaves, INT32_MAX);
        return STORM_ERR_ARG;
    }
    r->rows =
        storm_alloc(env->memory, restore_label, (r->n + 1) * sizeof *r->rows);
    r->codes =
        storm_alloc(env->memory, restore_label, (r->n + 1) * sizeof *r->codes);
    r->starts = storm_alloc(env->memory, restore_label,
                            ((size_t)env->size + 1) * sizeof *r->starts);
    if (r->rows == NULL || r->codes == NULL || r->starts == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        r->rows[i].tag = params->tags != NULL ? params->tags[i] : 0;
        status = restore_read(r->mesh, params->leaves + LEAF_NUMBERS * i,
                              &r->rows[i].code);
    }
    if (r->n > 0 && status >= 0)
        qsort(r->rows, r->n, sizeof *r->rows, restore_compare);
    for (size_t i = 0; i < r->n && status >= 0; i++)
        r->codes[i] = r->rows[i].code;
    return status;
}

/* Collective. */
static storm_status restore_check_tags(struct restore *r)
{
    struct storm_mesh *mesh = &r->mesh->base;
    const storm_cell_id *tags = r->params->tags;
    storm_status status = storm_tags_are_given(mesh, tags, r->n, &r->has_tags);
    if (status < 0 || !r->has_tags)
        return status;
    mesh->next_tag = r->params->next_tag;
    status = storm_tags_check(mesh, tags, r->n);
    return status < 0 ? status
                      : storm_tags_raise(mesh, tags, r->n, &mesh->next_tag);
}

/* ---- where they are in the tree ----------------------------------------- */

/* Rows to the ranks of their places. Collective. */
static storm_status restore_send(const struct restore *r,
                                 struct storm_messages *in_out)
{
    const struct storm_env *env = r->mesh->base.env;
    struct storm_messages out = {.n = 0};
    struct storm_cell_ref *to =
        storm_alloc(env->memory, restore_label, (r->n + 1) * sizeof *to);
    size_t *first =
        storm_alloc(env->memory, restore_label, (r->n + 1) * sizeof *first);
    storm_status status =
        to != NULL && first != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < r->n && status >= 0; i++)
        to[i].rank = storm_partition_owner(r->starts, env->size,
                                           octree_begin(r->codes[i]) / 2);
    if (status >= 0)
        status = storm_messages_rows(env, r->n, to, ROW_WORDS, &out, first);
    for (size_t i = 0; i < r->n && status >= 0; i++) {
        out.words[first[i]] = r->rows[i].code;
        out.words[first[i] + 1] = r->rows[i].tag;
    }
    status =
        storm_messages_exchange(r->mesh->base.context, status, &out, in_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, first);
    storm_free(env->memory, to);
    return status;
}

/* A row is that of a leaf of this rank, and the first for it. */
static storm_status restore_put(const struct restore *r, const uint64_t *row)
{
    const struct octree_mesh *mesh = r->mesh;
    struct octree_leaves *leaves = r->leaves;
    size_t i = octree_find_code(leaves->codes.array, leaves->codes.n,
                                octree_begin(row[0]));
    bool is_leaf = leaves->codes.array[i] == row[0];
    if (is_leaf && leaves->tags[i] == restore_none) {
        leaves->tags[i] = row[1];
        return STORM_OK;
    }
    struct octree_node node = octree_node(mesh, row[0]);
    int32_t ijk[3];
    storm_hilbert_tree_ijk(mesh->n, node.level, node.position, ijk);
    const int64_t leaf[LEAF_NUMBERS] = {node.level, ijk[0], ijk[1], ijk[2]};
    return restore_refuse(mesh->base.env, leaf,
                          is_leaf ? "is given twice"
                                  : "overlaps others, or is too large next to "
                                    "them");
}

/* Collective. */
static storm_status restore_match(const struct restore *r)
{
    const struct storm_env *env = r->mesh->base.env;
    struct octree_leaves *leaves = r->leaves;
    struct storm_messages in = {.n = 0};
    size_t n = leaves->codes.n;
    leaves->tags =
        storm_alloc(env->memory, restore_label, (n + 1) * sizeof *leaves->tags);
    storm_status status =
        storm_context_agree(r->mesh->base.context,
                            leaves->tags != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status >= 0; i++)
        leaves->tags[i] = restore_none;
    if (status >= 0)
        status = restore_send(r, &in);
    for (size_t i = 0; i < in.n && status >= 0; i++)
        for (size_t k = 0; k < in.array[i].n_words && status >= 0;
             k += ROW_WORDS)
            status = restore_put(r, in.words + in.array[i].first + k);
    storm_messages_release(env, &in);
    return storm_context_agree(r->mesh->base.context, status);
}

/* Are those that are given all? Collective. */
static storm_status restore_count(const struct restore *r)
{
    const struct storm_env *env = r->mesh->base.env;
    uint64_t n = r->n;
    storm_status status = storm_context_reduce(r->mesh->base.context, &n, 1,
                                               MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n == r->leaves->n_total)
        return status;
    if (env->rank == 0)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "octree: %" PRIu64 " leaves are given, but a balanced "
                        "tree with these that fills the box has %" PRIu64,
                        n, r->leaves->n_total);
    return STORM_ERR_ARG;
}

storm_status octree_restore(struct octree_mesh *mesh,
                            const struct storm_octree_params *params,
                            struct octree_leaves *leaves)
{
    const struct storm_env *env = mesh->base.env;
    struct restore r = {.mesh = mesh,
                        .params = params,
                        .n = (size_t)params->n_leaves,
                        .leaves = leaves};
    storm_status status =
        storm_context_agree(mesh->base.context, restore_take(&r));
    if (status >= 0)
        status = restore_check_tags(&r);
    const struct octree_paths paths = {.n = r.n, .codes = r.codes};
    if (status >= 0)
        status = octree_regrow(mesh, &paths, leaves);
    if (status >= 0)
        status = octree_starts(mesh, leaves->codes.array, leaves->partition,
                               r.starts);
    if (status >= 0)
        status = restore_match(&r);
    if (status >= 0)
        status = restore_count(&r);
    if (status >= 0 && !r.has_tags) {
        storm_free(env->memory, leaves->tags);
        leaves->tags = NULL;
    }
    storm_free(env->memory, r.starts);
    storm_free(env->memory, r.codes);
    storm_free(env->memory, r.rows);
    return status;
}

storm_status storm_octree_leaf(const struct storm_mesh *mesh,
                               storm_cell_idx cell,
                               int64_t leaf_out[STORM_OCTREE_LEAF])
{
    const struct octree_mesh *octree = octree_of(mesh);
    int32_t ijk[3];
    if (mesh->ops != &storm_mesh_octree)
        return STORM_ERR_NOSUP;
    struct octree_node node =
        octree_node(octree, octree_part_of(mesh)->codes[cell]);
    storm_hilbert_tree_ijk(octree->n, node.level, node.position, ijk);
    leaf_out[LEAF_LEVEL] = node.level;
    for (int d = 0; d < 3; d++)
        leaf_out[LEAF_IJK + d] = ijk[d];
    return STORM_OK;
}
