/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Shares of an energy add up to it exactly and differ only by rounding. */
#include <math.h>

#include "physics/ledger.h"
#include "physics/split.h"
#include "support/check.h"
#include "support/dice.h"

static void check_split(double total, uint64_t n)
{
    struct storm_split split = storm_split(total, n);
    struct storm_ledger ledger = {{0}, 0};
    check_where("%a in %llu parts", total, (unsigned long long)n);
    for (uint64_t i = 1; i < n; i++)
        storm_ledger_add(&ledger, split.each);
    storm_ledger_add(&ledger, split.last);
    storm_ledger_add(&ledger, -total);
    CHECK(storm_ledger_is_zero(&ledger));
    double share = total / (double)n, max = 8.0 * (double)n * 0x1p-53;
    CHECK(fabs(split.each - share) <= max * share);
    CHECK(fabs(split.last - share) <= max * (double)n * share);
    CHECK(split.last >= split.each);
}

int main(void)
{
    struct dice dice = dice_make(1, 0);
    for (uint64_t n = 1; n < 2000; n++) {
        check_split(1.0, n);
        check_split(1.0 - 0x1p-53, n);
        check_split(1.0 + 0x1p-52, n);
        check_split(0.0, n);
        for (int i = 0; i < 3; i++) {
            double mantissa =
                0.5 + ldexp((double)(dice_word(&dice) >> 12), -53);
            check_split(ldexp(mantissa, (int)dice_roll(&dice, 1000) - 500), n);
        }
    }
    check_split(3.0, 1000003);
    return CHECK_PASS;
}
