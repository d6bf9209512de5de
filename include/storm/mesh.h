/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/mesh.h
 * Meshes that are split over the ranks of a context.
 *
 * Cells have an id, their tag, the same on any number of ranks, and an index on
 * the rank that owns them. storm/change.h has what changes a mesh: motion,
 * refinement, another partition.
 *
 * Lifecycle  create, queries, maybe changes, destroy.
 * Threads    queries may run on several threads at once.
 */
#ifndef STORM_MESH_H
#define STORM_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/packet.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_mesh;    /* opaque */

/** Faces of the box: x low, x high, y low, y high, z low, z high. */
enum { STORM_N_WALLS = 6 };

/** What a wall, or a part of it, does with packets. */
typedef enum storm_wall_kind {
    STORM_WALL_VACUUM = 0, /**< packets escape */
    STORM_WALL_REFLECT,
    STORM_WALL_PERIODIC,  /**< belongs to the mesh; both walls of a pair */
    STORM_WALL_BLACKBODY, /**< packets escape, and it emits */
    STORM_WALL_USER       /**< asks the host (storm/imc_user.h) */
} storm_wall_kind;

/** The i-th value of the deck key mesh.kind, NULL past the end; and whether
 *  this build has that kind. Local; may be called at any time. */
STORM_API const char *storm_mesh_kind_name(size_t i);
STORM_API bool storm_mesh_kind_built(size_t i);

/** Zero in a field means "choose for me". Copied by create. */
struct storm_cart_params {
    size_t size;               /**< of this struct: STORM_CART_PARAMS_INIT */
    double lo_cm[3], hi_cm[3]; /**< the box */
    int64_t n[3];              /**< cells per direction; 0 means 1 */
    double stretch[3]; /**< ratio of successive widths; 0 means 1 (uniform) */
    bool periodic[3];  /**< opposite walls are neighbours */
    /** The n[d] + 1 edges of the cells in a direction, which grow; NULL: from
     *  the box and the stretch. With edges, lo_cm and hi_cm of the direction
     *  are the first and the last of them, or both 0, and its stretch is 0 or
     *  1. */
    const double *edges_cm[3];
};
#define STORM_CART_PARAMS_INIT STORM_INIT(struct storm_cart_params)

/**
 * A Cartesian mesh in one, two or three dimensions (unused ones have one
 * cell), partitioned into equal numbers of cells.
 *
 * Collective: same params on every rank; an error of one rank is one on all.
 * More ranks than cells is allowed; some then have none.
 *
 * @param[out] mesh_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG     empty box, too many cells (2^48, or 2^31 on a
 *                           rank), bad stretch, edges that do not grow or do
 *                           not fit the box, no STORM_CART_PARAMS_INIT
 *                           (logged)
 * @retval STORM_ERR_NOSUP   a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_create_cart(struct storm_context *context,
                       const struct storm_cart_params *params,
                       struct storm_mesh **mesh_out);

/** Sets of points to make a mesh of. */
typedef enum storm_points_kind {
    STORM_POINTS_RANDOM = 0,
    STORM_POINTS_CLUSTERED, /**< groups of 200, dense in the middle */
    STORM_POINTS_LATTICE,   /**< cubic; fills the box if n_total is k^3 */
    STORM_POINTS_REFINED    /**< random, denser where the material changes */
} storm_points_kind;

struct storm_points_params {
    size_t size; /**< of this struct: STORM_POINTS_PARAMS_INIT */
    storm_points_kind kind;
    uint64_t seed;
    uint64_t n_total;
    double lo_cm[3], hi_cm[3]; /**< the box */
    /** REFINED: the material at a point of the box. Negative: none; points are
     *  not denser near it. */
    int (*material)(void *self, const double x_cm[3]);
    void *material_self;
    double refine;   /**< REFINED: ratio of densities near a change of the
                          material and elsewhere, at least 1 */
    double width_cm; /**< REFINED: max distance from the change */
};
#define STORM_POINTS_PARAMS_INIT STORM_INIT(struct storm_points_params)

/**
 * Points @p first to @p first + @p n - 1 of a set: each is a function of the
 * params and its number alone, so ranks may divide the work as they like.
 * Local; nothing is logged.
 *
 * @param[out] points_out  3 * n coordinates
 * @retval STORM_ERR_ARG    not that many points, or a parameter is missing
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks
 */
STORM_API STORM_MUST_CHECK storm_status
storm_points_make(const struct storm_points_params *params, uint64_t first,
                  uint64_t n, double *points_out);

/** Release. Local. NULL is allowed. */
STORM_API void storm_mesh_destroy(struct storm_mesh *mesh);

/** @name Local queries; none blocks. */
/** @{ */
/** Number of changes so far. Local indices are valid in one generation. */
STORM_API uint64_t storm_mesh_generation(const struct storm_mesh *mesh);
/** Number of boundaries: the six walls of a box, or those of a given mesh. */
STORM_API int storm_mesh_n_boundaries(const struct storm_mesh *mesh);
STORM_API uint64_t storm_mesh_n_cells_total(const struct storm_mesh *mesh);
STORM_API storm_cell_idx storm_mesh_n_cells(const struct storm_mesh *mesh);
/** The tag of a local cell. */
STORM_API storm_cell_id storm_mesh_cell_id(const struct storm_mesh *mesh,
                                           storm_cell_idx cell);
/** The number that a host or a file gave the cell; 0: none. */
STORM_API int storm_mesh_cell_number(const struct storm_mesh *mesh,
                                     storm_cell_idx cell);
