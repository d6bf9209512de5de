/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* EXACT-1: order and grouping do not matter; each term is cut towards zero. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "base/hash.h"
#include "support/check.h"

enum { N_TERMS = 4096, N_ORDERS = 20 };

static const uint64_t seed = 20240611;

static uint64_t random_word(uint64_t *state)
{
    return storm_hash_word((*state)++);
}

/* Any finite double of at most `bound`: all exponents, both signs. */
static double random_term(uint64_t *state, double bound)
{
    for (;;) {
        uint64_t bits = random_word(state);
        double term;
        memcpy(&term, &bits, sizeof term);
        if (fabs(term) <= bound)
            return term;
    }
}

/* Terms that matter: within 2^-100 of the bound. */
static double random_near_term(uint64_t *state, double bound)
{
    double m = (double)(random_word(state) >> 11) * 0x1p-53;
    double sign = (random_word(state) & 1) ? -1.0 : 1.0;
    return sign * ldexp(bound * m, -(int)(random_word(state) % 100));
}

static void shuffle(double *terms, uint64_t *state)
{
    for (size_t i = N_TERMS - 1; i > 0; i--) {
        size_t j = random_word(state) % (i + 1);
        double t = terms[i];
        terms[i] = terms[j];
        terms[j] = t;
    }
}

static storm_exact sum_in_order(const double *terms, size_t n,
                                struct storm_exact_unit unit)
{
    storm_exact sum = 0;
    for (size_t i = 0; i < n; i++)
        storm_exact_add(&sum, terms[i], unit);
    return sum;
}

static const double bounds[] = {1.0,         3e5,       1e-30,
                                0x1.fffp200, 0x1p-800,  2.5e-305,
                                0x1p-1060,   0x1p-1074, 1.7976931348623157e308};
enum { N_BOUNDS = sizeof bounds / sizeof bounds[0] };

static void test_any_order(void)
{
    uint64_t rng = seed;
    static double terms[N_TERMS];
    for (size_t b = 0; b < N_BOUNDS; b++) {
        struct storm_exact_unit unit = storm_exact_unit(bounds[b]);
        for (size_t i = 0; i < N_TERMS; i++)
            terms[i] = random_near_term(&rng, bounds[b]);
        storm_exact first = sum_in_order(terms, N_TERMS, unit);
        for (int order = 0; order < N_ORDERS; order++) {
            shuffle(terms, &rng);
            CHECK(sum_in_order(terms, N_TERMS, unit) == first);
        }
    }
}

static void test_any_split(void)
{
    uint64_t rng = seed + 1000000;
    static double terms[N_TERMS];
    struct storm_exact_unit unit = storm_exact_unit(7.0);
    for (size_t i = 0; i < N_TERMS; i++)
        terms[i] = random_near_term(&rng, 7.0);
    storm_exact whole = sum_in_order(terms, N_TERMS, unit);
    for (size_t ranks = 1; ranks <= 17; ranks++) {
        storm_exact parts[17] = {0};
        for (size_t i = 0; i < N_TERMS; i++)
            storm_exact_add(&parts[random_word(&rng) % ranks], terms[i], unit);
        storm_exact sum = 0;
        int64_t limbs[STORM_EXACT_LIMBS] = {0}; /* as MPI adds them */
        for (size_t r = ranks; r-- > 0;) {
            int64_t part[STORM_EXACT_LIMBS];
            sum += parts[r];
            storm_exact_split(parts[r], part);
            for (int k = 0; k < STORM_EXACT_LIMBS; k++)
                limbs[k] += part[k];
        }
        CHECK(sum == whole);
        CHECK(storm_exact_join(limbs) == whole);
    }
}

/* The integer by another method: scale, cut, convert. Scaling by a power of two
 * is exact but below 2^-1022, where the result is cut to zero anyhow. */
static storm_exact slow_term(double term, struct storm_exact_unit unit)
{
    return (storm_exact)trunc(ldexp(term, -unit.lsb));
}

static void test_cut_towards_zero(void)
{
    uint64_t rng = seed + 2000000;
    for (size_t b = 0; b < N_BOUNDS; b++) {
        double bound = bounds[b];
        struct storm_exact_unit unit = storm_exact_unit(bound);
        const double corners[] = {0.0,       -0.0,       bound,     -bound,
                                  0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-1023};
        for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++) {
            if (fabs(corners[i]) <= bound)
                CHECK(storm_exact_term(corners[i], unit) ==
                      slow_term(corners[i], unit));
        }
        for (int i = 0; i < 20000; i++) {
            double term = random_near_term(&rng, bound);
            CHECK(storm_exact_term(term, unit) == slow_term(term, unit));
            CHECK(storm_exact_term(-term, unit) ==
                  -storm_exact_term(term, unit));
        }
        for (int i = 0; i < 100 && bound > 1e-300; i++) {
            double term = random_term(&rng, bound);
            CHECK(storm_exact_term(term, unit) == slow_term(term, unit));
        }
    }
}

/* What was added can be subtracted again. */
static void test_cancellation(void)
{
    struct storm_exact_unit unit = storm_exact_unit(1e10);
    storm_exact sum = 0;
    storm_exact_add(&sum, 1e10, unit);
    storm_exact_add(&sum, 1e-10, unit);
    storm_exact_add(&sum, -1e10, unit);
    double left = storm_exact_value(sum, unit);
    CHECK(fabs(left - 1e-10) <= ldexp(1.0, unit.lsb));
    storm_exact_add(&sum, -1e-10, unit);
    CHECK(sum == 0);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_any_order();
    test_any_split();
    test_cut_towards_zero();
    test_cancellation();
    return 0;
}
