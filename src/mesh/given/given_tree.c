/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree over boxes, and the cell that contains a point (GIVEN-5). */
#include <math.h>
#include <string.h>

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

static double box_middle(const struct given_box *box, int axis)
{
    return box->lo[axis] + box->hi[axis];
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
static void tree_fill(struct given_tree *tree, const struct given_box *boxes,
                      size_t node, size_t leaf, size_t n_leaves)
{
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
    tree_fill(tree, boxes, 2 * node + 1, leaf, n_leaves / 2);
    tree_fill(tree, boxes, 2 * node + 2, leaf + n_leaves / 2, n_leaves / 2);
}

storm_status given_tree_build(const struct storm_env *env,
                              const struct given_box *boxes, size_t n,
                              struct given_tree *tree_out)
{
    size_t n_leaves = 1;
    while (n_leaves * GIVEN_LEAF < n)
        n_leaves *= 2;
    struct given_tree tree = {
        .n = n, .n_nodes = 2 * n_leaves - 1, .first_leaf = n_leaves - 1};
    tree.nodes =
        storm_alloc(env->memory, tree_label, tree.n_nodes * sizeof *tree.nodes);
    tree.order =
        storm_alloc(env->memory, tree_label, (n + 1) * sizeof *tree.order);
    *tree_out = tree;
    if (tree.nodes == NULL || tree.order == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        tree.order[i] = (int32_t)i;
    tree_fill(&tree, boxes, 0, 0, n_leaves);
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
            visit(self, tree->order[i]);
    }
}

/* ---- locate ------------------------------------------------------------- */

double given_worst(const struct given_part *part, size_t located,
                   const double x[3])
{
    const struct given_located *cell = &part->located[located];
    double y[3], worst = -INFINITY;
    for (int d = 0; d < 3; d++)
        y[d] = x[d] - cell->point[d];
    for (size_t i = cell->first_side; i < cell[1].first_side; i++) {
        const struct given_side *s = &part->sides[i];
        double over = s->normal[0] * y[0] + s->normal[1] * y[1] +
                      s->normal[2] * y[2] - s->distance;
        worst = over > worst ? over : worst;
    }
    return worst;
}

struct locate_best {
    const struct given_part *part;
    const double *x;
    int32_t best; /* -1: none yet */
    bool is_near; /* an own cell contains it */
};

static void locate_visit(void *self, int32_t entry)
{
    struct locate_best *l = self;
    const struct given_located *cell = &l->part->located[entry];
    if (!(given_worst(l->part, (size_t)entry, l->x) <= cell->slack))
        return;
    l->is_near = l->is_near || entry < l->part->base.n_cells;
    if (l->best < 0 || cell->tag < l->part->located[l->best].tag)
        l->best = entry;
}

storm_status given_locate(const struct storm_mesh *mesh,
                          const double point_cm[3],
                          struct storm_cell_ref *where_out)
{
    const struct given_part *part = given_part_of(mesh);
    const struct given_box *all = &given_of(mesh)->box;
    struct given_box at;
    for (int d = 0; d < 3; d++) {
        if (!(point_cm[d] >= all->lo[d] && point_cm[d] <= all->hi[d]))
            return STORM_ERR_ARG;
        at.lo[d] = at.hi[d] = point_cm[d];
    }
    struct locate_best l = {.part = part, .x = point_cm, .best = -1};
    given_tree_search(&part->tree, &at, locate_visit, &l);
    if (l.is_near) { /* then all that compete are known */
        *where_out = part->located[l.best].where;
        return STORM_OK;
    }
    return mesh->env->size == 1 ? STORM_ERR_ARG : STORM_AGAIN;
}

/* ---- walks to a cell ---------------------------------------------------- */

/* The first rank from `from` on whose box holds the point; -1: none. */
static int seek_rank(const struct storm_mesh *mesh, const double x[3], int from)
{
    struct given_box at;
    memcpy(at.lo, x, sizeof at.lo);
    memcpy(at.hi, x, sizeof at.hi);
    for (int r = from; r < mesh->env->size; r++)
        if (r != mesh->env->rank &&
            box_touches(&given_part_of(mesh)->ranks[r], &at))
            return r;
    return -1;
}

/* Asks ranks in order, beginning with the first: the domain need not be convex,
 * so that a walk from cell to cell could leave it. */
static storm_status given_seek(const struct storm_mesh *mesh,
                               storm_cell_idx cell, double x_cm[3],
                               struct storm_cell_ref *next_out)
{
    int me = mesh->env->rank;
    storm_status status = given_locate(mesh, x_cm, next_out);
    if (status < 0)
        return status;
    if (status == STORM_OK)
        return next_out->rank == me && (cell < 0 || next_out->idx == cell)
                   ? STORM_OK
                   : STORM_AGAIN;
    int rank = seek_rank(mesh, x_cm, cell >= 0 ? 0 : me + 1);
    *next_out = (struct storm_cell_ref){rank, -1};
    return rank >= 0 ? STORM_AGAIN : STORM_ERR_ARG;
}

static int given_jump(const struct storm_mesh *mesh, const double x_cm[3])
{
    struct storm_cell_ref where;
    if (given_locate(mesh, x_cm, &where) == STORM_OK)
        return where.rank;
    int rank = seek_rank(mesh, x_cm, 0);
    return rank >= 0 ? rank : mesh->env->rank;
}

const struct storm_mesh_changes given_changes = {
    .seek = given_seek,
    .seek_many = storm_seek_each,
    .jump = given_jump,
    .move = storm_no_move,
    .adapt = storm_no_adapt,
};
