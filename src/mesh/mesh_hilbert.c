/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After C. Hamilton and A. Rau-Chaplin, Compact Hilbert indices (2008): the
 * state of the curve in a part is its entry corner and the direction in which
 * it leaves; the rule that gives the states of the parts holds in any number
 * of dimensions. A part whose curve enters at corner e leaves at e with the
 * bit of `along` flipped, whatever the number of dimensions it is split in;
 * that is what lets that number grow on the way down.
 */
#include "mesh/mesh_hilbert.h"

#include <stdbool.h>

#include "base/port.h"

struct hilbert_part {
    int32_t lo[3], n[3]; /* cells */
    int levels[3];       /* halvings until single cells */
    int level;           /* the largest of these */
    unsigned entry;      /* corner, bit d: upper end of direction d */
    int along;           /* direction from entry to exit */
};

/* The directions in which a part is split, and where `along` is among them. */
struct hilbert_split {
    int n_dims;
    int dims[3];
    int i_along;
    unsigned entry; /* as bits in the order of dims */
};

static int hilbert_levels(int32_t n)
{
    int levels = 0;
    while (((int64_t)1 << levels) < n)
        levels++;
    return levels;
}

static struct hilbert_part hilbert_root(const int32_t n[3])
{
    struct hilbert_part part = {.level = 0};
    for (int d = 0; d < 3; d++) {
        part.n[d] = n[d];
        part.levels[d] = hilbert_levels(n[d]);
        if (part.levels[d] > part.level) {
            part.level = part.levels[d];
            part.along = d;
        }
    }
    return part;
}

static struct hilbert_split hilbert_split(const struct hilbert_part *part)
{
    struct hilbert_split split = {.n_dims = 0};
    for (int d = 0; d < 3; d++) {
        if (part->levels[d] != part->level)
            continue;
        if (d == part->along)
            split.i_along = split.n_dims;
        split.entry |= (part->entry >> d & 1u) << split.n_dims;
        split.dims[split.n_dims++] = d;
    }
    return split;
}

static unsigned hilbert_gray(unsigned w)
{
    return w ^ (w >> 1);
}

static unsigned hilbert_gray_inverse(unsigned g)
{
    return g ^ (g >> 1) ^ (g >> 2);
}

/* The lowest n bits rotated left by k, 0 <= k <= n. */
static unsigned hilbert_rotate(unsigned bits, int k, int n)
{
    return ((bits << k) | (bits >> (n - k))) & ((1u << n) - 1u);
}

/* Trailing ones. */
static int hilbert_ones(unsigned w)
{
    int n = 0;
    for (; w & 1u; w >>= 1)
        n++;
    return n;
}

/* Which half in each split direction the w-th part takes. */
static unsigned hilbert_halves(const struct hilbert_split *s, unsigned w)
{
    return hilbert_rotate(hilbert_gray(w), (s->i_along + 1) % s->n_dims,
                          s->n_dims) ^
           s->entry;
}

static unsigned hilbert_order(const struct hilbert_split *s, unsigned halves)
{
    int k = (s->i_along + 1) % s->n_dims;
    return hilbert_gray_inverse(hilbert_rotate(halves ^ s->entry, s->n_dims - k,
                                               s->n_dims));
}

/* Cells of part w, 0 if it is empty. */
static uint64_t hilbert_count(const struct hilbert_part *part,
                              const struct hilbert_split *s, unsigned halves)
{
    uint64_t count = 1;
    for (int d = 0, i = 0; d < 3; d++) {
        int32_t n = part->n[d];
        if (i < s->n_dims && s->dims[i] == d) {
            int32_t lower = n - n / 2;
            n = (halves >> i & 1u) ? n - lower : lower;
            i++;
        }
        count *= (uint64_t)n;
    }
    return count;
}

/* Go down into part w. */
static void hilbert_enter(struct hilbert_part *part,
                          const struct hilbert_split *s, unsigned w)
{
    unsigned halves = hilbert_halves(s, w);
    unsigned corner = w == 0 ? 0 : hilbert_gray((w - 1) & ~1u);
    int turn = w == 0 ? 0 : hilbert_ones(w & 1u ? w : w - 1) % s->n_dims;
    unsigned entry =
        s->entry ^
        hilbert_rotate(corner, (s->i_along + 1) % s->n_dims, s->n_dims);
    for (int i = 0; i < s->n_dims; i++) {
        int d = s->dims[i];
        int32_t lower = part->n[d] - part->n[d] / 2;
        if (halves >> i & 1u) {
            part->lo[d] += lower;
            part->n[d] -= lower;
        } else {
            part->n[d] = lower;
        }
        part->levels[d]--;
        part->entry = (part->entry & ~(1u << d)) | (entry >> i & 1u) << d;
    }
    part->along = s->dims[(s->i_along + turn + 1) % s->n_dims];
    part->level--;
}

/* Cells in the parts before the order-th. */
static uint64_t hilbert_before(const struct hilbert_part *part,
                               const struct hilbert_split *s, unsigned order)
{
    uint64_t sum = 0;
    bool is_even = true; /* then all parts are equal */
    for (int i = 0; i < s->n_dims; i++)
        is_even = is_even && part->n[s->dims[i]] % 2 == 0;
    if (is_even)
        return order * hilbert_count(part, s, 0);
    for (unsigned w = 0; w < order; w++)
        sum += hilbert_count(part, s, hilbert_halves(s, w));
    return sum;
}

uint64_t storm_hilbert_position(const int32_t n[3], const int32_t ijk[3])
{
    uint64_t position = 0;
    struct hilbert_part part = hilbert_root(n);
    while (part.level > 0) {
        struct hilbert_split split = hilbert_split(&part);
        unsigned halves = 0;
        for (int i = 0; i < split.n_dims; i++) {
            int d = split.dims[i];
            int32_t lower = part.n[d] - part.n[d] / 2;
            halves |= (unsigned)(ijk[d] - part.lo[d] >= lower) << i;
        }
        unsigned order = hilbert_order(&split, halves);
        position += hilbert_before(&part, &split, order);
        hilbert_enter(&part, &split, order);
    }
    return position;
}

void storm_hilbert_ijk(const int32_t n[3], uint64_t position,
                       int32_t ijk_out[3])
{
    struct hilbert_part part = hilbert_root(n);
    while (part.level > 0) {
        struct hilbert_split split = hilbert_split(&part);
        unsigned w = 0;
        for (;; w++) {
            uint64_t count =
                hilbert_count(&part, &split, hilbert_halves(&split, w));
            if (position < count)
                break;
            position -= count;
        }
        STORM_ASSERT(w < 1u << split.n_dims);
        hilbert_enter(&part, &split, w);
    }
    for (int d = 0; d < 3; d++)
        ijk_out[d] = part.lo[d];
}
