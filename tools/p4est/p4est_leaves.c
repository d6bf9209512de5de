/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4est/p4est_leaves.h"

#include <math.h>

#include <p8est_bits.h>
#include <p8est_extended.h>

/* A quadrant of a tree as a cube of the whole grid. */
static struct p4est_cube leaves_cube(p8est_t *p8est, p4est_topidx_t tree,
                                     const p8est_quadrant_t *quadrant)
{
    const p8est_connectivity_t *c = p8est->connectivity;
    const double *corner =
        c->vertices + 3 * c->tree_to_vertex[P8EST_CHILDREN * tree];
    const int32_t at[3] = {quadrant->x, quadrant->y, quadrant->z};
    struct p4est_cube cube = {.level = quadrant->level};
    for (int d = 0; d < 3; d++)
        cube.ijk[d] = (int32_t)lround(corner[d]) * (1 << quadrant->level) +
                      (at[d] >> (P8EST_MAXLEVEL - quadrant->level));
    return cube;
}

static int leaves_refine(p8est_t *p8est, p4est_topidx_t tree,
                         p8est_quadrant_t *quadrant)
{
    const struct p4est_case *c = p8est->user_pointer;
    struct p4est_cube cube = leaves_cube(p8est, tree, quadrant);
    return cube.level < c->max_level && c->refine(c->self, &cube);
}

static void leaves_visit(p8est_t *p8est, const struct p4est_case *c)
{
    for (p4est_topidx_t t = p8est->first_local_tree;
         t <= p8est->last_local_tree; t++) {
        p8est_tree_t *tree = p8est_tree_array_index(p8est->trees, t);
        for (size_t i = 0; i < tree->quadrants.elem_count; i++) {
            struct p4est_cube cube =
                leaves_cube(p8est, t,
                            p8est_quadrant_array_index(&tree->quadrants, i));
            c->visit(c->self, &cube);
        }
    }
}

bool p4est_leaves(MPI_Comm comm, const struct p4est_case *cases, int n_cases)
{
    sc_init(comm, 0, 0, NULL, SC_LP_SILENT);
    p4est_init(NULL, SC_LP_SILENT);
    for (int i = 0; i < n_cases; i++) {
        struct p4est_case own = cases[i];
        p8est_connectivity_t *box =
            p8est_connectivity_new_brick(own.n[0], own.n[1], own.n[2],
                                         own.periodic[0], own.periodic[1],
                                         own.periodic[2]);
        p8est_t *p8est = p8est_new(comm, box, 0, NULL, &own);
        p8est_refine(p8est, 1, leaves_refine, NULL);
        p8est_balance(p8est, P8EST_CONNECT_FULL, NULL);
        leaves_visit(p8est, &own);
        p8est_destroy(p8est);
        p8est_connectivity_destroy(box);
    }
    sc_finalize();
    return true;
}
