/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of sources, and the parts of them that lie in a shape. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_order.h"
#include "physics/imc.h"
#include "physics/shape.h"

static const char source_label[] = "imc sources";

/* ---- the part of a cell that lies in a shape ---------------------------- */

/* Both are boxes: exactly. */
static double source_box_share(const struct storm_shape *shape,
                               const double centre[3], const double half[3])
{
    double share = 1.0;
    for (int d = 0; d < 3; d++) {
        double low = centre[d] - half[d], high = centre[d] + half[d];
        double inside =
            fmin(high, shape->hi_cm[d]) - fmax(low, shape->lo_cm[d]);
        double part = inside / (high - low);
        if (!(part > 1e-12)) /* it only touches: rounding */
            return 0.0;
        share *= part < 1.0 - 1e-12 ? part : 1.0;
    }
    return share;
}

/* Share of `n` points of the cell that are in the shape. They are spread more
 * evenly than by chance: steps of an irrational vector from a random start
 * (powers of the real root of x^4 = x + 1; M. Roberts, 2018). */
static double source_sample_share(const struct storm_imc *imc,
                                  const struct storm_shape *shape,
                                  storm_cell_idx cell, uint64_t n)
{
    struct storm_packet_id key = {.hi = 1,
                                  .lo = storm_mesh_cell_id(imc->mesh, cell)};
    static const double stride[3] = {0.8191725133961645, 0.6710436067037893,
                                     0.5497004779019703};
    uint64_t inside = 0;
    double u[4], point[3];
    storm_random(0, STORM_STREAM_MESH, key, 0, u);
    for (uint64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++)
            u[d] = u[d] + stride[d] - (u[d] + stride[d] < 1.0 ? 0.0 : 1.0);
        storm_mesh_sample(imc->mesh, cell, u, point);
        inside += storm_shape_contains(shape, point);
    }
    return (double)inside / (double)n;
}

/* Does the cell go through a periodic wall, beyond rounding? */
static bool source_is_wrapped(const struct storm_problem *p, const double lo[3],
                              const double hi[3])
{
    bool is_wrapped = false;
    for (int d = 0; d < 3; d++) {
        double rounding = 1e-9 * (p->hi_cm[d] - p->lo_cm[d]);
        is_wrapped = is_wrapped || lo[d] < p->lo_cm[d] - rounding ||
                     hi[d] > p->hi_cm[d] + rounding;
    }
    return is_wrapped;
}

static double source_share(const struct storm_imc *imc,
                           const struct storm_shape *shape, storm_cell_idx cell)
{
    /* Samples of a polyhedron are expensive. */
    enum { BOX_POINTS = 16384, POINTS = 2048 };
    size_t k = 3 * (size_t)cell;
    double lo[3], hi[3];
    if (imc->track.cells[cell].outside)
        return 0.0;
    if (shape->kind == STORM_SHAPE_ALL)
        return 1.0;
    storm_mesh_bounds(imc->mesh, cell, lo, hi);
    if (!source_is_wrapped(imc->problem, lo, hi)) {
        if (shape->kind == STORM_SHAPE_BOX && imc->is_box[cell])
            return source_box_share(shape, &imc->centre[k], &imc->half[k]);
        if (!storm_shape_meets(shape, lo, hi))
            return 0.0;
        if (storm_shape_covers(shape, lo, hi))
            return 1.0;
    }
    return source_sample_share(imc, shape, cell,
                               imc->is_box[cell] ? BOX_POINTS : POINTS);
}

/* ---- the cells of a source ---------------------------------------------- */

/* Volumes become whole numbers, this for the largest: their sums do not depend
 * on the ranks. */
static const double source_scale = 0x1p36;

