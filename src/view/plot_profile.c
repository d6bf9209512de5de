/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts of profiles and line-outs: several steps in one, with a reference. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_table.h"
#include "view/plot_curves.h"

enum { PROFILE_STEPS = 6 }; /* in one chart, unless more are asked for */

static const char *const profile_columns[] = {
    "material_temperature", "radiation_temperature", "radiation_energy",
    "material_energy"};
enum { PROFILE_N_COLUMNS = 4, PROFILE_N_USUAL = 2 };

/* The profiles, or line-outs, of a chart. */
struct profile_set {
    const char *file;             /* begin of their names */
    const char *x;                /* column */
    char x_label[PLOT_TEXT];      /* of the axis */
    char where[PLOT_TEXT];        /* "profile of the %s along x": after %s */
    const char *what;             /* the same, before it */
    const struct plot_steps *all; /* those that there are */
    size_t n; /* of runs; then the reference, if there is one */
    bool has_reference;
    struct io_table *tables;
    uint64_t *steps;
    const char *reference; /* its name */
};

bool plot_is_profile(const char *field)
{
    for (int i = 0; i < PROFILE_N_COLUMNS; i++)
        if (strcmp(field, profile_columns[i]) == 0)
            return true;
    return false;
}

/* ---- reading ------------------------------------------------------------- */

/* Which steps: those asked for that have a profile, or some of all. */
static void profile_choose(const struct plot_run *plot, struct profile_set *set)
{
    const struct storm_plot_params *params = plot->params;
    const struct plot_steps *all = set->all;
    set->n = 0;
    for (size_t i = 0; i < params->n_steps; i++)
        if (plot_has_step(all, params->steps[i]))
            set->steps[set->n++] = params->steps[i];
    if (params->n_steps > 0)
        return;
    set->n = all->n < PROFILE_STEPS ? all->n : PROFILE_STEPS;
    for (size_t i = 0; i < set->n; i++) /* the first and the last among them */
        set->steps[i] =
            all->step[set->n > 1 ? i * (all->n - 1) / (set->n - 1) : 0];
}

static storm_status profile_read(struct plot_run *plot, struct profile_set *set)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < set->n && status == STORM_OK; i++) {
        char path[IO_READER_PATH + PLOT_NAME + 64];
        snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".csv",
                 plot->params->run_dir, set->file, set->steps[i]);
        status = io_table_read(plot->memory, path, &set->tables[i],
                               plot->problem, sizeof plot->problem);
    }
    return status;
}

static bool profile_has(const struct io_table *table, const char *name)
{
    return io_table_find(table, name) < table->n_columns;
}

/* The temperature of one material? */
static bool profile_is_by_material(const char *name)
{
    static const char prefix[] = "material_temperature_";
    return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

/* It must have a position, and something to compare. */
static storm_status profile_read_reference(struct plot_run *plot,
                                           struct profile_set *set)
{
    const char *path = plot->params->reference;
    struct io_table *table = &set->tables[set->n];
    bool good = false;
    if (path == NULL)
        return STORM_OK;
    storm_status status = io_table_read(plot->memory, path, table,
                                        plot->problem, sizeof plot->problem);
    if (status < 0)
        return status == STORM_ERR_IO ? STORM_ERR_ARG : status;
    for (int i = 0; i < PROFILE_N_COLUMNS; i++)
        good = good || profile_has(table, profile_columns[i]);
    for (size_t i = 0; i < table->n_columns; i++)
        good = good || profile_is_by_material(table->names[i]);
    if (!good || !profile_has(table, "position"))
        return plot_fail(plot, STORM_ERR_ARG,
                         "%s: expected a column 'position' and one or more of "
                         "%s, %s, %s, %s",
                         path, profile_columns[0], profile_columns[1],
                         profile_columns[2], profile_columns[3]);
    const char *slash = strrchr(path, '/');
    set->reference = slash != NULL ? slash + 1 : path;
    set->has_reference = true;
    return STORM_OK;
}

/* ---- drawing ------------------------------------------------------------- */

/* One column of a table as x and y, which have room for its rows. Bins without
 * cells have no value. */
static size_t profile_points(const struct io_table *table, const char *x_name,
                             const char *name, double *x, double *y)
{
    size_t at = io_table_find(table, x_name);
    size_t column = io_table_find(table, name);
    size_t volume = io_table_find(table, "volume");
    if (at == table->n_columns || column == table->n_columns)
        return 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const double *row = table->values + i * table->n_columns;
        bool empty = volume < table->n_columns && !(row[volume] > 0.0);
        x[i] = row[at];
        y[i] = empty ? (double)NAN : row[column];
    }
    return table->n_rows;
}

