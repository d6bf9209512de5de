/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time: storm_clock_seconds, and storm_clock_ticks, a cheap monotone counter
 * for the transport loop. They come from the folder that the build chooses:
 * base/host, the time of this machine, or base/sim, simulated time.
 */
#ifndef STORM_BASE_CLOCK_H
#define STORM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <storm_clock.h>

/* What this process has used of its processors, all threads together. */
static inline double storm_clock_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds per tick, measured against CLOCK_MONOTONIC since (ticks0, seconds0):
 * the caller took both at the start of what it times. */
static inline double storm_clock_tick_seconds(uint64_t ticks0, double seconds0)
{
    uint64_t ticks = storm_clock_ticks() - ticks0;
    return ticks > 0 ? (storm_clock_seconds() - seconds0) / (double)ticks : 0.0;
}

#endif /* STORM_BASE_CLOCK_H */
