/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/voronoi/voronoi_exact.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/port.h"

__extension__ typedef __int128 exact_int;
__extension__ typedef unsigned __int128 exact_uint;

/* Two's complement, lowest limb first: 192 bits for a determinant of three
 * normals, 320 for one of four planes. */
enum { EXACT_DET = 3, EXACT_SUM = 5 };
struct exact_det {
    uint64_t limb[EXACT_DET];
};
struct exact_sum {
    uint64_t limb[EXACT_SUM];
};

static inline int exact_sign(const uint64_t *limb, int n)
{
    uint64_t any = 0;
    for (int i = 0; i < n; i++)
        any |= limb[i];
    return limb[n - 1] >> 63 ? -1 : any != 0;
}

static inline void exact_negate(uint64_t *limb, int n)
{
    uint64_t carry = 1;
    for (int i = 0; i < n; i++) {
        limb[i] = ~limb[i] + carry;
        carry = carry && limb[i] == 0;
    }
}

static inline void exact_add(uint64_t *sum, const uint64_t *term, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        exact_uint limb = (exact_uint)sum[i] + term[i] + carry;
        sum[i] = (uint64_t)limb;
        carry = (uint64_t)(limb >> 64);
    }
}

/* Adds the product of two magnitudes of n_a and n_b limbs, with a sign. */
static inline void exact_add_product(uint64_t *sum, int n, const uint64_t *a,
                                     int n_a, const uint64_t *b, int n_b,
                                     bool minus)
{
    uint64_t product[EXACT_SUM] = {0};
    for (int i = 0; i < n_a; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < n_b && i + k < n; k++) {
            exact_uint limb = (exact_uint)a[i] * b[k] + product[i + k] + carry;
            product[i + k] = (uint64_t)limb;
            carry = (uint64_t)(limb >> 64);
        }
        if (i + n_b < n)
            product[i + n_b] = carry;
    }
    if (minus)
        exact_negate(product, n);
    exact_add(sum, product, n);
}

/* Two limbs of the size of a value. */
static inline void exact_size(exact_int value, uint64_t size_out[2])
{
    exact_uint size = value < 0 ? -(exact_uint)value : (exact_uint)value;
    size_out[0] = (uint64_t)size;
    size_out[1] = (uint64_t)(size >> 64);
}

static double exact_to_double(const struct exact_sum *sum)
{
    struct exact_sum size = *sum;
    bool is_negative = exact_sign(size.limb, EXACT_SUM) < 0;
    double value = 0.0;
    if (is_negative)
        exact_negate(size.limb, EXACT_SUM);
    for (int i = EXACT_SUM - 1; i >= 0; i--)
        value += ldexp((double)size.limb[i], 64 * i);
    return is_negative ? -value : value;
}

/* One component of the cross product of two normals. */
static inline exact_int exact_cross(const int64_t a[3], const int64_t b[3],
                                    int k)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    return (exact_int)a[i] * b[j] - (exact_int)a[j] * b[i];
}

struct exact_vector {
    exact_int x[3]; /* below 2^110 */
};

static inline struct exact_vector exact_normal(const int64_t a[3],
                                               const int64_t b[3])
{
    return (struct exact_vector){
        {exact_cross(a, b, 0), exact_cross(a, b, 1), exact_cross(a, b, 2)}};
}

/* a . c, for the numbers of c below 2^54: sums of the products with low and
 * high halves, both of which are far from 128 bits, added at the end. */
static inline struct exact_det exact_dot(const struct exact_vector *a,
                                         const int64_t c[3])
{
    exact_int low = 0, high = 0;
    for (int k = 0; k < 3; k++) {
        low += (exact_int)(uint64_t)a->x[k] * c[k];
        high += (exact_int)(int64_t)(a->x[k] >> 64) * c[k];
    }
    high += low >> 64;
    return (struct exact_det){
        {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)}};
}

static struct exact_det exact_det3(const int64_t a[3], const int64_t b[3],
                                   const int64_t c[3])
{
    struct exact_vector normal = exact_normal(a, b);
    return exact_dot(&normal, c);
}

/* The sign of the perturbation: of the terms of the determinant that belong to
 * the largest epsilon whose coefficient is not zero. */
static int exact_perturbed(const struct voronoi_row rows[4],
                           const struct exact_det cofactor[4], uint64_t own)
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
        struct exact_det sum = {{0}};
        for (int i = 0; i < 4; i++)
            if (which < 0 ? rows[i].number > 0 : i == which)
                exact_add(sum.limb, cofactor[i].limb, EXACT_DET);
        int sign = exact_sign(sum.limb, EXACT_DET);
        if (sign != 0)
            return which < 0 ? sign : -sign;
        below = highest;
    }
    STORM_ASSERT(false); /* a plane that has been added is not a wall */
    return -1;
}

