/* SPDX-License-Identifier: BSD-3-Clause */
/* How matter moves through the cells that packets diffuse in. */
#include "physics/imc_drift.h"

#include <string.h>

#include <storm/change.h>
#include <storm/context.h>

#include "base/exact.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/imc_ddmc.h"

static const char drift_label[] = "imc motion";

/* ---- arrays ------------------------------------------------------------- */

static void *drift_array(const struct storm_imc *imc, size_t n, size_t bytes,
                         bool *ok)
{
    void *array = storm_alloc(imc->env->memory, drift_label, (n + 1) * bytes);
    *ok = *ok && array != NULL;
    return array;
}

storm_status imc_drift_open(struct storm_imc *imc, size_t n_faces,
                            size_t n_ghosts)
{
    struct imc_drift *drift = &imc->drift;
    size_t n = (size_t)imc->n_cells;
    bool ok = true;
    drift->faces = drift_array(imc, n_faces, sizeof *drift->faces, &ok);
    drift->cells = drift_array(imc, n, sizeof *drift->cells, &ok);
    drift->rows = drift_array(imc, n, sizeof *drift->rows, &ok);
    drift->ghosts = drift_array(imc, n_ghosts, sizeof *drift->ghosts, &ok);
    drift->frame = drift_array(imc, 3 * n, sizeof(double), &ok);
    imc->pushes.hops = drift_array(imc, 3 * n, sizeof(storm_exact), &ok);
    imc->pushes.warm = drift_array(imc, n, sizeof(storm_exact), &ok);
    return ok ? STORM_OK : STORM_ERR_NOMEM;
}

void imc_drift_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_drift *drift = &imc->drift;
    storm_free(memory, drift->faces);
    storm_free(memory, drift->cells);
    storm_free(memory, drift->rows);
    storm_free(memory, drift->ghosts);
    storm_free(memory, drift->frame);
    storm_free(memory, imc->pushes.hops);
    storm_free(memory, imc->pushes.warm);
    *drift = (struct imc_drift){0};
    imc->pushes.hops = imc->pushes.warm = NULL;
    imc->track.drift = NULL;
}

/* ---- velocities --------------------------------------------------------- */

static struct imc_drift_row drift_row(const struct storm_imc *imc,
                                      storm_cell_idx i)
{
    struct imc_drift_row row = {.motion = imc->motion[i]};
    for (int d = 0; d < 3; d++) {
        double v = *imc_velocity(imc, i, d);
        row.beta[d] = v / imc->problem->light_cm_s;
        row.relative_cm[d] = v - imc->drift.frame[3 * (size_t)i + (size_t)d];
    }
    return row;
}

static double drift_along(const double a[3], const double normal[3])
{
    return a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2];
}

/* The part of a cell's ensemble that diffuses behind a face. */
static double drift_share(const struct imc_ddmc *ddmc, storm_cell_idx i,
                          size_t f)
{
    const size_t n = ddmc->n_groups;
    const double *share = &ddmc->share[(size_t)i * n];
    double sum = 0.0, all = 0.0;
    for (size_t g = 0; g < n; g++) {
        all += share[g];
        sum += ddmc->behind[f * n + g] >= 0.0 ? share[g] : 0.0;
    }
    return sum / all; /* 1 if all do */
}

/* Fills a face of a cell that diffuses, but for `leave`. */
static void drift_face(struct storm_imc *imc, storm_cell_idx i, size_t f)
{
    const struct imc_ddmc_face *at = &imc->ddmc.faces[f];
    const struct imc_drift_row *own = &imc->drift.rows[i], *other = own;
    struct imc_drift_face *face = &imc->drift.faces[f];
    *face = (struct imc_drift_face){.own = drift_along(own->beta, at->normal),
                                    .share = 1.0};
    if (at->side == DDMC_WALL && at->is_mirror) {
        face->across = face->own; /* matter stops there */
        return;
    }
    if (!at->is_mirror)
        face->share = drift_share(&imc->ddmc, i, f);
    if (!(face->share > 0.0))
        return;
    if (!at->is_mirror)
        other = at->side == DDMC_LOCAL ? &imc->drift.rows[at->next]
                                       : &imc->drift.ghosts[at->next];
    double there[3];
    for (int d = 0; d < 3; d++)
        there[d] = 0.5 * (own->relative_cm[d] + other->relative_cm[d]);
    face->across = 0.5 * (face->own - drift_along(other->beta, at->normal));
    face->ride = drift_along(there, at->normal);
}

