/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the material changes: points on interfaces, their normals, and edges
 * at which interfaces end, found by asking for the material at points.
 *
 * All are functions of the set of points (struct storm_points_params) alone,
 * in additions, multiplications, divisions and square roots.
 */
#ifndef STORM_MESH_INTERFACE_H
#define STORM_MESH_INTERFACE_H

#include <stdbool.h>

#include <storm/mesh.h>

struct storm_interface {
    const struct storm_points_params *set;
    double spacing_cm; /* between neighbouring points on an interface */
};

enum storm_seed_kind {
    STORM_SEED_NONE,
    STORM_SEED_FACE,
    STORM_SEED_LAYER,
    STORM_SEED_EDGE
};

/* A point on an interface, with its normal: one generator at reach_cm on either
 * side. In the middle of a thin layer: one there, too, and the others are its
 * images on both sides. On an edge, with the normals of both interfaces that
 * meet there at a right angle: one in each quarter. */
struct storm_seed {
    enum storm_seed_kind kind;
    double at_cm[3];
    double normal[2][3];
    double reach_cm;
};

/* Parts of the spacing. Thickness below which a layer is thin: pairs on both
 * sides of a thicker one do not disturb each other. Min distances of seeds: on
 * faces, on edges, and of those on faces from an edge. A generator that is in
 * no pair must be FREE away from interfaces: farther than the pairs are from
 * any point of them. */
#define STORM_SEED_REACH 0.3
#define STORM_SEED_THIN 1.2
#define STORM_SEED_FACES 0.85
#define STORM_SEED_EDGES 0.5
#define STORM_SEED_BAND 0.6
#define STORM_SEED_FREE 1.05

/* Is the material another one at the other of two points of the box? */
bool storm_interface_crosses(const struct storm_interface *in,
                             const double from_cm[3], const double to_cm[3]);

/* The seed where it changes between them; of kind NONE if it does not, or where
 * none can be. */
struct storm_seed storm_interface_seed(const struct storm_interface *in,
                                       const double from_cm[3],
                                       const double to_cm[3]);

/* Is the material the same within that distance of x? */
bool storm_interface_is_far(const struct storm_interface *in,
                            const double x_cm[3], double distance_cm);

/* Is it in the set's box, not on a wall? */
bool storm_interface_has(const struct storm_interface *in,
                         const double x_cm[3]);

#endif /* STORM_MESH_INTERFACE_H */
