/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops table of the Voronoi mesh, and create. */
#include <math.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/port.h"
#include "base/sized.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char voronoi_label[] = "mesh generators";

/* ---- the table ---------------------------------------------------------- */

static double voronoi_volume_cm3(const struct storm_mesh *mesh,
                                 storm_cell_idx cell)
{
    return voronoi_part_of(mesh)->volume[cell];
}

static void voronoi_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                           double centre_cm_out[3])
{
    memcpy(centre_cm_out, voronoi_part_of(mesh)->centroid[cell],
           3 * sizeof *centre_cm_out);
}

static void voronoi_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                        double hi_cm_out[3])
{
    memcpy(lo_cm_out, voronoi_of(mesh)->lo_cm, 3 * sizeof *lo_cm_out);
    memcpy(hi_cm_out, voronoi_of(mesh)->hi_cm, 3 * sizeof *hi_cm_out);
}

static storm_status voronoi_locate(const struct storm_mesh *mesh,
                                   const double point_cm[3],
                                   struct storm_cell_ref *where_out)
{
    const struct voronoi_mesh *voronoi = voronoi_of(mesh);
    const struct voronoi_part *part = voronoi_part_of(mesh);
    for (int d = 0; d < 3; d++)
        if (!(point_cm[d] >= voronoi->lo_cm[d] &&
              point_cm[d] <= voronoi->hi_cm[d]))
            return STORM_ERR_ARG;
    if (part->base.n_cells == 0)
        return STORM_AGAIN;
    int32_t found =
        voronoi_points_nearest(&part->points, point_cm, part->points.own_lo);
    /* All neighbours of own cells are known, so an own generator that is the
     * nearest known one is the nearest of all; a ghost need not be. */
    if (found < part->points.own_lo ||
        found >= part->points.own_lo + part->points.n_own)
        return STORM_AGAIN;
    where_out->rank = mesh->env->rank;
    where_out->idx = found - part->points.own_lo;
    return STORM_OK;
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
    struct voronoi_mesh *voronoi = (struct voronoi_mesh *)mesh;
    struct storm_memory *memory = mesh->env->memory;
    storm_free(memory, voronoi->generators.array);
    storm_free(memory, voronoi->generators_partition);
    storm_free(memory, voronoi);
}

/* ---- relaxation --------------------------------------------------------- */

storm_status voronoi_relax(struct voronoi_mesh *mesh)
{
    struct storm_memory *memory = mesh->base.env->memory;
    struct voronoi_part *part = NULL;
    storm_status status = voronoi_build(&mesh->base, mesh->generators_partition,
                                        &mesh->generators, &part);
    if (status < 0)
        return status;
    size_t n = mesh->generators.n;
    struct voronoi_record *records =
        storm_alloc(memory, voronoi_label, (n + 1) * sizeof *records);
    status = storm_context_agree(mesh->base.context,
                                 records != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, records);
    } else {
        for (size_t i = 0; i < n; i++) {
            struct voronoi_generator *generator = &records[i].generator;
            records[i].number = mesh->generators.first + i;
            generator->radius = part->radius[i];
            for (int d = 0; d < 3; d++) { /* rounding may put it outside */
                double x = part->centroid[i][d];
                x = x > mesh->lo_cm[d] ? x : mesh->lo_cm[d];
                generator->x[d] = x < mesh->hi_cm[d] ? x : mesh->hi_cm[d];
            }
        }
        status = voronoi_sort(mesh, records, n);
    }
    voronoi_free_part(&mesh->base, &part->base);
    return status;
}

/* ---- create ------------------------------------------------------------- */

/* The box must be wide enough for the grid, and squares and cubes of lengths
 * must stay in the range of doubles. */
