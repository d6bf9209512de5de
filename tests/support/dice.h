/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for tests: small, seeded, the same everywhere (splitmix64). */
#ifndef STORM_TESTS_DICE_H
#define STORM_TESTS_DICE_H

#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline struct dice dice_make(uint64_t seed, uint64_t stream)
{
    return (struct dice){dice_mix(seed) ^ dice_mix(~stream)};
}

static inline uint64_t dice_word(struct dice *dice)
{
    return dice_mix(dice->state += 0x9e3779b97f4a7c15u);
}

/* 0 .. n - 1 */
static inline uint64_t dice_roll(struct dice *dice, uint64_t n)
{
    return dice_word(dice) % n;
}

#endif /* STORM_TESTS_DICE_H */
