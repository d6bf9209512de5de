/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/voronoi.h
 * Voronoi meshes: what storm/mesh.h says of all meshes is true of them, and
 * storm/change.h can move their generators, add and remove some.
 *
 * Lifecycle  create, queries, maybe changes, storm_mesh_destroy.
 * Threads    as for all meshes.
 */
#ifndef STORM_VORONOI_H
#define STORM_VORONOI_H

#include <storm/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero in a field means "choose for me". Copied by create. */
struct storm_voronoi_params {
    size_t size;               /**< of this struct: STORM_VORONOI_PARAMS_INIT */
    double lo_cm[3], hi_cm[3]; /**< the box */
    const double *points_cm;   /**< this rank's share of the generators, three
                                    coordinates each; borrowed during create */
    uint64_t n_points;         /**< their number; may be 0 on some ranks */
    uint32_t lloyd; /**< number of times that each generator is moved to the
                         centroid of its cell */
    /** Tags of the points, below 2^48, all different; from all ranks that have
     *  points. NULL: their places along the Hilbert curve. */
    const storm_cell_id *tags;
    /** With tags: above all that have existed, the same on every rank; 0: above
     *  those that are given. */
    storm_cell_id next_tag;
    /** The same on every rank. Cells stay on the rank that gave their points,
     *  for good; a rank's indices are in order of the places along the curve.
     *  false: equal numbers of cells. */
    bool keep_partition;
    /** Set on STORM_OK, by point: the tag of its cell; NULL: not wanted. */
    storm_cell_id *tags_out;
    struct storm_cell_ref *where_out; /**< the same: where its cell is */
    bool periodic[3]; /**< opposite walls are neighbours; points outside the box
                           are moved into it by multiples of its length */
};
#define STORM_VORONOI_PARAMS_INIT STORM_INIT(struct storm_voronoi_params)

/**
 * The Voronoi cells of points, in a box: each is the part of the box nearer to
 * its generator than to any other, in periodic directions across the walls. A
 * cell may go through them, be its own neighbour, and have several faces in
 * common with another; its bounds and its polyhedron are around its generator
 * and may then reach out of the box.
 *
 * Collective: same params but for the points on every rank; an error of one
 * rank is one on all. Which rank gives which points does not matter: the mesh
 * has the same tags and bits for any number of ranks and any order of the
 * points; keep_partition changes neither. Points are rounded to 2^-52 of the
 * largest coordinate of the box; of a periodic box, of its nearest images.
 *
 * @param[out] mesh_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG     empty box, no or too many points, a point outside
 *                           the box, or two points at the same place (logged,
 *                           by number in the order of ranks); tags that are too
 *                           large, equal or not given by all ranks (logged); no
 *                           STORM_VORONOI_PARAMS_INIT (logged)
 * @retval STORM_ERR_NOSUP   a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_create_voronoi(struct storm_context *context,
                          const struct storm_voronoi_params *params,
                          struct storm_mesh **mesh_out);

/** @name Sharp interfaces: generators in pairs, mirrored where the material
 *  changes, so that faces of their cells lie there. A wall of one cell has no
 *  holes. */
/** @{ */
struct storm_pairs; /* opaque */

/**
 * The pairs of a set of points: about as dense as its points near interfaces.
 * Round an edge where two interfaces meet there are four points. All are
 * functions of the params alone. Collective: same params on every rank, and
 * each gets a share of the points.
 *
 * @param params  of any kind; `material` is required, and n_total about the
 *                number of generators in all
 * @param[out] pairs_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG  a parameter is missing (logged)
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_pairs_create(struct storm_context *context,
                   const struct storm_points_params *params,
                   struct storm_pairs **pairs_out);

/** This rank's points, three coordinates each; lent until destroy. Local. */
STORM_API const double *storm_pairs_points(const struct storm_pairs *pairs,
                                           uint64_t *n_out);

/** How many points of the set to make for the rest of the box: with those of
 *  them that storm_pairs_allow allows there are about n_total. Local. */
STORM_API uint64_t storm_pairs_n_others(const struct storm_pairs *pairs);

/** May there be another generator at @p x_cm? If all others of a mesh are so
 *  far from interfaces, its faces lie on them. Local. */
STORM_API bool storm_pairs_allow(const struct storm_pairs *pairs,
                                 const double x_cm[3]);

/** Release. Local. NULL is allowed. */
STORM_API void storm_pairs_destroy(struct storm_pairs *pairs);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_VORONOI_H */
