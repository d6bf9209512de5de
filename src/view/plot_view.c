/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The material in three dimensions, cut open: the cells that are not empty,
 * behind a plane, seen from in front of it.
 *
 * Faces between two such cells are left out: they have the same centre.
 * The others are drawn from the farthest cell to the nearest, then what the
 * plane cuts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/chart_parts.h"
#include "view/plot.h"

enum {
    VIEW_WIDTH = 640, /* of the box, in pixels */
    VIEW_HEIGHT = 520,
    VIEW_LEFT = 60,
    VIEW_MAX_LINES = 20000, /* faces whose edges are drawn */
    VIEW_UNIT = 10          /* parts of a pixel */
};

/* A face that may be seen. */
struct view_face {
    size_t first; /* of its corners */
    int n;
    unsigned colour;
    double depth; /* of its cell, towards the eye */
    double middle[3];
};

/* Arrays that grow. */
struct view {
    struct storm_memory *memory;
    const struct plot_view *what;
    double axes[3][3]; /* to the right, up, to the eye */
    struct view_face *faces;
    double (*corners)[2]; /* projected */
    uint64_t *behind;     /* centres of faces that point away */
    double (*clipped)[3]; /* the current face */
    size_t n_faces, n_corners, n_behind;
    size_t faces_capacity, corners_capacity, behind_capacity, clipped_capacity;
    double far, near; /* depths of the box */
};

/* ---- geometry ------------------------------------------------------------ */

static double view_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void view_cross(const double a[3], const double b[3], double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] =
            a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static void view_norm(double a[3])
{
    double length = sqrt(view_dot(a, a));
    for (int d = 0; d < 3; d++)
        a[d] /= length;
}

/* From in front of the plane, a little from the left and from above. */
static void view_look(struct view *v, int axis)
{
    double up[3] = {0.0, 0.0, 0.0}, *eye = v->axes[2];
    eye[axis] = 1.0;
    eye[slice_direction(axis, 0)] = -0.55;
    eye[slice_direction(axis, 1)] = 0.45;
    /* x, z and the normal y are left-handed: look from behind */
    if (axis == 1)
        eye[axis] = -1.0;
    up[slice_direction(axis, 1)] = 1.0;
    view_norm(eye);
    view_cross(up, eye, v->axes[0]);
    view_norm(v->axes[0]);
    view_cross(eye, v->axes[0], v->axes[1]);
}

/* Middle and normal of a face, outwards. */
static void view_measure(const struct io_cell *cell, const int64_t *face,
                         double middle_out[3], double normal_out[3])
{
    memset(middle_out, 0, 3 * sizeof *middle_out);
    memset(normal_out, 0, 3 * sizeof *normal_out);
    const double *origin = cell->corners[face[1]];
    for (int64_t k = 1; k <= face[0]; k++) {
        const double *a = cell->corners[face[k]];
        const double *b = cell->corners[face[k < face[0] ? k + 1 : 1]];
        double x[3], y[3], part[3];
        for (int d = 0; d < 3; d++) {
            x[d] = a[d] - origin[d];
            y[d] = b[d] - origin[d];
            middle_out[d] += a[d] / (double)face[0];
        }
        view_cross(x, y, part);
        for (int d = 0; d < 3; d++)
            normal_out[d] += part[d];
    }
    view_norm(normal_out);
}

/* The place of a point among 2^20 in each direction; `shift` moves it. */
static uint64_t view_key(const struct plot_view *what, const double x[3],
                         int shift)
{
    uint64_t key = 0;
    for (int d = 0; d < 3; d++) {
        double part = (x[d] - what->lo[d]) / (what->hi[d] - what->lo[d]);
        double place = 0x1p20 * part + 1.0 + (shift >> d & 1 ? 0.25 : -0.25);
        key = key << 21 | (uint64_t)fmin(fmax(place, 0.0), 0x1p20);
    }
    return key;
}

