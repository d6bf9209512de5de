/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline geometry of an octree for physics/lanes.h, which specifies each
 * function. Included from physics/track_octree.c alone.
 *
 * A packet leaves through the plane of a side. If that has four neighbours, the
 * packet stands on the plane by then, and two comparisons with the middle
 * planes choose: a position on such a plane belongs to the upper neighbour.
 */
#ifndef STORM_MESH_OCTREE_GEOM_H
#define STORM_MESH_OCTREE_GEOM_H

#include "mesh/mesh_axis_geom.h"
#include "mesh/octree/octree_mesh.h"

struct geom {
    const struct octree_mesh *mesh;
    const struct octree_cell *cells;
    const struct storm_border *borders;
    const struct octree_fan *fans;
    double speed_cm_s;
    storm_cell_id first; /* of this rank */
    int rank;
};

static inline struct geom geom_open(const struct storm_mesh *mesh,
                                    double speed_cm_s)
{
    const struct octree_part *part = octree_part_of(mesh);
    return (struct geom){.mesh = octree_of(mesh),
                         .cells = part->cells,
                         .borders = part->borders.array,
                         .fans = part->fans,
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
    const struct octree_cell *cell = &g->cells[packet->cell_idx];
    for (int d = 0; d < 3; d++) {
        axis_enter(&lane->axis[d], packet, d, g->speed_cm_s);
        axis_aim(&lane->axis[d], d, cell->plane + 2 * d);
    }
}

/* The sides before it may have four faces. Edges lie in cells. */
static inline uint32_t geom_face(const struct geom_lane *lane, uint32_t side)
{
    int face = 0;
    STORM_AT_AXIS(d, side)
    {
        const struct geom_axis *axis = &lane->axis[d];
        const void *begin = axis->edge - axis->face;
        const struct octree_cell *cell = begin;
        for (int i = 0; i < (int)axis->face; i++)
            face += octree_side_faces(cell, i);
    }
    return (uint32_t)face;
}

/* Which of four neighbours. */
static inline int32_t geom_choose(const struct octree_fan *fan,
                                  const struct geom_lane *lane, uint32_t side)
{
    unsigned low = 0, high = 0;
    STORM_AT_AXIS(d, (side + 1) % 3)
    low = lane->axis[d].position >= fan->middle[0];
    STORM_AT_AXIS(d, (side + 2) % 3)
    high = lane->axis[d].position >= fan->middle[1];
    return fan->next[low | high << 1];
}

static inline int32_t geom_next(const struct geom *g,
                                const struct geom_lane *lane,
                                storm_cell_idx cell, uint32_t side)
{
    int32_t next = g->cells[cell].next[axis_face(lane, side)];
    if (STORM_UNLIKELY(next < OCTREE_FAN_END))
        next = geom_choose(&g->fans[next - OCTREE_FAN], lane, side);
    return next;
}

/* All planes: the next cell may be larger or smaller. */
static inline void geom_cross(const struct geom *g, struct geom_lane *lane,
                              uint32_t side, storm_cell_idx next)
{
    (void)side;
    const double *plane = g->cells[next].plane;
    for (int d = 0; d < 3; d++) {
        struct geom_axis *axis = &lane->axis[d];
        axis->edge = plane + axis->face;
        axis_read(axis);
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
    const struct storm_border *border = &g->borders[~next];
    if (!border->wraps)
        return;
    STORM_AT_AXIS(d, side)
    {
        struct geom_axis *axis = &lane->axis[d];
        axis->position = axis->step > 0 ? g->mesh->lo_cm[d] : g->mesh->hi_cm[d];
    }
    if (border->rank == g->rank)
        geom_cross(g, lane, side, border->idx);
}

static inline bool geom_holds(const struct geom *g,
                              const struct geom_lane *lane, storm_cell_idx cell)
{
    bool inside = true;
    for (int d = 0; d < 3; d++)
        inside =
            inside && axis_holds(&lane->axis[d], g->cells[cell].plane + 2 * d);
    return inside;
}

static inline const double *geom_planes(const struct geom *g,
                                        storm_cell_idx cell, int d)
{
    return g->cells[cell].plane + 2 * d;
}

static inline void geom_prefetch(const struct geom *g, storm_cell_idx cell)
{
    const char *line = (const char *)&g->cells[cell];
    STORM_PREFETCH(line);
    STORM_PREFETCH(line + sizeof *g->cells - 1);
}

#endif /* STORM_MESH_OCTREE_GEOM_H */
