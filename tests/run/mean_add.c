/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * MEANS-1, MEANS-4: mean and standard error of values that come one by one are
 * those of the two-pass formula in long double, also of large values that
 * differ little, and of tiny ones; equal values have the error 0.
 */
#include <math.h>
#include <stdio.h>

#include "io/io_means.h"
#include "support/check.h"
#include "support/dice.h"

enum { N = 200 };

/* Relative to the spread of the values; the mean has to hold the offset. */
static void spread(double offset, double scale)
{
    double x[N];
    struct io_mean m = {0.0, 0.0};
    struct dice dice = dice_make(7, 0);
    for (int i = 0; i < N; i++)
        x[i] = offset +
               scale * ((double)dice_roll(&dice, 1 << 20) / (1 << 20) - 0.5);
    for (uint64_t n = 1; n <= N; n++) {
        io_mean_add(&m, n, x[n - 1]);
        long double sum = 0.0L, square = 0.0L;
        for (uint64_t i = 0; i < n; i++)
            sum += x[i];
        for (uint64_t i = 0; i < n; i++)
            square += (x[i] - sum / n) * (x[i] - sum / n);
        double right =
            n > 1 ? (double)sqrtl(square / ((long double)n * (n - 1))) : 0.0;
        double round = 1e-15 * (double)n * (fabs(offset) + scale);
        CHECK(fabs(m.mean - (double)(sum / n)) <= round);
        CHECK(fabs(m.error - right) <= 1e-13 * (double)n * right + round);
    }
}

int main(void)
{
    struct io_mean same = {0.0, 0.0};
    spread(0.0, 1.0);
    spread(1e6, 1.0);
    spread(-3e-8, 1e-9);
    spread(0.0, 1e-250);
    spread(1e200, 1e190);
    for (uint64_t n = 1; n <= N; n++) {
        io_mean_add(&same, n, 0.1);
        CHECK(same.mean == 0.1 && same.error == 0.0);
    }
    return CHECK_PASS;
}
