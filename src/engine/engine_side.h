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

/*
 * A number that belongs to the packets of an engine and means what its physics
 * wants; 0 at first. Local.
 */
uint64_t storm_engine_mark(const struct storm_engine *engine);
uint64_t storm_step_mark(const struct storm_step *step);
void storm_step_set_mark(struct storm_step *step, uint64_t mark);

#endif /* STORM_ENGINE_SIDE_H */
