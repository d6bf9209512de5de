/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields along any line, from the dumps: each cell is a stair as long as its
 * part of the line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"
#include "view/plot_curves.h"

enum { LINE_STEPS = 6 }; /* in one chart, unless more are asked for */

static const double line_little = 1e-9; /* parts of the line, of the box */
static const double line_confidence = 0.95;

/* A cell's part of the line, which goes from 0 to 1. */
struct line_piece {
    double from, to;
    uint64_t cell;
};

/* The line through one mesh. */
struct line {
    struct plot_run *plot;
    double a[3], b[3], length, size; /* of the box */
    struct line_piece *piece;
    size_t n, capacity;
    uint64_t mesh_step; /* of the mesh that it was cut for */
    bool is_cut;
};

/* ---- cutting ------------------------------------------------------------- */

/* Outward normal of a face, of any length above 0, by all its corners. */
static double line_normal(const struct io_cell *cell, const int64_t *face,
                          double normal_out[3])
{
    double square = 0.0;
    memset(normal_out, 0, 3 * sizeof *normal_out);
    const double *origin = cell->corners[face[1]];
    for (int64_t k = 2; k < face[0]; k++) {
        const double *p = cell->corners[face[k]];
        const double *q = cell->corners[face[k + 1]];
        for (int d = 0; d < 3; d++) {
            int e = (d + 1) % 3, f = (d + 2) % 3;
            normal_out[d] += (p[e] - origin[e]) * (q[f] - origin[f]) -
                             (p[f] - origin[f]) * (q[e] - origin[e]);
        }
    }
    for (int d = 0; d < 3; d++)
        square += normal_out[d] * normal_out[d];
    return sqrt(square);
}

/* Leaves the part of the line behind a face. */
static void line_clip(const struct line *l, const struct io_cell *cell,
                      const int64_t *face, struct line_piece *piece)
{
    double normal[3], before = 0.0, slope = 0.0;
    const double *origin = cell->corners[face[1]];
    double size = line_normal(cell, face, normal);
    for (int d = 0; d < 3; d++) {
        before += normal[d] * (l->a[d] - origin[d]);
        slope += normal[d] * (l->b[d] - l->a[d]);
    }
    if (fabs(slope) > 1e-12 * size * l->length) {
        double at = -before / slope;
        if (slope > 0.0)
            piece->to = fmin(piece->to, at);
        else
            piece->from = fmax(piece->from, at);
    } else if (before > line_little * size * l->size) {
        piece->to = -1.0; /* along the face, in front of it */
    }
}

static storm_status line_visit(void *self, const struct io_cell *cell)
{
    struct line *l = self;
    struct line_piece piece = {0.0, 1.0, cell->id};
    const int64_t *face = cell->faces;
    for (size_t f = 0; f < cell->n_faces; f++, face += face[0] + 1)
        line_clip(l, cell, face, &piece);
    if (!(piece.to - piece.from > line_little))
        return STORM_OK;
    void *larger = l->piece;
    storm_status status =
        storm_reserve(l->plot->memory, PLOT_LABEL, sizeof *l->piece, l->n + 1,
                      &larger, &l->capacity);
    l->piece = larger;
    if (status == STORM_OK)
        l->piece[l->n++] = piece;
    return status;
}

static int line_compare(const void *a, const void *b)
{
    const struct line_piece *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->cell > y->cell ? -1 : 1;
}

/* A line along a face is in the cells on both sides: one of them stays. */
static void line_sort(struct line *l)
{
    size_t n = 0;
    double end = 0.0;
    if (l->n > 0)
        qsort(l->piece, l->n, sizeof *l->piece, line_compare);
    for (size_t i = 0; i < l->n; i++) {
        if (0.5 * (l->piece[i].from + l->piece[i].to) < end)
            continue;
        l->piece[n] = l->piece[i];
        l->piece[n].from = fmax(l->piece[i].from, end);
        end = l->piece[n++].to;
    }
    l->n = n;
}

/* Through the mesh of a dump. */
static storm_status line_cut(struct line *l, uint64_t step)
{
    struct plot_run *plot = l->plot;
    storm_status status = plot_use(plot, step);
    if (status < 0 || (l->is_cut && l->mesh_step == plot->mesh_step))
        return status;
    l->n = 0;
    status = io_reader_cells(&plot->reader, line_visit, l);
    if (status < 0)
        return plot_fail(plot, status, "%s",
                         status == STORM_ERR_NOMEM ? "no memory"
                                                   : plot->reader.problem);
    line_sort(l);
    l->is_cut = true;
    l->mesh_step = plot->mesh_step;
    return STORM_OK;
}

/* ---- curves -------------------------------------------------------------- */

/* Stairs, with a gap where no cell is. */
static void line_stairs(const struct line *l, const double *value,
                        struct plot_curve *curve)
{
    size_t n = 0;
    double end = 0.0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->piece[i].from > end + line_little) {
            curve->x[n] = end * l->length;
            curve->y[n++] = (double)NAN;
        }
        curve->x[n] = l->piece[i].from * l->length;
        curve->y[n++] = value[l->piece[i].cell];
        end = l->piece[i].to;
    }
    curve->x[n] = end * l->length;
    curve->n = n;
}

