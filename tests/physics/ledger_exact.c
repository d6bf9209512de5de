/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * LEDGER-1, LEDGER-2, LEDGER-3 and LEDGER-4: sums of doubles of any size, in
 * any order, and split over any number of ledgers, are the same to the last
 * byte; the value is the nearest double.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "physics/ledger.h"
#include "support/check.h"
#include "support/dice.h"

/* Any finite double. */
static double any_double(struct dice *dice)
{
    double x;
    do {
        uint64_t bits = dice_word(dice);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

static void check_sum(struct storm_ledger ledger, double value)
{
    CHECK(storm_ledger_value(&ledger) == value);
    CHECK(storm_ledger_is_zero(&ledger) == (value == 0.0));
}

static void check_order(struct dice *dice)
{
    enum { N = 1000, PARTS = 7 };
    double terms[N];
    struct storm_ledger once = {{0}, 0}, part[PARTS] = {{{0}, 0}},
                        all = {{0}, 0};
    for (int i = 0; i < N; i++) {
        terms[i] = any_double(dice);
        storm_ledger_add(&once, terms[i]);
    }
    for (int i = N - 1; i > 0; i--) {
        int j = (int)dice_roll(dice, (uint64_t)i + 1);
        double t = terms[i];
        terms[i] = terms[j];
        terms[j] = t;
    }
    for (int i = 0; i < N; i++)
        storm_ledger_add(&part[dice_roll(dice, PARTS)], terms[i]);
    for (int i = 0; i < PARTS; i++)
        storm_ledger_merge(&all, &part[i], 1);
    storm_ledger_carry(&once);
    storm_ledger_carry(&all);
    CHECK(memcmp(&once, &all, sizeof all) == 0);
    for (int i = 0; i < N; i++)
        storm_ledger_add(&all, -terms[i]);
    check_sum(all, 0.0);
    storm_ledger_merge(&once, &once, -1);
    check_sum(once, 0.0);
}

/* The value of a sum of two is what the processor's own sum gives. */
static void check_nearest(struct dice *dice)
{
    for (int i = 0; i < 100000; i++) {
        double a = any_double(dice), b = any_double(dice);
        if (i % 2) /* close together, so that all bits matter */
            b = ldexp(b, -ilogb(b) + ilogb(a) - (int)dice_roll(dice, 60));
        struct storm_ledger ledger = {{0}, 0};
        storm_ledger_add(&ledger, a);
        check_sum(ledger, a);
        if (!isfinite(b))
            continue;
        storm_ledger_add(&ledger, b);
        check_sum(ledger, a + b);
    }
}

int main(void)
{
    struct dice dice = dice_make(1, 0);
    struct storm_ledger ledger = {{0}, 0};
    check_sum(ledger, 0.0);
    storm_ledger_add(&ledger, DBL_MAX);
    storm_ledger_add(&ledger, DBL_TRUE_MIN);
    storm_ledger_add(&ledger, -DBL_MAX);
    check_sum(ledger, DBL_TRUE_MIN);

    /* Ties: half an ulp goes to even, a little more goes up. */
    ledger = (struct storm_ledger){{0}, 0};
    storm_ledger_add(&ledger, 1.0);
    storm_ledger_add(&ledger, 0x1p-53);
    check_sum(ledger, 1.0);
    storm_ledger_add(&ledger, DBL_TRUE_MIN);
    check_sum(ledger, 1.0 + 0x1p-52);
    storm_ledger_add(&ledger, -2.0 * DBL_TRUE_MIN);
    check_sum(ledger, 1.0);

    /* Sums above the largest double, and back. */
    ledger = (struct storm_ledger){{0}, 0};
    for (int i = 0; i < 1000; i++)
        storm_ledger_add(&ledger, -DBL_MAX);
    CHECK(isinf(storm_ledger_value(&ledger)));
    for (int i = 0; i < 999; i++)
        storm_ledger_add(&ledger, DBL_MAX);
    check_sum(ledger, -DBL_MAX);

    for (int i = 0; i < 50; i++)
        check_order(&dice);
    check_nearest(&dice);
    return CHECK_PASS;
}