/* How many curves: steps, then the reference if it has the column. */
static size_t profile_n_series(const struct profile_set *set, const char *name)
{
    return set->n +
           (set->has_reference && profile_has(&set->tables[set->n], name));
}

/* Name of the reference, with its step if there are several. */
static void profile_reference_text(const struct profile_set *set,
                                   char text_out[PLOT_TEXT])
{
    if (set->n > 1)
        snprintf(text_out, PLOT_TEXT, "reference for step %" PRIu64 " (%s)",
                 set->steps[set->n - 1], set->reference);
    else
        snprintf(text_out, PLOT_TEXT, "reference (%s)", set->reference);
}

static char *profile_svg(const struct plot_run *plot,
                         const struct profile_set *set, const char *name,
                         const struct storm_chart_series *series)
{
    char label[PLOT_TEXT], words[PLOT_NAME], subtitle[3 * PLOT_TEXT];
    plot_label(plot, name, label);
    plot_words(name, words);
    snprintf(subtitle, sizeof subtitle, "%s%s%s%s", set->what, words,
             set->where,
             set->all == &plot->profiles &&
                     strcmp(name, "material_temperature") == 0
                 ? ", mean over cells with a heat capacity"
                 : "");
    if (series[0].band != NULL)
        plot_band_text(set->tables[0].replicas, "band", subtitle,
                       sizeof subtitle);
    struct storm_chart chart = {
        .title = plot->title,
        .subtitle = subtitle,
        .x = {.label = set->x_label, .whole = true},
        .y = {.label = label,
              .log = plot->params->log == STORM_PLOT_YES,
              .from_zero = plot->params->log != STORM_PLOT_YES},
        .series = series,
        .n_series = profile_n_series(set, name),
    };
    return storm_chart_svg(&chart);
}

/* The curves of a chart, and what they point to. */
struct profile_curves {
    struct storm_chart_series *series;
    char (*legend)[PLOT_TEXT];
    double *points;
};

static bool profile_make_room(const struct plot_run *plot,
                              const struct profile_set *set, size_t n_series,
                              struct profile_curves *c)
{
    size_t n_points = 1;
    for (size_t i = 0; i < n_series; i++)
        n_points += 3 * set->tables[i].n_rows;
    c->series = storm_alloc(plot->memory, PLOT_LABEL,
                            (n_series + 1) * sizeof *c->series);
    c->legend = storm_alloc(plot->memory, PLOT_LABEL,
                            (n_series + 1) * sizeof *c->legend);
    c->points =
        storm_alloc(plot->memory, PLOT_LABEL, n_points * sizeof *c->points);
    return c->series != NULL && c->legend != NULL && c->points != NULL;
}

