/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: the table of a run, or a CSV file, against a CSV file. Values of B
 * are interpolated between its positions; what is beyond them is left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_table.h"
#include "view/compare.h"

struct tables {
    struct compare *c;
    struct io_table a, b;
    size_t x_a, x_b; /* columns of the positions */
    char axis[16], when[PLOT_TEXT];
    double *column; /* positions, differences and errors, of the rows of A */
    bool has_step;  /* A is of a run, with this step */
    uint64_t step;
};

static storm_status tables_read(struct tables *t, const char *path,
                                struct io_table *table_out)
{
    storm_status status = io_table_read(t->c->memory, path, table_out,
                                        t->c->problem, sizeof t->c->problem);
    return status == STORM_ERR_IO ? STORM_ERR_ARG : status;
}

static double tables_value(const struct io_table *t, size_t row, size_t column)
{
    return t->values[row * t->n_columns + column];
}

/* Rows in rising order of positions, so that there is a place between two. */
static storm_status tables_check(struct tables *t, const struct io_table *table,
                                 const char *path, size_t *column_out)
{
    size_t x = io_table_find(table, "position");
    if (x == table->n_columns)
        x = io_table_find(table, "distance");
    if (x == table->n_columns || table->n_rows == 0)
        return compare_fail(t->c, STORM_ERR_ARG,
                            "%s: expected a column 'position', as a profile "
                            "has, and rows",
                            path);
    for (size_t i = 1; i < table->n_rows; i++)
        if (!(tables_value(table, i, x) > tables_value(table, i - 1, x)))
            return compare_fail(t->c, STORM_ERR_ARG,
                                "%s: positions do not rise at row %zu", path,
                                i + 1);
    *column_out = x;
    return STORM_OK;
}

/* Where the column has a value in B, and its weights; false: beyond B. A place
 * of B itself has that value, exactly. */
static bool tables_find(const struct tables *t, double x, size_t *row_out,
                        double *part_out)
{
    size_t n = t->b.n_rows, low = 0, high = n;
    double first = tables_value(&t->b, 0, t->x_b);
    double last = tables_value(&t->b, n - 1, t->x_b);
    double little = 1e-12 * fmax(fabs(first), fabs(last));
    if (!(x >= first - little && x <= last + little))
        return false;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tables_value(&t->b, middle, t->x_b) <= x)
            low = middle;
        else
            high = middle;
    }
    *row_out = low;
    *part_out = 0.0;
    if (low + 1 < n) {
        double from = tables_value(&t->b, low, t->x_b);
        double to = tables_value(&t->b, low + 1, t->x_b);
        *part_out = fmax((x - from) / (to - from), 0.0);
    }
    return true;
}

static double tables_of_b(const struct tables *t, size_t column, size_t row,
                          double part)
{
    double value = tables_value(&t->b, row, column);
    return part > 0.0
               ? value + part * (tables_value(&t->b, row + 1, column) - value)
               : value;
}

/* A bin without cells has no values. */
static bool tables_is_empty(const struct io_table *table, size_t row)
{
    size_t volume = io_table_find(table, "volume");
    return volume < table->n_columns &&
           !(tables_value(table, row, volume) > 0.0);
}

/* Volume of a bin; without it rows count the same. */
static double tables_weight(const struct tables *t, size_t row)
{
    size_t volume = io_table_find(&t->a, "volume");
    return volume < t->a.n_columns ? tables_value(&t->a, row, volume) : 1.0;
}

/* The standard error of the difference; negative: not known. */
static double tables_error(const struct tables *t, const char *name, size_t i,
                           size_t row, double part)
{
    char error[IO_TABLE_NAME + 8];
    snprintf(error, sizeof error, "%s_error", name);
    size_t a = io_table_find(&t->a, error), b = io_table_find(&t->b, error);
    if (a == t->a.n_columns && b == t->b.n_columns)
        return -1.0;
    double of_a = a < t->a.n_columns ? tables_value(&t->a, i, a) : 0.0;
    double of_b = b < t->b.n_columns ? tables_of_b(t, b, row, part) : 0.0;
    return sqrt(of_a * of_a + of_b * of_b);
}

static storm_status tables_draw(struct tables *t, const char *name, size_t n)
{
    char words[PLOT_NAME], short_name[PLOT_NAME], label[PLOT_TEXT];
    snprintf(short_name, sizeof short_name, "%.*s", PLOT_NAME - 1, name);
    plot_words(short_name, words);
    snprintf(label, sizeof label, "A − B, %s", words);
    struct compare_line line = {.what = short_name,
                                .words = words,
                                .when = t->when,
                                .x = t->axis,
                                .y = label,
                                .n = n,
                                .position = t->column,
                                .difference = t->column + t->a.n_rows,
                                .error = t->column + 2 * t->a.n_rows};
    return compare_draw_line(t->c, &line);
}

