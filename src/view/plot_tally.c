/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charts of a tally: light curves, spectra, directions; bars of what has none
 * of these axes.
 *
 *   TALLYCHART-1  A curve has the energy of its bins over their width: the area
 *                 below it is the energy. Bins of axes that are not shown are
 *                 added up.
 *   TALLYCHART-2  Bins before and after all others have no place on an axis; if
 *                 they have energy, the chart says which share.
 *   TALLYCHART-3  Only what is a single bin of the tally has a band: errors of
 *                 sums do not follow from errors of their parts, which are
 *                 correlated.
 *   TALLYCHART-4  Times that the run has not reached have no values: the bin in
 *                 which it ended ends there, and later ones are not drawn. (Not
 *                 by the clock of an observer, who sees the end at many times.)
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/plot_curves.h"

enum { TALLY_AXES = 8, TALLY_PARTS = 6 };

struct tally_axis {
    char name[32];
    size_t from, to;      /* columns; the same: bins are things */
    size_t n, stride;     /* bins, and rows from one to the next */
    size_t first, n_here; /* bins that are not ends */
};

struct tally {
    struct plot_run *plot;
    const char *name;
    struct io_table table;
    struct tally_axis axes[TALLY_AXES];
    size_t n_axes, energy; /* column */
    double *half;          /* of the 95 % interval, by row */
    double reached;        /* end of the run, on the domain's clock */
    bool has_errors, is_surface, is_observed;
};

/* ---- bins ---------------------------------------------------------------- */

static double tally_cell(const struct tally *t, size_t row, size_t column)
{
    return t->table.values[row * t->table.n_columns + column];
}

static double tally_from(const struct tally *t, const struct tally_axis *axis,
                         size_t bin)
{
    return tally_cell(t, bin * axis->stride, axis->from);
}

static bool tally_is_time(const struct tally_axis *axis)
{
    return strcmp(axis->name, "time") == 0;
}

static double tally_to(const struct tally *t, const struct tally_axis *axis,
                       size_t bin)
{
    double to = tally_cell(t, bin * axis->stride, axis->to);
    return tally_is_time(axis) ? fmin(to, t->reached) : to;
}

static size_t tally_bin(const struct tally_axis *axis, size_t row)
{
    return row / axis->stride % axis->n;
}

static bool tally_is_interval(const struct tally_axis *axis)
{
    return axis->to != axis->from;
}

/* Axes from the columns before `energy`: NAME_from and NAME_to, or NAME. */
static bool tally_find_axes(struct tally *t)
{
    t->energy = io_table_find(&t->table, "energy");
    for (size_t i = 0; i < t->energy && t->n_axes < TALLY_AXES; i++) {
        struct tally_axis *axis = &t->axes[t->n_axes++];
        const char *column = t->table.names[i];
        size_t length = strlen(column);
        axis->from = axis->to = i;
        if (length > 5 && strcmp(column + length - 5, "_from") == 0) {
            length -= 5;
            axis->to = ++i;
        }
        snprintf(axis->name, sizeof axis->name, "%.*s", (int)length, column);
    }
    return t->energy < t->table.n_columns && t->n_axes < TALLY_AXES;
}

/* The number of bins of each: the innermost runs fastest. */
static bool tally_count_bins(struct tally *t)
{
    const double end = 1e300;
    size_t stride = 1, n_rows = t->table.n_rows;
    if (n_rows == 0)
        return false;
    for (size_t k = t->n_axes; k-- > 0;) {
        struct tally_axis *axis = &t->axes[k];
        axis->stride = stride;
        axis->n = 1;
        while (axis->n * stride < n_rows &&
               tally_from(t, axis, axis->n) != tally_from(t, axis, 0))
            axis->n++;
        axis->n_here = axis->n;
        if (tally_is_interval(axis) && tally_from(t, axis, 0) <= -end) {
            axis->first = 1;
            axis->n_here--;
        }
        if (tally_is_interval(axis) && axis->n_here > 0 &&
            tally_to(t, axis, axis->n - 1) >= end)
            axis->n_here--;
        stride *= axis->n;
    }
    return stride == n_rows;
}

