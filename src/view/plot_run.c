/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of a run: deck, steps, fields, owners. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io_rundir.h"
#include "io/io_table.h"
#include "view/plot.h"

static const double plot_light_cm_s = 2.99792458e10;

storm_status plot_fail(struct plot_run *plot, storm_status status,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(plot->problem, sizeof plot->problem, format, args);
    va_end(args);
    return status;
}

static storm_status plot_no_memory(struct plot_run *plot)
{
    return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
}

/* Takes over the reader's message. */
static storm_status plot_reader(struct plot_run *plot, storm_status status)
{
    return status < 0 ? plot_fail(plot, status, "%s", plot->reader.problem)
                      : status;
}

/* ---- steps --------------------------------------------------------------- */

static bool plot_add_step(struct storm_memory *memory, struct plot_steps *steps,
                          uint64_t step)
{
    void *larger = steps->step;
    if (storm_reserve(memory, PLOT_LABEL, sizeof *steps->step, steps->n + 1,
                      &larger, &steps->capacity) < 0)
        return false;
    steps->step = larger;
    size_t i = steps->n++;
    for (; i > 0 && steps->step[i - 1] > step; i--)
        steps->step[i] = steps->step[i - 1];
    steps->step[i] = step;
    return true;
}

/* The number between the two in a name such as profile-12.csv. */
static bool plot_number(const char *name, const char *before, const char *after,
                        uint64_t *number_out)
{
    size_t n = strlen(before);
    char *end;
    if (strncmp(name, before, n) != 0 || name[n] < '0' || name[n] > '9')
        return false;
    *number_out = strtoull(name + n, &end, 10);
    return strcmp(end, after) == 0;
}

static storm_status plot_find_steps(struct plot_run *plot)
{
    DIR *dir = opendir(plot->params->run_dir);
    bool good = true;
    if (dir == NULL)
        return STORM_OK; /* the reader says why */
    for (struct dirent *entry; good && (entry = readdir(dir)) != NULL;) {
        uint64_t step;
        if (plot_number(entry->d_name, "fields-", ".h5", &step))
            good = plot_add_step(plot->memory, &plot->dumps, step);
        else if (plot_number(entry->d_name, "profile-", ".csv", &step))
            good = plot_add_step(plot->memory, &plot->profiles, step);
    }
    closedir(dir);
    return good ? STORM_OK : plot_no_memory(plot);
}

bool plot_has_step(const struct plot_steps *steps, uint64_t step)
{
    for (size_t i = 0; i < steps->n; i++)
        if (steps->step[i] == step)
            return true;
    return false;
}

void plot_step_list(const struct plot_steps *steps, char text_out[PLOT_TEXT])
{
    enum { MAX = 24 };
    size_t n = steps->n, length = 0;
    text_out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (n > MAX && i == MAX - 1) { /* then the last one */
            length += (size_t)snprintf(text_out + length, PLOT_TEXT - length,
                                       ", ...");
            i = n - 1;
        }
        length +=
            (size_t)snprintf(text_out + length, PLOT_TEXT - length,
                             "%s%" PRIu64, i > 0 ? ", " : "", steps->step[i]);
        if (length + 32 >= PLOT_TEXT)
            return;
    }
}

/* ---- opening ------------------------------------------------------------- */

static double plot_number_of(const struct plot_run *plot, const char *key)
{
    double value = 0.0;
    (void)storm_deck_numbers(plot->deck, key, &value, 1);
    return value;
}

/* A number of one of the materials. */
static double plot_of_material(const struct plot_run *plot, size_t i,
                               const char *key)
{
    char path[PLOT_NAME];
    snprintf(path, sizeof path, "materials.%zu.%s", i, key);
    return plot_number_of(plot, path);
}

