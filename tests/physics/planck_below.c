/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * The share of a blackbody's energy below x, against values from 60 digits of
 * arithmetic (the series of exp(-n x), summed to 1e-45), to 1e-12; against
 * Simpson's rule on x^3 / (e^x - 1) with steps of 1e-4, to 1e-10; it rises from
 * 0 to 1, and the two series agree where they meet.
 */
#include <math.h>
#include <stdio.h>

#include "physics/planck.h"
#include "support/check.h"

static const double known[][2] = {
    {0.05, 0.00000629673643562544},
    {0.3, 0.00123622291217086164},
    {0.999, 0.03452813616888114009},
    {1, 0.03461769106552885842},
    {1.5, 0.09477990857515868596},
    {2.8214393721220787, 0.35399342696657518917},
    {4, 0.59702653834093947088},
    {8, 0.96083800731399874337},
    {15, 0.99980469925617929376},
    {30, 0.99999999956934935372},
};

static double spectrum(double x)
{
    return x > 0.0 ? x * x * x / expm1(x) : 0.0;
}

int main(void)
{
    const double pi = 3.14159265358979323846;
    const double norm = 15.0 / (pi * pi * pi * pi), h = 1e-4;
    double sum = 0.0, last = 0.0, worst = 0.0;
    for (long i = 0; i < 400000; i++) {
        double x = h * (double)i;
        sum += norm * h / 6.0 *
               (spectrum(x) + 4.0 * spectrum(x + 0.5 * h) + spectrum(x + h));
        double value = storm_planck_below(x + h);
        CHECK(value >= last && value <= 1.0);
        last = value;
        worst = fmax(worst, fabs(value - sum));
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(fabs(storm_planck_below(known[i][0]) - known[i][1]) < 1e-12);
    printf("worst error %.1e\n", worst);
    CHECK(worst < 1e-10);
    /* Relative to what is there, for small x. */
    for (double x = 1e-8; x < 0.01; x *= 3.0)
        CHECK(fabs(storm_planck_below(x) / (norm * x * x * x / 3.0) - 1.0) <
              0.5 * x);
    CHECK(storm_planck_below(0.0) == 0.0);
    CHECK(storm_planck_below(INFINITY) == 1.0);
    CHECK(fabs(storm_planck_below(nextafter(1.0, 0.0)) -
               storm_planck_below(1.0)) < 1e-14);
    return CHECK_PASS;
}
