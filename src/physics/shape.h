/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes, beyond what the public header says. */
#ifndef STORM_PHYSICS_SHAPE_H
#define STORM_PHYSICS_SHAPE_H

#include <storm/problem.h>

/* A box around the shape; -STORM_UNLIMITED .. STORM_UNLIMITED where it has no
 * end. */
void storm_shape_bounds(const struct storm_shape *shape, double lo_out[3],
                        double hi_out[3]);

#endif /* STORM_PHYSICS_SHAPE_H */
