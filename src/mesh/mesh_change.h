/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of the cells of a rank when the mesh changes.
 *
 *   CHANGE-1  `to` and `from` are inverse to each other, over all ranks, for
 *             cells that exist before and after.
 *   CHANGE-2  A cell that is gone leads to one that exists; every packet in it
 *             has where to begin: the cell that it was joined to, the first
 *             part along the curve of what it was cut into, or that of a
 *             former neighbour. Which one does not depend on the number of
 *             ranks or the partition.
 *   CHANGE-3  A change leads from one generation of one mesh to one: using it
 *             with another is an error.
 */
#ifndef STORM_MESH_CHANGE_H
#define STORM_MESH_CHANGE_H

#include <storm/change.h>

#include "mesh/mesh_ops.h"

struct storm_change {
    const struct storm_env *env;
    const struct storm_mesh *mesh; /* to compare: it may be destroyed */
    uint64_t before, generation;   /* of the mesh, before and after it */
    uint64_t moved;                /* of the mesh, before it */
    bool is_cut; /* cells have the shapes they had: only owners differ */
    storm_cell_idx n_old, n_new;
    struct storm_cell_ref *to;   /* by old cell */
    bool *is_gone;               /* by old cell; NULL: none is */
    struct storm_cell_ref *from; /* by new cell; rank -1: it is new */
    /* NULL, on all ranks: cells are not cut or joined. */
    struct storm_cell_ref *part_of; /* by new cell: the old one that was cut
                                       into it and others; rank -1: none */
    struct storm_mesh_heir *heirs;  /* by old cell */
};

/* Was an old cell cut into new ones? */
static inline bool storm_change_is_cut_up(const struct storm_change *change,
                                          storm_cell_idx old)
{
    return change->heirs != NULL && change->heirs[old].is_part;
}

/*
 * The change to `next`, whose arrays by cell it takes over. Collective; the
 * mesh still is what it was. `status` is that of this rank so far.
 */
storm_status storm_change_make(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out);

/* What has been built, of cells that are others than they were, takes the place
 * of what was, and the weights of the cuts follow. Collective; `status` is that
 * of this rank so far. Takes `next` over, also after an error, and then leaves
 * the mesh as it was. */
storm_status storm_mesh_commit(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out);

/* The change that changes nothing. Local. */
storm_status storm_change_none(const struct storm_mesh *mesh,
                               struct storm_change **change_out);

/* CHANGE-3: is it of this mesh, and leads to what that is now? If not,
 * STORM_ERR_ARG or STORM_ERR_STATE, logged; `call` is what the user called.
 * Local. */
storm_status storm_change_check(const struct storm_mesh *mesh,
                                const struct storm_change *change,
                                const char *call);

/* Like storm_mesh_carry, for cells that are parts of an old one: they get its
 * row. Rows of other cells stay as they are. Collective. */
storm_status storm_change_inherit(const struct storm_mesh *mesh,
                                  const struct storm_change *change,
                                  size_t bytes, const void *in, void *out);

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
