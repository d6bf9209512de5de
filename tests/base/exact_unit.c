/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* EXACT-2, EXACT-3, EXACT-4: the unit is fine enough, the sum wide enough, and
 * what does not fit is detected. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include "base/exact.h"
#include "base/hash.h"
#include "support/check.h"

static const uint64_t seed = 77;

static const double corners[] = {1.0,
                                 0x1.fffffffffffffp-1,
                                 0x1.0000000000001p0,
                                 0x1p-1074,
                                 0x1.8p-1073,
                                 0x1p-1022,
                                 0x1.fffffffffffffp-1023,
                                 0x1.fffffffffffffp1023,
                                 0x1p1023};
enum { N_CORNERS = sizeof corners / sizeof corners[0] };

/* i-th bound to try: the corners, then doubles of all exponents. */
static double bound_at(uint64_t i)
{
    if (i < N_CORNERS)
        return corners[i];
    for (uint64_t k = 0;; k++) {
        uint64_t bits = storm_hash_word(seed + i + (k << 32)) >> 1;
        double bound;
        memcpy(&bound, &bits, sizeof bound);
        if (isfinite(bound) && bound > 0.0)
            return bound;
    }
}

enum { N_BOUNDS = 20000 };

static void check_bound(double bound)
{
    struct storm_exact_unit unit = storm_exact_unit(bound);

    /* EXACT-2: unit <= bound * 2^-86, both divided by the unit; or it is that
     * of the smallest double. */
    bool smallest = unit.lsb == -1074;
    CHECK(unit.lsb >= -1074);
    CHECK(smallest || ldexp(bound, -86 - unit.lsb) >= 1.0);

    /* EXACT-3: 2^40 terms as large as the bound; no overflow, no wrap. */
    storm_exact term = storm_exact_term(bound, unit);
    storm_exact max = (storm_exact)(~(uint64_t)0 >> 1) << 64;
    max |= ~(uint64_t)0;
    CHECK(term > 0);
    CHECK(term <= max >> 40);
    CHECK(term * ((storm_exact)1 << 40) > 0);
    CHECK(storm_exact_term(-bound, unit) == -term);
    CHECK(storm_exact_value(term, unit) == bound);

    /* EXACT-4. */
    CHECK(storm_exact_unit_fits(unit, bound));
    CHECK(storm_exact_unit_fits(unit, -bound));
    CHECK(storm_exact_unit_fits(unit, 0.0));
    CHECK(storm_exact_unit_fits(unit, -0.0));
    CHECK(!storm_exact_unit_fits(unit, INFINITY));
    CHECK(!storm_exact_unit_fits(unit, -INFINITY));
    CHECK(!storm_exact_unit_fits(unit, NAN));
    if (bound <= 0x1p1021 && !smallest) {
        CHECK(!storm_exact_unit_fits(unit, 2.0 * bound));
        CHECK(!storm_exact_unit_fits(unit, -4.0 * bound));
    }
}

static void test_bounds(void)
{
    for (uint64_t i = 0; i < N_BOUNDS; i++)
        check_bound(bound_at(i));
}

static void test_zero_bound(void)
{
    struct storm_exact_unit unit = storm_exact_unit(0.0);
    storm_exact sum = 0;
    storm_exact_add(&sum, 0.0, unit);
    storm_exact_add(&sum, -0.0, unit);
    CHECK(sum == 0);
    CHECK(storm_exact_value(sum, unit) == 0.0);
}

/* A debug build stops on a term that does not fit. */
static void test_too_large(void)
{
#ifdef STORM_DEBUG
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        volatile double term = 2.0;
        storm_exact sum = storm_exact_term(term, storm_exact_unit(1.0));
        _exit(sum != 0 ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
#else
    printf("not a debug build: terms that are too large not tried\n");
#endif
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_bounds();
    test_zero_bound();
    test_too_large();
    return 0;
}
