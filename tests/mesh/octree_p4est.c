/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * OCTREE-1: the same leaves as p4est makes, on as many ranks, of the same
 * callback with balance over faces, edges and corners. Skipped without p4est.
 */
#include <stdio.h>

#include <storm/context.h>

#include "octree_cases.h"
#include "p4est/p4est_leaves.h"
#include "support/dice.h"

/* A set of leaves, in any order, on all ranks: numbers by level, and the sum of
 * a hash of each. */
enum { LEVELS = STORM_OCTREE_MAX_LEVEL + 1 };
struct leaves {
    const struct storm_octree_params *octree;
    uint64_t sum[LEVELS + 1];
};

static void add(struct leaves *leaves, const struct cube *cube)
{
    uint64_t hash = (uint64_t)cube->level;
    for (int d = 0; d < 3; d++)
        hash = dice_mix(hash + (uint64_t)cube->ijk[d] + 1);
    leaves->sum[cube->level]++;
    leaves->sum[LEVELS] += hash;
}

static bool ask(void *self, const struct p4est_cube *theirs)
{
    const struct leaves *leaves = self;
    struct cube cube = {theirs->level,
                        {theirs->ijk[0], theirs->ijk[1], theirs->ijk[2]}};
    return octree_asks(leaves->octree, &cube);
}

static void visit(void *self, const struct p4est_cube *theirs)
{
    struct cube cube = {theirs->level,
                        {theirs->ijk[0], theirs->ijk[1], theirs->ijk[2]}};
    add(self, &cube);
}

static void visit_ours(struct storm_context *context, struct leaves *leaves)
{
    struct storm_mesh *mesh;
    CHECK_OK(storm_mesh_create_octree(context, leaves->octree, &mesh));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        struct cube cube = octree_cube(leaves->octree, mesh, i);
        add(leaves, &cube);
    }
    storm_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    static struct leaves ours[OCTREE_CASES], theirs[OCTREE_CASES];
    struct p4est_case cases[OCTREE_CASES];
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < OCTREE_CASES; i++) {
        const struct storm_octree_params *c = &octree_cases[i];
        ours[i].octree = theirs[i].octree = c;
        cases[i] = (struct p4est_case){.max_level = c->level + c->refine_levels,
                                       .refine = ask,
                                       .visit = visit,
                                       .self = &theirs[i]};
        for (int d = 0; d < 3; d++) {
            cases[i].n[d] = octree_roots(c, d);
            cases[i].periodic[d] = c->periodic[d];
        }
    }
    bool is_there = p4est_leaves(MPI_COMM_WORLD, cases, OCTREE_CASES);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    for (int i = 0; i < OCTREE_CASES && is_there; i++) {
        visit_ours(context, &ours[i]);
        MPI_Allreduce(MPI_IN_PLACE, ours[i].sum, LEVELS + 1, MPI_UINT64_T,
                      MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, theirs[i].sum, LEVELS + 1, MPI_UINT64_T,
                      MPI_SUM, MPI_COMM_WORLD);
        for (int k = 0; k <= LEVELS; k++) {
            check_where("case %d, %s %d", i,
                        k < LEVELS ? "leaves of level" : "hash", k);
            CHECK_EQ(ours[i].sum[k], theirs[i].sum[k]);
        }
    }
    storm_context_destroy(context);
    MPI_Finalize();
    if (!is_there)
        printf("built without p4est\n");
    return is_there ? CHECK_PASS : CHECK_SKIP;
}
