/* SPDX-License-Identifier: BSD-3-Clause */
/* The pictures of a run and their contents. */
#include "view/plot.h"
#include "base/sized.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/chart_parts.h"
#include "view/colours.h"

enum {
    PLOT_MAX_SOLID = 100000, /* cells of which a view is drawn by default */
    PLOT_MAX_LINES = 6000,   /* cells with edges by default */
    PLOT_MAX_OWNERS = 8      /* ranks with a name and a colour of their own */
};

static const char plot_usual[] = "material,cell_size,temperatures,owner";
static const char plot_usual_solid[] =
    "material,solid,cell_size,temperatures,owner";
static const char plot_usual_line[] = "owner"; /* profiles show the rest */
static const char plot_usual_along[] =
    "material_temperature,radiation_temperature";
static const char plot_usual_error[] = "radiation_energy_relative_error";

/* The names asked for, one after the other. */
struct plot_names {
    char (*name)[PLOT_NAME];
    size_t n;
};

/* ---- what is asked for --------------------------------------------------- */

static storm_status plot_no_field(struct plot_run *plot, const char *field,
                                  uint64_t step)
{
    char of_first[PLOT_NAME + 4];
    snprintf(of_first, sizeof of_first, "%s-1", field);
    if (plot->by_dump && plot_is_table(plot, of_first))
        return plot_fail(plot, STORM_ERR_ARG,
                         "no means of '%s': the replicas have steps of their "
                         "own (time.control); take one, --field %s, ...",
                         field, of_first);
    char *list = plot_field_list(plot, step);
    plot_fail(plot, STORM_ERR_ARG, "no field '%s'; there are: %s", field,
              list != NULL ? list : "?");
    free(list);
    return STORM_ERR_ARG;
}

