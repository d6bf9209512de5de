/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of the cells of a rank when the mesh changes.
 *
 *   CHANGE-1  `to` and `from` are inverse to each other, over all ranks, for
 *             cells that exist before and after.
 *   CHANGE-2  A cell that is gone leads to one that exists; every packet in it
 *             has where to begin. Which one does not depend on the number of
 *             ranks or the partition.
 *   CHANGE-3  A change leads from one generation to one: using it with another
 *             is an error.
 */
#ifndef STORM_MESH_CHANGE_H
#define STORM_MESH_CHANGE_H

#include <storm/change.h>

#include "mesh/mesh_ops.h"

struct storm_change {
    const struct storm_env *env;
    uint64_t before, generation; /* of the mesh, before and after it */
    bool is_cut; /* cells have the shapes they had: only owners differ */
    storm_cell_idx n_old, n_new;
    struct storm_cell_ref *to;   /* by old cell */
    bool *is_gone;               /* by old cell; NULL: none is */
    struct storm_cell_ref *from; /* by new cell; rank -1: it is new */
};

/*
 * The change to `next`, whose `from` it takes over. Collective; the mesh still
 * is what it was. `status` is that of this rank so far.
 */
storm_status storm_change_make(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out);

/* The change that changes nothing. Local. */
storm_status storm_change_none(const struct storm_mesh *mesh,
                               struct storm_change **change_out);

/* mesh_cut.c: the weights of all cuts follow. Collective. */
storm_status storm_cuts_carry(struct storm_mesh *mesh,
                              const struct storm_change *change);
/* The weights of the cut in use, NULL: all one. */
const uint64_t *storm_cut_weight(const struct storm_mesh *mesh);

/* mesh_halo.c: forget the ghosts. */
void storm_halo_close(struct storm_mesh *mesh);
/* The number of a neighbour among the ghosts; -1: not known. */
storm_cell_idx storm_halo_find(const struct storm_mesh *mesh, int rank,
                               storm_cell_idx idx);

#endif /* STORM_MESH_CHANGE_H */
