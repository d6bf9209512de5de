/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 30 */
/* TEST args: 100; timeout: 600; label: long */
/* Errors of base/math.h stay below what MATH-2 says, against the C library in
 * long double (an error of 0.001 units at most): random arguments in every
 * range, borders of the tables and what lies next to them, numbers next to 1,
 * results below 2^-1022. Prints the largest error of each and where it is. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/math.h"
#include "support/check.h"
#include "support/dice.h"

static const uint64_t seed = 12;
static const double subnormal_bound = 0.8;

struct worst {
    const char *name;
    double bound, error, subnormal, at, at_y;
};

/* In units of the last place of what is wanted. */
static void judge(struct worst *worst, double got, long double want, double x,
                  double y)
{
    if (fabsl(want) > (long double)DBL_MAX ||
        fabsl(want) < (long double)DBL_TRUE_MIN / 4)
        return; /* math_edges.c */
    int exponent;
    frexpl(want, &exponent);
    bool normal = exponent > -1022;
    long double unit = ldexpl(1.0L, (normal ? exponent : -1021) - 53);
    double error = (double)(fabsl((long double)got - want) / unit);
    double *most = normal ? &worst->error : &worst->subnormal;
    if (!(error <= *most)) {
        *most = error;
        if (normal)
            worst->at = x, worst->at_y = y;
    }
    if (!(error <= (normal ? worst->bound : subnormal_bound))) {
        check_where("%s(%a, %a) = %a, error %g", worst->name, x, y, got, error);
        CHECK(error <= worst->bound);
    }
}

static void report(const struct worst *worst)
{
    printf("%-6s error %.4f at %a %a; below 2^-1022 %.4f\n", worst->name,
           worst->error, worst->at, worst->at_y, worst->subnormal);
}

/* ---- arguments ---------------------------------------------------------- */

static double uniform(struct dice *dice, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(dice_word(dice) >> 11) * 0x1p-53);
}

/* Any bits with an exponent in this range, of either sign. */
static double any_between(struct dice *dice, int lo, int hi)
{
    double x = ldexp(uniform(dice, 1.0, 2.0),
                     lo + (int)dice_roll(dice, (uint64_t)(hi - lo)));
    return dice_word(dice) & 1 ? -x : x;
}

/* Up to a few units from x. */
static double near(struct dice *dice, double x)
{
    int steps = (int)dice_roll(dice, 9) - 4;
    for (; steps > 0; steps--)
        x = nextafter(x, INFINITY);
    for (; steps < 0; steps++)
        x = nextafter(x, -INFINITY);
    return x;
}

typedef void (*check_fn)(struct worst *worst, double x);

/* The kinds of arguments that all functions of one number get. */
static void sweep(struct worst *worst, check_fn check, double reach, int n)
{
    struct dice dice = dice_make(seed, (uint64_t)reach);
    for (int i = 0; i < n; i++) {
        check(worst, uniform(&dice, -reach, reach));
        check(worst, uniform(&dice, -1.0, 1.0));
        check(worst, uniform(&dice, 0.0, 2.0));
        check(worst, any_between(&dice, -60, 4));
        check(worst, any_between(&dice, -1074, 1024));
        check(worst, 1.0 + any_between(&dice, -53, -4));
        check(worst, 1.0 + any_between(&dice, -36, -26));
        /* borders of tables: halves and wholes of log(2)/128, of 2^-7 */
        double whole = (double)dice_roll(&dice, 400) - 200.0;
        check(worst, near(&dice, whole * 0.5 * 0x1.62e42fefa39efp-8));
        check(worst, near(&dice, 1.0 + whole * 0x1p-9));
        check(worst, near(&dice, 0.75 + whole * 0x1p-10));
        check(worst, near(&dice, whole * 0.125));
    }
}

/* ---- functions ---------------------------------------------------------- */

static void check_exp(struct worst *worst, double x)
{
    judge(worst, storm_exp(x), expl((long double)x), x, 0.0);
}

static void check_expm1(struct worst *worst, double x)
{
    judge(worst, storm_expm1(x), expm1l((long double)x), x, 0.0);
}

static void check_log(struct worst *worst, double x)
{
    x = fabs(x);
    if (x > 0.0)
        judge(worst, storm_log(x), logl((long double)x), x, 0.0);
}

static void check_cbrt(struct worst *worst, double x)
{
    judge(worst, storm_cbrt(x), cbrtl((long double)x), x, 0.0);
}

/* The long double functions get at most an eighth of a turn. */
static void check_turns(struct worst *worst, double x)
{
    const long double quarter_turn = 1.57079632679489661923132169163975144L;
    double c, s;
    storm_cos_sin_turns(x, &c, &s);
    double quarters = 4.0 * (x - floor(x)), whole = rint(quarters);
    if (fabs(x) < 0x1p-40)
        quarters = 4.0 * x, whole = 0.0;
    else if (x - floor(x) + floor(x) != x)
        return; /* negative and tiny: the subtraction is not exact */
    long double a = ((long double)quarters - whole) * quarter_turn;
    long double cos_a = cosl(a), sin_a = sinl(a);
    long double want[4] = {cos_a, -sin_a, -cos_a, sin_a};
    int n = (int)whole;
    judge(worst, c, want[n & 3], x, 0.0);
    judge(worst, s, want[(n + 3) & 3], x, 1.0);
}

static void check_pow(struct worst *worst, double x, double y)
{
    x = fabs(x);
    if (x > 0.0)
        judge(worst, storm_pow(x, y), powl((long double)x, (long double)y), x,
              y);
}

/* Powers over all of the results, and those that matter in physics. */
static void sweep_pow(struct worst *worst, int n)
{
    struct dice dice = dice_make(seed, 1);
    for (int i = 0; i < n; i++) {
        double x = any_between(&dice, -1074, 1024);
        double most = 745.0 / fabs(log(fabs(x)));
        check_pow(worst, x, uniform(&dice, -most, most));
        x = 1.0 + any_between(&dice, -52, -1);
        most = 745.0 / fabs(log(fabs(x)));
        check_pow(worst, x, uniform(&dice, -most, most));
        x = uniform(&dice, 0.0, 3.0);
        check_pow(worst, x, uniform(&dice, -8.0, 8.0));
        check_pow(worst, near(&dice, 1.0), any_between(&dice, 0, 62));
        check_pow(worst, uniform(&dice, 0.0, 1e3), any_between(&dice, -64, 0));
        check_pow(worst, any_between(&dice, -200, 200), 1.0 / 3.0);
    }
}

int main(int argc, char **argv)
{
    if (LDBL_MANT_DIG < 64)
        return CHECK_SKIP;
    int n = 10000 * (argc > 1 ? atoi(argv[1]) : 1) / CHECK_SLOWDOWN;
    printf("seed %llu\n", (unsigned long long)seed);
    struct worst exp = {.name = "exp", .bound = 0.52};
    struct worst expm1 = {.name = "expm1", .bound = 0.65};
    struct worst log = {.name = "log", .bound = 0.76};
    struct worst cbrt = {.name = "cbrt", .bound = 0.51};
    struct worst turns = {.name = "turns", .bound = 0.78};
    struct worst pow = {.name = "pow", .bound = 0.55};
    sweep(&exp, check_exp, 746.0, n), report(&exp);
    sweep(&expm1, check_expm1, 50.0, n), report(&expm1);
    sweep(&log, check_log, 1e3, n), report(&log);
    sweep(&cbrt, check_cbrt, 1e3, n), report(&cbrt);
    sweep(&turns, check_turns, 10.0, n), report(&turns);
    sweep_pow(&pow, n), report(&pow);
    return 0;
}
