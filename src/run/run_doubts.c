/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a valid deck has that does nothing, which is probably not meant: a line
 * for each, with the value and what to do. What depends on the mesh is found
 * by the run: probes and planes of a mesh that moves or is from a file.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <storm/run.h>

#include "base/port.h"
#include "run/run.h"

/* Lines so far. */
struct doubts {
    const struct deck_values *v;
    char *text;
    size_t size;
};

static void doubts_add(struct doubts *d, const char *format, ...)
    STORM_PRINTF(2, 3);
static void doubts_add(struct doubts *d, const char *format, ...)
{
    size_t used = strlen(d->text);
    va_list args;
    if (used > 0 && used + 1 < d->size) {
        d->text[used++] = '\n';
        d->text[used] = '\0';
    }
    va_start(args, format);
    int n = vsnprintf(d->text + used, d->size - used, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= d->size - used && used > 0)
        d->text[used - 1] = '\0'; /* whole lines only */
}

/* ---- places -------------------------------------------------------------- */

/* Is the box of the deck where the cells are, at all times? */
static bool doubts_has_box(const struct deck_values *v)
{
    return v->mesh.kind != STORM_MESH_FILE &&
           v->mesh.motion.kind == DECK_MOTION_NONE;
}

static bool doubts_meets(const struct deck_values *v, int d, double lo,
                         double hi)
{
    return hi >= v->mesh.box.lo[d] && lo <= v->mesh.box.hi[d];
}

/* Squares of the distances of the nearest and the farthest point of the box. */
static void doubts_distances(const struct deck_values *v, const double x[3],
                             double *near_out, double *far_out)
{
    *near_out = *far_out = 0.0;
    for (int d = 0; d < 3; d++) {
        double lo = v->mesh.box.lo[d] - x[d], hi = v->mesh.box.hi[d] - x[d];
        double near = lo > 0.0 ? lo : hi < 0.0 ? hi : 0.0;
        double far = fmax(fabs(lo), fabs(hi));
        *near_out += near * near;
        *far_out += far * far;
    }
}

bool run_is_in_box(const struct deck_values *v, const double x[3])
{
    bool in = true;
    for (int d = 0; d < 3; d++)
        in = in && doubts_meets(v, d, x[d], x[d]);
    return in || !doubts_has_box(v);
}

/* ---- planes and sources -------------------------------------------------- */

/* Is the plane in the box at some time of its emission? */
static bool doubts_plane_is_in(const struct deck_values *v,
                               const struct storm_black_plane *p)
{
    double from = fmax(p->start_s, 0.0), to = fmin(p->stop_s, v->time.stop);
    double a = p->at_cm + p->velocity_cm_s * from;
    double b = p->velocity_cm_s == 0.0 ? a : p->at_cm + p->velocity_cm_s * to;
    bool in = doubts_meets(v, p->axis, fmin(a, b), fmax(a, b));
    for (int k = 0; k < 2; k++)
        in = in &&
             doubts_meets(v, (p->axis + 1 + k) % 3, p->lo_cm[k], p->hi_cm[k]);
    return in;
}

/* A disc or rectangle; of the latter the circle around it. */
static bool doubts_beam_is_in(const struct deck_values *v,
                              const struct storm_source *s)
{
    const double *n = s->direction;
    double size = s->disc_radius_cm > 0.0
                      ? s->disc_radius_cm
                      : 0.5 * hypot(s->width_cm[0], s->width_cm[1]);
    double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    bool in = true;
    for (int d = 0; d < 3; d++) {
        double across = size * sqrt(fmax(0.0, 1.0 - n[d] * n[d] / square));
        in = in &&
             doubts_meets(v, d, s->at_cm[d] - across, s->at_cm[d] + across);
    }
    return in;
}

static bool doubts_volume_is_in(const struct deck_values *v,
                                const struct storm_shape *shape)
{
    double near, far;
    bool in = true;
    switch (shape->kind) {
    case STORM_SHAPE_BOX:
        for (int d = 0; d < 3; d++)
            in = in && doubts_meets(v, d, shape->lo_cm[d], shape->hi_cm[d]);
        return in;
    case STORM_SHAPE_SPHERE:
        doubts_distances(v, shape->centre_cm, &near, &far);
        return near <= shape->radius_cm[1] * shape->radius_cm[1];
    case STORM_SHAPE_CYLINDER:
        return doubts_meets(v, shape->axis, shape->range_cm[0],
                            shape->range_cm[1]);
    default:
        return true;
    }
}

