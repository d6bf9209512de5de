/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline geometry of a given mesh for physics/lanes.h, which specifies each
 * function. Included from physics/track_given*.c alone.
 *
 * The exit of a cell is chosen from the planes as given (mesh_lane_geom.h). The
 * arithmetic is that of Voronoi meshes (GIVEN-4).
 *
 * A plane counts only if the packet moves towards it. Both cells of a face have
 * exactly opposite normals, so no packet returns at once because of rounding.
 */
#ifndef STORM_MESH_GIVEN_GEOM_H
#define STORM_MESH_GIVEN_GEOM_H

#include <math.h>
#include <string.h>

#include <storm/packet.h>

#include "base/port.h"
#include "mesh/given/given_mesh.h"

struct geom {
    const struct given_head *heads;
    const struct storm_planes_block *blocks;
    const struct given_plane *planes;
    const struct given_border *borders;
    const struct given_part *part;
    double speed_cm_s;
    bool bisects; /* see struct given_part; the bits are the same */
    int rank;
};

struct geom_lane {
    double position[3];
    double velocity[3];
    float direction[3];
    int32_t next;      /* behind the plane that was found last */
    uint32_t n_blocks; /* of the cell */
    float radius;      /* of the cell */
    float scale;       /* one over it */
    uint64_t mask;     /* candidates for the exit */
    uint32_t face; /* of a plane with several: that was found last; else 0 */
    const struct storm_planes_block *block; /* its first */
    const struct given_plane *plane;        /* its first */
    const double *point;
    const struct geom *geom;
};

static inline struct geom geom_open(const struct storm_mesh *mesh,
                                    double speed_cm_s)
{
    const struct given_part *part = given_part_of(mesh);
    return (struct geom){.heads = part->heads,
                         .blocks = part->blocks,
                         .planes = part->planes,
                         .borders = part->borders,
                         .part = part,
                         .speed_cm_s = speed_cm_s,
                         .bisects = part->bisects,
                         .rank = mesh->env->rank};
}

#include "mesh/mesh_lane_geom.h"

static inline void geom_into(const struct geom *g, struct geom_lane *lane,
                             storm_cell_idx cell)
{
    const struct given_head *head = &g->heads[cell];
    lane->point = head->point;
    lane->radius = head->radius;
    lane->scale = 1.0f / head->radius;
    lane->block = g->blocks + head->first_block;
    lane->plane = g->planes + (size_t)head->first_block * STORM_PLANES_WIDTH;
    lane->n_blocks = head[1].first_block - head->first_block;
}

static inline void geom_plain(struct geom *g)
{
    (void)g;
}

static inline void geom_enter(const struct geom *g, struct geom_lane *lane,
                              const struct storm_packet *packet)
{
    geom_take(lane, packet, g->speed_cm_s);
    lane->geom = g;
    lane->next = 0;
    lane->face = 0;
    geom_into(g, lane, packet->cell_idx);
}

/* Seconds to a boundary that is perpendicular to an axis. */
static inline double geom_to_wall(const struct geom_lane *lane,
                                  const struct given_border *wall, double n)
{
    double v = storm_port_get(lane->velocity, wall->axis);
    return n * v > 0.0
               ? (wall->at - storm_port_get(lane->position, wall->axis)) / v
               : (double)INFINITY;
}

/* Seconds to a plane; infinite if the packet does not move towards it. */
static inline double geom_to_plane(const struct geom_lane *lane, uint32_t side,
                                   int32_t next)
{
    const struct given_plane *plane = &lane->plane[side];
    const double *p = lane->point;
    double n[3], ahead[3];
    if (STORM_LIKELY(next >= 0 && lane->geom->bisects)) {
        const double *q = lane->geom->heads[next].point;
        for (int d = 0; d < 3; d++) {
            n[d] = q[d] - p[d];
            ahead[d] = 0.5 * n[d] - (lane->position[d] - p[d]);
        }
    } else {
        const struct given_border *border =
            next < 0 ? &lane->geom->borders[~next] : NULL;
        if (border != NULL && border->axis >= 0)
            return geom_to_wall(lane, border, plane->n[border->axis]);
        for (int d = 0; d < 3; d++) {
            n[d] = plane->n[d];
            ahead[d] = plane->m[d] - (lane->position[d] - p[d]);
        }
    }
    double towards = geom_dot(n, lane->velocity);
    return towards > 0.0 ? geom_dot(n, ahead) / towards : (double)INFINITY;
}