static storm_status plot_split(struct plot_run *plot, const char *fields,
                               uint64_t step, struct plot_names *names)
{
    names->name = storm_alloc(plot->memory, PLOT_LABEL,
                              (strlen(fields) + 1) * sizeof *names->name);
    if (names->name == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    for (const char *at = fields; at != NULL;) {
        size_t n = strcspn(at, ",");
        snprintf(names->name[names->n], sizeof *names->name, "%.*s", (int)n,
                 at);
        if (n >= sizeof *names->name ||
            !plot_has_field(plot, names->name[names->n], step))
            return plot_no_field(plot, names->name[names->n], step);
        names->n++;
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return STORM_OK;
}

static storm_status plot_check_steps(struct plot_run *plot)
{
    const struct storm_plot_params *params = plot->params;
    char list[PLOT_TEXT];
    for (size_t i = 0; i < params->n_steps; i++)
        if (!plot_has_step(&plot->dumps, params->steps[i])) {
            plot_step_list(&plot->dumps, list);
            return plot_fail(plot, STORM_ERR_ARG,
                             "no step %" PRIu64 "; there are: %s",
                             params->steps[i], list);
        }
    return STORM_OK;
}

double plot_at(const struct plot_run *plot, int axis)
{
    return plot->params->at_cm != NULL
               ? *plot->params->at_cm
               : 0.5 * (plot->lo[axis] + plot->hi[axis]);
}

/* Where to cut: a little below, so that roundings in faces along the plane do
 * not matter, but in the box. */
static storm_status plot_place(struct plot_run *plot, int *axis_out,
                               double *at_out)
{
    const double little = 1e-9;
    const struct storm_plot_params *params = plot->params;
    int axis = params->axis != '\0' ? params->axis - 'x' : 2;
    if (axis < 0 || axis > 2)
        return plot_fail(plot, STORM_ERR_ARG,
                         "no axis '%c'; there are: x, y, z", params->axis);
    double lo = plot->lo[axis], hi = plot->hi[axis];
    double at = plot_at(plot, axis), width = hi - lo;
    if (!(at >= lo && at <= hi))
        return plot_fail(plot, STORM_ERR_ARG,
                         "%c = %g is not in the box, which goes from %g to %g",
                         'x' + axis, at, lo, hi);
    *axis_out = axis;
    *at_out = fmax(at - little * width, lo + little * width);
    return STORM_OK;
}

storm_status plot_cut(struct plot_run *plot, uint64_t step)
{
    int axis;
    double at;
    storm_status status = plot_use(plot, step);
    if (status < 0 || plot->is_cut)
        return status;
    status = plot_place(plot, &axis, &at);
    if (status < 0)
        return status;
    plot->is_cut = true;
    status = slice_make(&plot->reader, axis, at, &plot->slice);
    return status == STORM_OK
               ? STORM_OK
               : plot_fail(plot, status, "%s",
                           status == STORM_ERR_NOMEM ? "no memory"
                                                     : plot->reader.problem);
}

/* ---- categories ---------------------------------------------------------- */

/* Colours and names of categories. */
struct plot_categories {
    struct storm_memory *memory;
    size_t n;
    unsigned *colour;
    char (*text)[PLOT_NAME];
    const char **name;
};

static bool plot_make_categories(struct plot_categories *c, size_t n)
{
    c->n = n;
    c->colour = storm_alloc(c->memory, PLOT_LABEL, (n + 1) * sizeof *c->colour);
    c->text = storm_alloc(c->memory, PLOT_LABEL, (n + 1) * sizeof *c->text);
    c->name = storm_alloc(c->memory, PLOT_LABEL, (n + 1) * sizeof *c->name);
    for (size_t i = 0; c->text != NULL && c->name != NULL && i < n; i++)
        c->name[i] = c->text[i];
    return c->colour != NULL && c->text != NULL && c->name != NULL;
}

static void plot_free_categories(struct plot_categories *c)
{
    storm_free(c->memory, c->colour);
    storm_free(c->memory, c->text);
    storm_free(c->memory, c->name);
}

/* Empty space is pale. */
static bool plot_materials(const struct plot_run *plot,
                           struct plot_categories *c)
{
    int n_used = 0;
    if (!plot_make_categories(c, plot->n_materials + 1))
        return false;
    for (size_t i = 0; i < plot->n_materials; i++) {
        const struct plot_material *material = &plot->materials[i];
        c->colour[i] =
            material->is_empty ? 0xfdf6e3 : storm_chart_colour(n_used++);
        snprintf(c->text[i], sizeof *c->text, "%s", material->name);
    }
    c->colour[c->n - 1] = 0xffffff;
    snprintf(c->text[c->n - 1], sizeof *c->text, "no region");
    return true;
}

/* Hues a golden section apart: neighbours along the curve look different. */
static unsigned plot_hue(size_t i)
{
    double hue = 6.0 * fmod(0.618033988749895 * (double)i, 1.0);
    double light = 0.5 + 0.14 * (double)(i % 3);
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++) {
        double x = fabs(fmod(hue + 2.0 * k, 6.0) - 3.0) - 1.0;
        x = fmin(fmax(x, 0.0), 1.0);
        rgb = rgb << 8 | (unsigned)lround(255.0 * (light * x + 0.9 - light));
    }
    return rgb;
}

static bool plot_owners_of(const double *value, uint64_t n_cells,
                           struct plot_categories *c)
{
    double max = 0.0;
    for (uint64_t i = 0; i < n_cells; i++)
        max = fmax(max, value[i]);
    if (!plot_make_categories(c, (size_t)max + 1))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        c->colour[i] =
            c->n <= PLOT_MAX_OWNERS ? storm_chart_colour((int)i) : plot_hue(i);
        snprintf(c->text[i], sizeof *c->text, "rank %zu", i);
    }
    return true;
}

/* Leaves out of the legend what is not in the picture, at its end. */
static size_t plot_n_shown(const struct slice *slice, const double *value,
                           size_t n)
{
    double max = -1.0;
    for (size_t i = 0; i < slice->n_polygons; i++)
        max = fmax(max, value[slice->polygons[i].cell]);
    return fmin((double)n, max + 1.0) > 1.0 ? (size_t)(max + 1.0) : 1;
}

/* ---- one picture --------------------------------------------------------- */

static bool plot_any_blank(const struct slice *slice, const double *value)
{
    for (size_t i = 0; i < slice->n_polygons; i++)
        if (!isfinite(value[slice->polygons[i].cell]))
            return true;
    return false;
}

/* Is there a picture for each step? What belongs to the mesh is drawn once,
 * unless the mesh moves; owners are those of the last dump. */
static bool plot_is_by_step(const struct plot_run *plot, const char *field)
{
    return plot_is_dumped(field) ||
           (plot->moves && strcmp(field, "owner") != 0);
}

/* Texts of a picture. */
struct plot_texts {
    char subtitle[2 * PLOT_TEXT], axis[2][16], label[PLOT_TEXT];
};