static storm_status source_reduce(struct storm_imc *imc,
                                  struct imc_source *source,
                                  const double *volume)
{
    struct storm_ledger sum = {.n_since_carry = 0};
    double max = 0.0;
    for (size_t i = 0; i < source->n; i++) {
        storm_ledger_add(&sum, volume[i]);
        max = fmax(max, volume[i]);
    }
    storm_ledger_carry(&sum);
    storm_status status =
        storm_context_reduce(imc->context, &sum,
                             (int)(sizeof sum / sizeof(int64_t)), MPI_INT64_T,
                             MPI_SUM);
    if (status == STORM_OK)
        status =
            storm_context_reduce(imc->context, &max, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    for (size_t i = 0; i < source->n; i++)
        source->end[i] = (uint64_t)(volume[i] / max * source_scale) + 1;
    const struct storm_mesh_values shares = {source->n, source->cells,
                                             source->end};
    status = storm_mesh_sums(imc->mesh, status, &shares, source->begin,
                             &source->total);
    for (size_t i = 0; i < source->n && status >= 0; i++)
        source->end[i] += source->begin[i];
    if (status < 0)
        return status;
    source->volume_cm3 = storm_ledger_value(&sum);
    return STORM_OK;
}

static storm_status source_open_volume(struct storm_imc *imc, size_t i)
{
    struct storm_memory *memory = imc->env->memory;
    const struct storm_shape *shape = &imc->problem->sources[i].shape;
    struct imc_source *source = &imc->sources[i];
    size_t capacity = (size_t)imc->n_cells + 1;
    double *volume =
        storm_alloc(memory, source_label, capacity * sizeof *volume);
    source->cells =
        storm_alloc(memory, source_label, capacity * sizeof *source->cells);
    source->begin =
        storm_alloc(memory, source_label, capacity * sizeof *source->begin);
    source->end =
        storm_alloc(memory, source_label, capacity * sizeof *source->end);
    bool ok = volume != NULL && source->cells != NULL &&
              source->begin != NULL && source->end != NULL;
    storm_status status =
        storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        for (storm_cell_idx c = 0; c < imc->n_cells; c++) {
            double share = source_share(imc, shape, c);
            if (!(share > 0.0))
                continue;
            source->cells[source->n] = c;
            volume[source->n++] = share * imc->volume[c];
        }
        status = source_reduce(imc, source, volume);
    }
    /* Logged once: before the first step. */
    if (status == STORM_OK && source->total == 0 && imc->dt_s == 0.0 &&
        imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "source %zu lies in no cell: it emits nothing", i);
    storm_free(memory, volume);
    return status;
}

/* ---- points, beams, shells ---------------------------------------------- */

/* The box around the cells of this rank; all of space if some go through a
 * periodic wall. */
static void source_bounds(const struct storm_imc *imc,
                          struct imc_source *source)
{
    for (int d = 0; d < 3; d++) {
        source->lo[d] = INFINITY;
        source->hi[d] = -INFINITY;
    }
    for (storm_cell_idx c = 0; c < imc->n_cells; c++) {
        double lo[3], hi[3];
        storm_mesh_bounds(imc->mesh, c, lo, hi);
        bool wrapped = source_is_wrapped(imc->problem, lo, hi);
        for (int d = 0; d < 3; d++) {
            /* To rounding, and a little more. */
            double room =
                1e-9 * (imc->problem->hi_cm[d] - imc->problem->lo_cm[d]);
            source->lo[d] =
                fmin(source->lo[d], wrapped ? -INFINITY : lo[d] - room);
            source->hi[d] =
                fmax(source->hi[d], wrapped ? INFINITY : hi[d] + room);
        }
    }
}

/* Does the box around the source touch that box? */
static bool source_touches(const struct storm_source *s,
                           const struct imc_source *source)
{
    double reach = 0.0;
    if (s->kind == STORM_SOURCE_SHELL)
        reach = s->shell_radius_cm;
    if (s->kind == STORM_SOURCE_BEAM)
        reach = s->disc_radius_cm > 0.0 ? s->disc_radius_cm
                                        : s->width_cm[0] + s->width_cm[1];
    bool touches = true;
    for (int d = 0; d < 3; d++)
        touches = touches && s->at_cm[d] + reach >= source->lo[d] &&
                  s->at_cm[d] - reach <= source->hi[d];
    return touches;
}

