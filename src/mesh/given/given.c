/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops table of meshes that a host gives, create and replace. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/given/given_mesh.h"
#include "mesh/mesh_change.h"
#include "mesh/mesh_tags.h"

static const char given_label[] = "mesh cells";

/* ---- the table ---------------------------------------------------------- */

static void given_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                      double hi_cm_out[3])
{
    const struct given_box *box = &given_part_of(mesh)->box;
    memcpy(lo_cm_out, box->lo, sizeof box->lo);
    memcpy(hi_cm_out, box->hi, sizeof box->hi);
}

static double given_volume_cm3(const struct storm_mesh *mesh,
                               storm_cell_idx cell)
{
    return given_part_of(mesh)->volume[cell];
}

static void given_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                         double centre_cm_out[3])
{
    memcpy(centre_cm_out, given_part_of(mesh)->centroid[cell],
           3 * sizeof *centre_cm_out);
}

static int given_n_faces(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    const uint64_t *first = given_part_of(mesh)->first_face;
    return (int)(first[cell + 1] - first[cell]);
}

static void given_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                       int face, struct storm_face *face_out)
{
    const struct given_part *part = given_part_of(mesh);
    const struct given_face *f =
        &part->faces[part->first_face[cell] + (uint64_t)face];
    double norm2 = 0.0;
    face_out->rank = f->rank;
    face_out->neighbour = f->rank >= 0 ? f->behind : -1;
    face_out->wall = f->rank >= 0 ? -1 : f->behind;
    face_out->area_cm2 = f->area;
    for (int d = 0; d < 3; d++)
        norm2 += f->n[d] * f->n[d];
    for (int d = 0; d < 3; d++)
        face_out->normal[d] = f->n[d] / sqrt(norm2);
}

static storm_status given_build_part(const struct storm_mesh *mesh,
                                     const uint64_t *partition,
                                     struct storm_mesh_part **part_out)
{
    (void)partition;
    (void)part_out;
    if (mesh->env->rank == 0)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "the partition of a given mesh is the host's: "
                        "storm_mesh_replace changes it");
    return STORM_ERR_NOSUP;
}

void given_free_part(const struct storm_mesh *mesh,
                     struct storm_mesh_part *base)
{
    struct given_part *part = (struct given_part *)base;
    struct storm_memory *memory = mesh->env->memory;
    if (part == NULL)
        return;
    void *arrays[] = {base->tags,       base->numbers, part->heads,
                      part->blocks,     part->planes,  part->faces,
                      part->first_face, part->volume,  part->centroid,
                      part->gap,        part->is_sole, part->borders,
                      part->choices,    part->located, part->boxes,
                      part->sides,      part->ranks};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        storm_free(memory, arrays[i]);
    given_tree_free(mesh->env, &part->tree);
    given_tree_free(mesh->env, &part->rank_tree);
    storm_free(memory, part);
}

static void given_destroy(struct storm_mesh *mesh)
{
    storm_free(mesh->env->memory, mesh);
}

const struct storm_mesh_ops storm_mesh_given = {
    .name = "given",
    .shape = &given_shape,
    .destroy = given_destroy,
    .build_part = given_build_part,
    .free_part = given_free_part,
    .box = given_box,
    .volume_cm3 = given_volume_cm3,
    .centre = given_centre,
    .bounds = given_bounds,
    .sample = given_sample,
    .sample_face = given_sample_face,
    .locate = given_locate,
    .n_faces = given_n_faces,
    .face = given_face,
    .changes = &given_changes,
};

/* ---- build -------------------------------------------------------------- */

static void *given_copy(const struct storm_env *env, const void *from,
                        size_t bytes)
{
    void *to = storm_alloc(env->memory, given_label, bytes + 1);
    if (to != NULL && bytes > 0)
        memcpy(to, from, bytes);
    return to;
}

