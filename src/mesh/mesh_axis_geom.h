/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What cells that are boxes along the axes have in common of the inline
 * geometry that physics/lanes.h specifies. Included from the <folder>_geom.h of
 * such meshes alone.
 *
 * A packet in flight has the three planes it moves towards. The nearest is
 * found without a branch, which could not be predicted. The two planes of a
 * cell in one direction lie side by side in memory, the lower one first.
 */
#ifndef STORM_MESH_AXIS_GEOM_H
#define STORM_MESH_AXIS_GEOM_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <storm/packet.h>

#include "base/port.h"
#include "mesh/mesh_axis_sample.h"

enum { GEOM_PLANES = 0 }; /* see physics/lanes.h */

/* One direction of a packet in flight. */
struct geom_axis {
    double position;
    double velocity;
    double inverse;     /* of the velocity */
    double plane;       /* ahead: *edge, or infinite if it never gets there */
    const double *edge; /* in the memory of the mesh */
    int32_t step;       /* from the plane behind to it: +1 or -1 */
    uint32_t face;      /* side of the cell it is on, numbered like the walls */
};

/* By direction first, not by quantity: then the compiler finds no neighbours to
 * vectorise. A vector read right after one of its elements has been written
 * waits until the write is in the cache. */
struct geom_lane {
    struct geom_axis axis[3];
};

static inline void axis_enter(struct geom_axis *axis,
                              const struct storm_packet *packet, int d,
                              double speed_cm_s)
{
    axis->position = packet->position_cm[d];
    axis->velocity = packet->direction[d] * speed_cm_s;
    axis->inverse = 1.0 / axis->velocity;
}

/* Reads the plane ahead. If the velocity is 0 the inverse is infinite, with a
 * sign: so is the product. */
static inline void axis_read(struct geom_axis *axis)
{
    axis->plane = *axis->edge;
    if (STORM_UNLIKELY(axis->velocity == 0.0))
        axis->plane = axis->inverse;
}

/* The plane ahead in direction d, in a cell whose planes begin at `low`. The
 * sign is taken from the bits: it is random, and a branch on it would be
 * mispredicted. */
static inline void axis_aim(struct geom_axis *axis, int d, const double *low)
{
    uint64_t bits;
    memcpy(&bits, &axis->velocity, sizeof bits);
    int32_t down = (int32_t)(bits >> 63);
    axis->edge = low + 1 - down;
    axis->step = 1 - 2 * down;
    axis->face = (uint32_t)(2 * d + 1 - down);
    axis_read(axis);
}

/* Between the planes of a cell that begin at `low`, but for roundings: of the
 * time to the plane ahead, of the step, and of where packets are born. That is
 * some six, 2^-53 of the coordinates each; 32 are allowed. */
static inline bool axis_holds(const struct geom_axis *axis, const double *low)
{
    double slack = 0x1p-48 * (fabs(low[0]) + fabs(low[1]));
    return axis->position >= low[0] - slack && axis->position <= low[1] + slack;
}

static inline double axis_reach(const struct geom_axis *axis)
{
    return (axis->plane - axis->position) * axis->inverse;
}

/* The face that a packet in flight moves towards in a direction. */
static inline uint32_t axis_face(const struct geom_lane *lane, uint32_t side)
{
    uint32_t face = 0;
    STORM_AT_AXIS(d, side)
    face = lane->axis[d].face;
    return face;
}

/* ---- functions of physics/lanes.h ---------------------------------------- */

/* Nothing has to be found before. */
static inline void geom_pick(const struct geom_lane *lane)
{
    (void)lane;
}

/* The loops over directions of the next two are written out: at -O2 gcc does
 * not unroll them. */
static inline double geom_reach(const struct geom_lane *lane,
                                uint32_t *side_out)
{
    double t0 = axis_reach(&lane->axis[0]);
    double t1 = axis_reach(&lane->axis[1]);
    double t2 = axis_reach(&lane->axis[2]);
    unsigned is_1 = t1 < t0;
    double nearest = t1 < t0 ? t1 : t0;
    unsigned is_2 = t2 < nearest;
    nearest = t2 < nearest ? t2 : nearest;
    *side_out = (is_1 & ~is_2) | is_2 << 1;
    return nearest > 0.0 ? nearest : 0.0;
}

static inline void geom_move(struct geom_lane *lane, double seconds)
{
    lane->axis[0].position += lane->axis[0].velocity * seconds;
    lane->axis[1].position += lane->axis[1].velocity * seconds;
    lane->axis[2].position += lane->axis[2].velocity * seconds;
}

static inline void geom_touch(struct geom_lane *lane, uint32_t side)
{
    STORM_AT_AXIS(d, side)
    lane->axis[d].position = lane->axis[d].plane;
}

struct geom;
static inline void geom_mirror(const struct geom *g, struct geom_lane *lane,
                               struct storm_packet *packet, uint32_t side)
{
    (void)g;
    STORM_AT_AXIS(d, side)
    {
        struct geom_axis *axis = &lane->axis[d];
        packet->direction[d] = -packet->direction[d];
        axis->velocity = -axis->velocity;
        axis->inverse = -axis->inverse;
        axis->edge -= axis->step;
        axis->plane = *axis->edge;
        axis->step = -axis->step;
        axis->face ^= 1u;
    }
}

/* Distance to the nearest face, in any direction. */
static inline double geom_clearance(const struct geom *g,
                                    const struct geom_lane *lane,
                                    storm_cell_idx cell)
{
    double min = INFINITY;
    (void)g;
    (void)cell;
    for (int d = 0; d < 3; d++) {
        const struct geom_axis *axis = &lane->axis[d];
        double ahead = axis->edge[0] - axis->position;
        double behind = axis->position - axis->edge[-axis->step];
        ahead *= (double)axis->step;
        behind *= (double)axis->step;
        min = ahead < min ? ahead : min;
        min = behind < min ? behind : min;
    }
    return min;
}

static inline void geom_leave(const struct geom_lane *lane,
                              struct storm_packet *packet)
{
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] = lane->axis[d].position;
}

/* All positions are in the box. */
static inline void geom_rest(const struct geom_lane *lane,
                             struct storm_packet *packet)
{
    geom_leave(lane, packet);
}

static inline void geom_enter(const struct geom *g, struct geom_lane *lane,
                              const struct storm_packet *packet);

static inline void geom_aim(const struct geom *g, struct geom_lane *lane,
                            struct storm_packet *packet, storm_cell_idx cell)
{
    geom_leave(lane, packet);
    packet->cell_idx = cell;
    geom_enter(g, lane, packet);
}

/* ---- for kernels on devices --------------------------------------------- */

static inline void geom_own(const struct geom *g, struct geom_lane *lane)
{
    (void)g;
    (void)lane;
}

enum { GEOM_SAMPLES = 1 };

/* The lower of the two planes of a local cell in a direction; the upper one is
 * behind it. */
static inline const double *geom_planes(const struct geom *g,
                                        storm_cell_idx cell, int d);

static inline void geom_sample(const struct geom *g, storm_cell_idx cell,
                               const double u[3], double point_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *plane = geom_planes(g, cell, d);
        point_out[d] = axis_sample(plane[0], plane[1], u[d]);
    }
}

static inline void geom_sample_face(const struct geom *g, storm_cell_idx cell,
                                    const double normal[3], const double u[2],
                                    double point_out[3])
{
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        const double *plane = geom_planes(g, cell, d);
        lo[d] = plane[0];
        hi[d] = plane[1];
    }
    axis_sample_face(lo, hi, normal, u, point_out);
}

#endif /* STORM_MESH_AXIS_GEOM_H */
