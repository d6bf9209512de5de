/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of faces: from voronoi_build.c to voronoi_layout.c. */
#ifndef STORM_MESH_VORONOI_BUILD_H
#define STORM_MESH_VORONOI_BUILD_H

#include "mesh/voronoi/voronoi_mesh.h"

/* A face: a local cell, and a local cell of higher index, a ghost or a wall
 * behind it, see below. */
struct voronoi_link {
    int64_t other;
    int32_t cell;
};

struct voronoi_links {
    struct voronoi_link *array;
    struct voronoi_face *faces;
    size_t n, capacity, faces_capacity;
    struct voronoi_link *bare; /* without a face: it is too small */
    size_t n_bare, bare_capacity;
};

static inline int64_t voronoi_link_wall(int wall)
{
    return -1 - (int64_t)wall;
}

/* The place of an image in the order of all: below 2^53. */
static inline uint64_t voronoi_image_key(uint64_t order, int32_t image)
{
    return order * VORONOI_IMAGES + (uint64_t)(image + VORONOI_LAST_IMAGE);
}

static inline int64_t voronoi_link_ghost(uint64_t order, int32_t image)
{
    return -1 - (int64_t)STORM_N_WALLS -
           (int64_t)voronoi_image_key(order, image);
}

/* Reserves memory for the faces that so many cells usually have; it grows as
 * needed. */
storm_status voronoi_links_reserve(struct storm_memory *memory,
                                   struct voronoi_links *links, size_t n_cells);
storm_status voronoi_links_add(struct storm_memory *memory,
                               struct voronoi_links *links, int32_t cell,
                               int64_t other, const struct voronoi_face *face);
storm_status voronoi_links_add_bare(struct storm_memory *memory,
                                    struct voronoi_links *links, int32_t cell,
                                    int64_t other);
void voronoi_links_free(struct storm_memory *memory,
                        struct voronoi_links *links);

/* Fills in all of the part but its points and radii. Consumes the links. */
storm_status voronoi_lay_out(const struct storm_mesh *mesh,
                             struct voronoi_links *links,
                             struct voronoi_part *part);

#endif /* STORM_MESH_VORONOI_BUILD_H */
