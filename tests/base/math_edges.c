/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* base/math.h where results are known: what is exact (MATH-3), infinities,
 * zeros, NaN and overflow (MATH-4), no step back at borders of the tables, and
 * the same bits as ever (MATH-1). */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/math.h"
#include "support/check.h"
#include "support/dice.h"

/* The same number, or both NaN; zeros with their signs. */
static void equal(const char *what, double x, double got, double want)
{
    check_where("%s at %a: %a, not %a", what, x, got, want);
    CHECK(isnan(want) ? isnan(got)
                      : got == want && !signbit(got) == !signbit(want));
}

static const double edges[] = {
    0.0,     -0.0,      1.0,         -1.0,       0.5,          -0.5,
    2.0,     -2.0,      3.0,         -3.0,       INFINITY,     -INFINITY,
    DBL_MIN, -DBL_MIN,  0x1p-1074,   -0x1p-1074, DBL_MAX,      -DBL_MAX,
    NAN,     0x1p53,    -0x1p53,     0x1p64,     0x1p-70,      0x1.8p52,
    -0x1p64, 1.0 / 3.0, 0x1p53 - 1., 1e300,      1.0 - 0x1p-53};
enum { N_EDGES = sizeof edges / sizeof edges[0] };

/* Where the C library must be right too: what C prescribes. */
static void test_like_c(void)
{
    for (int i = 0; i < N_EDGES; i++) {
        double x = edges[i];
        if (x == 0.0 || isnan(x) || isinf(x) || fabs(x) > 1e100) {
            equal("exp", x, storm_exp(x), exp(x));
            equal("expm1", x, storm_expm1(x), expm1(x));
        }
        if (!(x > 0.0) || x == INFINITY || x == 1.0)
            equal("log", x, storm_log(x), log(x));
        if (x == 0.0 || isnan(x) || isinf(x))
            equal("cbrt", x, storm_cbrt(x), cbrt(x));
        for (int j = 0; j < N_EDGES; j++) {
            double want = pow(x, edges[j]);
            if (want == 0.0 || isnan(want) || isinf(want) || fabs(want) == 1.0)
                equal("pow", x, storm_pow(x, edges[j]), want);
        }
    }
}

static void test_overflow(void)
{
    const double last = 0x1.62e42fefa39efp+9; /* log(DBL_MAX), rounded down */
    CHECK(storm_exp(last) < INFINITY && storm_exp(last) > 1.79e308);
    equal("exp", last, storm_exp(nextafter(last, 1e3)), INFINITY);
    equal("expm1", last, storm_expm1(nextafter(last, 1e3)), INFINITY);
    CHECK(storm_expm1(last) == storm_exp(last));
    /* half of the smallest number and a little more or less */
    const double first = -0x1.74910d52d3051p+9;
    equal("exp", first, storm_exp(first), 0x1p-1074);
    equal("exp", first, storm_exp(nextafter(first, -1e3)), 0.0);
    equal("expm1", -1e3, storm_expm1(-1e3), -1.0);
    equal("expm1", -38.0, storm_expm1(-38.0), -1.0);
    CHECK(storm_pow(2.0, nextafter(1024.0, 0.0)) < INFINITY);
    equal("pow", 2.0, storm_pow(2.0, 1024.0), INFINITY);
    equal("pow", 2.0, storm_pow(2.0, -1074.0), 0x1p-1074);
    equal("pow", 2.0, storm_pow(2.0, -1076.0), 0.0);
    equal("pow", 0x1p-1074, storm_pow(0x1p-1074, 1.0), 0x1p-1074);
    equal("pow", DBL_MAX, storm_pow(DBL_MAX, 1.0), DBL_MAX);
    equal("pow", -3.0, storm_pow(-3.0, 0x1p62 + 1.0), INFINITY);
    equal("pow", -3.0, storm_pow(-3.0, 1023.0), -INFINITY);
}

static void test_exact(void)
{
    for (int i = -1074; i < 1024; i++) {
        double x = ldexp(1.0, i);
        equal("pow", i, storm_pow(2.0, i), x);
        equal("pow", x, storm_pow(x, 1.0), x);
        if (i % 3 == 0)
            equal("cbrt", x, storm_cbrt(x), ldexp(1.0, i / 3));
        if (i % 2 == 0)
            equal("pow", x, storm_pow(x, 0.5), sqrt(x));
    }
    for (int i = 1; i < 131072; i++) {
        double x = i, cube = x * x * x;
        equal("cbrt", cube, storm_cbrt(cube), x);
        equal("cbrt", -cube, storm_cbrt(-cube), -x);
        equal("pow", x, storm_pow(-x, 3.0), -cube);
        equal("pow", x, storm_pow(x * x, 0.5), x);
    }
    double ten = 1.0;
    for (int i = 0; i <= 22; i++, ten *= 10.0)
        equal("pow", i, storm_pow(10.0, i), ten);
}