static storm_status plot_describe(struct plot_run *plot,
                                  const struct slice *slice, const char *field,
                                  uint64_t step, struct plot_texts *texts)
{
    char words[PLOT_NAME], time[PLOT_TEXT] = "", at[STORM_SVG_LABEL_BYTES];
    storm_status status = STORM_OK;
    if (plot_is_dumped(field) || plot->moves)
        status = plot_time(plot, step, time);
    const char *unit = plot->natural ? "" : " cm";
    plot_words(field, words);
    plot_label(plot, field, texts->label);
    storm_svg_number(plot_at(plot, slice->axis), 4, at);
    snprintf(texts->subtitle, sizeof texts->subtitle, "%s, %c = %s%s%s%s",
             words, 'x' + slice->axis, at, unit, time[0] != '\0' ? ", " : "",
             time);
    for (int k = 0; k < 2; k++)
        snprintf(texts->axis[k], sizeof texts->axis[k], "%c%s",
                 'x' + slice_direction(slice->axis, k),
                 plot->natural ? "" : " (cm)");
    return status;
}

/* Parts of the name of a picture. */
struct plot_name {
    const char *kind;
    int axis;
    const char *field;
    uint64_t step;
};

static storm_status plot_deliver(struct plot_run *plot,
                                 const struct plot_name *what,
                                 const char *caption, const char *svg)
{
    const struct storm_plot_params *params = plot->params;
    char at[32] = "", number[32] = "", name[4 * PLOT_NAME];
    if (params->at_cm != NULL)
        snprintf(at, sizeof at, "%g", *params->at_cm);
    if (plot_is_by_step(plot, what->field))
        snprintf(number, sizeof number, "-%" PRIu64, what->step);
    snprintf(name, sizeof name, "%s-%c%s-%s%s.svg", what->kind,
             'x' + what->axis, at, what->field, number);
    return params->take(params->take_self, name, caption, svg);
}

