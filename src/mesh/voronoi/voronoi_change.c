/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators that move, come and go: the mesh as it would be. Generators are
 * sorted anew; of the old cells only their radii are used, to know at once
 * which ghosts are needed (docs/decisions/0015).
 */
#include <inttypes.h>
#include <string.h>

#include <mpi.h>

#include <storm/change.h>
#include <storm/context.h>

#include "mesh/mesh_change.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_tags.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char change_label[] = "mesh generators";

/* The change in progress. */
struct change {
    const struct storm_mesh *mesh;
    const struct voronoi_part *old;
    struct voronoi_domain domain;
    struct voronoi_records records;
    bool is_weighted;
    uint64_t *sorted; /* the partition of the sorted records */
    struct storm_mesh_next next;
};

static storm_status change_open(struct change *c, size_t n_records)
{
    const struct storm_env *env = c->mesh->env;
    size_t n_places = (size_t)env->size + 1;
    c->records.array = storm_alloc(env->memory, change_label,
                                   (n_records + 1) * sizeof *c->records.array);
    c->sorted =
        storm_alloc(env->memory, change_label, n_places * sizeof *c->sorted);
    c->next.partition = storm_alloc(env->memory, change_label,
                                    n_places * sizeof *c->next.partition);
    return c->records.array != NULL && c->sorted != NULL &&
                   c->next.partition != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

/* Hands over what has been made, or nothing. */
static storm_status change_close(struct change *c, storm_status status,
                                 struct storm_mesh_next *next_out)
{
    struct storm_memory *memory = c->mesh->env->memory;
    storm_free(memory, c->records.array);
    storm_free(memory, c->sorted);
    if (status >= 0) {
        *next_out = c->next;
        return STORM_OK;
    }
    storm_free(memory, c->next.partition);
    storm_free(memory, c->next.from);
    return status;
}

/* A cell that stays, where it is. */
static void change_add_cell(struct change *c, storm_cell_idx cell,
                            const uint64_t *weight)
{
    struct voronoi_record *record = &c->records.array[c->records.n++];
    memcpy(record->x, c->old->heads[cell].generator, sizeof record->x);
    record->radius = c->old->radius[cell];
    record->tag = storm_mesh_part_tag(&c->old->base, cell);
    record->number = record->tag;
    record->weight = weight != NULL ? weight[cell] : 1;
    record->from =
        (struct storm_cell_ref){.rank = c->mesh->env->rank, .idx = cell};
}

/* ---- partition ---------------------------------------------------------- */

/* By the weights of the sorted records. Collective. */
static storm_status change_weigh(struct change *c)
{
    const struct storm_mesh *mesh = c->mesh;
    size_t n = c->records.n;
    uint64_t *weight =
        storm_alloc(mesh->env->memory, change_label, (n + 1) * sizeof *weight);
    storm_status status =
        storm_context_agree(mesh->context,
                            weight != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; status >= 0 && i < n; i++)
        weight[i] = c->records.array[i].weight;
    if (status >= 0)
        status = voronoi_partition(mesh, n, c->sorted);
    if (status >= 0)
        status = storm_partition_by_weight(mesh->context, c->sorted, weight,
                                           c->next.partition);
    storm_free(mesh->env->memory, weight);
    return status;
}

/* Each generator to the rank that will own its cell. Collective. */
static storm_status change_deal(struct change *c)
{
    const struct storm_mesh *mesh = c->mesh;
    storm_status status = STORM_OK;
    if (mesh->is_hosts) {
        status = voronoi_deal(mesh, NULL, &c->records);
        return status < 0
                   ? status
                   : voronoi_partition(mesh, c->records.n, c->next.partition);
    }
    if (c->is_weighted)
        status = change_weigh(c);
    else
        storm_partition_equal(c->next.n_total, mesh->env->size,
                              c->next.partition);
    return status < 0 ? status
                      : voronoi_deal(mesh, c->next.partition, &c->records);
}

/* ---- tags --------------------------------------------------------------- */

/* Those that have not been given: in order of the places, from next_tag on.
 * Collective. */
static storm_status change_choose_tags(struct change *c)
{
    uint64_t n_new = 0;
    storm_cell_id tag;
    for (size_t i = 0; i < c->records.n; i++)
        n_new += c->records.array[i].tag == VORONOI_NO_TAG;
    storm_status status =
        storm_tags_choose(c->mesh, n_new, &c->next.next_tag, &tag);
    if (status < 0)
        return status;
    for (size_t i = 0; i < c->records.n; i++)
        if (c->records.array[i].tag == VORONOI_NO_TAG)
            c->records.array[i].tag = tag++;
    return STORM_OK;
}

/* ---- cells -------------------------------------------------------------- */

static storm_status change_from(struct change *c)
{
    c->next.from = voronoi_from(c->mesh, &c->records);
    for (size_t i = 0; c->next.from != NULL && i < c->records.n; i++)
        if (c->next.from[i].rank < 0)
            c->next.from[i] = (struct storm_cell_ref){.rank = -1, .idx = -1};
    return storm_context_agree(c->mesh->context, c->next.from != NULL
                                                     ? STORM_OK
                                                     : STORM_ERR_NOMEM);
}

/* From records in any order to the new part. Collective. */
static storm_status change_build(struct change *c)
{
    const struct storm_mesh *mesh = c->mesh;
    struct voronoi_part *part = NULL;
    storm_status status =
        voronoi_sort(mesh, &c->domain, "generator", &c->records);
    if (status >= 0)
        status = change_choose_tags(c);
    if (status >= 0)
        status = change_deal(c);
    if (status >= 0)
        status = change_from(c);
    if (status < 0)
        return status;
    const struct voronoi_plan plan = {.domain = &c->domain,
                                      .records = &c->records,
                                      .first =
                                          c->next.partition[mesh->env->rank],
                                      .has_tags = true};
    status = voronoi_build(mesh, &plan, &part);
    if (status >= 0)
        c->next.part = &part->base;
    return status;
}

/* ---- motion ------------------------------------------------------------- */

storm_status voronoi_move(const struct storm_mesh *mesh,
                          const struct storm_mesh_motion *motion,
                          struct storm_mesh_next *next_out)
{
    const struct voronoi_part *old = voronoi_part_of(mesh);
    struct change c = {
        .mesh = mesh,
        .old = old,
        .domain = old->domain,
        .is_weighted = motion->weight != NULL,
        .next = {.n_total = mesh->n_total, .next_tag = mesh->next_tag}};
    storm_status status = STORM_OK;
    bool periodic[3];
    for (int d = 0; d < 3; d++)
        periodic[d] = old->domain.space.period[d] > 0.0;
    if (motion->box != NULL)
        status = voronoi_domain_make(mesh->env, motion->box->lo_cm,
                                     motion->box->hi_cm, periodic, &c.domain);
    if (status >= 0)
        status = change_open(&c, (size_t)old->base.n_cells);
    status = storm_context_agree(mesh->context, status);
    for (storm_cell_idx i = 0; status >= 0 && i < old->base.n_cells; i++) {
        change_add_cell(&c, i, motion->weight);
        memcpy(c.records.array[i].x, motion->generators_cm + 3 * (size_t)i,
               sizeof c.records.array[i].x);
    }
    if (status >= 0)
        status = change_build(&c);
    return change_close(&c, status, next_out);
}

/* ---- refinement --------------------------------------------------------- */

/* Cells to remove, each once: a flag by cell. */
static storm_status adapt_mark(const struct storm_mesh *mesh,
                               const struct storm_adapt_params *params,
                               bool *is_removed)
{
    for (size_t i = 0; i < params->n_remove; i++) {
        storm_cell_idx cell = params->remove[i];
        bool exists = cell >= 0 && cell < mesh->part->n_cells;
        if (exists && !is_removed[cell]) {
            is_removed[cell] = true;
            continue;
        }
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        exists ? "cell %d is removed twice"
                               : "there is no cell %d to remove",
                        cell);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* Tags that are given are new. Sets the next one, on this rank. */
static storm_status adapt_check_tags(const struct storm_mesh *mesh,
                                     const struct storm_adapt_params *params,
                                     storm_cell_id *next_tag)
{
    for (size_t i = 0; params->add_tags != NULL && i < params->n_add; i++) {
        storm_cell_id tag = params->add_tags[i];
        if (tag < mesh->next_tag) {
            storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                            "tag %" PRIu64 " exists or has existed: tags of "
                            "new cells are %" PRIu64 " or more",
                            tag, mesh->next_tag);
            return STORM_ERR_ARG;
        }
        *next_tag = tag >= *next_tag ? tag + 1 : *next_tag;
    }
    return STORM_OK;
}

static storm_status adapt_check(const struct storm_mesh *mesh,
                                const struct storm_adapt_params *params)
{
    if (params->n_refine > 0) {
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "cells of a Voronoi mesh cannot be cut in eight: add "
                        "generators");
        return STORM_ERR_NOSUP;
    }
    size_t n =
        params->n_add > params->n_remove ? params->n_add : params->n_remove;
    if (n <= INT32_MAX)
        return STORM_OK;
    storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                    "%zu cells are too many for one rank, max %d", n,
                    INT32_MAX);
    return STORM_ERR_ARG;
}