/* The last edge that is not an end. */
static double tally_largest(const struct tally *t,
                            const struct tally_axis *axis)
{
    return axis->n_here > 0 ? tally_to(t, axis, axis->first + axis->n_here - 1)
                            : 0.0;
}

static const struct tally_axis *tally_axis(const struct tally *t,
                                           const char *name)
{
    for (size_t i = 0; i < t->n_axes; i++)
        if (strcmp(t->axes[i].name, name) == 0)
            return &t->axes[i];
    return NULL;
}

/* ---- names --------------------------------------------------------------- */

static void tally_interval_name(const struct tally *t,
                                const struct tally_axis *axis, size_t first,
                                size_t last, char name_out[PLOT_TEXT])
{
    char from[STORM_SVG_LABEL_BYTES], to[STORM_SVG_LABEL_BYTES];
    bool is_time = strcmp(axis->name, "time") == 0;
    const char *word = strcmp(axis->name, "mu") == 0 ? "μ" : axis->name;
    const char *unit = strcmp(axis->name, "azimuth") == 0 ? " turns"
                       : strcmp(axis->name, "group") == 0 && !t->plot->natural
                           ? " keV"
                           : "";
    double factor = 1.0, largest = tally_largest(t, axis);
    char time_unit[STORM_SVG_LABEL_BYTES] = "";
    if (is_time && !t->plot->natural) {
        snprintf(time_unit, sizeof time_unit, " %s",
                 plot_time_unit(largest, &factor));
        unit = time_unit;
    }
    storm_svg_number(factor * tally_from(t, axis, first), 4, from);
    storm_svg_number(factor * tally_to(t, axis, last), 4, to);
    if (first < axis->first)
        snprintf(name_out, PLOT_TEXT, "%s below %s%s", word, to, unit);
    else if (last >= axis->first + axis->n_here)
        snprintf(name_out, PLOT_TEXT, "%s from %s%s on", word, from, unit);
    else
        snprintf(name_out, PLOT_TEXT, "%s %s to %s%s", word, from, to, unit);
}

static void tally_thing_name(const struct tally *t,
                             const struct tally_axis *axis, size_t bin,
                             char name_out[PLOT_TEXT])
{
    char kind[PLOT_NAME] = "";
    int number = (int)tally_from(t, axis, bin);
    bool is_side = strcmp(axis->name, "side") == 0;
    (void)storm_deck_value(t->plot->deck, "mesh.kind", kind, sizeof kind);
    if (is_side)
        snprintf(name_out, PLOT_TEXT, "%s",
                 number > 0 ? "outwards" : "inwards");
    else if (strcmp(axis->name, "wall") == 0 && number < 0)
        snprintf(name_out, PLOT_TEXT, "outside, planes");
    else if (strcmp(axis->name, "wall") == 0 && strcmp(kind, "file") != 0)
        snprintf(name_out, PLOT_TEXT, "%c_%s", "xyz"[number / 2 % 3],
                 number % 2 != 0 ? "hi" : "lo");
    else
        snprintf(name_out, PLOT_TEXT, "%s %d", axis->name, number);
}

/* ---- curves -------------------------------------------------------------- */

/* A chart: over one axis, a curve for each part of another. */
struct tally_chart {
    const struct tally_axis *x, *parts; /* parts: NULL if there is one curve */
    bool is_single;                     /* each value is one bin of the tally */
    double outside; /* share in bins that x has no place for */
};

/* How many bins of `parts` make one curve. */
static size_t tally_merge(const struct tally_chart *chart)
{
    if (chart->parts == NULL || !tally_is_interval(chart->parts) ||
        chart->parts->n_here <= TALLY_PARTS)
        return 1;
    return (chart->parts->n_here + TALLY_PARTS - 1) / TALLY_PARTS;
}

