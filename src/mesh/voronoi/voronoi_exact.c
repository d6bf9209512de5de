/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/voronoi/voronoi_exact.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/port.h"

__extension__ typedef __int128 exact_int;
__extension__ typedef unsigned __int128 exact_uint;

/* Sign and magnitude; 320 bits are enough for all that is done here. */
enum { EXACT_LIMBS = 5 };
struct exact_wide {
    int sign;
    uint64_t limb[EXACT_LIMBS]; /* lowest first */
};

static struct exact_wide exact_from(exact_int value)
{
    struct exact_wide wide = {.sign = value > 0 ? 1 : value < 0 ? -1 : 0};
    exact_uint magnitude = value < 0 ? -(exact_uint)value : (exact_uint)value;
    wide.limb[0] = (uint64_t)magnitude;
    wide.limb[1] = (uint64_t)(magnitude >> 64);
    return wide;
}

static struct exact_wide exact_times(const struct exact_wide *a,
                                     const struct exact_wide *b)
{
    struct exact_wide product = {.sign = a->sign * b->sign};
    for (int i = 0; i < EXACT_LIMBS; i++) {
        uint64_t carry = 0;
        if (a->limb[i] == 0)
            continue;
        for (int k = 0; i + k < EXACT_LIMBS; k++) {
            exact_uint sum = (exact_uint)a->limb[i] * b->limb[k] +
                             product.limb[i + k] + carry;
            product.limb[i + k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        STORM_ASSERT(carry == 0);
    }
    return product;
}

static int exact_compare_size(const struct exact_wide *a,
                              const struct exact_wide *b)
{
    for (int i = EXACT_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* large -= small, in size */
static void exact_take(struct exact_wide *large, const struct exact_wide *small)
{
    uint64_t borrow = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        exact_uint difference =
            (exact_uint)large->limb[i] - small->limb[i] - borrow;
        large->limb[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1u;
    }
}

static void exact_add(struct exact_wide *sum, const struct exact_wide *term)
{
    if (term->sign == 0)
        return;
    if (sum->sign == 0 || sum->sign == term->sign) {
        uint64_t carry = 0;
        for (int i = 0; i < EXACT_LIMBS; i++) {
            exact_uint limb = (exact_uint)sum->limb[i] + term->limb[i] + carry;
            sum->limb[i] = (uint64_t)limb;
            carry = (uint64_t)(limb >> 64);
        }
        sum->sign = term->sign;
        return;
    }
    int order = exact_compare_size(sum, term);
    if (order == 0) {
        *sum = (struct exact_wide){.sign = 0};
    } else if (order > 0) {
        exact_take(sum, term);
    } else {
        struct exact_wide rest = *term;
        exact_take(&rest, sum);
        *sum = rest;
    }
}

static double exact_to_double(const struct exact_wide *wide)
{
    double value = 0.0;
    for (int i = EXACT_LIMBS - 1; i >= 0; i--)
        value += ldexp((double)wide->limb[i], 64 * i);
    return wide->sign < 0 ? -value : value;
}

/* One component of the cross product of two normals. */
static exact_int exact_cross(const int64_t a[3], const int64_t b[3], int k)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    return (exact_int)a[i] * b[j] - (exact_int)a[j] * b[i];
}

static struct exact_wide exact_det3(const int64_t a[3], const int64_t b[3],
                                    const int64_t c[3])
{
    struct exact_wide sum = {.sign = 0};
    for (int k = 0; k < 3; k++) {
        struct exact_wide first = exact_from(exact_cross(a, b, k));
        struct exact_wide second = exact_from(c[k]);
        struct exact_wide product = exact_times(&first, &second);
        exact_add(&sum, &product);
    }
    return sum;
}

/* The sign of the perturbation's share: of the terms of the determinant that
 * belong to the largest epsilon whose coefficient is not zero. */
static int exact_perturbed(const struct voronoi_row rows[4],
                           const struct exact_wide cofactor[4], uint64_t own)
{
    uint64_t below = UINT64_MAX;
    for (;;) {
        uint64_t highest = own < below ? own : 0;
        int which = -1;
        for (int i = 0; i < 4; i++)
            if (rows[i].number < below && rows[i].number > highest) {
                highest = rows[i].number;
                which = i;
            }
        if (highest == 0)
            break;
        struct exact_wide sum = {.sign = 0};
        for (int i = 0; i < 4; i++)
            if (which < 0 ? rows[i].number > 0 : i == which)
                exact_add(&sum, &cofactor[i]);
        if (sum.sign != 0)
            return which < 0 ? sum.sign : -sum.sign;
        below = highest;
    }
    STORM_ASSERT(!"a plane that has been added is not a wall");
    return -1;
}

int voronoi_exact_side(const struct voronoi_row rows[4], uint64_t own)
{
    static const int others[4][3] = {
        {1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    struct exact_wide cofactor[4], sum = {.sign = 0};
    for (int i = 0; i < 4; i++) {
        cofactor[i] = exact_det3(rows[others[i][0]].n, rows[others[i][1]].n,
                                 rows[others[i][2]].n);
        if (i % 2 == 0)
            cofactor[i].sign = -cofactor[i].sign;
        struct exact_wide d = exact_from(rows[i].twice_d);
        struct exact_wide product = exact_times(&cofactor[i], &d);
        exact_add(&sum, &product);
    }
    STORM_ASSERT(cofactor[3].sign > 0);
    return sum.sign != 0 ? -sum.sign : -exact_perturbed(rows, cofactor, own);
}

bool voronoi_exact_vertex(const struct voronoi_row rows[3],
                          double vertex_out[3])
{
    struct exact_wide det = exact_det3(rows[0].n, rows[1].n, rows[2].n);
    if (det.sign == 0)
        return false;
    double below = 2.0 * exact_to_double(&det);
    for (int k = 0; k < 3; k++) {
        struct exact_wide sum = {.sign = 0};
        for (int i = 0; i < 3; i++) {
            struct exact_wide cross =
                exact_from(exact_cross(rows[(i + 1) % 3].n, rows[(i + 2) % 3].n,
                                       k));
            struct exact_wide d = exact_from(rows[i].twice_d);
            struct exact_wide product = exact_times(&cross, &d);
            exact_add(&sum, &product);
        }
        vertex_out[k] = exact_to_double(&sum) / below;
    }
    return true;
}