static storm_status plot_read_materials(struct plot_run *plot)
{
    for (size_t i = 0;; i++) {
        char path[PLOT_NAME], name[PLOT_NAME];
        snprintf(path, sizeof path, "materials.%zu.name", i);
        if (storm_deck_value(plot->deck, path, name, sizeof name) == 0)
            return STORM_OK;
        void *larger = plot->materials;
        storm_status status =
            storm_reserve(plot->memory, PLOT_LABEL, sizeof *plot->materials,
                          i + 1, &larger, &plot->materials_capacity);
        plot->materials = larger;
        if (status < 0)
            return plot_no_memory(plot);
        struct plot_material *material = &plot->materials[plot->n_materials++];
        memcpy(material->name, name, sizeof name);
        snprintf(path, sizeof path, "materials.%zu.table", i);
        bool has_table =
            storm_deck_value(plot->deck, path, name, sizeof name) > 0 &&
            strcmp(name, "none") != 0;
        material->has_heat =
            has_table || plot_of_material(plot, i, "heat_capacity.coef") > 0.0;
        material->is_empty =
            !material->has_heat &&
            plot_of_material(plot, i, "absorption.coef") == 0.0 &&
            plot_of_material(plot, i, "scattering.coef") == 0.0;
    }
}

/* A picture of a run that is not done says so. */
static void plot_make_title(struct plot_run *plot)
{
    struct io_run_status status = io_status_read(plot->params->run_dir);
    const char *title = storm_deck_title(plot->deck);
    io_status_text(&status, plot->state, sizeof plot->state);
    if (plot->state[0] != '\0')
        snprintf(plot->title, sizeof plot->title, "%.*s (%s)", PLOT_TEXT - 1,
                 title, plot->state);
    else
        snprintf(plot->title, sizeof plot->title, "%s", title);
}

/* What pictures need of the deck. */
static storm_status plot_take_deck(struct plot_run *plot)
{
    char axis[PLOT_NAME];
    plot_make_title(plot);
    (void)storm_deck_value(plot->deck, "output.profile.axis", axis,
                           sizeof axis);
    plot->profile_axis = axis[0];
    plot->natural = plot_number_of(plot, "constants.c") != plot_light_cm_s;
    (void)storm_deck_value(plot->deck, "time.control", axis, sizeof axis);
    plot->by_dump = strcmp(axis, "accuracy") == 0 &&
                    io_rundir_has_job(plot->params->run_dir);
    return plot_read_materials(plot);
}

static storm_status plot_read_deck(struct plot_run *plot)
{
    char path[IO_READER_PATH + 16], *problems = NULL;
    snprintf(path, sizeof path, "%s/deck.yaml", plot->params->run_dir);
    storm_status status =
        storm_deck_read(path, NULL, 0, &plot->deck, &problems);
    if (status < 0) {
        size_t n = problems != NULL ? strcspn(problems, "\n") : 0;
        plot_fail(plot, STORM_ERR_ARG, "%.*s", n > 0 ? (int)n : 9,
                  n > 0 ? problems : "no memory");
    }
    free(problems);
    return status < 0 ? STORM_ERR_ARG : plot_take_deck(plot);
}

/* The arrays by cell. */
static storm_status plot_take_mesh(struct plot_run *plot)
{
    size_t n = (size_t)plot->reader.n_cells + 1;
    storm_free(plot->memory, plot->material);
    storm_free(plot->memory, plot->scratch);
    plot->material =
        storm_alloc(plot->memory, PLOT_LABEL, n * sizeof *plot->material);
    plot->scratch =
        storm_alloc(plot->memory, PLOT_LABEL, n * sizeof *plot->scratch);
    if (plot->material == NULL || plot->scratch == NULL)
        return plot_no_memory(plot);
    if (!io_reader_box(&plot->reader, plot->lo, plot->hi)) {
        (void)storm_deck_numbers(plot->deck, "mesh.box.lo", plot->lo, 3);
        (void)storm_deck_numbers(plot->deck, "mesh.box.hi", plot->hi, 3);
    }
    return plot_reader(plot,
                       io_reader_values(&plot->reader, plot->reader.mesh_name,
                                        "material", plot->material));
}

storm_status plot_use(struct plot_run *plot, uint64_t step)
{
    const char *dir = plot->params->run_dir;
    uint64_t mesh_step = io_reader_mesh_step(dir, step);
    if (mesh_step == plot->mesh_step)
        return STORM_OK;
    slice_free(&plot->slice);
    plot->is_cut = false;
    io_reader_close(&plot->reader);
    plot->mesh_step = mesh_step;
    storm_status status =
        io_reader_open(plot->memory, dir, mesh_step, &plot->reader);
    return status < 0 ? plot_reader(plot, status) : plot_take_mesh(plot);
}

