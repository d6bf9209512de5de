/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/exact.h"

#include <math.h>

__extension__ typedef unsigned __int128 exact_magnitude;

enum { EXACT_MIN_LSB = -1074 }; /* of the smallest double */

/* bound = m * 2^e with m in [1/2, 1). A term is then below 2^e, which is 2^87
 * units: 2^40 of them stay below 2^127 (EXACT-3). The bound is at least
 * 2^(e-1), hence the unit at most bound * 2^-86 (EXACT-2). */
struct storm_exact_unit storm_exact_unit(double bound)
{
    STORM_ASSERT(bound >= 0.0 && isfinite(bound));
    int e = 0;
    frexp(bound, &e);
    int lsb = e - STORM_EXACT_TERM_BITS;
    if (lsb < EXACT_MIN_LSB)
        lsb = EXACT_MIN_LSB;
    return (struct storm_exact_unit){.lsb = lsb};
}

bool storm_exact_unit_fits(struct storm_exact_unit unit, double term)
{
    if (term == 0.0)
        return true;
    if (!isfinite(term))
        return false;
    int e;
    frexp(term, &e);
    return e <= unit.lsb + STORM_EXACT_TERM_BITS;
}

storm_exact storm_exact_small_term(double term, struct storm_exact_unit unit)
{
    return storm_exact_cut(term, unit);
}

void storm_exact_split(storm_exact sum, int64_t limbs_out[STORM_EXACT_LIMBS])
{
    for (int k = 0; k < STORM_EXACT_LIMBS; k++)
        limbs_out[k] = (int64_t)(uint32_t)((exact_magnitude)sum >> (32 * k));
}

/* Modulo 2^128, so that it is right for negative sums, too. */
storm_exact storm_exact_join(const int64_t limbs[STORM_EXACT_LIMBS])
{
    exact_magnitude sum = 0;
    for (int k = 0; k < STORM_EXACT_LIMBS; k++)
        sum += (exact_magnitude)limbs[k] << (32 * k);
    return (storm_exact)sum;
}

static int exact_top_bit(exact_magnitude magnitude)
{
    uint64_t hi = (uint64_t)(magnitude >> 64);
    uint64_t lo = (uint64_t)magnitude;
    return hi != 0 ? 127 - __builtin_clzll(hi) : 63 - __builtin_clzll(lo);
}

double storm_exact_value(storm_exact sum, struct storm_exact_unit unit)
{
    if (sum == 0)
        return 0.0;
    exact_magnitude magnitude =
        sum < 0 ? -(exact_magnitude)sum : (exact_magnitude)sum;

    /* Bits below `cut` do not fit: a double has 53, and none below 2^-1074. */
    int cut = exact_top_bit(magnitude) - 52;
    if (cut < -1074 - unit.lsb)
        cut = -1074 - unit.lsb;
    if (cut < 0)
        cut = 0;
    if (cut >= 128) /* at most half of the smallest double: ties to even */
        return sum < 0 ? -0.0 : 0.0;

    uint64_t kept = (uint64_t)(magnitude >> cut);
    if (cut > 0) {
        exact_magnitude half = (exact_magnitude)1 << (cut - 1);
        exact_magnitude rest = magnitude & (2 * half - 1);
        kept += rest > half || (rest == half && (kept & 1) != 0);
    }
    /* At most 2^53, and on the grid of doubles: only overflow is left. */
    double value = ldexp((double)kept, unit.lsb + cut);
    return sum < 0 ? -value : value;
}
