/* SPDX-License-Identifier: BSD-3-Clause */
/* A 64-bit mixing function for checksums; not for security. */
#ifndef STORM_BASE_HASH_H
#define STORM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/port.h"

/* A bijection of 64-bit words with good avalanche. */
STORM_PRIVATE uint64_t storm_hash_word(uint64_t word);

/* Folds one more word into a hash; order matters. */
static inline uint64_t storm_hash_fold(uint64_t hash, uint64_t word)
{
    return storm_hash_word(hash * 0x9e3779b97f4a7c15u + word);
}

static inline uint64_t storm_hash_fold_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return storm_hash_fold(hash, bits);
}

#endif /* STORM_BASE_HASH_H */
