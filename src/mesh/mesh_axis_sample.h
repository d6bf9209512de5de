/* SPDX-License-Identifier: BSD-3-Clause */
/* Uniform points in cells that are boxes along the axes, inlined: MESH-6 and
 * MESH-15 of mesh_ops.h. */
#ifndef STORM_MESH_AXIS_SAMPLE_H
#define STORM_MESH_AXIS_SAMPLE_H

#include <stdint.h>
#include <string.h>

/* The next double below a number that is not the lowest. */
static inline double axis_below(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x == 0.0)
        return -0x1p-1074;
    bits += x > 0.0 ? -1 : 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Between two planes. Rounding may reach the upper one, which belongs to the
 * next cell (MESH-6). */
static inline double axis_sample(double low, double high, double u)
{
    double x = low + u * (high - low);
    return x < high ? x : axis_below(high);
}

/* In the face of a box that has this normal. */
static inline void axis_sample_face(const double lo[3], const double hi[3],
                                    const double normal[3], const double u[2],
                                    double point_out[3])
{
    const double first = u[0], second = u[1];
    int axis = normal[0] != 0.0 ? 0 : normal[1] != 0.0 ? 1 : 2;
    for (int d = 0; d < 3; d++) {
        double part = (d - axis + 5) % 3 == 0 ? first : second;
        double x = lo[d] + part * (hi[d] - lo[d]);
        x = x < hi[d] ? x : hi[d];
        point_out[d] = d != axis ? x : normal[d] > 0.0 ? hi[d] : lo[d];
    }
}

#endif /* STORM_MESH_AXIS_SAMPLE_H */
