/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves of one chart: which are drawn, on which axes. */
#include "view/plot_curves.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"

static const double curves_confidence = 0.95; /* of bands */

enum {
    CURVES_MAX = 8,  /* as many as there are colours */
    CURVES_BANDS = 3 /* above each other */
};

/* Of the largest value: what is below is rounding, and counts as 0. */
static const double curves_nothing = 1e-12;

bool plot_band(const struct io_table *table, const char *name, double *band)
{
    char column[IO_TABLE_NAME + 8];
    snprintf(column, sizeof column, "%s_error", name);
    size_t error = io_table_find(table, column);
    if (error == table->n_columns || table->replicas < 2)
        return false;
    double t = storm_student_t(curves_confidence, table->replicas - 1);
    for (size_t i = 0; i < table->n_rows; i++)
        band[i] = t * table->values[i * table->n_columns + error];
    return true;
}

void plot_band_text(uint64_t replicas, const char *mark, char *text,
                    size_t size)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n,
             "; mean of %" PRIu64 " replicas, %s: %.0f %% interval", replicas,
             mark, 100.0 * curves_confidence);
}

double plot_order(size_t k, size_t n)
{
    return n > 1 ? fmax((double)k / (double)(n - 1), 1e-3) : 0.5;
}

/* ---- adding -------------------------------------------------------------- */

struct plot_curve *plot_curves_add(struct plot_curves *c, size_t n)
{
    struct storm_memory *memory = c->plot->memory;
    void *list = c->curve;
    storm_status status = storm_reserve(memory, PLOT_LABEL, sizeof *c->curve,
                                        c->n + 1, &list, &c->capacity);
    c->curve = list;
    double *room = status == STORM_OK ? storm_alloc(memory, PLOT_LABEL,
                                                    (3 * n + 1) * sizeof *room)
                                      : NULL;
    if (room == NULL)
        return NULL;
    struct plot_curve *curve = &c->curve[c->n++];
    *curve = (struct plot_curve){
        .n = n, .x = room, .y = room + n + 1, .band = room + 2 * n + 1};
    return curve;
}

void plot_curves_free(struct plot_curves *c)
{
    for (size_t i = 0; i < c->n; i++)
        storm_free(c->plot->memory, c->curve[i].x);
    storm_free(c->plot->memory, c->curve);
}

/* ---- axes ---------------------------------------------------------------- */

bool plot_wants_log_x(const struct plot_run *plot, const double *x, size_t n)
{
    enum { FEW = 8 };
    return plot->params->log != STORM_PLOT_NO && n >= FEW && x[0] >= 0.0 &&
           x[n / 2] < 0.1 * x[n - 1];
}

static double curve_max(const struct plot_curve *curve)
{
    double max = 0.0;
    for (size_t i = 0; i < curve->n; i++)
        if (isfinite(curve->y[i]))
            max = fmax(max, fabs(curve->y[i]));
    return max;
}

bool plot_curves_any(const struct plot_curves *c)
{
    for (size_t k = 0; k < c->n; k++)
        if (curve_max(&c->curve[k]) > 0.0)
            return true;
    return false;
}

/* Of all curves. */
static struct plot_range curves_range(const struct plot_curves *c)
{
    struct plot_range range = {(double)INFINITY, (double)INFINITY,
                               (double)-INFINITY};
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < c->curve[k].n; i++)
            if (isfinite(c->curve[k].y[i])) {
                range.lo = fmin(range.lo, c->curve[k].y[i]);
                range.hi = fmax(range.hi, c->curve[k].y[i]);
            }
    return range;
}

/* Would a linear axis hide a whole curve, or many values? */
static bool curves_are_wide(const struct plot_curves *c, double max)
{
    const size_t many = 8; /* one in so many */
    size_t n = 0, n_small = 0;
    bool hides = false;
    for (size_t k = 0; k < c->n; k++) {
        double own = curve_max(&c->curve[k]);
        hides = hides || (own > 0.0 && own * plot_wide < max);
        for (size_t i = 0; i < c->curve[k].n; i++) {
            double y = c->curve[k].y[i];
            n += isfinite(y) && y > 0.0;
            n_small += isfinite(y) && y > 0.0 && y * plot_wide < max;
        }
    }
    return hides || many * n_small > n;
}

static bool curves_want_log(const struct plot_curves *c,
                            const struct plot_range *range)
{
    storm_plot_choice choice = c->plot->params->log;
    bool can = range->lo >= 0.0 && range->hi > 0.0;
    bool asks = !c->linear && curves_are_wide(c, range->hi);
    return can &&
           (choice == STORM_PLOT_YES || (choice == STORM_PLOT_AUTO && asks));
}

