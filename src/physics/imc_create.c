/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: the object, but for its cells. */
#include <math.h>

#include <storm/context.h>

#include "base/math.h"
#include "mesh/mesh_ops.h"
#include "physics/device_imc.h"
#include "physics/imc.h"
#include "physics/problem.h"
#include "physics/track.h"

static const char imc_label[] = "imc";

/* As the problem lists them. */
static void imc_list_groups(struct storm_imc *imc)
{
    const double *edge = imc->problem->group_edge_kev;
    size_t n = (size_t)imc->problem->n_groups;
    for (size_t g = 0; g <= n; g++)
        imc->group_edge[g] = edge[g];
    for (size_t g = 0; g < n; g++)
        imc->group_middle[g] = sqrt(edge[g]) * sqrt(edge[g + 1]);
}

/* Edges and middles of the groups, listed or log-spaced. */
static storm_status imc_make_groups(struct storm_imc *imc)
{
    const struct storm_problem *p = imc->problem;
    size_t n = (size_t)p->n_groups;
    imc->group_edge =
        storm_alloc(imc->env->memory, imc_label, (n + 1) * sizeof(double));
    imc->group_middle =
        storm_alloc(imc->env->memory, imc_label, n * sizeof(double));
    if (imc->group_edge == NULL || imc->group_middle == NULL)
        return STORM_ERR_NOMEM;
    if (p->group_edge_kev != NULL) {
        imc_list_groups(imc);
        return STORM_OK;
    }
    double ratio =
        n > 1 ? storm_log(p->group_max_kev / p->group_min_kev) / (double)n
              : 0.0;
    for (size_t g = 0; n > 1 && g <= n; g++)
        imc->group_edge[g] = p->group_min_kev * storm_exp(ratio * (double)g);
    for (size_t g = 0; n > 1 && g < n; g++)
        imc->group_middle[g] =
            p->group_min_kev * storm_exp(ratio * ((double)g + 0.5));
    return STORM_OK;
}

static storm_status imc_make_walk(struct storm_imc *imc)
{
    if (!imc->problem->random_walk)
        return STORM_OK;
    imc->walk = storm_alloc(imc->env->memory, imc_label, sizeof *imc->walk);
    if (imc->walk == NULL)
        return STORM_ERR_NOMEM;
    storm_walk_make(imc->walk);
    imc->track.walk = imc->walk;
    return STORM_OK;
}

/* What each wall of the problem or boundary of the mesh does. */
static storm_status imc_sort_walls(struct storm_imc *imc)
{
    size_t n = problem_n_walls(imc->problem);
    size_t n_mesh = (size_t)storm_mesh_n_boundaries(imc->mesh);
    imc->n_walls = n > n_mesh ? n : n_mesh;
    imc->edges = storm_alloc(imc->env->memory, imc_label, imc->n_walls);
    if (imc->edges == NULL)
        return STORM_ERR_NOMEM;
    for (size_t wall = 0; wall < n; wall++) {
        const struct storm_wall *edges = problem_wall(imc->problem, wall);
        bool one =
            edges->n == 1 && edges->parts[0].shape.kind == STORM_SHAPE_ALL;
        if (one && edges->parts[0].kind == STORM_WALL_REFLECT)
            imc->edges[wall] = IMC_EDGE_MIRROR;
        if (one && edges->parts[0].kind == STORM_WALL_USER)
            imc->edges[wall] = IMC_EDGE_USER;
        if (edges->n > 0 && !one)
            imc->edges[wall] = IMC_EDGE_PARTS;
    }
    imc->track.edges = imc->edges;
    imc->user.imc = imc;
    imc->track.user = imc_user_has_walls(imc) ? &imc->user : NULL;
    return STORM_OK;
}

/* All that does not need other ranks. The object is all zero. */
static storm_status imc_make(struct storm_imc *imc,
                             struct storm_context *context,
                             struct storm_mesh *mesh,
                             const struct storm_problem *problem)
{
    const struct storm_track_ops *ops = storm_track_ops_for(mesh);
    imc->env = storm_context_env(context);
    if (ops == NULL) {
        if (imc->env->rank == 0)
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "no implicit Monte Carlo on a mesh of kind %s",
                            mesh->ops->name);
        return STORM_ERR_NOSUP;
    }
    storm_status status = problem_copy(imc->env, problem, &imc->own);
    if (status < 0)
        return status;
    imc->tallies = (struct tally_set){.memory = imc->env->memory,
                                      .light_cm_s = imc->own.light_cm_s};
    imc->context = context;
    imc->mesh = mesh;
    imc->problem = &imc->own;
    imc->advance = ops->imc;
    imc->advance_counted = ops->imc_counted;
    imc->advance_moving = ops->imc_moving;
    imc->advance_laws = ops->imc_laws;
    imc->track = (struct imc_track){
        .mesh = mesh,
        .problem = imc->problem,
        .light_cm_s = imc->problem->light_cm_s,
        .seed = imc->problem->seed,
        .max_events = UINT64_MAX,
        .n_groups = (size_t)imc->problem->n_groups,
        .escaped = &imc->account[STORM_LEDGER_ESCAPED],
        .watch = &imc->watch,
        .methods = &imc->methods,
    };
    imc_scatter_make(imc);
    status = imc_sort_walls(imc);
    if (status == STORM_OK)
        status = imc_make_groups(imc);
    imc->track.edge = imc->group_edge;
    imc->track.has_photons = problem_has_photons(imc->problem);
    if (status == STORM_OK)
        status = imc_matter_open(imc);
    if (status == STORM_OK)
        status = imc_start_make(imc);
    if (status == STORM_OK)
        status = imc_plane_open(imc);
    if (status == STORM_OK)
        status = imc_flows_open(imc);
    if (status == STORM_OK)
        status = imc_watch_open(&imc->watch, imc);
    if (status == STORM_OK)
        status = device_imc_open(imc);
    return status < 0 ? status : imc_make_walk(imc);
}

storm_status storm_imc_create(struct storm_context *context,
                              struct storm_mesh *mesh,
                              const struct storm_problem *problem,
                              struct storm_imc **imc_out)
{
    struct storm_memory *memory = storm_context_env(context)->memory;
    storm_status status = imc_values_check(context, problem);
    if (status < 0)
        return status;
    struct storm_imc *imc = storm_alloc(memory, imc_label, sizeof *imc);
    status =
        imc != NULL ? imc_make(imc, context, mesh, problem) : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status == STORM_OK)
        status = imc_problem_check(imc);
    if (status == STORM_OK)
        status = imc_cells_open(imc);
    if (status == STORM_OK)
        status = imc_cells_finish(imc);
    if (status == STORM_OK)
        status = imc_cells_begin(imc);
    if (status < 0) {
        storm_imc_destroy(imc);
        return status;
    }
    *imc_out = imc;
    return STORM_OK;
}

void storm_imc_destroy(struct storm_imc *imc)
{
    if (imc == NULL)
        return;
    struct storm_memory *memory = imc->env->memory;
    device_imc_close(imc);
    imc_cells_close(imc);
    imc_watch_close(&imc->watch);
    imc_start_free(imc);
    imc_plane_close(imc);
    imc_surface_close(imc);
    tally_clear(&imc->tallies);
    imc_flows_close(imc);
    imc_trace_close(imc);
    storm_free(memory, imc->edges);
    storm_free(memory, imc->walk);
    imc_matter_close(imc);
    storm_free(memory, imc->group_edge);
    storm_free(memory, imc->group_middle);
    problem_free(imc->env, &imc->own);
    storm_free(memory, imc);
}