/* With the mesh of the last dump. */
storm_status plot_open(struct plot_run *plot, struct storm_memory *memory,
                       const struct storm_plot_params *params)
{
    *plot = (struct plot_run){
        .memory = memory, .params = params, .reader = {.mesh = -1}};
    storm_status status = plot_find_steps(plot);
    if (status < 0)
        return status;
    if (plot->dumps.n > 0)
        plot->mesh_step =
            io_reader_mesh_step(params->run_dir,
                                plot->dumps.step[plot->dumps.n - 1]);
    plot->moves = plot->mesh_step > 0;
    status =
        io_reader_open(memory, params->run_dir, plot->mesh_step, &plot->reader);
    if (status < 0) {
        plot_reader(plot, status);
        return STORM_ERR_ARG;
    }
    status = plot_read_deck(plot);
    if (status < 0)
        return status;
    if (plot->dumps.n == 0)
        return plot_fail(plot, STORM_ERR_ARG, "%s has no fields",
                         params->run_dir);
    return plot_take_mesh(plot);
}

void plot_close(struct plot_run *plot)
{
    slice_free(&plot->slice);
    io_reader_close(&plot->reader);
    storm_deck_destroy(plot->deck);
    storm_free(plot->memory, plot->materials);
    storm_free(plot->memory, plot->dumps.step);
    storm_free(plot->memory, plot->profiles.step);
    storm_free(plot->memory, plot->material);
    storm_free(plot->memory, plot->scratch);
}

/* ---- fields -------------------------------------------------------------- */

/* Those that belong to the mesh. */
static const char *const plot_mesh_fields[] = {"material", "solid", "owner",
                                               "cell_size", "volume"};
enum { PLOT_N_MESH_FIELDS = 5 };

/* Of an array NAME with NAME_error. */
static const char plot_relative_suffix[] = "_relative_error";

bool plot_is_dumped(const char *field)
{
    for (int i = 0; i < PLOT_N_MESH_FIELDS; i++)
        if (strcmp(field, plot_mesh_fields[i]) == 0)
            return false;
    return true;
}

static storm_status plot_owners(struct plot_run *plot, double *values_out)
{
    char path[IO_READER_PATH + 16];
    struct io_table table;
    uint64_t next = 0;
    snprintf(path, sizeof path, "%s/partition.csv", plot->params->run_dir);
    storm_status status = io_table_read(plot->memory, path, &table,
                                        plot->problem, sizeof plot->problem);
    size_t first = io_table_find(&table, "first_cell");
    size_t cells = io_table_find(&table, "cells");
    size_t rank = io_table_find(&table, "rank");
    bool good = first < table.n_columns && cells < table.n_columns &&
                rank < table.n_columns;
    for (size_t i = 0; good && status == STORM_OK && i < table.n_rows; i++) {
        const double *row = table.values + i * table.n_columns;
        good = row[first] == (double)next && row[cells] >= 0.0 &&
               row[rank] >= 0.0 && row[rank] <= (double)INT32_MAX &&
               row[cells] <= (double)(plot->reader.n_cells - next);
        for (uint64_t end = next + (good ? (uint64_t)row[cells] : 0);
             next < end; next++)
            values_out[next] = row[rank];
    }
    if (status == STORM_OK && (!good || next != plot->reader.n_cells))
        status =
            plot_fail(plot, STORM_ERR_IO, "%s does not fit the cells of %s",
                      path, plot->reader.mesh_name);
    io_table_free(&table);
    return status;
}

/* Does the cell have a value of this field? */
static bool plot_has_value(const struct plot_run *plot, uint64_t cell,
                           bool of_material)
{
    double material = plot->material[cell];
    if (!(material >= 0.0))
        return false; /* outside */
    if (!of_material)
        return true;
    return material < (double)plot->n_materials &&
           plot->materials[(size_t)material].has_heat;
}

static storm_status plot_dumped(struct plot_run *plot, const char *field,
                                uint64_t step, double *values_out)
{
    char file[PLOT_NAME];
    bool of_material = strncmp(field, "material_", 9) == 0;
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    storm_status status =
        io_reader_values(&plot->reader, file, field, values_out);
    for (uint64_t i = 0; status == STORM_OK && i < plot->reader.n_cells; i++)
        if (!plot_has_value(plot, i, of_material))
            values_out[i] = (double)NAN;
    return plot_reader(plot, status);
}

