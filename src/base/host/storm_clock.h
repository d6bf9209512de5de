/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of this machine. Ticks are those of the time stamp counter on x86-64
 * (about 8 ns a read) and of CLOCK_MONOTONIC elsewhere.
 */
#ifndef STORM_BASE_HOST_CLOCK_H
#define STORM_BASE_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double storm_clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

#endif /* STORM_BASE_HOST_CLOCK_H */
