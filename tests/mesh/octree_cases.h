/* SPDX-License-Identifier: BSD-3-Clause */
/* Octrees to compare with others, and their cells as cubes of a grid. */
#ifndef TESTS_MESH_OCTREE_CASES_H
#define TESTS_MESH_OCTREE_CASES_H

#include <storm/octree.h>

#include "support/check.h"
#include "support/sphere.h"

/* A cell: its level, and its index on the grid of that level. */
struct cube {
    int level;
    int32_t ijk[3];
};

/* Near the middle; a corner, which is next to seven others through periodic
 * walls; a plane, nearly; and the middle of an edge between trees. */
static struct sphere octree_spheres[] = {
    {.centre_cm = {0.4, 0.55, 0.5}, .radius_cm = 0.27},
    {.centre_cm = {0, 0, 0}, .radius_cm = 1e-4},
    {.centre_cm = {0.3, -1e6, 0.4}, .radius_cm = 1e6 + 0.71},
    {.centre_cm = {0.5, 0.25, 1.0 / 3}, .radius_cm = 1e-5},
};

#define OCTREE_CASE(_sphere, _level, _levels, ...)                          \
    {                                                                       \
        .size = sizeof(struct storm_octree_params), .hi_cm = {1, 1, 1},     \
        .level = _level, .refine_levels = _levels, .refine = sphere_refine, \
        .refine_self = &octree_spheres[_sphere], __VA_ARGS__                \
    }

/* Boxes of side 1 in all directions. */
static const struct storm_octree_params octree_cases[] = {
    OCTREE_CASE(0, 0, 4, .periodic = {false}),
    OCTREE_CASE(0, 2, 2, .periodic = {true, false, true}),
    OCTREE_CASE(1, 0, 9, .periodic = {false}),
    OCTREE_CASE(1, 1, 8, .periodic = {true, true, true}),
    OCTREE_CASE(2, 1, 4, .periodic = {true, false, false}),
    OCTREE_CASE(3, 0, 7, .n = {2, 4, 3}),
    OCTREE_CASE(3, 1, 6, .n = {4, 4, 3}, .periodic = {true, true, true}),
    OCTREE_CASE(0, 1, 2, .n = {3, 2, 5}, .periodic = {false, true, true}),
};
enum { OCTREE_CASES = sizeof octree_cases / sizeof octree_cases[0] };

static inline int32_t octree_roots(const struct storm_octree_params *c, int d)
{
    return c->n[d] > 0 ? (int32_t)c->n[d] : 1;
}

/* The callback of a case for a cube. */
static inline bool octree_asks(const struct storm_octree_params *c,
                               const struct cube *cube)
{
    double lo[3], hi[3];
    if (cube->level < c->level)
        return true;
    if (cube->level >= c->level + c->refine_levels)
        return false;
    for (int d = 0; d < 3; d++) {
        double n = ldexp(octree_roots(c, d), cube->level);
        lo[d] = (double)cube->ijk[d] / n;
        hi[d] = (double)(cube->ijk[d] + 1) / n;
    }
    return c->refine(c->refine_self, lo, hi, cube->level);
}

/* A cell of a mesh as a cube; its planes are exactly those of the grid. */
static inline struct cube octree_cube(const struct storm_octree_params *c,
                                      const struct storm_mesh *mesh,
                                      storm_cell_idx cell)
{
    double lo[3], hi[3];
    struct cube cube = {.level = 0};
    storm_mesh_bounds(mesh, cell, lo, hi);
    cube.level =
        (int)lround(log2(1.0 / (octree_roots(c, 0) * (hi[0] - lo[0]))));
    for (int d = 0; d < 3; d++) {
        double n = ldexp(octree_roots(c, d), cube.level);
        cube.ijk[d] = (int32_t)lround(lo[d] * n);
        CHECK(lo[d] == (double)cube.ijk[d] / n);
        CHECK(hi[d] == (double)(cube.ijk[d] + 1) / n);
    }
    return cube;
}

#endif /* TESTS_MESH_OCTREE_CASES_H */
