/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops table of the Voronoi mesh. */
#include <math.h>
#include <string.h>

#include "mesh/voronoi/voronoi_mesh.h"

/* ---- the table ---------------------------------------------------------- */

static double voronoi_volume_cm3(const struct storm_mesh *mesh,
                                 storm_cell_idx cell)
{
    return voronoi_part_of(mesh)->volume[cell];
}

static void voronoi_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                           double centre_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    memcpy(centre_cm_out, part->centroid[cell], 3 * sizeof *centre_cm_out);
    voronoi_wrap(&part->domain, centre_cm_out);
}

static void voronoi_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                        double hi_cm_out[3])
{
    const struct voronoi_domain *domain = &voronoi_part_of(mesh)->domain;
    memcpy(lo_cm_out, domain->lo_cm, sizeof domain->lo_cm);
    memcpy(hi_cm_out, domain->hi_cm, sizeof domain->hi_cm);
}

static int voronoi_n_faces(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    uint32_t first = part->heads[cell].first_block;
    uint32_t end = part->heads[cell + 1].first_block;
    int n = (int)(end - first) * VORONOI_WIDTH;
    while (n > 0 &&
           part->refs[(size_t)first * VORONOI_WIDTH + (size_t)n - 1] < 0)
        n--;
    return n;
}

static void voronoi_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                         int face, struct storm_face *face_out)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const double *g = part->heads[cell].generator;
    size_t place =
        (size_t)part->heads[cell].first_block * VORONOI_WIDTH + (size_t)face;
    int32_t next =
        part->blocks[place / VORONOI_WIDTH].next[place % VORONOI_WIDTH];
    memset(face_out, 0, sizeof *face_out);
    face_out->area_cm2 = part->faces[part->refs[place]].area;
    face_out->wall = -1;
    face_out->rank = mesh->env->rank;
    face_out->neighbour = next;
    if (next < 0) {
        face_out->rank = part->borders[~next].rank;
        face_out->neighbour = part->borders[~next].idx;
        face_out->wall = part->borders[~next].wall;
    }
    if (face_out->rank < 0) {
        face_out->normal[face_out->wall / 2] = face_out->wall % 2 ? 1.0 : -1.0;
        return;
    }
    const double *h = voronoi_behind(part, next);
    double norm2 = 0.0;
    for (int d = 0; d < 3; d++) {
        face_out->normal[d] = h[d] - g[d];
        norm2 += face_out->normal[d] * face_out->normal[d];
    }
    for (int d = 0; d < 3; d++)
        face_out->normal[d] /= sqrt(norm2);
}

static void voronoi_destroy(struct storm_mesh *mesh)
{
    storm_free(mesh->env->memory, (struct voronoi_mesh *)mesh);
}

static const struct storm_mesh_changes voronoi_changes = {
    .seek = voronoi_seek,
    .seek_many = voronoi_seek_many,
    .jump = voronoi_jump,
    .move = voronoi_move,
    .adapt = voronoi_adapt,
};

const struct storm_mesh_ops storm_mesh_voronoi = {
    .name = "voronoi",
    .shape = &voronoi_shape,
    .destroy = voronoi_destroy,
    .build_part = voronoi_build_part,
    .free_part = voronoi_free_part,
    .box = voronoi_box,
    .volume_cm3 = voronoi_volume_cm3,
    .centre = voronoi_centre,
    .bounds = voronoi_bounds,
    .sample = voronoi_sample,
    .sample_face = voronoi_sample_face,
    .locate = voronoi_locate,
    .n_faces = voronoi_n_faces,
    .face = voronoi_face,
    .changes = &voronoi_changes,
};
