/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meshes of a host, for storm_mesh_create_given and storm_mesh_replace: every
 * rank holds all of it and gives a share, which is a function of the tags and a
 * salt.
 */
#ifndef STORM_TESTS_HOST_H
#define STORM_TESTS_HOST_H

#include <storm/given.h>

struct host {
    size_t n_cells, n_faces, n_boundaries;
    storm_cell_id *tags;
    double *points, *volumes, *centroids, *radii; /* radii: NULL, none */
    uint64_t *first_face;
    double *normals, *on_planes, *areas;
    int *behind; /* a cell of the host; ~number of a boundary */
};

/* A box, with sides along the axes. */
struct host_box {
    double lo[3], hi[3];
};

/* All cells of a Voronoi mesh of one rank. */
struct host host_of_voronoi(const struct storm_mesh *mesh);
/* 6 n^3 tetrahedra of a box; boundaries are its walls. */
struct host host_of_tetrahedra(int n, const double lo[3], const double hi[3]);
/* Boxes that do not overlap; `wall` numbers what is exposed of a side (x low,
 * x high, ...) of box i. */
struct host host_of_boxes(const struct host_box *boxes, int n,
                          int (*wall)(int i, int side), int n_boundaries);

/* A box of 3 x 3 x 3 boxes, of which every second one is cut in 2 x 2 x 2;
 * boundaries are its walls. */
struct host host_of_bricks(const double lo[3], const double hi[3]);

/* What this rank gives, and the mesh. Any of the host's numbers may have been
 * changed before. */
storm_status host_give(const struct host *host, struct storm_context *context,
                       uint64_t salt, struct storm_mesh **mesh_out);
/* The same for a mesh that there is (storm_mesh_replace). */
storm_status host_replace(const struct host *host,
                          struct storm_context *context, uint64_t salt,
                          struct storm_mesh *mesh,
                          struct storm_change **change_out);

void host_free(struct host *host);

#endif /* STORM_TESTS_HOST_H */
