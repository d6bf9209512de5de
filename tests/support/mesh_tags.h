/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tags in no order and with gaps, for a mesh that has never changed: what a
 * history of refinement and motion would leave.
 */
#ifndef STORM_TESTS_MESH_TAGS_H
#define STORM_TESTS_MESH_TAGS_H

#include "base/env.h"
#include "mesh/mesh_ops.h"
#include "support/check.h"

/* The tag that is the n-th of all, from 0. */
static inline storm_cell_id tags_nth(const struct storm_mesh *mesh, uint64_t n)
{
    return mesh->part->tags != NULL ? n + n / 4 * 3 + 1 : n;
}

/* Local. The caller calls restore before the mesh is destroyed. */
static inline void tags_permute(struct storm_mesh *mesh)
{
    struct storm_mesh_part *part = mesh->part;
    size_t n = (size_t)part->n_cells;
    uint64_t step = 7919; /* a prime */
    storm_cell_id *tags =
        storm_alloc(mesh->env->memory, "test", (n + 1) * sizeof *tags);
    CHECK(tags != NULL);
    CHECK(mesh->n_total % step != 0);
    part->tags = tags;
    for (size_t i = 0; i < n; i++)
        tags[i] = tags_nth(mesh, (part->first + i) * step % mesh->n_total);
    mesh->next_tag = tags_nth(mesh, mesh->n_total - 1) + 1;
}

static inline void tags_restore(struct storm_mesh *mesh)
{
    storm_free(mesh->env->memory, mesh->part->tags);
    mesh->part->tags = NULL;
    mesh->next_tag = mesh->n_total;
}

#endif /* STORM_TESTS_MESH_TAGS_H */
