/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts over time: history.csv and probes.csv. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/plot_curves.h"

enum { HISTORY_POINTS = 2000 }; /* of a curve; of more, every second, ... */

/* ---- columns ------------------------------------------------------------- */

static double cell(const struct io_table *table, size_t row, size_t column)
{
    return table->values[row * table->n_columns + column];
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_error(const char *column)
{
    size_t n = strlen(column);
    return n > 6 && strcmp(column + n - 6, "_error") == 0;
}

/* Rows of a curve, and room for a value of each row of the table. */
struct history_rows {
    const struct io_table *table;
    const char *name; /* of the table: "history", "probes-3" */
    size_t n, *row;
    double *band;
};

/* The longest of its times, or steps. */
static double rows_max(const struct history_rows *rows, const char *column)
{
    size_t i_column = io_table_find(rows->table, column);
    double max = 0.0;
    for (size_t i = 0; i < rows->n; i++)
        max = fmax(max, cell(rows->table, rows->row[i], i_column));
    return max;
}

/* "; replica 3" of a table of one. */
static void rows_replica(const struct history_rows *rows,
                         char text_out[PLOT_NAME])
{
    const char *number = strchr(rows->name, '-');
    snprintf(text_out, PLOT_NAME, "%s%s", number != NULL ? "; replica " : "",
             number != NULL ? number + 1 : "");
}

/* All rows, or those with this value of a column; of many, every second, ... */
static bool rows_choose(struct history_rows *rows, size_t column, double value)
{
    const struct io_table *table = rows->table;
    rows->n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (column == table->n_columns || cell(table, i, column) == value)
            rows->row[rows->n++] = i;
    size_t all = rows->n, skip = (all + HISTORY_POINTS - 1) / HISTORY_POINTS;
    rows->n = 0;
    for (size_t i = 0; i < all; i += skip)
        rows->row[rows->n++] = rows->row[i];
    return all > 0;
}

static storm_status rows_open(struct plot_run *plot,
                              const struct io_table *table,
                              struct history_rows *rows)
{
    size_t n = table->n_rows + 1;
    *rows = (struct history_rows){
        .table = table,
        .row = storm_alloc(plot->memory, PLOT_LABEL, n * sizeof *rows->row),
        .band = storm_alloc(plot->memory, PLOT_LABEL, n * sizeof *rows->band)};
    return rows->row != NULL && rows->band != NULL
               ? STORM_OK
               : plot_fail(plot, STORM_ERR_NOMEM, "no memory");
}

static void rows_close(const struct plot_run *plot, struct history_rows *rows)
{
    storm_free(plot->memory, rows->row);
    storm_free(plot->memory, rows->band);
}

/* name: of the file, without .csv */
static storm_status history_read(struct plot_run *plot, const char *name,
                                 struct io_table *table)
{
    char path[IO_READER_PATH + PLOT_NAME + 8];
    snprintf(path, sizeof path, "%s/%s.csv", plot->params->run_dir, name);
    return io_table_read(plot->memory, path, table, plot->problem,
                         sizeof plot->problem);
}

static storm_status history_needs(struct plot_run *plot, const char *name,
                                  const struct io_table *table,
                                  const char *const *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (io_table_find(table, columns[i]) == table->n_columns)
            return plot_fail(plot, STORM_ERR_IO, "%s/%s.csv has no column %s",
                             plot->params->run_dir, name, columns[i]);
    return STORM_OK;
}

/* ---- history ------------------------------------------------------------- */

/* A chart of history.csv: columns that begin with one of the words. */
struct history_chart {
    const char *file; /* the rest of its name */
    const char *subtitle, *label, *unit;
    bool by_time; /* divided by dt, in the middle of the step */
    struct history_part {
        const char *prefix; /* of the columns */
        const char *name;   /* of the curves, before the rest of the column */
        storm_chart_style style;
    } parts[2];
};

static const struct history_chart history_charts[] = {
    {"power",
     "energy created and absorbed per time",
     "energy per time",
     "erg/s",
     true,
     {{"energy_", "created: ", STORM_CHART_LINE},
      {"absorbed_", "absorbed: ", STORM_CHART_REFERENCE}}},
    {"escaped",
     "energy escaped per time, by wall",
     "energy per time",
     "erg/s",
     true,
     {{"escaped_", "", STORM_CHART_LINE}}},
    {"energy",
     "energy of the packets at the end of each step",
     "energy",
     "erg",
     false,
     {{"energy_census", "", STORM_CHART_LINE}}},
    {"packets",
     "packets created and escaped in each step, and at its end",
     "packets",
     "",
     false,
     {{"packets_", "", STORM_CHART_LINE}}},
    {"dt",
     "time step",
     "time step",
     "s",
     false,
     {{"dt", "", STORM_CHART_LINE}}},
    {"imbalance",
     "load of the ranks in each step: max over mean of their events",
     "max / mean of events",
     "",
     false,
     {{"imbalance", "", STORM_CHART_LINE}}},
    {"balance",
     "relative error of all energies since the start",
     "relative error of the energy balance",
     "",
     false,
     {{"balance", "", STORM_CHART_POINTS}}},
    {"seconds",
     "transport of each step, the slowest rank",
     "computing time",
     "s",
     false,
     {{"seconds", "", STORM_CHART_LINE}}},
};
enum { HISTORY_CHARTS = sizeof history_charts / sizeof history_charts[0] };

/* "escaped: x_lo"; packets are created unless the column says otherwise. */
static void history_name(const struct history_part *part, const char *column,
                         char name_out[PLOT_TEXT])
{
    const char *rest = column + strlen(part->prefix);
    const char *before = part->name;
    if (strcmp(part->prefix, "packets_") == 0)
        before = strcmp(rest, "census") == 0    ? "at the end"
                 : strcmp(rest, "escaped") == 0 ? "escaped"
                                                : "created: ";
    bool is_whole = *before != '\0' && before[strlen(before) - 1] != ' ';
    if (strcmp(part->prefix, "escaped_") == 0 && *rest >= '0' && *rest <= '9')
        before = "boundary "; /* of a mesh from a file */
    snprintf(name_out, PLOT_TEXT, "%s%s", before, is_whole ? "" : rest);
}

/* Radiation that is there at the start comes at once, in the first step. Energy
 * at census is not created. */
static bool history_wants(const struct history_chart *chart,
                          const struct history_part *part, const char *column)
{
    const char *rest = column + strlen(part->prefix);
    return starts(column, part->prefix) && !is_error(column) &&
           (*rest == '\0' || strlen(part->prefix) > 2) &&
           strcmp(rest, "initial") != 0 &&
           !(chart->by_time && strcmp(rest, "census") == 0);
}

/* Was the step cut to end at a given time, so that it is shorter than those
 * around it? What matter emits in the implicit scheme, and absorbs again, is
 * about the same in a short step: divided by its length it is a spike. */
static bool history_is_cut(const struct history_rows *rows, size_t i)
{
    const double shorter = 0.9;
    size_t dt = io_table_find(rows->table, "dt");
    double own = cell(rows->table, rows->row[i], dt);
    bool before =
        i > 0 && own < shorter * cell(rows->table, rows->row[i - 1], dt);
    bool after = i + 1 >= rows->n ||
                 own < shorter * cell(rows->table, rows->row[i + 1], dt);
    return before && after;
}

/* It is never below 1, as an interval of its mean may be. */
static bool history_is_imbalance(const struct history_chart *chart)
{
    return strcmp(chart->file, "imbalance") == 0;
}

static storm_status history_curve(struct plot_curves *curves,
                                  const struct history_chart *chart,
                                  const struct history_part *part,
                                  const struct history_rows *rows,
                                  size_t column)
{
    const struct io_table *table = rows->table;
    size_t time = io_table_find(table, "time"), dt = io_table_find(table, "dt");
    struct plot_curve *curve = plot_curves_add(curves, rows->n);
    char label[PLOT_TEXT];
    if (curve == NULL)
        return plot_fail(curves->plot, STORM_ERR_NOMEM, "no memory");
    double in_unit =
        plot_time_axis(curves->plot, "time", rows_max(rows, "time"), label);
    double height = column == dt ? plot_time_axis(curves->plot, "time step",
                                                  rows_max(rows, "dt"), label)
                                 : 1.0;
    history_name(part, table->names[column], curve->name);
    curve->style = part->style;
    curve->has_band = !history_is_imbalance(chart) &&
                      plot_band(table, table->names[column], rows->band);
    for (size_t i = 0; i < rows->n; i++) {
        size_t row = rows->row[i];
        double step = cell(table, row, dt);
        double by = chart->by_time ? step : 1.0;
        curve->x[i] = in_unit * (cell(table, row, time) -
                                 (chart->by_time ? 0.5 * step : 0.0));
        curve->y[i] = chart->by_time && history_is_cut(rows, i)
                          ? (double)NAN
                          : height * cell(table, row, column) / by;
        curve->band[i] = curve->has_band ? rows->band[row] / by : 0.0;
    }
    return STORM_OK;
}

/* A chart without legend has one curve, which its label describes. */
static storm_status history_draw(struct plot_run *plot,
                                 const struct history_chart *chart,
                                 const struct history_rows *rows)
{
    struct plot_curves curves = {.plot = plot,
                                 .replicas = rows->table->replicas,
                                 .off_zero = history_is_imbalance(chart)};
    char x[PLOT_TEXT], y[PLOT_TEXT];
    storm_status status = STORM_OK;
    (void)plot_time_axis(plot, "time", rows_max(rows, "time"), x);
    plot_with_unit(plot, chart->label, chart->unit, y);
    if (strcmp(chart->file, "seconds") == 0) /* of the machine in any units */
        snprintf(y, sizeof y, "%s (%s)", chart->label, chart->unit);
    if (strcmp(chart->parts[0].prefix, "dt") == 0)
        (void)plot_time_axis(plot, chart->label, rows_max(rows, "dt"), y);
    for (size_t k = 0; k < 2 && chart->parts[k].prefix != NULL; k++)
        for (size_t i = 0; i < rows->table->n_columns && status >= 0; i++)
            if (history_wants(chart, &chart->parts[k], rows->table->names[i]))
                status =
                    history_curve(&curves, chart, &chart->parts[k], rows, i);
    if (curves.n > 0)
        curves.log_x = plot_wants_log_x(plot, curves.curve[0].x, rows->n);
    char file[2 * PLOT_NAME], subtitle[PLOT_TEXT], replica[PLOT_NAME];
    size_t n_cut = 0;
    for (size_t i = 0; i < rows->n && chart->by_time; i++)
        n_cut += history_is_cut(rows, i);
    rows_replica(rows, replica);
    snprintf(file, sizeof file, "%s-%s.svg", rows->name, chart->file);
    snprintf(subtitle, sizeof subtitle, "%s%s%s", chart->subtitle, replica,
             n_cut > 0 ? "; without steps that were cut short" : "");
    const struct plot_chart_text text = {file, subtitle, x, y};
    if (status == STORM_OK && plot_curves_any(&curves))
        status = plot_curves_draw(&curves, &text);
    plot_curves_free(&curves);
    return status;
}

/* Do steps differ, but for rounding and the last one, which ends in time? */
static bool history_dt_varies(const struct io_table *table)
{
    const double little = 1e-6;
    size_t dt = io_table_find(table, "dt");
    for (size_t i = 1; i + 1 < table->n_rows; i++)
        if (fabs(cell(table, i, dt) - cell(table, 0, dt)) >
            little * cell(table, 0, dt))
            return true;
    return false;
}

/* Does a column have a value farther than this from another one? */
static bool history_differs(const struct io_table *table, const char *column,
                            double value, double by)
{
    size_t i_column = io_table_find(table, column);
    for (size_t i = 0; i_column < table->n_columns && i < table->n_rows; i++)
        if (fabs(cell(table, i, i_column) - value) > by)
            return true;
    return false;
}

/* By default not steps of one length, nor the load of a single rank, nor a
 * balance that is off by less than a double can hold: sums are exact, and what
 * is left is the rounding of single packets. */
static bool history_tells(const struct io_table *table,
                          const struct history_chart *chart)
{
    if (strcmp(chart->file, "dt") == 0)
        return history_dt_varies(table);
    if (strcmp(chart->file, "balance") == 0)
        return history_differs(table, "balance", 0.0, DBL_EPSILON);
    return !history_is_imbalance(chart) ||
           history_differs(table, "imbalance", 1.0, 0.0);
}

static storm_status history_draw_all(struct plot_run *plot, const char *name,
                                     const struct io_table *table, bool all)
{
    struct history_rows rows;
    storm_status status = rows_open(plot, table, &rows);
    rows.name = name;
    if (status == STORM_OK)
        (void)rows_choose(&rows, table->n_columns, 0.0);
    for (int i = 0; i < HISTORY_CHARTS && status == STORM_OK; i++)
        if (all || history_tells(table, &history_charts[i]))
            status = history_draw(plot, &history_charts[i], &rows);
    rows_close(plot, &rows);
    return status;
}

storm_status plot_history(struct plot_run *plot, const char *name, bool all)
{
    struct io_table table;
    static const char *const needed[] = {"time", "dt"};
    storm_status status = history_read(plot, name, &table);
    if (status == STORM_OK)
        status = history_needs(plot, name, &table, needed,
                               sizeof needed / sizeof needed[0]);
    if (status == STORM_OK && all && table.n_rows == 0)
        status = plot_fail(plot, STORM_ERR_IO, "%s/%s.csv has no rows",
                           plot->params->run_dir, name);
    if (status == STORM_OK && table.n_rows > (all ? 0 : 1))
        status = history_draw_all(plot, name, &table, all);
    io_table_free(&table);
    return status;
}

/* ---- probes -------------------------------------------------------------- */

/* Columns; the first two are drawn by default. */
static const char *const probe_columns[] = {
    "material_temperature", "radiation_temperature", "radiation_energy",
    "material_energy"};
enum { PROBE_COLUMNS = 4, PROBE_USUAL = 2, PROBES_IN_CHART = 8 };

/* Probes are numbered; one that is never in the mesh has no rows. */
static size_t probes_count(const struct io_table *table)
{
    size_t probe = io_table_find(table, "probe");
    double max = -1.0;
    for (size_t i = 0; i < table->n_rows; i++)
        max = fmax(max, cell(table, i, probe));
    return max < 1e6 ? (size_t)(max + 1.0) : 0;
}

static double probes_max_time(const struct io_table *table)
{
    size_t time = io_table_find(table, "time");
    return table->n_rows > 0 ? cell(table, table->n_rows - 1, time) : 0.0;
}

static void probe_name(const struct plot_run *plot,
                       const struct history_rows *rows,
                       char name_out[PLOT_TEXT])
{
    static const char *const axes[3] = {"x", "y", "z"};
    char place[3][STORM_SVG_LABEL_BYTES];
    for (int d = 0; d < 3; d++)
        storm_svg_number(cell(rows->table, rows->row[0],
                              io_table_find(rows->table, axes[d])),
                         4, place[d]);
    snprintf(name_out, PLOT_TEXT, "(%s, %s, %s)%s", place[0], place[1],
             place[2], plot->natural ? "" : " cm");
}

/* Matter without heat capacity has no temperature of interest. */
static bool probe_has_value(const struct plot_run *plot, double material,
                            const char *column)
{
    if (!starts(column, "material_"))
        return true;
    return material >= 0.0 && material < (double)plot->n_materials &&
           plot->materials[(size_t)material].has_heat;
}

static storm_status probe_curve(struct plot_curves *curves,
                                const struct history_rows *rows,
                                const char *column)
{
    const struct io_table *table = rows->table;
    size_t time = io_table_find(table, "time");
    size_t material = io_table_find(table, "material");
    size_t value = io_table_find(table, column);
    struct plot_curve *curve = plot_curves_add(curves, rows->n);
    char label[PLOT_TEXT];
    if (curve == NULL)
        return plot_fail(curves->plot, STORM_ERR_NOMEM, "no memory");
    double in_unit =
        plot_time_axis(curves->plot, "time", probes_max_time(table), label);
    probe_name(curves->plot, rows, curve->name);
    curve->has_band = plot_band(table, column, rows->band);
    for (size_t i = 0; i < rows->n; i++) {
        size_t row = rows->row[i];
        bool has =
            probe_has_value(curves->plot, cell(table, row, material), column);
        curve->x[i] = in_unit * cell(table, row, time);
        curve->y[i] = has ? cell(table, row, value) : (double)NAN;
        curve->band[i] = curve->has_band ? rows->band[row] : 0.0;
    }
    return STORM_OK;
}

static storm_status probes_deliver(struct plot_curves *curves,
                                   const struct history_rows *rows,
                                   const char *column, size_t first)
{
    struct plot_run *plot = curves->plot;
    char file[2 * PLOT_NAME], words[PLOT_NAME], x[PLOT_TEXT], y[PLOT_TEXT];
    char subtitle[PLOT_TEXT], number[32] = "", replica[PLOT_NAME];
    size_t n = probes_count(rows->table);
    size_t last =
        first + PROBES_IN_CHART < n ? first + PROBES_IN_CHART - 1 : n - 1;
    plot_words(column, words);
    (void)plot_time_axis(plot, "time", probes_max_time(rows->table), x);
    plot_label(plot, column, y);
    rows_replica(rows, replica);
    snprintf(subtitle, sizeof subtitle, "%s at probes%s", words, replica);
    if (n > PROBES_IN_CHART) {
        snprintf(number, sizeof number, "-%zu", first / PROBES_IN_CHART + 1);
        snprintf(subtitle, sizeof subtitle, "%s at probes %zu to %zu of %zu%s",
                 words, first, last, n, replica);
    }
    snprintf(file, sizeof file, "%s-%s%s.svg", rows->name, column, number);
    const struct plot_chart_text text = {file, subtitle, x, y};
    return plot_curves_draw(curves, &text);
}

/* Probes from `first` on, as many as one chart takes. */
static storm_status probes_draw(struct plot_run *plot,
                                struct history_rows *rows, const char *column,
                                size_t first)
{
    const struct io_table *table = rows->table;
    struct plot_curves curves = {.plot = plot,
                                 .replicas = table->replicas,
                                 .linear =
                                     strstr(column, "temperature") != NULL};
    size_t probe = io_table_find(table, "probe"), n = probes_count(table);
    storm_status status = STORM_OK;
    for (size_t i = first; i < n && i < first + PROBES_IN_CHART; i++)
        if (rows_choose(rows, probe, (double)i) && status == STORM_OK)
            status = probe_curve(&curves, rows, column);
    if (curves.n > 0)
        curves.log_x =
            plot_wants_log_x(plot, curves.curve[0].x, curves.curve[0].n);
    if (status == STORM_OK && plot_curves_any(&curves))
        status = probes_deliver(&curves, rows, column, first);
    plot_curves_free(&curves);
    return status;
}

static storm_status probes_draw_all(struct plot_run *plot, const char *name,
                                    const struct io_table *table, bool all)
{
    static const char *const needed[] = {"time", "probe", "x",
                                         "y",    "z",     "material"};
    const size_t n_needed = sizeof needed / sizeof needed[0];
    struct history_rows rows;
    storm_status status = history_needs(plot, name, table, needed, n_needed);
    if (status == STORM_OK)
        status = history_needs(plot, name, table, probe_columns, PROBE_COLUMNS);
    if (status < 0)
        return status;
    status = rows_open(plot, table, &rows);
    rows.name = name;
    for (int i = 0; i < (all ? PROBE_COLUMNS : PROBE_USUAL); i++)
        for (size_t first = 0;
             first < probes_count(table) && status == STORM_OK;
             first += PROBES_IN_CHART)
            status = probes_draw(plot, &rows, probe_columns[i], first);
    rows_close(plot, &rows);
    return status;
}

storm_status plot_probes(struct plot_run *plot, const char *name, bool all)
{
    struct io_table table;
    storm_status status = history_read(plot, name, &table);
    if (status == STORM_OK && table.n_rows > 0)
        status = probes_draw_all(plot, name, &table, all);
    io_table_free(&table);
    return status;
}