/* Of the faces in a plane, the one that the packet crosses: that of the cell
 * which contains the point best; the boundary, if it is in none. */
static STORM_RARE void geom_choose(struct geom_lane *lane,
                                   const struct given_border *b)
{
    const struct given_part *part = lane->geom->part;
    const struct given_choice *found = NULL, *wall = NULL;
    double least = (double)INFINITY;
    for (uint32_t i = b->choice; i < b->choice + b->n_choices; i++) {
        const struct given_choice *choice = &part->choices[i];
        if (choice->located < 0) {
            wall = choice;
            continue;
        }
        double worst =
            given_worst(part, (size_t)choice->located, lane->position);
        if (worst < least) {
            least = worst;
            found = choice;
        }
    }
    if (found == NULL ||
        (wall != NULL && least > part->located[found->located].slack))
        found = wall;
    lane->next = found->next;
    lane->face = found->face;
}

/* On a boundary that is perpendicular to an axis, exactly; on any other plane
 * as rounding has it. */
static inline void geom_touch(struct geom_lane *lane, uint32_t side)
{
    (void)side;
    if (STORM_LIKELY(lane->next >= 0))
        return;
    const struct given_border *border = &lane->geom->borders[~lane->next];
    lane->face = 0; /* else it may be that of another cell */
    if (border->rank == GIVEN_SPLIT)
        geom_choose(lane, border);
    else if (border->axis >= 0)
        storm_port_set(lane->position, border->axis, border->at);
}

static inline uint32_t geom_face(const struct geom_lane *lane, uint32_t side)
{
    const struct given_part *part = lane->geom->part;
    size_t cell =
        (size_t)((const struct given_head *)(const void *)lane->point -
                 part->heads);
    const struct given_face *faces = &part->faces[part->first_face[cell]];
    uint32_t face = lane->face;
    if (faces[face].plane != side)
        for (face = 0; faces[face].plane != side;)
            face++;
    return face;
}

/* Not farther beyond a plane than a host may err, and roundings. */
static inline bool geom_holds(const struct geom *g,
                              const struct geom_lane *lane, storm_cell_idx cell)
{
    const struct given_head *head = &g->heads[cell];
    double size = 0.0;
    for (int d = 0; d < 3; d++)
        size += fabs(lane->position[d]) + fabs(head->point[d]);
    double slack = 0x1p-47 * size + 1e-5 * (double)head->radius;
    return lane->point == head->point &&
           given_worst(g->part, (size_t)cell, lane->position) <= slack;
}

static inline void geom_mirror(const struct geom *g, struct geom_lane *lane,
                               struct storm_packet *packet, uint32_t side)
{
    const struct given_border *border = &g->borders[~lane->next];
    if (border->axis >= 0) {
        storm_port_set(packet->direction, border->axis,
                       -storm_port_get(packet->direction, border->axis));
    } else {
        geom_mirror_at(lane->plane[side].n, packet);
    }
    geom_turn(lane, packet, g->speed_cm_s);
}

static inline struct storm_mesh_exit geom_exit(const struct geom *g,
                                               int32_t next)
{
    const struct given_border *b = &g->borders[~next];
    return (struct storm_mesh_exit){b->tag, b->rank, b->idx, b->wall};
}

/* No boundary is periodic. */
static inline void geom_wrap(const struct geom *g, struct geom_lane *lane,
                             int32_t next, uint32_t side)
{
    (void)g;
    (void)lane;
    (void)next;
    (void)side;
}

/* No cell is beyond a periodic wall. */
static inline void geom_rest(const struct geom_lane *lane,
                             struct storm_packet *packet)
{
    geom_leave(lane, packet);
}

static inline void geom_prefetch(const struct geom *g, storm_cell_idx cell)
{
    const struct storm_planes_block *block =
        g->blocks + g->heads[cell].first_block;
    const char *line = (const char *)block;
    for (size_t i = 0; i < 3 * sizeof *block; i += STORM_CACHE_LINE)
        STORM_PREFETCH(line + i);
    if (g->bisects)
        return;
    line = (const char *)(g->planes + (size_t)g->heads[cell].first_block *
                                          STORM_PLANES_WIDTH);
    for (size_t i = 0; i < 6 * sizeof *g->planes; i += STORM_CACHE_LINE)
        STORM_PREFETCH(line + i);
}

#endif /* STORM_MESH_GIVEN_GEOM_H */
