/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mathematical functions whose bits do not depend on the machine.
 *
 * Physics calls these, and of <math.h> only what IEEE 754 defines to the last
 * bit: sqrt, fabs, floor, ceil, fmin, fmax, fmod, ldexp, frexp.
 *
 *   MATH-1  Additions, multiplications, divisions and comparisons of doubles,
 *           each rounded to nearest by itself (no fused ones), and integer
 *           operations on their bits: the same bits on any processor and from
 *           any compiler that keeps to IEEE 754.
 *   MATH-2  Errors in units of the last place, in all of the range; where the
 *           result is below 2^-1022, in units of 2^-1074 and at most 0.8:
 *             storm_exp            0.52
 *             storm_expm1          0.65
 *             storm_log            0.76 (0.52 unless |x - 1| < 2^-26)
 *             storm_pow            0.55
 *             storm_cbrt           0.51
 *             storm_cos_sin_turns  0.78 each
 *   MATH-3  What is exact comes out exactly: exp(0), log(1), powers and cube
 *           roots that are doubles, cos and sin of quarters of a turn.
 *   MATH-4  NaN gives NaN, except pow(1, y) and pow(x, 0), which are 1. The
 *           rest of what C says of infinities, zeros and arguments outside of
 *           the domain holds; flags and errno are not promised. No zero of
 *           cos and sin has a sign.
 *   MATH-5  Tables of 5 KiB together (base/math_tables.h), no other memory.
 *   MATH-6  The processor rounds to nearest and keeps subnormal numbers:
 *           storm_math_fault, which the engine asks before each step.
 *
 * The arguments of all tables and polynomials are so small that the leading
 * term, which is exact or in two parts, decides; what is rounded is behind it.
 */
#ifndef STORM_BASE_MATH_H
#define STORM_BASE_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/math_tables.h"
#include "base/port.h"

