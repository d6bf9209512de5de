/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline geometry of a Cartesian mesh for physics/lanes.h, which specifies each
 * function. Included from physics/track_cart.c alone.
 */
#ifndef STORM_MESH_CART_GEOM_H
#define STORM_MESH_CART_GEOM_H

#include "mesh/cart/cart_mesh.h"
#include "mesh/mesh_axis_geom.h"

struct geom {
    const struct cart_mesh *cart;
    const struct cart_cell *cells;
    const struct storm_border *borders;
    double speed_cm_s;
    storm_cell_id first; /* of this rank */
    int rank;
};

static inline struct geom geom_open(const struct storm_mesh *mesh,
                                    double speed_cm_s)
{
    const struct cart_part *part = cart_part_of(mesh);
    return (struct geom){.cart = cart_of(mesh),
                         .cells = part->cells,
                         .borders = part->borders.array,
                         .speed_cm_s = speed_cm_s,
                         .first = part->base.first,
                         .rank = mesh->env->rank};
}

static inline void geom_plain(struct geom *g)
{
    (void)g;
}

static inline void geom_enter(const struct geom *g, struct geom_lane *lane,
                              const struct storm_packet *packet)
{
    uint64_t ijk = g->cells[packet->cell_idx].ijk;
    for (int d = 0; d < 3; d++) {
        struct geom_axis *axis = &lane->axis[d];
        axis_enter(axis, packet, d, g->speed_cm_s);
        axis_aim(axis, d, g->cart->edge[d] + cart_unpack(g->cart, ijk, d));
    }
}

static inline uint32_t geom_face(const struct geom_lane *lane, uint32_t side)
{
    return axis_face(lane, side);
}

static inline int32_t geom_next(const struct geom *g,
                                const struct geom_lane *lane,
                                storm_cell_idx cell, uint32_t side)
{
    return g->cells[cell].next[axis_face(lane, side)];
}

static inline void geom_cross(const struct geom *g, struct geom_lane *lane,
                              uint32_t side, storm_cell_idx next)
{
    (void)g;
    (void)next;
    STORM_AT_AXIS(d, side)
    {
        struct geom_axis *axis = &lane->axis[d];
        axis->edge += axis->step;
        axis->plane = *axis->edge;
    }
}

static inline struct storm_mesh_exit geom_exit(const struct geom *g,
                                               int32_t next)
{
    return storm_border_exit(&g->borders[~next]);
}

/* Through a periodic wall: to the same point of the opposite one, exactly. */
static inline void geom_wrap(const struct geom *g, struct geom_lane *lane,
                             int32_t next, uint32_t side)
{
    if (!g->borders[~next].wraps)
        return;
    STORM_AT_AXIS(d, side)
    {
        struct geom_axis *axis = &lane->axis[d];
        const double *edge = g->cart->edge[d];
        int32_t n = g->cart->n[d];
        bool up = axis->step > 0;
        axis->position = edge[up ? 0 : n];
        axis_aim(axis, (int)d, edge + (up ? 0 : n - 1));
    }
}

static inline bool geom_holds(const struct geom *g,
                              const struct geom_lane *lane, storm_cell_idx cell)
{
    uint64_t ijk = g->cells[cell].ijk;
    bool inside = true;
    for (int d = 0; d < 3; d++)
        inside = inside &&
                 axis_holds(&lane->axis[d],
                            g->cart->edge[d] + cart_unpack(g->cart, ijk, d));
    return inside;
}

static inline const double *geom_planes(const struct geom *g,
                                        storm_cell_idx cell, int d)
{
    return g->cart->edge[d] + cart_unpack(g->cart, g->cells[cell].ijk, d);
}

static inline void geom_prefetch(const struct geom *g, storm_cell_idx cell)
{
    STORM_PREFETCH(&g->cells[cell]);
}

#endif /* STORM_MESH_CART_GEOM_H */