/* Half the 95 % intervals of replicas, if the dump has errors. */
static storm_status line_band(const struct line *l, const char *field,
                              uint64_t step, struct plot_curve *curve,
                              uint64_t *replicas_out)
{
    struct plot_run *plot = l->plot;
    char error[PLOT_NAME + 8], file[PLOT_NAME];
    double replicas = 0.0;
    snprintf(error, sizeof error, "%s_error", field);
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", step);
    if (strlen(error) >= PLOT_NAME || !plot_is_dumped(field) ||
        !plot_has_field(plot, error, step))
        return STORM_OK;
    storm_status status =
        io_reader_number(&plot->reader, file, "replicas", &replicas);
    if (status == STORM_OK)
        status = plot_values(plot, error, step, plot->scratch);
    if (status < 0 || !(replicas > 1.0))
        return status;
    struct plot_curve half = {.x = curve->x, .y = curve->band};
    line_stairs(l, plot->scratch, &half);
    double t = storm_student_t(line_confidence, (uint64_t)replicas - 1);
    for (size_t i = 0; i < half.n; i++)
        curve->band[i] *= t;
    curve->has_band = true;
    *replicas_out = (uint64_t)replicas;
    return STORM_OK;
}

static storm_status line_curve(struct line *l, const char *field, uint64_t step,
                               struct plot_curves *curves)
{
    storm_status status = line_cut(l, step);
    if (status == STORM_OK)
        status = plot_values(l->plot, field, step, l->plot->scratch);
    struct plot_curve *curve =
        status == STORM_OK ? plot_curves_add(curves, 2 * l->n + 1) : NULL;
    if (status == STORM_OK && curve == NULL)
        status = plot_fail(l->plot, STORM_ERR_NOMEM, "no memory");
    if (status < 0)
        return status;
    curve->style = STORM_CHART_STEPS;
    curve->is_time = true;
    line_stairs(l, l->plot->scratch, curve);
    status = plot_is_dumped(field) ? plot_time(l->plot, step, curve->name)
                                   : STORM_OK;
    return status < 0 ? status
                      : line_band(l, field, step, curve, &curves->replicas);
}

static storm_status line_draw(struct line *l, const char *field,
                              const uint64_t *steps, size_t n_steps)
{
    struct plot_run *plot = l->plot;
    struct plot_curves curves = {.plot = plot,
                                 .whole_x = true,
                                 .linear =
                                     strstr(field, "temperature") != NULL};
    char file[2 * PLOT_NAME], words[PLOT_NAME], line[PLOT_TEXT];
    char subtitle[2 * PLOT_TEXT], x[PLOT_TEXT], y[PLOT_TEXT];
    storm_status status = STORM_OK;
    if (!plot_is_dumped(field) && !plot->moves)
        n_steps = 1;
    for (size_t i = 0; i < n_steps && status == STORM_OK; i++)
        status = line_curve(l, field, steps[i], &curves);
    plot_words(field, words);
    plot_label(plot, field, y);
    plot_with_unit(plot, "distance", "cm", x);
    plot_line_text(plot, l->a, l->b, line);
    snprintf(file, sizeof file, "line-%s.svg", field);
    snprintf(subtitle, sizeof subtitle, "%s along the line%s", words, line);
    const struct plot_chart_text text = {file, subtitle, x, y};
    if (status == STORM_OK && l->n == 0)
        status = plot_fail(plot, STORM_ERR_ARG,
                           "the line%s meets no cell; the box goes from (%g, "
                           "%g, %g) to (%g, %g, %g)",
                           line, plot->lo[0], plot->lo[1], plot->lo[2],
                           plot->hi[0], plot->hi[1], plot->hi[2]);
    if (status == STORM_OK)
        status = plot_curves_draw(&curves, &text);
    plot_curves_free(&curves);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

/* Kinds are no numbers, and tables not of cells. */
static bool line_can(const struct plot_run *plot, const char *field)
{
    return strcmp(field, "temperatures") != 0 &&
           strcmp(field, "material") != 0 && strcmp(field, "solid") != 0 &&
           strcmp(field, "owner") != 0 && !plot_is_table(plot, field);
}

storm_status plot_lines_of(struct plot_run *plot, char (*names)[PLOT_NAME],
                           size_t n_names)
{
    const double *ends = plot->params->line_cm;
    const struct plot_steps *dumps = &plot->dumps;
    uint64_t some[LINE_STEPS];
    const uint64_t *steps = plot->params->steps;
    size_t n_steps = plot->params->n_steps;
    struct line l = {.plot = plot, .size = 0.0};
    for (int d = 0; d < 3; d++) {
        l.a[d] = ends[d];
        l.b[d] = ends[3 + d];
        l.length = hypot(l.length, l.b[d] - l.a[d]);
        l.size = fmax(l.size, plot->hi[d] - plot->lo[d]);
    }
    if (!(l.length > 0.0) || !isfinite(l.length))
        return plot_fail(plot, STORM_ERR_ARG,
                         "a line needs two different places");
    if (n_steps == 0) { /* the first and the last among them */
        n_steps = dumps->n < LINE_STEPS ? dumps->n : LINE_STEPS;
        for (size_t i = 0; i < n_steps; i++)
            some[i] =
                dumps->step[n_steps > 1 ? i * (dumps->n - 1) / (n_steps - 1)
                                        : 0];
        steps = some;
    }
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n_names && status == STORM_OK; i++)
        status = line_can(plot, names[i])
                     ? line_draw(&l, names[i], steps, n_steps)
                     : plot_fail(plot, STORM_ERR_ARG,
                                 "no line of '%s': expected an array of a "
                                 "dump, volume or cell_size",
                                 names[i]);
    storm_free(plot->memory, l.piece);
    return status;
}
