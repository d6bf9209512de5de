/* SPDX-License-Identifier: BSD-3-Clause */
/* Dividing an energy among packets without losing any. */
#ifndef STORM_PHYSICS_SPLIT_H
#define STORM_PHYSICS_SPLIT_H

#include <math.h>
#include <stdint.h>

/* n - 1 shares `each` and one `last`: together exactly the whole. */
struct storm_split {
    double each, last;
};

/*
 * `each` is total / n with its last bits cleared, as many as (n - 1) * each
 * needs to be exact; `last` takes the difference, which is then exact as a
 * rule. Where it is not (it may need one bit more), one more bit is cleared.
 *
 * total  finite and not negative
 * n      1 .. 2^40
 */
static inline struct storm_split storm_split(double total, uint64_t n)
{
    struct storm_split split = {.each = total / (double)n, .last = total};
    if (n == 1)
        return split;
    int bits = 1;
    while ((n >> bits) != 0)
        bits++;
    int exponent;
    double fraction = frexp(split.each, &exponent);
    for (; bits < 53; bits++) {
        double scale = (double)((uint64_t)1 << (53 - bits));
        split.each = ldexp(floor(fraction * scale) / scale, exponent);
        double others = (double)(n - 1) * split.each;
        split.last = total - others;
        if (total - split.last == others) /* the difference was exact */
            break;
    }
    return split;
}

#endif /* STORM_PHYSICS_SPLIT_H */
