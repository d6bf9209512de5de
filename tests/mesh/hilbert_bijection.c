/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * HILBERT-1, HILBERT-2, HILBERT-3 and HILBERT-5: positions are dense and
 * unique, inverse to cells; steps along the curve are to face neighbours in
 * boxes of powers of two and short in all others; very large boxes work; trees
 * are pieces of one curve.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_hilbert.h"
#include "support/check.h"
#include "support/dice.h"

/* Longest step found so far; clipping the curve of the enclosing cube instead
 * of bisecting the box would give steps as long as the box. */
enum { LONGEST_STEP = 3 };

static bool is_power_of_two(int32_t n)
{
    return (n & (n - 1)) == 0;
}

static int32_t distance(const int32_t a[3], const int32_t b[3])
{
    int32_t sum = 0;
    for (int d = 0; d < 3; d++)
        sum += abs(a[d] - b[d]);
    return sum;
}

static void walk(const int32_t n[3])
{
    uint64_t total = (uint64_t)n[0] * (uint64_t)n[1] * (uint64_t)n[2];
    bool smooth =
        is_power_of_two(n[0]) && is_power_of_two(n[1]) && is_power_of_two(n[2]);
    char *seen = calloc(total, 1);
    int32_t before[3] = {0};
    check_where("box %d %d %d", n[0], n[1], n[2]);
    CHECK(seen != NULL);
    for (uint64_t p = 0; p < total; p++) {
        int32_t ijk[3];
        storm_hilbert_ijk(n, p, ijk);
        for (int d = 0; d < 3; d++)
            CHECK(ijk[d] >= 0 && ijk[d] < n[d]);
        uint64_t linear =
            ((uint64_t)ijk[2] * (uint64_t)n[1] + (uint64_t)ijk[1]) *
                (uint64_t)n[0] +
            (uint64_t)ijk[0];
        CHECK(!seen[linear]);
        seen[linear] = 1;
        CHECK_EQ(storm_hilbert_position(n, ijk), p);
        if (p > 0)
            CHECK(distance(ijk, before) <= (smooth ? 1 : LONGEST_STEP));
        memcpy(before, ijk, sizeof before);
    }
    free(seen);
}

/* A box of n cells in one direction alone is walked from end to end. */
static void line(int32_t length, int d)
{
    int32_t n[3] = {1, 1, 1};
    n[d] = length;
    check_where("line of %d along %d", length, d);
    for (int32_t i = 0; i < length; i++) {
        int32_t ijk[3];
        storm_hilbert_ijk(n, (uint64_t)i, ijk);
        CHECK_EQ(ijk[d], i);
    }
}

/* There and back, in boxes too large to enumerate. */
static void large(const int32_t n[3])
{
    struct dice dice = dice_make(1, (uint64_t)n[0]);
    uint64_t total = (uint64_t)n[0] * (uint64_t)n[1] * (uint64_t)n[2];
    check_where("box %d %d %d", n[0], n[1], n[2]);
    for (int i = 0; i < 20000; i++) {
        int32_t ijk[3], again[3];
        for (int d = 0; d < 3; d++)
            ijk[d] = (int32_t)dice_roll(&dice, (uint64_t)n[d]);
        uint64_t p = storm_hilbert_position(n, ijk);
        CHECK(p < total);
        storm_hilbert_ijk(n, p, again);
        CHECK_EQ(distance(ijk, again), 0);
        p = dice_roll(&dice, total);
        storm_hilbert_ijk(n, p, ijk);
        CHECK_EQ(storm_hilbert_position(n, ijk), p);
    }
}

/* HILBERT-5: there and back at all levels; a cube is one piece of the curve of
 * the next level; the curve of the box, where that is the same. */
static void tree(const int32_t n[3], int levels)
{
    bool is_smooth =
        is_power_of_two(n[0]) && is_power_of_two(n[1]) && is_power_of_two(n[2]);
    check_where("trees %d %d %d", n[0], n[1], n[2]);
    for (int level = 0; level <= levels; level++) {
        const int32_t m[3] = {n[0] << level, n[1] << level, n[2] << level};
        uint64_t total = (uint64_t)m[0] * (uint64_t)m[1] * (uint64_t)m[2];
        int32_t before[3] = {0};
        for (uint64_t p = 0; p < total; p++) {
            int32_t ijk[3], coarse[3];
            storm_hilbert_tree_ijk(n, level, p, ijk);
            CHECK_EQ(storm_hilbert_tree_position(n, level, ijk), p);
            for (int d = 0; d < 3; d++) {
                CHECK(ijk[d] >= 0 && ijk[d] < m[d]);
                coarse[d] = ijk[d] >> 1;
            }
            if (level > 0)
                CHECK_EQ(storm_hilbert_tree_position(n, level - 1, coarse),
                         p >> 3);
            if (is_smooth) {
                CHECK_EQ(storm_hilbert_position(m, ijk), p);
                CHECK(p == 0 || distance(ijk, before) == 1);
            }
            memcpy(before, ijk, sizeof before);
        }
    }
}

/* The deepest level. */
static void deep_tree(const int32_t n[3], int level)
{
    struct dice dice = dice_make(2, (uint64_t)n[0]);
    check_where("deep trees %d %d %d", n[0], n[1], n[2]);
    for (int i = 0; i < 20000; i++) {
        int32_t ijk[3], again[3];
        for (int d = 0; d < 3; d++)
            ijk[d] = (int32_t)dice_roll(&dice, (uint64_t)n[d] << level);
        uint64_t p = storm_hilbert_tree_position(n, level, ijk);
        storm_hilbert_tree_ijk(n, level, p, again);
        CHECK_EQ(distance(ijk, again), 0);
    }
}

int main(void)
{
    tree((int32_t[3]){1, 1, 1}, 4);
    tree((int32_t[3]){4, 2, 1}, 3);
    tree((int32_t[3]){3, 5, 2}, 3);
    deep_tree((int32_t[3]){1, 1, 1}, 20);
    deep_tree((int32_t[3]){7, 2, 1}, 19);
    enum { SMALL = 9 };
    for (int32_t i = 1; i <= SMALL; i++)
        for (int32_t j = 1; j <= SMALL; j++)
            for (int32_t k = 1; k <= SMALL; k++)
                walk((int32_t[3]){i, j, k});
    static const int32_t boxes[][3] = {
        {32, 32, 32}, {64, 32, 1}, {128, 8, 8},   {1, 16, 256}, {27, 27, 27},
        {33, 33, 33}, {17, 9, 23}, {100, 10, 10}, {1, 63, 65},  {1000, 3, 2},
    };
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        walk(boxes[i]);
    for (int d = 0; d < 3; d++) {
        line(1000, d);
        line(1024, d);
    }
    large((int32_t[3]){1 << 16, 1 << 16, 1 << 15});
    large((int32_t[3]){STORM_HILBERT_MAX, 1, 200000});
    large((int32_t[3]){100003, 70001, 30011});
    return CHECK_PASS;
}