static storm_status voronoi_check_space(const struct storm_env *env,
                                        const struct voronoi_space *space)
{
    const double min_cells = 0x1p20;
    for (int d = 0; d < 3; d++) {
        double width = space->hi[d] - space->lo[d];
        if (width >= min_cells * space->grid && width < 0x1p200 &&
            space->grid > 0x1p-200)
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "box is too thin for its distance from the origin, "
                        "too small or too large in direction %d: %g to %g",
                        d, space->lo[d], space->hi[d]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

static storm_status voronoi_fill(struct voronoi_mesh *mesh,
                                 const struct storm_voronoi_params *params)
{
    const struct storm_env *env = mesh->base.env;
    mesh->build_cell = voronoi_build_choice();
    memcpy(mesh->lo_cm, params->lo_cm, sizeof mesh->lo_cm);
    memcpy(mesh->hi_cm, params->hi_cm, sizeof mesh->hi_cm);
    mesh->space = voronoi_space_make(params->lo_cm, params->hi_cm);
    storm_status status = voronoi_check_space(env, &mesh->space);
    if (status < 0)
        return status;
    mesh->generators_partition =
        storm_alloc(env->memory, voronoi_label,
                    ((size_t)env->size + 1) * sizeof(uint64_t));
    return mesh->generators_partition != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

/* Counts the points of all ranks and numbers them. */
static storm_status voronoi_count(struct voronoi_mesh *mesh, uint64_t n,
                                  uint64_t *first_number_out)
{
    mesh->base.n_total = n;
    *first_number_out = n;
    storm_status status =
        storm_context_exscan(mesh->base.context, first_number_out, 1);
    if (status >= 0)
        status = storm_context_reduce(mesh->base.context, &mesh->base.n_total,
                                      1, MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    if (mesh->base.n_total > 0 && mesh->base.n_total < UINT64_C(1) << 48)
        return STORM_OK;
    if (mesh->base.env->rank == 0)
        storm_log_write(&mesh->base.env->log, STORM_LOG_ERROR,
                        "a Voronoi mesh cannot have %llu points, only 1 to "
                        "2^48 - 1",
                        (unsigned long long)mesh->base.n_total);
    return STORM_ERR_ARG;
}

/* From the caller's points to sorted generators. */
static storm_status voronoi_take(struct voronoi_mesh *mesh,
                                 const struct storm_voronoi_params *params)
{
    struct storm_memory *memory = mesh->base.env->memory;
    size_t n = (size_t)params->n_points;
    uint64_t first_number;
    storm_status status = voronoi_count(mesh, params->n_points, &first_number);
    if (status < 0)
        return status;
    struct voronoi_record *records = NULL;
    if (n < SIZE_MAX / sizeof *records - 1)
        records = storm_alloc(memory, voronoi_label, (n + 1) * sizeof *records);
    status = storm_context_agree(mesh->base.context,
                                 records != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, records);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(records[i].generator.x, params->points_cm + 3 * i,
               sizeof records[i].generator.x);
        records[i].number = first_number + i;
    }
    return voronoi_sort(mesh, records, n);
}

storm_status
storm_mesh_create_voronoi(struct storm_context *context,
                          const struct storm_voronoi_params *params,
                          struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct voronoi_mesh *mesh = NULL;
    struct storm_voronoi_params own;
    storm_status status = storm_sized_read(env, "storm_mesh_create_voronoi",
                                           params, &own, sizeof own);
    params = &own;
    if (status == STORM_OK)
        status = storm_mesh_check_box(env, params->lo_cm, params->hi_cm);
    if (status == STORM_OK) {
        mesh = storm_alloc(env->memory, voronoi_label, sizeof *mesh);
        status = mesh != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status == STORM_OK) {
        mesh->base.ops = &storm_mesh_voronoi;
        mesh->base.context = context;
        mesh->base.env = env;
        status = voronoi_fill(mesh, params);
    }
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = voronoi_take(mesh, params);
    for (uint32_t i = 0; status >= 0 && i < params->lloyd; i++)
        status = voronoi_relax(mesh);
    status =
        storm_mesh_finish(mesh != NULL ? &mesh->base : NULL, context, status);
    if (status < 0)
        return status;
    storm_free(env->memory, mesh->generators.array);
    mesh->generators = (struct voronoi_generators){.n = 0};
    storm_free(env->memory, mesh->generators_partition);
    mesh->generators_partition = NULL;
    *mesh_out = &mesh->base;
    return STORM_OK;
}

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
    .sample_face = storm_no_sample_face,
    .locate = voronoi_locate,
    .n_faces = voronoi_n_faces,
    .face = voronoi_face,
};
