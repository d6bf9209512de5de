/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions of a mesh by weights, one per local cell, for tests that need no
 * cut of their own. Collective. */
#ifndef STORM_TESTS_CUTS_H
#define STORM_TESTS_CUTS_H

#include <storm/change.h>

#include "support/check.h"

/* The change is the caller's. */
static inline struct storm_change *cut_change(struct storm_mesh *mesh,
                                              const uint64_t *weight)
{
    struct storm_cut *cut;
    struct storm_change *change;
    CHECK_OK(storm_cut_create(mesh, &cut));
    storm_cut_set(cut, weight);
    CHECK_OK(storm_mesh_use(mesh, cut, &change));
    storm_cut_destroy(cut);
    return change;
}

static inline void cut_mesh(struct storm_mesh *mesh, const uint64_t *weight)
{
    storm_change_destroy(cut_change(mesh, weight));
}

#endif /* STORM_TESTS_CUTS_H */
