/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One step of implicit Monte Carlo: new packets (imc_birth.c), transport by the
 * kernel, and absorption by matter.
 */
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/device_imc.h"
#include "physics/imc.h"

/* ---- pre_step ----------------------------------------------------------- */

/* Has the host done what a step needs, on all ranks? Collective: what comes
 * next waits for all. */
static storm_status imc_check_step(const struct storm_imc *imc,
                                   const struct storm_step *step)
{
    storm_status status = imc_check(imc);
    const char *missing = NULL;
    if (!imc->is_set)
        missing = "its time is not set: call storm_imc_set_step before each "
                  "step";
    else if (imc->matter.deferred < 0)
        missing = imc->matter.fault;
    else if (imc->problem->comb && !storm_step_is_controlled(step))
        missing = "problem.comb is set, but the engine has no population "
                  "control: call storm_comb_attach";
    else if (imc->track.user != NULL && imc->user.walls.apply == NULL)
        missing = "a wall asks the host, which has no function for it: call "
                  "storm_imc_set_walls";
    else if (imc->scatter.has_user && imc->scatter.user.apply == NULL)
        missing = "a material scatters as the host says, which has no function "
                  "for it: call storm_imc_set_scatter";
    if (status < 0)
        return status;
    enum { FIRST, SOURCE, NO_SOURCE, MINIMA };
    bool emits = imc->user.source.emit != NULL;
    int min[MINIMA] = {missing != NULL ? imc->env->rank : imc->env->size, emits,
                       !emits};
    status = storm_context_reduce(imc->context, min, MINIMA, MPI_INT, MPI_MIN);
    if (status < 0)
        return status;
    if (min[FIRST] == imc->env->size && (min[SOURCE] || min[NO_SOURCE]))
        return STORM_OK;
    if (min[FIRST] == imc->env->size) {
        missing = "storm_imc_set_source was called on some ranks alone";
        min[FIRST] = 0;
    }
    if (missing == NULL)
        return STORM_ERR_PEER;
    storm_log_shared(&imc->env->log, min[FIRST], "step %llu cannot begin: %s",
                     (unsigned long long)storm_step_number(step), missing);
    return STORM_ERR_STATE;
}

static storm_status imc_pre_step(void *self, struct storm_step *step)
{
    struct storm_imc *imc = self;
    storm_status status = imc_check_step(imc, step);
    if (status < 0) /* on all ranks */
        return status;
    double largest = 0.0;
    storm_status woken = device_imc_wake(imc, step, &largest);
    status = storm_census_wake(step, imc->mesh, imc->dt_s, &largest);
    if (status < 0) /* on all ranks */
        return status;
    imc_flows_begin(imc);
    imc_motion_set(imc);
    imc_motion_wake(imc, step);
    imc_scatter_begin(imc, step);
    imc->methods = (struct imc_methods){.events = {0}};
    status = imc_fault_agree(imc, woken < 0 ? woken : imc_fields_set(imc));
    if (status < 0) /* on all ranks */
        return status;
    /* What comes next is collective, and the exchange may fail on one rank. */
    if (imc->problem->n_planes > 0)
        status = storm_context_agree(imc->context, imc_plane_begin(imc));
    if (status < 0) /* on all ranks */
        return status;
    imc_ddmc_choose(imc);
    status = storm_context_agree(imc->context, imc_halo_slopes(imc));
    if (status == STORM_OK)
        status = imc_surface_begin(imc);
    if (status == STORM_OK)
        status = imc_wall_begin(imc);
    if (status == STORM_OK)
        status = imc_source_begin(imc);
    if (status == STORM_OK)
        status = imc_ddmc_begin(imc);
    if (status == STORM_OK)
        status = imc_drift_begin(imc);
    if (status == STORM_OK)
        status = imc_principle_check(imc, step);
    imc_fields_walks(imc);
    if (status == STORM_OK)
        status = imc_steer(imc, step);
    if (status == STORM_OK)
        status = imc_birth(imc, step, &largest);
    if (status == STORM_OK)
        status = storm_connect_neighbours(&imc->connect, imc->mesh, step);
    if (imc->user.source.emit != NULL) /* on all ranks */
        status = storm_context_agree(imc->context, status);
    if (status == STORM_OK)
        status = imc_user_birth(&imc->user, step, &largest);

    /* Also after an error: this call is collective. */
    storm_status reduced =
        storm_context_reduce(imc->context, &largest, 1, MPI_DOUBLE, MPI_MAX);
    if (reduced < 0)
        return status < 0 ? status : reduced;
    if (imc->velocity != NULL || imc->track.laws != NULL) {
        imc_motion_begin(imc, largest);
        largest *= IMC_ROOM;
        imc_drift_units(imc, largest);
    }
    imc->track.deposit_unit = storm_exact_unit(largest);
    /* A path may exceed c dt by its roundings, not by a factor. */
    imc->track.path_unit =
        storm_exact_unit(2.0 * largest * imc->track.light_cm_s * imc->dt_s);
    if (imc->tallies.n > 0) { /* on all ranks */
        if (status == STORM_OK)
            status = tally_begin(&imc->tallies, imc->track.deposit_unit);
        status = storm_context_agree(imc->context, status);
    }
    if (status < 0)
        return status;
    imc_moments_begin(imc, largest);
    imc->track.end_s = imc->time_s + imc->dt_s;
    imc->is_counting = true;
    imc->track.max_events = storm_step_max_events(step);
    imc_watch_begin(&imc->watch, step);
    imc_trace_begin(imc, storm_step_number(step));
    imc->in_step = true;
    imc->has_begun = true;
    imc->has_step = false;
    return device_imc_begin(imc, step);
}

