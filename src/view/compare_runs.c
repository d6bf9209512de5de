/* SPDX-License-Identifier: BSD-3-Clause */
/* Two runs on the same mesh, cell by cell. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/compare.h"

/* Drawn unless others are asked for. */
static const char *const runs_drawn[] = {"material_temperature",
                                         "radiation_temperature",
                                         "radiation_energy", "material_energy"};

/* Cells are the same: lengths relative to their size, volumes. */
static const double runs_same_cell = 1e-9;

struct runs {
    struct compare *c;
    struct plot_run a, b;
    struct storm_plot_params params_a, params_b;
    uint64_t step_a, step_b;
    double time;
    double (*centre)[3]; /* of the cells of A, while they are in use */
    double *volume;
    uint64_t n_checked; /* cells of B so far */
    double *value[2], *error[2], *difference;
    size_t n_allocated;   /* of cells */
    io_reader_name *name; /* what both dumps have */
    size_t n_names, names_capacity;
};

static storm_status runs_of(struct runs *r, storm_status status,
                            const struct plot_run *plot)
{
    return status < 0 ? compare_fail(r->c, status, "%s", plot->problem)
                      : status;
}

static storm_status runs_reader(struct runs *r, storm_status status,
                                const struct plot_run *plot)
{
    return status < 0 ? compare_fail(r->c, status, "%s", plot->reader.problem)
                      : status;
}

static storm_status runs_no_memory(struct runs *r)
{
    return compare_fail(r->c, STORM_ERR_NOMEM, "no memory");
}

/* ---- times --------------------------------------------------------------- */

static storm_status runs_time(struct runs *r, struct plot_run *plot,
                              uint64_t step, double *time_out)
{
    char file[PLOT_NAME];
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    return runs_reader(r,
                       io_reader_number(&plot->reader, file, "time", time_out),
                       plot);
}

static storm_status runs_no_time(struct runs *r)
{
    const struct plot_steps *dumps = &r->b.dumps;
    double first = 0.0, last = 0.0;
    storm_status status = runs_time(r, &r->b, dumps->step[0], &first);
    if (status == STORM_OK)
        status = runs_time(r, &r->b, dumps->step[dumps->n - 1], &last);
    if (status < 0)
        return status;
    return compare_fail(
        r->c, STORM_ERR_ARG,
        "different times: step %" PRIu64 " of %s is at t = %.9g, and %s has no "
        "dump then; it has %zu from t = %.9g to %.9g (output.times makes dumps "
        "at given times, --step takes another of A)",
        r->step_a, r->c->params.a, r->time, r->c->params.b, dumps->n, first,
        last);
}

/* The dump of B at the time of A's. */
static storm_status runs_find_step(struct runs *r)
{
    char list[PLOT_TEXT];
    if (!plot_has_step(&r->a.dumps, r->step_a)) {
        plot_step_list(&r->a.dumps, list);
        return compare_fail(r->c, STORM_ERR_ARG,
                            "no step %" PRIu64 " in %s; there are: %s",
                            r->step_a, r->c->params.a, list);
    }
    storm_status status = runs_time(r, &r->a, r->step_a, &r->time);
    for (size_t i = 0; i < r->b.dumps.n && status == STORM_OK; i++) {
        double time;
        status = runs_time(r, &r->b, r->b.dumps.step[i], &time);
        if (status == STORM_OK && compare_same_time(time, r->time)) {
            r->step_b = r->b.dumps.step[i];
            return STORM_OK;
        }
    }
    return status < 0 ? status : runs_no_time(r);
}

/* ---- the mesh ------------------------------------------------------------ */

/* Adds volume and moment of a tetrahedron, times 6 and 24, from `from`. */
static void runs_add_tetrahedron(const double from[3], const double *x[3],
                                 double sum[4])
{
    double e[3][3], volume = 0.0;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            e[k][d] = x[k][d] - from[d];
    for (int d = 0; d < 3; d++) {
        int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
        volume += e[0][d] * (e[1][d1] * e[2][d2] - e[1][d2] * e[2][d1]);
    }
    for (int d = 0; d < 3; d++)
        sum[d] += volume * (e[0][d] + e[1][d] + e[2][d]);
    sum[3] += volume;
}

