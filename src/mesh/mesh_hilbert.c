/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After C. Hamilton and A. Rau-Chaplin, Compact Hilbert indices (2008): the
 * state of the curve in a part is its entry corner and the direction in which
 * it leaves; the rule that gives the states of the parts holds in any number of
 * dimensions. A part whose curve enters at corner e leaves at e with the bit of
 * `along` flipped, whatever the number of dimensions it is split in; so that
 * number can grow from level to level.
 */
#include "mesh/mesh_hilbert.h"

#include <math.h>
#include <stdbool.h>

#include <storm/given.h>

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

/* The next of the directions that are split, cyclically. */
static int hilbert_after(const struct hilbert_split *s, int i)
{
    return i + 1 < s->n_dims ? i + 1 : 0;
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
    return hilbert_rotate(hilbert_gray(w), hilbert_after(s, s->i_along),
                          s->n_dims) ^
           s->entry;
}

static unsigned hilbert_order(const struct hilbert_split *s, unsigned halves)
{
    int k = hilbert_after(s, s->i_along);
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

/* Descend into part w. */
static void hilbert_enter(struct hilbert_part *part,
                          const struct hilbert_split *s, unsigned w)
{
    unsigned halves = hilbert_halves(s, w);
    unsigned corner = w == 0 ? 0 : hilbert_gray((w - 1) & ~1u);
    int turn = w == 0 ? 0 : hilbert_ones(w & 1u ? w : w - 1) % s->n_dims;
    unsigned entry =
        s->entry ^
        hilbert_rotate(corner, hilbert_after(s, s->i_along), s->n_dims);
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

/*
 * The same for cubes of a power of two, one look-up a level: row 8 * along +
 * entry, column halves; eight times the row of the part, plus its order.
 * Computed with hilbert_order and hilbert_enter.
 */
static const uint8_t hilbert_cubes[24][8] = {
    {64, 95, 129, 174, 51, 52, 130, 173},
    {87, 72, 166, 137, 60, 59, 165, 138},
    {145, 190, 80, 79, 146, 189, 35, 36},
    {182, 153, 71, 88, 181, 154, 44, 43},
    {19, 20, 162, 141, 96, 127, 161, 142},
    {28, 27, 133, 170, 119, 104, 134, 169},
    {178, 157, 3, 4, 177, 158, 112, 111},
    {149, 186, 12, 11, 150, 185, 103, 120},
    {128, 107, 183, 108, 1, 2, 30, 29},
    {99, 136, 100, 191, 10, 9, 21, 22},
    {167, 124, 144, 123, 14, 13, 17, 18},
    {116, 175, 115, 152, 5, 6, 26, 25},
    {33, 34, 62, 61, 160, 75, 151, 76},
    {42, 41, 53, 54, 67, 168, 68, 159},
    {46, 45, 49, 50, 135, 92, 176, 91},
    {37, 38, 58, 57, 84, 143, 83, 184},
    {0, 65, 155, 66, 47, 118, 156, 117},
    {73, 8, 74, 147, 126, 39, 125, 148},
    {139, 82, 16, 81, 140, 101, 63, 102},
    {90, 131, 89, 24, 109, 132, 110, 55},
    {15, 86, 188, 85, 32, 97, 187, 98},
    {94, 7, 93, 180, 105, 40, 106, 179},
    {172, 69, 31, 70, 171, 114, 48, 113},
    {77, 164, 78, 23, 122, 163, 121, 56},
};

/* Is the part such a cube, and not one that is smaller than its levels say? */
static bool hilbert_is_cube(const struct hilbert_part *part)
{
    int n_fit = 0;
    for (int d = 0; d < 3; d++)
        n_fit += (part->levels[d] == part->level) &
                 (part->n[d] == (int32_t)1 << part->level);
    return n_fit == 3;
}

/* The position within it. */
static uint64_t hilbert_in_cube(const struct hilbert_part *part,
                                const int32_t ijk[3])
{
    uint64_t position = 0;
    const int32_t at[3] = {ijk[0] - part->lo[0], ijk[1] - part->lo[1],
                           ijk[2] - part->lo[2]};
    unsigned row = 8u * (unsigned)part->along + part->entry;
    for (int level = part->level - 1; level >= 0; level--) {
        unsigned halves = 0;
        for (int d = 0; d < 3; d++)
            halves |= ((unsigned)at[d] >> level & 1u) << d;
        unsigned found = hilbert_cubes[row][halves];
        position = position << 3 | (found & 7u);
        row = found >> 3;
    }
    return position;
}

uint64_t storm_hilbert_position(const int32_t n[3], const int32_t ijk[3])
{
    uint64_t position = 0;
    struct hilbert_part part = hilbert_root(n);
    while (part.level > 0) {
        if (hilbert_is_cube(&part))
            return position + hilbert_in_cube(&part, ijk);
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

/* Descends to the single cell at `position`. */
static void hilbert_descend(struct hilbert_part *part, uint64_t position)
{
    while (part->level > 0) {
        struct hilbert_split split = hilbert_split(part);
        unsigned w = 0;
        for (;; w++) {
            uint64_t count =
                hilbert_count(part, &split, hilbert_halves(&split, w));
            if (position < count)
                break;
            position -= count;
        }
        STORM_ASSERT(w < 1u << split.n_dims);
        hilbert_enter(part, &split, w);
    }
}

void storm_hilbert_ijk(const int32_t n[3], uint64_t position,
                       int32_t ijk_out[3])
{
    struct hilbert_part part = hilbert_root(n);
    hilbert_descend(&part, position);
    for (int d = 0; d < 3; d++)
        ijk_out[d] = part.lo[d];
}

/* ---- trees -------------------------------------------------------------- */

/* A single cell becomes a cube that is halved `level` times. */
static void hilbert_halve(struct hilbert_part *part, int level)
{
    for (int d = 0; d < 3; d++) {
        part->lo[d] *= (int32_t)1 << level;
        part->n[d] = (int32_t)1 << level;
        part->levels[d] = level;
    }
    part->level = level;
}

uint64_t storm_hilbert_tree_position(const int32_t n[3], int level,
                                     const int32_t ijk[3])
{
    const int32_t root[3] = {ijk[0] >> level, ijk[1] >> level, ijk[2] >> level};
    struct hilbert_part part = hilbert_root(n);
    uint64_t position = 0;
    if (part.level > 0) { /* else there is one root */
        position = storm_hilbert_position(n, root);
        hilbert_descend(&part, position);
    }
    hilbert_halve(&part, level);
    return position << 3 * level | hilbert_in_cube(&part, ijk);
}

void storm_hilbert_tree_ijk(const int32_t n[3], int level, uint64_t position,
                            int32_t ijk_out[3])
{
    struct hilbert_part part = hilbert_root(n);
    hilbert_descend(&part, position >> 3 * level);
    for (int d = 0; d < 3; d++)
        ijk_out[d] = part.lo[d];
    unsigned row = 8u * (unsigned)part.along + part.entry;
    for (int shift = 3 * (level - 1); shift >= 0; shift -= 3) {
        unsigned order = (unsigned)(position >> shift & 7u), halves = 0;
        while ((hilbert_cubes[row][halves] & 7u) != order)
            halves++;
        row = hilbert_cubes[row][halves] >> 3;
        for (int d = 0; d < 3; d++)
            ijk_out[d] = 2 * ijk_out[d] + (int32_t)(halves >> d & 1u);
    }
}

/* ---- boxes --------------------------------------------------------------- */

void storm_hilbert_fit(const double lo[3], const double hi[3], int32_t n_out[3])
{
    enum { BITS = 20 };
    double longest = 0.0;
    for (int d = 0; d < 3; d++)
        longest = fmax(longest, hi[d] - lo[d]);
    for (int d = 0; d < 3; d++) {
        int bits = BITS;
        for (; bits > 0 && ldexp(hi[d] - lo[d], BITS - bits + 1) <= longest;
             bits--)
            ;
        n_out[d] = (int32_t)1 << bits;
    }
}

uint64_t storm_curve_position(const double lo_cm[3], const double hi_cm[3],
                              const double point_cm[3])
{
    int32_t n[3], ijk[3];
    storm_hilbert_fit(lo_cm, hi_cm, n);
    for (int d = 0; d < 3; d++) {
        double part = (point_cm[d] - lo_cm[d]) / (hi_cm[d] - lo_cm[d]);
        part = fmax(0.0, fmin(1.0, part)); /* 0 if the box has no width */
        int32_t i = (int32_t)(part * n[d]);
        ijk[d] = i < n[d] ? i : n[d] - 1;
    }
    return storm_hilbert_position(n, ijk);
}