static storm_status tables_field(struct tables *t, size_t column_a,
                                 size_t column_b)
{
    const char *name = t->a.names[column_a];
    struct compare_norms norms = {.name = name, .n_at = 1};
    size_t rows = t->a.n_rows, n = 0;
    for (size_t i = 0; i < rows; i++) {
        double x = tables_value(&t->a, i, t->x_a), part;
        size_t row;
        if (tables_is_empty(&t->a, i) || !tables_find(t, x, &row, &part) ||
            tables_is_empty(&t->b, row))
            continue;
        struct compare_pair pair = {tables_value(&t->a, i, column_a),
                                    tables_of_b(t, column_b, row, part),
                                    tables_weight(t, i),
                                    tables_error(t, name, i, row, part),
                                    {x}};
        compare_add(&norms, &pair);
        t->column[n] = x;
        t->column[rows + n] = pair.a - pair.b;
        t->column[2 * rows + n++] = pair.error;
    }
    if (norms.n == 0)
        return compare_fail(t->c, STORM_ERR_ARG,
                            "%s and %s have no positions in common",
                            t->c->params.a, t->c->params.b);
    compare_row(t->c, &norms);
    bool drawn = t->c->params.take != NULL && norms.max > 0.0;
    return drawn ? tables_draw(t, name, n) : STORM_OK;
}

/* Neither a place nor an error, and in both? */
static bool tables_is_field(const struct tables *t, const char *name,
                            size_t *column_b_out)
{
    size_t n = strlen(name);
    *column_b_out = io_table_find(&t->b, name);
    return *column_b_out < t->b.n_columns && strcmp(name, "volume") != 0 &&
           strcmp(name, t->a.names[t->x_a]) != 0 &&
           !(n > 6 && strcmp(name + n - 6, "_error") == 0);
}

static storm_status tables_no_field(struct tables *t, const char *wanted)
{
    struct storm_page page = {0};
    size_t b, n = 0;
    for (size_t i = 0; i < t->a.n_columns; i++)
        if (tables_is_field(t, t->a.names[i], &b))
            storm_page_add(&page, "%s%s", n++ > 0 ? ", " : "", t->a.names[i]);
    char *list = storm_page_end(&page);
    compare_fail(t->c, STORM_ERR_ARG, "no column '%s' in both; both have: %s",
                 wanted,
                 list == NULL ? "?"
                 : n > 0      ? list
                              : "none");
    free(list);
    return STORM_ERR_ARG;
}

static storm_status tables_check_names(struct tables *t)
{
    const char *at = t->c->params.fields;
    while (at != NULL && *at != '\0') {
        char name[IO_TABLE_NAME];
        size_t n = strcspn(at, ","), b;
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n >= sizeof name || io_table_find(&t->a, name) == t->a.n_columns ||
            !tables_is_field(t, name, &b))
            return tables_no_field(t, name);
        at += n + (at[n] == ',');
    }
    return STORM_OK;
}

static storm_status tables_fields(struct tables *t)
{
    struct compare *c = t->c;
    size_t n = 0, b;
    storm_status status = tables_check_names(t);
    if (status < 0)
        return status;
    storm_page_add(&c->table, "\n");
    compare_head(c, "max at");
    storm_json_open(&c->json, NULL, '{');
    storm_json_real(&c->json, "time", t->a.time);
    if (t->has_step)
        storm_json_uint(&c->json, "step_a", t->step);
    storm_json_open(&c->json, "fields", '[');
    for (size_t i = 0; i < t->a.n_columns && status == STORM_OK; i++)
        if (tables_is_field(t, t->a.names[i], &b) &&
            compare_wants(c, t->a.names[i])) {
            status = tables_field(t, i, b);
            n++;
        }
    storm_json_close(&c->json, ']');
    storm_json_close(&c->json, '}');
    return status < 0 || n > 0 ? status : tables_no_field(t, "*");
}

/* Without a time, a reference is meant for any. */
static storm_status tables_check_times(struct tables *t, const char *path)
{
    if (isnan(t->a.time) || isnan(t->b.time) ||
        compare_same_time(t->a.time, t->b.time))
        return STORM_OK;
    return compare_fail(t->c, STORM_ERR_ARG,
                        "different times: %s is at t = %.9g, %s at t = %.9g%s",
                        path, t->a.time, t->c->params.b, t->b.time,
                        strcmp(path, t->c->params.a) != 0
                            ? "; --step takes another profile of A"
                            : "");
}