/* The energies of some bins of `parts` over x. */
static void tally_add_up(const struct tally *t, const struct tally_chart *chart,
                         size_t first, size_t last, struct plot_curve *curve)
{
    const struct tally_axis *x = chart->x;
    for (size_t i = 0; i < x->n_here; i++) {
        curve->x[i] = tally_from(t, x, x->first + i);
        curve->y[i] = curve->band[i] = 0.0;
    }
    curve->x[x->n_here] = tally_to(t, x, x->first + x->n_here - 1);
    for (size_t row = 0; row < t->table.n_rows; row++) {
        size_t part = chart->parts != NULL ? tally_bin(chart->parts, row) : 0;
        size_t i = tally_bin(x, row) - x->first; /* wraps below */
        if (part < first || part > last || i >= x->n_here)
            continue;
        curve->y[i] += tally_cell(t, row, t->energy);
        curve->band[i] = t->half[row];
    }
    for (size_t i = 0; i < x->n_here; i++) {
        double width = curve->x[i + 1] - curve->x[i];
        curve->y[i] /= width;
        curve->band[i] /= width;
    }
}

static storm_status tally_curve(const struct tally *t,
                                const struct tally_chart *chart, size_t first,
                                size_t last, struct plot_curves *curves)
{
    struct plot_curve *curve = plot_curves_add(curves, chart->x->n_here);
    if (curve == NULL)
        return plot_fail(t->plot, STORM_ERR_NOMEM, "no memory");
    curve->style = STORM_CHART_STEPS;
    curve->has_band = t->has_errors && chart->is_single;
    curve->is_time =
        chart->parts != NULL && strcmp(chart->parts->name, "time") == 0;
    tally_add_up(t, chart, first, last, curve);
    if (chart->parts == NULL)
        return STORM_OK;
    if (tally_is_interval(chart->parts))
        tally_interval_name(t, chart->parts, first, last, curve->name);
    else
        tally_thing_name(t, chart->parts, first, curve->name);
    return STORM_OK;
}

/* Ends are curves of their own. */
static storm_status tally_curves(const struct tally *t,
                                 const struct tally_chart *chart,
                                 struct plot_curves *curves)
{
    const struct tally_axis *parts = chart->parts;
    size_t merge = tally_merge(chart), n = parts != NULL ? parts->n : 1;
    size_t here_end = parts != NULL ? parts->first + parts->n_here : 1;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status == STORM_OK;) {
        bool is_end = parts != NULL && (i < parts->first || i >= here_end);
        size_t last = is_end ? i : i + merge - 1;
        if (!is_end && last >= here_end)
            last = here_end - 1;
        status = tally_curve(t, chart, i, last, curves);
        i = last + 1;
    }
    return status;
}

/* Logarithmic: photon energies over more than a decade, and times most of which
 * are early. A bin that begins at 0 then begins one ratio before the next. */
static bool tally_log_x(const struct tally *t, const struct tally_axis *x,
                        struct plot_curves *curves)
{
    const double *edges = curves->curve[0].x;
    bool is_group = strcmp(x->name, "group") == 0;
    bool may = t->plot->params->log != STORM_PLOT_NO;
    bool log = is_group
                   ? may && edges[0] > 0.0 && edges[x->n_here] > 10.0 * edges[0]
                   : plot_wants_log_x(t->plot, edges, x->n_here + 1);
    for (size_t i = 0; i < curves->n && log && edges[0] == 0.0; i++) {
        double *own = curves->curve[curves->n - 1 - i].x;
        own[0] = own[1] * own[1] / own[2];
    }
    return log;
}

/* ---- texts --------------------------------------------------------------- */

