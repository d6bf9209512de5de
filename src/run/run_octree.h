/* SPDX-License-Identifier: BSD-3-Clause */
/* Octrees that are finer where the material changes. */
#ifndef STORM_RUN_OCTREE_H
#define STORM_RUN_OCTREE_H

#include <storm/octree.h>
#include <storm/problem.h>

/*
 * A callback for storm_octree_params.refine; `self` is a struct storm_problem.
 * Is there more than one material in or right next to a cell? It is asked for
 * at RUN_OCTREE_POINTS points per direction, from 1/64 of the width below the
 * cell to as much above it, in the box: both cells at an interface that is
 * their common face are refined, and layers thinner than about a quarter of a
 * cell may be missed. Points outside (STORM_OUTSIDE) do not count.
 */
enum { RUN_OCTREE_POINTS = 5 };
bool run_octree_refine(void *self, const double lo_cm[3], const double hi_cm[3],
                       int level);

#endif /* STORM_RUN_OCTREE_H */