static storm_status plot_deliver_slice(struct plot_run *plot,
                                       const struct plot_picture *picture,
                                       const char *field, uint64_t step)
{
    const struct plot_name name = {"slice", picture->slice->axis, field, step};
    if (plot->take_slice != NULL)
        return plot->take_slice(plot, picture, step);
    char *svg = plot_slice_svg(picture);
    if (svg == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    storm_status status = plot_deliver(plot, &name, picture->subtitle, svg);
    free(svg);
    return status;
}

static bool plot_lines(const struct plot_run *plot, const struct slice *slice,
                       const char *field)
{
    bool shape =
        strcmp(field, "material") == 0 || strcmp(field, "cell_size") == 0;
    return plot->params->lines == STORM_PLOT_YES ||
           (plot->params->lines == STORM_PLOT_AUTO && shape &&
            slice->n_polygons <= PLOT_MAX_LINES);
}

/* A slice to be drawn. */
struct plot_task {
    const char *field;
    uint64_t step;
    bool kinds;              /* categories, not numbers */
    struct plot_range range; /* of the numbers, at all steps drawn */
};

/* Two fields in one picture: radiation above or on the left, material below or
 * on the right. */
static storm_status plot_both(struct plot_run *plot, uint64_t step,
                              double *value, struct plot_picture *picture)
{
    storm_status status =
        plot_values(plot, "radiation_temperature", step, value);
    if (status == STORM_OK)
        status = plot_values(plot, "material_temperature", step, plot->scratch);
    if (status < 0)
        return status;
    picture->below = plot->scratch;
    picture->panels = plot->panels;
    picture->half[0] = "radiation temperature";
    picture->half[1] = "material temperature";
    picture->label = plot->natural ? "temperature" : "temperature (keV)";
    if (plot_any_blank(picture->slice, value))
        picture->blank = "outside, or no heat capacity";
    else if (plot_any_blank(picture->slice, plot->scratch))
        picture->blank = "no heat capacity";
    return STORM_OK;
}

static storm_status plot_one(struct plot_run *plot, const char *field,
                             uint64_t step, double *value,
                             struct plot_picture *picture)
{
    storm_status status = plot_values(plot, field, step, value);
    if (status < 0)
        return status;
    if (plot_any_blank(picture->slice, value))
        picture->blank = strncmp(field, "material_", 9) == 0
                             ? "outside, or no heat capacity"
                             : "outside";
    return STORM_OK;
}

/* One value everywhere, or none: drawn without scale. */
static bool plot_even(const struct plot_run *plot, const char *field,
                      const struct plot_range *range, double *value,
                      struct plot_picture *picture, struct plot_categories *c)
{
    char number[STORM_SVG_LABEL_BYTES];
    const char *unit = plot_unit(plot, field);
    if (!plot_make_categories(c, 1))
        return false;
    for (uint64_t i = 0; i < plot->reader.n_cells; i++) {
        value[i] = isfinite(value[i]) ? 0.0 : (double)NAN;
        plot->scratch[i] = isfinite(plot->scratch[i]) ? 0.0 : (double)NAN;
    }
    picture->n_categories = 1;
    picture->colour = c->colour;
    c->colour[0] = storm_colour(range->hi > 0.0 ? 0.5 : 0.0);
    if (range->lo <= range->hi) {
        storm_svg_number(range->hi, 4, number);
        snprintf(c->text[0], sizeof *c->text, "%s%s%s", number,
                 *unit != '\0' ? " " : "", unit);
        picture->category = c->name;
    }
    return true;
}

/* Values, and colours for them from what they are at all steps. */
static storm_status plot_numbers(struct plot_run *plot,
                                 const struct plot_task *task, double *value,
                                 struct plot_picture *picture,
                                 struct plot_categories *c)
{
    const char *field = task->field;
    storm_status status =
        strcmp(field, "temperatures") == 0
            ? plot_both(plot, task->step, value, picture)
            : plot_one(plot, field, task->step, value, picture);
    if (status < 0)
        return status;
    picture->scale = plot_scale(plot, field, &task->range);
    if (plot_is_even(&task->range) &&
        !plot_even(plot, field, &task->range, value, picture, c))
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    return STORM_OK;
}

static storm_status plot_kinds(struct plot_run *plot, const char *field,
                               double *value, struct plot_picture *picture,
                               struct plot_categories *c)
{
    bool is_owner = strcmp(field, "owner") == 0;
    storm_status status = plot_values(plot, field, 0, value);
    if (status < 0)
        return status;
    bool good = is_owner ? plot_owners_of(value, plot->reader.n_cells, c)
                         : plot_materials(plot, c);
    if (!good)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    picture->colour = c->colour;
    picture->n_categories =
        is_owner ? c->n : plot_n_shown(picture->slice, value, c->n);
    if (!is_owner || c->n <= PLOT_MAX_OWNERS)
        picture->category = c->name;
    if (plot_any_blank(picture->slice, value))
        picture->blank = "outside";
    return STORM_OK;
}

static storm_status plot_draw(struct plot_run *plot,
                              const struct plot_task *task)
{
    const struct slice *slice = &plot->slice;
    struct plot_categories categories = {.memory = plot->memory};
    struct plot_texts texts;
    double *value =
        storm_alloc(plot->memory, PLOT_LABEL,
                    ((size_t)plot->reader.n_cells + 1) * sizeof *value);
    struct plot_picture picture = {.slice = slice,
                                   .title = plot->title,
                                   .subtitle = texts.subtitle,
                                   .axis = {texts.axis[0], texts.axis[1]},
                                   .value = value,
                                   .label = texts.label,
                                   .lines =
                                       plot_lines(plot, slice, task->field)};
    for (int k = 0; k < 2; k++) {
        picture.lo[k] = plot->lo[slice_direction(slice->axis, k)];
        picture.hi[k] = plot->hi[slice_direction(slice->axis, k)];
    }
    storm_status status =
        value != NULL
            ? plot_describe(plot, slice, task->field, task->step, &texts)
            : plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    if (status == STORM_OK)
        status =
            task->kinds
                ? plot_kinds(plot, task->field, value, &picture, &categories)
                : plot_numbers(plot, task, value, &picture, &categories);
    if (status == STORM_OK)
        status = plot_deliver_slice(plot, &picture, task->field, task->step);
    plot_free_categories(&categories);
    storm_free(plot->memory, value);
    return status;
}

/* ---- the material in three dimensions ------------------------------------ */

static bool plot_is_solid(const struct plot_run *plot, double material)
{
    return material >= 0.0 && material < (double)plot->n_materials &&
           !plot->materials[(size_t)material].is_empty;
}

/* Is there something to see that is not just the box? */
static bool plot_has_shape(const struct plot_run *plot)
{
    bool solid = false, empty = false;
    for (uint64_t i = 0; i < plot->reader.n_cells; i++) {
        bool is = plot_is_solid(plot, plot->material[i]);
        solid = solid || is;
        empty = empty || !is;
    }
    return solid && empty && plot->reader.n_cells <= PLOT_MAX_SOLID;
}

static storm_status plot_make_view(struct plot_run *plot,
                                   struct plot_view *view, bool *solid,
                                   struct plot_categories *c, char **svg_out)
{
    if (solid == NULL || !plot_materials(plot, c))
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < view->n_materials; i++)
        solid[i] = plot_is_solid(plot, (double)i);
    view->solid = solid;
    view->colour = c->colour;
    view->name = c->name;
    return plot_view_svg(&plot->reader, view, svg_out);
}

