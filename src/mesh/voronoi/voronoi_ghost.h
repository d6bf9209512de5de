/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators of other ranks: requested by balls, in rounds.
 *
 *   GHOST-1  After a round every generator in the requested balls is known.
 *   GHOST-2  No generator is sent twice to the same rank during one build.
 */
#ifndef STORM_MESH_VORONOI_GHOST_H
#define STORM_MESH_VORONOI_GHOST_H

#include "mesh/voronoi/voronoi_mesh.h"

struct voronoi_ball {
    double x[3];
    double radius;
};

struct voronoi_box {
    double lo[3], hi[3];
};

struct voronoi_ghosts {
    const struct storm_context *context;
    const struct storm_env *env;
    const struct storm_mesh_part *part; /* this rank's tags */
    struct voronoi_box *boxes;          /* VORONOI_RANK_BOXES for each rank */
    struct voronoi_box own;             /* around all of this rank's */
    int *near;                          /* boxes within near_radius of own */
    size_t n_near;
    double near_radius;
    struct voronoi_ghost *array; /* in order */
    size_t n, capacity;
    struct voronoi_sent *sent; /* what has been sent to which rank */
    size_t n_sent, sent_capacity;
};

/* `part` has this rank's own points, and its tags if they are not places.
 * Collective; close it also after an error. */
storm_status voronoi_ghosts_open(struct voronoi_ghosts *ghosts,
                                 const struct storm_context *context,
                                 const struct voronoi_part *part);
void voronoi_ghosts_close(struct voronoi_ghosts *ghosts);

/* May another rank have a generator in the ball? */
bool voronoi_ghosts_touch(const struct voronoi_ghosts *ghosts,
                          const struct voronoi_ball *ball);

/* One round; what is new is added to `points`. Collective. `status` is that of
 * this rank so far. */
storm_status voronoi_ghosts_ask(struct voronoi_ghosts *ghosts,
                                storm_status status,
                                const struct voronoi_ball *balls, size_t n,
                                struct voronoi_points *points);

#endif /* STORM_MESH_VORONOI_GHOST_H */
