/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: averages over slices of the box, as CSV.
 *
 * Sums over cells are exact, so that the file is the same on any number of
 * ranks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/exact.h"
#include "base/page.h"
#include "base/text.h"
#include "physics/imc.h"
#include "run/run.h"

/* Volume, and volume times: T, radiation energy, material energy. */
enum { PROFILE_SUMS = 4, PROFILE_LIMBS = 4 };

struct profile {
    size_t n_bins;
    double lo, hi;
    int axis;
    bool share;                  /* cells that span bins */
    double *field[PROFILE_SUMS]; /* per cell; the first is not used */
    struct storm_exact_unit unit[PROFILE_SUMS];
    storm_exact *sum; /* PROFILE_SUMS for each bin */
};

__extension__ typedef unsigned __int128 profile_wide;

/* ---- sums ----------------------------------------------------------------- */

static void profile_add(struct profile *p, size_t bin, storm_cell_idx cell,
                        double volume)
{
    storm_exact *sum = &p->sum[PROFILE_SUMS * bin];
    storm_exact_add(&sum[0], volume, p->unit[0]);
    for (int k = 1; k < PROFILE_SUMS; k++)
        storm_exact_add(&sum[k], volume * p->field[k][cell], p->unit[k]);
}

static double profile_edge(const struct profile *p, size_t bin)
{
    return p->lo + (p->hi - p->lo) * ((double)bin / (double)p->n_bins);
}

static size_t profile_bin(const struct profile *p, double x)
{
    double at = (x - p->lo) / (p->hi - p->lo) * (double)p->n_bins;
    if (!(at > 0.0))
        return 0;
    return at < (double)p->n_bins ? (size_t)at : p->n_bins - 1;
}

/* A box: each bin gets its part of it. */
static void profile_share(struct profile *p, const struct storm_imc *imc,
                          storm_cell_idx cell)
{
    size_t k = 3 * (size_t)cell + (size_t)p->axis;
    double low = imc->centre[k] - imc->half[k];
    double width = 2.0 * imc->half[k];
    size_t last = profile_bin(p, low + width);
    for (size_t bin = profile_bin(p, low); bin <= last; bin++) {
        double from = fmax(low, profile_edge(p, bin));
        double to = fmin(low + width, profile_edge(p, bin + 1));
        double part = (to - from) / width;
        if (part > 1.0 - 1e-9)
            part = 1.0;
        if (part > 1e-9) /* else it only touches, but for rounding */
            profile_add(p, bin, cell, part * imc->volume[cell]);
    }
}

static void profile_cells(struct profile *p, const struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        if (imc->track.cells[i].outside)
            continue;
        if (p->share && imc->is_box[i])
            profile_share(p, imc, i);
        else
            profile_add(
                p, profile_bin(p, imc->centre[3 * (size_t)i + (size_t)p->axis]),
                i, imc->volume[i]);
    }
}

/* Units from the largest term of any rank. */
static storm_status profile_units(struct profile *p,
                                  const struct storm_imc *imc)
{
    double most[PROFILE_SUMS] = {0.0};
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        most[0] = fmax(most[0], imc->volume[i]);
        for (int k = 1; k < PROFILE_SUMS; k++)
            most[k] = fmax(most[k], imc->volume[i] * p->field[k][i]);
    }
    storm_status status = storm_context_reduce(imc->context, most, PROFILE_SUMS,
                                               MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    for (int k = 0; k < PROFILE_SUMS; k++)
        p->unit[k] = storm_exact_unit(most[k]);
    return STORM_OK;
}

/* 128-bit sums over ranks, as limbs of 32 bits that cannot overflow. */
static storm_status profile_reduce(struct profile *p,
                                   const struct storm_context *context)
{
    size_t n = PROFILE_SUMS * p->n_bins;
    int64_t *limbs = malloc(PROFILE_LIMBS * n * sizeof *limbs);
    storm_status status =
        storm_context_agree(context,
                            limbs != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        free(limbs);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < PROFILE_LIMBS; k++)
            limbs[PROFILE_LIMBS * i + (size_t)k] =
                (int64_t)(uint32_t)((profile_wide)p->sum[i] >> (32 * k));
    status = storm_context_reduce(context, limbs, (int)(PROFILE_LIMBS * n),
                                  MPI_INT64_T, MPI_SUM);
    for (size_t i = 0; i < n; i++) {
        profile_wide sum = 0; /* modulo 2^128: signs come out right */
        for (int k = 0; k < PROFILE_LIMBS; k++)
            sum += (profile_wide)limbs[PROFILE_LIMBS * i + (size_t)k]
                   << (32 * k);
        p->sum[i] = (storm_exact)sum;
    }
    free(limbs);
    return status;
}

