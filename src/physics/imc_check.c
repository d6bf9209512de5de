/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: is the problem one that can be run, on this mesh? */
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/problem.h"

/* Bounds of cells are those of the box to rounding. */
static const double check_rounding = 1e-9;

static void check_log(void *self, const char *path, const char *member,
                      const char *other, const char *message)
{
    const struct storm_env *env = self;
    storm_log_write(&env->log, STORM_LOG_ERROR, "problem: %s%s%s%s%s: %s", path,
                    path[0] != '\0' && member != NULL ? "." : "",
                    member != NULL ? member : "", other != NULL ? ", " : "",
                    other != NULL ? other : "", message);
}

/* Faults are logged by the lowest rank that has some: it is one problem. */
storm_status imc_values_check(const struct storm_context *context,
                              const struct storm_problem *problem)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n = storm_problem_check(problem, NULL, NULL);
    int first = n > 0 ? env->rank : env->size;
    storm_status status =
        storm_context_reduce(context, &first, 1, MPI_INT, MPI_MIN);
    if (status < 0 || first == env->size)
        return status;
    if (first == env->rank)
        (void)storm_problem_check(problem, check_log, (void *)(uintptr_t)env);
    return n > 0 ? STORM_ERR_ARG : STORM_ERR_PEER;
}

/* Max and, as complement, min of each part over ranks: the same if equal. */
static storm_status check_same(const struct storm_context *context,
                               const struct storm_problem *p)
{
    static const char *const names[PROBLEM_N_PARTS] = {
        [PROBLEM_BOX] = "constants or the box",
        [PROBLEM_MATERIALS] = "materials",
        [PROBLEM_REGIONS] = "regions",
        [PROBLEM_WALLS] = "walls",
        [PROBLEM_SOURCES] = "sources",
        [PROBLEM_PACKETS] = "groups, numbers of packets, flags or the seed"};
    uint64_t max[2][PROBLEM_N_PARTS];
    problem_hash(p, max[0]);
    for (int i = 0; i < PROBLEM_N_PARTS; i++)
        max[1][i] = ~max[0][i];
    storm_status status =
        storm_context_reduce(context, max, 2 * PROBLEM_N_PARTS, MPI_UINT64_T,
                             MPI_MAX);
    for (int i = 0; i < PROBLEM_N_PARTS && status == STORM_OK; i++)
        if (max[0][i] != ~max[1][i]) {
            storm_log_shared(&storm_context_env(context)->log, 0,
                             "problem: %s differ between ranks; fill it with "
                             "the same values on every rank",
                             names[i]);
            status = STORM_ERR_ARG;
        }
    return status;
}

/* ---- the mesh ----------------------------------------------------------- */

/* The bits of the walls that cells of any rank have faces on. */
static storm_status check_walls(const struct storm_context *context,
                                const struct storm_mesh *mesh,
                                unsigned *walls_out)
{
    unsigned walls = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            (void)storm_mesh_face(mesh, i, k, &face);
            if (face.wall >= 0)
                walls |= face.wall < STORM_N_WALLS ? 1u << face.wall : 0;
        }
    storm_status status =
        storm_context_reduce(context, &walls, 1, MPI_UNSIGNED, MPI_BOR);
    *walls_out = walls;
    return status;
}

static bool check_corner(const struct storm_problem *p, const double lo[3],
                         const double hi[3], int d)
{
    double slack = check_rounding * (hi[d] - lo[d]);
    return fabs(lo[d] - p->lo_cm[d]) <= slack &&
           fabs(hi[d] - p->hi_cm[d]) <= slack;
}

static bool check_is_periodic(const struct storm_wall *wall)
{
    return wall->n == 1 && wall->parts[0].kind == STORM_WALL_PERIODIC;
}

/* Boundaries by number: as many, and none periodic. */
static storm_status check_numbers(const struct storm_env *env,
                                  const struct storm_mesh *mesh,
                                  const struct storm_problem *p)
{
    if (p->n_boundaries > 0 && p->n_boundaries != (size_t)mesh->n_boundaries) {
        storm_log_shared(&env->log, 0,
                         "problem: n_boundaries: expected as many as the mesh "
                         "has by number, %d, got %zu",
                         mesh->n_boundaries, p->n_boundaries);
        return STORM_ERR_ARG;
    }
    for (int w = 0; w < STORM_N_WALLS; w++)
        if (check_is_periodic(&p->walls[w])) {
            storm_log_shared(&env->log, 0,
                             "problem: walls[%d]: a given mesh has no periodic "
                             "boundaries",
                             w);
            return STORM_ERR_ARG;
        }
    return STORM_OK;
}

/* The problem is the same on all ranks: so is the result. */
static storm_status check_mesh(const struct storm_context *context,
                               const struct storm_mesh *mesh,
                               const struct storm_problem *p)
{
    const struct storm_env *env = storm_context_env(context);
    double lo[3], hi[3];
    unsigned walls;
    storm_status status = check_walls(context, mesh, &walls);
    if (status < 0)
        return status;
    storm_mesh_box(mesh, lo, hi);
    for (int d = 0; d < 3; d++)
        if (!check_corner(p, lo, hi, d)) {
            const char axis = "xyz"[d];
            storm_log_shared(&env->log, 0,
                             "problem: lo_cm, hi_cm: expected the box of "
                             "the mesh, %g to %g in %c, got %g to %g",
                             lo[d], hi[d], axis, p->lo_cm[d], p->hi_cm[d]);
            return STORM_ERR_ARG;
        }
    if (mesh->n_boundaries > 0 || p->n_boundaries > 0)
        return check_numbers(env, mesh, p);
    for (int w = 0; w < STORM_N_WALLS; w++)
        if (check_is_periodic(&p->walls[w]) == (walls >> w & 1u)) {
            storm_log_shared(&env->log, 0,
                             "problem: walls[%d]: expected it to be "
                             "periodic in the mesh as well, or in neither",
                             w);
            return STORM_ERR_ARG;
        }
    return STORM_OK;
}

storm_status imc_problem_check(const struct storm_imc *imc)
{
    storm_status status = check_same(imc->context, imc->problem);
    return status < 0 ? status
                      : check_mesh(imc->context, imc->mesh, imc->problem);
}