/* Centre of mass and volume. */
static void runs_measure(const struct io_cell *cell, double centre_out[3],
                         double *volume_out)
{
    const int64_t *face = cell->faces;
    const double *from = cell->corners[face[1]];
    double sum[4] = {0.0};
    for (size_t f = 0; f < cell->n_faces; f++, face += face[0] + 1)
        for (int64_t k = 2; k < face[0]; k++) {
            const double *x[3] = {cell->corners[face[1]],
                                  cell->corners[face[k]],
                                  cell->corners[face[k + 1]]};
            runs_add_tetrahedron(from, x, sum);
        }
    for (int d = 0; d < 3; d++)
        centre_out[d] =
            from[d] + (sum[3] > 0.0 ? sum[d] / (4.0 * sum[3]) : 0.0);
    *volume_out = sum[3] / 6.0;
}

static storm_status runs_take_cell(void *self, const struct io_cell *cell)
{
    struct runs *r = self;
    runs_measure(cell, r->centre[cell->id], &r->volume[cell->id]);
    return STORM_OK;
}

/* STORM_DONE: another cell than A's. */
static storm_status runs_check_cell(void *self, const struct io_cell *cell)
{
    struct runs *r = self;
    double centre[3], volume, of_a = r->volume[cell->id];
    runs_measure(cell, centre, &volume);
    bool same = fabs(volume - of_a) <= runs_same_cell * of_a;
    for (int d = 0; d < 3; d++)
        same = same && fabs(centre[d] - r->centre[cell->id][d]) <=
                           runs_same_cell * cbrt(of_a) +
                               runs_same_cell * fabs(centre[d]);
    r->n_checked = cell->id;
    return same ? STORM_OK : STORM_DONE;
}

static storm_status runs_other_mesh(struct runs *r)
{
    return compare_fail(r->c, STORM_ERR_ARG,
                        "different meshes: %s has %" PRIu64
                        " cells, %s has %" PRIu64
                        "%s; compare profiles (output.profile): storm compare "
                        "%s/profile-%" PRIu64 ".csv %s/profile-%" PRIu64 ".csv",
                        r->c->params.a, r->a.reader.n_cells, r->c->params.b,
                        r->b.reader.n_cells,
                        r->a.reader.n_cells == r->b.reader.n_cells
                            ? " that are others"
                            : "",
                        r->c->params.a, r->step_a, r->c->params.b, r->step_b);
}

static storm_status runs_allocate(struct runs *r, size_t n)
{
    struct storm_memory *memory = r->c->memory;
    double **all[] = {&r->volume,   &r->value[0], &r->value[1],
                      &r->error[0], &r->error[1], &r->difference};
    if (n == r->n_allocated)
        return STORM_OK;
    storm_free(memory, r->centre);
    r->centre = storm_alloc(memory, COMPARE_LABEL, n * sizeof *r->centre);
    bool good = r->centre != NULL;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        storm_free(memory, *all[i]);
        *all[i] = storm_alloc(memory, COMPARE_LABEL, n * sizeof **all[i]);
        good = good && *all[i] != NULL;
    }
    r->n_allocated = good ? n : 0;
    return good ? STORM_OK : runs_no_memory(r);
}

/* Both use the meshes of their dumps: are they the same? */
static storm_status runs_check_mesh(struct runs *r)
{
    if (r->a.reader.n_cells != r->b.reader.n_cells)
        return runs_other_mesh(r);
    storm_status status = runs_allocate(r, (size_t)r->a.reader.n_cells + 1);
    if (status < 0)
        return status;
    status =
        runs_reader(r, io_reader_cells(&r->a.reader, runs_take_cell, r), &r->a);
    if (status < 0)
        return status;
    status = io_reader_cells(&r->b.reader, runs_check_cell, r);
    return status == STORM_DONE ? runs_other_mesh(r)
                                : runs_reader(r, status, &r->b);
}

/* ---- fields -------------------------------------------------------------- */

static bool runs_is_error(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, "_error") == 0;
}

