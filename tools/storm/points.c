/* SPDX-License-Identifier: BSD-3-Clause */
/* storm points: sets of generators, for mesh.points_file. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/io.h>
#include <storm/points.h>

#include "tool.h"

/* Sides of a circle, directions of a ball, unless they are given. */
enum { POINTS_SIDES = 16, POINTS_DIRECTIONS = 500 };

/* A number at the start of a text; NULL: there is none. */
static const char *points_number(const char *text, double *value_out)
{
    char *end;
    errno = 0;
    *value_out = strtod(text, &end);
    bool good = end != text && isfinite(*value_out) && errno == 0 &&
                strchr(" \t\n", text[0]) == NULL;
    return good ? end : NULL;
}

/* `n` numbers separated by commas, and nothing else. */
static int points_list(const char *flag, const char *text, int n,
                       double *values_out)
{
    const char *at = text;
    for (int i = 0; i < n && at != NULL; i++) {
        at = points_number(at, &values_out[i]);
        if (at != NULL && i + 1 < n)
            at = *at == ',' ? at + 1 : NULL;
    }
    return at != NULL && *at == '\0'
               ? TOOL_OK
               : tool_usage("%s: expected %d numbers separated by commas, got "
                            "'%s'",
                            flag, n, text);
}

/* The number of a coordinate, whose letter begins a text; -1: none. */
static int points_coordinate(const struct storm_layers_params *p, char letter)
{
    if (p->kind == STORM_LAYERS_BOX)
        return letter >= 'x' && letter <= 'z' ? letter - 'x' : -1;
    if (letter == 'r')
        return 0;
    return p->kind == STORM_LAYERS_CYLINDER && letter == 'x' + p->axis ? 1 : -1;
}

static const char *points_letters(const struct storm_layers_params *p)
{
    static const char *const cylinder[] = {"r or x", "r or y", "r or z"};
    return p->kind == STORM_LAYERS_BOX        ? "x, y or z"
           : p->kind == STORM_LAYERS_CYLINDER ? cylinder[p->axis]
                                              : "r";
}

/* 0.1, or r=0.1,z=0.2 */
static int points_spacing(const char *text, struct storm_layers_params *p)
{
    const char *at = text;
    double value;
    if (strchr(text, '=') == NULL) {
        int status = points_list("--spacing", text, 1, &value);
        for (int i = 0; i < 3; i++)
            p->spacing_cm[i] = value;
        return status;
    }
    while (at != NULL && *at != '\0') {
        int i = points_coordinate(p, at[0]);
        at = i >= 0 && at[1] == '=' ? points_number(at + 2, &value) : NULL;
        if (at != NULL && i >= 0)
            p->spacing_cm[i] = value;
        if (at != NULL && *at != '\0')
            at = *at == ',' && at[1] != '\0' ? at + 1 : NULL;
    }
    return at != NULL ? TOOL_OK
                      : tool_usage("--spacing: expected a number, or C=D,... "
                                   "with C one of %s, got '%s'",
                                   points_letters(p), text);
}

/* z=2.5-:3e-4:1.4 */
static int points_surface(const struct storm_layers_params *p, const char *text,
                          struct storm_layers_surface *f)
{
    const char *at = text;
    f->coordinate = points_coordinate(p, text[0]);
    at = f->coordinate >= 0 && text[1] == '=' ? text + 2 : NULL;
    at = at != NULL ? points_number(at, &f->at_cm) : NULL;
    if (at != NULL && (*at == '+' || *at == '-'))
        f->side = *at++ == '+' ? STORM_LAYERS_ABOVE : STORM_LAYERS_BELOW;
    at = at != NULL && *at == ':' ? points_number(at + 1, &f->first_cm) : NULL;
    at = at != NULL && *at == ':' ? points_number(at + 1, &f->growth) : NULL;
    if (at != NULL && *at == '\0')
        return TOOL_OK;
    return tool_usage("--graded: expected C=X:D:G with C one of %s, such as "
                      "%c=0.5+:3e-4:1.4, got '%s'",
                      points_letters(p),
                      p->kind == STORM_LAYERS_BOX ? 'x' : 'r', text);
}

/* A flag that does not go with the shape. */
static int points_check_flags(const struct tool_args *args)
{
    static const struct {
        const char *name;
        bool with[3]; /* box, cylinder, sphere */
    } flags[] = {
        {"--lo", {1, 0, 0}},     {"--hi", {1, 0, 0}},   {"--radius", {0, 1, 1}},
        {"--length", {0, 1, 0}}, {"--from", {0, 1, 0}}, {"--axis", {0, 1, 0}},
        {"--centre", {0, 1, 1}}, {"--part", {0, 1, 0}}, {"--sides", {0, 1, 1}}};
    static const char *const shapes[] = {"box", "cylinder", "sphere"};
    static const char *const needs[] = {"--hi", "--radius", "--radius"};
    if (!tool_given(args, "--shape"))
        return tool_usage("points: --shape is required");
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (tool_given(args, flags[i].name) && !flags[i].with[args->shape])
            return tool_usage("%s does not go with shape %s", flags[i].name,
                              shapes[args->shape]);
    if (!tool_given(args, needs[args->shape]))
        return tool_usage("points: %s is required", needs[args->shape]);
    if (args->shape == STORM_LAYERS_CYLINDER && !tool_given(args, "--length"))
        return tool_usage("points: --length is required");
    if (!tool_given(args, "--spacing"))
        return tool_usage("points: --spacing is required");
    return TOOL_OK;
}