/* How many cells there will be, and the tag after all that are given.
 * Collective. */
static storm_status adapt_count(struct change *c)
{
    const struct storm_mesh *mesh = c->mesh;
    uint64_t n = c->records.n;
    storm_status status =
        storm_context_reduce(mesh->context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = storm_context_reduce(mesh->context, &c->next.next_tag, 1,
                                      MPI_UINT64_T, MPI_MAX);
    c->next.n_total = n;
    if (status < 0 || n > 0)
        return status;
    if (mesh->env->rank == 0)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "all cells are removed: one at least must be left");
    return STORM_ERR_ARG;
}

/* The records of what stays and of what is new. */
static storm_status adapt_list(struct change *c,
                               const struct storm_adapt_params *params)
{
    const struct storm_mesh *mesh = c->mesh;
    const uint64_t *weight = storm_cut_weight(mesh);
    storm_cell_idx n = mesh->part->n_cells;
    storm_status status = adapt_check(mesh, params);
    if (status >= 0)
        status = adapt_check_tags(mesh, params, &c->next.next_tag);
    if (status >= 0)
        status = change_open(c, (size_t)n + params->n_add);
    if (status < 0)
        return status;
    bool *is_removed = storm_alloc(mesh->env->memory, change_label,
                                   ((size_t)n + 1) * sizeof *is_removed);
    status = is_removed == NULL ? STORM_ERR_NOMEM
                                : adapt_mark(mesh, params, is_removed);
    for (storm_cell_idx i = 0; status >= 0 && i < n; i++)
        if (!is_removed[i])
            change_add_cell(c, i, weight);
    storm_free(mesh->env->memory, is_removed);
    for (size_t i = 0; status >= 0 && i < params->n_add; i++) {
        struct voronoi_record *record = &c->records.array[c->records.n++];
        memcpy(record->x, params->add_cm + 3 * i, sizeof record->x);
        record->tag =
            params->add_tags != NULL ? params->add_tags[i] : VORONOI_NO_TAG;
        record->number = params->add_tags != NULL ? params->add_tags[i] : i;
        record->weight = 1;
        record->from = (struct storm_cell_ref){.rank = ~mesh->env->rank};
    }
    c->is_weighted = weight != NULL;
    return status;
}

storm_status voronoi_adapt(const struct storm_mesh *mesh,
                           const struct storm_adapt_params *params,
                           struct storm_mesh_next *next_out)
{
    const struct voronoi_part *old = voronoi_part_of(mesh);
    struct change c = {.mesh = mesh,
                       .old = old,
                       .domain = old->domain,
                       .next = {.next_tag = mesh->next_tag}};
    storm_status status =
        storm_context_agree(mesh->context, adapt_list(&c, params));
    if (status >= 0)
        status = storm_tags_check(mesh, params->add_tags,
                                  params->add_tags != NULL ? params->n_add : 0);
    if (status >= 0)
        status = adapt_count(&c);
    if (status >= 0)
        status = change_build(&c);
    return change_close(&c, status, next_out);
}
