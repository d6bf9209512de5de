/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plane through a mesh: the polygons in which it cuts the cells.
 *
 *   SLICE-1  A cell is cut by the plane x = at if some of its corners have x <
 *            at and others x >= at. So polygons do not overlap and fill the
 *            cross section, also where the plane contains faces.
 *   SLICE-2  Polygons are convex, their corners anticlockwise, in the two other
 *            coordinates in the order x, y, z.
 */
#ifndef STORM_VIEW_SLICE_H
#define STORM_VIEW_SLICE_H

#include "io/io_reader.h"

struct slice_polygon {
    uint64_t cell;
    size_t first; /* of its corners */
    int n;
};

struct slice {
    struct storm_memory *memory; /* the maker's book */
    int axis;
    double at;
    struct slice_polygon *polygons; /* in order of cells */
    double (*corners)[2];
    size_t n_polygons, n_corners;
    size_t polygons_capacity, corners_capacity;
};

/* From the cells of the reader, in its book; it holds the problem after an
 * error. Free with slice_free in any case. */
storm_status slice_make(struct io_reader *reader, int axis, double at,
                        struct slice *slice_out);
void slice_free(struct slice *slice);

/* Build a slice that has book, axis and place: add the polygon of a cell if the
 * plane cuts it (`self` is the slice); add a given polygon. STORM_ERR_NOMEM. */
storm_status slice_cut(void *self, const struct io_cell *cell);
storm_status slice_add(struct slice *slice, uint64_t cell,
                       const double (*corners)[2], int n);

/* The coordinates of the plane: 0 and 1 of it are these of space. */
static inline int slice_direction(int axis, int k)
{
    return k + (k >= axis);
}

double slice_area(const struct slice *slice, size_t i_polygon);

#endif /* STORM_VIEW_SLICE_H */
