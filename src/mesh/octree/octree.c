/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops table of the octree mesh, and create. */
#include <math.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/port.h"
#include "base/sized.h"
#include "mesh/mesh_axis_sample.h"
#include "mesh/mesh_partition.h"
#include "mesh/octree/octree_words.h"

static const char octree_label[] = "mesh tree";

/* ---- the table ---------------------------------------------------------- */

/* The two planes of a cell in direction d. */
static const double *octree_planes(const struct storm_mesh *mesh,
                                   storm_cell_idx cell, int d)
{
    return octree_part_of(mesh)->cells[cell].plane + 2 * d;
}

static double octree_width(const struct storm_mesh *mesh, storm_cell_idx cell,
                           int d)
{
    const double *plane = octree_planes(mesh, cell, d);
    return plane[1] - plane[0];
}

static double octree_volume_cm3(const struct storm_mesh *mesh,
                                storm_cell_idx cell)
{
    return octree_width(mesh, cell, 0) * octree_width(mesh, cell, 1) *
           octree_width(mesh, cell, 2);
}

static void octree_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                          double centre_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *plane = octree_planes(mesh, cell, d);
        centre_cm_out[d] = plane[0] + 0.5 * (plane[1] - plane[0]);
    }
}

static void octree_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                          double lo_cm_out[3], double hi_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *plane = octree_planes(mesh, cell, d);
        lo_cm_out[d] = plane[0];
        hi_cm_out[d] = plane[1];
    }
}

static void octree_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                          const double u[3], double point_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *plane = octree_planes(mesh, cell, d);
        point_cm_out[d] = axis_sample(plane[0], plane[1], u[d]);
    }
}

/* Largest i of the deepest level whose plane is not above x, which is in the
 * box. */
