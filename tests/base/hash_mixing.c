/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* The mixing function is a bijection with good avalanche. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hash.h"
#include "support/check.h"

static const uint64_t seed = 99;

/* Newton: an odd number and its inverse modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

static uint64_t unshift(uint64_t word, int shift)
{
    uint64_t x = word;
    for (int i = shift; i < 64; i += shift)
        x = word ^ (x >> shift);
    return x;
}

static uint64_t unhash(uint64_t word)
{
    word = unshift(word, 31) * inverse(0x94d049bb133111eb);
    word = unshift(word, 27) * inverse(0xbf58476d1ce4e5b9);
    return unshift(word, 30) - 0x9e3779b97f4a7c15;
}

static void test_bijection(void)
{
    for (uint64_t i = 0; i < 100000; i++) {
        CHECK(unhash(storm_hash_word(i)) == i);
        uint64_t word = seed + i * 0x123456789abcdef1;
        CHECK(unhash(storm_hash_word(word)) == word);
    }
    CHECK(storm_hash_word(0) != 0);
}

/* Flipping one bit flips each bit of the answer half of the time. */
static void test_avalanche(void)
{
    enum { N = 4000 };
    const double k_sigma = 6.0; /* 4096 pairs are looked at */
    static int flips[64][64];
    for (uint64_t i = 0; i < N; i++) {
        uint64_t word = (seed + i) * 0x2545f4914f6cdd1d;
        for (int in = 0; in < 64; in++) {
            uint64_t d = storm_hash_word(word) ^
                         storm_hash_word(word ^ UINT64_C(1) << in);
            for (int out = 0; out < 64; out++)
                flips[in][out] += (int)(d >> out & 1);
        }
    }
    for (int in = 0; in < 64; in++) {
        for (int out = 0; out < 64; out++)
            CHECK(fabs(flips[in][out] - 0.5 * N) < k_sigma * sqrt(0.25 * N));
    }
}

static void test_fold(void)
{
    uint64_t ab = storm_hash_fold(storm_hash_fold(0, 1), 2);
    uint64_t ba = storm_hash_fold(storm_hash_fold(0, 2), 1);
    CHECK(ab != ba);
    CHECK(storm_hash_fold(0, 0) != 0);
    CHECK(storm_hash_fold_real(7, 0.0) != storm_hash_fold_real(7, -0.0));
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_bijection();
    test_avalanche();
    test_fold();
    return 0;
}