/* What an axis is on a chart. */
static const struct tally_words {
    const char *axis, *x, *x_unit, *y, *y_unit, *by;
} tally_words[] = {
    {"time", "time", "s", "energy per time", "erg/s", "time"},
    {"group", "photon energy", "keV", "energy per photon energy", "erg/keV",
     "photon energy"},
    {"mu", "μ (cosine of direction and axis)", "", "energy per unit of μ",
     "erg", "direction"},
};
enum { TALLY_WORDS = sizeof tally_words / sizeof tally_words[0] };

static const char *tally_what(const struct tally *t)
{
    return t->is_surface ? "through the surface" : "escaped";
}

static void tally_subtitle(const struct tally *t,
                           const struct tally_chart *chart, const char *by,
                           char text_out[PLOT_TEXT])
{
    const char *parts = chart->parts == NULL ? ""
                        : strcmp(chart->parts->name, "mu") == 0
                            ? "direction"
                            : chart->parts->name;
    int n =
        snprintf(text_out, PLOT_TEXT, "tally %s: energy %s by %s%s%s", t->name,
                 tally_what(t), by, *parts != '\0' ? " and " : "", parts);
    if (chart->outside > 0.0)
        n += snprintf(text_out + n, (size_t)(PLOT_TEXT - n),
                      "; %.2g %% not on this axis", 100.0 * chart->outside);
    if (t->has_errors && !chart->is_single)
        snprintf(text_out + n, (size_t)(PLOT_TEXT - n),
                 "; mean of %" PRIu64 " replicas, sums of bins: no band",
                 t->table.replicas);
}

static double tally_outside(const struct tally *t, const struct tally_axis *x)
{
    double all = 0.0, here = 0.0;
    for (size_t row = 0; row < t->table.n_rows; row++) {
        double energy = tally_cell(t, row, t->energy);
        all += energy;
        if (tally_bin(x, row) - x->first < x->n_here)
            here += energy;
    }
    double share = all > 0.0 ? 1.0 - here / all : 0.0;
    return share > 1e-9 ? share : 0.0;
}

static void tally_x_label(const struct tally *t, const struct tally_axis *x,
                          const struct tally_words *words,
                          char label_out[PLOT_TEXT])
{
    if (tally_is_time(x))
        (void)plot_time_axis(t->plot,
                             t->is_observed ? "time of a distant observer"
                                            : words->x,
                             tally_largest(t, x), label_out);
    else
        plot_with_unit(t->plot, words->x, words->x_unit, label_out);
}

/* Times in the unit of the label; energies stay by second. */
static void tally_scale_times(const struct tally *t, const struct tally_axis *x,
                              struct plot_curves *curves)
{
    char label[PLOT_TEXT];
    if (!tally_is_time(x))
        return;
    double factor = plot_time_axis(t->plot, "time", tally_largest(t, x), label);
    for (size_t k = 0; k < curves->n; k++)
        for (size_t i = 0; i <= curves->curve[k].n; i++)
            curves->curve[k].x[i] *= factor;
}

static storm_status tally_draw(const struct tally *t, struct tally_chart *chart,
                               const struct tally_words *words)
{
    struct plot_curves curves = {.plot = t->plot,
                                 .replicas = t->table.replicas};
    size_t shown = chart->x->n * (chart->parts != NULL ? chart->parts->n : 1);
    char file[2 * PLOT_NAME], subtitle[PLOT_TEXT], x[PLOT_TEXT], y[PLOT_TEXT];
    chart->is_single = shown == t->table.n_rows && tally_merge(chart) == 1;
    chart->outside = tally_outside(t, chart->x);
    snprintf(file, sizeof file, "tally-%s-%s%s%s.svg", t->name, chart->x->name,
             chart->parts != NULL ? "-" : "",
             chart->parts != NULL ? chart->parts->name : "");
    tally_subtitle(t, chart, words->by, subtitle);
    tally_x_label(t, chart->x, words, x);
    plot_with_unit(t->plot, words->y, words->y_unit, y);
    storm_status status = tally_curves(t, chart, &curves);
    if (status == STORM_OK && plot_curves_any(&curves)) {
        const struct plot_chart_text text = {file, subtitle, x, y};
        curves.log_x = tally_log_x(t, chart->x, &curves);
        tally_scale_times(t, chart->x, &curves);
        status = plot_curves_draw(&curves, &text);
    }
    plot_curves_free(&curves);
    return status;
}

