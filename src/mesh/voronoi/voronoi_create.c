/* SPDX-License-Identifier: BSD-3-Clause */
/* From a caller's points to a Voronoi mesh. */
#include <string.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "base/sized.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_tags.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char create_label[] = "mesh generators";

/* The mesh that is being created. */
struct create {
    struct voronoi_mesh *mesh;
    const struct storm_voronoi_params *params;
    struct voronoi_domain domain;
    struct voronoi_records records;
    bool has_tags;               /* they are not the places */
    bool is_answered;            /* some rank asks where its points are */
    struct storm_cell_ref *from; /* by cell */
};

/* ---- box ---------------------------------------------------------------- */

/* The box must be wide enough for the grid, and squares and cubes of lengths
 * must stay in the range of doubles. */
static storm_status create_check_space(const struct storm_env *env,
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

storm_status voronoi_domain_make(const struct storm_env *env,
                                 const double lo_cm[3], const double hi_cm[3],
                                 const bool periodic[3],
                                 struct voronoi_domain *domain_out)
{
    storm_status status = storm_mesh_check_box(env, lo_cm, hi_cm);
    if (status < 0)
        return status;
    memcpy(domain_out->lo_cm, lo_cm, sizeof domain_out->lo_cm);
    memcpy(domain_out->hi_cm, hi_cm, sizeof domain_out->hi_cm);
    domain_out->space = voronoi_space_make(lo_cm, hi_cm, periodic);
    return create_check_space(env, &domain_out->space);
}

/* ---- points ------------------------------------------------------------- */

/* Counts the points of all ranks and numbers them. */
static storm_status create_count(const struct create *c,
                                 uint64_t *first_number_out)
{
    struct storm_mesh *mesh = &c->mesh->base;
    mesh->n_total = *first_number_out = c->params->n_points;
    storm_status status =
        storm_context_exscan(mesh->context, first_number_out, 1);
    if (status >= 0)
        status = storm_context_reduce(mesh->context, &mesh->n_total, 1,
                                      MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    if (mesh->n_total > 0 && mesh->n_total >> STORM_TAG_BITS == 0)
        return STORM_OK;
    if (mesh->env->rank == 0)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "a Voronoi mesh cannot have %llu points, only 1 to "
                        "2^48 - 1",
                        (unsigned long long)mesh->n_total);
    return STORM_ERR_ARG;
}

/* The caller's points as records. */
static storm_status create_read(struct create *c, uint64_t first_number)
{
    const struct storm_env *env = c->mesh->base.env;
    const struct storm_voronoi_params *params = c->params;
    size_t n = (size_t)params->n_points;
    if (params->n_points > INT32_MAX) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "%llu points are too many for one rank, max %d: give "
                        "them from more ranks",
                        (unsigned long long)params->n_points, INT32_MAX);
        return STORM_ERR_ARG;
    }
    struct voronoi_record *records =
        storm_alloc(env->memory, create_label, (n + 1) * sizeof *records);
    if (records == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        memcpy(records[i].x, params->points_cm + 3 * i, sizeof records[i].x);
        records[i].number = first_number + i;
        records[i].tag = c->has_tags ? params->tags[i] : VORONOI_NO_TAG;
        records[i].from = (struct storm_cell_ref){.rank = env->rank,
                                                  .idx = (storm_cell_idx)i};
    }
    c->records = (struct voronoi_records){.array = records, .n = n};
    return STORM_OK;
}

/* What the ranks ask for: all those with points must give tags, or none. */
static storm_status create_read_wishes(struct create *c)
{
    const struct storm_mesh *mesh = &c->mesh->base;
    const struct storm_voronoi_params *params = c->params;
    size_t n = (size_t)params->n_points;
    int asks = params->tags_out != NULL || params->where_out != NULL;
    storm_status status =
        storm_context_reduce(mesh->context, &asks, 1, MPI_INT, MPI_MAX);
    c->is_answered = asks;
    if (status >= 0)
        status = storm_tags_are_given(mesh, params->tags, n, &c->has_tags);
    if (status < 0)
        return status;
    c->mesh->base.next_tag = c->has_tags ? params->next_tag : mesh->n_total;
    if (!c->has_tags)
        return STORM_OK;
    status = storm_tags_check(mesh, params->tags, (size_t)params->n_points);
    return status < 0
               ? status
               : storm_tags_raise(mesh, params->tags, (size_t)params->n_points,
                                  &c->mesh->base.next_tag);
}

/* ---- generators --------------------------------------------------------- */

/* Moves the generators to the centroids of their cells and sorts them again.
 * Collective. */
