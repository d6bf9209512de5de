/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is due after a number of calls or a length of time, whichever comes
 * first. Calls alone do not do: a rank may compute for milliseconds between
 * two of them. Time alone would cost a look at the clock in every idle loop.
 *
 *   PACE-1  It is due at the first call, then after `every` calls, or when
 *           `max_s` has passed.
 *   PACE-2  storm_pace_due reads the tick counter once; storm_pace_counts
 *           does not, for callers whose calls follow each other quickly. The
 *           length of a tick is measured on the way; until then, for about a
 *           millisecond, storm_pace_due is always true.
 */
#ifndef STORM_BASE_PACE_H
#define STORM_BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/port.h"

struct storm_pace {
    uint64_t every, left; /* calls */
    double max_s;
    uint64_t max_ticks; /* the same; 0: not known yet */
    bool measured;      /* well enough */
    uint64_t last, first;
    double first_s;
};

static inline void storm_pace_begin(struct storm_pace *pace, uint64_t every,
                                    double max_s)
{
    *pace = (struct storm_pace){.every = every,
                                .left = 1,
                                .max_s = max_s,
                                .first = storm_clock_ticks(),
                                .first_s = storm_clock_seconds()};
}

/* The next call finds it due. */
static inline void storm_pace_hurry(struct storm_pace *pace)
{
    pace->left = 1;
}

static inline void storm_pace_restart(struct storm_pace *pace, uint64_t now)
{
    pace->left = pace->every;
    pace->last = now;
    if (STORM_LIKELY(pace->measured))
        return;
    double seconds = storm_clock_seconds() - pace->first_s;
    if (seconds < 1e-3)
        return;
    pace->max_ticks =
        (uint64_t)(pace->max_s * (double)(now - pace->first) / seconds);
    pace->measured = seconds > 0.1;
}

static inline bool storm_pace_due(struct storm_pace *pace)
{
    uint64_t now = storm_clock_ticks();
    if (STORM_LIKELY(--pace->left > 0 && now - pace->last < pace->max_ticks))
        return false;
    storm_pace_restart(pace, now);
    return true;
}

static inline bool storm_pace_counts(struct storm_pace *pace)
{
    if (STORM_LIKELY(--pace->left > 0))
        return false;
    storm_pace_restart(pace, storm_clock_ticks());
    return true;
}

#endif /* STORM_BASE_PACE_H */
