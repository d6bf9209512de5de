/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A limit on a wait that does not run while this process is stopped: an
 * iteration of the loop that waits counts for STORM_PATIENCE_STEP_S at most.
 */
#ifndef STORM_BASE_PATIENCE_H
#define STORM_BASE_PATIENCE_H

#include <stdbool.h>

#include "base/clock.h"

#define STORM_PATIENCE_STEP_S 0.1

struct storm_patience {
    double left_s;
    double last_s;
    bool limited;
};

/* A limit of so many seconds from now on; 0: none. */
static inline void storm_patience_begin(struct storm_patience *patience,
                                        double seconds)
{
    *patience = (struct storm_patience){.left_s = seconds,
                                        .last_s = storm_clock_seconds(),
                                        .limited = seconds > 0};
}

/* In every iteration: is it used up? */
static inline bool storm_patience_over(struct storm_patience *patience)
{
    if (!patience->limited)
        return false;
    double now_s = storm_clock_seconds();
    double step_s = now_s - patience->last_s;
    patience->last_s = now_s;
    patience->left_s -=
        step_s < STORM_PATIENCE_STEP_S ? step_s : STORM_PATIENCE_STEP_S;
    return patience->left_s < 0;
}

#endif /* STORM_BASE_PATIENCE_H */