/* ---- text ----------------------------------------------------------------- */

static void profile_number(struct storm_page *page, double value, char after)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s%c", text, after);
}

static char *profile_text(const struct profile *p, const struct run *run)
{
    struct storm_page page = {0};
    storm_page_add(&page, "# time ");
    profile_number(&page, run->time_s, ' ');
    storm_page_add(&page, "from ");
    profile_number(&page, run->start_s, '\n');
    storm_page_add(&page, "position,material_temperature,radiation_temperature,"
                          "radiation_energy,material_energy,volume\n");
    for (size_t bin = 0; bin < p->n_bins; bin++) {
        double value[PROFILE_SUMS];
        for (int k = 0; k < PROFILE_SUMS; k++)
            value[k] = storm_exact_value(p->sum[PROFILE_SUMS * bin + (size_t)k],
                                         p->unit[k]);
        for (int k = 1; k < PROFILE_SUMS; k++)
            value[k] = value[0] > 0.0 ? value[k] / value[0] : 0.0;
        double a = run->problem.radiation;
        profile_number(&page,
                       0.5 * (profile_edge(p, bin) + profile_edge(p, bin + 1)),
                       ',');
        profile_number(&page, value[1], ',');
        profile_number(&page, sqrt(sqrt(value[2] / a)), ',');
        profile_number(&page, value[2], ',');
        profile_number(&page, value[3], ',');
        profile_number(&page, value[0], '\n');
    }
    return storm_page_end(&page);
}

static storm_status profile_write(const struct profile *p,
                                  const struct run *run)
{
    char name[64], *text = profile_text(p, run);
    snprintf(name, sizeof name, "profile-%" PRIu64 ".csv", run->step);
    storm_status status =
        text != NULL ? output_text(run->context, run->out_dir, name, text)
                     : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- public --------------------------------------------------------------- */

storm_status output_profile(struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    const struct storm_imc *imc = run->imc;
    size_t n_cells = (size_t)imc->n_cells + 1;
    struct profile p = {
        .n_bins = (size_t)v->output.profile_bins,
        .axis = v->output.profile_axis,
        .lo = v->mesh.lo[v->output.profile_axis],
        .hi = v->mesh.hi[v->output.profile_axis],
        .share = v->mesh.kind == STORM_MESH_CARTESIAN,
    };
    bool ok = true;
    p.sum = calloc(PROFILE_SUMS * p.n_bins + 1, sizeof *p.sum);
    for (int k = 1; k < PROFILE_SUMS; k++) {
        p.field[k] = calloc(n_cells, sizeof(double));
        ok = ok && p.field[k] != NULL;
    }
    storm_status status =
        storm_context_agree(run->context,
                            ok && p.sum != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0)
        goto out;
    status =
        storm_imc_get(run->imc, run->engine, STORM_IMC_TEMPERATURE, p.field[1]);
    if (status == STORM_OK)
        status = storm_imc_get(run->imc, run->engine, run_radiation(run),
                               p.field[2]);
    if (status == STORM_OK)
        status = storm_imc_get(run->imc, run->engine, STORM_IMC_MATERIAL_ENERGY,
                               p.field[3]);
    if (status == STORM_OK)
        status = profile_units(&p, imc);
    if (status == STORM_OK)
        profile_cells(&p, imc);
    if (status == STORM_OK)
        status = profile_reduce(&p, run->context);
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        status = profile_write(&p, run);
    status = storm_context_agree(run->context, status);
out:
    for (int k = 1; k < PROFILE_SUMS; k++)
        free(p.field[k]);
    free(p.sum);
    return status;
}