static int32_t octree_index(const struct octree_mesh *mesh, int d, double x)
{
    int32_t low = 0, high = octree_count(mesh, mesh->depth, d);
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (octree_plane(mesh, mesh->depth, d, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void octree_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                       double hi_cm_out[3])
{
    memcpy(lo_cm_out, octree_of(mesh)->lo_cm, 3 * sizeof *lo_cm_out);
    memcpy(hi_cm_out, octree_of(mesh)->hi_cm, 3 * sizeof *hi_cm_out);
}

/* The owner of a point, and the index there: -1 on another rank. */
static storm_status octree_where(const struct storm_mesh *mesh,
                                 const double point_cm[3],
                                 struct storm_cell_ref *where_out)
{
    const struct octree_mesh *octree = octree_of(mesh);
    const struct octree_part *part = octree_part_of(mesh);
    int32_t ijk[3];
    for (int d = 0; d < 3; d++) {
        double x = point_cm[d];
        if (!(x >= octree->lo_cm[d] && x <= octree->hi_cm[d]))
            return STORM_ERR_ARG;
        ijk[d] = octree_index(octree, d, x);
    }
    uint64_t place = storm_hilbert_tree_position(octree->n, octree->depth, ijk);
    where_out->rank =
        storm_partition_owner(part->starts, mesh->env->size, place);
    where_out->idx = where_out->rank == mesh->env->rank
                         ? (storm_cell_idx)octree_find(part, 2 * place)
                         : -1;
    return STORM_OK;
}

static storm_status octree_locate(const struct storm_mesh *mesh,
                                  const double point_cm[3],
                                  struct storm_cell_ref *where_out)
{
    struct storm_cell_ref where;
    storm_status status = octree_where(mesh, point_cm, &where);
    if (status < 0)
        return status;
    if (where.idx < 0)
        return STORM_AGAIN;
    *where_out = where;
    return STORM_OK;
}

static storm_status octree_seek(const struct storm_mesh *mesh,
                                storm_cell_idx cell, double x_cm[3],
                                struct storm_cell_ref *next_out)
{
    const struct octree_mesh *octree = octree_of(mesh);
    for (int d = 0; d < 3; d++)
        if (octree->periodic[d])
            x_cm[d] =
                storm_mesh_wrap(x_cm[d], octree->lo_cm[d], octree->hi_cm[d]);
    storm_status status = octree_where(mesh, x_cm, next_out);
    if (status < 0)
        return status;
    return next_out->idx >= 0 && (cell < 0 || next_out->idx == cell)
               ? STORM_OK
               : STORM_AGAIN;
}

static int octree_jump(const struct storm_mesh *mesh, const double x_cm[3])
{
    struct storm_cell_ref where;
    return octree_where(mesh, x_cm, &where) == STORM_OK ? where.rank
                                                        : mesh->env->rank;
}

/* ---- faces -------------------------------------------------------------- */

/* Faces of a cell are those of its sides, in order: one each, or four. */

static int octree_n_faces(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    const struct octree_cell *c = &octree_part_of(mesh)->cells[cell];
    int n = 0;
    for (int side = 0; side < OCTREE_SIDES; side++)
        n += octree_side_faces(c, side);
    return n;
}

/* The area of quarter q of a side with a fan: that of the smaller cell, of
 * whose planes it has the bits. */
static double octree_quarter_cm2(const struct octree_cell *cell,
                                 const struct octree_fan *fan, int side, int q)
{
    double width[2];
    for (int k = 0; k < 2; k++) {
        const double *plane = cell->plane + 2 * ((side / 2 + 1 + k) % 3);
        width[k] =
            q >> k & 1 ? plane[1] - fan->middle[k] : fan->middle[k] - plane[0];
    }
    return width[0] * width[1];
}

static void octree_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                        int face, struct storm_face *face_out)
{
    const struct octree_part *part = octree_part_of(mesh);
    const struct octree_cell *c = &part->cells[cell];
    int side = 0;
    while (face >= octree_side_faces(c, side))
        face -= octree_side_faces(c, side++);
    int axis = side / 2;
    int32_t next = c->next[side];
    memset(face_out, 0, sizeof *face_out);
    face_out->normal[axis] = side % 2 ? 1.0 : -1.0;
    if (next < OCTREE_FAN_END) {
        const struct octree_fan *fan = &part->fans[next - OCTREE_FAN];
        next = fan->next[face];
        face_out->area_cm2 = octree_quarter_cm2(c, fan, side, face);
    } else {
        face_out->area_cm2 = octree_width(mesh, cell, (axis + 1) % 3) *
                             octree_width(mesh, cell, (axis + 2) % 3);
    }
    storm_borders_face(mesh, &part->borders, next, face_out);
}

static void octree_destroy(struct storm_mesh *mesh)
{
    struct octree_mesh *octree = (struct octree_mesh *)mesh;
    struct storm_memory *memory = mesh->env->memory;
    octree_leaves_free(mesh->env, &octree->leaves);
    storm_free(memory, octree);
}

/* ---- create ------------------------------------------------------------- */

static storm_status octree_check(const struct storm_env *env,
                                 const struct storm_octree_params *params)
{
    storm_status status =
        storm_mesh_check_box(env, params->lo_cm, params->hi_cm);
    if (status < 0)
        return status;
    for (int d = 0; d < 3; d++) {
        if (params->n[d] >= 0 && params->n[d] <= STORM_HILBERT_MAX)
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "direction %d cannot have %lld root cells, only 1 to "
                        "%d",
                        d, (long long)params->n[d], STORM_HILBERT_MAX);
        return STORM_ERR_ARG;
    }
    if (params->level >= 0 && params->refine_levels >= 0)
        return STORM_OK;
    storm_log_write(&env->log, STORM_LOG_ERROR,
                    "levels must not be negative: level %d, refine_levels %d",
                    params->level, params->refine_levels);
    return STORM_ERR_ARG;
}

/* Is there a curve of this level, with planes that differ by some roundings?
 * Numbers are doubles: these cannot overflow. */
static bool octree_fits(const struct octree_mesh *mesh, int level)
{
    double cells = 1.0;
    for (int d = 0; d < 3; d++) {
        double lo = mesh->lo_cm[d], hi = mesh->hi_cm[d];
        double n = ldexp((double)mesh->n[d], level);
        if (n > STORM_HILBERT_MAX ||
            (hi - lo) / n < 0x1p-50 * fmax(fabs(lo), fabs(hi)))
            return false;
        cells *= n;
    }
    return cells < 0x1p63;
}

