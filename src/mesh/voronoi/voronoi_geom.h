/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline geometry of a Voronoi mesh for physics/lanes.h, which specifies each
 * function. Included from physics/track_voronoi*.c alone.
 *
 * The exit of a cell is chosen from the generators (mesh_lane_geom.h).
 *
 * A face counts only if direction . generator is larger behind it than here,
 * both rounded in the same way. That number grows with every crossing until the
 * packet turns, so a packet can never return to a cell by rounding. In a
 * periodic box it is not the same number on both sides of a face to an image,
 * and the sign of the difference is computed exactly instead.
 *
 * Positions in lanes, and in packets on their way, are in the frame of their
 * cell: no farther from the generator than half a period. Through a face to an
 * image they move by its shift. Packets at rest are in the box.
 */
#ifndef STORM_MESH_VORONOI_GEOM_H
#define STORM_MESH_VORONOI_GEOM_H

#include <math.h>
#include <string.h>

#include <storm/packet.h>

#include "base/port.h"
#include "mesh/voronoi/voronoi_mesh.h"

/* Roundings of coordinates that may put a packet outside of its cell. */
#define VORONOI_ROUNDINGS 0x1p-47

struct geom {
    const struct voronoi_head *heads;
    const struct storm_planes_block *blocks;
    const struct voronoi_border *borders;
    const struct voronoi_domain *domain; /* NULL: nothing is periodic */
    double speed_cm_s;
    int rank;
};

struct geom_lane {
    double position[3];
    double velocity[3];
    float direction[3];
    int32_t next;      /* behind the face that was found last */
    uint32_t n_blocks; /* of the cell */
    float radius;      /* of the cell */
    float scale;       /* one over it */
    uint64_t mask;     /* candidates for the exit */
    const struct storm_planes_block *block; /* its first */
    const double *point;                    /* its generator */
    const struct geom *geom;
};

static inline struct geom geom_open(const struct storm_mesh *mesh,
                                    double speed_cm_s)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    return (struct geom){
        .heads = part->heads,
        .blocks = part->blocks,
        .borders = part->borders,
        .domain = voronoi_space_is_periodic(&part->domain.space) ? &part->domain
                                                                 : NULL,
        .speed_cm_s = speed_cm_s,
        .rank = mesh->env->rank};
}

#include "mesh/mesh_lane_geom.h"

static inline void geom_plain(struct geom *g)
{
    g->domain = NULL;
}

static inline void geom_into(const struct geom *g, struct geom_lane *lane,
                             storm_cell_idx cell)
{
    const struct voronoi_head *head = &g->heads[cell];
    lane->point = head->generator;
    lane->radius = head->radius;
    lane->scale = 1.0f / head->radius;
    lane->block = g->blocks + head->first_block;
    lane->n_blocks = head[1].first_block - head->first_block;
}

static inline void geom_enter(const struct geom *g, struct geom_lane *lane,
                              const struct storm_packet *packet)
{
    geom_take(lane, packet, g->speed_cm_s);
    lane->geom = g;
    lane->next = ~0;
    geom_into(g, lane, packet->cell_idx);
    if (STORM_UNLIKELY(g->domain != NULL))
        voronoi_unwrap(&g->domain->space, lane->point, lane->position);
}

/* Adds a number to a sum that is exact: `parts` do not overlap and grow (J. R.
 * Shewchuk, Adaptive precision floating-point arithmetic, 1997). */
static inline void geom_grow(double *parts, int n, double x)
{
    for (int i = 0; i < n; i++) {
        double sum = x + parts[i], other = sum - x;
        parts[i] = (x - (sum - other)) + (parts[i] - other);
        x = sum;
    }
    parts[n] = x;
}

/* The upper 26 bits. */
static inline double geom_upper(double x)
{
    double big = 0x1p27 * x + x;
    return big - (big - x);
}

/* Is a . b positive? Without rounding. */
static STORM_RARE bool geom_is_positive(const double a[3], const double b[3])
{
    double parts[12];
    int n = 0;
    for (int d = 0; d < 3; d++) {
        double a1 = geom_upper(a[d]), a2 = a[d] - a1;
        double b1 = geom_upper(b[d]), b2 = b[d] - b1;
        const double products[4] = {a2 * b2, a1 * b2, a2 * b1, a1 * b1};
        for (int i = 0; i < 4; i++, n++)
            geom_grow(parts, n, products[i]);
    }
    while (n > 0 && parts[n - 1] == 0.0)
        n--;
    return n > 0 && parts[n - 1] > 0.0;
}

/* Is `towards`, a . b, positive beyond doubt? */
static inline bool geom_is_ahead(const double a[3], const double b[3],
                                 double towards)
{
    double size = fabs(a[0] * b[0]) + fabs(a[1] * b[1]) + fabs(a[2] * b[2]);
    return fabs(towards) > 0x1p-50 * size ? towards > 0.0
                                          : geom_is_positive(a, b);
}

/* Seconds to a wall; infinite if the packet does not move towards it. */
static inline double geom_to_wall(const struct geom_lane *lane,
                                  const struct voronoi_border *wall)
{
    int axis = wall->wall >> 1;
    double v = storm_port_get(lane->velocity, axis);
    bool towards = wall->wall & 1 ? v > 0.0 : v < 0.0;
    return towards ? (wall->generator[axis] -
                      storm_port_get(lane->position, axis)) /
                         v
                   : (double)INFINITY;
}