/* ---- transport ---------------------------------------------------------- */

void imc_batch(const struct storm_imc *imc, void *const *packets, size_t n,
               struct storm_outcome *outcomes_out)
{
    if (imc->track.user != NULL)
        imc_user_batch(imc->track.user, packets, n, outcomes_out);
    else
        imc_kernel_of(imc)(&imc->track, packets, n, outcomes_out);
}

static void imc_step_batch(void *self, struct storm_step *step,
                           void *const *packets, size_t n,
                           struct storm_outcome *outcomes_out)
{
    struct storm_imc *imc = self;
    imc->pushes.step = step;
    if (storm_mesh_has_changed(imc->mesh, imc->generation))
        storm_census_stop(n, outcomes_out);
    else if (device_imc_batch(imc, packets, n, outcomes_out))
        return;
    else if (imc->trace.n_ids > 0)
        imc_trace_batch(imc, imc_batch, packets, n, outcomes_out);
    else
        imc_batch(imc, packets, n, outcomes_out);
}

void storm_imc_deposit(void *self, storm_cell_idx cell, double weight_erg)
{
    struct storm_imc *imc = self;
    if (storm_mesh_has_changed(imc->mesh, imc->generation))
        return;
    if (imc->in_step)
        storm_exact_add(&imc->track.cells[cell].deposit, weight_erg,
                        imc->track.deposit_unit);
    else
        imc_set_deposit(imc, cell, weight_erg);
}

/* ---- post_step ---------------------------------------------------------- */

/* Of what a cell gets: it may come out below zero by this. */
static const double imc_rounding = 1e-12;

/* Adds energy, eq. (9). What a host is to add, it owes. */
static void imc_heat_up(struct storm_imc *imc, storm_cell_idx i,
                        double deposit_erg)
{
    struct storm_ledger *gained = &imc->more[IMC_GAINED];
    double proper_cm3 = imc->volume[i];
    if (!imc_is_warm(imc, imc->material[i]))
        return;
    if (imc->velocity != NULL) {
        struct storm_ledger *work = &imc->more[IMC_WORK];
        double heat = imc->heated[i];
        storm_ledger_add(work, deposit_erg);
        storm_ledger_add(work, -imc->radiated[i]);
        storm_ledger_add(work, -heat);
        storm_ledger_add(work, imc->emitted[i]);
        deposit_erg = heat;
        proper_cm3 *= imc->motion[i].gamma;
    }
    storm_ledger_add(gained, deposit_erg);
    storm_ledger_add(gained, -imc->emitted[i]);
    if (imc->problem->matter_by_host) {
        storm_ledger_add(&imc->more[IMC_HOST], -deposit_erg);
        storm_ledger_add(&imc->more[IMC_HOST], imc->emitted[i]);
        return;
    }
    double energy =
        imc->energy[i] + (deposit_erg - imc->emitted[i]) / proper_cm3;
    imc->energy[i] = energy > 0.0 ? energy : 0.0;
    if (-energy * proper_cm3 >
        imc_rounding * (fabs(deposit_erg) + imc->emitted[i]))
        imc->overdrawn_erg = fmax(imc->overdrawn_erg, -energy * proper_cm3);
}

/* Scattering, and hops in matter that moves, may take more than a cell has: it
 * cannot have less than nothing. Rank 0 logs it, once in a run. Collective
 * where that may be. */
static storm_status imc_overdrawn(struct storm_imc *imc, uint64_t step)
{
    double erg = imc->overdrawn_erg;
    imc->overdrawn_erg = 0.0;
    if ((imc->velocity == NULL && !imc->scatter.is_inelastic) ||
        imc->is_overdrawn)
        return STORM_OK;
    storm_status status =
        storm_context_reduce(imc->context, &erg, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0 || !(erg > 0.0))
        return status;
    imc->is_overdrawn = true;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "step %llu: the matter of a cell has given radiation "
                        "%.3g erg more than it had, and has none left: matter "
                        "and radiation have so much more than they should; "
                        "take shorter steps (logged once)",
                        (unsigned long long)step, erg);
    return STORM_OK;
}