/* What is too small for a logarithmic axis leaves a gap. */
static void curves_cut(struct plot_curves *c, double max)
{
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < c->curve[k].n; i++)
            if (c->curve[k].y[i] < plot_deep * max)
                c->curve[k].y[i] = (double)NAN;
}

/* Empties curves that have nothing but rounding. */
static void curves_drop(struct plot_curves *c)
{
    double max = 0.0;
    for (size_t k = 0; k < c->n; k++)
        max = fmax(max, curve_max(&c->curve[k]));
    for (size_t k = 0; k < c->n; k++)
        if (curve_max(&c->curve[k]) < curves_nothing * max)
            c->curve[k].n = 0;
}

/* ---- drawing ------------------------------------------------------------- */

/* Is it among the largest that have a colour? Of equal ones, the first are. */
static bool curves_is_large(const struct plot_curves *c, size_t k)
{
    size_t n_larger = 0;
    double own = curve_max(&c->curve[k]);
    for (size_t i = 0; i < c->n; i++) {
        double other = curve_max(&c->curve[i]);
        n_larger += other > own || (other == own && i < k);
    }
    return own > 0.0 && n_larger < CURVES_MAX;
}

/* Leaves out curves without values, and the smallest of many. */
static void curves_choose(struct plot_curves *c,
                          struct storm_chart_series series[CURVES_MAX],
                          size_t *n_out, size_t *n_all_out)
{
    *n_out = *n_all_out = 0;
    for (size_t k = 0; k < c->n; k++) {
        const struct plot_curve *curve = &c->curve[k];
        *n_all_out += curve_max(curve) > 0.0;
        if (!curves_is_large(c, k))
            continue;
        series[*n_out] = (struct storm_chart_series){
            .name = curve->name[0] != '\0' ? curve->name : NULL,
            .style = curve->style,
            .colour = (int)*n_out,
            .order = curve->is_time ? 1.0 : 0.0,
            .n = curve->n,
            .x = curve->x,
            .y = curve->y,
            .band = curve->has_band ? curve->band : NULL};
        ++*n_out;
    }
    for (size_t k = 0; k < *n_out; k++)
        if (series[k].order > 0.0)
            series[k].order = plot_order(k, *n_out);
}

/* CURVES-3: many bands above each other show nothing. */
static bool curves_take_bars(struct storm_chart_series *series, size_t n)
{
    size_t n_bands = 0;
    for (size_t i = 0; i < n; i++)
        n_bands +=
            series[i].band != NULL && series[i].style == STORM_CHART_STEPS;
    for (size_t i = 0; i < n && n_bands > CURVES_BANDS; i++)
        if (series[i].style == STORM_CHART_STEPS) {
            series[i].error = series[i].band;
            series[i].band = NULL;
        }
    return n_bands > CURVES_BANDS;
}

storm_status plot_curves_draw(struct plot_curves *c,
                              const struct plot_chart_text *text)
{
    struct storm_chart_series series[CURVES_MAX];
    size_t n, n_all, used;
    char subtitle[2 * PLOT_TEXT];
    curves_drop(c);
    const struct plot_range range = curves_range(c);
    bool log = curves_want_log(c, &range), has_band = false;
    curves_choose(c, series, &n, &n_all);
    if (log)
        curves_cut(c, range.hi);
    for (size_t i = 0; i < n; i++)
        has_band = has_band || series[i].band != NULL;
    bool has_bars = curves_take_bars(series, n);
    snprintf(subtitle, sizeof subtitle, "%s", text->subtitle);
    if (has_band)
        plot_band_text(c->replicas, has_bars ? "bars" : "band", subtitle,
                       sizeof subtitle);
    used = strlen(subtitle);
    if (n < n_all)
        snprintf(subtitle + used, sizeof subtitle - used,
                 "; the %zu largest of %zu curves", n, n_all);
    struct storm_chart chart = {
        .title = c->plot->title,
        .subtitle = subtitle,
        .x = {.label = text->x, .log = c->log_x, .whole = c->whole_x},
        .y = {.label = text->y, .log = log, .from_zero = !log && !c->off_zero},
        .series = series,
        .n_series = n,
    };
    char *svg = storm_chart_svg(&chart);
    if (svg == NULL)
        return plot_fail(c->plot, STORM_ERR_NOMEM, "no memory");
    storm_status status =
        c->plot->params->take(c->plot->params->take_self, text->file,
                              text->subtitle, svg);
    free(svg);
    return status;
}
