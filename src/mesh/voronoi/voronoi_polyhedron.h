/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The corners and faces of a cell, for pictures and files: built again from
 * the generators, one cell at a time, for a mesh does not keep them.
 *
 *   Y1  Same bits and same order on whichever rank, at every cut: faces in
 *       order of the neighbours' ids, walls last; corners in the order in which
 *       the faces name them.
 *   Y2  The surface is closed: every edge is in two faces, once in each
 *       direction. Corners go anticlockwise as seen from outside.
 *   Y3  Corners closer than rounding can tell apart are one. Faces that have
 *       fewer than three corners then are left out.
 *   Y4  Corners on a wall are on it exactly.
 */
#ifndef STORM_MESH_VORONOI_POLYHEDRON_H
#define STORM_MESH_VORONOI_POLYHEDRON_H

#include "mesh/voronoi/voronoi_mesh.h"

struct voronoi_polyhedron {
    double (*corners)[3]; /* cm */
    size_t n_corners;
    int32_t *faces; /* each: how many corners, then their numbers */
    size_t n_faces, n_words;

    /* inside */
    const struct storm_mesh *mesh;
    struct voronoi_cell cell;
    int32_t *number; /* by vertex: its corner; -1: none yet */
    int32_t *planes; /* with a face, in order */
    size_t corners_capacity, words_capacity, number_capacity, planes_capacity;
};

/* Local. Close it also after an error. */
storm_status voronoi_polyhedron_open(const struct storm_mesh *mesh,
                                     struct voronoi_polyhedron *polyhedron_out);
void voronoi_polyhedron_close(struct voronoi_polyhedron *polyhedron);

/* Fills in the first part for a local cell; after an error it is as it was.
 * Local. */
storm_status voronoi_polyhedron_build(struct voronoi_polyhedron *polyhedron,
                                      storm_cell_idx cell);

#endif /* STORM_MESH_VORONOI_POLYHEDRON_H */