/* Error over value, of a run with replicas; NAN where the value is 0. */
static storm_status plot_relative(struct plot_run *plot, const char *field,
                                  uint64_t step, double *values_out)
{
    const uint64_t n = plot->reader.n_cells;
    const int length = (int)(strlen(field) - strlen(plot_relative_suffix));
    char name[PLOT_NAME], error[PLOT_NAME];
    snprintf(name, sizeof name, "%.*s", length, field);
    snprintf(error, sizeof error, "%.*s_error", length, field);
    double *mean =
        storm_alloc(plot->memory, PLOT_LABEL, (n + 1) * sizeof *mean);
    if (mean == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    storm_status status = plot_dumped(plot, error, step, values_out);
    if (status == STORM_OK)
        status = plot_dumped(plot, name, step, mean);
    for (uint64_t i = 0; i < n && status == STORM_OK; i++)
        values_out[i] =
            mean[i] != 0.0 ? values_out[i] / fabs(mean[i]) : (double)NAN;
    storm_free(plot->memory, mean);
    return status;
}

/* Is a Cartesian mesh one cell wide in this direction? */
static bool plot_is_flat(const struct plot_run *plot, int d)
{
    char kind[PLOT_NAME];
    double cells[3] = {0.0};
    (void)storm_deck_value(plot->deck, "mesh.kind", kind, sizeof kind);
    (void)storm_deck_numbers(plot->deck, "mesh.cells", cells, 3);
    return strcmp(kind, "cartesian") == 0 && cells[d] == 1.0;
}

/* From volumes: edges of cubes, or of squares in a mesh that is one cell wide,
 * or lengths. */
static void plot_sizes(const struct plot_run *plot, double *values)
{
    double across = 1.0;
    int n_flat = 0;
    for (int d = 0; d < 3; d++)
        if (plot_is_flat(plot, d)) {
            across *= plot->hi[d] - plot->lo[d];
            n_flat++;
        }
    for (uint64_t i = 0; i < plot->reader.n_cells; i++)
        values[i] = n_flat == 1   ? sqrt(values[i] / across)
                    : n_flat == 2 ? values[i] / across
                                  : cbrt(values[i]);
}

static bool plot_ends(const char *name, const char *tail)
{
    size_t n = strlen(name), m = strlen(tail);
    return n > m && strcmp(name + n - m, tail) == 0;
}

/* Is it an error over its value? */
static bool plot_is_relative(const char *field)
{
    return plot_ends(field, plot_relative_suffix);
}

storm_status plot_values(struct plot_run *plot, const char *field,
                         uint64_t step, double *values_out)
{
    const uint64_t n = plot->reader.n_cells;
    if (plot_is_relative(field))
        return plot_relative(plot, field, step, values_out);
    if (plot_is_dumped(field))
        return plot_dumped(plot, field, step, values_out);
    if (strcmp(field, "owner") == 0)
        return plot_owners(plot, values_out);
    if (strcmp(field, "material") == 0) {
        for (uint64_t i = 0; i < n; i++)
            values_out[i] =
                plot->material[i] >= 0.0 ? plot->material[i] : (double)NAN;
        return STORM_OK;
    }
    storm_status status =
        io_reader_values(&plot->reader, plot->reader.mesh_name, "volume",
                         values_out);
    if (status == STORM_OK && strcmp(field, "cell_size") == 0)
        plot_sizes(plot, values_out);
    return plot_reader(plot, status);
}

/* ---- tables -------------------------------------------------------------- */

bool plot_tally_name(const struct plot_run *plot, size_t i,
                     char name_out[PLOT_NAME])
{
    char key[PLOT_NAME];
    snprintf(key, sizeof key, "output.tallies.%zu.name", i);
    return storm_deck_value(plot->deck, key, name_out, PLOT_NAME) > 0;
}

/* "history", or "history-3" of one replica. */
static bool plot_is_rows(const char *field, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(field, name, n) != 0)
        return false;
    field += n;
    return *field == '\0' ||
           (*field == '-' && field[1] != '\0' &&
            field[1 + strspn(field + 1, "0123456789")] == '\0');
}

