/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of points in layers (storm/points.h).
 *
 * A coordinate is cut into segments by its surfaces. Along a segment s counts
 * layers: near a surface with fine layers, at distance d from it,
 *
 *   s = log_g(1 + (g - 1) d / first),                                     (1)
 *
 * so that layer i, from s = i to i + 1, is first * g^i thick; beyond the place
 * where that is the spacing, s grows by 1 per spacing. Points are equidistant
 * in s, at most 1 apart.
 *
 *   LAYERS-1  The points on both sides of a surface are at the same distance
 *             from it, first / (1 + g): a face of their cells is on it. With
 *             points 1 apart in s the further faces are at whole s, too.
 *   LAYERS-2  Nothing is stored: a point is computed from its number.
 *   LAYERS-3  Random shifts are those of layers, not of single points: so faces
 *             stay on the surfaces, however thin the layers there are.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <storm/packet.h>
#include <storm/points.h>

#include "base/math.h"
#include "base/random.h"
#include "base/sized.h"

enum { LAYERS_MAX_LINES = 3, LAYERS_MAX_PARTS = 4 };
static const double layers_max_points = 0x1p47;

/* ---- one segment --------------------------------------------------------- */

/* One end of a segment, seen from inside. */
struct layers_end {
    bool is_surface; /* the other side has points, too */
    bool is_graded;  /* fine layers begin here */
    double first, growth;
    double pair; /* distance of the first point, of a surface */
    double zone; /* length of the fine layers */
    double s;    /* number of fine layers */
};

struct layers_segment {
    double lo, hi;
    struct layers_end end[2];
    double spacing; /* between the fine layers */
    double total;   /* length in s */
    double from;    /* s of the first point */
    double step;    /* in s, from point to point */
    uint64_t n;     /* points */
};

/* Eq. (1) and its inverse. */
static double layers_s(const struct layers_end *end, double d)
{
    return storm_log(1.0 + (end->growth - 1.0) * d / end->first) /
           storm_log(end->growth);
}

static double layers_d(const struct layers_end *end, double s)
{
    return end->first * storm_expm1(s * storm_log(end->growth)) /
           (end->growth - 1.0);
}

/* Thickness of a layer at the end, and how it grows with distance. */
static double layers_slope(const struct layers_end *end)
{
    return end->is_graded ? storm_log(end->growth) : 0.0;
}

static double layers_thin(const struct layers_end *end, double spacing)
{
    return end->is_graded
               ? end->first * storm_log(end->growth) / (end->growth - 1.0)
               : spacing;
}

/* How far fine layers reach: to where they are as thick as the spacing, or as
 * those of the other end. */
static void layers_zones(struct layers_segment *g)
{
    double length = g->hi - g->lo;
    for (int k = 0; k < 2; k++) {
        struct layers_end *end = &g->end[k];
        double rise = g->spacing - layers_thin(end, g->spacing);
        end->zone = end->is_graded ? fmax(0.0, rise / layers_slope(end)) : 0.0;
        end->zone = fmin(end->zone, length);
    }
    struct layers_end *a = &g->end[0], *b = &g->end[1];
    if (a->zone + b->zone > length) {
        double gap = layers_thin(b, g->spacing) - layers_thin(a, g->spacing) +
                     layers_slope(b) * length;
        double meet = gap / (layers_slope(a) + layers_slope(b));
        a->zone = fmin(fmax(meet, 0.0), length);
        b->zone = length - a->zone;
    }
    for (int k = 0; k < 2; k++)
        g->end[k].s =
            g->end[k].is_graded ? layers_s(&g->end[k], g->end[k].zone) : 0.0;
}

/* s from an end to a distance of it that is within the segment. */
static double layers_within(const struct layers_segment *g, int k, double d)
{
    const struct layers_end *end = &g->end[k], *other = &g->end[1 - k];
    double length = g->hi - g->lo;
    if (d < end->zone)
        return layers_s(end, d);
    if (d <= length - other->zone)
        return end->s + (d - end->zone) / g->spacing;
    return g->total - layers_s(other, length - d);
}

/* Distance of the first point from an end, in s. */
static double layers_margin(const struct layers_segment *g, int k)
{
    const struct layers_end *end = &g->end[k];
    return end->is_surface || end->is_graded ? layers_within(g, k, end->pair)
                                             : 0.5;
}

