/* SPDX-License-Identifier: BSD-3-Clause */
/* What all meshes share: the partition, and the public calls on top of the
 * table. */
#include "mesh/mesh_ops.h"

#include <math.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_change.h"
#include "mesh/mesh_partition.h"

static const char mesh_label[] = "mesh cut";

static uint64_t *mesh_alloc_partition(const struct storm_env *env)
{
    return storm_alloc(env->memory, mesh_label,
                       ((size_t)env->size + 1) * sizeof(uint64_t));
}

storm_status storm_mesh_check_partition(const struct storm_mesh *mesh,
                                        const uint64_t *partition)
{
    /* Checked for all ranks: building is collective, so none may skip it. */
    for (int r = 0; r < mesh->env->size; r++) {
        uint64_t n_cells = partition[r + 1] - partition[r];
        if (n_cells <= INT32_MAX)
            continue;
        if (mesh->env->rank == 0)
            storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                            "%llu cells are too many for one rank, max %d: use "
                            "more ranks",
                            (unsigned long long)n_cells, INT32_MAX);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

storm_status storm_mesh_build_part(const struct storm_mesh *mesh,
                                   const uint64_t *partition,
                                   struct storm_mesh_part **part_out)
{
    storm_status status = storm_mesh_check_partition(mesh, partition);
    return status < 0 ? status
                      : mesh->ops->build_part(mesh, partition, part_out);
}

storm_status storm_mesh_check_box(const struct storm_env *env,
                                  const double lo_cm[3], const double hi_cm[3])
{
    for (int d = 0; d < 3; d++) {
        if (lo_cm[d] < hi_cm[d] && isfinite(hi_cm[d] - lo_cm[d]))
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "box is empty in direction %d: %g to %g", d, lo_cm[d],
                        hi_cm[d]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

storm_status storm_mesh_finish(struct storm_mesh *mesh,
                               const struct storm_context *context,
                               storm_status status)
{
    if (status == STORM_OK) {
        mesh->partition = mesh_alloc_partition(mesh->env);
        if (mesh->partition == NULL)
            status = STORM_ERR_NOMEM;
    }
    status = storm_context_agree(context, status);
    if (status < 0)
        goto err;
    storm_partition_equal(mesh->n_total, mesh->env->size, mesh->partition);
    mesh->next_tag = mesh->n_total;
    status = storm_mesh_build_part(mesh, mesh->partition, &mesh->part);
    status = storm_context_agree(context, status);
    if (status < 0)
        goto err;
    return STORM_OK;
err:
    storm_mesh_destroy(mesh);
    return status;
}

void storm_mesh_destroy(struct storm_mesh *mesh)
{
    if (mesh == NULL)
        return;
    while (mesh->cuts != NULL)
        storm_cut_destroy(mesh->cuts);
    storm_halo_close(mesh);
    mesh->ops->free_part(mesh, mesh->part);
    storm_free(mesh->env->memory, mesh->partition);
    mesh->ops->destroy(mesh);
}

uint64_t storm_mesh_generation(const struct storm_mesh *mesh)
{
    return mesh->generation;
}

storm_status storm_mesh_check_generation(const struct storm_mesh *mesh,
                                         uint64_t generation, const char *what,
                                         const char *advice)
{
    if (!storm_mesh_has_changed(mesh, generation))
        return STORM_OK;
    storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                    "%s was built for generation %llu of its mesh, which has "
                    "changed since and is at %llu: %s",
                    what, (unsigned long long)generation,
                    (unsigned long long)mesh->generation, advice);
    return STORM_ERR_STATE;
}

int storm_mesh_n_boundaries(const struct storm_mesh *mesh)
{
    return mesh->n_boundaries > 0 ? mesh->n_boundaries : STORM_N_WALLS;
}

uint64_t storm_mesh_n_cells_total(const struct storm_mesh *mesh)
{
    return mesh->n_total;
}

storm_cell_idx storm_mesh_n_cells(const struct storm_mesh *mesh)
{
    return mesh->part->n_cells;
}

storm_cell_id storm_mesh_cell_id(const struct storm_mesh *mesh,
                                 storm_cell_idx cell)
{
    return storm_mesh_part_tag(mesh->part, cell);
}

int storm_mesh_cell_number(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    return mesh->part->numbers != NULL ? mesh->part->numbers[cell] : 0;
}

uint64_t storm_mesh_first_place(const struct storm_mesh *mesh, int rank)
{
    return mesh->partition[rank < mesh->env->size ? rank : mesh->env->size];
}

int storm_mesh_owner_at(const struct storm_mesh *mesh,
                        const uint64_t *partition, uint64_t place,
                        storm_cell_idx *idx_there_out)
{
    int rank = storm_partition_owner(partition, mesh->env->size, place);
    *idx_there_out = (storm_cell_idx)(place - partition[rank]);
    return rank;
}

void storm_mesh_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                    double hi_cm_out[3])
{
    mesh->ops->box(mesh, lo_cm_out, hi_cm_out);
}

double storm_mesh_volume_cm3(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    return mesh->ops->volume_cm3(mesh, cell);
}

void storm_mesh_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                       double centre_cm_out[3])
{
    mesh->ops->centre(mesh, cell, centre_cm_out);
}

void storm_mesh_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                       double lo_cm_out[3], double hi_cm_out[3])
{
    mesh->ops->bounds(mesh, cell, lo_cm_out, hi_cm_out);
}