/* ---- faces --------------------------------------------------------------- */

static unsigned view_shade(unsigned rgb, double light)
{
    unsigned out = 0;
    for (int k = 16; k >= 0; k -= 8)
        out |= (unsigned)lround(light * (double)(rgb >> k & 0xff)) << k;
    return out;
}

/* Half-way to white. */
static unsigned view_tint(unsigned rgb)
{
    unsigned out = 0;
    for (int k = 16; k >= 0; k -= 8)
        out |= ((rgb >> k & 0xff) / 2 + 127) << k;
    return out;
}

/* Room for at least n elements; false: no memory, and nothing has changed. */
static bool view_reserve(const struct view *v, size_t element_bytes, size_t n,
                         void **array, size_t *capacity)
{
    return storm_reserve(v->memory, PLOT_LABEL, element_bytes, n, array,
                         capacity) == STORM_OK;
}

static bool view_add_behind(struct view *v, const double middle[3])
{
    void *behind = v->behind;
    bool good = view_reserve(v, sizeof *v->behind, v->n_behind + 8, &behind,
                             &v->behind_capacity);
    v->behind = behind;
    /* With all shifts: rounding must not separate equal centres. */
    for (int shift = 0; good && shift < 8; shift++) {
        uint64_t key = view_key(v->what, middle, shift);
        if (shift == 0 || key != v->behind[v->n_behind - 1])
            v->behind[v->n_behind++] = key;
    }
    return good;
}

static bool view_add_corners(struct view *v, const double (*x)[3], size_t n)
{
    void *corners = v->corners;
    bool good = view_reserve(v, sizeof *v->corners, v->n_corners + n, &corners,
                             &v->corners_capacity);
    v->corners = corners;
    for (size_t k = 0; good && k < n; k++, v->n_corners++)
        for (int i = 0; i < 2; i++)
            v->corners[v->n_corners][i] = view_dot(v->axes[i], x[k]);
    return good;
}

static bool view_add_face(struct view *v, const struct view_face *what,
                          const double (*x)[3], size_t n)
{
    void *faces = v->faces;
    bool good = view_reserve(v, sizeof *v->faces, v->n_faces + 1, &faces,
                             &v->faces_capacity);
    v->faces = faces;
    if (!good)
        return false;
    v->faces[v->n_faces] = *what;
    v->faces[v->n_faces].first = v->n_corners;
    v->faces[v->n_faces++].n = (int)n;
    return view_add_corners(v, x, n);
}

/* How far a point is behind the plane. */
static double view_behind(const struct view *v, const double x[3])
{
    const struct slice *s = v->what->slice;
    return v->axes[2][s->axis] > 0.0 ? s->at - x[s->axis] : x[s->axis] - s->at;
}

/* The part of a face behind the plane; *n_out may be 0. */
static bool view_clip(struct view *v, const struct io_cell *cell,
                      const int64_t *face, size_t *n_out)
{
    void *clipped = v->clipped;
    size_t n = 0;
    bool good = view_reserve(v, sizeof *v->clipped, (size_t)face[0] + 2,
                             &clipped, &v->clipped_capacity);
    v->clipped = clipped;
    for (int64_t k = 1; good && k <= face[0]; k++) {
        const double *a = cell->corners[face[k]];
        const double *b = cell->corners[face[k < face[0] ? k + 1 : 1]];
        double side_a = view_behind(v, a), side_b = view_behind(v, b);
        if (side_a >= 0.0)
            memcpy(v->clipped[n++], a, sizeof *v->clipped);
        if ((side_a >= 0.0) != (side_b >= 0.0)) {
            double part = side_a / (side_a - side_b);
            for (int d = 0; d < 3; d++)
                v->clipped[n][d] = a[d] + part * (b[d] - a[d]);
            n++;
        }
    }
    *n_out = n;
    return good;
}