static bool runs_has(io_reader_name *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static storm_status runs_keep_name(struct runs *r, const char *name)
{
    void *list = r->name;
    if (storm_reserve(r->c->memory, COMPARE_LABEL, sizeof *r->name,
                      r->n_names + 1, &list, &r->names_capacity) < 0)
        return runs_no_memory(r);
    r->name = list;
    memcpy(r->name[r->n_names++], name, sizeof *r->name);
    return STORM_OK;
}

/* The name of the list of params that not both have. */
static storm_status runs_check_names(struct runs *r)
{
    const char *at = r->c->params.fields;
    while (at != NULL && *at != '\0') {
        char name[IO_READER_NAME];
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n >= sizeof name || !runs_has(r->name, r->n_names, name)) {
            struct storm_page page = {0};
            for (size_t i = 0; i < r->n_names; i++)
                storm_page_add(&page, "%s%s", i > 0 ? ", " : "", r->name[i]);
            char *list = storm_page_end(&page);
            compare_fail(r->c, STORM_ERR_ARG,
                         "no field '%s' in both; both have: %s", name,
                         list != NULL ? list : "?");
            free(list);
            return STORM_ERR_ARG;
        }
        at += n + (at[n] == ',');
    }
    if (r->n_names > 0)
        return STORM_OK;
    compare_fail(r->c, STORM_ERR_ARG, "the dumps have no field in common");
    return STORM_ERR_ARG;
}

/* Group 10 after group 9. */
static int runs_compare_names(const void *a, const void *b)
{
    return strverscmp(a, b); /* io_reader_name */
}

/* The names in both dumps; those of one alone are listed. */
static storm_status runs_find_names(struct runs *r)
{
    char file_a[PLOT_NAME], file_b[PLOT_NAME];
    io_reader_name *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0;
    snprintf(file_a, sizeof file_a, "fields-%" PRIu64 ".h5", r->step_a);
    snprintf(file_b, sizeof file_b, "fields-%" PRIu64 ".h5", r->step_b);
    storm_status status =
        runs_reader(r, io_reader_names(&r->a.reader, file_a, &a, &n_a), &r->a);
    if (status == STORM_OK)
        status = runs_reader(r, io_reader_names(&r->b.reader, file_b, &b, &n_b),
                             &r->b);
    r->n_names = 0;
    for (size_t i = 0; i < n_a && status == STORM_OK; i++)
        if (!runs_is_error(a[i]) && runs_has(b, n_b, a[i]))
            status = runs_keep_name(r, a[i]);
        else if (!runs_is_error(a[i]) && r->c->params.fields == NULL)
            storm_page_add(&r->c->table, "only in A: %s\n", a[i]);
    for (size_t i = 0; i < n_b && status == STORM_OK; i++)
        if (!runs_is_error(b[i]) && !runs_has(a, n_a, b[i]) &&
            r->c->params.fields == NULL)
            storm_page_add(&r->c->table, "only in B: %s\n", b[i]);
    if (r->n_names > 0)
        qsort(r->name, r->n_names, sizeof *r->name, runs_compare_names);
    storm_free(r->c->memory, a);
    storm_free(r->c->memory, b);
    return status < 0 ? status : runs_check_names(r);
}

/* Values, and standard errors of those that have them. */
static storm_status runs_read(struct runs *r, int which, const char *name,
                              bool *has_error_out)
{
    struct plot_run *plot = which == 0 ? &r->a : &r->b;
    uint64_t step = which == 0 ? r->step_a : r->step_b;
    char error[IO_READER_NAME + 8];
    snprintf(error, sizeof error, "%s_error", name);
    storm_status status =
        runs_of(r, plot_values(plot, name, step, r->value[which]), plot);
    *has_error_out = status == STORM_OK && strlen(error) < IO_READER_NAME &&
                     plot_has_field(plot, error, step);
    if (*has_error_out)
        status =
            runs_of(r, plot_values(plot, error, step, r->error[which]), plot);
    return status;
}

/* Errors of the difference, into those of A; negative: not known. */
static void runs_join_errors(struct runs *r, const bool has[2], uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        double a = has[0] ? r->error[0][i] : 0.0;
        double b = has[1] ? r->error[1][i] : 0.0;
        double both = sqrt(a * a + b * b);
        r->error[0][i] = (has[0] || has[1]) && isfinite(both) ? both : -1.0;
    }
}

/* ---- pictures ------------------------------------------------------------ */