/* Does the surface of the shape meet the box? */
static bool doubts_surface_is_in(const struct deck_values *v,
                                 const struct storm_shape *shape)
{
    double near, far;
    bool around = true;
    if (shape->kind == STORM_SHAPE_BOX)
        for (int d = 0; d < 3; d++)
            around = around && shape->lo_cm[d] <= v->mesh.box.lo[d] &&
                     shape->hi_cm[d] >= v->mesh.box.hi[d];
    if (shape->kind == STORM_SHAPE_SPHERE) {
        doubts_distances(v, shape->centre_cm, &near, &far);
        around = shape->radius_cm[0] * shape->radius_cm[0] <= near &&
                 shape->radius_cm[1] * shape->radius_cm[1] >= far;
    }
    bool is_known =
        shape->kind == STORM_SHAPE_BOX || shape->kind == STORM_SHAPE_SPHERE;
    return doubts_volume_is_in(v, shape) && !(is_known && around);
}

static bool doubts_source_is_in(const struct deck_values *v,
                                const struct storm_source *s)
{
    double near, far;
    switch (s->kind) {
    case STORM_SOURCE_VOLUME:
        return doubts_volume_is_in(v, &s->shape);
    case STORM_SOURCE_BEAM:
        return doubts_beam_is_in(v, s);
    case STORM_SOURCE_SHELL: {
        double square = s->shell_radius_cm * s->shell_radius_cm;
        doubts_distances(v, s->at_cm, &near, &far);
        return near <= square && far >= square;
    }
    default:
        return run_is_in_box(v, s->at_cm);
    }
}

static const char doubts_move[] =
    "wholly outside mesh.box, where nothing is emitted: move it, or leave it "
    "out";

static void doubts_places(struct doubts *d)
{
    static const char *const kinds[] = {"volume", "point", "beam", "shell"};
    const struct deck_values *v = d->v;
    for (size_t i = 0; i < v->planes.n; i++) {
        const struct storm_black_plane *p = &v->planes.item[i];
        if (!doubts_plane_is_in(v, p))
            doubts_add(d, "planes.%zu: at %c = %g it is %s", i, "xyz"[p->axis],
                       p -> at_cm, doubts_move);
    }
    for (size_t i = 0; i < v->sources.n; i++) {
        const struct storm_source *s = &v->sources.item[i];
        if (doubts_source_is_in(v, s))
            continue;
        if (s->kind == STORM_SOURCE_VOLUME)
            doubts_add(d, "sources.%zu: its shape is %s", i, doubts_move);
        else
            doubts_add(d, "sources.%zu: the %s at [%g, %g, %g] is %s", i,
                       kinds[s->kind], s->at_cm[0], s->at_cm[1], s->at_cm[2],
                       doubts_move);
    }
    for (size_t i = 0; i < v->output.tallies.n; i++) {
        const struct deck_tally *t = &v->output.tallies.item[i];
        if (t->where == STORM_TALLY_SURFACE &&
            !doubts_surface_is_in(v, &t->shape) &&
            strcmp(t->material, "all") == 0)
            doubts_add(d,
                       "output.tallies.%zu: no face inside mesh.box is on the "
                       "surface of its shape: %s stays 0; move it",
                       i, t->name);
    }
    for (size_t i = 0; i < v->output.probes.n; i++) {
        const double *x = v->output.probes.item[i];
        if (!run_is_in_box(v, x))
            doubts_add(d,
                       "output.probes.%zu: [%g, %g, %g] is outside mesh.box "
                       "and has no rows in probes.csv: move it",
                       i, x[0], x[1], x[2]);
    }
}

/* ---- times --------------------------------------------------------------- */

static void doubts_late(struct doubts *d, const char *what, size_t i,
                        double start_s)
{
    if (start_s >= d->v->time.stop)
        doubts_add(d,
                   "%s.%zu.start: %g is not before time.stop, %g: it emits "
                   "nothing; let it start earlier, or run longer",
                   what, i, start_s, d->v->time.stop);
}

/* Of output.times, those that no step reaches. */
static void doubts_times(struct doubts *d)
{
    const struct deck_values *v = d->v;
    size_t n = 0;
    for (size_t i = 0; i < v->output.times.n; i++)
        n += v->output.times.item[i] > v->time.stop;
    if (n > 0)
        doubts_add(d,
                   "output.times: %zu of %zu are after time.stop, %g: nothing "
                   "is written then",
                   n, v->output.times.n, v->time.stop);
    for (size_t i = 0; i < v->sources.n; i++)
        doubts_late(d, "sources", i, v->sources.item[i].start_s);
    for (size_t i = 0; i < v->planes.n; i++)
        doubts_late(d, "planes", i, v->planes.item[i].start_s);
}

void storm_run_doubts(const struct storm_deck *deck, char *text, size_t size)
{
    struct doubts d = {&deck->values, text, size};
    text[0] = '\0';
    doubts_times(&d);
    if (doubts_has_box(d.v))
        doubts_places(&d);
}
