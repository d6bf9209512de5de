/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accounts that are never rounded: a sum of doubles as one integer wide enough
 * for all of them (Kulisch).
 *
 * For accounts of a whole run, whose terms have no bound known in advance. A
 * few hundred bytes each; per-cell tallies use base/exact.h.
 *
 *   LEDGER-1  Adding is exact for every finite double, so the order does not
 *             matter.
 *   LEDGER-2  Holds 2^62 terms of any size on each of 2^31 ranks.
 *   LEDGER-3  storm_ledger_value is the double nearest to the sum, ties to
 *             even.
 *   LEDGER-4  Any two ledgers with equal sums are equal byte for byte after
 *             storm_ledger_carry.
 */
#ifndef STORM_PHYSICS_LEDGER_H
#define STORM_PHYSICS_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/exact.h"

struct storm_context;

/* 2^-1074 .. 2^1024 in pieces of 32 bits, and 62 bits for carries. */
enum { STORM_LEDGER_LIMBS = 68 };

/* Value: sum of limb[i] * 2^(32 i - 1074). All zero is an empty account. */
struct storm_ledger {
    int64_t limb[STORM_LEDGER_LIMBS];
    int64_t n_since_carry;
};

/* value must be finite. */
void storm_ledger_add(struct storm_ledger *ledger, double value);

/* Adds an exact sum, or a term that was cut to its unit, without rounding. */
void storm_ledger_add_exact(struct storm_ledger *ledger, storm_exact sum,
                            struct storm_exact_unit unit);

/* The limb of 2^(32 i - 1074) at which sums in a unit begin; up to
 * STORM_LEDGER_SPREAD limbs change, each by less than 2^32. */
enum { STORM_LEDGER_SPREAD = 5 };
static inline int storm_ledger_limb(struct storm_exact_unit unit)
{
    return (unit.lsb + 1074) / 32;
}

/* A term that is not negative and was cut to the unit in parts, to be added to
 * any number of sums: limbs that begin at that of the unit. */
enum { STORM_LEDGER_PARTS = 4 };
struct storm_ledger_parts {
    int64_t part[STORM_LEDGER_PARTS];
};
static inline struct storm_ledger_parts
storm_ledger_parts(storm_exact term, struct storm_exact_unit unit)
{
    /* Below 2^87 before it is shifted by up to 31 bits. */
    storm_exact wide = term * ((int64_t)1 << (unit.lsb + 1074) % 32);
    uint64_t low = (uint64_t)wide, high = (uint64_t)(wide >> 64);
    return (struct storm_ledger_parts){
        {(int64_t)(low & 0xffffffffu), (int64_t)(low >> 32),
         (int64_t)(high & 0xffffffffu), (int64_t)(high >> 32)}};
}
static inline void
storm_ledger_add_parts(int64_t *limb, const struct storm_ledger_parts *parts)
{
    for (int i = 0; i < STORM_LEDGER_PARTS; i++)
        limb[i] += parts->part[i];
}
/* And to an account. */
void storm_ledger_book(struct storm_ledger *ledger,
                       const struct storm_ledger_parts *parts,
                       struct storm_exact_unit unit);

/* Brings `n` limbs to [0, 2^32), the last one keeping the sign. */
void storm_ledger_carry_limbs(int64_t *limb, int n);

/* ledger += sign * other, sign being +1 or -1. */
void storm_ledger_merge(struct storm_ledger *ledger,
                        const struct storm_ledger *other, int sign);

/* Brings limbs to [0, 2^32), the last one keeping the sign. After this limbs
 * of up to 2^31 ledgers may be added up, as a reduction over ranks does. */
void storm_ledger_carry(struct storm_ledger *ledger);

double storm_ledger_value(const struct storm_ledger *ledger);

bool storm_ledger_is_zero(const struct storm_ledger *ledger);

/* Accounts of energy over a whole run. */
enum storm_ledger_account {
    STORM_LEDGER_CREATED,
    STORM_LEDGER_ABSORBED,
    STORM_LEDGER_ESCAPED,
    STORM_LEDGER_CENSUS, /* computed when it is requested */
    STORM_LEDGER_ACCOUNTS
};

/* Sums of n accounts over all ranks. Collective, blocks. */
storm_status storm_ledger_sum(struct storm_ledger *account, int n,
                              const struct storm_context *context,
                              struct storm_ledger *sum_out);
/* Of the accounts above: the values of the sums, and the relative error of the
 * first against the others. The same. */
storm_status storm_ledger_balance(struct storm_ledger *account,
                                  const struct storm_context *context,
                                  double *value_out, double *error_out);

#endif /* STORM_PHYSICS_LEDGER_H */
