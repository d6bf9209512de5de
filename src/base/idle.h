/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank does when it has nothing to do: spin, then give the core away,
 * then sleep a little, so that more ranks than cores run well.
 *
 *   I1  n_empty is the number of looks in a row that found nothing; 0 resets.
 *   I2  Returns within 200 us.
 */
#ifndef STORM_BASE_IDLE_H
#define STORM_BASE_IDLE_H

#include <stdint.h>

/* So many looks only spin; from then on the core is given away; after so many
 * it sleeps each time. */
enum { STORM_IDLE_SPINS = 64, STORM_IDLE_NAPS = 64 + 1024 };

void storm_idle(uint64_t n_empty);

/* Cores of this machine; at least 1. */
int storm_idle_cores(void);

#endif /* STORM_BASE_IDLE_H */
