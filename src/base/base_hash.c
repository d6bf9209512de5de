/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

/* The finaliser of SplitMix64 (Steele, Lea and Flood, 2014). The addition
 * keeps zero from being a fixed point. */
uint64_t storm_hash_word(uint64_t word)
{
    word += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}
