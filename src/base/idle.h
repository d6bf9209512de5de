/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an idle rank does: spin, then yield the core, then sleep briefly, so
 * that more ranks than cores run well.
 *
 *   IDLE-1  n_empty is the number of polls in a row that found nothing; 0
 *           resets.
 *   IDLE-2  Returns within 200 us.
 *   IDLE-3  A rank whose node is not crowded stays awake for STORM_IDLE_AWAKE
 *           polls, a second or two: it yields, which costs nobody anything on a
 *           core of its own, and every hop of a wave would pay for a sleep.
 *           Then it sleeps, to save energy.
 *   IDLE-4  Cores are those that the ranks of a node may use: by affinity, all
 *           ranks together, and by the quota of the control group. A rank bound
 *           to one core each is not crowded; eight in a container of two are.
 */
#ifndef STORM_BASE_IDLE_H
#define STORM_BASE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* Polls that only spin; polls after which each yield is a sleep; polls after
 * which it is also on a node that is not crowded (IDLE-3). */
enum {
    STORM_IDLE_SPINS = 64,
    STORM_IDLE_NAPS = 64 + 1024,
    STORM_IDLE_AWAKE = 1 << 22
};

/* Words of a set of processors. */
enum { STORM_IDLE_WORDS = 128 };

void storm_idle(uint64_t n_empty);

/* What to pass to storm_idle on such a node: IDLE-3. */
static inline uint64_t storm_idle_count(bool crowded, uint64_t n_empty)
{
    bool awake = !crowded && n_empty < STORM_IDLE_AWAKE;
    return awake && n_empty >= STORM_IDLE_NAPS ? STORM_IDLE_NAPS - 1 : n_empty;
}

/* The processors that this process may run on, a bit each. */
void storm_idle_affinity(uint64_t set_out[STORM_IDLE_WORDS]);

/* Cores for those who may run on the processors of `set`; at least 1. */
int storm_idle_cores(const uint64_t set[STORM_IDLE_WORDS]);

/* The cores that control groups allow: the smallest quota, rounded up, of the
 * groups named in the file `groups` (as /proc/self/cgroup) and of those above
 * them, with their files under `root` (as /sys/fs/cgroup). INT_MAX: no limit.
 */
int storm_idle_quota(const char *groups, const char *root);

#endif /* STORM_BASE_IDLE_H */
