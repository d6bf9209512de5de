/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 30 */
/*
 * AVERAGE-1 to AVERAGE-3: means of power laws over groups against a quadrature
 * of another kind (trapezoids in tanh-sinh form, in long double), for random
 * exponents, temperatures, groups from narrow to a factor of 1e6, floors and
 * caps that begin inside the group; the worst relative error is below
 * storm_average_error. Limits: cold matter takes the lower edge, hot matter the
 * mean with E^2.
 */
#include <math.h>
#include <stdio.h>

#include "physics/material.h"
#include "physics/matter_average.h"
#include "support/check.h"

enum { CASES = 300, SLICES = 24 };

static uint64_t state = 12345;
static double uniform(double from, double to)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * ((double)(state >> 11) * 0x1p-53);
}

static long double law_at(const struct storm_average_law *law, long double e)
{
    long double value = law->scale * powl(e, law->exponent);
    value = value > law->max ? law->max : value;
    return value < law->min ? law->min : value;
}

/* The weight over exp(-lo / t). */
static long double weight_at(bool rosseland, long double e, long double t,
                             long double lo)
{
    long double x = e / t, fall = expl((lo - e) / t), rest = -expm1l(-x);
    long double ratio = e / lo;
    long double planck = ratio * ratio * ratio * fall / rest;
    return rosseland ? planck * ratio / rest : planck;
}

/* Integrals of a slice in log E without bends, double exponential. */
static void slice(const struct storm_average_law *law, bool rosseland,
                  long double t, long double lo, const long double ends[2],
                  long double sums[2])
{
    const long double h = 0.125L, half_pi = 1.570796326794896619231L;
    long double middle = 0.5L * (ends[0] + ends[1]);
    long double half = 0.5L * (ends[1] - ends[0]);
    for (int k = -26; k <= 26; k++) {
        long double s = half_pi * sinhl(h * k), c = coshl(s);
        long double step = h * half * half_pi * coshl(h * k) / (c * c);
        long double e = expl(middle + half * tanhl(s));
        long double w = weight_at(rosseland, e, t, lo) * e * step;
        long double value = law_at(law, e);
        sums[0] += w;
        sums[1] += w * (rosseland ? 1.0L / value : value);
    }
}

static void sort_three(long double *x)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            if (x[k] > x[k + 1]) {
                long double y = x[k];
                x[k] = x[k + 1];
                x[k + 1] = y;
            }
}

/* From bend to bend, in slices; beyond 120 temperatures nothing is left. */
static double brute(const struct storm_average_law *law, bool rosseland,
                    double t, double lo, double hi)
{
    long double sums[2] = {0.0L, 0.0L};
    long double top = logl(fminl(hi, lo + 700.0L * t));
    long double from = logl(lo), cut[3] = {top, top, top};
    const double limit[2] = {law->min, law->max};
    for (int i = 0; i < 2; i++) {
        long double e = logl(limit[i] / law->scale) / law->exponent;
        if (limit[i] > 0.0 && e > from && e < top)
            cut[i] = e;
    }
    sort_three(cut);
    for (int i = 0; i < 3; i++) {
        long double width = (cut[i] - from) / SLICES;
        for (int k = 0; width > 0.0L && k < SLICES; k++)
            slice(law, rosseland, t, lo,
                  (long double[]){from + width * k, from + width * (k + 1)},
                  sums);
        from = cut[i];
    }
    return (double)(rosseland ? sums[0] / sums[1] : sums[1] / sums[0]);
}

static double one_case(int i)
{
    static const double exponents[] = {-3.0, -1.0, 2.0, -0.5, -7.3, 12.0};
    double width = i % 3 == 0 ? uniform(0.01, 0.5) : uniform(0.5, 13.8);
    double lo = pow(10.0, uniform(-5.0, 2.0)), hi = lo * exp(width);
    double t = lo * pow(10.0, uniform(-4.0, 5.0));
    struct storm_average_law law = {
        .scale = pow(10.0, uniform(-3.0, 3.0)),
        .exponent = exponents[i % 6],
        .max = 1e300,
    };
    double a = storm_average_at(&law, lo), b = storm_average_at(&law, hi);
    if (i % 5 == 1)
        law.max = fmin(a, b) * pow(fmax(a, b) / fmin(a, b), uniform(0.2, 1.0));
    if (i % 5 == 2 || i % 10 == 1)
        law.min = fmin(a, b) * pow(fmax(a, b) / fmin(a, b), uniform(0.0, 0.2));
    double worst = 0.0, mean[2];
    for (int k = 0; k < 2; k++) {
        mean[k] =
            storm_average(&law,
                          k == 0 ? STORM_GROUP_PLANCK : STORM_GROUP_ROSSELAND,
                          t, lo, hi);
        double right = brute(&law, k == 1, t, lo, hi);
        double off = fabs(mean[k] / right - 1.0);
        if (off > storm_average_error)
            printf("E^%g, T %g, %g .. %g, floor %g, cap %g: %.12g, right "
                   "%.12g, off %.2g\n",
                   law.exponent, t, lo, hi, law.min, law.max, mean[k], right,
                   off);
        worst = fmax(worst, off);
    }
    return worst;
}

static void check_limits(void)
{
    const struct storm_average_law law = {2.0, -3.0, 0.0, 1e12};
    const struct storm_average_law flat = {2.0, 0.0, 0.0, 1e12};
    const struct storm_average_law none = {0.0, -3.0, 0.0, 1e12};
    const struct storm_average_law over = {2.0, -3.0, 0.0, 1e-9};
    const storm_group_average planck = STORM_GROUP_PLANCK;
    const storm_group_average rosseland = STORM_GROUP_ROSSELAND;
    CHECK(storm_average(&law, STORM_GROUP_MIDDLE, 1.0, 1.0, 4.0) == 0.25);
    CHECK(storm_average(&flat, planck, 1.0, 1.0, 4.0) == 2.0);
    CHECK(storm_average(&none, rosseland, 1.0, 1.0, 4.0) == 0.0);
    CHECK(storm_average(&over, planck, 1.0, 1.0, 4.0) == 1e-9);
    CHECK(storm_average(&law, planck, 0.0, 1.0, 4.0) == 2.0);
    CHECK(storm_average(&law, rosseland, 1e-30, 1.0, 4.0) == 2.0);
    CHECK(fabs(storm_average(&law, planck, 1e-6, 1.0, 4.0) / 2.0 - 1.0) < 4e-6);
    /* E^2: 2 log 4 over 63 / 3, and its inverse 63 / 3 over 4095 / 6 / 2. */
    double jeans = 2.0 * log(4.0) / 21.0, harmonic = 21.0 / (4095.0 / 12.0);
    CHECK(fabs(storm_average(&law, planck, 1e30, 1.0, 4.0) / jeans - 1) < 1e-9);
    CHECK(fabs(storm_average(&law, planck, 1e9, 1.0, 4.0) / jeans - 1) < 1e-7);
    CHECK(fabs(storm_average(&law, rosseland, 1e30, 1.0, 4.0) / harmonic - 1) <
          1e-9);
    /* Whatever the numbers: within the law's own. */
    double far = storm_average(&law, planck, 1e30, 1e-200, 1e200);
    CHECK(far >= 0.0 && far <= 1e12);
}

int main(void)
{
    double worst = 0.0;
    for (int i = 0; i < CASES; i++)
        worst = fmax(worst, one_case(i));
    printf("%d cases, worst relative error %.2g\n", 2 * CASES, worst);
    CHECK(worst < storm_average_error);
    check_limits();
    return CHECK_PASS;
}
