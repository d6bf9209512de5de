/* SPDX-License-Identifier: BSD-3-Clause */
/* Random bits: Philox4x64-10 of Random123, a pure function. What packets and
 * applications draw is in storm/packet.h. */
#ifndef STORM_BASE_RANDOM_H
#define STORM_BASE_RANDOM_H

#include <stdint.h>

void storm_random_bits(const uint64_t key[2], const uint64_t counter[4],
                       uint64_t bits_out[4]);

/* 52 bits to (0, 1): 2^-53 is the smallest, 1 - 2^-53 the largest. (53 bits
 * and a half would round up to 1.) */
static inline double storm_random_uniform(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

#endif /* STORM_BASE_RANDOM_H */
