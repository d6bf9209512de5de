/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/shape.h"

static bool shape_between(double x, const double range[2])
{
    return x >= range[0] && x <= range[1];
}

bool storm_shape_contains(const struct storm_shape *shape,
                          const double point_cm[3])
{
    double square = 0.0;
    switch ((storm_shape_kind)shape->kind) {
    case STORM_SHAPE_ALL:
        return true;
    case STORM_SHAPE_BOX:
        for (int d = 0; d < 3; d++)
            if (!(point_cm[d] >= shape->lo_cm[d] &&
                  point_cm[d] <= shape->hi_cm[d]))
                return false;
        return true;
    case STORM_SHAPE_CYLINDER:
        for (int k = 0; k < 2; k++) {
            double x =
                point_cm[(shape->axis + 1 + k) % 3] - shape->centre_cm[k];
            square += x * x;
        }
        if (!shape_between(point_cm[shape->axis], shape->range_cm))
            return false;
        break;
    case STORM_SHAPE_SPHERE:
        for (int d = 0; d < 3; d++) {
            double x = point_cm[d] - shape->centre_cm[d];
            square += x * x;
        }
        break;
    }
    return square >= shape->radius_cm[0] * shape->radius_cm[0] &&
           square <= shape->radius_cm[1] * shape->radius_cm[1];
}

void storm_shape_bounds(const struct storm_shape *shape, double lo_out[3],
                        double hi_out[3])
{
    for (int d = 0; d < 3; d++) {
        lo_out[d] = -STORM_UNLIMITED;
        hi_out[d] = STORM_UNLIMITED;
    }
    for (int d = 0; d < 3; d++) {
        switch ((storm_shape_kind)shape->kind) {
        case STORM_SHAPE_ALL:
            break;
        case STORM_SHAPE_BOX:
            lo_out[d] = shape->lo_cm[d];
            hi_out[d] = shape->hi_cm[d];
            break;
        case STORM_SHAPE_SPHERE:
            lo_out[d] = shape->centre_cm[d] - shape->radius_cm[1];
            hi_out[d] = shape->centre_cm[d] + shape->radius_cm[1];
            break;
        case STORM_SHAPE_CYLINDER:
            if (d == shape->axis) {
                lo_out[d] = shape->range_cm[0];
                hi_out[d] = shape->range_cm[1];
                break;
            }
            double centre = shape->centre_cm[(d - shape->axis + 2) % 3];
            lo_out[d] = centre - shape->radius_cm[1];
            hi_out[d] = centre + shape->radius_cm[1];
            break;
        }
    }
}

/* Squares of the min and max distance between points of a box and the axis of a
 * cylinder or the centre of a sphere. */
static void shape_reach(const struct storm_shape *shape, const double lo_cm[3],
                        const double hi_cm[3], double min_max_out[2])
{
    bool round = shape->kind == STORM_SHAPE_SPHERE;
    min_max_out[0] = min_max_out[1] = 0.0;
    for (int k = 0; k < (round ? 3 : 2); k++) {
        int d = round ? k : (shape->axis + 1 + k) % 3;
        double low = lo_cm[d] - shape->centre_cm[k];
        double high = hi_cm[d] - shape->centre_cm[k];
        double min = low > 0.0 ? low : high < 0.0 ? high : 0.0;
        double max = -low > high ? low : high;
        min_max_out[0] += min * min;
        min_max_out[1] += max * max;
    }
}

bool storm_shape_meets(const struct storm_shape *shape, const double lo_cm[3],
                       const double hi_cm[3])
{
    double lo[3], hi[3], reach[2];
    storm_shape_bounds(shape, lo, hi);
    for (int d = 0; d < 3; d++)
        if (hi_cm[d] < lo[d] || lo_cm[d] > hi[d])
            return false;
    if (shape->kind != STORM_SHAPE_CYLINDER &&
        shape->kind != STORM_SHAPE_SPHERE)
        return true;
    shape_reach(shape, lo_cm, hi_cm, reach);
    return reach[1] >= shape->radius_cm[0] * shape->radius_cm[0] &&
           reach[0] <= shape->radius_cm[1] * shape->radius_cm[1];
}

bool storm_shape_covers(const struct storm_shape *shape, const double lo_cm[3],
                        const double hi_cm[3])
{
    double lo[3], hi[3], reach[2];
    storm_shape_bounds(shape, lo, hi);
    for (int d = 0; d < 3; d++)
        if (lo_cm[d] < lo[d] || hi_cm[d] > hi[d])
            return false;
    if (shape->kind != STORM_SHAPE_CYLINDER &&
        shape->kind != STORM_SHAPE_SPHERE)
        return true;
    shape_reach(shape, lo_cm, hi_cm, reach);
    return reach[0] >= shape->radius_cm[0] * shape->radius_cm[0] &&
           reach[1] <= shape->radius_cm[1] * shape->radius_cm[1];
}