/* Multiples of an eighth of a turn, near and far. */
static void test_eighths(void)
{
    const double r = 0x1.6a09e667f3bcdp-1; /* sqrt(1/2) */
    const double want[8][2] = {{1, 0},  {r, r},   {0, 1},  {-r, r},
                               {-1, 0}, {-r, -r}, {0, -1}, {r, -r}};
    static const double whole[] = {0.0,    1.0,          -1.0,    7.0,
                                   -13.0,  0x1p30,       -0x1p40, 0x1p48,
                                   0x1p49, -0x1p50 + 1.0};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        for (int k = 0; k < 8; k++) {
            double turns = whole[i] + 0.125 * k, c, s;
            storm_cos_sin_turns(turns, &c, &s);
            if (turns - whole[i] != 0.125 * k)
                continue;
            equal("cos", turns, c, want[k][0]);
            equal("sin", turns, s, want[k][1]);
        }
    }
    static const double others[][3] = {{0x1p53, 1.0, 0.0},
                                       {-0x1p60, 1.0, 0.0},
                                       {DBL_MAX, 1.0, 0.0},
                                       {NAN, NAN, NAN},
                                       {INFINITY, NAN, NAN},
                                       {-INFINITY, NAN, NAN},
                                       {-0.0, 1.0, 0.0},
                                       {0x1p-1074, 1.0, 6 * 0x1p-1074},
                                       {-0x1p-1074, 1.0, -6 * 0x1p-1074}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        double c, s;
        storm_cos_sin_turns(others[i][0], &c, &s);
        equal("cos", others[i][0], c, others[i][1]);
        equal("sin", others[i][0], s, others[i][2]);
    }
}

/* Next to each border of the tables, and at random places, a larger argument
 * does not give a smaller result. */
static void rises(double (*f)(double), const char *what, double x)
{
    for (int i = 0; i < 8; i++)
        x = nextafter(x, -INFINITY);
    for (int i = 0; i < 16; i++) {
        double next = nextafter(x, INFINITY);
        check_where("%s at %a", what, x);
        CHECK(f(next) >= f(x));
        x = next;
    }
}

static void test_rising(void)
{
    struct dice dice = dice_make(5, 0);
    for (int i = -40000; i <= 40000; i += 5) {
        double x = ((double)i + 0.5) * 0x1.62e42fefa39efp-8;
        rises(storm_exp, "exp", x);
        rises(storm_expm1, "expm1", x);
    }
    for (uint64_t i = 0; i < 3 * 128; i++) {
        uint64_t step = UINT64_C(1) << 45;
        double x =
            storm_math_real(STORM_MATH_LOG_FIRST - 128 * step + i * step);
        rises(storm_log, "log", x);
    }
    for (int i = 0; i < 20000; i++) {
        double x = ldexp(1.0 + (double)(dice_word(&dice) >> 12) * 0x1p-52,
                         (int)dice_roll(&dice, 200) - 100);
        rises(storm_log, "log", x);
        rises(storm_cbrt, "cbrt", x);
    }
    rises(storm_expm1, "expm1", 0.0625);
    rises(storm_expm1, "expm1", -0.0625);
    rises(storm_exp, "exp", 690.0);
    rises(storm_exp, "exp", -690.0);
    for (int i = 0; i < 1000; i++)
        rises(storm_exp, "exp", -745.0 + 0.055 * i);
}

/* Every machine and compiler: these bits. */
static void test_frozen(void)
{
    uint64_t hash = 0;
    struct dice dice = dice_make(7, 0);
    for (int i = 0; i < 20000; i++) {
        double u = ((double)(dice_word(&dice) >> 12) + 0.5) * 0x1p-52;
        double v = ldexp(u, (int)dice_roll(&dice, 600) - 300), c, s;
        hash = storm_hash_fold_real(hash, storm_exp(700.0 * u - 350.0));
        hash = storm_hash_fold_real(hash, storm_expm1(4.0 * u - 2.0));
        hash = storm_hash_fold_real(hash, storm_log(v));
        hash = storm_hash_fold_real(hash, storm_cbrt(v));
        hash = storm_hash_fold_real(hash, storm_pow(v, 6.0 * u - 3.0));
        storm_cos_sin_turns(2.0 * u, &c, &s);
        hash = storm_hash_fold_real(hash, c);
        hash = storm_hash_fold_real(hash, s);
    }
    printf("%016llx\n", (unsigned long long)hash);
    CHECK_EQ(hash, UINT64_C(0x0b2b8a403636d10a));
}

int main(void)
{
    test_like_c();
    test_overflow();
    test_exact();
    test_eighths();
    test_rising();
    test_frozen();
    return 0;
}
