/* SPDX-License-Identifier: BSD-3-Clause */
/* Dividing an energy among packets without losing any. */
#ifndef STORM_PHYSICS_SPLIT_H
#define STORM_PHYSICS_SPLIT_H

#include <math.h>
#include <stdint.h>

#include <storm/packet.h>

/* n - 1 shares `each` and one `last`: together exactly the whole. */
struct storm_split {
    double each, last;
};

/*
 * `each` is total / n with its last bits cleared, as many as n has, so that
 * (n - 1) * each is exact. `last` takes the difference, which is exact too: it
 * is a multiple of the smaller of the last bits of `total` and `each`, both
 * above those of total / n, and less than 2^53 of them. It is the largest
 * share, by about n^2 roundings.
 *
 * total  finite and not negative
 * n      1 .. 2^25, to be of use
 */
static inline struct storm_split storm_split(double total, uint64_t n)
{
    struct storm_split split = {.each = total, .last = total};
    if (n == 1)
        return split;
    int bits = 1;
    while ((n >> bits) != 0)
        bits++;
    int exponent;
    double fraction = frexp(total / (double)n, &exponent);
    double kept = floor(ldexp(fraction, 53 - bits));
    split.each = ldexp(kept, exponent - 53 + bits);
    split.last = total - (double)(n - 1) * split.each;
    return split;
}

/* Makes a copy of a packet its child, of this weight. */
static inline void storm_split_child(struct storm_packet *parent,
                                     double weight_erg,
                                     struct storm_packet *child_inout)
{
    child_inout->id = storm_packet_id_child(parent->id, parent->spawns++);
    child_inout->spawns = 0;
    child_inout->draws = 0;
    child_inout->weight_erg = weight_erg;
    child_inout->birth_weight_erg = weight_erg;
    if (child_inout->optical_depth > 0.0)
        child_inout->optical_depth = 0.0; /* a collision of its own */
}

#endif /* STORM_PHYSICS_SPLIT_H */