static bool runs_is_drawn(const struct runs *r, const char *name)
{
    if (r->c->params.fields != NULL)
        return true;
    for (size_t i = 0; i < sizeof runs_drawn / sizeof runs_drawn[0]; i++)
        if (strcmp(name, runs_drawn[i]) == 0)
            return true;
    return false;
}

/* The one direction in which centres differ; -1: there are several. */
static int runs_line(const struct runs *r)
{
    int line = -1;
    for (int d = 0; d < 3; d++) {
        bool flat = true;
        double width = r->a.hi[d] - r->a.lo[d];
        for (uint64_t i = 1; i < r->a.reader.n_cells && flat; i++)
            flat = fabs(r->centre[i][d] - r->centre[0][d]) <= 1e-9 * width;
        if (!flat && line >= 0)
            return -1;
        line = flat ? line : d;
    }
    return line;
}

static int runs_compare_places(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Differences along a line, in order of places. */
static storm_status runs_draw_line(struct runs *r, int line,
                                   struct compare_line *what)
{
    size_t n = (size_t)r->a.reader.n_cells;
    struct storm_memory *memory = r->c->memory;
    double(*row)[3] = storm_alloc(memory, COMPARE_LABEL, (n + 1) * sizeof *row);
    double *column =
        storm_alloc(memory, COMPARE_LABEL, (3 * n + 1) * sizeof *column);
    storm_status status =
        row != NULL && column != NULL ? STORM_OK : runs_no_memory(r);
    if (status == STORM_OK) {
        char axis[16];
        for (size_t i = 0; i < n; i++) {
            row[i][0] = r->centre[i][line];
            row[i][1] = r->difference[i];
            row[i][2] = r->error[0][i];
        }
        qsort(row, n, sizeof *row, runs_compare_places);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 3; k++)
                column[k * n + i] = row[i][k];
        snprintf(axis, sizeof axis, "%c%s", 'x' + line,
                 r->a.natural ? "" : " (cm)");
        what->x = axis;
        what->n = n;
        what->position = column;
        what->difference = column + n;
        what->error = column + 2 * n;
        status = compare_draw_line(r->c, what);
    }
    storm_free(memory, row);
    storm_free(memory, column);
    return status;
}

/* The difference, and where there are errors, also that in errors. */
static storm_status runs_draw(struct runs *r, const struct compare_norms *norms)
{
    char what[2 * PLOT_NAME], words[PLOT_NAME], label[PLOT_TEXT];
    char difference[PLOT_TEXT + 16], when[PLOT_TEXT];
    uint64_t n = r->a.reader.n_cells;
    int line = runs_line(r);
    for (uint64_t i = 0; i < n; i++)
        r->difference[i] = r->value[0][i] - r->value[1][i];
    snprintf(what, sizeof what, "%s-%" PRIu64, norms->name, r->step_a);
    plot_words(norms->name, words);
    plot_label(&r->a, norms->name, label);
    snprintf(difference, sizeof difference, "A − B, %s", label);
    plot_time_text(&r->a, r->time, r->step_a, when);
    if (line >= 0) {
        struct compare_line drawn = {
            .what = what, .words = words, .when = when, .y = difference};
        return runs_draw_line(r, line, &drawn);
    }
    storm_status status = runs_of(r, plot_cut(&r->a, r->step_a), &r->a);
    struct compare_slice slice = {what, words, when, difference, r->difference};
    if (status == STORM_OK)
        status = compare_draw_slice(r->c, &r->a, &slice);
    if (status < 0 || norms->n_errors == 0)
        return status;
    for (uint64_t i = 0; i < n; i++)
        r->difference[i] = r->error[0][i] > 0.0
                               ? r->difference[i] / r->error[0][i]
                               : (double)NAN;
    snprintf(what, sizeof what, "%s-errors-%" PRIu64, norms->name, r->step_a);
    slice.label = "(A − B) / standard error";
    return compare_draw_slice(r->c, &r->a, &slice);
}

/* ---- all ----------------------------------------------------------------- */