/* A line-out of the last dump? */
static bool plot_is_lineout(const struct plot_run *plot, const char *field)
{
    static const char head[] = "lineout-";
    char path[IO_READER_PATH + PLOT_NAME + 32], name[PLOT_NAME];
    bool is = false;
    if (strncmp(field, head, sizeof head - 1) != 0 || plot->dumps.n == 0)
        return false;
    for (size_t i = 0; plot_lineout_name(plot, i, name); i++)
        is = is || strcmp(field + sizeof head - 1, name) == 0;
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".csv", plot->params->run_dir,
             field, plot->dumps.step[plot->dumps.n - 1]);
    return is && access(path, F_OK) == 0;
}

bool plot_is_table(const struct plot_run *plot, const char *field)
{
    char path[IO_READER_PATH + PLOT_NAME + 8];
    if (plot_is_lineout(plot, field) ||
        (strcmp(field, "traffic") == 0 && plot_has_traffic(plot)))
        return true;
    bool may = plot_is_rows(field, "history") ||
               plot_is_rows(field, "probes") ||
               strncmp(field, "tally-", 6) == 0;
    snprintf(path, sizeof path, "%s/%s.csv", plot->params->run_dir, field);
    return may && access(path, F_OK) == 0;
}

/* Those of the run, each with a comma after it; where replicas have no means,
 * those of the first. */
static void plot_add_tables(const struct plot_run *plot,
                            struct storm_page *page)
{
    static const char *const single[][2] = {{"history", "history-1"},
                                            {"probes", "probes-1"}};
    char name[PLOT_NAME], field[PLOT_NAME + 16];
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (plot_is_table(plot, single[i][0]))
            storm_page_add(page, "%s, ", single[i][0]);
        else if (plot_is_table(plot, single[i][1]))
            storm_page_add(page, "%s, ", single[i][1]);
    for (size_t i = 0; plot_tally_name(plot, i, name); i++) {
        snprintf(field, sizeof field, "tally-%s", name);
        if (plot_is_table(plot, field))
            storm_page_add(page, "%s, ", field);
    }
    for (size_t i = 0; plot_lineout_name(plot, i, name); i++) {
        snprintf(field, sizeof field, "lineout-%s", name);
        if (plot_is_table(plot, field))
            storm_page_add(page, "%s, ", field);
    }
    if (plot_has_traffic(plot))
        storm_page_add(page, "traffic, ");
}

/* The second of a moment's groups, and so on, go without saying. */
static bool plot_is_listed(const char *name)
{
    const char *group = strstr(name, "_group_");
    return !plot_ends(name, "_error") &&
           (group == NULL || strcmp(group, "_group_0") == 0);
}

char *plot_field_list(struct plot_run *plot, uint64_t step)
{
    struct storm_page page = {0};
    char file[PLOT_NAME];
    io_reader_name *names = NULL;
    size_t n = 0;
    bool has_errors = false, has_groups = false;
    plot_add_tables(plot, &page);
    for (int i = 0; i < PLOT_N_MESH_FIELDS; i++)
        storm_page_add(&page, "%s, ", plot_mesh_fields[i]);
    storm_page_add(&page, "temperatures");
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    if (io_reader_names(&plot->reader, file, &names, &n) == STORM_OK)
        for (size_t i = 0; i < n; i++) {
            has_errors = has_errors || plot_ends(names[i], "_error");
            has_groups = has_groups || strstr(names[i], "_group_1") != NULL;
            if (plot_is_listed(names[i]))
                storm_page_add(&page, ", %s", names[i]);
        }
    storm_free(plot->memory, names);
    if (has_groups)
        storm_page_add(&page, "; other groups by their number");
    if (has_errors)
        storm_page_add(&page, "; with _error or _relative_error after it, the "
                              "error of what is in a dump");
    return storm_page_end(&page);
}

static bool plot_is_in_dump(struct plot_run *plot, const char *field,
                            uint64_t step)
{
    char file[PLOT_NAME], array[PLOT_NAME];
    io_reader_name *names = NULL;
    size_t n = 0;
    bool found = false;
    snprintf(array, sizeof array, "%s", field);
    if (plot_is_relative(field))
        snprintf(array, sizeof array, "%.*s_error",
                 (int)(strlen(field) - strlen(plot_relative_suffix)), field);
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    if (io_reader_names(&plot->reader, file, &names, &n) == STORM_OK)
        for (size_t i = 0; i < n; i++)
            found = found || strcmp(names[i], array) == 0;
    storm_free(plot->memory, names);
    return found;
}

