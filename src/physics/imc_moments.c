/* SPDX-License-Identifier: BSD-3-Clause */
/* Moments of the radiation: energy by group, flux, pressure; momentum given to
 * matter; events by kind. */
#include "physics/on_host.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <storm/context.h>
#include <storm/tally.h>

#include "physics/imc_moments_text.h"

static const char moments_label[] = "imc moments";

/* Index of a moment, and where its sums are. */
enum { GROUPS, FLUX, PRESSURE, MOMENTUM, EVENTS };
_Static_assert(EVENTS + 1 == IMC_N_MOMENTS, "all of them");

static storm_exact **moments_sums(struct storm_imc *imc, int k)
{
    storm_exact **const sums[IMC_N_MOMENTS] = {
        &imc->moments.groups, &imc->moments.flux, &imc->moments.pressure,
        &imc->moments.momentum, &imc->moments.events};
    return sums[k];
}

static size_t moments_values(const struct storm_imc *imc, int k)
{
    const size_t n[IMC_N_MOMENTS] = {imc->track.n_groups, 3, 6, 3,
                                     STORM_IMC_N_EVENTS};
    return n[k];
}

/* ---- arrays ------------------------------------------------------------- */

storm_status imc_moments_open(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    bool ok = true;
    for (int k = 0; k < IMC_N_MOMENTS; k++) {
        if ((imc->wants >> k & 1u) == 0)
            continue;
        size_t n = (size_t)imc->n_cells * moments_values(imc, k) + 1;
        storm_exact **sums = moments_sums(imc, k);
        *sums = storm_alloc(memory, moments_label, n * sizeof **sums);
        imc->moment[k] =
            storm_alloc(memory, moments_label, n * sizeof *imc->moment[k]);
        ok = ok && *sums != NULL && imc->moment[k] != NULL;
    }
    if ((imc->wants & STORM_IMC_EVENTS) != 0 && imc->track.n_groups == 1) {
        imc->moments.effective =
            storm_alloc(memory, moments_label,
                        ((size_t)imc->n_cells + 1) * sizeof(double));
        ok = ok && imc->moments.effective != NULL;
    }
    if ((imc->wants & STORM_IMC_MOMENTUM) != 0 && imc->problem->diffusion) {
        size_t n = 3 * (size_t)imc->n_cells + 1;
        imc->moments.hops =
            storm_alloc(memory, moments_label, n * sizeof *imc->moments.hops);
        ok = ok && imc->moments.hops != NULL;
    }
    imc->moments.is_directed =
        (imc->wants &
         (STORM_IMC_FLUX | STORM_IMC_PRESSURE | STORM_IMC_MOMENTUM)) != 0;
    imc->track.moments = imc->wants != 0 && ok ? &imc->moments : NULL;
    return ok ? STORM_OK : STORM_ERR_NOMEM;
}

void imc_moments_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    for (int k = 0; k < IMC_N_MOMENTS; k++) {
        storm_exact **sums = moments_sums(imc, k);
        storm_free(memory, *sums);
        storm_free(memory, imc->moment[k]);
        *sums = NULL;
        imc->moment[k] = NULL;
    }
    storm_free(memory, imc->moments.effective);
    storm_free(memory, imc->moments.hops);
    imc->moments.effective = NULL;
    imc->moments.hops = NULL;
    imc->track.moments = NULL;
}

/* The unit of terms up to the weight times a length or a number. */
static struct storm_exact_unit moments_unit(double weight, double times)
{
    return storm_exact_unit(fmin(weight * times, DBL_MAX));
}

void imc_moments_begin(struct storm_imc *imc, double largest)
{
    const struct imc_ddmc *ddmc = &imc->ddmc;
    double path = 2.0 * imc->track.light_cm_s * imc->dt_s;
    imc->moments.path_scale = ldexp(1.0, imc->track.path_unit.lsb);
    imc->moments.flux_unit = moments_unit(largest, fmax(path, ddmc->hop_cm));
    imc->moments.momentum_unit = moments_unit(largest, 1.0);
    imc->moments.hop_unit = moments_unit(largest, fmax(1.0, ddmc->hop_depth));
}

static void moments_end_events(struct storm_imc *imc)
{
    const storm_exact *sums = imc->moments.events;
    memset(imc->events, 0, sizeof imc->events);
    for (size_t i = 0; i < STORM_IMC_N_EVENTS * (size_t)imc->n_cells; i++)
        imc->events[i % STORM_IMC_N_EVENTS] += (uint64_t)sums[i];
}

/* Hops of the step are added to the momentum. */
static void moments_end_hops(struct storm_imc *imc)
{
    for (size_t i = 0; i < 3 * (size_t)imc->n_cells; i++) {
        storm_exact *hops = &imc->moments.hops[i];
        imc->moment[MOMENTUM][i] +=
            storm_exact_value(*hops, imc->moments.hop_unit) /
            imc->track.light_cm_s;
        *hops = 0;
    }
}

