/* SPDX-License-Identifier: BSD-3-Clause */
/* A step beside the time steps, with callbacks of its own: the same rings and
 * waves carry it. */
#ifndef STORM_ENGINE_SIDE_H
#define STORM_ENGINE_SIDE_H

#include <storm/engine.h>

/*
 * As storm_engine_step, with `physics` and `boundary` for this step alone and
 * no population control. Time steps keep their numbers; packets, transfers and
 * bytes count, steps, events and times do not. Collective.
 */
storm_status storm_engine_side_step(struct storm_engine *engine,
                                    const struct storm_physics *physics,
                                    const struct storm_boundary *boundary);

#endif /* STORM_ENGINE_SIDE_H */
