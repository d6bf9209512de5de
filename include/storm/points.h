/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/points.h
 * Sets of points in layers, for Voronoi meshes that are fine at surfaces.
 *
 * A box, a cylinder or a sphere is cut into layers along its coordinates: x,
 * y and z; the radius and the axis; the radius. Away from surfaces layers are
 * at most as thick as the spacing. At a surface the first layer has a thickness
 * of its own, and each further one is thicker by the growth. Points lie so that
 * faces of Voronoi cells are on the surfaces: in pairs, at the same distance on
 * both sides. (A Voronoi mesh that is to keep this must not be relaxed.)
 *
 * Around the axis of a cylinder all layers have the same sides: their cells
 * have plane faces, so cells may be long and thin. A cylinder of N sides around
 * the whole circle is a prism whose sides touch the circle: it has
 * (N / pi) tan(pi / N) times the area. A sphere has sides in directions that
 * are distributed evenly.
 *
 * Around a cylinder or sphere there is one more layer of points: cells beyond
 * the radius, which a problem may make STORM_OUTSIDE.
 *
 * All functions are local, do not block and log nothing; no MPI.
 */
#ifndef STORM_POINTS_H
#define STORM_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum storm_layers_kind {
    STORM_LAYERS_BOX = 0,
    STORM_LAYERS_CYLINDER,
    STORM_LAYERS_SPHERE
} storm_layers_kind;

/** Where layers at a surface are: below it (inside of a radius), above it, or
 *  on both sides. */
typedef enum storm_layers_side {
    STORM_LAYERS_BOTH = 0,
    STORM_LAYERS_BELOW,
    STORM_LAYERS_ABOVE
} storm_layers_side;

/** Fine layers at a surface of constant coordinate. */
struct storm_layers_surface {
    int coordinate;  /**< box: 0, 1, 2; cylinder: 0 the radius, 1 the axis;
                          sphere: 0 */
    double at_cm;    /**< where; the radius, or the place along an axis */
    double first_cm; /**< thickness of the first layer, at most the spacing */
    double growth;   /**< ratio of successive layers, above 1, up to 10 */
    storm_layers_side side;
};

struct storm_layers_params {
    size_t size;         /**< of this struct: STORM_LAYERS_PARAMS_INIT */
    size_t surface_size; /**< of struct storm_layers_surface; 0: 40, of the
                              first version of it */
    storm_layers_kind kind;
    double lo_cm[3], hi_cm[3]; /**< BOX: its corners */
    int axis;                  /**< CYLINDER: 0, 1 or 2 */
    double centre_cm[3];       /**< SPHERE; CYLINDER: the first two, across the
                                    axis, in cyclic order */
    double range_cm[2];        /**< CYLINDER: along the axis */
    double radius_cm;          /**< CYLINDER, SPHERE */
    int parts;                 /**< CYLINDER: 1 the whole circle, 2 a half, 4 a
                                    quarter, which begin at the first direction
                                    across the axis; 0 means 1 */
    uint64_t n_sides;          /**< CYLINDER: sides of the part; SPHERE:
                                    directions */
    double spacing_cm[3];      /**< max thickness of layers, by coordinate */
    const struct storm_layers_surface *surfaces; /**< in any order */
    size_t n_surfaces;
    double jitter; /**< 0 .. 0.9: random shift of layers, as a part of their
                        thickness; those next to surfaces stay in their
                        places */
    uint64_t seed; /**< of the shifts */
};
#define STORM_LAYERS_PARAMS_INIT STORM_INIT(struct storm_layers_params)

/**
 * The number of points, and a box that holds them: that of a Voronoi mesh.
 *
 * @param[out] n_out        points
 * @param[out] lo_cm_out    corners of the box: a box itself; the cylinder or
 *                          sphere with a margin for the layer around it
 * @param[out] hi_cm_out
 * @param problem           after an error, one line with the reason; NULL is
 *                          allowed
 * @param problem_size      bytes available there
 * @retval STORM_ERR_ARG    a value is out of range, or surfaces are too near to
 *                          each other
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks
 */
STORM_API STORM_MUST_CHECK storm_status
storm_layers_count(const struct storm_layers_params *params, uint64_t *n_out,
                   double lo_cm_out[3], double hi_cm_out[3], char *problem,
                   size_t problem_size);

/**
 * Points @p first to @p first + @p n - 1: each is a function of the params and
 * its number alone, so ranks may divide the work as they like.
 *
 * @param[out] points_out  3 * n coordinates
 * @retval STORM_ERR_ARG    not that many points, or what count refuses
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks
 */
STORM_API STORM_MUST_CHECK storm_status
storm_layers_make(const struct storm_layers_params *params, uint64_t first,
                  uint64_t n, double *points_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_POINTS_H */