static storm_status tables_compare(struct tables *t, const char *path)
{
    storm_status status = tables_read(t, path, &t->a);
    if (status == STORM_OK)
        status = tables_read(t, t->c->params.b, &t->b);
    if (status == STORM_OK)
        status = tables_check(t, &t->a, path, &t->x_a);
    if (status == STORM_OK)
        status = tables_check(t, &t->b, t->c->params.b, &t->x_b);
    if (status == STORM_OK)
        status = tables_check_times(t, path);
    if (status < 0)
        return status;
    t->column = storm_alloc(t->c->memory, COMPARE_LABEL,
                            3 * t->a.n_rows * sizeof *t->column);
    return t->column != NULL ? tables_fields(t)
                             : compare_fail(t->c, STORM_ERR_NOMEM, "no memory");
}

/* Which profile of a run: that asked for, else the one at the time of B, else
 * the last. */
static storm_status tables_choose(struct tables *t, struct plot_run *plot,
                                  uint64_t *step_out)
{
    const struct plot_steps *all = &plot->profiles;
    const struct storm_compare_params *params = &t->c->params;
    char list[PLOT_TEXT];
    if (all->n == 0)
        return compare_fail(t->c, STORM_ERR_ARG,
                            "%s has no profiles to compare with %s; set "
                            "output.profile.bins in the deck and run it again",
                            params->a, params->b);
    if (params->n_steps > 1)
        return compare_fail(t->c, STORM_ERR_ARG,
                            "a CSV file is compared with one step alone");
    *step_out = params->n_steps > 0 ? params->steps[0] : all->step[all->n - 1];
    if (plot_has_step(all, *step_out))
        return STORM_OK;
    plot_step_list(all, list);
    return compare_fail(t->c, STORM_ERR_ARG,
                        "no profile of step %" PRIu64 " in %s; there are: %s",
                        *step_out, params->a, list);
}

/* The profile of a run at the time of B, if B has one and there is such. */
static storm_status tables_match(struct tables *t, const struct plot_run *plot,
                                 uint64_t *step_out)
{
    struct io_table b, a;
    storm_status status = tables_read(t, t->c->params.b, &b);
    double wanted = b.time;
    io_table_free(&b);
    for (size_t i = 0; i < plot->profiles.n && status == STORM_OK; i++) {
        char path[IO_READER_PATH + 64];
        if (isnan(wanted) || t->c->params.n_steps > 0)
            return STORM_OK;
        snprintf(path, sizeof path, "%s/profile-%" PRIu64 ".csv",
                 t->c->params.a, plot->profiles.step[i]);
        status = tables_read(t, path, &a);
        if (status == STORM_OK && compare_same_time(a.time, wanted))
            *step_out = plot->profiles.step[i];
        io_table_free(&a);
    }
    return status;
}

static storm_status tables_of_run(struct tables *t, struct plot_run *plot)
{
    const struct storm_plot_params params = {.size = sizeof params,
                                             .run_dir = t->c->params.a};
    char path[IO_READER_PATH + 64];
    uint64_t step = 0;
    storm_status status = plot_open(plot, t->c->memory, &params);
    if (status < 0)
        return compare_fail(t->c, status, "%s", plot->problem);
    status = tables_choose(t, plot, &step);
    if (status == STORM_OK)
        status = tables_match(t, plot, &step);
    if (status < 0)
        return status;
    snprintf(path, sizeof path, "%s/profile-%" PRIu64 ".csv", t->c->params.a,
             step);
    snprintf(t->axis, sizeof t->axis, "%c%s", plot->profile_axis,
             plot->natural ? "" : " (cm)");
    snprintf(t->when, sizeof t->when, "step %" PRIu64, step);
    storm_page_add(&t->c->table, "profile of step %" PRIu64 " of A\n", step);
    t->has_step = true;
    t->step = step;
    return tables_compare(t, path);
}

storm_status compare_tables(struct compare *c, bool a_is_run)
{
    struct tables *t = storm_alloc(c->memory, COMPARE_LABEL, sizeof *t);
    struct plot_run *plot = storm_alloc(c->memory, COMPARE_LABEL, sizeof *plot);
    storm_status status = t != NULL && plot != NULL
                              ? STORM_OK
                              : compare_fail(c, STORM_ERR_NOMEM, "no memory");
    if (status == STORM_OK) {
        t->c = c;
        plot->reader.mesh = -1; /* not open yet */
        snprintf(t->axis, sizeof t->axis, "position");
        storm_json_text(&c->json, "kind",
                        a_is_run ? "run and table" : "tables");
        storm_json_open(&c->json, "steps", '[');
        status =
            a_is_run ? tables_of_run(t, plot) : tables_compare(t, c->params.a);
        storm_json_close(&c->json, ']');
        io_table_free(&t->a);
        io_table_free(&t->b);
        storm_free(c->memory, t->column);
        plot_close(plot);
    }
    storm_free(c->memory, t);
    storm_free(c->memory, plot);
    return status;
}
