/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts of a mesh, and the calls that change it: all end in cut_commit. */
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_change.h"
#include "mesh/mesh_partition.h"

static const char cut_label[] = "mesh cut";

struct storm_cut {
    struct storm_mesh *mesh;
    struct storm_cut *next; /* of the same mesh */
    uint64_t *weight;       /* one per local cell */
    uint64_t *carried;      /* while the mesh changes */
};

/* ---- weights ------------------------------------------------------------ */

static uint64_t *cut_alloc(const struct storm_mesh *mesh, storm_cell_idx n)
{
    return storm_alloc(mesh->env->memory, cut_label,
                       ((size_t)n + 1) * sizeof(uint64_t));
}

storm_status storm_cut_create(struct storm_mesh *mesh,
                              struct storm_cut **cut_out)
{
    struct storm_memory *memory = mesh->env->memory;
    storm_cell_idx n = mesh->part->n_cells;
    struct storm_cut *cut = storm_alloc(memory, cut_label, sizeof *cut);
    uint64_t *weight = cut_alloc(mesh, n);
    storm_status status =
        storm_context_agree(mesh->context, cut != NULL && weight != NULL
                                               ? STORM_OK
                                               : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, weight);
        storm_free(memory, cut);
        return status;
    }
    for (storm_cell_idx i = 0; i < n; i++)
        weight[i] = 1;
    *cut =
        (struct storm_cut){.mesh = mesh, .next = mesh->cuts, .weight = weight};
    mesh->cuts = cut;
    *cut_out = cut;
    return STORM_OK;
}

void storm_cut_destroy(struct storm_cut *cut)
{
    if (cut == NULL)
        return;
    struct storm_mesh *mesh = cut->mesh;
    struct storm_cut **at = &mesh->cuts;
    while (*at != cut)
        at = &(*at)->next;
    *at = cut->next;
    if (mesh->cut == cut)
        mesh->cut = NULL;
    storm_free(mesh->env->memory, cut->weight);
    storm_free(mesh->env->memory, cut);
}

void storm_cut_set(struct storm_cut *cut, const uint64_t *weight)
{
    size_t n = (size_t)cut->mesh->part->n_cells;
    if (n > 0)
        memcpy(cut->weight, weight, n * sizeof *weight);
}

void storm_cut_fill(struct storm_cut *cut,
                    uint64_t (*weight)(void *self, storm_cell_idx cell),
                    void *self)
{
    for (storm_cell_idx i = 0; i < cut->mesh->part->n_cells; i++)
        cut->weight[i] = weight(self, i);
}

const uint64_t *storm_cut_weight(const struct storm_mesh *mesh)
{
    return mesh->cut != NULL ? mesh->cut->weight : NULL;
}

