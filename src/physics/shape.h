/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes, beyond the public header. */
#ifndef STORM_PHYSICS_SHAPE_H
#define STORM_PHYSICS_SHAPE_H

#include <storm/problem.h>

/* A box around the shape; -STORM_UNLIMITED .. STORM_UNLIMITED where it has no
 * end. */
void storm_shape_bounds(const struct storm_shape *shape, double lo_out[3],
                        double hi_out[3]);

/* May the shape have points in common with a box? False is certain, true is
 * not. */
bool storm_shape_meets(const struct storm_shape *shape, const double lo_cm[3],
                       const double hi_cm[3]);

/* Is the whole box in the shape? */
bool storm_shape_covers(const struct storm_shape *shape, const double lo_cm[3],
                        const double hi_cm[3]);

#endif /* STORM_PHYSICS_SHAPE_H */
