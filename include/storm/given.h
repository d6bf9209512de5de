/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/given.h
 * Meshes of a host: its own cells, tags, partition and boundaries.
 *
 * Cells are convex polyhedra with plane faces. Whatever rank gives a cell keeps
 * it, in the order given: the i-th cell of a rank has index i there. The domain
 * may have any shape, with holes and several pieces; its surface has numbered
 * boundaries in place of the six walls of a box.
 *
 * Lifecycle  create, then as any mesh (storm/mesh.h). A host whose mesh moves,
 *            is refined or partitioned anew replaces it; data of cells and
 *            packets follow as after any change (storm/change.h).
 * Ownership  create and replace copy what they need.
 * Precision  the plane of a face is normal . (x - point - on_plane) = 0, in
 *            double precision, with point and on_plane as given. Cells that
 *            share a face each use their own; the normal is that of the cell of
 *            lower tag, negated for the other one.
 */
#ifndef STORM_GIVEN_H
#define STORM_GIVEN_H

#include <stddef.h>
#include <stdint.h>

#include <storm/change.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The cells of this rank. Arrays have one entry per cell or per face, vectors
 * three numbers. The faces of cell i are first_face[i] .. first_face[i+1] - 1.
 *
 * Neighbours are mutual: where a face of cell a leads to cell b, b has a face
 * of the same area in the same plane that leads to a, and there is only one.
 * Several faces of a cell may lie in one plane, where neighbours are smaller: a
 * packet that crosses it enters the neighbour that contains the point. One of
 * these faces may be part of a boundary.
 */
struct storm_given_params {
    size_t size;               /**< of this struct: STORM_GIVEN_PARAMS_INIT */
    uint64_t n_cells;          /**< of this rank; 0 is allowed on some ranks */
    uint64_t n_boundaries;     /**< numbers of boundaries are below it; at most
                                2^31 - 1, the same on every rank */
    const storm_cell_id *tags; /**< unique in the run, below 2^48; they, not
                                    ranks, decide ties and the order of output.
                                    NULL: cells are numbered, rank by rank */
    const double *points_cm;   /**< vectors: a point of each cell that planes
                                    are relative to, such as its generator */
    const double *volumes_cm3;
    const double *centroids_cm; /**< vectors */
    const double *radii_cm;     /**< no corner is farther from the point; NULL:
                                     found from the planes */
    const uint64_t *first_face; /**< n_cells + 1 */

    const double *normals;      /**< vectors: outward, of any length */
    const double *on_planes_cm; /**< vectors: a point of the plane, relative to
                                     the cell's point */
    const double *areas_cm2;
    const int *ranks;                 /**< that gives the cell behind the face;
                                           -1: the face is part of a boundary */
    const storm_cell_idx *neighbours; /**< its index there, or the number of
                                           the boundary */
    const uint64_t *numbers; /**< of cells, up to 65535, for regions of a
                                  problem; NULL: all 0 */
};
#define STORM_GIVEN_PARAMS_INIT STORM_INIT(struct storm_given_params)

/**
 * A mesh of given cells.
 *
 * Collective; an error of one rank is one on all. Checked, each to 1e-6: faces
 * are mutual and lie in one plane, area times normal adds up to zero over a
 * cell, its pyramids to its volume, its point and centroid are inside.
 *
 * @param[out] mesh_out  set only on STORM_OK; free with storm_mesh_destroy
 * @retval STORM_ERR_ARG     something of this is not so, a tag is used twice, a
 *                           number out of range, no STORM_GIVEN_PARAMS_INIT
 *                           (logged, with the tag of the cell)
 * @retval STORM_ERR_NOSUP   a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_create_given(struct storm_context *context,
                        const struct storm_given_params *params,
                        struct storm_mesh **mesh_out);

/**
 * Give a mesh anew: cells may have moved, changed rank, gone or come. A cell is
 * the one that had its tag before; tags that are new were never used. A cell
 * that is gone leads to that of a former neighbour. Collective; checked as in
 * create. After an error the mesh is as it was.
 *
 * @param params  as for create, but tags are required, and the number of
 *                boundaries stays
 * @param[out] change_out  set only on STORM_OK; free with storm_change_destroy
 * @retval STORM_ERR_ARG    as for create; a tag of a cell that has gone before,
 *                          no tags, another number of boundaries (logged)
 * @retval STORM_ERR_NOSUP  the mesh is not a given one (logged)
 * @return any other status of storm_mesh_create_given
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_replace(struct storm_mesh *mesh,
                   const struct storm_given_params *params,
                   struct storm_change **change_out);

/**
 * Where a point is along the Hilbert curve of a box. Cells in this order, cut
 * into pieces, make a partition whose parts are compact. A point outside counts
 * as one at the surface. Local.
 */
STORM_API uint64_t storm_curve_position(const double lo_cm[3],
                                        const double hi_cm[3],
                                        const double point_cm[3]);

#ifdef __cplusplus
}
#endif
#endif /* STORM_GIVEN_H */
