/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 5: steps, accounts, and changes of the mesh. */
#include "host/host.h"

#include <math.h>

#include <storm/remap.h>

/* ---- steps -------------------------------------------------------------- */

/* Radiation before the first step: what was set, or in equilibrium with matter
 * as it is now. */
static storm_status step_start(struct storm_host *host)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    double *kev = NULL;
    storm_status status =
        host_agree(host, host_array(host, n, sizeof *kev, &kev));
    if (status == STORM_OK)
        status = host->start_kev != NULL
                     ? host_route_in(host, STORM_OK, 1, host->start_kev, kev)
                     : storm_imc_get(host->imc, host->engine,
                                     STORM_IMC_TEMPERATURE, kev);
    if (status == STORM_OK)
        status = storm_imc_set_start(host->imc, kev);
    if (status == STORM_OK)
        status = storm_imc_start(host->imc, host->engine);
    host_free(host, kev);
    return host_agree(host, status);
}

storm_status storm_host_step(struct storm_host *host, double time_s,
                             double dt_s)
{
    storm_status status =
        host_enter(host, "storm_host_step", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    status = host_agree(host, storm_imc_set_step(host->imc, time_s, dt_s));
    if (status < 0)
        return status;
    if (!host->has_started)
        status = step_start(host);
    host->has_started = true;
    if (status == STORM_OK)
        status = storm_engine_step(host->engine);
    host->n_steps++;
    if (status < 0)
        host->stage = HOST_FAILED;
    return status < 0 ? status : STORM_OK;
}

storm_status storm_host_next_dt(struct storm_host *host, double target,
                                double *dt_s_out)
{
    static const char what[] = "storm_host_next_dt";
    struct storm_imc_control control = STORM_IMC_CONTROL_INIT;
    struct storm_imc_change change = STORM_IMC_CHANGE_INIT;
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (dt_s_out == NULL || !host_is_between(target, 0.0, 1e30))
        status = host_fail(host, STORM_ERR_ARG,
                           "%s: target: expected a number from 0 to 1e30, got "
                           "%g%s",
                           what, target,
                           dt_s_out == NULL ? ", and nowhere to put it" : "");
    status = host_agree(host, status);
    control.target = target;
    if (status == STORM_OK)
        status =
            storm_imc_next_step(host->imc, host->engine, &control, &change);
    if (status == STORM_OK)
        *dt_s_out = change.next_s;
    return status;
}

/* ---- accounts ----------------------------------------------------------- */

static storm_status account_check(const struct storm_host *host,
                                  const char *what, const double *out, size_t n,
                                  size_t expected)
{
    if (out != NULL && n == expected)
        return STORM_OK;
    return host_fail(host, STORM_ERR_ARG,
                     "%s: expected an array of %zu values, got %zu%s", what,
                     expected, n, out == NULL ? " and no array" : "");
}

storm_status storm_host_energy(struct storm_host *host, double *erg_out,
                               size_t n)
{
    static const char what[] = "storm_host_energy";
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status == STORM_OK)
        status = host_agree(host, account_check(host, what, erg_out, n,
                                                STORM_HOST_N_ENERGIES));
    if (status == STORM_OK)
        status = storm_imc_energy(host->imc, host->engine, &e);
    if (status < 0)
        return status;
    const double all[STORM_HOST_N_ENERGIES] = {
        [STORM_HOST_E_MATTER] = e.matter_erg,
        [STORM_HOST_E_RADIATION] = e.radiation_erg,
        [STORM_HOST_E_START] = e.start_erg,
        [STORM_HOST_E_WALLS] = e.walls_erg,
        [STORM_HOST_E_OTHERS] = e.sources_erg + e.user_erg,
        [STORM_HOST_E_ESCAPED] = e.escaped_erg,
        [STORM_HOST_E_HELD] = e.held_erg,
        [STORM_HOST_E_WORK] = e.work_erg,
        [STORM_HOST_E_HOST] = e.host_erg,
        [STORM_HOST_E_DECLARED] = host->declared_erg,
        [STORM_HOST_E_ERROR] = e.error};
    for (size_t i = 0; i < n; i++)
        erg_out[i] = all[i];
    return STORM_OK;
}

storm_status storm_host_momentum(struct storm_host *host, double *momenta_out,
                                 size_t n)
{
    static const char what[] = "storm_host_momentum";
    struct storm_imc_momenta m = STORM_IMC_MOMENTA_INIT;
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    status = account_check(host, what, momenta_out, n, STORM_HOST_N_MOMENTA);
    if (status == STORM_OK && !host->problem.motion)
        status = host_fail(host, STORM_ERR_ARG,
                           "%s: the parameter motion is not set", what);
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = storm_imc_momentum(host->imc, host->engine, &m);
    if (status < 0)
        return status;
    const double *const parts[] = {m.created, m.matter,  m.escaped,
                                   m.walls,   m.control, m.radiation};
    for (size_t i = 0; i + 1 < STORM_HOST_N_MOMENTA; i++)
        momenta_out[i] = parts[i / 3][i % 3];
    momenta_out[STORM_HOST_N_MOMENTA - 1] = m.error;
    return STORM_OK;
}

