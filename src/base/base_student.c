/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/student.h"

#include <math.h>

static const double student_pi = 3.14159265358979323846;

/* The arc tangent of x >= 0: three times half the angle, then the series. */
static double student_atan(double x)
{
    if (x > 1.0)
        return 0.5 * student_pi - student_atan(1.0 / x);
    for (int i = 0; i < 3; i++)
        x = x / (1.0 + sqrt(1.0 + x * x));
    double square = -x * x, power = x, sum = 0.0;
    for (int i = 1; i < 30; i += 2) {
        sum += power / i;
        power *= square;
    }
    return 8.0 * sum;
}

/* With the angle of t / sqrt(n): tangent and cosine. */
static double student_at(double tangent, uint64_t n)
{
    double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    double sine = tangent * cosine, square = cosine * cosine;
    bool is_odd = n % 2 == 1;
    double term = is_odd ? cosine : 1.0, sum = 0.0;
    for (uint64_t k = is_odd ? 3 : 2; k <= n; k += 2) {
        sum += term;
        term *= square * ((double)k - 1.0) / (double)k;
    }
    return is_odd ? 2.0 / student_pi * (student_atan(tangent) + sine * sum)
                  : sine * sum;
}

double storm_student_within(double t, uint64_t n)
{
    return student_at(t / sqrt((double)n), n);
}

/* By bisection. The tangent is found as s / (1 - s): s is between 0 and 1. */
double storm_student_t(double within, uint64_t n)
{
    double lo = 0.0, hi = 1.0;
    for (int i = 0; i < 60; i++) {
        double s = 0.5 * (lo + hi);
        if (student_at(s / (1.0 - s), n) < within)
            lo = s;
        else
            hi = s;
    }
    return sqrt((double)n) * lo / (1.0 - lo);
}
