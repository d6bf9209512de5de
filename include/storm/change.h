/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/change.h
 * Meshes that change between steps - motion, refinement, another partition -
 * and what becomes of the data that belongs to their cells.
 *
 * Whatever changes a mesh counts its generation up and yields a change: for
 * each cell that this rank had, where it is now. Arrays of the host follow by
 * storm_mesh_carry, packets by storm_remap (storm/remap.h). Objects made for an
 * earlier generation (physics, polyhedra) return STORM_ERR_STATE (logged)
 * until they have followed, too.
 *
 * Identity   a cell keeps its id, its tag, for as long as it exists, on
 *            whichever rank; tags are never used again.
 * Lifecycle  a change is made by a call that changes the mesh, is used for
 *            arrays and packets, and destroyed.
 * Progress   calls named collective block until all ranks have called them.
 * Errors     after an error the mesh is as it was. All collective calls return
 *            STORM_ERR_NOMEM, STORM_ERR_PEER (another rank failed; it has
 *            logged why), STORM_ERR_FABRIC and STORM_ERR_LOST beside what is
 *            listed with them.
 * Threads    one at a time per mesh.
 */
#ifndef STORM_CHANGE_H
#define STORM_CHANGE_H

#include <storm/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_change; /* opaque */
struct storm_cut;    /* opaque */

/** @name Changes. */
/** @{ */

/** Another box for a mesh that moves. */
struct storm_mesh_box {
    double lo_cm[3], hi_cm[3];
};

/**
 * Move the generators of a Voronoi mesh. Tags stay, places along the curve and
 * local indices do not; the partition follows the cut in use, unless the mesh
 * keeps the caller's. Collective.
 *
 * @param generators_cm  three coordinates per local cell, in order. In periodic
 *                       directions they may lie outside the box and are
 *                       wrapped.
 * @param box            the same on every rank; NULL: as it was
 * @param[out] change_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG    a generator outside the box, two at the same place,
 *                          an empty box (logged)
 * @retval STORM_ERR_NOSUP  cells of this kind of mesh have no generators
 *                          (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_move(struct storm_mesh *mesh, const double *generators_cm,
                const struct storm_mesh_box *box,
                struct storm_change **change_out);

/** What storm_mesh_adapt does. Zero in a field means none. */
struct storm_adapt_params {
    size_t size; /**< of this struct: STORM_ADAPT_PARAMS_INIT */
    /** Voronoi: local cells that are removed. Octree: local cells that are
     *  joined; all eight of a parent are listed by the ranks that have them. */
    const storm_cell_idx *remove;
    size_t n_remove;
    const double
        *add_cm; /**< Voronoi: new generators, three coordinates each */
    const storm_cell_id *add_tags; /**< and their tags, never used before; NULL:
                                        chosen, also in an octree, in order of
                                        the places along the curve */
    size_t n_add;
    const storm_cell_idx *refine; /**< octree: local cells that are cut in
                                       eight */
    size_t n_refine;
};
#define STORM_ADAPT_PARAMS_INIT STORM_INIT(struct storm_adapt_params)

/**
 * Refine and coarsen between steps. Collective; each rank lists cells of its
 * own, and generators anywhere. An octree stays balanced 2:1: cells next to
 * refined ones are refined as needed, and cells are not joined if that would
 * break it. It may become finer than it was created, to the deepest level that
 * its roots allow (STORM_OCTREE_MAX_LEVEL), and coarser, to its roots. The new
 * tree depends on the old one and on the lists alone.
 *
 * @retval STORM_ERR_ARG    no such cell, a cell listed twice, a tag that exists
 *                          or has existed, no cell would be left; generators as
 *                          for storm_mesh_move; cells of an octree: not all
 *                          eight of a parent are to be joined, or one of the
 *                          deepest level is to be refined (logged)
 * @retval STORM_ERR_NOSUP  this kind of mesh cannot change its cells (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_adapt(struct storm_mesh *mesh,
                 const struct storm_adapt_params *params,
                 struct storm_change **change_out);

/** Release. Local. NULL is allowed. */
STORM_API void storm_change_destroy(struct storm_change *change);

/** What has become of a cell. */
typedef enum storm_cell_fate {
    STORM_CELL_KEPT = 0, /**< it is at `to` */
    STORM_CELL_GONE      /**< it was removed; look for its packets from `to` on:
                              the cell that it was joined to, the first of
                              those it was cut in, or the cell of a former
                              neighbour */
} storm_cell_fate;

/** Number of local cells before the change; and what became of each. Local. */
STORM_API storm_cell_idx storm_change_n_old(const struct storm_change *change);
STORM_API storm_cell_fate storm_change_to(const struct storm_change *change,
                                          storm_cell_idx old,
                                          struct storm_cell_ref *to_out);
/** Where a cell that is local now was before; false: it is new. Local. */
STORM_API bool storm_change_from(const struct storm_change *change,
                                 storm_cell_idx cell,
                                 struct storm_cell_ref *from_out);
/** @} */

/** @name Partitions: a cut gives every rank about the same weight. */
/** @{ */

