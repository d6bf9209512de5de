/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Octrees by p4est (C. Burstedde, L. C. Wilcox, O. Ghattas, SIAM J. Sci.
 * Comput. 33, 1103, 2011), to compare ours with. Without p4est the function
 * returns false.
 */
#ifndef TOOLS_P4EST_P4EST_LEAVES_H
#define TOOLS_P4EST_P4EST_LEAVES_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

/* A cube: its level, and its index on the grid of that level. */
struct p4est_cube {
    int level;
    int32_t ijk[3];
};

struct p4est_case {
    int n[3]; /* trees */
    bool periodic[3];
    int max_level;
    /* Is a cube to be cut in eight? */
    bool (*refine)(void *self, const struct p4est_cube *cube);
    /* Called for each leaf of this rank. */
    void (*visit)(void *self, const struct p4est_cube *cube);
    void *self;
};

/* Refines from the roots, balances over faces, edges and corners, and visits
 * the leaves. Collective; once per program. False: built without p4est. */
bool p4est_leaves(MPI_Comm comm, const struct p4est_case *cases, int n_cases);

#endif /* TOOLS_P4EST_P4EST_LEAVES_H */