static storm_status create_relax(struct create *c)
{
    const struct voronoi_domain *domain = &c->domain;
    const struct storm_mesh *mesh = &c->mesh->base;
    const struct voronoi_plan plan = {.domain = domain,
                                      .records = &c->records,
                                      .has_tags = c->has_tags,
                                      .keep_records = true};
    struct voronoi_part *part = NULL;
    storm_status status = voronoi_build(mesh, &plan, &part);
    if (status < 0)
        return status;
    for (size_t i = 0; i < c->records.n; i++) {
        struct voronoi_record *record = &c->records.array[i];
        record->number = record->order;
        record->radius = part->radius[i];
        memcpy(record->x, part->centroid[i], sizeof record->x);
        voronoi_wrap(domain, record->x);
        for (int d = 0; d < 3; d++) { /* rounding may put it outside */
            double x = record->x[d];
            x = x > domain->lo_cm[d] ? x : domain->lo_cm[d];
            record->x[d] = x < domain->hi_cm[d] ? x : domain->hi_cm[d];
        }
    }
    voronoi_free_part(mesh, &part->base);
    return voronoi_sort(mesh, domain, "point", &c->records);
}

/* From the caller's points to sorted generators. Collective. */
static storm_status create_take(struct create *c)
{
    const struct storm_mesh *mesh = &c->mesh->base;
    uint64_t first_number;
    storm_status status = create_count(c, &first_number);
    if (status >= 0)
        status = create_read_wishes(c);
    if (status >= 0)
        status =
            storm_context_agree(mesh->context, create_read(c, first_number));
    if (status >= 0)
        status = voronoi_sort(mesh, &c->domain, "point", &c->records);
    for (uint32_t i = 0; status >= 0 && i < c->params->lloyd; i++)
        status = create_relax(c);
    return status;
}

/* Each generator to the rank that will own its cell. Collective. */
static storm_status create_deal(struct create *c)
{
    struct storm_mesh *mesh = &c->mesh->base;
    mesh->partition =
        storm_alloc(mesh->env->memory, create_label,
                    ((size_t)mesh->env->size + 1) * sizeof *mesh->partition);
    storm_status status =
        storm_context_agree(mesh->context, mesh->partition != NULL
                                               ? STORM_OK
                                               : STORM_ERR_NOMEM);
    if (status < 0)
        return status;
    if (!c->params->keep_partition) {
        storm_partition_equal(mesh->n_total, mesh->env->size, mesh->partition);
        return voronoi_deal(mesh, mesh->partition, &c->records);
    }
    mesh->is_hosts = true;
    if (!c->has_tags) /* first + index are not places along the curve */
        for (size_t i = 0; i < c->records.n; i++)
            c->records.array[i].tag = c->records.array[i].order;
    c->has_tags = true;
    status = voronoi_deal(mesh, NULL, &c->records);
    return status < 0 ? status
                      : voronoi_partition(mesh, c->records.n, mesh->partition);
}

/* ---- cells -------------------------------------------------------------- */

static storm_status create_cells(struct create *c)
{
    struct storm_mesh *mesh = &c->mesh->base;
    const struct voronoi_plan plan = {.domain = &c->domain,
                                      .records = &c->records,
                                      .first = mesh->partition[mesh->env->rank],
                                      .has_tags = c->has_tags};
    struct voronoi_part *part = NULL;
    storm_status status = STORM_OK;
    if (c->is_answered) {
        c->from = voronoi_from(mesh, &c->records);
        status =
            storm_context_agree(mesh->context,
                                c->from != NULL ? STORM_OK : STORM_ERR_NOMEM);
    }
    if (status >= 0)
        status = voronoi_build(mesh, &plan, &part);
    if (status < 0)
        return status;
    mesh->part = &part->base;
    return c->is_answered ? voronoi_report(mesh, c->from, c->params->tags_out,
                                           c->params->where_out)
                          : STORM_OK;
}

storm_status
storm_mesh_create_voronoi(struct storm_context *context,
                          const struct storm_voronoi_params *params,
                          struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_voronoi_params own;
    struct create c = {.params = &own};
    storm_status status = storm_sized_read(env, "storm_mesh_create_voronoi",
                                           params, &own, sizeof own);
    if (status == STORM_OK)
        status = voronoi_domain_make(env, own.lo_cm, own.hi_cm, own.periodic,
                                     &c.domain);
    if (status == STORM_OK) {
        c.mesh = storm_alloc(env->memory, create_label, sizeof *c.mesh);
        status = c.mesh != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status == STORM_OK) {
        c.mesh->base.ops = &storm_mesh_voronoi;
        c.mesh->base.context = context;
        c.mesh->base.env = env;
        c.mesh->build_cell = voronoi_build_choice();
    }
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = create_take(&c);
    if (status >= 0)
        status = create_deal(&c);
    if (status >= 0)
        status = create_cells(&c);
    storm_free(env->memory, c.records.array);
    storm_free(env->memory, c.from);
    if (status < 0) {
        storm_mesh_destroy(c.mesh != NULL ? &c.mesh->base : NULL);
        return status;
    }
    *mesh_out = &c.mesh->base;
    return STORM_OK;
}