static storm_status runs_field(struct runs *r, const char *name)
{
    struct compare_norms norms = {.name = name, .n_at = 3};
    uint64_t n = r->a.reader.n_cells;
    bool has_error[2];
    storm_status status = runs_read(r, 0, name, &has_error[0]);
    if (status == STORM_OK)
        status = runs_read(r, 1, name, &has_error[1]);
    if (status < 0)
        return status;
    runs_join_errors(r, has_error, n);
    for (uint64_t i = 0; i < n; i++) {
        struct compare_pair pair = {r->value[0][i],
                                    r->value[1][i],
                                    r->volume[i],
                                    r->error[0][i],
                                    {0.0}};
        memcpy(pair.at, r->centre[i], sizeof pair.at);
        compare_add(&norms, &pair);
    }
    compare_row(r->c, &norms);
    bool drawn =
        r->c->params.take != NULL && norms.max > 0.0 && runs_is_drawn(r, name);
    return drawn ? runs_draw(r, &norms) : STORM_OK;
}

static storm_status runs_step(struct runs *r)
{
    struct compare *c = r->c;
    storm_status status = runs_find_step(r);
    if (status == STORM_OK)
        status = runs_of(r, plot_use(&r->a, r->step_a), &r->a);
    if (status == STORM_OK)
        status = runs_of(r, plot_use(&r->b, r->step_b), &r->b);
    if (status == STORM_OK)
        status = runs_check_mesh(r);
    if (status < 0)
        return status;
    storm_page_add(&c->table,
                   "\nt = %.6g%s, step %" PRIu64 " of A, %" PRIu64 " of B\n",
                   r->time, r->a.natural ? "" : " s", r->step_a, r->step_b);
    status = runs_find_names(r);
    if (status < 0)
        return status;
    compare_head(c, r->a.natural ? "max at" : "max at (cm)");
    storm_json_open(&c->json, NULL, '{');
    storm_json_real(&c->json, "time", r->time);
    storm_json_uint(&c->json, "step_a", r->step_a);
    storm_json_uint(&c->json, "step_b", r->step_b);
    storm_json_open(&c->json, "fields", '[');
    for (size_t i = 0; i < r->n_names && status == STORM_OK; i++)
        if (compare_wants(c, r->name[i]))
            status = runs_field(r, r->name[i]);
    storm_json_close(&c->json, ']');
    storm_json_close(&c->json, '}');
    return status;
}

static storm_status runs_all(struct runs *r)
{
    struct compare *c = r->c;
    const uint64_t last = r->a.dumps.step[r->a.dumps.n - 1];
    const uint64_t *steps = c->params.n_steps > 0 ? c->params.steps : &last;
    const size_t n = c->params.n_steps > 0 ? c->params.n_steps : 1;
    storm_status status = STORM_OK;
    storm_json_text(&c->json, "kind", "runs");
    storm_json_open(&c->json, "steps", '[');
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        r->step_a = steps[i];
        status = runs_step(r);
    }
    storm_json_close(&c->json, ']');
    return status;
}

static void runs_close(struct runs *r)
{
    struct storm_memory *memory = r->c->memory;
    plot_close(&r->a);
    plot_close(&r->b);
    storm_free(memory, r->centre);
    storm_free(memory, r->volume);
    for (int k = 0; k < 2; k++) {
        storm_free(memory, r->value[k]);
        storm_free(memory, r->error[k]);
    }
    storm_free(memory, r->difference);
    storm_free(memory, r->name);
}

storm_status compare_runs(struct compare *c)
{
    struct runs *r = storm_alloc(c->memory, COMPARE_LABEL, sizeof *r);
    if (r == NULL)
        return compare_fail(c, STORM_ERR_NOMEM, "no memory");
    r->c = c;
    r->params_a = (struct storm_plot_params){.size = sizeof r->params_a,
                                             .run_dir = c->params.a,
                                             .axis = c->params.axis,
                                             .at_cm = c->params.at_cm};
    r->params_b = r->params_a;
    r->params_b.run_dir = c->params.b;
    r->b.reader.mesh = -1; /* not open yet */
    storm_status status =
        runs_of(r, plot_open(&r->a, c->memory, &r->params_a), &r->a);
    if (status == STORM_OK)
        status = runs_of(r, plot_open(&r->b, c->memory, &r->params_b), &r->b);
    if (status == STORM_OK)
        status = runs_all(r);
    runs_close(r);
    storm_free(c->memory, r);
    return status;
}