int voronoi_exact_side(const struct voronoi_row rows[4], uint64_t own)
{
    struct exact_vector first = exact_normal(rows[0].n, rows[1].n);
    struct exact_vector last = exact_normal(rows[2].n, rows[3].n);
    struct exact_det cofactor[4] = {
        exact_dot(&last, rows[1].n), exact_dot(&last, rows[0].n),
        exact_dot(&first, rows[3].n), exact_dot(&first, rows[2].n)};
    struct exact_sum sum = {{0}};
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            exact_negate(cofactor[i].limb, EXACT_DET);
        struct exact_det size = cofactor[i];
        bool minus = exact_sign(size.limb, EXACT_DET) < 0;
        uint64_t d[2];
        if (minus)
            exact_negate(size.limb, EXACT_DET);
        exact_size(rows[i].twice_d, d); /* never negative */
        exact_add_product(sum.limb, EXACT_SUM, size.limb, EXACT_DET, d, 2,
                          minus);
    }
    STORM_ASSERT(exact_sign(cofactor[3].limb, EXACT_DET) > 0);
    int sign = exact_sign(sum.limb, EXACT_SUM);
    return sign != 0 ? -sign : -exact_perturbed(rows, cofactor, own);
}

bool voronoi_exact_vertex(const struct voronoi_row rows[3],
                          double vertex_out[3])
{
    struct exact_det det = exact_det3(rows[0].n, rows[1].n, rows[2].n);
    int sign = exact_sign(det.limb, EXACT_DET);
    if (sign == 0)
        return false;
    struct exact_sum size = {{0}};
    if (sign < 0)
        exact_negate(det.limb, EXACT_DET);
    memcpy(size.limb, det.limb, sizeof det.limb);
    double below = 2.0 * exact_to_double(&size);
    for (int k = 0; k < 3; k++) {
        struct exact_sum sum = {{0}};
        for (int i = 0; i < 3; i++) {
            exact_int cross =
                exact_cross(rows[(i + 1) % 3].n, rows[(i + 2) % 3].n, k);
            uint64_t c[2], d[2];
            exact_size(cross, c);
            exact_size(rows[i].twice_d, d);
            exact_add_product(sum.limb, EXACT_SUM, c, 2, d, 2,
                              (cross < 0) != (sign < 0));
        }
        vertex_out[k] = exact_to_double(&sum) / below;
    }
    return true;
}

/* ---- positions ---------------------------------------------------------- */

/* Fixed point: 21 limbs of fraction, as the grid may be 2^1300 times as coarse
 * as the smallest double, and two limbs before the point. */
enum { WIDE_FRACTION = 21, WIDE = WIDE_FRACTION + 2 };

/* Adds or subtracts a number below 2^127, times 2^bit of the whole. */
static void wide_add(uint64_t wide[WIDE], exact_uint size, int bit, bool minus)
{
    int shift = bit % 64, at = bit / 64;
    uint64_t term[WIDE] = {0};
    const exact_uint low = (exact_uint)(uint64_t)size << shift;
    const exact_uint high = (size >> 64) << shift;
    STORM_ASSERT(bit >= 0 && at < WIDE);
    term[at] = (uint64_t)low;
    exact_uint middle = (low >> 64) + (uint64_t)high;
    if (at + 1 < WIDE)
        term[at + 1] = (uint64_t)middle;
    if (at + 2 < WIDE)
        term[at + 2] = (uint64_t)((high >> 64) + (middle >> 64));
    if (minus)
        exact_negate(term, WIDE);
    exact_add(wide, term, WIDE);
}

/* Adds n times m, times 2^exponent. */
static void wide_product(uint64_t wide[WIDE], int64_t n, int64_t m,
                         int exponent)
{
    exact_int product = (exact_int)n * m;
    exact_uint size = product < 0 ? -(exact_uint)product : (exact_uint)product;
    wide_add(wide, size, 64 * WIDE_FRACTION + exponent, product < 0);
}

/* With n = b - a: the sign of n . (2 x - (a + b)). */
int voronoi_exact_nearer(const double x[3], const double a[3],
                         const double b[3], double per_grid)
{
    uint64_t wide[WIDE] = {0};
    int scale;
    (void)frexp(per_grid, &scale); /* 2^(scale - 1) */
    for (int d = 0; d < 3; d++) {
        int64_t from = (int64_t)(a[d] * per_grid);
        int64_t to = (int64_t)(b[d] * per_grid);
        int exponent;
        int64_t m = (int64_t)ldexp(frexp(x[d], &exponent), 53);
        wide_product(wide, to - from, -(from + to), 0);
        if (m != 0) /* twice the position */
            wide_product(wide, to - from, m, exponent - 53 + scale);
    }
    return exact_sign(wide, WIDE);
}