static storm_status plot_solid(struct plot_run *plot, uint64_t step)
{
    const struct slice *slice = &plot->slice;
    char subtitle[2 * PLOT_TEXT], number[STORM_SVG_LABEL_BYTES], *svg = NULL;
    char time[PLOT_TEXT] = "";
    storm_status status = plot->moves ? plot_time(plot, step, time) : STORM_OK;
    if (status < 0)
        return status;
    struct plot_categories c = {.memory = plot->memory};
    bool *solid = storm_alloc(plot->memory, PLOT_LABEL,
                              (plot->n_materials + 1) * sizeof *solid);
    struct plot_view view = {.slice = slice,
                             .title = plot->title,
                             .subtitle = subtitle,
                             .material = plot->material,
                             .n_materials = plot->n_materials};
    memcpy(view.lo, plot->lo, sizeof view.lo);
    memcpy(view.hi, plot->hi, sizeof view.hi);
    storm_svg_number(plot_at(plot, slice->axis), 4, number);
    snprintf(subtitle, sizeof subtitle, "material, cut open at %c = %s%s%s%s",
             'x' + slice->axis, number, plot->natural ? "" : " cm",
             time[0] != '\0' ? ", " : "", time);
    status = plot_make_view(plot, &view, solid, &c, &svg);
    if (status < 0) {
        plot_fail(plot, status, "%s",
                  status == STORM_ERR_NOMEM ? "no memory"
                                            : plot->reader.problem);
    } else {
        const struct plot_name name = {"view", slice->axis, "solid", step};
        status = plot_deliver(plot, &name, subtitle, svg);
    }
    plot_free_categories(&c);
    storm_free(plot->memory, solid);
    free(svg);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

/* One field at all steps, on one scale. What is drawn once is drawn at the
 * first of them, and owners, which are those of the last dump, there. */
storm_status plot_field(struct plot_run *plot, const char *field,
                        const uint64_t *steps, size_t n_steps)
{
    bool is_owner = strcmp(field, "owner") == 0;
    bool is_solid = strcmp(field, "solid") == 0;
    struct plot_task task = {
        .field = field, .kinds = is_owner || strcmp(field, "material") == 0};
    storm_status status = STORM_OK;
    if (!plot_is_by_step(plot, field))
        n_steps = 1;
    if (is_owner)
        steps = &plot->dumps.step[plot->dumps.n - 1];
    if (strcmp(field, "temperatures") == 0) {
        bool is_mirror;
        status = plot_is_mirror(plot, &is_mirror);
        plot->panels = !is_mirror;
    }
    if (!task.kinds && !is_solid && status == STORM_OK)
        status = plot_find_range(plot, field, steps, n_steps, &task.range);
    for (size_t i = 0; i < n_steps && status == STORM_OK; i++) {
        task.step = steps[i];
        status = plot_cut(plot, task.step);
        if (status == STORM_OK)
            status =
                is_solid ? plot_solid(plot, task.step) : plot_draw(plot, &task);
    }
    return status;
}

/* What is drawn if nothing is asked for; of replicas, errors as well. */
static const char *plot_usual_fields(struct plot_run *plot, uint64_t step,
                                     char fields_out[PLOT_TEXT])
{
    bool is_line = plot_is_line(plot);
    const char *fields = is_line                ? plot_usual_line
                         : plot_has_shape(plot) ? plot_usual_solid
                                                : plot_usual;
    bool has_errors = !is_line && plot_has_field(plot, plot_usual_error, step);
    snprintf(fields_out, PLOT_TEXT, "%s%s%s", fields, has_errors ? "," : "",
             has_errors ? plot_usual_error : "");
    return fields_out;
}

/* Charts of a file of rows. */
static storm_status plot_table(struct plot_run *plot, const char *name,
                               bool all)
{
    if (strncmp(name, "history", 7) == 0)
        return plot_history(plot, name, all);
    if (strncmp(name, "probes", 6) == 0)
        return plot_probes(plot, name, all);
    if (strcmp(name, "traffic") == 0)
        return plot_traffic(plot);
    if (strncmp(name, "lineout-", 8) == 0)
        return plot_lineout(plot, name + strlen("lineout-"), all);
    return plot_tally(plot, name + strlen("tally-"), all);
}

/* All that there are. */
static storm_status plot_usual_tables(struct plot_run *plot)
{
    char name[PLOT_NAME], field[PLOT_NAME + 16];
    storm_status status = STORM_OK;
    for (size_t i = 0; plot_lineout_name(plot, i, name) && status == STORM_OK;
         i++) {
        snprintf(field, sizeof field, "lineout-%s", name);
        if (plot_is_table(plot, field))
            status = plot_table(plot, field, false);
    }
    if (plot_is_table(plot, "history"))
        status = plot_table(plot, "history", false);
    if (plot_is_table(plot, "probes") && status == STORM_OK)
        status = plot_table(plot, "probes", false);
    for (size_t i = 0; plot_tally_name(plot, i, name) && status == STORM_OK;
         i++) {
        snprintf(field, sizeof field, "tally-%s", name);
        if (plot_is_table(plot, field))
            status = plot_table(plot, field, false);
    }
    if (plot_is_table(plot, "traffic") && status == STORM_OK)
        status = plot_traffic(plot);
    return status;
}

static storm_status plot_all(struct plot_run *plot)
{
    const struct storm_plot_params *params = plot->params;
    struct plot_names names = {.n = 0};
    int axis;
    double at;
    const uint64_t last = plot->dumps.step[plot->dumps.n - 1];
    const uint64_t *steps = params->n_steps > 0 ? params->steps : &last;
    const size_t n_steps = params->n_steps > 0 ? params->n_steps : 1;
    bool usual = params->fields == NULL;
    char fields[PLOT_TEXT];
    storm_status status = plot_check_steps(plot);
    if (status == STORM_OK)
        status = plot_use(plot, steps[0]);
    if (status == STORM_OK)
        status = plot_split(plot,
                            !usual ? params->fields
                            : params->line_cm != NULL
                                ? plot_usual_along
                                : plot_usual_fields(plot, steps[0], fields),
                            steps[0], &names);
    if (status == STORM_OK && params->line_cm != NULL) {
        status = plot_lines_of(plot, names.name, names.n);
        storm_free(plot->memory, names.name);
        return status;
    }
    if (status == STORM_OK)
        status = plot_place(plot, &axis, &at);
    /* first: if the reference is bad, nothing is drawn */
    if (status == STORM_OK)
        status = plot_profiles(plot, names.name, usual ? 0 : names.n);
    for (size_t i = 0; i < names.n && status == STORM_OK; i++)
        status = plot_is_table(plot, names.name[i])
                     ? plot_table(plot, names.name[i], true)
                     : plot_field(plot, names.name[i], steps, n_steps);
    if (usual && status == STORM_OK)
        status = plot_usual_tables(plot);
    storm_free(plot->memory, names.name);
    return status;
}

const char plot_not_initialised[] =
    "the params do not begin with their initialiser, STORM_..._INIT";

storm_status storm_plot(const struct storm_plot_params *params, char *problem,
                        size_t problem_size)
{
    struct storm_memory *memory = NULL;
    struct plot_run *plot = NULL;
    struct storm_plot_params own;
    storm_status status =
        storm_sized_read(NULL, "storm_plot", params, &own, sizeof own);
    if (status < 0) {
        snprintf(problem, problem_size, "%s", plot_not_initialised);
        return status;
    }
    if (storm_memory_create(&memory) == STORM_OK)
        plot = storm_alloc(memory, PLOT_LABEL, sizeof *plot);
    if (plot == NULL) {
        storm_memory_end(memory);
        snprintf(problem, problem_size, "no memory");
        return STORM_ERR_NOMEM;
    }
    status = plot_open(plot, memory, &own);
    if (status == STORM_OK)
        status = plot_all(plot);
    if (status < 0)
        snprintf(problem, problem_size, "%s", plot->problem);
    plot_close(plot);
    storm_free(memory, plot);
    storm_memory_end(memory);
    return status;
}