/* Of what diffuses behind a face, and of what flies there: one value for all of
 * the ensemble. */
static double drift_mean(const struct imc_drift_face *face, double ride,
                         double fly)
{
    return face->share * ride + (1.0 - face->share) * fly;
}

/* Of a box: how a place moves, by the velocities at its faces. */
static void drift_place(const struct storm_imc *imc, storm_cell_idx i,
                        const double side[IMC_DRIFT_SIDES],
                        struct imc_drift_cell *cell)
{
    for (int d = 0; d < 3; d++) {
        double half = imc->ddmc.half[3 * (size_t)i + (size_t)d];
        double low = side[2 * d], high = side[2 * d + 1];
        cell->rate[d] = 0.5 * (high + low) / half;
        cell->bend[d] = 0.5 * (high - low) / half;
        cell->has_place = cell->has_place || low != 0.0 || high != 0.0;
    }
}

static void drift_cell(struct storm_imc *imc, storm_cell_idx i)
{
    const struct imc_ddmc *ddmc = &imc->ddmc;
    const struct imc_motion *motion = &imc->motion[i];
    size_t first = ddmc->first[i], end = ddmc->first[i + 1];
    double side[IMC_DRIFT_SIDES] = {0.0}, across = 0.0;
    double light = imc->problem->light_cm_s;
    struct imc_drift_cell cell = {.slow = 1.0 / motion->gamma,
                                  .instant = imc_instant(motion)};
    for (size_t f = first; f < end; f++) {
        const struct imc_ddmc_face *face = &ddmc->faces[f];
        struct imc_drift_face *drift = &imc->drift.faces[f];
        drift_face(imc, i, f);
        double past = drift->own * light;
        across += face->reach * (drift->share * drift->across);
        cell.has_mirror =
            cell.has_mirror || (face->side == DDMC_WALL && face->is_mirror);
        if (ddmc->half != NULL) {
            int axis = fabs(face->normal[1]) > 0.5   ? 1
                       : fabs(face->normal[2]) > 0.5 ? 2
                                                     : 0;
            bool high = face->normal[axis] > 0.0;
            double out = drift_mean(drift, drift->ride, past);
            side[2 * axis + high] = high ? out : -out;
            cell.face[2 * axis + high] = (unsigned char)(f - first);
        } else if (!face->is_mirror) {
            cell.leave +=
                face->reach *
                drift_mean(drift, fmax(drift->ride, 0.0), fmax(past, 0.0));
        }
        drift->leave = cell.leave;
    }
    cell.expand = -light * across / 3.0;
    for (int d = 0; d < 3; d++) {
        double beta = motion->u[d] / motion->gamma;
        cell.flux[d] = 4.0 / 3.0 * motion->gamma * beta / cell.instant;
    }
    if (ddmc->half != NULL)
        drift_place(imc, i, side, &cell);
    imc->drift.cells[i] = cell;
}

/* Once: that packets fly where matter is too fast. Collective. */
static storm_status drift_log_once(struct storm_imc *imc)
{
    uint64_t n = 0;
    const struct storm_problem *p = imc->problem;
    if (imc->velocity == NULL || imc->drift_is_logged ||
        !(p->diffusion || p->random_walk))
        return STORM_OK;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        n += imc_has_matter(imc, imc->material[i]) &&
             !imc_drift_may(&imc->motion[i]);
    storm_status status =
        storm_context_reduce(imc->context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n == 0)
        return status;
    imc->drift_is_logged = true;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "packets neither walk nor diffuse in %llu of %llu "
                        "cells, whose matter is faster than %g c: they fly "
                        "there",
                        (unsigned long long)n,
                        (unsigned long long)imc->mesh->n_total, IMC_DRIFT_BETA);
    return STORM_OK;
}