/**
 * A cut of @p mesh; all weights are one. Cuts that are left are destroyed with
 * the mesh. A mesh may have several: one for a host and one for the Monte Carlo
 * work. Weights follow their cells through all changes of the mesh; new cells
 * have weight one. Collective.
 */
STORM_API STORM_MUST_CHECK storm_status
storm_cut_create(struct storm_mesh *mesh, struct storm_cut **cut_out);

/** Release. Local, but on all ranks before the mesh changes again. NULL is
 *  allowed. The mesh stays as it is partitioned; when it moves next, cells
 *  count one each. */
STORM_API void storm_cut_destroy(struct storm_cut *cut);

/** Set the weights: one per local cell, in order, as they are now. Local. */
STORM_API void storm_cut_set(struct storm_cut *cut, const uint64_t *weight);

/** The same by a callback, called once per local cell. Local. */
STORM_API void
storm_cut_fill(struct storm_cut *cut,
               uint64_t (*weight)(void *self, storm_cell_idx cell), void *self);

/**
 * Max over mean of the weights by rank: as the mesh is partitioned now, and as
 * the cut would have it. Collective.
 *
 * @retval STORM_ERR_ARG  weights add up to 2^96 or more (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_cut_imbalance(struct storm_cut *cut, double *now_out, double *then_out);

/**
 * Partition the mesh by @p cut. It depends on the weights of the cells alone,
 * not on the present partition. Only cells that change hands move. Collective.
 *
 * @retval STORM_ERR_ARG    weights add up to 2^96 or more, a rank would get
 *                          2^31 cells, or the cut is of another mesh (logged)
 * @retval STORM_ERR_NOSUP  the partition of this mesh is the host's (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_use(struct storm_mesh *mesh, struct storm_cut *cut,
               struct storm_change **change_out);
/** @} */

/** @name Data per cell. */
/** @{ */

/**
 * Move an array with @p bytes per cell to where the cells are now. Collective.
 *
 * @param bytes     of a row, the same on every rank
 * @param in        one row per local cell before the change, in order
 * @param[out] out  one row per local cell now, in another array; zero where the
 *                  cell is new
 * @retval STORM_ERR_ARG    the change is of another mesh (logged)
 * @retval STORM_ERR_STATE  the mesh has changed again since (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_carry(const struct storm_mesh *mesh,
                 const struct storm_change *change, size_t bytes,
                 const void *in, void *out);

/** Cells of other ranks that have a face in common with a local one. The i-th
 *  ghost is what struct storm_face calls ghost i. Collective when it is called
 *  first after a change, then local. */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_n_ghosts(struct storm_mesh *mesh, storm_cell_idx *n_out);

/**
 * Fetch rows of @p bytes of all ghosts. Collective.
 *
 * @param local        one row per local cell
 * @param[out] ghosts  one row per ghost
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_ghosts(struct storm_mesh *mesh, size_t bytes, const void *local,
                  void *ghosts);

/** Where cells are, by their tags; rank -1: there is none. Collective: each
 *  rank asks for @p n of its own. */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_find(const struct storm_mesh *mesh, size_t n,
                const storm_cell_id *tags, struct storm_cell_ref *where_out);

/** Above all tags that exist or have existed. Local. */
STORM_API storm_cell_id storm_mesh_next_tag(const struct storm_mesh *mesh);
/** @} */

/**
 * @name Rows in order of the tags, for files that are the same on any number of
 * ranks.
 *
 * A row belongs to a cell. In order of the tags, each rank has a share of the
 * rows of all cells, equal but for one row.
 */
/** @{ */

/** Are tags places? Then the cells of rank 0, 1, ... one after the other are in
 *  order of their tags, and files need no exchange. The same on every rank.
 *  Local. */
STORM_API bool storm_mesh_is_in_order(const struct storm_mesh *mesh);

/** The number of rows in this rank's share, which begins with row
 *  n_cells_total * rank / n_ranks. Local. */
STORM_API size_t storm_mesh_n_rows(const struct storm_mesh *mesh);

/**
 * From cells to rows. Collective.
 *
 * @param bytes      of a row, the same on every rank
 * @param in         one row per local cell
 * @param[out] rows  this rank's share, storm_mesh_n_rows rows
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_rows(const struct storm_mesh *mesh, size_t bytes, const void *in,
                void *rows);

/**
 * The same for rows of different sizes. Sizes that the ranks receive come from
 * storm_mesh_rows of the sizes. Collective.
 *
 * @param bytes      of the row of each local cell, may be 0
 * @param in         these rows, one after the other without gaps
 * @param[out] rows  this rank's share, one after the other without gaps
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_rows_sized(const struct storm_mesh *mesh, const size_t *bytes,
                      const void *in, void *rows);

/**
 * From rows to cells: the inverse of storm_mesh_rows. Collective.
 *
 * @param bytes     of a row, the same on every rank
 * @param rows      this rank's share
 * @param[out] out  one row per local cell
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_unrows(const struct storm_mesh *mesh, size_t bytes, const void *rows,
                  void *out);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_CHANGE_H */