static void view_centre(const struct io_cell *cell, double centre_out[3])
{
    double n = 0.0;
    memset(centre_out, 0, 3 * sizeof *centre_out);
    const int64_t *face = cell->faces;
    for (size_t f = 0; f < cell->n_faces; f++, face += face[0] + 1)
        for (int64_t k = 1; k <= face[0]; k++, n += 1.0)
            for (int d = 0; d < 3; d++)
                centre_out[d] += cell->corners[face[k]][d];
    for (int d = 0; d < 3; d++)
        centre_out[d] /= n;
}

static bool view_is_solid(const struct view *v, uint64_t cell)
{
    const struct plot_view *what = v->what;
    double material = what->material[cell];
    return material >= 0.0 && material < (double)what->n_materials &&
           what->solid[(size_t)material];
}

/* Lit from above, near the eye; what is far away is darker. */
static double view_light(const struct view *v, const double normal[3],
                         double depth)
{
    static const double light[3] = {-0.35, 0.6, 0.72};
    double turned[3], near = (depth - v->far) / (v->near - v->far);
    for (int i = 0; i < 3; i++)
        turned[i] = view_dot(normal, v->axes[i]);
    double direct = fmax(view_dot(turned, light), 0.0);
    return fmin((0.42 + 0.7 * direct) * (0.7 + 0.4 * near), 1.0);
}

static bool view_add_cell_faces(struct view *v, const struct io_cell *cell,
                                const int64_t *face, double depth)
{
    struct view_face what = {.depth = depth};
    double normal[3];
    size_t n;
    view_measure(cell, face, what.middle, normal);
    if (view_dot(normal, v->axes[2]) <= 0.0)
        return view_add_behind(v, what.middle);
    if (!view_clip(v, cell, face, &n))
        return false;
    unsigned rgb = v->what->colour[(size_t)v->what->material[cell->id]];
    what.colour = view_shade(rgb, view_light(v, normal, depth));
    return n < 3 || view_add_face(v, &what, (const double(*)[3])v->clipped, n);
}

static storm_status view_visit(void *self, const struct io_cell *cell)
{
    struct view *v = self;
    double centre[3];
    if (!view_is_solid(v, cell->id))
        return STORM_OK;
    view_centre(cell, centre);
    const int64_t *face = cell->faces;
    for (size_t f = 0; f < cell->n_faces; f++, face += face[0] + 1)
        if (!view_add_cell_faces(v, cell, face, view_dot(centre, v->axes[2])))
            return STORM_ERR_NOMEM;
    return STORM_OK;
}

/* What the plane cuts, in front of everything else. */
static bool view_add_cut(struct view *v)
{
    const struct slice *s = v->what->slice;
    for (size_t i = 0; i < s->n_polygons; i++) {
        const struct slice_polygon *p = &s->polygons[i];
        void *room = v->clipped;
        if (!view_is_solid(v, p->cell))
            continue;
        bool good = view_reserve(v, sizeof *v->clipped, (size_t)p->n, &room,
                                 &v->clipped_capacity);
        v->clipped = room;
        for (int k = 0; good && k < p->n; k++) {
            v->clipped[k][s->axis] = s->at;
            for (int j = 0; j < 2; j++)
                v->clipped[k][slice_direction(s->axis, j)] =
                    s->corners[p->first + (size_t)k][j];
        }
        unsigned rgb = v->what->colour[(size_t)v->what->material[p->cell]];
        const struct view_face what = {.colour = view_tint(rgb),
                                       .depth = v->near};
        if (!good || !view_add_face(v, &what, (const double(*)[3])v->clipped,
                                    (size_t)p->n))
            return false;
    }
    return true;
}

