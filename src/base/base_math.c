/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this processor's arithmetic is that of IEEE 754, by trying it. */
#include "base/math.h"

#include <float.h>
#include <stddef.h>

_Static_assert(FLT_EVAL_METHOD == 0, "doubles are rounded at each operation");

/* In volatile numbers: at run time. */
static bool math_rounds_to_nearest(void)
{
    volatile double one = 1.0, quarter = 0x1p-54;
    volatile double up = one + quarter, down = -one - quarter;
    volatile double far_up = one + 3.0 * quarter;
    volatile double far_down = -one - 3.0 * quarter;
    return up == 1.0 && down == -1.0 && far_up == 1.0 + DBL_EPSILON &&
           far_down == -1.0 - DBL_EPSILON;
}

static bool math_keeps_subnormals(void)
{
    volatile double smallest = DBL_MIN, subnormal = 0x1p-1074;
    volatile double half = 0.5 * smallest, large = 0x1p1000 * subnormal;
    return storm_math_bits(half) == UINT64_C(1) << 51 &&
           storm_math_bits(large) == storm_math_bits(0x1p-74);
}

const char *storm_math_fault(void)
{
    if (!math_rounds_to_nearest())
        return "the processor does not round to nearest, and results would "
               "depend on the rank: call fesetround(FE_TONEAREST) before";
    if (!math_keeps_subnormals())
        return "the processor flushes subnormal numbers to zero, and results "
               "would depend on the rank: link without -ffast-math, -Ofast and "
               "-funsafe-math-optimizations (or clear bits 6 and 15 of MXCSR)";
    return NULL;
}