static storm_status cut_carry(struct storm_cut *cut,
                              const struct storm_change *change)
{
    const struct storm_mesh *mesh = cut->mesh;
    cut->carried = cut_alloc(mesh, change->n_new);
    storm_status status =
        storm_context_agree(mesh->context,
                            cut->carried != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_mesh_carry(mesh, change, sizeof *cut->weight,
                                  cut->weight, cut->carried);
    for (storm_cell_idx i = 0; status >= 0 && i < change->n_new; i++)
        if (change->from[i].rank < 0)
            cut->carried[i] = 1;
    return status;
}

storm_status storm_cuts_carry(struct storm_mesh *mesh,
                              const struct storm_change *change)
{
    storm_status status = STORM_OK;
    struct storm_cut *cut;
    for (cut = mesh->cuts; cut != NULL && status >= 0; cut = cut->next)
        status = cut_carry(cut, change);
    for (cut = mesh->cuts; cut != NULL; cut = cut->next) {
        uint64_t *unused = status >= 0 ? cut->weight : cut->carried;
        if (status >= 0)
            cut->weight = cut->carried;
        cut->carried = NULL;
        storm_free(mesh->env->memory, unused);
    }
    return status;
}

/* ---- imbalance ---------------------------------------------------------- */

static uint64_t *cut_alloc_partition(const struct storm_mesh *mesh)
{
    return storm_alloc(mesh->env->memory, cut_label,
                       ((size_t)mesh->env->size + 1) * sizeof(uint64_t));
}

/* The partition by the weights of a cut. Collective. */
static storm_status cut_partition(const struct storm_cut *cut,
                                  uint64_t **partition_out)
{
    const struct storm_mesh *mesh = cut->mesh;
    uint64_t *partition = cut_alloc_partition(mesh);
    storm_status status =
        storm_context_agree(mesh->context,
                            partition != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_partition_by_weight(mesh->context, mesh->partition,
                                           cut->weight, partition);
    if (status < 0) {
        storm_free(mesh->env->memory, partition);
        return status;
    }
    *partition_out = partition;
    return STORM_OK;
}

/* Max over mean of the sums that ranks have; sum[] is of all ranks, in parts
 * that this rank knows. Collective. */
static storm_status cut_ratio(const struct storm_mesh *mesh, double *sum,
                              double *ratio_out)
{
    int n = mesh->env->size;
    double max = 0.0, total = 0.0;
    storm_status status =
        storm_context_reduce(mesh->context, sum, n, MPI_DOUBLE, MPI_SUM);
    if (status < 0)
        return status;
    for (int r = 0; r < n; r++) {
        total += sum[r];
        max = sum[r] > max ? sum[r] : max;
    }
    *ratio_out = total > 0.0 ? max * n / total : 1.0;
    return STORM_OK;
}

storm_status storm_cut_imbalance(struct storm_cut *cut, double *now_out,
                                 double *then_out)
{
    const struct storm_mesh *mesh = cut->mesh;
    const struct storm_env *env = mesh->env;
    uint64_t *partition = NULL;
    double *now = NULL, *then = NULL;
    storm_status status = cut_partition(cut, &partition);
    if (status < 0)
        return status;
    now = storm_alloc(env->memory, cut_label,
                      ((size_t)env->size + 1) * sizeof *now);
    then = storm_alloc(env->memory, cut_label,
                       ((size_t)env->size + 1) * sizeof *then);
    status = storm_context_agree(mesh->context, now != NULL && then != NULL
                                                    ? STORM_OK
                                                    : STORM_ERR_NOMEM);
    for (storm_cell_idx i = 0; status >= 0 && i < mesh->part->n_cells; i++) {
        int rank = storm_partition_owner(partition, env->size,
                                         mesh->part->first + (uint64_t)i);
        now[env->rank] += (double)cut->weight[i];
        then[rank] += (double)cut->weight[i];
    }
    if (status >= 0)
        status = cut_ratio(mesh, now, now_out);
    if (status >= 0)
        status = cut_ratio(mesh, then, then_out);
    storm_free(env->memory, then);
    storm_free(env->memory, now);
    storm_free(env->memory, partition);
    return status;
}

/* ---- changes ------------------------------------------------------------ */

static void cut_release(const struct storm_mesh *mesh,
                        struct storm_mesh_next *next)
{
    mesh->ops->free_part(mesh, next->part);
    storm_free(mesh->env->memory, next->partition);
    storm_free(mesh->env->memory, next->from);
    storm_free(mesh->env->memory, next->part_of);
    storm_free(mesh->env->memory, next->heirs);
}

/* What has been built takes the place of what was. Collective; takes `next`
 * over, also after an error. */
static storm_status cut_commit(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out)
{
    struct storm_change *change = NULL;
    status = storm_change_make(mesh, status, next, &change);
    if (status < 0) {
        cut_release(mesh, next);
        return status;
    }
    struct storm_mesh_next old = {.part = mesh->part,
                                  .partition = mesh->partition,
                                  .n_total = mesh->n_total,
                                  .next_tag = mesh->next_tag};
    mesh->part = next->part;
    mesh->partition = next->partition;
    mesh->n_total = next->n_total;
    mesh->next_tag = next->next_tag;
    mesh->generation++;
    status = storm_cuts_carry(mesh, change);
    if (status < 0) { /* back to what it was */
        struct storm_mesh_next failed = {.part = mesh->part,
                                         .partition = mesh->partition};
        mesh->part = old.part;
        mesh->partition = old.partition;
        mesh->n_total = old.n_total;
        mesh->next_tag = old.next_tag;
        mesh->generation--;
        cut_release(mesh, &failed);
        storm_change_destroy(change);
        return status;
    }
    storm_halo_close(mesh);
    cut_release(mesh, &old);
    *change_out = change;
    return STORM_OK;
}

storm_status storm_mesh_commit(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out)
{
    status = cut_commit(mesh, status, next, change_out);
    if (status >= 0)
        mesh->moved = mesh->generation;
    return status;
}

storm_status storm_mesh_move(struct storm_mesh *mesh,
                             const double *generators_cm,
                             const struct storm_mesh_box *box,
                             struct storm_change **change_out)
{
    const struct storm_mesh_motion motion = {.generators_cm = generators_cm,
                                             .box = box,
                                             .weight = storm_cut_weight(mesh)};
    struct storm_mesh_next next = {.part = NULL};
    storm_status status = mesh->ops->changes->move(mesh, &motion, &next);
    if (status < 0)
        return status;
    return storm_mesh_commit(mesh, status, &next, change_out);
}

storm_status storm_mesh_adapt(struct storm_mesh *mesh,
                              const struct storm_adapt_params *params,
                              struct storm_change **change_out)
{
    struct storm_adapt_params own;
    struct storm_mesh_next next = {.part = NULL};
    storm_status status = storm_sized_read(mesh->env, "storm_mesh_adapt",
                                           params, &own, sizeof own);
    status = storm_context_agree(mesh->context, status);
    if (status < 0)
        return status;
    status = mesh->ops->changes->adapt(mesh, &own, &next);
    if (status < 0)
        return status;
    return storm_mesh_commit(mesh, status, &next, change_out);
}

/* By places, which another partition does not change. */
static storm_status cut_from(const struct storm_mesh *mesh,
                             struct storm_mesh_next *next)
{
    size_t n = (size_t)next->part->n_cells;
    next->from =
        storm_alloc(mesh->env->memory, cut_label, (n + 1) * sizeof *next->from);
    if (next->from == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        next->from[i].rank =
            storm_mesh_owner_at(mesh, mesh->partition, next->part->first + i,
                                &next->from[i].idx);
    return STORM_OK;
}

static storm_status cut_check(const struct storm_mesh *mesh,
                              const struct storm_cut *cut)
{
    if (cut->mesh != mesh) {
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "storm_mesh_use: the cut is of another mesh");
        return STORM_ERR_ARG;
    }
    if (!mesh->is_hosts)
        return STORM_OK;
    storm_log_shared(&mesh->env->log, 0,
                     "storm_mesh_use: the partition of this mesh is the "
                     "host's");
    return STORM_ERR_NOSUP;
}

/* The partition is what it was. */
static storm_status cut_same(struct storm_mesh *mesh, struct storm_cut *cut,
                             struct storm_change **change_out)
{
    struct storm_change *change = NULL;
    storm_status status =
        storm_context_agree(mesh->context, storm_change_none(mesh, &change));
    if (status < 0) {
        storm_change_destroy(change);
        return status;
    }
    mesh->cut = cut;
    *change_out = change;
    return STORM_OK;
}

storm_status storm_mesh_use(struct storm_mesh *mesh, struct storm_cut *cut,
                            struct storm_change **change_out)
{
    struct storm_mesh_next next = {
        .part = NULL, .n_total = mesh->n_total, .next_tag = mesh->next_tag};
    storm_status status =
        storm_context_agree(mesh->context, cut_check(mesh, cut));
    if (status >= 0)
        status = cut_partition(cut, &next.partition);
    if (status < 0)
        return status;
    size_t bytes = ((size_t)mesh->env->size + 1) * sizeof *next.partition;
    if (memcmp(next.partition, mesh->partition, bytes) == 0) {
        storm_free(mesh->env->memory, next.partition);
        return cut_same(mesh, cut, change_out);
    }
    status = storm_mesh_build_part(mesh, next.partition, &next.part);
    status = storm_context_agree(mesh->context, status);
    if (status < 0) {
        cut_release(mesh, &next);
        return status;
    }
    status = cut_commit(mesh, cut_from(mesh, &next), &next, change_out);
    if (status < 0)
        return status;
    (*change_out)->is_cut = true;
    mesh->cut = cut;
    return STORM_OK;
}