static int view_compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int view_compare_faces(const void *a, const void *b)
{
    const struct view_face *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

/* Leaves what can be seen, the farthest first. */
static void view_sort(struct view *v)
{
    size_t n = 0;
    if (v->n_behind > 0)
        qsort(v->behind, v->n_behind, sizeof *v->behind, view_compare_keys);
    for (size_t i = 0; i < v->n_faces; i++) {
        uint64_t key = view_key(v->what, v->faces[i].middle, 0);
        if (v->n_behind == 0 || bsearch(&key, v->behind, v->n_behind,
                                        sizeof key, view_compare_keys) == NULL)
            v->faces[n++] = v->faces[i];
    }
    v->n_faces = n;
    if (n > 0)
        qsort(v->faces, n, sizeof *v->faces, view_compare_faces);
}

/* ---- drawing ------------------------------------------------------------- */

/* From projected lengths to parts of pixels. */
struct view_canvas {
    double lo[2], scale, width, height;
    double left, top;
};

static void view_project(const struct view *v, const struct view_canvas *c,
                         const double x[3], double out[2])
{
    out[0] = (view_dot(v->axes[0], x) - c->lo[0]) * c->scale;
    out[1] = c->height - (view_dot(v->axes[1], x) - c->lo[1]) * c->scale;
}

static void view_box_corner(const struct plot_view *what, int i, double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = i >> d & 1 ? what->hi[d] : what->lo[d];
}

static void view_depths(struct view *v)
{
    v->far = (double)INFINITY;
    v->near = (double)-INFINITY;
    for (int i = 0; i < 8; i++) {
        double x[3];
        view_box_corner(v->what, i, x);
        v->far = fmin(v->far, view_dot(v->axes[2], x));
        v->near = fmax(v->near, view_dot(v->axes[2], x));
    }
}

static struct view_canvas view_fit(const struct view *v)
{
    struct view_canvas c = {.lo = {(double)INFINITY, (double)INFINITY},
                            .left = VIEW_LEFT};
    double hi[2] = {(double)-INFINITY, (double)-INFINITY};
    for (int i = 0; i < 8; i++) {
        double x[3];
        view_box_corner(v->what, i, x);
        for (int k = 0; k < 2; k++) {
            c.lo[k] = fmin(c.lo[k], view_dot(v->axes[k], x));
            hi[k] = fmax(hi[k], view_dot(v->axes[k], x));
        }
    }
    c.scale =
        fmin(VIEW_WIDTH / (hi[0] - c.lo[0]), VIEW_HEIGHT / (hi[1] - c.lo[1]));
    c.width = c.scale * (hi[0] - c.lo[0]);
    c.height = c.scale * (hi[1] - c.lo[1]);
    return c;
}

/* The edges of the box, the three to its nearest corner left out. */
static void view_add_box(const struct view *v, const struct view_canvas *c,
                         struct storm_page *svg)
{
    int nearest = 0;
    for (int d = 0; d < 3; d++)
        nearest |= v->axes[2][d] > 0.0 ? 1 << d : 0;
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++) {
            int k = i | 1 << d;
            double x[3], a[2], b[2];
            if (i == k || i == nearest || k == nearest)
                continue;
            view_box_corner(v->what, i, x);
            view_project(v, c, x, a);
            view_box_corner(v->what, k, x);
            view_project(v, c, x, b);
            storm_page_add(svg,
                           "<path d=\"M%.1f %.1fL%.1f %.1f\" fill=\"none\" "
                           "stroke=\"#bbb\"/>\n",
                           a[0] + c->left, a[1] + c->top, b[0] + c->left,
                           b[1] + c->top);
        }
}

/* The directions, at the bottom left. */
static void view_add_triad(const struct view *v, const struct view_canvas *c,
                           struct storm_page *svg)
{
    const double length = 44.0, x = c->left, y = c->top + c->height + 34.0;
    for (int d = 0; d < 3; d++) {
        double dx = length * v->axes[0][d], dy = -length * v->axes[1][d];
        const char name[2] = {(char)('x' + d), '\0'};
        storm_svg_line(svg, x, y, dx, dy, "line");
        storm_svg_text(svg, x + 1.3 * dx, y + 1.3 * dy + 5.0, "mid", name);
    }
}

