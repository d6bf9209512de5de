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