/* Seconds to the plane half-way to the generator behind a face. */
static inline double geom_to_plane(const struct geom_lane *lane, uint32_t side,
                                   int32_t next)
{
    (void)side;
    const struct geom *g = lane->geom;
    const double *p = lane->point, *q;
    if (STORM_LIKELY(next >= 0)) {
        q = g->heads[next].generator;
    } else {
        const struct voronoi_border *border = &g->borders[~next];
        if (border->rank < 0)
            return geom_to_wall(lane, border);
        q = border->generator;
    }
    double n[3], middle[3];
    for (int d = 0; d < 3; d++) {
        n[d] = q[d] - p[d];
        middle[d] = 0.5 * n[d] - (lane->position[d] - p[d]);
    }
    double towards = geom_dot(n, lane->velocity);
    bool ahead = towards > 0.0;
    if (STORM_LIKELY(g->domain == NULL))
        ahead =
            ahead && geom_dot(q, lane->velocity) > geom_dot(p, lane->velocity);
    else
        ahead = ahead && geom_is_ahead(n, lane->velocity, towards);
    return ahead ? geom_dot(n, middle) / towards : (double)INFINITY;
}

static inline uint32_t geom_face(const struct geom_lane *lane, uint32_t side)
{
    (void)lane;
    return side;
}

/* On a wall, exactly; on any other plane as rounding has it. */
static inline void geom_touch(struct geom_lane *lane, uint32_t side)
{
    (void)side;
    if (STORM_LIKELY(lane->next >= 0))
        return;
    const struct voronoi_border *border = &lane->geom->borders[~lane->next];
    if (border->rank < 0)
        storm_port_set(lane->position, border->wall >> 1,
                       border->generator[border->wall >> 1]);
}

/* Max distance beyond the plane of a wall. */
static inline double geom_behind_wall(const struct geom_lane *lane,
                                      const struct voronoi_border *wall)
{
    int axis = wall->wall >> 1;
    double d = lane->position[axis] - wall->generator[axis];
    return wall->wall & 1 ? d : -d;
}

/* No generator behind a face is nearer than the cell's own, but for roundings.
 * Distances, not planes: a chain of crossings at one point adds up to no more,
 * however near to each other the generators are. Time to a plane, the step
 * there and the distances are some ten roundings, 2^-53 of the coordinates
 * each, and of either sign: the largest seen in 10^8 crossings is 4, 64 are
 * allowed. */
static inline bool geom_holds(const struct geom *g,
                              const struct geom_lane *lane, storm_cell_idx cell)
{
    const double *x = lane->position, *p = g->heads[cell].generator;
    double here = 0.0, size = 0.0;
    for (int d = 0; d < 3; d++) {
        here += (x[d] - p[d]) * (x[d] - p[d]);
        size += fabs(x[d]) + fabs(p[d]);
    }
    const double slack = VORONOI_ROUNDINGS * (size + sqrt(here));
    bool inside = lane->point == p;
    for (uint32_t i = 0; i < lane->n_blocks * VORONOI_WIDTH; i++) {
        const struct storm_planes_block *block =
            &lane->block[i / VORONOI_WIDTH];
        if (!storm_planes_is_used(block, i % VORONOI_WIDTH))
            break;
        int32_t next = block->next[i % VORONOI_WIDTH];
        const struct voronoi_border *border =
            next < 0 ? &g->borders[~next] : NULL;
        if (border != NULL && border->rank < 0) {
            inside = inside && geom_behind_wall(lane, border) <= slack;
            continue;
        }
        const double *q =
            border != NULL ? border->generator : g->heads[next].generator;
        double there = 0.0;
        for (int d = 0; d < 3; d++)
            there += (x[d] - q[d]) * (x[d] - q[d]);
        inside = inside && sqrt(here) <= sqrt(there) + slack;
    }
    return inside;
}

/* Walls are perpendicular to the axes; other faces mirror only for the bare
 * kernel, which closes off a rank's cells. */
static inline void geom_mirror(const struct geom *g, struct geom_lane *lane,
                               struct storm_packet *packet, uint32_t side)
{
    const struct voronoi_border *border = &g->borders[~lane->next];
    (void)side;
    if (border->rank < 0) {
        int axis = border->wall >> 1;
        storm_port_set(packet->direction, axis,
                       -storm_port_get(packet->direction, axis));
    } else {
        double n[3];
        for (int d = 0; d < 3; d++)
            n[d] = border->generator[d] - lane->point[d];
        geom_mirror_at(n, packet);
    }
    geom_turn(lane, packet, g->speed_cm_s);
}

static inline struct storm_mesh_exit geom_exit(const struct geom *g,
                                               int32_t next)
{
    const struct voronoi_border *b = &g->borders[~next];
    return (struct storm_mesh_exit){b->id, b->rank, b->idx, b->wall};
}

/* To an image: into the frame of the cell behind the face. */
static inline void geom_wrap(const struct geom *g, struct geom_lane *lane,
                             int32_t next, uint32_t side)
{
    const struct voronoi_border *border = &g->borders[~next];
    double shift[3];
    (void)side;
    if (border->image == 0)
        return;
    voronoi_image_shift(&g->domain->space, border->image, shift);
    for (int d = 0; d < 3; d++)
        lane->position[d] -= shift[d];
    if (border->rank == g->rank)
        geom_into(g, lane, border->idx);
}

static inline void geom_rest(const struct geom_lane *lane,
                             struct storm_packet *packet)
{
    geom_leave(lane, packet);
    if (STORM_UNLIKELY(lane->geom->domain != NULL))
        voronoi_wrap(lane->geom->domain, packet->position_cm);
}

static inline void geom_prefetch(const struct geom *g, storm_cell_idx cell)
{
    const struct storm_planes_block *block =
        g->blocks + g->heads[cell].first_block;
    const char *line = (const char *)block;
    for (size_t i = 0; i < 3 * sizeof *block; i += STORM_CACHE_LINE)
        STORM_PREFETCH(line + i);
}

#endif /* STORM_MESH_VORONOI_GEOM_H */
