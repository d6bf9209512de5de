/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * Student's t: quantiles as Abramowitz and Stegun print them (Handbook of
 * Mathematical Functions, table 26.10: A(t|n) = 0.5, 0.9, 0.95, 0.99, three
 * decimals), closed forms for one and two degrees of freedom, and the normal
 * distribution for many.
 */
#include "base/student.h"

#include <math.h>
#include <stdio.h>

#include "support/check.h"

static const struct {
    uint64_t n;
    double t[4];
} printed[] = {
    {1, {1.000, 6.314, 12.706, 63.657}}, {2, {0.816, 2.920, 4.303, 9.925}},
    {3, {0.765, 2.353, 3.182, 5.841}},   {4, {0.741, 2.132, 2.776, 4.604}},
    {5, {0.727, 2.015, 2.571, 4.032}},   {6, {0.718, 1.943, 2.447, 3.707}},
    {7, {0.711, 1.895, 2.365, 3.499}},   {8, {0.706, 1.860, 2.306, 3.355}},
    {9, {0.703, 1.833, 2.262, 3.250}},   {10, {0.700, 1.812, 2.228, 3.169}},
    {15, {0.691, 1.753, 2.131, 2.947}},  {20, {0.687, 1.725, 2.086, 2.845}},
    {30, {0.683, 1.697, 2.042, 2.750}},  {60, {0.679, 1.671, 2.000, 2.660}},
    {120, {0.677, 1.658, 1.980, 2.617}},
};

static void near(double got, double right, double relative)
{
    if (!(fabs(got - right) <= relative * right))
        printf("got %.15g, right %.15g\n", got, right);
    CHECK(fabs(got - right) <= relative * right);
}

int main(void)
{
    static const double within[4] = {0.5, 0.9, 0.95, 0.99};
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++)
        for (int k = 0; k < 4; k++)
            CHECK(fabs(storm_student_t(within[k], printed[i].n) -
                       printed[i].t[k]) < 0.00051);
    for (double p = 0.001; p < 0.9995; p += 0.001) {
        near(storm_student_t(p, 1), tan(0.5 * acos(-1.0) * p), 1e-9);
        near(storm_student_t(p, 2), p * sqrt(2.0 / (1.0 - p * p)), 1e-9);
        for (uint64_t n = 1; n <= 40; n++)
            near(storm_student_within(storm_student_t(p, n), n), p, 1e-9);
    }
    near(storm_student_t(0.95, 1000000), 1.959963984540054, 2e-6);
    return CHECK_PASS;
}
