/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/planck.h"

#include <math.h>
#include <stddef.h>

#include "base/math.h"

/* 15 / pi^4 */
static const double planck_norm = 0.15398973382026503;

/* x^3 / (e^x - 1) = x^2 sum of B_k x^k / k!, integrated term by term; it
 * converges below 2 pi, and 14 even terms leave 1e-15 at x = 2. */
static double planck_small(double x)
{
    static const double bernoulli[] = {/* B_2k / (2k)! */
                                       1.0 / 12.0,
                                       -1.0 / 720.0,
                                       1.0 / 30240.0,
                                       -1.0 / 1209600.0,
                                       1.0 / 47900160.0,
                                       -691.0 / 1307674368000.0,
                                       1.0 / 74724249600.0,
                                       -3617.0 / 10670622842880000.0,
                                       43867.0 / 5109094217170944000.0,
                                       -174611.0 / 802857662698291200000.0};
    enum { N = sizeof bernoulli / sizeof bernoulli[0] };
    double x2 = x * x, power = x2, sum = 1.0 / 3.0 - x / 8.0;
    for (int k = 0; k < N; k++, power *= x2)
        sum += bernoulli[k] * power / (double)(2 * k + 5);
    return planck_norm * x * x2 * sum;
}

/* The rest above x: 1 / (e^x - 1) as a geometric series. */
static double planck_large(double x)
{
    double sum = 0.0;
    for (int n = 1; n <= 40; n++) {
        double m = 1.0 / n;
        double term = storm_exp(-n * x) * m *
                      (x * x * x + m * (3.0 * x * x + m * (6.0 * x + m * 6.0)));
        sum += term;
        if (term < 1e-18 * sum)
            break;
    }
    return 1.0 - planck_norm * sum;
}

double storm_planck_below(double x)
{
    if (!(x > 0.0))
        return 0.0;
    if (x > 700.0)
        return 1.0;
    return x < 1.0 ? planck_small(x) : planck_large(x);
}

/* ---- draws -------------------------------------------------------------- */

/* Where x^3 / (e^x - 1) is largest. */
static const double planck_mode = 2.8214393721220787;

/* An interval with the mode that is wider than this holds most of the energy:
 * draw from all of the spectrum. */
static const double planck_wide = 6.0;

static void planck_next(const struct storm_draws *draws, double u[4])
{
    storm_random(draws->seed, draws->stream, draws->id, (*draws->block)++, u);
}

/* All of the spectrum, as a sum of distributions x^3 e^-nx for n = 1, 2, ...,
 * with probabilities of 1 / n^4 (L. L. Carter and E. D. Cashwell, Particle
 * transport simulation with the Monte Carlo method, 1975). */
static double planck_draw_all(const struct storm_draws *draws)
{
    const double all = 1.0823232337111382; /* pi^4 / 90 */
    double u[4], v[4], n = 1.0, sum = 1.0;
    planck_next(draws, u);
    planck_next(draws, v);
    while (sum < u[0] * all && n < 1000.0) {
        n += 1.0;
        sum += 1.0 / (n * n * (n * n));
    }
    return -(storm_log(v[0] * v[1]) + storm_log(v[2] * v[3])) / n;
}

/* ln of x^3 / (e^x - 1), but for a constant, relative to the point c. */
static double planck_log_ratio(double x, double c)
{
    return 3.0 * storm_log(x / c) - (x - c) -
           storm_log(storm_expm1(-x) / storm_expm1(-c));
}

/* The logarithm of the spectrum is concave: it is below each of its tangents.
 * This draws below the one at c. */
static double planck_draw_below(double lo, double hi, double c,
                                const struct storm_draws *draws)
{
    double slope = c == planck_mode ? 0.0 : 3.0 / c + 1.0 / storm_expm1(-c);
    double width = hi - lo, x = c;
    for (int i = 0; i < 1000; i++) {
        double u[4];
        planck_next(draws, u);
        x = lo +
            (fabs(slope * width) < 1e-9
                 ? u[0] * width
                 : storm_log(1.0 + u[0] * storm_expm1(slope * width)) / slope);
        x = x < hi ? x : hi;
        if (x > 0.0 &&
            storm_log(u[1]) < planck_log_ratio(x, c) - slope * (x - c))
            return x;
    }
    return x;
}

double storm_planck_draw(double lo, double hi, const struct storm_draws *draws)
{
    if (hi <= planck_mode)
        return planck_draw_below(lo, hi, hi, draws);
    if (lo >= planck_mode)
        return planck_draw_below(lo, hi, fmin(lo + 1.0, hi), draws);
    if (hi - lo <= planck_wide)
        return planck_draw_below(lo, hi, planck_mode, draws);
    double x = planck_mode;
    for (int i = 0; i < 1000; i++) {
        x = planck_draw_all(draws);
        if (x >= lo && x <= hi)
            break;
    }
    return x;
}