/* ---- bars ---------------------------------------------------------------- */

/* Energy by things: walls, sides, or all together. */
static char *tally_bars(const struct tally *t, const struct tally_axis *axis,
                        const char *subtitle, char (*names)[2 * PLOT_TEXT],
                        struct storm_bar *bars)
{
    char label[PLOT_TEXT], thing[PLOT_TEXT] = "all";
    size_t n = 0;
    for (size_t i = 0; i < t->table.n_rows; i++) {
        const double *energy =
            &t->table.values[i * t->table.n_columns + t->energy];
        if (!(*energy > 0.0))
            continue;
        if (axis != NULL)
            tally_thing_name(t, axis, i, thing);
        snprintf(names[n], sizeof names[n], "%s", thing);
        if (t->has_errors)
            snprintf(names[n], sizeof names[n], "%s (± %.2g %%)", thing,
                     100.0 * t->half[i] / *energy);
        bars[n] = (struct storm_bar){.name = names[n], .values = energy};
        n++;
    }
    plot_with_unit(t->plot, "energy", "erg", label);
    struct storm_bars chart = {.title = t->plot->title,
                               .subtitle = subtitle,
                               .label = label,
                               .n_parts = 1,
                               .bars = bars,
                               .n_bars = n};
    return storm_bars_svg(&chart);
}

