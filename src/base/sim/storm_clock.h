/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated time of the rank that asks. A tick is a picosecond: what a poll
 * costs is a hundred of them, or more. */
#ifndef STORM_BASE_SIM_CLOCK_H
#define STORM_BASE_SIM_CLOCK_H

#include <stdint.h>

double storm_sim_now(void);

static inline double storm_clock_seconds(void)
{
    return storm_sim_now();
}

static inline uint64_t storm_clock_ticks(void)
{
    return (uint64_t)(1e12 * storm_sim_now());
}

#endif /* STORM_BASE_SIM_CLOCK_H */