static int points_params(const struct tool_args *args,
                         struct storm_layers_params *p)
{
    bool is_sphere = args->shape == STORM_LAYERS_SPHERE;
    p->surface_size = sizeof(struct storm_layers_surface);
    p->kind = (storm_layers_kind)args->shape;
    p->axis = tool_given(args, "--axis") ? args->axis : 2;
    p->parts = 1 << args->part;
    p->radius_cm = args->radius;
    p->range_cm[0] = args->from;
    p->range_cm[1] = args->from + args->length;
    p->jitter = args->jitter;
    p->seed = args->seed > 0 ? args->seed : 1;
    p->n_sides =
        is_sphere ? POINTS_DIRECTIONS : (uint64_t)(POINTS_SIDES / p->parts);
    if (args->sides > 0)
        p->n_sides = args->sides;
    int status = TOOL_OK;
    if (args->lo != NULL)
        status = points_list("--lo", args->lo, 3, p->lo_cm);
    if (args->hi != NULL && status == TOOL_OK)
        status = points_list("--hi", args->hi, 3, p->hi_cm);
    if (args->centre != NULL && status == TOOL_OK)
        status = points_list("--centre", args->centre, is_sphere ? 3 : 2,
                             p->centre_cm);
    return status == TOOL_OK ? points_spacing(args->spacing, p) : status;
}

/* ---- the file ------------------------------------------------------------ */

struct points_text {
    char *bytes;
    size_t n, capacity;
};

/* Adds at most `room` bytes. False: no memory. */
static bool points_reserve(struct points_text *text, size_t room)
{
    if (text->n + room <= text->capacity)
        return true;
    size_t capacity = 2 * text->capacity + room;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static void points_box_text(const double lo[3], const double hi[3],
                            char *text_out, size_t bytes)
{
    snprintf(text_out, bytes,
             "box: {lo: [%.17g, %.17g, %.17g], hi: [%.17g, %.17g, %.17g]}",
             lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
}

/* The command line, as far as it fits into a line. */
static void points_head(const struct tool_args *args, const char *box,
                        struct points_text *text)
{
    text->n += (size_t)snprintf(text->bytes + text->n, 32, "# storm");
    for (int i = 1; i < args->n_child && text->n < 400; i++)
        text->n += (size_t)snprintf(text->bytes + text->n, 64, " %.60s",
                                    args->child_argv[i]);
    text->n += (size_t)snprintf(text->bytes + text->n, 1024,
                                "\n# mesh: %s, lloyd: 0\n", box);
}

static storm_status points_fill(const struct storm_layers_params *p, uint64_t n,
                                struct points_text *text)
{
    enum { PIECE = 1024, LINE = 80 };
    static double x[3 * PIECE];
    for (uint64_t first = 0; first < n; first += PIECE) {
        uint64_t count = n - first < PIECE ? n - first : PIECE;
        storm_status status = storm_layers_make(p, first, count, x);
        if (status < 0)
            return status;
        if (!points_reserve(text, (size_t)PIECE * LINE))
            return STORM_ERR_NOMEM;
        for (uint64_t i = 0; i < count; i++)
            text->n += (size_t)snprintf(text->bytes + text->n, LINE,
                                        "%.17g %.17g %.17g\n", x[3 * i],
                                        x[3 * i + 1], x[3 * i + 2]);
    }
    return STORM_OK;
}

static int points_write(const struct tool_args *args,
                        const struct storm_layers_params *p)
{
    char problem[1024] = "no memory", box[512];
    double lo[3], hi[3];
    uint64_t n;
    if (storm_layers_count(p, &n, lo, hi, problem, sizeof problem) < 0)
        return tool_usage("points: %s", problem);
    const char *path = args->out != NULL ? args->out : "points.txt";
    struct points_text text = {.n = 0};
    points_box_text(lo, hi, box, sizeof box);
    storm_status status =
        points_reserve(&text, 4096) ? STORM_OK : STORM_ERR_NOMEM;
    if (status == STORM_OK) {
        points_head(args, box, &text);
        status = points_fill(p, n, &text);
    }
    if (status == STORM_OK)
        status = storm_file_write(path, text.bytes, problem, sizeof problem);
    free(text.bytes);
    if (status < 0) {
        tool_usage("%s", problem);
        return TOOL_FAILED;
    }
    if (!args->quiet)
        printf("%s: %" PRIu64 " points\n"
               "mesh: {kind: voronoi, points_file: %s, lloyd: 0,\n  %s}\n",
               path, n, path, box);
    return TOOL_OK;
}

int tool_points(const struct tool_args *args)
{
    struct storm_layers_params params = STORM_LAYERS_PARAMS_INIT;
    int status = points_check_flags(args);
    if (status == TOOL_OK)
        status = points_params(args, &params);
    if (status != TOOL_OK)
        return status;
    struct storm_layers_surface *surfaces =
        calloc(args->n_sets + 1, sizeof *surfaces);
    if (surfaces == NULL) {
        tool_usage("no memory");
        return TOOL_FAILED;
    }
    for (size_t i = 0; i < args->n_sets && status == TOOL_OK; i++)
        status = points_surface(&params, args->sets[i], &surfaces[i]);
    params.surfaces = surfaces;
    params.n_surfaces = args->n_sets;
    if (status == TOOL_OK)
        status = points_write(args, &params);
    free(surfaces);
    return status;
}