/** First place of the cells of @p rank, which has the places up to that of the
 *  next rank; for a rank after the last, the number of all cells. */
STORM_API uint64_t storm_mesh_first_place(const struct storm_mesh *mesh,
                                          int rank);
STORM_API double storm_mesh_volume_cm3(const struct storm_mesh *mesh,
                                       storm_cell_idx cell);
STORM_API void storm_mesh_centre(const struct storm_mesh *mesh,
                                 storm_cell_idx cell, double centre_cm_out[3]);
/** The box of the mesh, or around it. */
STORM_API void storm_mesh_box(const struct storm_mesh *mesh,
                              double lo_cm_out[3], double hi_cm_out[3]);
/** The smallest box around a cell, to rounding. */
STORM_API void storm_mesh_bounds(const struct storm_mesh *mesh,
                                 storm_cell_idx cell, double lo_cm_out[3],
                                 double hi_cm_out[3]);
/** Uniform point of a cell from three uniform numbers in (0, 1). */
STORM_API void storm_mesh_sample(const struct storm_mesh *mesh,
                                 storm_cell_idx cell, const double u[3],
                                 double point_cm_out[3]);
/** The cell that contains a point, on any rank. A point on a common face
 *  belongs to the cell of higher place along the curve.
 *  @retval STORM_ERR_ARG  the point lies outside the mesh
 *  @retval STORM_AGAIN    it is in a cell of another rank, and this rank does
 *                         not know which; exactly one rank gets STORM_OK */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_locate(const struct storm_mesh *mesh, const double point_cm[3],
                  struct storm_cell_ref *where_out);

/** What lies behind a face of a local cell. */
struct storm_face {
    size_t size;              /**< of this struct: STORM_FACE_INIT */
    int rank;                 /**< owner of the neighbour; -1: a wall */
    storm_cell_idx neighbour; /**< its index there */
    int wall;                 /**< a wall, or the number of a boundary; else
                                   -1 */
    double area_cm2;
    double normal[3];     /**< outward unit vector */
    storm_cell_idx ghost; /**< which ghost the neighbour is; -1: none, or
                               storm_mesh_n_ghosts was not called yet */
};
#define STORM_FACE_INIT STORM_INIT(struct storm_face)
STORM_API int storm_mesh_n_faces(const struct storm_mesh *mesh,
                                 storm_cell_idx cell);
/** STORM_ERR_ARG: @p face_out does not begin with STORM_FACE_INIT. */
STORM_API storm_status storm_mesh_face(const struct storm_mesh *mesh,
                                       storm_cell_idx cell, int face,
                                       struct storm_face *face_out);
/** Are all cells boxes with sides along the axes? */
STORM_API bool storm_mesh_cells_are_boxes(const struct storm_mesh *mesh);
/** The edges of the layers of a Cartesian mesh in direction @p axis: how many,
 *  and their coordinates, which grow. They are the mesh's. Other kinds of mesh
 *  have no layers: 0 edges, NULL. Local. */
STORM_API size_t storm_mesh_edges(const struct storm_mesh *mesh, int axis,
                                  const double **edges_cm_out);
/** The point that a Voronoi cell belongs to, rounded as the mesh has it.
 *  @retval STORM_ERR_NOSUP  cells of this kind of mesh have none */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_generator(const struct storm_mesh *mesh, storm_cell_idx cell,
                     double generator_cm_out[3]);
/** @} */

/**
 * @name Polyhedra: corners and faces of cells, for pictures and files.
 *
 * A mesh does not store them: an object builds them, one cell at a time, in its
 * own memory. They are the same bits on any number of ranks. All calls are
 * local and do not block; one thread at a time per object.
 */
/** @{ */
struct storm_polyhedra; /* opaque */

/** One cell. The arrays are the object's, valid until its next build or
 *  close. */
struct storm_polyhedron {
    size_t size; /**< of this struct: STORM_POLYHEDRON_INIT */
    size_t n_corners;
    const double (*corners_cm)[3]; /**< each once; those of a box in the order
                                        of a VTK hexahedron */
    size_t n_faces;                /**< the surface is closed */
    const int32_t *faces; /**< each: number of corners, then their indices,
                               anticlockwise as seen from outside */
    size_t n_words;       /**< length of faces */
};
#define STORM_POLYHEDRON_INIT STORM_INIT(struct storm_polyhedron)

/**
 * An object that builds polyhedra of @p mesh, which must outlive it.
 *
 * @param[out] polyhedra_out  set only on STORM_OK; release with close
 * @retval STORM_ERR_NOMEM
 */
STORM_API STORM_MUST_CHECK storm_status
storm_polyhedra_open(const struct storm_mesh *mesh,
                     struct storm_polyhedra **polyhedra_out);

/**
 * Build the polyhedron of a local cell. Corners closer than rounding errors are
 * merged, and faces with fewer than three corners left are omitted.
 *
 * @param[out] polyhedron_out  changed only on STORM_OK; the arrays of the
 *                             previous one are invalid also after an error
 * @retval STORM_ERR_ARG    no such cell, or @p polyhedron_out does not begin
 *                          with STORM_POLYHEDRON_INIT
 * @retval STORM_ERR_STATE  the mesh has changed since open (logged)
 * @retval STORM_ERR_NOMEM
 */
STORM_API STORM_MUST_CHECK storm_status
storm_polyhedra_build(struct storm_polyhedra *polyhedra, storm_cell_idx cell,
                      struct storm_polyhedron *polyhedron_out);

/** Release. NULL is allowed. */
STORM_API void storm_polyhedra_close(struct storm_polyhedra *polyhedra);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_MESH_H */
