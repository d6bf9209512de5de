/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_octree.h"

#include <math.h>

#include "base/math.h"

/* The part of the cells of `level` that is cut in eight. */
struct octree_shape {
    int level;
    double part;
    double middle_cm, radius_cm;
};

static struct octree_shape octree_shape(uint64_t cells)
{
    struct octree_shape shape = {.level = 0};
    while (shape.level < STORM_OCTREE_MAX_LEVEL - 1 &&
           UINT64_C(1) << 3 * (shape.level + 1) <= cells)
        shape.level++;
    double n = ldexp(1.0, 3 * shape.level);
    shape.part = ((double)cells - n) / (7.0 * n);
    return shape;
}

static bool octree_in_ball(void *self, const double lo_cm[3],
                           const double hi_cm[3], int level)
{
    const struct octree_shape *shape = self;
    double square = 0.0;
    (void)level;
    for (int d = 0; d < 3; d++) {
        double x = 0.5 * (lo_cm[d] + hi_cm[d]) - shape->middle_cm;
        square += x * x;
    }
    return square < shape->radius_cm * shape->radius_cm;
}

storm_status storm_bench_octree(struct storm_context *context, uint64_t cells,
                                double lo_cm, double hi_cm,
                                struct storm_mesh **mesh_out)
{
    const double ball = 4.188790204786391; /* volume of one with radius 1 */
    struct octree_shape shape = octree_shape(cells);
    struct storm_octree_params params = {.size = sizeof params,
                                         .level = shape.level,
                                         .refine_levels = 1,
                                         .refine = octree_in_ball,
                                         .refine_self = &shape};
    for (int d = 0; d < 3; d++) {
        params.lo_cm[d] = lo_cm;
        params.hi_cm[d] = hi_cm;
    }
    shape.middle_cm = 0.5 * (lo_cm + hi_cm);
    shape.radius_cm = (hi_cm - lo_cm) * storm_cbrt(shape.part / ball);
    return storm_mesh_create_octree(context, &params, mesh_out);
}

double storm_bench_octree_crossings(uint64_t cells)
{
    struct octree_shape shape = octree_shape(cells);
    return 1.5 * ldexp(1.0 + shape.part, shape.level);
}
