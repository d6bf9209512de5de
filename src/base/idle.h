/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an idle rank does: spin, then yield the core, then sleep briefly, so
 * that more ranks than cores run well.
 *
 *   IDLE-1  n_empty is the number of polls in a row that found nothing; 0
 *           resets.
 *   IDLE-2  Returns within 200 us.
 */
#ifndef STORM_BASE_IDLE_H
#define STORM_BASE_IDLE_H

#include <stdint.h>

/* Polls that only spin; polls after which each yield is a sleep. */
enum { STORM_IDLE_SPINS = 64, STORM_IDLE_NAPS = 64 + 1024 };

void storm_idle(uint64_t n_empty);

/* Cores of this machine; at least 1. */
int storm_idle_cores(void);

#endif /* STORM_BASE_IDLE_H */
