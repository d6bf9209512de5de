/* SPDX-License-Identifier: BSD-3-Clause */
/* Uniform points in a cell, and the box around it, from its planes. */
#include <math.h>
#include <string.h>

#include "mesh/voronoi/voronoi_mesh.h"

/* Faces that were dropped do not matter: what lies beyond one is narrower than
 * the face, and that is far narrower than the doubt. */
bool voronoi_is_deep(const struct voronoi_part *part, storm_cell_idx cell,
                     const double y[3])
{
    const struct voronoi_head *head = &part->heads[cell];
    size_t n_blocks = head[1].first_block - head->first_block;
    return storm_planes_is_deep(&part->blocks[head->first_block], n_blocks,
                                head->radius, y);
}

/* Puts the point into the box. Moves it towards the generator, as little as
 * needed for locate to find this cell. */
static void sample_settle(const struct storm_mesh *mesh, storm_cell_idx cell,
                          const double y[3], double point_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_domain *domain = &part->domain;
    const struct voronoi_head *head = &part->heads[cell];
    const double *g = head->generator;
    int32_t self = part->points.at[cell];
    for (double shrink = 0.0;; shrink = shrink > 0.0 ? 8.0 * shrink : 0x1p-50) {
        double factor = shrink < 1.0 ? 1.0 - shrink : 0.0;
        double x[3], shift[3];
        for (int d = 0; d < 3; d++)
            x[d] = g[d] + factor * y[d];
        voronoi_wrap(domain, x);
        for (int d = 0; d < 3; d++) {
            x[d] = x[d] > domain->lo_cm[d] ? x[d] : domain->lo_cm[d];
            x[d] = x[d] < domain->hi_cm[d] ? x[d] : domain->hi_cm[d];
            shift[d] = 0.0;
            if (domain->space.period[d] > 0.0)
                shift[d] = domain->space.period[d] *
                           rint((x[d] - (g[d] + factor * y[d])) /
                                domain->space.period[d]);
        }
        if (factor == 0.0 ||
            (shrink == 0.0 && voronoi_is_deep(part, cell, y)) ||
            voronoi_points_nearest(&part->points, x, shift, self) == self) {
            memcpy(point_out, x, sizeof x);
            return;
        }
    }
}

/* Number of faces of a cell. */
static size_t sample_n_faces(const struct voronoi_part *part,
                             storm_cell_idx cell)
{
    size_t first = (size_t)part->heads[cell].first_block * VORONOI_WIDTH;
    size_t n =
        (size_t)part->heads[cell + 1].first_block * VORONOI_WIDTH - first;
    while (n > 0 && part->refs[first + n - 1] < 0)
        n--;
    return n;
}

/* The planes of its faces. */
static void sample_planes(const struct voronoi_part *part, storm_cell_idx cell,
                          size_t n, struct storm_plane *planes_out)
{
    size_t first = (size_t)part->heads[cell].first_block * VORONOI_WIDTH;
    for (size_t i = 0; i < n; i++) {
        size_t place = first + i;
        int32_t next =
            part->blocks[place / VORONOI_WIDTH].next[place % VORONOI_WIDTH];
        planes_out[i].distance =
            voronoi_plane_of(part, (size_t)cell, next, planes_out[i].normal);
        planes_out[i].area = part->faces[part->refs[place]].area;
    }
}

void voronoi_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                    const double u[3], double point_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    size_t n = sample_n_faces(part, cell);
    struct storm_plane array[n + 1];
    struct storm_planes planes = {array, n, part->heads[cell].radius};
    double y[3];
    sample_planes(part, cell, n, array);
    storm_planes_sample(&planes, part->volume[cell], u, y);
    sample_settle(mesh, cell, y, point_cm_out);
}

void voronoi_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                         int face, const double u[2], double point_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_head *head = &part->heads[cell];
    size_t n = sample_n_faces(part, cell);
    struct storm_plane array[n + 1];
    struct storm_planes planes = {array, n, head->radius};
    size_t place = (size_t)head->first_block * VORONOI_WIDTH + (size_t)face;
    int32_t next =
        part->blocks[place / VORONOI_WIDTH].next[place % VORONOI_WIDTH];
    double y[3];
    sample_planes(part, cell, n, array);
    storm_planes_sample_face(&planes, (size_t)face, u, y);
    for (int d = 0; d < 3; d++)
        point_cm_out[d] = head->generator[d] + y[d];
    if (next < 0 && part->borders[~next].rank < 0) {
        const struct voronoi_border *wall = &part->borders[~next];
        point_cm_out[wall->wall / 2] = wall->generator[wall->wall / 2];
    }
}

void voronoi_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                    double lo_cm_out[3], double hi_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_head *head = &part->heads[cell];
    size_t n = sample_n_faces(part, cell);
    struct storm_plane array[n + 1];
    struct storm_planes planes = {array, n, head->radius};
    double lo[3], hi[3]; /* relative to the generator */
    sample_planes(part, cell, n, array);
    storm_planes_bounds(&planes, lo, hi);
    for (int k = 0; k < 3; k++) {
        double margin = 0x1p-40 * (head->radius + fabs(head->generator[k]));
        lo_cm_out[k] = head->generator[k] + lo[k] - margin;
        hi_cm_out[k] = head->generator[k] + hi[k] + margin;
        if (part->domain.space.period[k] > 0.0)
            continue;
        lo_cm_out[k] = fmax(lo_cm_out[k], part->domain.lo_cm[k]);
        hi_cm_out[k] = fmin(hi_cm_out[k], part->domain.hi_cm[k]);
    }
}