/* Places of the points. False: the ends are too near to each other. */
static bool layers_fill(struct layers_segment *g)
{
    bool free_ends = true;
    for (int k = 0; k < 2; k++)
        free_ends = free_ends && !g->end[k].is_surface && !g->end[k].is_graded;
    layers_zones(g);
    double middle = g->hi - g->lo - g->end[0].zone - g->end[1].zone;
    g->total = g->end[0].s + g->end[1].s + fmax(0.0, middle) / g->spacing;
    if (free_ends) { /* equal layers */
        g->n = (uint64_t)fmax(1.0, ceil(g->total - 1e-9));
        g->step = g->total / (double)g->n;
        g->from = 0.5 * g->step;
        return true;
    }
    double margin[2] = {layers_margin(g, 0), layers_margin(g, 1)};
    double room = g->total - margin[0] - margin[1];
    g->from = margin[0];
    if (!(room > 0.0)) {
        bool is_held[2] = {g->end[0].is_surface || g->end[0].is_graded,
                           g->end[1].is_surface || g->end[1].is_graded};
        g->n = 1; /* at the one end that has a place for it */
        g->step = 0.0;
        g->from = is_held[0] ? margin[0] : g->total - margin[1];
        return !(is_held[0] && is_held[1]);
    }
    g->n = (uint64_t)ceil(room - 1e-9) + 1;
    g->step = room / (double)(g->n - 1);
    return true;
}

/* The place of s. */
static double layers_place(const struct layers_segment *g, double s)
{
    const struct layers_end *a = &g->end[0], *b = &g->end[1];
    if (s < a->s)
        return g->lo + layers_d(a, s);
    if (s <= g->total - b->s)
        return g->lo + a->zone + (s - a->s) * g->spacing;
    return g->hi - layers_d(b, g->total - s);
}

/* ---- one coordinate ------------------------------------------------------ */

struct layers_line {
    const struct storm_layers_params *params;
    int coordinate;
    double lo, hi;
    uint64_t n; /* points */
};

/* The nearest surface above x, or the one at x; NULL: none before the end. */
static const struct storm_layers_surface *
layers_surface(const struct layers_line *line, double x, bool at)
{
    const struct storm_layers_surface *found = NULL;
    for (size_t i = 0; i < line->params->n_surfaces; i++) {
        const struct storm_layers_surface *f = &line->params->surfaces[i];
        if (f->coordinate != line->coordinate)
            continue;
        if (at ? f->at_cm == x
               : f->at_cm > x && f->at_cm < line->hi &&
                     (found == NULL || f->at_cm < found->at_cm))
            found = f;
    }
    return found;
}

/* The end of a segment at x, which is its lower or upper one. */
static struct layers_end layers_end(const struct layers_line *line, double x,
                                    bool is_lower)
{
    const struct storm_layers_surface *f = layers_surface(line, x, true);
    struct layers_end end = {.is_surface =
                                 f != NULL && x != line->lo && x != line->hi};
    if (f == NULL)
        return end;
    end.first = f->first_cm;
    end.growth = f->growth;
    end.pair = f->first_cm / (1.0 + f->growth);
    end.is_graded =
        f->side == STORM_LAYERS_BOTH ||
        f->side == (is_lower ? STORM_LAYERS_ABOVE : STORM_LAYERS_BELOW);
    return end;
}

/* The segment that begins at `lo`. False: its ends are too near. */
static bool layers_segment(const struct layers_line *line, double lo,
                           struct layers_segment *g_out)
{
    const struct storm_layers_surface *next = layers_surface(line, lo, false);
    double hi = next != NULL ? next->at_cm : line->hi;
    *g_out = (struct layers_segment){
        .lo = lo,
        .hi = hi,
        .end = {layers_end(line, lo, true), layers_end(line, hi, false)},
        .spacing = line->params->spacing_cm[line->coordinate]};
    return layers_fill(g_out);
}

/* The i-th place of a coordinate; `shift` is -0.5 .. 0.5 of a layer. */
static double layers_at(const struct layers_line *line, uint64_t i,
                        double shift)
{
    struct layers_segment g = {.hi = line->lo};
    do {
        i -= g.n;
        (void)layers_segment(line, g.hi, &g);
    } while (i >= g.n && g.hi < line->hi);
    bool is_held =
        (i == 0 && (g.end[0].is_surface || g.end[0].is_graded)) ||
        (i + 1 == g.n && (g.end[1].is_surface || g.end[1].is_graded));
    double s = g.from + g.step * (double)i;
    return layers_place(&g, is_held ? s : s + shift * g.step);
}

/* ---- checks -------------------------------------------------------------- */

/* All of a set. The lines are its coordinates; a radius has one point more,
 * beyond it. */
struct layers_set {
    struct storm_layers_params params;
    struct layers_line line[LAYERS_MAX_LINES];
    int n_lines;
    char *problem;
    size_t problem_size;
};