static storm_status tally_draw_bars(const struct tally *t)
{
    const struct tally_axis *axis = t->n_axes > 0 ? &t->axes[0] : NULL;
    const struct storm_plot_params *params = t->plot->params;
    struct storm_memory *memory = t->plot->memory;
    size_t n = t->table.n_rows;
    char file[2 * PLOT_NAME], subtitle[PLOT_TEXT], *svg = NULL;
    char(*names)[2 * PLOT_TEXT] =
        storm_alloc(memory, PLOT_LABEL, (n + 1) * sizeof *names);
    struct storm_bar *bars =
        storm_alloc(memory, PLOT_LABEL, (n + 1) * sizeof *bars);
    snprintf(file, sizeof file, "tally-%s%s%s.svg", t->name,
             axis != NULL ? "-" : "", axis != NULL ? axis->name : "");
    snprintf(subtitle, sizeof subtitle, "tally %s: energy %s%s%s", t->name,
             tally_what(t), axis != NULL ? " by " : "",
             axis != NULL ? axis->name : "");
    if (t->has_errors)
        snprintf(subtitle + strlen(subtitle),
                 sizeof subtitle - strlen(subtitle),
                 "; mean of %" PRIu64 " replicas, ±: 95 %% interval",
                 t->table.replicas);
    if (names != NULL && bars != NULL)
        svg = tally_bars(t, axis, subtitle, names, bars);
    storm_free(memory, names);
    storm_free(memory, bars);
    if (svg == NULL)
        return plot_fail(t->plot, STORM_ERR_NOMEM, "no memory");
    storm_status status = params->take(params->take_self, file, subtitle, svg);
    free(svg);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

/* May its bins be the curves of a chart over x? Times only of spectra. */
static bool tally_may_part(const struct tally_axis *x,
                           const struct tally_axis *axis)
{
    if (axis == x || axis->n < 2 || strcmp(axis->name, "group") == 0)
        return false;
    return strcmp(axis->name, "time") != 0 || strcmp(x->name, "group") == 0;
}

/* Over each axis that is one: a chart for each other that may part it, or one
 * with one curve. */
static storm_status tally_draw_all(const struct tally *t)
{
    storm_status status = STORM_OK;
    bool any = false;
    for (int i = 0; i < TALLY_WORDS; i++) {
        struct tally_chart chart = {.x = tally_axis(t, tally_words[i].axis)};
        bool parted = false;
        if (chart.x == NULL || !tally_is_interval(chart.x) ||
            chart.x->n_here == 0)
            continue;
        any = true;
        for (size_t k = 0; k < t->n_axes && status == STORM_OK; k++) {
            if (!tally_may_part(chart.x, &t->axes[k]))
                continue;
            parted = true;
            chart.parts = &t->axes[k];
            status = tally_draw(t, &chart, &tally_words[i]);
        }
        if (!parted && status == STORM_OK)
            status = tally_draw(t, &chart, &tally_words[i]);
    }
    if (!any && t->n_axes < 2 && status == STORM_OK)
        status = tally_draw_bars(t);
    return status;
}

/* What the deck says of it. */
static void tally_describe(struct tally *t)
{
    char name[PLOT_NAME], key[PLOT_NAME], value[PLOT_NAME];
    size_t i = 0;
    while (plot_tally_name(t->plot, i, name) && strcmp(name, t->name) != 0)
        i++;
    snprintf(key, sizeof key, "output.tallies.%zu.where", i);
    if (storm_deck_value(t->plot->deck, key, value, sizeof value) > 0)
        t->is_surface = strcmp(value, "surface") == 0;
    snprintf(key, sizeof key, "output.tallies.%zu.clock", i);
    if (storm_deck_value(t->plot->deck, key, value, sizeof value) > 0)
        t->is_observed = strcmp(value, "observer") == 0;
}

/* TALLYCHART-4. */
static void tally_end(struct tally *t)
{
    const double little = 1e-9; /* rounding of the last step */
    if (t->is_observed || !isfinite(t->table.time))
        return;
    for (size_t i = 0; i < t->n_axes; i++) {
        struct tally_axis *axis = &t->axes[i];
        while (tally_is_time(axis) && axis->n_here > 0 &&
               tally_from(t, axis, axis->first + axis->n_here - 1) >=
                   t->table.time * (1.0 - little))
            axis->n_here--;
    }
    t->reached = t->table.time;
}

/* Has anything been counted? */
static bool tally_any(const struct tally *t)
{
    for (size_t row = 0; row < t->table.n_rows; row++)
        if (tally_cell(t, row, t->energy) > 0.0)
            return true;
    return false;
}

storm_status plot_tally(struct plot_run *plot, const char *name, bool all)
{
    struct tally t = {.plot = plot, .name = name, .reached = (double)INFINITY};
    char path[IO_READER_PATH + PLOT_NAME + 16];
    snprintf(path, sizeof path, "%s/tally-%s.csv", plot->params->run_dir, name);
    storm_status status = io_table_read(plot->memory, path, &t.table,
                                        plot->problem, sizeof plot->problem);
    if (status == STORM_OK) {
        t.half = storm_alloc(plot->memory, PLOT_LABEL,
                             (t.table.n_rows + 1) * sizeof *t.half);
        if (t.half == NULL)
            status = plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    }
    if (status == STORM_OK && !(tally_find_axes(&t) && tally_count_bins(&t)))
        status = plot_fail(plot, STORM_ERR_IO, "%s is not the table of a tally",
                           path);
    if (status == STORM_OK) {
        t.has_errors = plot_band(&t.table, "energy", t.half);
        tally_describe(&t);
        tally_end(&t);
        if (tally_any(&t))
            status = tally_draw_all(&t);
        else if (all)
            status = plot_fail(plot, STORM_ERR_ARG,
                               "tally-%s is empty: no packet has %s", name,
                               t.is_surface ? "passed the surface" : "escaped");
    }
    storm_free(plot->memory, t.half);
    io_table_free(&t.table);
    return status;
}
