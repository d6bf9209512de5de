/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree over boxes. */
#include <math.h>

#include "mesh/given/given_mesh.h"

static const char tree_label[] = "mesh tree";

/* ---- build -------------------------------------------------------------- */

static void box_add(struct given_box *box, const struct given_box *other)
{
    for (int d = 0; d < 3; d++) {
        box->lo[d] = fmin(box->lo[d], other->lo[d]);
        box->hi[d] = fmax(box->hi[d], other->hi[d]);
    }
}

static bool box_touches(const struct given_box *a, const struct given_box *b)
{
    bool touches = true;
    for (int d = 0; d < 3; d++)
        touches = touches && a->lo[d] <= b->hi[d] && b->lo[d] <= a->hi[d];
    return touches;
}

/* An empty box is anywhere. */
static double box_middle(const struct given_box *box, int axis)
{
    return box->lo[axis] <= box->hi[axis] ? box->lo[axis] + box->hi[axis] : 0.0;
}

/* Puts the k entries with the smallest middles first, as quickselect does. */
static void tree_part(const struct given_box *boxes, int32_t *order, size_t n,
                      size_t k, int axis)
{
    size_t lo = 0, hi = n;
    while (hi - lo > 1) {
        double pivot = box_middle(&boxes[order[lo + (hi - lo) / 2]], axis);
        size_t i = lo, j = hi;
        while (i < j) {
            if (box_middle(&boxes[order[i]], axis) < pivot) {
                i++;
            } else if (box_middle(&boxes[order[j - 1]], axis) >= pivot) {
                j--;
            } else {
                int32_t swap = order[i];
                order[i++] = order[--j];
                order[j] = swap;
            }
        }
        /* Below i: smaller. Move what equals the pivot to the front. */
        size_t e = i;
        for (size_t q = i; q < hi; q++)
            if (box_middle(&boxes[order[q]], axis) == pivot) {
                int32_t swap = order[q];
                order[q] = order[e];
                order[e++] = swap;
            }
        if (k < i)
            hi = i;
        else if (k < e)
            return;
        else
            lo = e;
    }
}

/* Entries of the leaf with this number among the leaves begin here. */
static size_t tree_begin(const struct given_tree *tree, size_t leaf)
{
    size_t n_leaves = tree->n_nodes - tree->first_leaf;
    return (size_t)((uint64_t)tree->n * leaf / n_leaves);
}

/* The node's entries are those of leaves [leaf, leaf + n_leaves). */
static void tree_fill(struct given_tree *tree, size_t node, size_t leaf,
                      size_t n_leaves)
{
    const struct given_box *boxes = tree->boxes;
    size_t begin = tree_begin(tree, leaf);
    size_t end = tree_begin(tree, leaf + n_leaves);
    struct given_box *box = &tree->nodes[node];
    for (int d = 0; d < 3; d++) {
        box->lo[d] = INFINITY;
        box->hi[d] = -INFINITY;
    }
    for (size_t i = begin; i < end; i++)
        box_add(box, &boxes[tree->order[i]]);
    if (n_leaves == 1)
        return;
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (box->hi[d] - box->lo[d] > box->hi[axis] - box->lo[axis])
            axis = d;
    size_t half = tree_begin(tree, leaf + n_leaves / 2);
    tree_part(boxes, tree->order + begin, end - begin, half - begin, axis);
    tree_fill(tree, 2 * node + 1, leaf, n_leaves / 2);
    tree_fill(tree, 2 * node + 2, leaf + n_leaves / 2, n_leaves / 2);
}

storm_status given_tree_build(const struct storm_env *env,
                              const struct given_box *boxes, size_t n,
                              struct given_tree *tree_out)
{
    size_t n_leaves = 1;
    while (n_leaves * GIVEN_LEAF < n)
        n_leaves *= 2;
    struct given_tree tree = {.boxes = boxes,
                              .n = n,
                              .n_nodes = 2 * n_leaves - 1,
                              .first_leaf = n_leaves - 1};
    tree.nodes =
        storm_alloc(env->memory, tree_label, tree.n_nodes * sizeof *tree.nodes);
    tree.order =
        storm_alloc(env->memory, tree_label, (n + 1) * sizeof *tree.order);
    *tree_out = tree;
    if (tree.nodes == NULL || tree.order == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        tree.order[i] = (int32_t)i;
    tree_fill(&tree, 0, 0, n_leaves);
    return STORM_OK;
}

void given_tree_free(const struct storm_env *env, struct given_tree *tree)
{
    storm_free(env->memory, tree->nodes);
    storm_free(env->memory, tree->order);
    *tree = (struct given_tree){.n = 0};
}

void given_tree_search(const struct given_tree *tree,
                       const struct given_box *box,
                       void (*visit)(void *self, int32_t entry), void *self)
{
    enum { DEEPEST = 64 };
    size_t stack[DEEPEST], n = 0;
    stack[n++] = 0;
    while (n > 0) {
        size_t node = stack[--n];
        if (!box_touches(&tree->nodes[node], box))
            continue;
        if (node < tree->first_leaf) {
            stack[n++] = 2 * node + 2;
            stack[n++] = 2 * node + 1;
            continue;
        }
        size_t leaf = node - tree->first_leaf;
        for (size_t i = tree_begin(tree, leaf); i < tree_begin(tree, leaf + 1);
             i++)
            if (box_touches(&tree->boxes[tree->order[i]], box))
                visit(self, tree->order[i]);
    }
}