static storm_status octree_fill(struct octree_mesh *mesh,
                                const struct storm_octree_params *params)
{
    const struct storm_env *env = mesh->base.env;
    double cells = 1.0;
    memcpy(mesh->lo_cm, params->lo_cm, sizeof mesh->lo_cm);
    memcpy(mesh->hi_cm, params->hi_cm, sizeof mesh->hi_cm);
    for (int d = 0; d < 3; d++) {
        mesh->n[d] = params->n[d] > 0 ? (int32_t)params->n[d] : 1;
        mesh->periodic[d] = params->periodic[d];
        cells *= (double)mesh->n[d];
    }
    mesh->depth = STORM_OCTREE_MAX_LEVEL;
    while (mesh->depth >= 0 && !octree_fits(mesh, mesh->depth))
        mesh->depth--;
    int64_t level = (int64_t)params->level + params->refine_levels;
    if (level > mesh->depth) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "level %lld is too fine, max %d with %d x %d x %d root "
                        "cells in this box",
                        (long long)level, mesh->depth, mesh->n[0], mesh->n[1],
                        mesh->n[2]);
        return STORM_ERR_ARG;
    }
    if (ldexp(cells, 3 * params->level) >= 0x1p48) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "a mesh cannot have %g cells; 2^48 are too many",
                        ldexp(cells, 3 * params->level));
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* All leaves, from those that are given or from the callback. Collective. */
static storm_status octree_make(struct octree_mesh *mesh,
                                const struct storm_octree_params *params)
{
    int are_given = params->n_leaves > 0;
    storm_status status = storm_context_reduce(mesh->base.context, &are_given,
                                               1, MPI_INT, MPI_MAX);
    if (status >= 0)
        status = are_given ? octree_restore(mesh, params, &mesh->leaves)
                           : octree_grow(mesh, params, &mesh->leaves);
    mesh->base.n_total = mesh->leaves.n_total;
    return status;
}

storm_status storm_mesh_create_octree(struct storm_context *context,
                                      const struct storm_octree_params *params,
                                      struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct octree_mesh *mesh = NULL;
    struct storm_octree_params own;
    storm_status status = storm_sized_read(env, "storm_mesh_create_octree",
                                           params, &own, sizeof own);
    params = &own;
    if (status == STORM_OK)
        status = octree_check(env, params);
    if (status == STORM_OK) {
        mesh = storm_alloc(env->memory, octree_label, sizeof *mesh);
        status = mesh != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status == STORM_OK) {
        mesh->base.ops = &storm_mesh_octree;
        mesh->base.context = context;
        mesh->base.env = env;
        status = octree_fill(mesh, params);
    }
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = octree_make(mesh, params);
    storm_cell_id next_tag = status >= 0 ? mesh->base.next_tag : 0;
    status =
        storm_mesh_finish(mesh != NULL ? &mesh->base : NULL, context, status);
    if (status < 0)
        return status;
    if (mesh->leaves.tags != NULL)
        mesh->base.next_tag = next_tag;
    octree_leaves_free(env, &mesh->leaves);
    *mesh_out = &mesh->base;
    return STORM_OK;
}

static const struct storm_mesh_changes octree_changes = {
    .seek = octree_seek,
    .seek_many = storm_seek_each,
    .jump = octree_jump,
    .move = storm_no_move,
    .adapt = octree_adapt,
};

const struct storm_mesh_ops storm_mesh_octree = {
    .name = "octree",
    .shape = &storm_mesh_boxes,
    .destroy = octree_destroy,
    .build_part = octree_build_part,
    .free_part = octree_free_part,
    .box = octree_box,
    .volume_cm3 = octree_volume_cm3,
    .centre = octree_centre,
    .bounds = octree_bounds,
    .sample = octree_sample,
    .sample_face = storm_box_sample_face,
    .locate = octree_locate,
    .n_faces = octree_n_faces,
    .face = octree_face,
    .changes = &octree_changes,
};
