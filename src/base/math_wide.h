/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of base/math.h for eight numbers at a time, in the vectors of the
 * compiler, which it cuts to those of the processor.
 *
 *   WIDE-1  The bits are those of base/math.h: the same operations in the same
 *           order, each rounded by itself.
 */
#ifndef STORM_BASE_MATH_WIDE_H
#define STORM_BASE_MATH_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/math.h"
#include "base/port.h"

enum { STORM_WIDE = 8 };

typedef double storm_wide __attribute__((vector_size(8 * STORM_WIDE)));
typedef uint64_t storm_wide_bits __attribute__((vector_size(8 * STORM_WIDE)));

#define STORM_WIDE_INLINE static inline __attribute__((always_inline))

/* What log(x) looks up, for x positive and normal. */
struct storm_wide_steps {
    double inverse[STORM_WIDE], high[STORM_WIDE], low[STORM_WIDE];
};

STORM_WIDE_INLINE void storm_wide_look_up(const double x[STORM_WIDE],
                                          struct storm_wide_steps *steps_out)
{
    for (int i = 0; i < STORM_WIDE; i++) {
        uint64_t t = storm_math_bits(x[i]) - STORM_MATH_LOG_FIRST;
        const double *step = storm_math_log_steps[t >> 45 & 127];
        steps_out->inverse[i] = step[0];
        steps_out->high[i] = step[1];
        steps_out->low[i] = step[2];
    }
}

/* storm_log of positive numbers that are not below 2^-1022. */
STORM_WIDE_INLINE void storm_log_wide(const double x[STORM_WIDE],
                                      double log_out[STORM_WIDE])
{
    struct storm_wide_steps steps;
    storm_wide inverse, step_high, step_low, z, k, high;
    storm_wide_bits bits;
    storm_wide_look_up(x, &steps);
    memcpy(&inverse, steps.inverse, sizeof inverse);
    memcpy(&step_high, steps.high, sizeof step_high);
    memcpy(&step_low, steps.low, sizeof step_low);
    memcpy(&bits, x, sizeof bits);
    storm_wide_bits t = bits - STORM_MATH_LOG_FIRST;
    /* t's upper 12 bits, with their sign, as a real number */
    const storm_wide_bits zero = {0};
    storm_wide_bits whole = (t >> 52 ^ 0x800) + storm_math_bits(0x1p52);
    memcpy(&k, &whole, sizeof k);
    k = k - (0x1p52 + 0x800);
    storm_wide_bits z_bits = bits - (t & (zero + (UINT64_C(0xfff) << 52)));
    storm_wide_bits high_bits = (z_bits + 0x100000) & ~UINT64_C(0x1fffff);
    memcpy(&z, &z_bits, sizeof z);
    memcpy(&high, &high_bits, sizeof high);
    storm_wide w = k * STORM_MATH_LN2_HIGH + step_high;
    storm_wide rest = k * STORM_MATH_LN2_LOW + step_low;
    storm_wide a = high * inverse - 1.0;
    storm_wide b = (z - high) * inverse;
    storm_wide r = a + b, r2 = r * r;
    const double *c = storm_math_log;
    storm_wide series =
        (c[0] + c[1] * r) + r2 * ((c[2] + c[3] * r) + r2 * (c[4] + c[5] * r));
    storm_wide log = (w + a) + ((b + rest) + r2 * series);
    memcpy(log_out, &log, sizeof log);
}

/* storm_cos_sin_turns of numbers from 2^-900 to 2^49. */
STORM_WIDE_INLINE void storm_cos_sin_wide(const double turns[STORM_WIDE],
                                          double cos_out[STORM_WIDE],
                                          double sin_out[STORM_WIDE])
{
    const double(*c)[2] = storm_math_cos_sin;
    storm_wide x, cosine, sine, sine_first;
    storm_wide_bits n, first_bits, cos_bits, sin_bits;
    memcpy(&x, turns, sizeof x);
    storm_wide quarters = 4.0 * x;
    storm_wide shifted = quarters + STORM_MATH_ROUND;
    memcpy(&n, &shifted, sizeof n);
    storm_wide f = quarters - (shifted - STORM_MATH_ROUND);
    storm_wide q = f * f, q2 = q * q;
    storm_wide cos_series =
        (c[0][0] + c[1][0] * q) +
        q2 * ((c[2][0] + c[3][0] * q) + q2 * (c[4][0] + c[5][0] * q));
    storm_wide sin_series =
        (c[0][1] + c[1][1] * q) +
        q2 * ((c[2][1] + c[3][1] * q) + q2 * (c[4][1] + c[5][1] * q));
    storm_wide first = (f + 0x1.8p39) - 0x1.8p39;
    storm_wide square = first * first;
    storm_wide low = square * STORM_MATH_SQUARE_LOW +
                     (f - first) * (f + first) * STORM_MATH_SQUARE;
    cosine =
        (1.0 - square * STORM_MATH_SQUARE_HIGH) + (q * q * cos_series - low);
    storm_wide cube = f * q;
    memcpy(&first_bits, &f, sizeof first_bits);
    first_bits &= ~UINT64_C(0x7ffffff);
    memcpy(&sine_first, &first_bits, sizeof sine_first);
    low =
        (f - sine_first) * STORM_MATH_QUARTER_HIGH + f * STORM_MATH_QUARTER_LOW;
    sine = sine_first * STORM_MATH_QUARTER_HIGH +
           (cube * STORM_MATH_SIN_FIRST + (cube * q * sin_series + low));
    memcpy(&cos_bits, &cosine, sizeof cos_bits);
    memcpy(&sin_bits, &sine, sizeof sin_bits);
    storm_wide_bits swap = (cos_bits ^ sin_bits) & -(n & 1);
    cos_bits ^= swap ^ ((n + 1) >> 1 << 63);
    sin_bits ^= swap ^ (n >> 1 << 63);
    memcpy(&cosine, &cos_bits, sizeof cosine);
    memcpy(&sine, &sin_bits, sizeof sine);
    cosine = cosine + 0.0; /* no -0 */
    sine = sine + 0.0;
    memcpy(cos_out, &cosine, sizeof cosine);
    memcpy(sin_out, &sine, sizeof sine);
}

#endif /* STORM_BASE_MATH_WIDE_H */
