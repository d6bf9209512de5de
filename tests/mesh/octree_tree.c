/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 5; timeout: 60 */
/*
 * OCTREE-1 against brute force: refine as the callback asks, then cut cells
 * that touch much smaller ones until there are none. OCTREE-3: a uniform octree
 * is a Cartesian mesh, ids included. OCTREE-4: no rank holds the tree, also if
 * all of it is below one root. Parameters that are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "octree_brute.h"

/* ---- brute force -------------------------------------------------------- */

static void grow(struct tree *tree)
{
    const struct storm_octree_params *c = tree->octree;
    tree->n = 0;
    for (int32_t i = 0; i < octree_roots(c, 0); i++)
        for (int32_t j = 0; j < octree_roots(c, 1); j++)
            for (int32_t k = 0; k < octree_roots(c, 2); k++)
                tree->cubes[tree->n++] = (struct cube){0, {i, j, k}};
    for (int i = 0; i < tree->n;) {
        if (octree_asks(c, &tree->cubes[i]))
            tree_cut(tree, i);
        else
            i++;
    }
    tree_balance(tree);
}

static int compare(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct cube));
}

static void check_tree(struct storm_context *alone,
                       const struct storm_octree_params *octree)
{
    static struct tree right, found;
    struct storm_mesh *mesh;
    right.octree = octree;
    grow(&right);
    CHECK_OK(storm_mesh_create_octree(alone, octree, &mesh));
    found.n = storm_mesh_n_cells(mesh);
    CHECK_EQ(found.n, right.n);
    for (storm_cell_idx i = 0; i < found.n; i++)
        found.cubes[i] = octree_cube(octree, mesh, i);
    qsort(right.cubes, (size_t)right.n, sizeof *right.cubes, compare);
    qsort(found.cubes, (size_t)found.n, sizeof *found.cubes, compare);
    CHECK(memcmp(right.cubes, found.cubes,
                 (size_t)right.n * sizeof *right.cubes) == 0);
    printf("%d cells\n", found.n);
    storm_mesh_destroy(mesh);
}

/* ---- the rest ----------------------------------------------------------- */

static void check_uniform(struct storm_context *context)
{
    const struct storm_octree_params octree = {.size = sizeof octree,
                                               .lo_cm = {-0.3, 7, 0.1},
                                               .hi_cm = {0.9, 7.7, 1.3},
                                               .n = {2, 1, 4},
                                               .level = 3};
    struct storm_cart_params cart = {.size = sizeof cart, .n = {16, 8, 32}};
    struct storm_mesh *a, *b;
    memcpy(cart.lo_cm, octree.lo_cm, sizeof cart.lo_cm);
    memcpy(cart.hi_cm, octree.hi_cm, sizeof cart.hi_cm);
    CHECK_OK(storm_mesh_create_octree(context, &octree, &a));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &b));
    CHECK_EQ(storm_mesh_n_cells(a), storm_mesh_n_cells(b));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(a); i++) {
        double x[2][2][3];
        CHECK_EQ(storm_mesh_cell_id(a, i), storm_mesh_cell_id(b, i));
        storm_mesh_bounds(a, i, x[0][0], x[0][1]);
        storm_mesh_bounds(b, i, x[1][0], x[1][1]);
        CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
    }
    storm_mesh_destroy(a);
    storm_mesh_destroy(b);
}

static size_t peak_bytes(struct storm_context *context)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry)); /* "total" */
    CHECK_EQ(entry.bytes, 0);
    return entry.peak_bytes;
}

/* Refinement in one corner of one root. */
static void check_memory(void)
{
    static struct sphere corner = {.radius_cm = 0.04};
    const struct storm_octree_params octree = {.size = sizeof octree,
                                               .hi_cm = {1, 1, 1},
                                               .refine_levels = 11,
                                               .refine = sphere_refine,
                                               .refine_self = &corner};
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    size_t peak[2];
    for (int k = 0; k < 2; k++) {
        struct storm_context *context;
        struct storm_mesh *mesh;
        CHECK_OK(storm_context_create(comms[k], NULL, &context));
        CHECK_OK(storm_mesh_create_octree(context, &octree, &mesh));
        storm_mesh_destroy(mesh);
        peak[k] = peak_bytes(context);
        storm_context_destroy(context);
    }
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("peak %zu of %zu bytes\n", peak[0], peak[1]);
    CHECK(peak[0] * (size_t)size <= 3 * peak[1]); /* messages, doubling */
}

static int n_errors;

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *text)
{
    (void)self;
    (void)rank;
    (void)text;
    n_errors += level == STORM_LOG_ERROR;
}

static void refuse(struct storm_context *context,
                   const struct storm_octree_params *params)
{
    struct storm_mesh *mesh = NULL;
    n_errors = 0;
    CHECK_EQ(storm_mesh_create_octree(context, params, &mesh), STORM_ERR_ARG);
    CHECK(mesh == NULL);
    CHECK_EQ(n_errors, 1);
}

static void check_refused(struct storm_context *context)
{
    static const struct storm_octree_params bad[] = {
        OCTREE_CASE(0, -1, 0, .periodic = {false}),
        OCTREE_CASE(0, 1, -1, .periodic = {false}),
        OCTREE_CASE(0, 11, 10, .periodic = {false}),
        OCTREE_CASE(0, INT32_MAX, INT32_MAX, .periodic = {false}),
        OCTREE_CASE(0, 16, 0, .periodic = {false}), /* 2^48 cells */
        OCTREE_CASE(0, 1, 19, .n = {2, 2, 2}),
        OCTREE_CASE(0, 0, 0, .n = {1, -1, 1}),
        OCTREE_CASE(0, 0, 0, .n = {1, 1, INT64_MAX}),
        OCTREE_CASE(0, 2, 18, .lo_cm = {1.0 - 0x1p-31, 0, 0}),
        OCTREE_CASE(0, 1, 0, .lo_cm = {0, 0, 1}),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_where("refused %d", (int)i);
        refuse(context, &bad[i]);
    }
    struct storm_octree_params empty;
    memset(&empty, 0, sizeof empty);
    refuse(context, &empty);
}

int main(int argc, char **argv)
{
    struct storm_context *all, *alone;
    const struct storm_context_params quiet = {.size = sizeof quiet,
                                               .log = count_errors};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, &quiet, &alone));
    for (int i = 0; i < OCTREE_CASES && storm_context_size(all) == 1; i++) {
        check_where("case %d", i);
        check_tree(alone, &octree_cases[i]);
    }
    check_uniform(all);
    check_refused(alone);
    storm_context_destroy(alone);
    storm_context_destroy(all);
    check_where("memory");
    check_memory();
    MPI_Finalize();
    return CHECK_PASS;
}
