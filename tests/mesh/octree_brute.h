/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of cubes by brute force: every cube is compared with all others. */
#ifndef TESTS_MESH_OCTREE_BRUTE_H
#define TESTS_MESH_OCTREE_BRUTE_H

#include "octree_cases.h"

enum { MAX_CUBES = 20000 };
struct tree {
    const struct storm_octree_params *octree;
    struct cube cubes[MAX_CUBES];
    int n;
};

/* Cuts a cube; the first child takes its place. */
static inline void tree_cut(struct tree *tree, int i)
{
    struct cube parent = tree->cubes[i];
    CHECK(tree->n + 7 <= MAX_CUBES);
    for (int k = 0; k < 8; k++) {
        struct cube child = {.level = parent.level + 1};
        for (int d = 0; d < 3; d++)
            child.ijk[d] = 2 * parent.ijk[d] + (k >> d & 1);
        tree->cubes[k == 0 ? i : tree->n++] = child;
    }
}

/* Do closed cubes have a point in common, also through periodic walls? */
static inline bool tree_touch(const struct storm_octree_params *c,
                              const struct cube *a, const struct cube *b)
{
    enum { DEPTH = 10 };
    for (int d = 0; d < 3; d++) {
        int32_t n = octree_roots(c, d) << DEPTH;
        int32_t width_a = 1 << (DEPTH - a->level);
        int32_t width_b = 1 << (DEPTH - b->level);
        int32_t offset = b->ijk[d] * width_b - a->ijk[d] * width_a;
        bool is_near = offset <= width_a && -offset <= width_b;
        if (c->periodic[d])
            is_near = is_near ||
                      (offset + n <= width_a && -(offset + n) <= width_b) ||
                      (offset - n <= width_a && -(offset - n) <= width_b);
        if (!is_near)
            return false;
    }
    return true;
}

static inline bool tree_is_uneven(const struct tree *tree, int i, int n)
{
    for (int k = 0; k < n; k++)
        if (tree->cubes[k].level > tree->cubes[i].level + 1 &&
            tree_touch(tree->octree, &tree->cubes[i], &tree->cubes[k]))
            return true;
    return false;
}

/* Cuts cubes that touch much smaller ones until there are none (OCTREE-1). */
static inline void tree_balance(struct tree *tree)
{
    for (bool is_cut = true; is_cut;) {
        is_cut = false;
        for (int i = 0, n = tree->n; i < n; i++)
            if (tree_is_uneven(tree, i, n)) {
                tree_cut(tree, i);
                is_cut = true;
            }
    }
}

#endif /* TESTS_MESH_OCTREE_BRUTE_H */
