/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * Shapes and boxes: a box that a shape covers has all its points in it, one
 * that it does not meet has none; for tiny boxes both are as exact as for
 * points.
 */
#include <stdio.h>

#include "physics/shape.h"
#include "support/check.h"
#include "support/dice.h"

enum { BOXES = 4000, POINTS = 60 };

static double uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

static const struct storm_shape shapes[] = {
    {.kind = STORM_SHAPE_ALL},
    {.kind = STORM_SHAPE_BOX,
     .lo_cm = {0.2, 0.1, 0.4},
     .hi_cm = {0.7, 0.9, 0.8}},
    {.kind = STORM_SHAPE_CYLINDER,
     .axis = 0,
     .centre_cm = {0.4, 0.6},
     .radius_cm = {0.2, 0.5},
     .range_cm = {0.1, 0.8}},
    {.kind = STORM_SHAPE_CYLINDER,
     .axis = 2,
     .centre_cm = {0.5, 0.5},
     .radius_cm = {0, 0.4},
     .range_cm = {-STORM_UNLIMITED, STORM_UNLIMITED}},
    {.kind = STORM_SHAPE_SPHERE,
     .centre_cm = {0.5, 0.4, 0.6},
     .radius_cm = {0.3, 0.6}},
};

/* Counts boxes that are covered, and that do not meet the shape. */
static void count_boxes(const struct storm_shape *shape, double size,
                        unsigned counts[2])
{
    struct dice dice = dice_make(1, (uint64_t)shape->kind);
    for (int i = 0; i < BOXES; i++) {
        double lo[3], hi[3];
        for (int d = 0; d < 3; d++) {
            lo[d] = uniform(&dice);
            hi[d] = lo[d] + size * uniform(&dice);
        }
        bool covers = storm_shape_covers(shape, lo, hi);
        bool meets = storm_shape_meets(shape, lo, hi);
        CHECK(meets || !covers);
        counts[0] += covers;
        counts[1] += !meets;
        for (int k = 0; k < POINTS; k++) {
            double x[3];
            for (int d = 0; d < 3; d++)
                x[d] = lo[d] + (hi[d] - lo[d]) * uniform(&dice);
            bool inside = storm_shape_contains(shape, x);
            CHECK(inside || !covers);
            CHECK(!inside || meets);
            if (size < 1e-9) /* both are exact but for boxes on the surface */
                CHECK_EQ(covers, inside);
        }
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        unsigned large[2] = {0, 0}, tiny[2] = {0, 0};
        check_where("shape %d", (int)i);
        count_boxes(&shapes[i], 0.3, large);
        count_boxes(&shapes[i], 1e-12, tiny);
        printf("shape %zu: %u of %d boxes covered, %u apart\n", i, large[0],
               BOXES, large[1]);
        CHECK(large[0] > 0);
        CHECK((large[1] > 0) == (shapes[i].kind != STORM_SHAPE_ALL));
        CHECK_EQ(tiny[0] + tiny[1], BOXES);
    }
    return CHECK_PASS;
}