/* The number of n points of the source that are in cells of this rank. */
static uint64_t source_count_points(const struct storm_imc *imc,
                                    const struct storm_source *s, uint64_t n)
{
    static const double stride[2] = {0.7548776662466927, 0.5698402909980532};
    double u[4] = {0.5, 0.5}, point[3];
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct storm_cell_ref where;
        imc_source_place(s, u, point);
        if (imc_is_in_box(imc, point) &&
            storm_mesh_locate(imc->mesh, point, &where) == STORM_OK &&
            where.rank == imc->env->rank &&
            !imc->track.cells[where.idx].outside)
            found++;
        for (int d = 0; d < 2; d++)
            u[d] = u[d] + stride[d] - (u[d] + stride[d] < 1.0 ? 0.0 : 1.0);
    }
    return found;
}

static storm_status source_open_surface(struct storm_imc *imc, size_t i)
{
    const struct storm_source *s = &imc->problem->sources[i];
    struct imc_source *source = &imc->sources[i];
    uint64_t n = s->kind == STORM_SOURCE_POINT ? 1 : 1024, found = 0;
    source_bounds(imc, source);
    source->is_near = source_touches(s, source);
    if (imc->dt_s != 0.0) /* logged before the first step */
        return STORM_OK;
    if (source->is_near)
        found = source_count_points(imc, s, n);
    storm_status status =
        storm_context_reduce(imc->context, &found, 1, MPI_UINT64_T, MPI_SUM);
    if (status >= 0 && found < n && imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "source %zu: %.3g %% of it is in cells, and only that "
                        "emits",
                        i, 100.0 * (double)found / (double)n);
    return status;
}

/* ---- all ---------------------------------------------------------------- */

/* The power of a volume may be a number beside the curve. */
static storm_status source_open(struct storm_imc *imc, size_t i)
{
    const struct storm_source *s = &imc->problem->sources[i];
    struct imc_source *source = &imc->sources[i];
    source->number[1] = s->power_erg_cm3_s;
    const struct storm_curve number = {source->number, 1};
    storm_status status =
        storm_context_agree(imc->context,
                            curve_open(imc->env,
                                       s->power.n > 0 ? &s->power : &number,
                                       s->power_formula, &source->power));
    if (status < 0)
        return status;
    return s->kind == STORM_SOURCE_VOLUME ? source_open_volume(imc, i)
                                          : source_open_surface(imc, i);
}

storm_status imc_source_begin(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < imc->problem->n_sources && status == STORM_OK; i++) {
        const struct storm_source *s = &imc->problem->sources[i];
        struct curve_window window = imc_window(imc, s->start_s, s->stop_s);
        char name[48];
        struct curve_limits limits = {name, STORM_UNLIMITED};
        snprintf(name, sizeof name, "power of source %zu", i);
        if (window.to > window.from)
            status =
                curve_begin(imc->env, &imc->sources[i].power, window, &limits);
    }
    return status;
}

storm_status imc_source_open(struct storm_imc *imc)
{
    size_t n = imc->problem->n_sources;
    imc->sources = storm_alloc(imc->env->memory, source_label,
                               (n + 1) * sizeof *imc->sources);
    storm_status status =
        storm_context_agree(imc->context,
                            imc->sources != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = source_open(imc, i);
    return status;
}

void imc_source_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    for (size_t i = 0; imc->sources != NULL && i < imc->problem->n_sources;
         i++) {
        curve_close(imc->env, &imc->sources[i].power);
        storm_free(memory, imc->sources[i].cells);
        storm_free(memory, imc->sources[i].begin);
        storm_free(memory, imc->sources[i].end);
    }
    storm_free(memory, imc->sources);
    imc->sources = NULL;
}