static void profile_fill(const struct plot_run *plot,
                         const struct profile_set *set, const char *name,
                         struct profile_curves *c)
{
    size_t used = 0;
    for (size_t i = 0; i < profile_n_series(set, name); i++) {
        const struct io_table *table = &set->tables[i];
        double *x = c->points + used, *y = x + table->n_rows;
        double *band = y + table->n_rows;
        bool is_reference = i == set->n;
        used += 3 * table->n_rows;
        if (is_reference)
            profile_reference_text(set, c->legend[i]);
        else
            plot_time_text(plot, table->time, set->steps[i], c->legend[i]);
        c->series[i] = (struct storm_chart_series){
            .name = c->legend[i],
            .style = is_reference ? STORM_CHART_TWIN : STORM_CHART_LINE,
            .colour = (int)(is_reference ? i - 1 : i),
            .order = plot_order(is_reference ? i - 1 : i, set->n),
            .n = profile_points(table, set->x, name, x, y),
            .x = x,
            .y = y,
            .band = plot_band(table, name, band) ? band : NULL};
    }
}

static storm_status profile_draw(struct plot_run *plot,
                                 const struct profile_set *set,
                                 const char *name)
{
    struct profile_curves curves;
    char *svg = NULL, file[3 * PLOT_NAME], words[PLOT_NAME];
    char caption[3 * PLOT_TEXT];
    if (profile_make_room(plot, set, profile_n_series(set, name), &curves)) {
        profile_fill(plot, set, name, &curves);
        svg = profile_svg(plot, set, name, curves.series);
    }
    storm_free(plot->memory, curves.series);
    storm_free(plot->memory, curves.legend);
    storm_free(plot->memory, curves.points);
    if (svg == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    plot_words(name, words);
    snprintf(file, sizeof file, "%s-%s.svg", set->file, name);
    snprintf(caption, sizeof caption, "%s%s%s", set->what, words, set->where);
    storm_status status =
        plot->params->take(plot->params->take_self, file, caption, svg);
    free(svg);
    return status;
}

/* Is it drawn by default, or does the reference have it? */
static bool profile_is_usual(const struct profile_set *set, int i_column)
{
    return i_column < PROFILE_N_USUAL ||
           (set->has_reference &&
            profile_has(&set->tables[set->n], profile_columns[i_column]));
}

static storm_status profile_draw_all(struct plot_run *plot,
                                     const struct profile_set *set,
                                     char (*names)[PLOT_NAME], size_t n_names)
{
    storm_status status = STORM_OK;
    for (int i = 0; i < PROFILE_N_COLUMNS && status >= 0; i++) {
        bool wanted = n_names == 0 && profile_is_usual(set, i);
        for (size_t k = 0; k < n_names; k++)
            wanted = wanted || strcmp(names[k], profile_columns[i]) == 0;
        if (wanted)
            status = profile_draw(plot, set, profile_columns[i]);
    }
    /* Of single materials, those that the reference has. */
    const struct io_table *reference = &set->tables[set->n];
    for (size_t i = 0; set->has_reference && i < reference->n_columns; i++)
        if (profile_is_by_material(reference->names[i]) && status >= 0)
            status = profile_draw(plot, set, reference->names[i]);
    return status;
}

/* Is there a value in this column? */
static bool profile_any(const struct profile_set *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct io_table *table = &set->tables[i];
        size_t column = io_table_find(table, name);
        for (size_t row = 0; column < table->n_columns && row < table->n_rows;
             row++)
            if (isfinite(table->values[row * table->n_columns + column]))
                return true;
    }
    return false;
}

