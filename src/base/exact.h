/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums that do not depend on the order of their terms.
 *
 * A sum is a 128-bit integer in units of 2^lsb. The unit is chosen per tally
 * and step from a bound on the size of one term, the same on every rank.
 *
 *   EXACT-1  Each term is cut to the unit (towards zero), which is a function
 *            of the term alone; integers then add exactly: any order, any
 *            grouping, any split over ranks gives the same bits.
 *   EXACT-2  With |term| <= bound the unit is at most bound * 2^-86: what a
 *            double sum of the largest terms would keep, and 33 bits more. But
 *            it is never below 2^-1074, of which every double is a multiple.
 *   EXACT-3  2^40 terms of the largest size fit.
 *   EXACT-4  A term above the bound or not finite must not be added;
 *            STORM_ASSERT and storm_exact_unit_fits check it.
 *   EXACT-5  storm_exact_value is the nearest double but for one rounding.
 */
#ifndef STORM_BASE_EXACT_H
#define STORM_BASE_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/port.h"

__extension__ typedef __int128 storm_exact;

/* A term is below 2^87 units: 40 bits are left for the number of terms. */
enum { STORM_EXACT_TERM_BITS = 87 };

/* How doubles become integers; made by storm_exact_unit. */
struct storm_exact_unit {
    int lsb; /* >= -1074; value = integer * 2^lsb */
};

/* Unit for terms of at most `bound` (positive, finite; 0 gives some unit). */
STORM_PRIVATE struct storm_exact_unit storm_exact_unit(double bound);

/* May `term` be added under this unit? */
STORM_PRIVATE bool storm_exact_unit_fits(struct storm_exact_unit unit,
                                         double term);

/* The nearest double of a sum. */
STORM_PRIVATE double storm_exact_value(storm_exact sum,
                                       struct storm_exact_unit unit);

/* Sums over ranks: MPI adds no 128-bit integers, but limbs of 32 bits, each in
 * 64, which cannot overflow. */
enum { STORM_EXACT_LIMBS = 4 };
STORM_PRIVATE void storm_exact_split(storm_exact sum,
                                     int64_t limbs_out[STORM_EXACT_LIMBS]);
STORM_PRIVATE storm_exact
storm_exact_join(const int64_t limbs[STORM_EXACT_LIMBS]);

/* storm_exact_term for terms whose last bits are below the unit. */
STORM_PRIVATE storm_exact storm_exact_small_term(double term,
                                                 struct storm_exact_unit unit);

/* The same, inlined: for kernels of devices. */
static inline storm_exact storm_exact_cut(double term,
                                          struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == 0) /* subnormal */
        exponent = 1;
    else
        mantissa |= UINT64_C(1) << 52;
    int cut = unit.lsb + 1075 - exponent;
    int64_t integer = cut < 53 ? (int64_t)(mantissa >> cut) : 0;
    return bits >> 63 ? -integer : integer;
}

/* As an integer. Written out here because it is in the innermost loop: the
 * mantissa with its sign, times a power of two, is one multiplication and no
 * branch that is hard to predict (bench/exact_sum.c compares it with others).
 * */
static inline storm_exact storm_exact_term(double term,
                                           struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    int shift = exponent - 1075 - unit.lsb;
    STORM_ASSERT(shift <= STORM_EXACT_TERM_BITS - 53);
    if (STORM_UNLIKELY(shift < 0))
        return STORM_ON_GPU(storm_exact_cut(term, unit),
                            storm_exact_small_term(term, unit));
    /* The exponent is not 0, as lsb >= -1074: there is a leading one. */
    int64_t mantissa = (int64_t)((bits & 0xfffffffffffffu) | UINT64_C(1) << 52);
    int64_t sign = -(int64_t)(bits >> 63);
    mantissa = (mantissa ^ sign) - sign;
    return (storm_exact)mantissa * ((int64_t)1 << shift);
}

static inline void storm_exact_add(storm_exact *sum, double term,
                                   struct storm_exact_unit unit)
{
    *sum += storm_exact_term(term, unit);
}

#endif /* STORM_BASE_EXACT_H */
