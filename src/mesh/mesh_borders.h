/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies behind faces that do not simply lead to a local cell, for meshes
 * whose cells are boxes along the axes. A cell refers to a border by ~index;
 * the first six are the walls.
 */
#ifndef STORM_MESH_BORDERS_H
#define STORM_MESH_BORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh/mesh_ops.h"

/* Max number of borders: below ~it a kind may use numbers of its own. */
enum { STORM_BORDERS_MAX = INT32_MAX / 2 };

struct storm_border {
    storm_cell_id id; /* of the neighbour */
    int32_t rank;     /* its owner, maybe this rank; -1: wall */
    storm_cell_idx idx;
    int32_t wall; /* -1: none */
    bool wraps;   /* through a periodic wall: position jumps to the other */
};

struct storm_borders {
    struct storm_border *array;
    size_t n, capacity;
};

/* The walls. STORM_ERR_NOMEM; close also after an error. */
storm_status storm_borders_open(const struct storm_env *env,
                                struct storm_borders *borders_out);

/* next_out is what a cell refers to it by. STORM_ERR_NOMEM. */
storm_status storm_borders_add(const struct storm_env *env,
                               struct storm_borders *borders,
                               const struct storm_border *border,
                               int32_t *next_out);

void storm_borders_close(const struct storm_env *env,
                         struct storm_borders *borders);

/* Sets where a face leads: `next` of the cell. */
void storm_borders_face(const struct storm_mesh *mesh,
                        const struct storm_borders *borders, int32_t next,
                        struct storm_face *face_out);

static inline struct storm_mesh_exit
storm_border_exit(const struct storm_border *border)
{
    return (struct storm_mesh_exit){border->id, border->rank, border->idx,
                                    border->wall};
}

#endif /* STORM_MESH_BORDERS_H */