static storm_status profile_open(struct plot_run *plot, struct profile_set *set)
{
    size_t n_max = plot->params->n_steps + PROFILE_STEPS + 1;
    set->tables =
        storm_alloc(plot->memory, PLOT_LABEL, n_max * sizeof *set->tables);
    set->steps =
        storm_alloc(plot->memory, PLOT_LABEL, n_max * sizeof *set->steps);
    if (set->tables == NULL || set->steps == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    profile_choose(plot, set);
    return profile_read(plot, set);
}

static void profile_close(const struct plot_run *plot, struct profile_set *set)
{
    size_t n_max = plot->params->n_steps + PROFILE_STEPS + 1;
    for (size_t i = 0; set->tables != NULL && i < n_max; i++)
        io_table_free(&set->tables[i]);
    storm_free(plot->memory, set->tables);
    storm_free(plot->memory, set->steps);
}

storm_status plot_profiles(struct plot_run *plot, char (*names)[PLOT_NAME],
                           size_t n_names)
{
    const char axis[2] = {plot->profile_axis, '\0'};
    struct profile_set set = {.file = "profile",
                              .x = "position",
                              .what = "profile of the ",
                              .all = &plot->profiles};
    snprintf(set.where, sizeof set.where, " along %s", axis);
    plot_with_unit(plot, axis, "cm", set.x_label);
    storm_status status = profile_open(plot, &set);
    if (status == STORM_OK)
        status = profile_read_reference(plot, &set);
    if (status == STORM_OK && set.has_reference && set.n == 0)
        status = plot_fail(plot, STORM_ERR_ARG,
                           "%s has no profiles to compare with %s; set "
                           "output.profile.bins in the deck and run it again",
                           plot->params->run_dir, plot->params->reference);
    if (status == STORM_OK && set.n > 0)
        status = profile_draw_all(plot, &set, names, n_names);
    profile_close(plot, &set);
    return status;
}

/* ---- line-outs ----------------------------------------------------------- */

void plot_line_text(const struct plot_run *plot, const double from[3],
                    const double to[3], char text_out[PLOT_TEXT])
{
    static const char *const words[2] = {" from ", " to "};
    const double *const ends[2] = {from, to};
    int n = 0;
    for (int k = 0; k < 2; k++) {
        char number[3][STORM_SVG_LABEL_BYTES];
        for (int d = 0; d < 3; d++)
            storm_svg_number(ends[k][d], 4, number[d]);
        n += snprintf(text_out + n, (size_t)(PLOT_TEXT - n), "%s(%s, %s, %s)",
                      words[k], number[0], number[1], number[2]);
    }
    snprintf(text_out + n, (size_t)(PLOT_TEXT - n), "%s",
             plot->natural ? "" : " cm");
}

/* " along the line axis from (0, 0, 0) to (1.4, 0, 0) cm" */
static void lineout_where(const struct plot_run *plot, size_t i,
                          const char *name, char where_out[PLOT_TEXT])
{
    static const char *const ends[2] = {"from", "to"};
    char key[PLOT_NAME], line[PLOT_TEXT];
    double x[2][3] = {{0.0}};
    for (int k = 0; k < 2; k++) {
        snprintf(key, sizeof key, "output.lineouts.%zu.%s", i, ends[k]);
        (void)storm_deck_numbers(plot->deck, key, x[k], 3);
    }
    plot_line_text(plot, x[0], x[1], line);
    snprintf(where_out, PLOT_TEXT, " along the line %.100s%.300s", name, line);
}

bool plot_lineout_name(const struct plot_run *plot, size_t i,
                       char name_out[PLOT_NAME])
{
    char key[PLOT_NAME];
    snprintf(key, sizeof key, "output.lineouts.%zu.name", i);
    return storm_deck_value(plot->deck, key, name_out, PLOT_NAME) > 0;
}

storm_status plot_lineout(struct plot_run *plot, const char *name, bool all)
{
    char own[PLOT_NAME] = "", file[2 * PLOT_NAME];
    struct profile_set set = {
        .file = file, .x = "distance", .what = "", .all = &plot->dumps};
    size_t i = 0;
    while (plot_lineout_name(plot, i, own) && strcmp(own, name) != 0)
        i++;
    snprintf(file, sizeof file, "lineout-%s", name);
    lineout_where(plot, i, name, set.where);
    plot_with_unit(plot, "distance", "cm", set.x_label);
    storm_status status = profile_open(plot, &set);
    int n_columns = all ? PROFILE_N_COLUMNS : PROFILE_N_USUAL;
    for (int k = 0; k < n_columns && status == STORM_OK; k++)
        if (profile_any(&set, profile_columns[k]))
            status = profile_draw(plot, &set, profile_columns[k]);
    profile_close(plot, &set);
    return status;
}