static void view_add_faces(const struct view *v, const struct view_canvas *c,
                           struct storm_page *svg)
{
    bool lines = v->n_faces <= VIEW_MAX_LINES;
    storm_page_add(svg,
                   "<g transform=\"translate(%.2f %.2f) scale(%g)\" "
                   "stroke-linejoin=\"round\" fill=\"currentColor\" %s "
                   "stroke-width=\"%g\">\n",
                   c->left, c->top, 1.0 / VIEW_UNIT,
                   lines ? "stroke=\"#000\" stroke-opacity=\"0.3\""
                         : "stroke=\"currentColor\"",
                   (lines ? 0.4 : 0.5) * VIEW_UNIT);
    for (size_t i = 0; i < v->n_faces; i++) {
        const struct view_face *face = &v->faces[i];
        long at[2] = {0, 0};
        storm_page_add(svg, "<path color=\"#%06x\" d=\"", face->colour);
        for (int k = 0; k < face->n; k++) {
            const double *x = v->corners[face->first + (size_t)k];
            long to[2] = {
                lround((x[0] - c->lo[0]) * c->scale * VIEW_UNIT),
                lround((c->height - (x[1] - c->lo[1]) * c->scale) * VIEW_UNIT)};
            storm_page_add(svg,
                           k == 0   ? "M%ld %ld"
                           : k == 1 ? "l%ld %ld"
                                    : " %ld %ld",
                           to[0] - at[0], to[1] - at[1]);
            memcpy(at, to, sizeof at);
        }
        storm_page_add(svg, "z\"/>\n");
    }
    storm_page_add(svg, "</g>\n");
}

static void view_add_legend(const struct view *v, double left, double top,
                            struct storm_page *svg)
{
    const struct plot_view *what = v->what;
    int row = 0;
    for (size_t i = 0; i < what->n_materials; i++)
        if (what->solid[i])
            plot_add_key(svg, left, top + STORM_CHART_ROW * row++,
                         what->colour[i], what->name[i]);
}

static double view_legend_width(const struct plot_view *what)
{
    double width = 0.0;
    for (size_t i = 0; i < what->n_materials; i++)
        if (what->solid[i])
            width = fmax(width, 28 + storm_svg_width(what->name[i],
                                                     STORM_SVG_LETTERS));
    return width;
}

static char *view_svg(const struct view *v)
{
    const struct plot_view *what = v->what;
    struct storm_page svg = {0};
    struct view_canvas c = view_fit(v);
    c.top = storm_chart_top(what->title, what->subtitle);
    double right = c.left + c.width + 30.0;
    double bottom =
        c.top + fmax(c.height, STORM_CHART_ROW * (double)what->n_materials);
    storm_svg_begin(&svg,
                    storm_chart_width(c.left, right + view_legend_width(what),
                                      what->title, what->subtitle),
                    bottom + 84.0);
    storm_chart_head(&svg, c.left, what->title, what->subtitle);
    view_add_box(v, &c, &svg);
    view_add_faces(v, &c, &svg);
    view_add_triad(v, &c, &svg);
    view_add_legend(v, right, c.top, &svg);
    return storm_svg_end(&svg);
}

storm_status plot_view_svg(struct io_reader *reader,
                           const struct plot_view *what, char **svg_out)
{
    struct view v = {.memory = reader->memory, .what = what};
    char *svg = NULL;
    view_look(&v, what->slice->axis);
    view_depths(&v);
    storm_status status = io_reader_cells(reader, view_visit, &v);
    if (status == STORM_OK) {
        view_sort(&v);
        if (view_add_cut(&v))
            svg = view_svg(&v);
        status = svg != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    storm_free(v.memory, v.faces);
    storm_free(v.memory, v.corners);
    storm_free(v.memory, v.behind);
    storm_free(v.memory, v.clipped);
    if (status == STORM_OK)
        *svg_out = svg;
    return status;
}
