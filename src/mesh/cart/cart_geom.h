/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline geometry of a Cartesian mesh for physics/lanes.h, which specifies each
 * function. Included from physics/track_cart.c alone.
 *
 * A packet in flight has the three planes it moves towards. The nearest is
 * found without a branch, which could not be predicted.
 */
#ifndef STORM_MESH_CART_GEOM_H
#define STORM_MESH_CART_GEOM_H

#include <math.h>
#include <string.h>

#include <storm/packet.h>

#include "base/port.h"
#include "mesh/cart/cart_mesh.h"

struct geom {
    const struct cart_mesh *cart;
    const struct cart_cell *cells;
    const struct cart_border *borders;
    double speed_cm_s;
    storm_cell_id first; /* of this rank */
    int rank;
};

/* One direction of a packet in flight. */
struct geom_axis {
    double position;
    double velocity;
    double inverse;     /* of the velocity */
    double plane;       /* ahead: *edge, or infinite if it never gets there */
    const double *edge; /* in cart->edge[d] */
    int32_t step;       /* to the plane after: +1 or -1 */
    uint32_t face;      /* of the cell, through that plane */
};

/* By direction first, not by quantity: then the compiler finds no neighbours to
 * vectorise. A vector read right after one of its elements has been written
 * waits until the write is in the cache. */
struct geom_lane {
    struct geom_axis axis[3];
};

static inline struct geom geom_open(const struct storm_mesh *mesh,
                                    double speed_cm_s)
{
    const struct cart_part *part = cart_part_of(mesh);
    return (struct geom){.cart = cart_of(mesh),
                         .cells = part->cells,
                         .borders = part->borders,
                         .speed_cm_s = speed_cm_s,
                         .first = part->base.first,
                         .rank = mesh->env->rank};
}

/* The plane ahead in direction d from index i. The sign is taken from the bits:
 * it is random, and a branch on it would be mispredicted. */
static inline void geom_aim(const struct geom *g, struct geom_axis *axis, int d,
                            int32_t i)
{
    uint64_t bits;
    memcpy(&bits, &axis->velocity, sizeof bits);
    int32_t down = (int32_t)(bits >> 63);
    axis->edge = g->cart->edge[d] + i + 1 - down;
    axis->step = 1 - 2 * down;
    axis->face = (uint32_t)(2 * d + 1 - down);
    axis->plane = *axis->edge;
    /* If the velocity is 0 the inverse is infinite, with a sign: so is the
     * product. */
    if (STORM_UNLIKELY(axis->velocity == 0.0))
        axis->plane = axis->inverse;
}

static inline void geom_enter(const struct geom *g, struct geom_lane *lane,
                              const struct storm_packet *packet)
{
    uint64_t ijk = g->cells[packet->cell_idx].ijk;
    for (int d = 0; d < 3; d++) {
        struct geom_axis *axis = &lane->axis[d];
        axis->position = packet->position_cm[d];
        axis->velocity = packet->direction[d] * g->speed_cm_s;
        axis->inverse = 1.0 / axis->velocity;
        geom_aim(g, axis, d, cart_unpack(g->cart, ijk, d));
    }
}

static inline double geom_reach(const struct geom_axis *axis)
{
    return (axis->plane - axis->position) * axis->inverse;
}

/* The loops over directions of the next two are written out: at -O2 gcc does
 * not unroll them. */
static inline double geom_nearest(const struct geom_lane *lane,
                                  uint32_t *side_out)
{
    double t0 = geom_reach(&lane->axis[0]);
    double t1 = geom_reach(&lane->axis[1]);
    double t2 = geom_reach(&lane->axis[2]);
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

static inline uint32_t geom_face(const struct geom_lane *lane, uint32_t side)
{
    return lane->axis[side].face;
}

static inline int32_t geom_next(const struct geom *g,
                                const struct geom_lane *lane,
                                storm_cell_idx cell, uint32_t side)
{
    return g->cells[cell].next[lane->axis[side].face];
}

static inline void geom_touch(struct geom_lane *lane, uint32_t side)
{
    lane->axis[side].position = lane->axis[side].plane;
}

static inline void geom_cross(const struct geom *g, struct geom_lane *lane,
                              uint32_t side, storm_cell_idx next)
{
    (void)g;
    (void)next;
    struct geom_axis *axis = &lane->axis[side];
    axis->edge += axis->step;
    axis->plane = *axis->edge;
}

static inline void geom_mirror(const struct geom *g, struct geom_lane *lane,
                               struct storm_packet *packet, uint32_t side)
{
    (void)g;
    struct geom_axis *axis = &lane->axis[side];
    packet->direction[side] = -packet->direction[side];
    axis->velocity = -axis->velocity;
    axis->inverse = -axis->inverse;
    axis->edge -= axis->step;
    axis->plane = *axis->edge;
    axis->step = -axis->step;
    axis->face ^= 1u;
}

static inline struct storm_mesh_exit geom_exit(const struct geom *g,
                                               int32_t next)
{
    const struct cart_border *b = &g->borders[~next];
    return (struct storm_mesh_exit){b->id, b->rank, b->idx, b->wall};
}

/* Through a periodic wall: to the same point of the opposite one, exactly. */
static inline void geom_wrap(const struct geom *g, struct geom_lane *lane,
                             int32_t next, uint32_t side)
{
    if (!g->borders[~next].wraps)
        return;
    struct geom_axis *axis = &lane->axis[side];
    const double *edge = g->cart->edge[side];
    int32_t n = g->cart->n[side];
    bool up = axis->step > 0;
    axis->position = edge[up ? 0 : n];
    geom_aim(g, axis, (int)side, up ? 0 : n - 1);
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

/* Between the planes of the cell, but for roundings: of the time to the plane
 * ahead, of the step, and of where packets are born. That is some six, 2^-53 of
 * the coordinates each; 32 are allowed. */
static inline bool geom_holds(const struct geom *g,
                              const struct geom_lane *lane, storm_cell_idx cell)
{
    bool inside = true;
    for (int d = 0; d < 3; d++) {
        const double x = lane->axis[d].position;
        const double *edge =
            g->cart->edge[d] + cart_unpack(g->cart, g->cells[cell].ijk, d);
        double slack = 0x1p-48 * (fabs(edge[0]) + fabs(edge[1]));
        inside = inside && x >= edge[0] - slack && x <= edge[1] + slack;
    }
    return inside;
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

static inline void geom_prefetch(const struct geom *g, storm_cell_idx cell)
{
    STORM_PREFETCH(&g->cells[cell]);
}

#endif /* STORM_MESH_CART_GEOM_H */