static storm_status given_alloc_part(const struct storm_env *env,
                                     const struct storm_given_params *p,
                                     struct given_part *part)
{
    size_t n = (size_t)p->n_cells;
    size_t n_faces = n > 0 ? (size_t)p->first_face[n] : 0;
    const uint64_t zero = 0;
    part->base.n_cells = (storm_cell_idx)n;
    part->base.tags =
        storm_alloc(env->memory, given_label, (n + 1) * sizeof *p->tags);
    part->heads =
        storm_alloc(env->memory, given_label, (n + 1) * sizeof *part->heads);
    part->faces = storm_alloc(env->memory, given_label,
                              (n_faces + 1) * sizeof *part->faces);
    part->first_face = given_copy(env, n > 0 ? p->first_face : &zero,
                                  (n + 1) * sizeof *p->first_face);
    part->volume = given_copy(env, p->volumes_cm3, n * sizeof(double));
    part->centroid = given_copy(env, p->centroids_cm, 3 * n * sizeof(double));
    part->base.numbers = storm_alloc(env->memory, given_label,
                                     (n + 1) * sizeof *part->base.numbers);
    part->gap =
        storm_alloc(env->memory, given_label, (n + 1) * sizeof *part->gap);
    part->is_sole =
        storm_alloc(env->memory, given_label, (n + 1) * sizeof *part->is_sole);
    return part->base.tags != NULL && part->heads != NULL &&
                   part->faces != NULL && part->first_face != NULL &&
                   part->volume != NULL && part->centroid != NULL &&
                   part->base.numbers != NULL && part->gap != NULL &&
                   part->is_sole != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

/* What one rank can do alone. */
static storm_status given_begin(struct storm_mesh *mesh,
                                const struct storm_given_params *params)
{
    const struct storm_env *env = mesh->env;
    storm_status status = given_check(env, params);
    if (status < 0)
        return status;
    struct given_part *part =
        storm_alloc(env->memory, given_label, sizeof *part);
    mesh->partition =
        storm_alloc(env->memory, given_label,
                    ((size_t)env->size + 1) * sizeof *mesh->partition);
    if (part == NULL)
        return STORM_ERR_NOMEM;
    mesh->part = &part->base;
    status = mesh->partition != NULL ? given_alloc_part(env, params, part)
                                     : STORM_ERR_NOMEM;
    size_t n = params->numbers != NULL ? (size_t)params->n_cells : 0;
    for (size_t i = 0; status >= 0 && i < n; i++)
        part->base.numbers[i] = (uint16_t)params->numbers[i];
    return status;
}

/* Places: rank by rank. Collective. */
static storm_status given_count(struct storm_mesh *mesh,
                                const struct storm_given_params *params)
{
    const struct storm_env *env = mesh->env;
    uint64_t *partition = mesh->partition;
    uint64_t same[2] = {params->n_boundaries, ~params->n_boundaries};
    MPI_Request request;
    if (MPI_Iallgather(&params->n_cells, 1, MPI_UINT64_T, partition + 1, 1,
                       MPI_UINT64_T, storm_context_comm(mesh->context),
                       &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    storm_status status = storm_context_wait(mesh->context, &request);
    if (status >= 0)
        status =
            storm_context_reduce(mesh->context, same, 2, MPI_UINT64_T, MPI_MAX);
    if (status < 0)
        return status;
    partition[0] = 0;
    for (int r = 0; r < env->size; r++)
        partition[r + 1] += partition[r];
    mesh->n_total = partition[env->size];
    mesh->part->first = partition[env->rank];
    mesh->n_boundaries = (int)params->n_boundaries;
    if (mesh->n_total > 0 && same[0] == ~same[1])
        return STORM_OK;
    storm_log_shared(&env->log, 0,
                     "given mesh: %llu cells, %llu to %llu boundaries: "
                     "expected cells, and the same number of boundaries on "
                     "all ranks",
                     (unsigned long long)mesh->n_total,
                     (unsigned long long)~same[1], (unsigned long long)same[0]);
    return STORM_ERR_ARG;
}

/* Tags, and the first that is free. Collective. */
static storm_status given_tag(struct storm_mesh *mesh,
                              const struct storm_given_params *params)
{
    struct storm_mesh_part *part = mesh->part;
    size_t n = (size_t)part->n_cells;
    bool are_given;
    storm_status status =
        storm_tags_are_given(mesh, params->tags, n, &are_given);
    for (size_t i = 0; i < n; i++)
        part->tags[i] =
            params->tags != NULL ? params->tags[i] : part->first + i;
    if (status >= 0)
        status = storm_tags_check(mesh, part->tags, n);
    return status < 0 ? status
                      : storm_tags_raise(mesh, part->tags, n, &mesh->next_tag);
}

/* The box around all cells. Collective. */
static storm_status given_measure(struct storm_mesh *mesh)
{
    struct given_part *part = given_part_of(mesh);
    double reach[6];
    for (int d = 0; d < 6; d++)
        reach[d] = -INFINITY;
    for (storm_cell_idx i = 0; i < part->base.n_cells; i++) {
        struct given_box box;
        given_extent(part, (size_t)i, 0.0, &box);
        for (int d = 0; d < 3; d++) {
            reach[d] = fmax(reach[d], -box.lo[d]);
            reach[3 + d] = fmax(reach[3 + d], box.hi[d]);
        }
    }
    storm_status status =
        storm_context_reduce(mesh->context, reach, 6, MPI_DOUBLE, MPI_MAX);
    for (int d = 0; d < 3; d++) {
        part->box.lo[d] = -reach[d];
        part->box.hi[d] = reach[3 + d];
    }
    return status;
}

/* Part, partition and numbers of cells of a mesh that has none yet. Collective;
 * `status` is that of this rank so far. The caller releases what there is after
 * an error. */
static storm_status given_build(struct storm_mesh *mesh, storm_status status,
                                const struct storm_given_params *params)
{
    if (status >= 0)
        status = given_begin(mesh, params);
    status = storm_context_agree(mesh->context, status);
    if (status >= 0)
        status = given_count(mesh, params);
    if (status >= 0)
        status = given_tag(mesh, params);
    if (status < 0) /* on all ranks */
        return status;
    struct given_part *part = given_part_of(mesh);
    status = given_faces(mesh, status, params, part);
    if (status >= 0)
        status = given_lay_out(mesh, params, part);
    status = given_find_ghosts(mesh, status, part);
    status = storm_context_agree(mesh->context, status);
    return status < 0 ? status : given_measure(mesh);
}

/* A mesh without cells. */
static struct storm_mesh given_empty(const struct storm_context *context)
{
    return (struct storm_mesh){.ops = &storm_mesh_given,
                               .context = context,
                               .env = storm_context_env(context),
                               .is_hosts = true};
}

storm_status storm_mesh_create_given(struct storm_context *context,
                                     const struct storm_given_params *params,
                                     struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_mesh *mesh =
        storm_alloc(env->memory, given_label, sizeof *mesh);
    struct storm_mesh built = given_empty(context);
    struct storm_given_params own;
    storm_status status = storm_sized_read(env, "storm_mesh_create_given",
                                           params, &own, sizeof own);
    if (status >= 0 && mesh == NULL)
        status = STORM_ERR_NOMEM;
    status = given_build(&built, status, &own);
    if (mesh != NULL)
        *mesh = built;
    if (status < 0) {
        storm_mesh_destroy(mesh);
        return status;
    }
    *mesh_out = mesh;
    return STORM_OK;
}

/* ---- replace ------------------------------------------------------------ */

/* What this rank can see of its own. */
static storm_status replace_check(const struct storm_mesh *mesh,
                                  const struct storm_given_params *params)
{
    const struct storm_log *log = &mesh->env->log;
    if (params->n_cells > 0 && params->tags == NULL) {
        storm_log_write(log, STORM_LOG_ERROR,
                        "storm_mesh_replace: tags is NULL: they tell which "
                        "cells there were before");
        return STORM_ERR_ARG;
    }
    if (params->n_boundaries == (uint64_t)mesh->n_boundaries)
        return STORM_OK;
    storm_log_write(log, STORM_LOG_ERROR,
                    "storm_mesh_replace: %llu boundaries, expected %d as "
                    "before",
                    (unsigned long long)params->n_boundaries,
                    mesh->n_boundaries);
    return STORM_ERR_ARG;
}

/* Tags that are not those of cells have never been. */
static storm_status replace_check_new(const struct storm_mesh *mesh,
                                      const struct storm_mesh_next *next)
{
    for (storm_cell_idx i = 0; i < next->part->n_cells; i++)
        if (next->from[i].rank < 0 && next->part->tags[i] < mesh->next_tag)
            return given_refuse(mesh->env, next->part->tags[i],
                                "there is no such cell now, but there has "
                                "been: tags of new cells are %llu or more",
                                (unsigned long long)mesh->next_tag);
    return STORM_OK;
}

/* Where the cells were. Collective. */
static storm_status replace_from(const struct storm_mesh *mesh,
                                 struct storm_mesh_next *next)
{
    size_t n = (size_t)next->part->n_cells;
    next->from = storm_alloc(mesh->env->memory, given_label,
                             (n + 1) * sizeof *next->from);
    storm_status status =
        storm_context_agree(mesh->context,
                            next->from != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_mesh_find(mesh, n, next->part->tags, next->from);
    return status < 0 ? status
                      : storm_context_agree(mesh->context,
                                            replace_check_new(mesh, next));
}

storm_status storm_mesh_replace(struct storm_mesh *mesh,
                                const struct storm_given_params *params,
                                struct storm_change **change_out)
{
    if (mesh->ops != &storm_mesh_given) {
        storm_log_shared(&mesh->env->log, 0,
                         "storm_mesh_replace: a mesh of kind %s is not given",
                         mesh->ops->name);
        return STORM_ERR_NOSUP;
    }
    struct storm_mesh built = given_empty(mesh->context);
    struct storm_given_params own;
    storm_status status = storm_sized_read(mesh->env, "storm_mesh_replace",
                                           params, &own, sizeof own);
    if (status >= 0)
        status = replace_check(mesh, &own);
    status = given_build(&built, status, &own);
    struct storm_mesh_next next = {.part = built.part,
                                   .partition = built.partition,
                                   .n_total = built.n_total,
                                   .next_tag = built.next_tag > mesh->next_tag
                                                   ? built.next_tag
                                                   : mesh->next_tag};
    if (status >= 0)
        status = replace_from(mesh, &next);
    return storm_mesh_commit(mesh, status, &next, change_out);
}
