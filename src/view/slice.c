/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/slice.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const char slice_label[] = "slice";

static bool slice_add_corner(struct slice *s, const double corner[2])
{
    void *corners = s->corners;
    bool good = storm_reserve(s->memory, slice_label, sizeof *s->corners,
                              s->n_corners + 1, &corners,
                              &s->corners_capacity) == STORM_OK;
    s->corners = corners;
    if (good)
        memcpy(s->corners[s->n_corners++], corner, sizeof *s->corners);
    return good;
}

static bool slice_add_polygon(struct slice *s, uint64_t cell, size_t first)
{
    void *polygons = s->polygons;
    bool good = storm_reserve(s->memory, slice_label, sizeof *s->polygons,
                              s->n_polygons + 1, &polygons,
                              &s->polygons_capacity) == STORM_OK;
    s->polygons = polygons;
    if (good)
        s->polygons[s->n_polygons++] = (struct slice_polygon){
            .cell = cell, .first = first, .n = (int)(s->n_corners - first)};
    return good;
}

/* Where the plane meets an edge, from below to above. */
static void slice_meet(const struct slice *s, const double below[3],
                       const double above[3], double corner_out[2])
{
    double part = (s->at - below[s->axis]) / (above[s->axis] - below[s->axis]);
    for (int k = 0; k < 2; k++) {
        int d = slice_direction(s->axis, k);
        corner_out[k] = below[d] + part * (above[d] - below[d]);
    }
}

/* The corners of a convex polygon in order: by their angle about the middle. */
static void slice_order(double (*corner)[2], int n)
{
    double middle[2] = {0.0, 0.0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            middle[k] += corner[i][k] / n;
    for (int i = 1; i < n; i++) {
        double x[2] = {corner[i][0], corner[i][1]};
        double angle = atan2(x[1] - middle[1], x[0] - middle[0]);
        int k = i;
        for (; k > 0 && atan2(corner[k - 1][1] - middle[1],
                              corner[k - 1][0] - middle[0]) > angle;
             k--)
            memcpy(corner[k], corner[k - 1], sizeof x);
        memcpy(corner[k], x, sizeof x);
    }
}

/* An edge is in two faces, once in each direction: it counts in the one in
 * which it goes up. */
storm_status slice_cut(void *self, const struct io_cell *cell)
{
    struct slice *s = self;
    const size_t first = s->n_corners;
    const int64_t *face = cell->faces;
    for (size_t f = 0; f < cell->n_faces; f++, face += face[0] + 1)
        for (int64_t k = 1; k <= face[0]; k++) {
            const double *a = cell->corners[face[k]];
            const double *b = cell->corners[face[k < face[0] ? k + 1 : 1]];
            double corner[2];
            if (!(a[s->axis] < s->at && b[s->axis] >= s->at))
                continue;
            slice_meet(s, a, b, corner);
            if (!slice_add_corner(s, corner))
                return STORM_ERR_NOMEM;
        }
    int n = (int)(s->n_corners - first);
    if (n < 3) {
        s->n_corners = first;
        return STORM_OK;
    }
    slice_order(s->corners + first, n);
    return slice_add_polygon(s, cell->id, first) ? STORM_OK : STORM_ERR_NOMEM;
}

storm_status slice_add(struct slice *slice, uint64_t cell,
                       const double (*corners)[2], int n)
{
    const size_t first = slice->n_corners;
    bool good = true;
    for (int i = 0; i < n && good; i++)
        good = slice_add_corner(slice, corners[i]);
    good = good && slice_add_polygon(slice, cell, first);
    return good ? STORM_OK : STORM_ERR_NOMEM;
}

storm_status slice_make(struct io_reader *reader, int axis, double at,
                        struct slice *slice_out)
{
    *slice_out =
        (struct slice){.memory = reader->memory, .axis = axis, .at = at};
    return io_reader_cells(reader, slice_cut, slice_out);
}

void slice_free(struct slice *slice)
{
    storm_free(slice->memory, slice->polygons);
    storm_free(slice->memory, slice->corners);
    *slice = (struct slice){.axis = 0};
}

double slice_area(const struct slice *slice, size_t i_polygon)
{
    const struct slice_polygon *polygon = &slice->polygons[i_polygon];
    const double(*x)[2] = (const double(*)[2])slice->corners + polygon->first;
    double sum = 0.0;
    for (int i = 1; i + 1 < polygon->n; i++)
        sum += (x[i][0] - x[0][0]) * (x[i + 1][1] - x[0][1]) -
               (x[i][1] - x[0][1]) * (x[i + 1][0] - x[0][0]);
    return 0.5 * sum;
}
