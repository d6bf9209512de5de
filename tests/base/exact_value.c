/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* EXACT-5: the value of a sum is the nearest double, ties to even. Checked by
 * its definition, in integers: strtod of glibc 2.36 rounds some subnormals
 * given in hexadecimal wrongly, and cannot be the reference. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/exact.h"
#include "base/hash.h"
#include "support/check.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t seed = 4711;

/* Is `value` >= 0 the nearest double to magnitude * 2^lsb? */
static bool is_nearest(double value, wide magnitude, int lsb)
{
    if (magnitude == 0)
        return value == 0.0;

    /* Half a step beyond the largest double is where infinity begins. */
    int top = 127;
    while (top >= 0 && (magnitude >> top & 1) == 0)
        top--;
    bool beyond = top + lsb > 1023;
    if (top + lsb == 1023 && top >= 53)
        beyond = magnitude >> (top - 53) == ((wide)1 << 54) - 1;
    if (beyond || isinf(value))
        return beyond && isinf(value);

    /* value = m * 2^e, e as small as a double allows. */
    int e;
    frexp(value, &e);
    e = value == 0.0 || e - 53 < -1074 ? -1074 : e - 53;
    uint64_t m = (uint64_t)ldexp(value, -e);
    int step = e - lsb; /* log2 of the distance to the next double, in units */
    if (step <= 0)      /* every bit fits: nothing may be lost */
        return step > -64 && magnitude << -step == m;
    if (step >= 128)
        return m == 0;
    wide half = (wide)1 << (step - 1);
    wide at = (wide)m << step;
    wide off = magnitude > at ? magnitude - at : at - magnitude;
    if (off > half || (off == half && m % 2 != 0))
        return false;
    /* Below a power of two the next double is only half as far. */
    bool power = m == UINT64_C(1) << 52 && e > -1074;
    return !(power && at > magnitude && off > half / 2);
}

static void check(storm_exact sum, int lsb)
{
    struct storm_exact_unit unit = {.lsb = lsb};
    double value = storm_exact_value(sum, unit);
    wide magnitude = sum < 0 ? -(wide)sum : (wide)sum;
    if ((signbit(value) != 0) != (sum < 0) ||
        !is_nearest(fabs(value), magnitude, lsb)) {
        check_where("%016" PRIx64 "%016" PRIx64 "p%d: %a",
                    (uint64_t)((wide)sum >> 64), (uint64_t)sum, lsb, value);
        check_fail(__FILE__, __LINE__, "not the nearest double");
    }
    storm_exact minus = (storm_exact)(-(wide)sum); /* of -2^127: itself */
    if (minus != sum)
        CHECK(storm_exact_value(minus, unit) == -value);
}

static void test_random_sums(void)
{
    uint64_t rng = seed;
    for (int i = 0; i < 200000; i++) {
        wide bits = (wide)storm_hash_word(rng) << 64 | storm_hash_word(rng + 1);
        int lsb = (int)(storm_hash_word(rng + 2) % 2300) - 1200;
        int narrow = (int)(storm_hash_word(rng + 3) % 128);
        rng += 4;
        check((storm_exact)bits >> narrow, lsb);
    }
}

/* One bit, half a unit in the last place above or below it, and one more. */
static void test_ties(void)
{
    const int lsbs[] = {0,     40,    -87,   -1000, -1074,
                        -1075, -1100, -1160, 937,   960};
    for (size_t l = 0; l < sizeof lsbs / sizeof lsbs[0]; l++) {
        for (int top = 0; top < 127; top++) {
            for (int low = 0; low <= top; low++) {
                storm_exact a = (storm_exact)1 << top;
                storm_exact b = (storm_exact)1 << low;
                check(a + (low < top ? b : 0), lsbs[l]);
                check(a - b, lsbs[l]);
                check(a + (low < top ? b : 0) - 1, lsbs[l]);
                check(a - b + 1, lsbs[l]);
                if (low + 1 < top)
                    check(a + b + 2 * b, lsbs[l]);
            }
        }
    }
}

static void test_extremes(void)
{
    storm_exact min = (storm_exact)((wide)1 << 127);
    for (int lsb = -1300; lsb <= 1024; lsb++) {
        check(min, lsb);
        check(min + 1, lsb);
        check(-(min + 1), lsb);
        check(1, lsb);
        check(-1, lsb);
        check(0, lsb);
    }
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_random_sums();
    test_ties();
    test_extremes();
    return 0;
}