storm_status storm_host_hash(struct storm_host *host, uint64_t *hash_out)
{
    storm_status status =
        host_enter(host, "storm_host_hash", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (hash_out == NULL)
        status = host_fail(host, STORM_ERR_ARG,
                           "storm_host_hash: nowhere to put it");
    status = host_agree(host, status);
    return status < 0 ? status
                      : storm_imc_hash(host->imc, host->engine, hash_out);
}

/* ---- changes ------------------------------------------------------------ */

/* Matter, packets and the route follow, and the change is destroyed. What
 * fails here leaves nothing that could go on. */
static storm_status change_follow(struct storm_host *host,
                                  struct storm_change *change)
{
    const struct storm_boundary boundary = {
        .size = sizeof boundary, .self = host->imc, .apply = storm_imc_escape};
    const struct storm_remap_params params = {.size = sizeof params,
                                              .boundary = &boundary};
    storm_status status = storm_imc_follow(host->imc, change);
    if (status == STORM_OK)
        status = storm_remap(host->engine, host->mesh, change, &params, NULL);
    storm_change_destroy(change);
    return status < 0 ? status : STORM_OK;
}

static storm_status change_finish(struct storm_host *host,
                                  struct storm_change *change)
{
    storm_status status = change_follow(host, change);
    if (status == STORM_OK)
        status = host_route_find(host);
    if (status < 0)
        host->stage = HOST_FAILED;
    return status;
}

storm_status storm_host_move(struct storm_host *host, const double *points_cm,
                             size_t n)
{
    static const char what[] = "storm_host_move";
    double *local = NULL;
    struct storm_change *change;
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (host->mesh_kind != HOST_POINTS)
        return host_fail(host, STORM_ERR_NOSUP,
                         "%s: the mesh is not one of points", what);
    if (n != 3 * host->route.n || (points_cm == NULL && n > 0))
        status =
            host_fail(host, STORM_ERR_ARG, "%s: expected %zu values, got %zu%s",
                      what, 3 * host->route.n, n,
                      points_cm == NULL ? " and no array" : "");
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        if (!isfinite(points_cm[i]))
            status = host_fail(host, STORM_ERR_ARG,
                               "%s: point %zu: expected numbers, got %g", what,
                               i / 3, points_cm[i]);
    if (status == STORM_OK)
        status = host_array(host, 3 * (size_t)storm_mesh_n_cells(host->mesh),
                            sizeof *local, &local);
    status = host_route_in(host, status, 3, points_cm, local);
    if (status == STORM_OK)
        status = storm_mesh_move(host->mesh, local, NULL, &change);
    host_free(host, local);
    return status < 0 ? status : change_finish(host, change);
}

storm_status storm_host_repartition(struct storm_host *host)
{
    uint64_t *weights = NULL;
    struct storm_change *change;
    storm_status status =
        host_enter(host, "storm_host_repartition", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (host->mesh_kind == HOST_GIVEN)
        return host_fail(host, STORM_ERR_NOSUP,
                         "storm_host_repartition: the partition of given cells "
                         "is the host's");
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    status = host_array(host, n, sizeof *weights, &weights);
    if (status == STORM_OK)
        status = storm_imc_weights(host->imc, host->engine, STORM_IMC_BY_EVENTS,
                                   weights);
    status = host_agree(host, status);
    if (status == STORM_OK && host->cut == NULL)
        status = storm_cut_create(host->mesh, &host->cut);
    if (status == STORM_OK) {
        for (size_t i = 0; i < n; i++)
            weights[i]++; /* a cell without events costs something, too */
        storm_cut_set(host->cut, weights);
        status = storm_mesh_use(host->mesh, host->cut, &change);
    }
    host_free(host, weights);
    return status < 0 ? status : change_finish(host, change);
}

storm_status storm_host_replace(struct storm_host *host)
{
    struct storm_given_params params = STORM_GIVEN_PARAMS_INIT;
    struct host_faces faces = {.ranks = NULL};
    struct storm_change *change = NULL;
    storm_cell_id *tags = NULL;
    storm_status status =
        host_enter(host, "storm_host_replace", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (host->mesh_kind != HOST_GIVEN)
        return host_fail(host, STORM_ERR_NOSUP,
                         "storm_host_replace: the mesh is not one of given "
                         "cells");
    if (host->start_kev != NULL && !host->has_started)
        return host_fail(host, STORM_ERR_STATE,
                         "storm_host_replace: radiation_start is set: expected "
                         "after the first step");
    status = host_given_params(host, &faces, &params);
    if (status == STORM_OK)
        status = host_agree(host, host_given_tags(host, &params, &tags));
    if (status == STORM_OK)
        status = storm_mesh_replace(host->mesh, &params, &change);
    size_t n = (size_t)params.n_cells;
    host_given_release(host, &faces);
    if (status < 0) {
        host_free(host, tags);
        return status;
    }
    status = change_follow(host, change);
    if (status == STORM_OK)
        status = host_route_open(host, tags, n);
    else
        host_free(host, tags);
    if (status < 0)
        host->stage = HOST_FAILED;
    return status;
}