/* Sums of the step to values, and to zero. */
void imc_moments_end(struct storm_imc *imc)
{
    if (imc->moments.events != NULL)
        moments_end_events(imc);
    const double light = imc->track.light_cm_s, length = light * imc->dt_s;
    for (int k = 0; k < IMC_N_MOMENTS; k++) {
        storm_exact *sums = *moments_sums(imc, k);
        size_t n = moments_values(imc, k);
        const struct storm_exact_unit unit =
            k == MOMENTUM ? imc->moments.momentum_unit
            : k == FLUX   ? imc->moments.flux_unit
                          : imc->track.path_unit;
        if (sums == NULL)
            continue;
        for (size_t i = 0; i < n * (size_t)imc->n_cells; i++) {
            double value = storm_exact_value(sums[i], unit);
            double volume = imc->volume[i / n];
            imc->moment[k][i] = k == EVENTS     ? (double)sums[i]
                                : k == MOMENTUM ? value / light
                                : k == FLUX     ? value / (volume * imc->dt_s)
                                                : value / (volume * length);
            sums[i] = 0;
        }
    }
    if (imc->moments.hops != NULL)
        moments_end_hops(imc);
}

void imc_moments_clear(struct storm_imc *imc)
{
    for (int k = 0; k < IMC_N_MOMENTS; k++)
        if (imc->moment[k] != NULL)
            memset(imc->moment[k], 0,
                   (size_t)imc->n_cells * moments_values(imc, k) *
                       sizeof *imc->moment[k]);
}

/* ---- counting ----------------------------------------------------------- */

void imc_moments_collision(const struct imc_track *track, storm_cell_idx cell,
                           const double direction[3], double weight_erg)
{
    moments_collision(track, cell, direction, weight_erg);
}

void imc_moments_flight(const struct imc_track *track, storm_cell_idx cell,
                        const double direction[3], storm_exact path,
                        double given_erg)
{
    moments_flight(track, cell, direction, path, given_erg);
}

void imc_moments_walk(const struct imc_track *track, storm_cell_idx cell,
                      storm_exact path, const double moved_cm[3],
                      double seconds)
{
    moments_walk(track, cell, path, moved_cm, seconds);
}

void imc_moments_hop(const struct imc_track *track, storm_cell_idx cell,
                     const double normal[3], double distance_erg_cm,
                     double depth_erg)
{
    moments_hop(track, cell, normal, distance_erg_cm, depth_erg);
}

/* ---- public ------------------------------------------------------------- */

storm_status storm_imc_request(struct storm_imc *imc, unsigned moments)
{
    storm_status status = imc->in_step                    ? STORM_ERR_STATE
                          : moments >> IMC_N_MOMENTS != 0 ? STORM_ERR_ARG
                                                          : STORM_OK;
    status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    imc_moments_close(imc);
    imc->wants = moments;
    memset(imc->events, 0, sizeof imc->events);
    status = storm_context_agree(imc->context, imc_moments_open(imc));
    if (status < 0) {
        imc_moments_close(imc);
        imc->wants = 0;
    }
    return status;
}

/* -1: no such moment. */
static int moments_index(storm_imc_moment moment)
{
    for (int k = 0; k < IMC_N_MOMENTS; k++)
        if ((unsigned)moment == 1u << k)
            return k;
    return -1;
}

size_t storm_imc_moment_values(const struct storm_imc *imc,
                               storm_imc_moment moment)
{
    int k = moments_index(moment);
    return k < 0 ? 0 : moments_values(imc, k);
}

storm_status storm_imc_get_moment(const struct storm_imc *imc,
                                  storm_imc_moment moment, double *values_out)
{
    int k = moments_index(moment);
    storm_status status = imc_check(imc);
    if (status < 0)
        return status;
    if (k < 0 || imc->moment[k] == NULL)
        return STORM_ERR_ARG;
    memcpy(values_out, imc->moment[k],
           (size_t)imc->n_cells * moments_values(imc, k) * sizeof *values_out);
    return STORM_OK;
}

const char *storm_imc_event_name(storm_imc_event kind)
{
    static const char *const names[STORM_IMC_N_EVENTS] = {
        [STORM_IMC_CROSSING] = "crossing",
        [STORM_IMC_REFLECTION] = "reflection",
        [STORM_IMC_EFFECTIVE] = "effective_scattering",
        [STORM_IMC_PHYSICAL] = "physical_scattering",
        [STORM_IMC_ABSORPTION] = "absorption",
        [STORM_IMC_WALK] = "random_walk",
        [STORM_IMC_DIFFUSION] = "diffusion",
        [STORM_IMC_CENSUS] = "census",
        [STORM_IMC_ESCAPE] = "escape",
    };
    return (unsigned)kind < STORM_IMC_N_EVENTS ? names[kind] : NULL;
}

storm_status storm_imc_get_events(const struct storm_imc *imc,
                                  uint64_t *numbers_out)
{
    uint64_t sum[STORM_IMC_N_EVENTS];
    if ((imc->wants & STORM_IMC_EVENTS) == 0) /* on all ranks */
        return STORM_ERR_ARG;
    memcpy(sum, imc->events, sizeof sum);
    storm_status status =
        storm_context_reduce(imc->context, sum, STORM_IMC_N_EVENTS,
                             MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK)
        memcpy(numbers_out, sum, sizeof sum);
    return status;
}
