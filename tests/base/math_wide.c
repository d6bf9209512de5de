/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/* WIDE-1: eight at a time, functions have the bits of the same functions of one
 * number. */
#include "base/math_wide.h"
#include "support/check.h"
#include "support/dice.h"

/* Normal numbers: in (0, 1), which packets draw, or of any size. */
static double draw(struct dice *dice, int round)
{
    const uint64_t smallest = UINT64_C(1) << 52;
    const uint64_t n = (UINT64_C(0x7ff) << 52) - smallest;
    uint64_t word = dice_word(dice);
    return round % 2 ? storm_math_real(smallest + word % n)
                     : ((double)(word >> 12) + 0.5) * 0x1p-52;
}

static void check_log(const double x[STORM_WIDE])
{
    double log[STORM_WIDE];
    storm_log_wide(x, log);
    for (int i = 0; i < STORM_WIDE; i++)
        CHECK(storm_math_bits(log[i]) == storm_math_bits(storm_log(x[i])));
}

static void check_turns(const double turns[STORM_WIDE])
{
    double c[STORM_WIDE], s[STORM_WIDE];
    storm_cos_sin_wide(turns, c, s);
    for (int i = 0; i < STORM_WIDE; i++) {
        double one_c, one_s;
        storm_cos_sin_turns(turns[i], &one_c, &one_s);
        CHECK(storm_math_bits(c[i]) == storm_math_bits(one_c));
        CHECK(storm_math_bits(s[i]) == storm_math_bits(one_s));
    }
}

int main(void)
{
    static const double exact[STORM_WIDE] = {1.0,  0.5,   2.0,  0.25,
                                             0.75, 0.125, 1.25, 0x1p-53};
    struct dice dice = dice_make(1, 0);
    double x[STORM_WIDE];
    check_log(exact);
    check_turns(exact);
    for (int round = 0; round < 200000; round++) {
        for (int i = 0; i < STORM_WIDE; i++)
            x[i] = draw(&dice, round);
        check_log(x);
        if (round % 2 == 0)
            check_turns(x);
    }
    return CHECK_PASS;
}