static inline uint64_t storm_math_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double storm_math_real(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^m for normal results. */
static inline double storm_math_power_of_2(int m)
{
    return storm_math_real((uint64_t)(m + 1023) << 52);
}

/* ---- exp ------------------------------------------------------------------
 * x = n log(2)/128 + r; e^x is 2^(n/128), by table, times e^r. */

/* Added to a small number it leaves the nearest integer in the low bits. */
#define STORM_MATH_ROUND 0x1.8p52

/* e^r - 1 for |r| < 0.003. */
static inline double storm_math_exp_rest(double r)
{
    double r2 = r * r;
    return r + r2 * ((0.5 + r * (1.0 / 6.0)) +
                     r2 * (1.0 / 24.0 + r * (1.0 / 120.0)));
}

/* e^(x + low) where the result, or what is added to it, may not be normal. */
static inline double storm_math_exp_edge(double x, double low)
{
    if (!(x <= 709.79))
        return x * INFINITY; /* or NaN */
    if (x < -745.14)
        return 0.0;
    double shifted = x * STORM_MATH_EXP_PER_LN2 + STORM_MATH_ROUND;
    double n = shifted - STORM_MATH_ROUND;
    const double *step = storm_math_exp_steps[storm_math_bits(shifted) & 127];
    double r =
        (x - n * STORM_MATH_EXP_LN2_HIGH) - (n * STORM_MATH_EXP_LN2_LOW - low);
    double y = step[0] + step[0] * (step[1] + storm_math_exp_rest(r));
    int m = ((int)n - (int)(storm_math_bits(shifted) & 127)) / 128;
    int last = m > 0 ? 128 : -128; /* rounds once, if at all */
    return y * storm_math_power_of_2(m - last) * storm_math_power_of_2(last);
}

/* e^(x + low), |low| far below |x|. */
static inline double storm_math_exp_sum(double x, double low)
{
    if (STORM_UNLIKELY(!(fabs(x) <= 690.0)))
        return storm_math_exp_edge(x, low);
    double shifted = x * STORM_MATH_EXP_PER_LN2 + STORM_MATH_ROUND;
    double n = shifted - STORM_MATH_ROUND;
    uint64_t bits = storm_math_bits(shifted);
    const double *step = storm_math_exp_steps[bits & 127];
    double r =
        (x - n * STORM_MATH_EXP_LN2_HIGH) - (n * STORM_MATH_EXP_LN2_LOW - low);
    double s = storm_math_real(storm_math_bits(step[0]) +
                               ((bits & ~UINT64_C(127)) << 45));
    return s + s * (step[1] + storm_math_exp_rest(r));
}

static inline double storm_exp(double x)
{
    return storm_math_exp_sum(x, 0.0);
}

/* ---- expm1 ----------------------------------------------------------------
 */

/* e^x - 1 for |x| <= 1/16. */
static inline double storm_math_expm1_small(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    double a = (0.5 + x * (1.0 / 6.0)) + x2 * (1.0 / 24.0 + x * (1.0 / 120.0));
    double b = (1.0 / 720.0 + x * (1.0 / 5040.0)) +
               x2 * (1.0 / 40320.0 + x * (1.0 / 362880.0));
    return x + x2 * (a + x4 * (b + x4 * (1.0 / 3628800.0)));
}

static inline double storm_expm1(double x)
{
    if (fabs(x) <= 0.0625)
        return x == 0.0 ? x : storm_math_expm1_small(x);
    if (STORM_UNLIKELY(!(x >= -40.0 && x <= 708.0)))
        return x < -40.0 ? -1.0 : storm_math_exp_edge(x, 0.0);
    double shifted = x * STORM_MATH_EXP_PER_LN2 + STORM_MATH_ROUND;
    double n = shifted - STORM_MATH_ROUND;
    uint64_t bits = storm_math_bits(shifted);
    const double *step = storm_math_exp_steps[bits & 127];
    double r = (x - n * STORM_MATH_EXP_LN2_HIGH) - n * STORM_MATH_EXP_LN2_LOW;
    double s = storm_math_real(storm_math_bits(step[0]) +
                               ((bits & ~UINT64_C(127)) << 45));
    double high = s - 1.0, back = high - s;
    double low = (s - (high - back)) - (1.0 + back); /* s - 1 - high */
    return high + (low + s * (step[1] + storm_math_exp_rest(r)));
}

/* ---- log ------------------------------------------------------------------
 * x = 2^k z; the table has 1/c for a c near z, with so few bits that z/c is
 * exact in two parts, 1 + a + b. */

struct storm_math_log_parts {
    double w;    /* k log(2) + log(c), all bits down to 2^-42 */
    double rest; /* of the same */
    double a;    /* all bits down to 2^-43: w + a is exact */
    double b;    /* below 2^-31 */
};

/* Of a positive number by its bits; one below 2^-1022 times 2^52, and with 52
 * taken off its exponent. */
static inline struct storm_math_log_parts storm_math_log_reduce(uint64_t bits)
{
    uint64_t t = bits - STORM_MATH_LOG_FIRST;
    const double *step = storm_math_log_steps[t >> 45 & 127];
    double k = (double)((int32_t)(t >> 32) >> 20);
    uint64_t z_bits = bits - (t & UINT64_C(0xfff) << 52);
    double z = storm_math_real(z_bits);
    double high = storm_math_real((z_bits + 0x100000) & ~UINT64_C(0x1fffff));
    return (struct storm_math_log_parts){
        .w = k * STORM_MATH_LN2_HIGH + step[1],
        .rest = k * STORM_MATH_LN2_LOW + step[2],
        .a = high * step[0] - 1.0,
        .b = (z - high) * step[0],
    };
}

/* Of a positive and finite number: what storm_math_log_reduce takes. */
static inline uint64_t storm_math_log_bits(double x)
{
    if (STORM_UNLIKELY(x < 0x1p-1022))
        return storm_math_bits(x * 0x1p52) - (UINT64_C(52) << 52);
    return storm_math_bits(x);
}

static inline double storm_log(double x)
{
    uint64_t bits = storm_math_bits(x);
    const uint64_t smallest = UINT64_C(1) << 52; /* normal number */
    if (STORM_UNLIKELY(bits - smallest >= (UINT64_C(0x7ff) << 52) - smallest)) {
        if (!(x > 0.0 && x < INFINITY))
            return x == 0.0 ? -INFINITY : x < 0.0 ? NAN : x;
        bits = storm_math_log_bits(x);
    }
    struct storm_math_log_parts l = storm_math_log_reduce(bits);
    double r = l.a + l.b, r2 = r * r;
    const double *c = storm_math_log;
    double series =
        (c[0] + c[1] * r) + r2 * ((c[2] + c[3] * r) + r2 * (c[4] + c[5] * r));
    return (l.w + l.a) + ((l.b + l.rest) + r2 * series);
}

/* ---- pow ------------------------------------------------------------------
 * e^(y log(x)), with log(x) to 2^-68 and the product in two parts. */

/* The first 26 bits. */
static inline double storm_math_first_bits(double x)
{
    return storm_math_real(storm_math_bits(x) & ~UINT64_C(0x7ffffff));
}

/* x positive and finite, 2^-65 < |y| < 2^64. */
static inline double storm_math_pow_positive(double x, double y)
{
    struct storm_math_log_parts l =
        storm_math_log_reduce(storm_math_log_bits(x));
    double r = l.a + l.b, r_low = (l.a - r) + l.b;
    /* r^2 / 2 in two parts */
    double first = storm_math_first_bits(r);
    double half = 0.5 * first * first;
    double half_low = 0.5 * (r - first) * (r + first) + r * r_low;
    double sum = l.w + r, sum_low = (l.w - sum) + r;
    double less = sum - half, less_low = (sum - less) - half;
    double r2 = r * r;
    double cubic =
        r2 * r *
        ((1.0 / 3.0 - r * 0.25) +
         r2 * ((0.2 - r * (1.0 / 6.0)) + r2 * (1.0 / 7.0 - r * 0.125)));
    double low = (sum_low + less_low) + ((l.rest + r_low) + (cubic - half_low));
    double log = less + low;
    low = (less - log) + low;
    /* times y */
    double y_first = storm_math_first_bits(y);
    double log_first = storm_math_first_bits(log);
    double high = y_first * log_first;
    low = y_first * (log - log_first) + (y - y_first) * log + y * low;
    double x_high = high + low;
    return storm_math_exp_sum(x_high, (high - x_high) + low);
}

/* Whatever storm_pow leaves. */
static inline double storm_math_pow_edge(double x, double y)
{
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (x != x || y != y)
        return x + y;
    double size = fabs(x);
    bool whole = fabs(y) >= 0x1p53 || (double)(int64_t)y == y;
    bool odd = fabs(y) < 0x1p53 && whole && ((int64_t)y & 1);
    double sign = odd && signbit(x) ? -1.0 : 1.0;
    if (size == 0.0 || size == INFINITY)
        return (size == 0.0) == (y < 0.0) ? sign * INFINITY : sign * 0.0;
    if (x < 0.0 && !whole)
        return NAN;
    if (size == 1.0)
        return sign;
    if (fabs(y) >= 0x1p64)
        return (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    if (fabs(y) <= 0x1p-65)
        return 1.0;
    return sign * storm_math_pow_positive(size, y);
}

static inline double storm_pow(double x, double y)
{
    if (STORM_UNLIKELY(!(x > 0.0 && x < INFINITY && fabs(y) > 0x1p-65 &&
                         fabs(y) < 0x1p64)))
        return storm_math_pow_edge(x, y);
    return storm_math_pow_positive(x, y);
}

/* ---- cbrt -----------------------------------------------------------------
 * From a root t of 17 bits, whose cube is exact: x = t^3 (1 + d). */

static inline double storm_cbrt(double x)
{
    double size = fabs(x);
    int shift = 341;
    if (STORM_UNLIKELY(!(size >= 0x1p-1022 && size < INFINITY))) {
        if (x == 0.0 || !(size < INFINITY))
            return x;
        size *= 0x1p54;
        shift += 18;
    }
    uint64_t bits = storm_math_bits(size);
    uint32_t exponent = (uint32_t)(bits >> 52);
    uint32_t third = exponent / 3, left = exponent - 3 * third;
    uint64_t one = UINT64_C(1023) << 52;
    double m = storm_math_real((bits & UINT64_C(0xfffffffffffff)) | one);
    const double *c = storm_math_cbrt, m2 = m * m;
    double t =
        (c[0] + c[1] * m) + m2 * ((c[2] + c[3] * m) + m2 * (c[4] + c[5] * m));
    t *= storm_math_cbrt_steps[left];
    t = storm_math_real((storm_math_bits(t) + (UINT64_C(1) << 35)) &
                        ~((UINT64_C(1) << 36) - 1));
    double cube = t * t * t;
    double goal = m * (double)(1u << left);
    double d = (goal - cube) / cube;
    double root =
        t + t * (d * (1.0 / 3.0 - d * (1.0 / 9.0 - d * (5.0 / 81.0))));
    root *= storm_math_power_of_2((int)third - shift);
    return x < 0.0 ? -root : root;
}

/* ---- cos and sin ----------------------------------------------------------
 * Of a quarter turn times f, |f| <= 1/2, by powers of f^2 (eq. of the tables),
 * the first two terms in parts. */

/* Two doubles, each operation rounded by itself as of one: compilers do not
 * find the two lanes below by themselves. */
typedef double storm_math_pair __attribute__((vector_size(16)));

/* Two polynomials at once. */
static inline storm_math_pair storm_math_cos_sin_series(double q)
{
    storm_math_pair c[6], q1 = {q, q};
    memcpy(c, storm_math_cos_sin, sizeof c);
    storm_math_pair q2 = q1 * q1;
    storm_math_pair a = c[0] + c[1] * q1, b = c[2] + c[3] * q1;
    return a + q2 * (b + q2 * (c[4] + c[5] * q1));
}

static inline double storm_math_cos_quarter(double f, double series)
{
    double first = (f + 0x1.8p39) - 0x1.8p39; /* 12 bits */
    double square = first * first, q = f * f;
    double low = square * STORM_MATH_SQUARE_LOW +
                 (f - first) * (f + first) * STORM_MATH_SQUARE;
    return (1.0 - square * STORM_MATH_SQUARE_HIGH) + (q * q * series - low);
}

static inline double storm_math_sin_quarter(double f, double series)
{
    double q = f * f, cube = f * q;
    double first = storm_math_first_bits(f);
    double low =
        (f - first) * STORM_MATH_QUARTER_HIGH + f * STORM_MATH_QUARTER_LOW;
    return first * STORM_MATH_QUARTER_HIGH +
           (cube * STORM_MATH_SIN_FIRST + (cube * q * series + low));
}

/* cos and sin of 2 pi times `turns`, |turns| < 2^49. */
static inline void storm_math_turns(double turns, double *cos_out,
                                    double *sin_out)
{
    double quarters = 4.0 * turns;
    double shifted = quarters + STORM_MATH_ROUND;
    uint64_t n = storm_math_bits(shifted);
    double f = quarters - (shifted - STORM_MATH_ROUND); /* exact */
    storm_math_pair series = storm_math_cos_sin_series(f * f);
    uint64_t c = storm_math_bits(storm_math_cos_quarter(f, series[0]));
    uint64_t s = storm_math_bits(storm_math_sin_quarter(f, series[1]));
    uint64_t swap = (c ^ s) & -(n & 1);
    c ^= swap ^ ((n + 1) >> 1 << 63);
    s ^= swap ^ (n >> 1 << 63);
    *cos_out = storm_math_real(c) + 0.0; /* no -0 */
    *sin_out = storm_math_real(s) + 0.0;
}

/* The same for what is tiny, huge or no number. */
static inline void storm_math_turns_edge(double turns, double *cos_out,
                                         double *sin_out)
{
    double size = fabs(turns);
    if (size < 1.0) { /* proportional; what is subnormal rounds once */
        *cos_out = 1.0;
        *sin_out =
            storm_math_sin_quarter(turns * 0x1p202, 0.0) * 0x1p-200 + 0.0;
    } else if (size < 0x1p53) {
        turns -= (double)(int64_t)turns;
        storm_math_turns(turns, cos_out, sin_out);
    } else {
        *cos_out = size < INFINITY ? 1.0 : NAN;
        *sin_out = size < INFINITY ? 0.0 : NAN;
    }
}

/* cos and sin of 2 pi times `turns`. */
static inline void storm_cos_sin_turns(double turns, double *cos_out,
                                       double *sin_out)
{
    double size = fabs(turns);
    if (STORM_LIKELY(size < 0x1p49 && size > 0x1p-900))
        storm_math_turns(turns, cos_out, sin_out);
    else
        storm_math_turns_edge(turns, cos_out, sin_out);
}

/* ---- the processor --------------------------------------------------------
 */

/* What is wrong with the processor's floating-point mode, MATH-6, and what to
 * do; NULL if nothing is. Of the calling thread. */
const char *storm_math_fault(void);

#endif /* STORM_BASE_MATH_H */
