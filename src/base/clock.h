/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time: a cheap monotone tick counter for the transport loop, and seconds.
 * Ticks are those of the time stamp counter on x86-64 (about 8 ns a read) and
 * of CLOCK_MONOTONIC elsewhere.
 */
#ifndef STORM_BASE_CLOCK_H
#define STORM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double storm_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What this process has used of its processors, all threads together. */
static inline double storm_clock_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t storm_clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* Seconds per tick, measured against CLOCK_MONOTONIC since (ticks0, seconds0):
 * the caller took both at the start of what it times. */
static inline double storm_clock_tick_seconds(uint64_t ticks0, double seconds0)
{
    uint64_t ticks = storm_clock_ticks() - ticks0;
    return ticks > 0 ? (storm_clock_seconds() - seconds0) / (double)ticks : 0.0;
}

#endif /* STORM_BASE_CLOCK_H */
