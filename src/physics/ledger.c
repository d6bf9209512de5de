/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/ledger.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/port.h"

__extension__ typedef unsigned __int128 ledger_wide;

/* A limb takes 2^32 per term; 2^30 terms stay far from 2^63. */
enum { LEDGER_CARRY_AFTER = 1 << 30 };

void storm_ledger_add(struct storm_ledger *ledger, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    STORM_ASSERT(exponent != 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == 0)
        exponent = 1; /* subnormal: no leading one */
    else
        mantissa |= (uint64_t)1 << 52;
    int bit = exponent - 1; /* of 2^-1074 */
    ledger_wide wide = (ledger_wide)mantissa << (bit % 32);
    int64_t *limb = &ledger->limb[bit / 32];
    int64_t sign = bits >> 63 ? -1 : 1;
    limb[0] += sign * (int64_t)(uint32_t)wide;
    limb[1] += sign * (int64_t)(uint32_t)(wide >> 32);
    limb[2] += sign * (int64_t)(uint32_t)(wide >> 64);
    if (STORM_UNLIKELY(++ledger->n_since_carry >= LEDGER_CARRY_AFTER))
        storm_ledger_carry(ledger);
}

static void ledger_spread(int64_t *limb, storm_exact sum,
                          struct storm_exact_unit unit)
{
    int shift = (unit.lsb + 1074) % 32;
    int64_t sign = sum < 0 ? -1 : 1;
    ledger_wide magnitude = sum < 0 ? -(ledger_wide)sum : (ledger_wide)sum;
    ledger_wide low = magnitude << shift;
    uint64_t high = shift > 0 ? (uint64_t)(magnitude >> (128 - shift)) : 0;
    for (int i = 0; i < STORM_LEDGER_SPREAD - 1; i++)
        limb[i] += sign * (int64_t)(uint32_t)(low >> (32 * i));
    limb[STORM_LEDGER_SPREAD - 1] += sign * (int64_t)high;
}

void storm_ledger_add_exact(struct storm_ledger *ledger, storm_exact sum,
                            struct storm_exact_unit unit)
{
    ledger_spread(&ledger->limb[storm_ledger_limb(unit)], sum, unit);
    if (STORM_UNLIKELY(++ledger->n_since_carry >= LEDGER_CARRY_AFTER))
        storm_ledger_carry(ledger);
}

void storm_ledger_book(struct storm_ledger *ledger,
                       const struct storm_ledger_parts *parts,
                       struct storm_exact_unit unit)
{
    storm_ledger_add_parts(&ledger->limb[storm_ledger_limb(unit)], parts);
    if (STORM_UNLIKELY(++ledger->n_since_carry >= LEDGER_CARRY_AFTER))
        storm_ledger_carry(ledger);
}

void storm_ledger_merge(struct storm_ledger *ledger,
                        const struct storm_ledger *other, int sign)
{
    struct storm_ledger copy = *other;
    storm_ledger_carry(&copy);
    storm_ledger_carry(ledger);
    for (int i = 0; i < STORM_LEDGER_LIMBS; i++)
        ledger->limb[i] += sign * copy.limb[i];
    storm_ledger_carry(ledger);
}

void storm_ledger_carry_limbs(int64_t *limb, int n)
{
    int64_t carry = 0;
    for (int i = 0; i < n - 1; i++) {
        int64_t sum = limb[i] + carry;
        int64_t low = (int64_t)((uint64_t)sum & 0xffffffffu);
        limb[i] = low;
        carry = (sum - low) / ((int64_t)1 << 32); /* exact */
    }
    limb[n - 1] += carry;
}

void storm_ledger_carry(struct storm_ledger *ledger)
{
    storm_ledger_carry_limbs(ledger->limb, STORM_LEDGER_LIMBS);
    ledger->n_since_carry = 0;
}

bool storm_ledger_is_zero(const struct storm_ledger *ledger)
{
    struct storm_ledger copy = *ledger;
    storm_ledger_carry(&copy);
    for (int i = 0; i < STORM_LEDGER_LIMBS; i++) {
        if (copy.limb[i] != 0)
            return false;
    }
    return true;
}

double storm_ledger_value(const struct storm_ledger *ledger)
{
    struct storm_ledger a = *ledger;
    storm_ledger_carry(&a);
    bool is_negative = a.limb[STORM_LEDGER_LIMBS - 1] < 0;
    if (is_negative) {
        for (int i = 0; i < STORM_LEDGER_LIMBS; i++)
            a.limb[i] = -a.limb[i];
        storm_ledger_carry(&a);
    }
    int top = STORM_LEDGER_LIMBS - 1;
    while (top > 0 && a.limb[top] == 0)
        top--;

    /* 64 bits from the leading one on; any bit below sets the last one, so that
     * the one rounding, to 53, is correct. */
    ledger_wide wide = 0; /* the last limb may have 63 bits */
    int low = top >= 2 ? top - 2 : 0;
    for (int i = top; i >= low; i--)
        wide = (wide << 32) + (uint64_t)a.limb[i];
    bool sticky = false;
    for (int i = low - 1; i >= 0; i--)
        sticky = sticky || a.limb[i] != 0;
    if (wide == 0)
        return 0.0;
    int scale = 32 * low - 1074;
    while (wide >> 64) {
        sticky = sticky || (wide & 1u);
        wide >>= 1;
        scale++;
    }
    /* A sum below 2^-1022 has all its bits in `wide` and needs no rounding. */
    double value = ldexp((double)((uint64_t)wide | sticky), scale);
    return is_negative ? -value : value;
}

storm_status storm_ledger_sum(struct storm_ledger *account, int n,
                              const struct storm_context *context,
                              struct storm_ledger *sum_out)
{
    enum { WORDS = sizeof(struct storm_ledger) / sizeof(int64_t) };
    _Static_assert(WORDS * sizeof(int64_t) == sizeof(struct storm_ledger),
                   "all of it is 64-bit integers");
    for (int i = 0; i < n; i++) {
        storm_ledger_carry(&account[i]);
        sum_out[i] = account[i];
    }
    return storm_context_reduce(context, sum_out, n * WORDS, MPI_INT64_T,
                                MPI_SUM);
}

storm_status storm_ledger_balance(struct storm_ledger *account,
                                  const struct storm_context *context,
                                  double *value_out, double *error_out)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    storm_status status =
        storm_ledger_sum(account, STORM_LEDGER_ACCOUNTS, context, sum);
    if (status < 0)
        return status;

    for (int i = 0; i < STORM_LEDGER_ACCOUNTS; i++)
        value_out[i] = storm_ledger_value(&sum[i]);
    struct storm_ledger error = sum[STORM_LEDGER_CREATED];
    for (int i = 1; i < STORM_LEDGER_ACCOUNTS; i++)
        storm_ledger_merge(&error, &sum[i], -1);
    double wrong = fabs(storm_ledger_value(&error));
    *error_out = wrong > 0.0 ? wrong / value_out[STORM_LEDGER_CREATED] : 0.0;
    return STORM_OK;
}
