/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators of other ranks, and images in periodic boxes: requested by balls,
 * in rounds. A rank asks itself for images of its own generators.
 *
 *   GHOST-1  After a round every generator and image in the requested balls is
 *            known.
 *   GHOST-2  No generator is sent twice to the same rank as the same image
 *            during one build.
 */
#ifndef STORM_MESH_VORONOI_GHOST_H
#define STORM_MESH_VORONOI_GHOST_H

#include "mesh/voronoi/voronoi_mesh.h"

struct voronoi_ball {
    double x[3];
    double radius;
    int64_t image; /* as which image it wants the generators in it */
};

struct voronoi_box {
    double lo[3], hi[3];
};

/* A box of a rank, as seen from here: moved to where one of the images is. */
struct voronoi_sight {
    int32_t box;
    int32_t image; /* as in struct voronoi_images */
};

/* Those of a periodic box; without periods, only the generator itself. */
struct voronoi_images {
    int n;
    int32_t image[VORONOI_IMAGES];
    double shift[VORONOI_IMAGES][3];
};

struct voronoi_ghosts {
    const struct storm_context *context;
    const struct storm_env *env;
    const struct storm_mesh_part *part; /* this rank's tags */
    struct voronoi_images images;
    struct voronoi_box *boxes;  /* VORONOI_RANK_BOXES for each rank */
    struct voronoi_box own;     /* around all of this rank's */
    struct voronoi_sight *near; /* those within near_radius of own */
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

/* May another rank have a generator in the ball, or may it hold an image? */
bool voronoi_ghosts_touch(const struct voronoi_ghosts *ghosts,
                          const struct voronoi_ball *ball);

/* One round; what is new is added to `points`. Collective. `status` is that of
 * this rank so far. */
storm_status voronoi_ghosts_ask(struct voronoi_ghosts *ghosts,
                                storm_status status,
                                const struct voronoi_ball *balls, size_t n,
                                struct voronoi_points *points);

#endif /* STORM_MESH_VORONOI_GHOST_H */