bool plot_has_field(struct plot_run *plot, const char *field, uint64_t step)
{
    bool found = strcmp(field, "temperatures") == 0 || !plot_is_dumped(field);
    return found || plot_is_table(plot, field) ||
           plot_is_in_dump(plot, field, step);
}

bool plot_is_line(const struct plot_run *plot)
{
    char kind[PLOT_NAME];
    (void)storm_deck_value(plot->deck, "mesh.kind", kind, sizeof kind);
    bool is = strcmp(kind, "cartesian") == 0 && plot->profiles.n > 0;
    for (int d = 0; d < 3; d++)
        is = is && ("xyz"[d] == plot->profile_axis || plot_is_flat(plot, d));
    return is;
}

/* ---- words --------------------------------------------------------------- */

void plot_words(const char *field, char words_out[PLOT_NAME])
{
    int n = (int)strlen(field);
    if (plot_is_relative(field))
        snprintf(words_out, PLOT_NAME, "relative error of the %.*s",
                 n - (int)strlen(plot_relative_suffix), field);
    else if (plot_ends(field, "_error"))
        snprintf(words_out, PLOT_NAME, "standard error of the %.*s", n - 6,
                 field);
    else
        snprintf(words_out, PLOT_NAME, "%s", field);
    for (char *c = words_out; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

const char *plot_unit(const struct plot_run *plot, const char *field)
{
    const char *unit = plot_is_relative(field)                ? ""
                       : strcmp(field, "cell_size") == 0      ? "cm"
                       : strcmp(field, "position") == 0       ? "cm"
                       : strcmp(field, "volume") == 0         ? "cm³"
                       : strstr(field, "temperature") != NULL ? "keV"
                       : strstr(field, "energy") != NULL      ? "erg/cm³"
                       : strncmp(field, "flux_", 5) == 0      ? "erg/cm²/s"
                       : strncmp(field, "pressure_", 9) == 0  ? "erg/cm³"
                       : strncmp(field, "momentum_", 9) == 0  ? "g cm/s"
                                                              : "";
    return plot->natural ? "" : unit;
}

void plot_with_unit(const struct plot_run *plot, const char *words,
                    const char *unit, char label_out[PLOT_TEXT])
{
    bool has_unit = !plot->natural && *unit != '\0';
    snprintf(label_out, PLOT_TEXT, "%s%s%s%s", words, has_unit ? " (" : "",
             has_unit ? unit : "", has_unit ? ")" : "");
}

void plot_label(const struct plot_run *plot, const char *field,
                char label_out[PLOT_TEXT])
{
    char words[PLOT_NAME];
    plot_words(field, words);
    plot_with_unit(plot, words, plot_unit(plot, field), label_out);
}

const char *plot_time_unit(double time, double *factor_out)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"s", 1.0},  {"ms", 1e3},  {"µs", 1e6},
                 {"ns", 1e9}, {"ps", 1e12}, {"fs", 1e15}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (time * units[i].factor >= 1.0 - 1e-12) {
            *factor_out = units[i].factor;
            return units[i].name;
        }
    *factor_out = 1.0;
    return "s";
}

double plot_time_axis(const struct plot_run *plot, const char *words,
                      double max_s, char label_out[PLOT_TEXT])
{
    double factor = 1.0;
    const char *unit = plot->natural ? "" : plot_time_unit(max_s, &factor);
    plot_with_unit(plot, words, unit, label_out);
    return factor;
}

void plot_time_text(const struct plot_run *plot, double time, uint64_t step,
                    char text_out[PLOT_TEXT])
{
    char number[STORM_SVG_LABEL_BYTES];
    double factor = 1.0;
    const char *unit = plot->natural ? "" : plot_time_unit(time, &factor);
    storm_svg_number(time * factor, 4, number);
    int n = snprintf(text_out, PLOT_TEXT, "t = %s%s%s", number,
                     *unit != '\0' ? " " : "", unit);
    if (!plot->by_dump)
        snprintf(text_out + n, (size_t)(PLOT_TEXT - n), " (step %" PRIu64 ")",
                 step);
}

storm_status plot_time(struct plot_run *plot, uint64_t step,
                       char text_out[PLOT_TEXT])
{
    char file[PLOT_NAME];
    double time;
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    storm_status status = io_reader_number(&plot->reader, file, "time", &time);
    if (status == STORM_OK)
        plot_time_text(plot, time, step, text_out);
    return plot_reader(plot, status);
}