static bool layers_refuse(struct layers_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool layers_refuse(struct layers_set *set, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (set->problem != NULL)
        vsnprintf(set->problem, set->problem_size, format, args);
    va_end(args);
    return false;
}

static const char *layers_name(const struct layers_set *set, int coordinate)
{
    static const char *const names[] = {"x", "y", "z"};
    if (set->params.kind == STORM_LAYERS_BOX)
        return names[coordinate];
    return coordinate == 0 ? "r" : names[set->params.axis];
}

static bool layers_check_surface(struct layers_set *set,
                                 const struct storm_layers_surface *f)
{
    if (f->coordinate < 0 || f->coordinate >= set->n_lines)
        return layers_refuse(set,
                             "surface at %g: this shape has no coordinate "
                             "%d",
                             f->at_cm, f->coordinate);
    const struct layers_line *line = &set->line[f->coordinate];
    const char *name = layers_name(set, f->coordinate);
    double spacing = set->params.spacing_cm[f->coordinate];
    if (!(f->at_cm >= line->lo && f->at_cm <= line->hi))
        return layers_refuse(set, "surface %s = %g is not within %g .. %g",
                             name, f->at_cm, line->lo, line->hi);
    if (!(f->first_cm > 0.0 && f->first_cm <= spacing))
        return layers_refuse(set,
                             "surface %s = %g: the first layer is %g "
                             "thick, not above 0 and up to the spacing, "
                             "%g",
                             name, f->at_cm, f->first_cm, spacing);
    if (!(f->growth > 1.0 && f->growth <= 10.0))
        return layers_refuse(set,
                             "surface %s = %g: layers grow by %g, not "
                             "above 1 and up to 10",
                             name, f->at_cm, f->growth);
    if (f->side < STORM_LAYERS_BOTH || f->side > STORM_LAYERS_ABOVE)
        return layers_refuse(set, "surface %s = %g: no such side", name,
                             f->at_cm);
    for (const struct storm_layers_surface *other = set->params.surfaces;
         other != f; other++)
        if (other->coordinate == f->coordinate && other->at_cm == f->at_cm)
            return layers_refuse(set, "surface %s = %g is there twice", name,
                                 f->at_cm);
    return true;
}

static bool layers_check_line(struct layers_set *set,
                              const struct layers_line *line)
{
    const char *name = layers_name(set, line->coordinate);
    double spacing = set->params.spacing_cm[line->coordinate];
    if (!isfinite(line->lo) || !isfinite(line->hi) || !(line->lo < line->hi))
        return layers_refuse(set, "%s goes from %g to %g; it must grow", name,
                             line->lo, line->hi);
    if (!(spacing > 0.0) || (line->hi - line->lo) / spacing > 1e9)
        return layers_refuse(set,
                             "the spacing of %s is %g; expected a number "
                             "above 0, and at most 1e9 layers",
                             name, spacing);
    return true;
}

/* Counts the points of a coordinate. */
static bool layers_count_line(struct layers_set *set, struct layers_line *line)
{
    const char *name = layers_name(set, line->coordinate);
    struct layers_segment g = {.hi = line->lo};
    while (g.hi < line->hi) {
        if (!layers_segment(line, g.hi, &g))
            return layers_refuse(set,
                                 "surfaces %s = %g and %g are nearer to "
                                 "each other than their first layers",
                                 name, g.lo, g.hi);
        line->n += g.n;
    }
    return true;
}

/* The coordinates of the shape. */
static bool layers_open_lines(struct layers_set *set)
{
    const struct storm_layers_params *p = &set->params;
    set->n_lines = p->kind == STORM_LAYERS_BOX        ? 3
                   : p->kind == STORM_LAYERS_CYLINDER ? 2
                   : p->kind == STORM_LAYERS_SPHERE   ? 1
                                                      : 0;
    if (set->n_lines == 0)
        return layers_refuse(set, "there is no shape %d", (int)p->kind);
    if (p->kind == STORM_LAYERS_CYLINDER && (p->axis < 0 || p->axis > 2))
        return layers_refuse(set, "axis %d is not 0, 1 or 2", p->axis);
    if (p->n_surfaces > 0 && p->surfaces == NULL)
        return layers_refuse(set, "there are %zu surfaces, but no array",
                             p->n_surfaces);
    for (int i = 0; i < set->n_lines; i++)
        set->line[i] =
            (struct layers_line){.params = p,
                                 .coordinate = i,
                                 .lo = p->kind == STORM_LAYERS_BOX ? p->lo_cm[i]
                                       : i == 0                    ? 0.0
                                                : p->range_cm[0],
                                 .hi = p->kind == STORM_LAYERS_BOX ? p->hi_cm[i]
                                       : i == 0 ? p->radius_cm
                                                : p->range_cm[1]};
    return true;
}

static bool layers_check_round(struct layers_set *set)
{
    struct storm_layers_params *p = &set->params;
    if (p->parts == 0)
        p->parts = 1;
    if (p->parts != 1 && p->parts != 2 && p->parts != LAYERS_MAX_PARTS)
        return layers_refuse(set, "%d parts of a circle; expected 1, 2 or 4",
                             p->parts);
    if (p->n_sides < 1 || p->n_sides > 1000000000 ||
        (p->parts == 1 && p->n_sides < 3))
        return layers_refuse(set,
                             "%llu sides; expected at least %d, and up to "
                             "1e9",
                             (unsigned long long)p->n_sides,
                             p->parts == 1 ? 3 : 1);
    for (int d = 0; d < (p->kind == STORM_LAYERS_SPHERE ? 3 : 2); d++)
        if (!isfinite(p->centre_cm[d]))
            return layers_refuse(set, "the centre is at %g", p->centre_cm[d]);
    return true;
}

static uint64_t layers_total(const struct layers_set *set)
{
    double product = 1.0;
    uint64_t n = 1;
    bool is_round = set->params.kind != STORM_LAYERS_BOX;
    for (int i = 0; i < set->n_lines; i++) {
        uint64_t each = set->line[i].n + (is_round && i == 0 ? 1 : 0);
        product *= (double)each;
        n *= each;
    }
    if (is_round) {
        product *= (double)set->params.n_sides;
        n *= set->params.n_sides;
    }
    return product < layers_max_points ? n : 0;
}

/* Copies and checks the params; counts. */
static storm_status layers_open(const struct storm_layers_params *params,
                                struct layers_set *set)
{
    struct storm_layers_params *p = &set->params;
    storm_status status =
        storm_sized_read(NULL, "storm_layers_make", params, p, sizeof *p);
    if (status < 0) {
        (void)layers_refuse(set, "params of another version");
        return status;
    }
    if (p->surface_size != 0 &&
        p->surface_size != sizeof(struct storm_layers_surface)) {
        (void)layers_refuse(set, "surfaces of another version");
        return STORM_ERR_NOSUP;
    }
    bool good = layers_open_lines(set) &&
                (p->kind == STORM_LAYERS_BOX || layers_check_round(set));
    if (good && !(p->jitter >= 0.0 && p->jitter <= 0.9))
        good = layers_refuse(set, "jitter is %g, not 0 .. 0.9", p->jitter);
    for (int i = 0; i < set->n_lines && good; i++)
        good = layers_check_line(set, &set->line[i]);
    for (size_t i = 0; i < p->n_surfaces && good; i++)
        good = layers_check_surface(set, &p->surfaces[i]);
    for (int i = 0; i < set->n_lines && good; i++)
        good = layers_count_line(set, &set->line[i]);
    if (good && layers_total(set) == 0)
        good = layers_refuse(set, "these are more than 2^47 points");
    return good ? STORM_OK : STORM_ERR_ARG;
}

/* ---- points -------------------------------------------------------------- */

/* LAYERS-3. Of angles, `coordinate` is 3. */
static double layers_shift(const struct layers_set *set, int coordinate,
                           uint64_t i)
{
    enum { AFTER_POINTS = 4 }; /* mesh_points.c has 1 to 3 */
    struct storm_packet_id id = {.hi = AFTER_POINTS + (uint64_t)coordinate,
                                 .lo = i};
    double u[4];
    if (set->params.jitter == 0.0)
        return 0.0;
    storm_random(set->params.seed, STORM_STREAM_MESH, id, 0, u);
    return set->params.jitter * (u[0] - 0.5);
}

static double layers_shifted(const struct layers_set *set, int coordinate,
                             uint64_t i)
{
    return layers_at(&set->line[coordinate], i,
                     layers_shift(set, coordinate, i));
}

/* The radius of a layer; the last is beyond the shape, as far as the one before
 * it is inside. */
static double layers_radius(const struct layers_set *set, uint64_t i)
{
    const struct layers_line *line = &set->line[0];
    if (i < line->n)
        return layers_shifted(set, 0, i);
    return 2.0 * line->hi - layers_shifted(set, 0, line->n - 1);
}

/* The middle of a side of the cylinder. */
static void layers_around(const struct layers_set *set, uint64_t side,
                          double n_out[2])
{
    enum { ANGLES = 3 };
    const struct storm_layers_params *p = &set->params;
    double turns = ((double)side + 0.5 + layers_shift(set, ANGLES, side)) /
                   ((double)p->n_sides * (double)p->parts);
    storm_cos_sin_turns(turns, &n_out[0], &n_out[1]);
}

/* Directions along a spiral from pole to pole, each with the same solid
 * angle; a turn of the golden angle from one to the next. */
static void layers_direction(const struct layers_set *set, uint64_t side,
                             double n_out[3])
{
    const double golden = 0.38196601125010515; /* turns: (3 - sqrt(5)) / 2 */
    double turns = golden * (double)side;
    double mu = 1.0 - (2.0 * (double)side + 1.0) / (double)set->params.n_sides;
    double across = sqrt(fmax(0.0, 1.0 - mu * mu));
    storm_cos_sin_turns(turns - floor(turns), &n_out[0], &n_out[1]);
    n_out[0] *= across;
    n_out[1] *= across;
    n_out[2] = mu;
}

static void layers_point(const struct layers_set *set, uint64_t i,
                         double x_out[3])
{
    const struct storm_layers_params *p = &set->params;
    double n[3];
    if (p->kind == STORM_LAYERS_BOX) {
        for (int d = 0; d < 3; i /= set->line[d].n, d++)
            x_out[d] = layers_shifted(set, d, i % set->line[d].n);
        return;
    }
    uint64_t n_radii = set->line[0].n + 1, side = i / n_radii;
    double r = layers_radius(set, i % n_radii);
    if (p->kind == STORM_LAYERS_SPHERE) {
        layers_direction(set, side, n);
        for (int d = 0; d < 3; d++)
            x_out[d] = p->centre_cm[d] + r * n[d];
        return;
    }
    layers_around(set, side % p->n_sides, n);
    x_out[p->axis] = layers_shifted(set, 1, side / p->n_sides);
    x_out[(p->axis + 1) % 3] = p->centre_cm[0] + r * n[0];
    x_out[(p->axis + 2) % 3] = p->centre_cm[1] + r * n[1];
}

/* A box around a cylinder or ball: with room for the layer around it and, of a
 * cylinder, for the corners of its sides. */
static void layers_box(const struct layers_set *set, double lo_out[3],
                       double hi_out[3])
{
    const struct storm_layers_params *p = &set->params;
    double outer = layers_radius(set, set->line[0].n);
    double width = outer + fmax(0.05 * p->radius_cm, outer - p->radius_cm);
    for (int d = 0; d < 3; d++) {
        int across = (d - p->axis + 3) % 3; /* 1 and 2, of a cylinder */
        bool is_axis = p->kind == STORM_LAYERS_CYLINDER && across == 0;
        double centre = p->kind == STORM_LAYERS_SPHERE ? p->centre_cm[d]
                        : is_axis                      ? 0.0
                                  : p->centre_cm[across - 1];
        /* A quarter has both directions above the centre, a half the second. */
        bool is_cut =
            p->kind == STORM_LAYERS_CYLINDER &&
            (p->parts == LAYERS_MAX_PARTS || (p->parts == 2 && across == 2));
        lo_out[d] = is_axis ? p->range_cm[0] : centre - (is_cut ? 0.0 : width);
        hi_out[d] = is_axis ? p->range_cm[1] : centre + width;
    }
}

storm_status storm_layers_count(const struct storm_layers_params *params,
                                uint64_t *n_out, double lo_cm_out[3],
                                double hi_cm_out[3], char *problem,
                                size_t problem_size)
{
    struct layers_set set = {.problem = problem, .problem_size = problem_size};
    storm_status status = layers_open(params, &set);
    if (status < 0)
        return status;
    *n_out = layers_total(&set);
    for (int d = 0; d < 3; d++) {
        lo_cm_out[d] = set.params.lo_cm[d];
        hi_cm_out[d] = set.params.hi_cm[d];
    }
    if (set.params.kind != STORM_LAYERS_BOX)
        layers_box(&set, lo_cm_out, hi_cm_out);
    return STORM_OK;
}

storm_status storm_layers_make(const struct storm_layers_params *params,
                               uint64_t first, uint64_t n, double *points_out)
{
    struct layers_set set = {.problem = NULL};
    storm_status status = layers_open(params, &set);
    if (status < 0)
        return status;
    uint64_t total = layers_total(&set);
    if (first > total || n > total - first)
        return STORM_ERR_ARG;
    for (uint64_t i = 0; i < n; i++)
        layers_point(&set, first + i, points_out + 3 * i);
    return STORM_OK;
}
