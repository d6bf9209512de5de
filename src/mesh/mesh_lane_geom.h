/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What meshes whose cells are lists of planes have in common of the inline
 * geometry that physics/lanes.h specifies. Included from the <folder>_geom.h of
 * such meshes alone, after struct geom and these:
 *
 *   struct geom        heads, of the cells
 *   struct geom_lane   position, velocity, direction; mask of candidates; next,
 *                      what is behind the plane that was found last; n_blocks,
 *                      block, radius, scale (one over it) and point of the
 *                      cell; geom
 *   geom_into          sets what belongs to the cell
 *   geom_to_plane      seconds to plane `side`, which leads to `next`; infinite
 *                      if the packet does not move towards it
 *
 * The exit of a cell is chosen in double precision: the plane with the smallest
 * time, the first of those with equal time. Planes as fractions, all at once,
 * only select the candidates; almost always it is one. So the result does not
 * depend on the instruction set. The two are separate functions, so that the
 * candidate's memory can arrive in between.
 */
#ifndef STORM_MESH_LANE_GEOM_H
#define STORM_MESH_LANE_GEOM_H

#include <math.h>

#include <storm/packet.h>

#include "base/port.h"
#include "mesh/mesh_planes_geom.h"

enum { GEOM_PLANES = 1 }; /* see physics/lanes.h */

static inline void geom_into(const struct geom *g, struct geom_lane *lane,
                             storm_cell_idx cell);
static inline double geom_to_plane(const struct geom_lane *lane, uint32_t side,
                                   int32_t next);

/* The direction of a packet. */
static inline void geom_turn(struct geom_lane *lane,
                             const struct storm_packet *packet,
                             double speed_cm_s)
{
    for (int d = 0; d < 3; d++) {
        lane->velocity[d] = packet->direction[d] * speed_cm_s;
        lane->direction[d] = (float)packet->direction[d];
    }
}

/* Position and direction. */
static inline void geom_take(struct geom_lane *lane,
                             const struct storm_packet *packet,
                             double speed_cm_s)
{
    for (int d = 0; d < 3; d++)
        lane->position[d] = packet->position_cm[d];
    geom_turn(lane, packet, speed_cm_s);
}

static inline double geom_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline int32_t geom_behind(const struct geom_lane *lane, uint32_t side)
{
    return lane->block[side / STORM_PLANES_WIDTH]
        .next[side % STORM_PLANES_WIDTH];
}

/* Is the plane nearer than those before it? */
static inline void geom_try(struct geom_lane *lane, uint32_t side,
                            double *nearest_inout, uint32_t *side_out)
{
    int32_t next = geom_behind(lane, side);
    double t = geom_to_plane(lane, side, next);
    if (t < *nearest_inout) {
        *nearest_inout = t;
        *side_out = side;
        lane->next = next;
    }
}

/* Several candidates; or none that it moves towards: then all planes. */
static STORM_RARE double geom_nearest_of_many(struct geom_lane *lane,
                                              uint32_t *side_out)
{
    double nearest = (double)INFINITY;
    *side_out = 0;
    lane->next = lane->block->next[0];
    for (uint64_t mask = lane->mask; mask != 0; mask &= mask - 1)
        geom_try(lane, (uint32_t)__builtin_ctzll(mask), &nearest, side_out);
    if (nearest < (double)INFINITY)
        return nearest;
    for (uint32_t i = 0; i < lane->n_blocks * STORM_PLANES_WIDTH; i++) {
        if (!storm_planes_is_used(&lane->block[i / STORM_PLANES_WIDTH],
                                  i % STORM_PLANES_WIDTH))
            break;
        geom_try(lane, i, &nearest, side_out);
    }
    return nearest;
}

/* The position in the cell, in units of its radius. */
static inline void geom_scale(const struct geom_lane *lane, float y_out[3])
{
    for (int d = 0; d < 3; d++)
        y_out[d] = (float)(lane->position[d] - lane->point[d]) * lane->scale;
}

static inline void geom_pick(struct geom_lane *lane)
{
    uint64_t mask = 0;
    if (STORM_LIKELY(lane->n_blocks <= PLANES_MAX_BLOCKS)) {
        float y[3];
        geom_scale(lane, y);
        mask = planes_pick(lane->block, lane->n_blocks, y, lane->direction);
    }
    lane->mask = mask;
    /* of several candidates the first; without one, any */
    int32_t next = geom_behind(lane, (uint32_t)__builtin_ctzll(mask | 1u << 7));
    STORM_PREFETCH(&lane->geom->heads[next >= 0 ? next : 0]);
}

static inline double geom_reach(struct geom_lane *lane, uint32_t *side_out)
{
    double nearest;
    uint64_t mask = lane->mask;
    if (STORM_LIKELY(mask != 0 && (mask & (mask - 1)) == 0)) {
        uint32_t side = (uint32_t)__builtin_ctzll(mask);
        lane->next = geom_behind(lane, side);
        nearest = geom_to_plane(lane, side, lane->next);
        *side_out = side;
    } else {
        nearest = geom_nearest_of_many(lane, side_out);
    }
    return nearest > 0.0 ? nearest : 0.0;
}

static inline void geom_move(struct geom_lane *lane, double seconds)
{
    lane->position[0] += lane->velocity[0] * seconds;
    lane->position[1] += lane->velocity[1] * seconds;
    lane->position[2] += lane->velocity[2] * seconds;
}

static inline int32_t geom_next(const struct geom *g,
                                const struct geom_lane *lane,
                                storm_cell_idx cell, uint32_t side)
{
    (void)g;
    (void)cell;
    (void)side;
    return lane->next;
}

static inline void geom_cross(const struct geom *g, struct geom_lane *lane,
                              uint32_t side, storm_cell_idx next)
{
    (void)side;
    geom_into(g, lane, next);
}

/* The direction of a packet, mirrored at a plane with this normal. */
static inline void geom_mirror_at(const double n[3],
                                  struct storm_packet *packet)
{
    double twice = 2.0 * geom_dot(n, packet->direction) / geom_dot(n, n);
    for (int d = 0; d < 3; d++)
        packet->direction[d] -= twice * n[d];
}

static inline double geom_clearance(const struct geom *g,
                                    const struct geom_lane *lane,
                                    storm_cell_idx cell)
{
    float y[3];
    (void)g;
    (void)cell;
    geom_scale(lane, y);
    return planes_clearance(lane->block, lane->n_blocks, y, lane->radius);
}

static inline void geom_aim(const struct geom *g, struct geom_lane *lane,
                            struct storm_packet *packet, storm_cell_idx cell)
{
    (void)cell;
    geom_turn(lane, packet, g->speed_cm_s);
}

static inline void geom_leave(const struct geom_lane *lane,
                              struct storm_packet *packet)
{
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] = lane->position[d];
}

/* Whose lane it is. */
static inline void geom_own(const struct geom *g, struct geom_lane *lane)
{
    lane->geom = g;
}

/* Points of a cell are found from all of its planes, by the host (RUN-5): for
 * kernels that ask GEOM_SAMPLES before. */
enum { GEOM_SAMPLES = 0 };

static inline void geom_sample(const struct geom *g, storm_cell_idx cell,
                               const double u[3], double point_out[3])
{
    (void)g;
    (void)cell;
    (void)u;
    (void)point_out;
}

static inline void geom_sample_face(const struct geom *g, storm_cell_idx cell,
                                    const double normal[3], const double u[2],
                                    double point_out[3])
{
    (void)g;
    (void)cell;
    (void)normal;
    (void)u;
    (void)point_out;
}

#endif /* STORM_MESH_LANE_GEOM_H */