storm_status imc_drift_begin(struct storm_imc *imc)
{
    struct imc_drift *drift = &imc->drift;
    imc->track.drift = NULL;
    storm_status status = drift_log_once(imc);
    if (status < 0 || imc->velocity == NULL || !imc->problem->diffusion)
        return status;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        drift->rows[i] = drift_row(imc, i);
    status =
        storm_context_agree(imc->context,
                            storm_mesh_ghosts(imc->mesh, sizeof *drift->rows,
                                              drift->rows, drift->ghosts));
    if (status < 0 || imc->track.ddmc == NULL)
        return status;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        if (imc->ddmc.cells[i].is_in)
            drift_cell(imc, i);
    imc->track.drift = drift;
    return STORM_OK;
}

/* ---- what hops carry ---------------------------------------------------- */

void imc_drift_units(struct storm_imc *imc, double largest)
{
    /* A hop carries its depth; a stay gives mirrors a third of its path times
     * their area over the volume. */
    double max_ratio = 1.0 + imc->ddmc.hop_depth +
                       imc->ddmc.hop_reach * imc->track.light_cm_s * imc->dt_s;
    imc->pushes.hop_unit = storm_exact_unit(largest * max_ratio);
}

double imc_drift_heat(const struct storm_imc *imc, storm_cell_idx cell)
{
    return imc->track.drift == NULL
               ? 0.0
               : imc->motion[cell].gamma *
                     storm_exact_value(imc->pushes.warm[cell],
                                       imc->pushes.hop_unit);
}

double imc_drift_push(struct storm_imc *imc, storm_cell_idx cell, int d)
{
    if (imc->track.drift == NULL)
        return 0.0;
    storm_exact *sum = &imc->pushes.hops[3 * (size_t)cell + (size_t)d];
    double push = storm_exact_value(*sum, imc->pushes.hop_unit);
    storm_ledger_add_exact(&imc->momentum[IMC_PUSH_MATTER][d], *sum,
                           imc->pushes.hop_unit);
    *sum = 0;
    return push;
}

void imc_drift_end(struct storm_imc *imc)
{
    struct imc_pushes *pushes = &imc->pushes;
    size_t n = (size_t)imc->n_cells;
    if (pushes->warm == NULL)
        return;
    memset(pushes->warm, 0, n * sizeof *pushes->warm);
    memset(imc->drift.frame, 0, 3 * n * sizeof *imc->drift.frame);
    for (int d = 0; d < 3 && imc->track.drift != NULL; d++) {
        storm_ledger_add_exact(&imc->momentum[IMC_PUSH_WALLS][d],
                               pushes->hop_walls[d], pushes->hop_unit);
        pushes->hop_walls[d] = 0;
    }
}

/* ---- public ------------------------------------------------------------- */

/* The first cell whose velocity is none. STORM_ERR_ARG, kept. */
static storm_status drift_check_frame(struct storm_imc *imc,
                                      const double *velocity_cm_s)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        const double *v = &velocity_cm_s[3 * (size_t)i];
        if (imc_motion_is_slow(v, imc->problem->light_cm_s))
            continue;
        imc_fault_keep(imc,
                       "storm_imc_set_frame, cell %llu: expected a velocity "
                       "below that of light, %g cm/s, got (%g, %g, %g)",
                       (unsigned long long)imc->tag[i],
                       imc->problem->light_cm_s, v[0], v[1], v[2]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

storm_status storm_imc_set_frame(struct storm_imc *imc,
                                 const double *velocity_cm_s)
{
    storm_status status = imc->in_step ? STORM_ERR_STATE : imc_check(imc);
    if (status == STORM_OK)
        status = drift_check_frame(imc, velocity_cm_s);
    status = imc_fault_agree(imc, status);
    if (status == STORM_OK && imc->drift.frame != NULL)
        memcpy(imc->drift.frame, velocity_cm_s,
               3 * (size_t)imc->n_cells * sizeof *velocity_cm_s);
    return status;
}