/* What was not walked or diffused has flown. */
static void imc_sum_methods(struct storm_imc *imc)
{
    const struct imc_methods *now = &imc->methods;
    static const storm_imc_method of[IMC_METHODS] = {
        [IMC_WALKED] = STORM_IMC_WALKED, [IMC_DIFFUSED] = STORM_IMC_DIFFUSED};
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        const struct imc_cell *cell = &imc->track.cells[i];
        storm_ledger_add_exact(&imc->crossed[STORM_IMC_FLOWN], cell->path,
                               imc->track.path_unit);
        imc->crossings[STORM_IMC_FLOWN] += cell->events;
    }
    for (int k = 0; k < IMC_METHODS; k++) {
        storm_ledger_add_exact(&imc->crossed[STORM_IMC_FLOWN], -now->path[k],
                               imc->track.path_unit);
        storm_ledger_add_exact(&imc->crossed[of[k]], now->path[k],
                               imc->track.path_unit);
        imc->crossings[STORM_IMC_FLOWN] -= now->events[k];
        imc->crossings[of[k]] += now->events[k];
    }
}

static storm_status imc_post_step(void *self, struct storm_step *step)
{
    struct storm_imc *imc = self;
    double length = imc->track.light_cm_s * imc->dt_s;
    imc->in_step = false;
    imc->is_set = false;
    storm_status status = imc_check(imc);
    if (status < 0) /* on all ranks */
        return status;
    storm_status device = device_imc_end(imc);
    if (imc->walk != NULL || imc->problem->diffusion)
        imc_sum_methods(imc);
    storm_status scattered = imc_scatter_end(imc);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        struct imc_cell *cell = &imc->track.cells[i];
        storm_exact sum = cell->deposit;
        double deposit = storm_exact_value(sum, imc->track.deposit_unit);
        double path = storm_exact_value(cell->path, imc->track.path_unit);
        cell->deposit = 0;
        cell->path = 0;
        imc->radiation[i] = path / (imc->volume[i] * length);
        imc->deposited[i] = deposit;
        if (imc->velocity != NULL)
            imc->heated[i] = imc_motion_heat(imc, i, deposit);
        storm_ledger_add_exact(&imc->account[STORM_LEDGER_ABSORBED], sum,
                               imc->track.deposit_unit);
        imc_flow_absorb(imc, i, sum);
        imc_heat_up(imc, i, deposit);
    }
    imc_flows_end(imc);
    imc_moments_end(imc);
    storm_status overdrawn = imc_overdrawn(imc, storm_step_number(step));
    status = imc_user_end(&imc->user);
    if (status == STORM_OK)
        status = device;
    if (status == STORM_OK)
        status = scattered;
    if (status == STORM_OK)
        status = overdrawn;
    if (status == STORM_OK)
        status = imc_motion_end(imc);
    if (status == STORM_OK && imc->trace.is_lost)
        status = STORM_ERR_NOMEM;
    /* The temperatures that have these energies, eq. (8). */
    if (status == STORM_OK && !imc->problem->matter_by_host)
        status = imc_matter_each(imc, NULL, imc_block_temperature);
    status = imc_fault_agree(imc, status);
    imc->has_step = status == STORM_OK;
    return status;
}

/* ---- public ------------------------------------------------------------- */

storm_status storm_imc_attach(struct storm_imc *imc,
                              struct storm_engine *engine)
{
    const struct storm_physics physics = {
        .size = sizeof physics,
        .record_bytes = storm_imc_record_bytes(imc),
        .self = imc,
        .pre_step = imc_pre_step,
        .step_batch = imc_step_batch,
        .post_step = imc_post_step,
        .poll = imc->there != NULL ? device_imc_poll : NULL,
        .batch_packets = imc->there != NULL ? DEVICE_BATCH_PACKETS : 0,
    };
    return storm_engine_use(engine, &physics, NULL, NULL);
}

storm_status storm_imc_set_step(struct storm_imc *imc, double time_s,
                                double dt_s)
{
    double length_cm = imc->track.light_cm_s * dt_s;
    if (!(fabs(time_s) <= STORM_UNLIMITED) || !(dt_s > 0.0) ||
        !(length_cm > 0.0) || !(length_cm <= STORM_UNLIMITED)) {
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "storm_imc_set_step: expected a time and a length "
                        "above 0, got %g s and %g s",
                        time_s, dt_s);
        return STORM_ERR_ARG;
    }
    imc->time_s = time_s;
    imc->dt_s = dt_s;
    imc->is_set = true;
    return STORM_OK;
}
