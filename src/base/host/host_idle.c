/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <time.h>

#include "base/idle.h"
#include "base/port.h"

/* About 1 us of spinning, then about half a millisecond of yielding on a free
 * core; on a shared one the first yield already switches to another rank. The
 * kernel adds some 50 us to every sleep, so the longest is 150 us. */
enum { IDLE_MIN_US = 10, IDLE_MAX_US = 100 };

void storm_idle(uint64_t n_empty)
{
    if (n_empty < STORM_IDLE_SPINS) {
        storm_pause();
    } else if (n_empty < STORM_IDLE_NAPS) {
        sched_yield();
    } else {
        uint64_t us = IDLE_MIN_US + (n_empty - STORM_IDLE_NAPS) / 4;
        us = us < IDLE_MAX_US ? us : IDLE_MAX_US;
        struct timespec nap = {.tv_sec = 0, .tv_nsec = (long)us * 1000};
        nanosleep(&nap,
                  NULL); /* a signal may end it early, which is harmless */
    }
}

int storm_idle_cores(const uint64_t set[STORM_IDLE_WORDS])
{
    int n = 0;
    for (int i = 0; i < STORM_IDLE_WORDS; i++)
        n += __builtin_popcountll(set[i]);
    int quota = storm_idle_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    n = quota < n ? quota : n;
    return n > 0 ? n : 1;
}
