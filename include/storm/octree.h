/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/octree.h
 * Octree meshes: boxes that are cut in eight where finer cells are wanted.
 *
 * The mesh has all the calls of storm/mesh.h. storm_mesh_adapt (storm/change.h)
 * refines and coarsens it between steps.
 */
#ifndef STORM_OCTREE_H
#define STORM_OCTREE_H

#include <storm/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest level of a cell, whatever the number of root cells. */
#define STORM_OCTREE_MAX_LEVEL 20

/** Numbers that describe a cell: its level, and its indices in the three
 *  directions among the n[d] * 2^level cells that there are of this level, from
 *  the low walls on. */
enum { STORM_OCTREE_LEAF = 4 };

/** Zero in a field means "choose for me". Copied by create. */
struct storm_octree_params {
    size_t size;               /**< of this struct: STORM_OCTREE_PARAMS_INIT */
    double lo_cm[3], hi_cm[3]; /**< the box */
    int64_t n[3];      /**< root cells per direction; 0 means 1. With as many as
                            make them cubes, all cells are cubes */
    bool periodic[3];  /**< opposite walls are neighbours */
    int level;         /**< all cells are at least of this level: a root cell,
                            level 0, is cut into 2^level per direction */
    int refine_levels; /**< cells are refined to level + refine_levels at
                            most */
    /** Is a cell of this level, with this box, to be cut in eight? Called for
     *  cells of levels from `level` to level + refine_levels - 1, on any rank
     *  and in any order: the answer must depend on the arguments alone. NULL:
     *  never. */
    bool (*refine)(void *self, const double lo_cm[3], const double hi_cm[3],
                   int level);
    void *refine_self;
    /** All cells, instead of level, refine_levels and refine, which then do not
     *  count: a mesh as it was (storm_octree_leaf). This rank's share of them,
     *  in any order, STORM_OCTREE_LEAF numbers each; borrowed during create. */
    const int64_t *leaves;
    uint64_t n_leaves; /**< their number; may be 0 on some ranks */
    /** Tags of the leaves, below 2^48, all different; from all ranks that have
     *  leaves. NULL: their places along the Hilbert curve. */
    const storm_cell_id *tags;
    /** With tags: above all that have existed, the same on every rank; 0: above
     *  those that are given. */
    storm_cell_id next_tag;
};
#define STORM_OCTREE_PARAMS_INIT STORM_INIT(struct storm_octree_params)

/**
 * An octree in a box, partitioned into equal numbers of cells.
 *
 * Cells that touch, in a face, an edge or a corner, also through periodic
 * walls, differ by one level at most: where `refine` leaves more, the larger
 * ones are refined, and no others. A side of a cell whose neighbours are
 * smaller has four faces, one for each.
 *
 * Collective: same params but for leaves and tags on every rank; an error of
 * one rank is one on all. The mesh has the same ids and bits on any number of
 * ranks, whichever ranks give which leaves; no rank holds all of it. More ranks
 * than cells is allowed; some then have none.
 *
 * @param[out] mesh_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG     empty box, too many cells (2^48, or 2^31 on a
 *                           rank), level + refine_levels is more than
 *                           STORM_OCTREE_MAX_LEVEL or than so many root cells
 *                           or a box so far from the origin allow, no
 *                           STORM_OCTREE_PARAMS_INIT (logged); leaves that
 *                           overlap, do not fill the box or are not balanced,
 *                           tags that are too large, equal or not given by all
 *                           ranks (logged)
 * @retval STORM_ERR_NOSUP   a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_create_octree(struct storm_context *context,
                         const struct storm_octree_params *params,
                         struct storm_mesh **mesh_out);

/** A local cell as storm_octree_params.leaves takes it. Local.
 *  @retval STORM_ERR_NOSUP  the mesh is no octree */
STORM_API STORM_MUST_CHECK storm_status
storm_octree_leaf(const struct storm_mesh *mesh, storm_cell_idx cell,
                  int64_t leaf_out[STORM_OCTREE_LEAF]);

#ifdef __cplusplus
}
#endif
#endif /* STORM_OCTREE_H */
