/* SPDX-License-Identifier: BSD-3-Clause */
/* The planes of a cell: extent, bounds, samples. */
#include <math.h>
#include <string.h>

#include "mesh/given/given_mesh.h"

void given_unit_plane(const struct given_plane *plane,
                      struct storm_plane *plane_out)
{
    const double *n = plane->n, *m = plane->m;
    double norm = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double inverse = 1.0 / norm;
    bool halves = true; /* GIVEN-4: with no rounding but that of the norm */
    for (int d = 0; d < 3; d++) {
        plane_out->normal[d] = n[d] * inverse;
        halves = halves && m[d] == 0.5 * n[d];
    }
    plane_out->distance =
        halves ? 0.5 * norm
               : (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]) * inverse;
}

struct storm_planes given_planes(const struct given_part *part, size_t cell,
                                 struct storm_plane *array)
{
    const struct given_head *head = &part->heads[cell];
    const struct given_plane *planes =
        &part->planes[(size_t)head->first_block * STORM_PLANES_WIDTH];
    size_t n = 0;
    for (uint64_t f = part->first_face[cell]; f < part->first_face[cell + 1];
         f++) {
        const struct given_face *face = &part->faces[f];
        if (face->plane == n) { /* GIVEN-2: the first face of a plane */
            given_unit_plane(&planes[n], &array[n]);
            array[n++].area = 0.0;
        }
        array[face->plane].area += face->area;
    }
    return (struct storm_planes){array, n, head->radius};
}

/* ---- extent ------------------------------------------------------------- */

static double cell_farthest(const struct storm_planes *planes)
{
    double corners[planes->n + 8][3], max2 = 0.0;
    for (size_t i = 0; i < planes->n; i++) {
        int n = storm_planes_corners(planes, i, corners);
        for (int c = 0; c < n; c++) {
            const double *y = corners[c];
            max2 = fmax(max2, y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
        }
    }
    return sqrt(max2);
}

double given_radius(struct storm_planes *planes)
{
    double area = 0.0;
    for (size_t i = 0; i < planes->n; i++)
        area += planes->array[i].area;
    /* The squares that faces are cut from reach beyond the cell once no corner
     * is as far as they are. */
    planes->far = 4.0 * sqrt(area);
    for (int k = 0; k < 12; k++) {
        double farthest = cell_farthest(planes);
        if (farthest < planes->far)
            return farthest;
        planes->far *= 16.0;
    }
    return 0.0;
}

/* ---- bounds ------------------------------------------------------------- */

void given_extent(const struct given_part *part, size_t cell, double margin,
                  struct given_box *box_out)
{
    const struct given_head *head = &part->heads[cell];
    size_t n_faces =
        (size_t)(part->first_face[cell + 1] - part->first_face[cell]);
    struct storm_plane array[n_faces + 1];
    struct storm_planes planes = given_planes(part, cell, array);
    double lo[3], hi[3];
    storm_planes_bounds(&planes, lo, hi);
    for (int d = 0; d < 3; d++) {
        double more = margin * (head->radius + fabs(head->point[d]));
        box_out->lo[d] = head->point[d] + lo[d] - more;
        box_out->hi[d] = head->point[d] + hi[d] + more;
    }
    /* Not beyond a boundary that is perpendicular to an axis. */
    const struct storm_planes_block *blocks = &part->blocks[head->first_block];
    for (size_t i = 0; i < planes.n; i++) {
        int32_t next =
            blocks[i / STORM_PLANES_WIDTH].next[i % STORM_PLANES_WIDTH];
        const struct given_border *border =
            next < 0 ? &part->borders[~next] : NULL;
        if (border == NULL || border->axis < 0)
            continue;
        int d = border->axis;
        if (array[i].normal[d] > 0.0)
            box_out->hi[d] = fmin(box_out->hi[d], border->at);
        else
            box_out->lo[d] = fmax(box_out->lo[d], border->at);
    }
}

void given_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                  double lo_cm_out[3], double hi_cm_out[3])
{
    const struct given_part *part = given_part_of(mesh);
    const struct given_box *all = &part->box;
    struct given_box box;
    given_extent(part, (size_t)cell, 0x1p-40, &box);
    for (int d = 0; d < 3; d++) {
        lo_cm_out[d] = fmax(box.lo[d], all->lo[d]);
        hi_cm_out[d] = fmin(box.hi[d], all->hi[d]);
    }
}

/* ---- samples ------------------------------------------------------------ */

/* Moves the point towards the centroid, as little as needed for locate to find
 * this cell. */
static void cell_settle(const struct given_part *part, storm_cell_idx cell,
                        const double y[3], double point_out[3])
{
    const struct given_head *head = &part->heads[cell];
    const struct storm_planes_block *blocks = &part->blocks[head->first_block];
    size_t n_blocks = head[1].first_block - head->first_block;
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = head->point[d] + y[d];
    memcpy(point_out, x, sizeof x);
    if (storm_planes_is_deep(blocks, n_blocks, head->radius, y))
        return;
    const double *centroid = part->centroid[cell];
    double depth = 2.0 * part->located[cell].slack;
    for (double shrink = 0x1p-46;
         given_worst(part, (size_t)cell, point_out) >= -depth && shrink < 1.0;
         shrink *= 8.0)
        for (int d = 0; d < 3; d++)
            point_out[d] = x[d] + shrink * (centroid[d] - x[d]);
}

void given_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                  const double u[3], double point_cm_out[3])
{
    const struct given_part *part = given_part_of(mesh);
    size_t n_faces =
        (size_t)(part->first_face[cell + 1] - part->first_face[cell]);
    struct storm_plane array[n_faces + 1];
    struct storm_planes planes = given_planes(part, (size_t)cell, array);
    double y[3];
    storm_planes_sample(&planes, part->volume[cell], u, y);
    cell_settle(part, cell, y, point_cm_out);
}

void given_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                       int face, const double u[2], double point_cm_out[3])
{
    const struct given_part *part = given_part_of(mesh);
    const struct given_head *head = &part->heads[cell];
    size_t n_faces =
        (size_t)(part->first_face[cell + 1] - part->first_face[cell]);
    struct storm_plane array[n_faces + 1];
    struct storm_planes planes = given_planes(part, (size_t)cell, array);
    const struct given_face *f =
        &part->faces[part->first_face[cell] + (uint64_t)face];
    double y[3];
    storm_planes_sample_face(&planes, f->plane, u, y);
    for (int d = 0; d < 3; d++)
        point_cm_out[d] = head->point[d] + y[d];
    int32_t next =
        part->blocks[head->first_block + f->plane / STORM_PLANES_WIDTH]
            .next[f->plane % STORM_PLANES_WIDTH];
    const struct given_border *border = next < 0 ? &part->borders[~next] : NULL;
    if (border != NULL && border->axis >= 0)
        point_cm_out[border->axis] = border->at;
}