void storm_mesh_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                       const double u[3], double point_cm_out[3])
{
    mesh->ops->sample(mesh, cell, u, point_cm_out);
}

storm_status storm_mesh_locate(const struct storm_mesh *mesh,
                               const double point_cm[3],
                               struct storm_cell_ref *where_out)
{
    return mesh->ops->locate(mesh, point_cm, where_out);
}

int storm_mesh_n_faces(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    return mesh->ops->n_faces(mesh, cell);
}

storm_status storm_mesh_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                             int face, struct storm_face *face_out)
{
    struct storm_face found = STORM_FACE_INIT;
    mesh->ops->face(mesh, cell, face, &found);
    found.ghost = found.rank >= 0 && found.rank != mesh->env->rank
                      ? storm_halo_find(mesh, found.rank, found.neighbour)
                      : -1;
    return storm_sized_write(&found, sizeof found, face_out);
}

/* ---- for kinds that do not change ---------------------------------------- */

static storm_status mesh_refuse(const struct storm_mesh *mesh, const char *what)
{
    storm_log_shared(&mesh->env->log, 0,
                     "%s: is not possible with a mesh of kind %s", what,
                     mesh->ops->name);
    return STORM_ERR_NOSUP;
}

storm_status storm_no_move(const struct storm_mesh *mesh,
                           const struct storm_mesh_motion *motion,
                           struct storm_mesh_next *next_out)
{
    (void)motion;
    (void)next_out;
    return mesh_refuse(mesh, "storm_mesh_move");
}

storm_status storm_no_adapt(const struct storm_mesh *mesh,
                            const struct storm_adapt_params *params,
                            struct storm_mesh_next *next_out)
{
    (void)params;
    (void)next_out;
    return mesh_refuse(mesh, "storm_mesh_adapt");
}

double storm_mesh_wrap(double x, double lo, double hi)
{
    if (x >= lo && x < hi)
        return x;
    double length = hi - lo;
    x = lo + fmod(x - lo, length); /* exact; has the sign of x - lo */
    if (x < lo)
        x += length;
    return x < hi ? x : lo; /* rounding may reach it */
}

storm_status storm_seek_located(const struct storm_mesh *mesh,
                                storm_cell_idx cell, double x_cm[3],
                                struct storm_cell_ref *next_out)
{
    storm_status status = mesh->ops->locate(mesh, x_cm, next_out);
    if (status < 0)
        return status;
    bool is_here = next_out->rank == mesh->env->rank &&
                   (cell < 0 || next_out->idx == cell);
    return is_here ? STORM_OK : STORM_AGAIN;
}

int storm_jump_located(const struct storm_mesh *mesh, const double x_cm[3])
{
    struct storm_cell_ref where;
    return mesh->ops->locate(mesh, x_cm, &where) == STORM_OK ? where.rank
                                                             : mesh->env->rank;
}

void storm_seek_each(const struct storm_mesh *mesh,
                     struct storm_mesh_hop *hops_inout, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct storm_mesh_hop *hop = &hops_inout[i];
        hop->status =
            mesh->ops->changes->seek(mesh, hop->cell, hop->x_cm, &hop->next);
    }
}

/* ---- shapes of cells ---------------------------------------------------- */

void storm_no_unwrap(const struct storm_mesh *mesh, storm_cell_idx cell,
                     double x_cm_inout[3])
{
    (void)mesh;
    (void)cell;
    (void)x_cm_inout;
}

bool storm_mesh_cells_are_boxes(const struct storm_mesh *mesh)
{
    return mesh->ops->shape->boxes;
}

storm_status storm_mesh_generator(const struct storm_mesh *mesh,
                                  storm_cell_idx cell,
                                  double generator_cm_out[3])
{
    return mesh->ops->shape->generator(mesh, cell, generator_cm_out);
}

storm_status storm_polyhedra_open(const struct storm_mesh *mesh,
                                  struct storm_polyhedra **polyhedra_out)
{
    struct storm_polyhedra *polyhedra = NULL;
    storm_status status = mesh->ops->shape->open(mesh, &polyhedra);
    if (status < 0)
        return status;
    polyhedra->mesh = mesh;
    polyhedra->generation = mesh->generation;
    *polyhedra_out = polyhedra;
    return STORM_OK;
}

storm_status storm_polyhedra_build(struct storm_polyhedra *polyhedra,
                                   storm_cell_idx cell,
                                   struct storm_polyhedron *polyhedron_out)
{
    const struct storm_mesh *mesh = polyhedra->mesh;
    struct storm_polyhedron polyhedron = STORM_POLYHEDRON_INIT;
    storm_status status =
        storm_mesh_check_generation(mesh, polyhedra->generation,
                                    "storm_polyhedra",
                                    "close it and call storm_polyhedra_open "
                                    "again");
    if (status < 0)
        return status;
    if (cell < 0 || cell >= mesh->part->n_cells)
        return STORM_ERR_ARG;
    status = mesh->ops->shape->build(polyhedra, cell, &polyhedron);
    return status < 0 ? status
                      : storm_sized_write(&polyhedron, sizeof polyhedron,
                                          polyhedron_out);
}

void storm_polyhedra_close(struct storm_polyhedra *polyhedra)
{
    if (polyhedra != NULL)
        polyhedra->mesh->ops->shape->close(polyhedra);
}
