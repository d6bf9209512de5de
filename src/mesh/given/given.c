/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops table of meshes that a host gives, and create. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/given/given_mesh.h"
#include "mesh/mesh_tags.h"

static const char given_label[] = "mesh cells";

/* ---- the table ---------------------------------------------------------- */

static void given_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                      double hi_cm_out[3])
{
    memcpy(lo_cm_out, given_of(mesh)->box.lo, 3 * sizeof *lo_cm_out);
    memcpy(hi_cm_out, given_of(mesh)->box.hi, 3 * sizeof *hi_cm_out);
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
                        "the partition of a given mesh is the host's: it "
                        "cannot be changed");
    return STORM_ERR_NOSUP;
}

void given_free_part(const struct storm_mesh *mesh,
                     struct storm_mesh_part *base)
{
    struct given_part *part = (struct given_part *)base;
    struct storm_memory *memory = mesh->env->memory;
    if (part == NULL)
        return;
    void *arrays[] = {base->tags,    part->heads,    part->blocks,
                      part->planes,  part->faces,    part->first_face,
                      part->volume,  part->centroid, part->borders,
                      part->choices, part->located,  part->sides,
                      part->ranks};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        storm_free(memory, arrays[i]);
    given_tree_free(mesh->env, &part->tree);
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

/* ---- create ------------------------------------------------------------- */

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
    return part->base.tags != NULL && part->heads != NULL &&
                   part->faces != NULL && part->first_face != NULL &&
                   part->volume != NULL && part->centroid != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

/* What one rank can do alone. */
static storm_status given_begin(struct given_mesh *mesh,
                                const struct storm_given_params *params)
{
    const struct storm_env *env = mesh->base.env;
    storm_status status = given_check(env, params);
    if (status < 0)
        return status;
    struct given_part *part =
        storm_alloc(env->memory, given_label, sizeof *part);
    mesh->base.partition =
        storm_alloc(env->memory, given_label,
                    ((size_t)env->size + 1) * sizeof *mesh->base.partition);
    if (part == NULL)
        return STORM_ERR_NOMEM;
    mesh->base.part = &part->base;
    return mesh->base.partition != NULL ? given_alloc_part(env, params, part)
                                        : STORM_ERR_NOMEM;
}

/* Places: rank by rank. Collective. */
static storm_status given_count(struct given_mesh *mesh,
                                const struct storm_given_params *params)
{
    const struct storm_env *env = mesh->base.env;
    uint64_t *partition = mesh->base.partition;
    uint64_t same[2] = {params->n_boundaries, ~params->n_boundaries};
    MPI_Request request;
    if (MPI_Iallgather(&params->n_cells, 1, MPI_UINT64_T, partition + 1, 1,
                       MPI_UINT64_T, storm_context_comm(mesh->base.context),
                       &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    storm_status status = storm_context_wait(mesh->base.context, &request);
    if (status >= 0)
        status = storm_context_reduce(mesh->base.context, same, 2, MPI_UINT64_T,
                                      MPI_MAX);
    if (status < 0)
        return status;
    partition[0] = 0;
    for (int r = 0; r < env->size; r++)
        partition[r + 1] += partition[r];
    mesh->base.n_total = partition[env->size];
    mesh->base.part->first = partition[env->rank];
    mesh->base.n_boundaries = (int)params->n_boundaries;
    if (mesh->base.n_total > 0 && same[0] == ~same[1])
        return STORM_OK;
    storm_log_shared(&env->log, 0,
                     "given mesh: %llu cells, %llu to %llu boundaries: "
                     "expected cells, and the same number of boundaries on "
                     "all ranks",
                     (unsigned long long)mesh->base.n_total,
                     (unsigned long long)~same[1], (unsigned long long)same[0]);
    return STORM_ERR_ARG;
}

/* Tags, and the first that is free. Collective. */
static storm_status given_tag(struct given_mesh *mesh,
                              const struct storm_given_params *params)
{
    struct storm_mesh_part *part = mesh->base.part;
    size_t n = (size_t)part->n_cells;
    for (size_t i = 0; i < n; i++)
        part->tags[i] =
            params->tags != NULL ? params->tags[i] : part->first + i;
    storm_status status =
        storm_tags_raise(&mesh->base, part->tags, n, &mesh->base.next_tag);
    return status < 0 ? status : storm_tags_check(&mesh->base, part->tags, n);
}

/* The box around all cells. Collective. */
static storm_status given_measure(struct given_mesh *mesh)
{
    double reach[6];
    for (int d = 0; d < 6; d++)
        reach[d] = -INFINITY;
    for (storm_cell_idx i = 0; i < mesh->base.part->n_cells; i++) {
        struct given_box box;
        given_extent(given_part_of(&mesh->base), (size_t)i, 0.0, &box);
        for (int d = 0; d < 3; d++) {
            reach[d] = fmax(reach[d], -box.lo[d]);
            reach[3 + d] = fmax(reach[3 + d], box.hi[d]);
        }
    }
    storm_status status =
        storm_context_reduce(mesh->base.context, reach, 6, MPI_DOUBLE, MPI_MAX);
    for (int d = 0; d < 3; d++) {
        mesh->box.lo[d] = -reach[d];
        mesh->box.hi[d] = reach[3 + d];
    }
    return status;
}

static storm_status given_build(struct given_mesh *mesh,
                                const struct storm_given_params *params)
{
    struct given_part *part = given_part_of(&mesh->base);
    storm_status status = given_count(mesh, params);
    if (status >= 0)
        status = given_tag(mesh, params);
    if (status < 0) /* on all ranks */
        return status;
    status = given_faces(&mesh->base, status, params, part);
    if (status >= 0)
        status = given_lay_out(&mesh->base, params, part);
    status = given_find_ghosts(&mesh->base, status, part);
    return storm_context_agree(mesh->base.context, status);
}

storm_status storm_mesh_create_given(struct storm_context *context,
                                     const struct storm_given_params *params,
                                     struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct given_mesh *mesh =
        storm_alloc(env->memory, given_label, sizeof *mesh);
    struct storm_given_params own;
    storm_status status = storm_sized_read(env, "storm_mesh_create_given",
                                           params, &own, sizeof own);
    if (status >= 0 && mesh == NULL)
        status = STORM_ERR_NOMEM;
    if (mesh != NULL) {
        mesh->base.ops = &storm_mesh_given;
        mesh->base.context = context;
        mesh->base.env = env;
        mesh->base.is_hosts = true;
    }
    if (status >= 0)
        status = given_begin(mesh, &own);
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = given_build(mesh, &own);
    if (status >= 0)
        status = given_measure(mesh);
    if (status < 0) {
        storm_mesh_destroy(mesh != NULL ? &mesh->base : NULL);
        return status;
    }
    *mesh_out = &mesh->base;
    return STORM_OK;
}
