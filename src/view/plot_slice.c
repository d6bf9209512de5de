/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice as SVG. Polygons of one colour are one path, in whole fractions of a
 * pixel, so that a picture of many cells stays small. Where there are more
 * cells than a screen can show, squares of a few pixels stand for them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/chart_parts.h"
#include "view/colours.h"
#include "view/plot.h"

enum {
    SLICE_WIDTH = 640, /* max of the frame, in pixels */
    SLICE_HEIGHT = 500,
    SLICE_MIN_WIDTH = 240,
    SLICE_MIN_HEIGHT = 160,
    SLICE_BAR_GAP = 30,
    SLICE_BAR = 24,
    SLICE_STRIPES = 65,          /* odd: one is 0 */
    SLICE_LEVELS = 129,          /* colours of a scale */
    SLICE_FINE = 20000,          /* polygons with two digits after the point */
    SLICE_MAX_POLYGONS = 100000, /* with more, squares are drawn */
    SLICE_SQUARE = 2,            /* pixels, of such a square */
    SLICE_BLANK = 0xe4e4e4
};

/* The frame, and the map from space to it. */
struct slice_frame {
    double left, top, width, height; /* pixels */
    double unit;                     /* parts of a pixel in paths */
};

/* One polygon, or its part in one half of the picture. */
struct slice_item {
    size_t polygon;
    int level;        /* which colour; -1: blank */
    signed char half; /* 1: upper, -1: lower, 0: both */
};

struct slice_items {
    struct slice_item *list;
    size_t n;
};

/* ---- colours ------------------------------------------------------------- */

static int slice_n_levels(const struct plot_picture *p)
{
    return p->n_categories > 0 ? (int)p->n_categories : SLICE_LEVELS;
}

static int slice_level(const struct plot_picture *p, double value)
{
    if (!isfinite(value))
        return -1;
    if (p->n_categories > 0) {
        bool known = value >= 0.0 && value < (double)p->n_categories;
        return known ? (int)value : -1;
    }
    if (p->scale.log && value <= p->scale.lo)
        return 0;
    double place = storm_svg_place(&p->scale, value) * SLICE_LEVELS;
    return (int)fmin(fmax(place, 0.0), SLICE_LEVELS - 1);
}

/* The colour of a place on the scale, 0 .. 1. */
static unsigned slice_shade(const struct plot_picture *p, double place)
{
    return p->is_signed ? storm_colour_signed(2.0 * place - 1.0)
                        : storm_colour(place);
}

static unsigned slice_colour(const struct plot_picture *p, int level)
{
    if (level < 0)
        return SLICE_BLANK;
    if (p->n_categories > 0)
        return p->colour[level];
    return slice_shade(p, (level + 0.5) / SLICE_LEVELS);
}

/* ---- polygons ------------------------------------------------------------ */

static double slice_middle(const struct plot_picture *p)
{
    return 0.5 * (p->lo[1] + p->hi[1]);
}

/* The part of a convex polygon above (half 1) or below (-1) the middle. Has
 * room for n + 1. */
static int slice_clip(const double (*from)[2], int n, double middle, int half,
                      double (*to)[2])
{
    int n_to = 0;
    for (int i = 0; i < n; i++) {
        const double *a = from[i], *b = from[i + 1 < n ? i + 1 : 0];
        double side_a = half * (a[1] - middle), side_b = half * (b[1] - middle);
        if (side_a >= 0.0)
            memcpy(to[n_to++], a, sizeof *to);
        if ((side_a >= 0.0) != (side_b >= 0.0)) {
            double part = side_a / (side_a - side_b);
            to[n_to][0] = a[0] + part * (b[0] - a[0]);
            to[n_to++][1] = middle;
        }
    }
    return n_to;
}

/* All polygons with their colours; cut at the middle if need be. */
static bool slice_list(const struct plot_picture *p, struct slice_items *items)
{
    const struct slice *s = p->slice;
    size_t each = p->below != NULL ? 2 : 1;
    items->list = storm_alloc(s->memory, PLOT_LABEL,
                              (each * s->n_polygons + 1) * sizeof *items->list);
    items->n = 0;
    if (items->list == NULL)
        return false;
    for (size_t i = 0; i < s->n_polygons; i++) {
        const uint64_t cell = s->polygons[i].cell;
        items->list[items->n++] =
            (struct slice_item){.polygon = i,
                                .level = slice_level(p, p->value[cell]),
                                .half = p->below != NULL ? 1 : 0};
        if (p->below != NULL)
            items->list[items->n++] =
                (struct slice_item){.polygon = i,
                                    .level = slice_level(p, p->below[cell]),
                                    .half = -1};
    }
    return true;
}

/* The corners of an item in parts of pixels from the top left of the frame.
 * `corners` has room for two more than the polygon has. */
static int slice_corners(const struct plot_picture *p,
                         const struct slice_frame *frame,
                         const struct slice_item *item, double (*corners)[2])
{
    const struct slice_polygon *polygon = &p->slice->polygons[item->polygon];
    const double(*from)[2] =
        (const double(*)[2])p->slice->corners + polygon->first;
    int n = polygon->n;
    if (item->half != 0)
        n = slice_clip(from, n, slice_middle(p), item->half, corners);
    else
        memcpy(corners, from, (size_t)n * sizeof *corners);
    for (int i = 0; i < n; i++) {
        double x = (corners[i][0] - p->lo[0]) / (p->hi[0] - p->lo[0]);
        double y = (corners[i][1] - p->lo[1]) / (p->hi[1] - p->lo[1]);
        corners[i][0] = x * frame->width / frame->unit;
        corners[i][1] = (1.0 - y) * frame->height / frame->unit;
    }
    return n;
}

static void slice_add_polygon(struct storm_page *svg, const double (*x)[2],
                              int n)
{
    long from[2] = {lround(x[0][0]), lround(x[0][1])};
    bool is_begun = false;
    for (int i = 1; i < n; i++) {
        long to[2] = {lround(x[i][0]), lround(x[i][1])};
        if (to[0] == from[0] && to[1] == from[1])
            continue;
        if (!is_begun)
            storm_page_add(svg, "M%ld %ldl", from[0], from[1]);
        storm_page_add(svg, is_begun ? " %ld %ld" : "%ld %ld", to[0] - from[0],
                       to[1] - from[1]);
        is_begun = true;
        memcpy(from, to, sizeof from);
    }
    if (is_begun)
        storm_page_add(svg, "z\n");
}

static void slice_begin_level(const struct plot_picture *p,
                              struct storm_page *svg, int level)
{
    unsigned colour = slice_colour(p, level);
    storm_page_add(svg, "<path fill=\"#%06x\"", colour);
    if (!p->lines) /* hides the gaps that browsers leave between polygons */
        storm_page_add(svg, " stroke=\"#%06x\"", colour);
    storm_page_add(svg, " d=\"");
}

static int slice_compare(const void *a, const void *b)
{
    const struct slice_item *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->polygon != y->polygon)
        return x->polygon < y->polygon ? -1 : 1;
    return x->half - y->half;
}

/* Room for the corners of any item. */
static double (*slice_room(const struct slice *s))[2]
{
    int max = 0;
    for (size_t i = 0; i < s->n_polygons; i++)
        if (s->polygons[i].n > max)
            max = s->polygons[i].n;
    return storm_alloc(s->memory, PLOT_LABEL,
                       ((size_t)max + 2) * sizeof(double[2]));
}

static bool slice_add_polygons(const struct plot_picture *p,
                               const struct slice_frame *frame,
                               const struct slice_items *items,
                               struct storm_page *svg)
{
    double(*corners)[2] = slice_room(p->slice);
    int level = -2; /* of the path that is open; -2: none is */
    if (corners == NULL)
        return false;
    qsort(items->list, items->n, sizeof *items->list, slice_compare);
    for (size_t i = 0; i < items->n; i++) {
        int n = slice_corners(p, frame, &items->list[i], corners);
        if (n < 3)
            continue;
        if (items->list[i].level != level) {
            storm_page_add(svg, "%s", level > -2 ? "\"/>\n" : "");
            level = items->list[i].level;
            slice_begin_level(p, svg, level);
        }
        slice_add_polygon(svg, (const double(*)[2])corners, n);
    }
    storm_page_add(svg, "%s", level > -2 ? "\"/>\n" : "");
    storm_free(p->slice->memory, corners);
    return true;
}

/* ---- squares ------------------------------------------------------------- */

/* Is the point in a convex polygon? Corners go clockwise on the screen or
 * anticlockwise. */
static bool slice_inside(const double (*x)[2], int n, const double point[2])
{
    bool left = false, right = false;
    for (int i = 0; i < n; i++) {
        const double *a = x[i], *b = x[i + 1 < n ? i + 1 : 0];
        double side = (b[0] - a[0]) * (point[1] - a[1]) -
                      (b[1] - a[1]) * (point[0] - a[0]);
        left = left || side > 0.0;
        right = right || side < 0.0;
    }
    return !(left && right);
}

/* Marks the squares with their centre in the polygon; units are squares. */
static void slice_paint(const double (*x)[2], int n, int level, int *grid,
                        const long size[2])
{
    double lo[2] = {x[0][0], x[0][1]}, hi[2] = {x[0][0], x[0][1]};
    for (int i = 1; i < n; i++)
        for (int k = 0; k < 2; k++) {
            lo[k] = fmin(lo[k], x[i][k]);
            hi[k] = fmax(hi[k], x[i][k]);
        }
    for (long j = lround(fmax(lo[1], 0.0));
         j < size[1] && (double)j + 0.5 <= hi[1]; j++)
        for (long i = lround(fmax(lo[0], 0.0));
             i < size[0] && (double)i + 0.5 <= hi[0]; i++) {
            const double point[2] = {(double)i + 0.5, (double)j + 0.5};
            if (slice_inside(x, n, point))
                grid[j * size[0] + i] = level;
        }
}

/* Squares of one colour side by side are one. */
static void slice_add_runs(const struct plot_picture *p, struct storm_page *svg,
                           const int *grid, const long size[2])
{
    for (int level = -1; level < slice_n_levels(p); level++) {
        bool is_begun = false;
        for (long j = 0; j < size[1]; j++)
            for (long i = 0; i < size[0]; i++) {
                long n = 0;
                while (i + n < size[0] && grid[j * size[0] + i + n] == level)
                    n++;
                if (n == 0)
                    continue;
                if (!is_begun)
                    slice_begin_level(p, svg, level);
                is_begun = true;
                storm_page_add(svg, "M%ld %ldl%ld 0 0 1 %ld 0z\n", i, j, n, -n);
                i += n;
            }
        if (is_begun)
            storm_page_add(svg, "\"/>\n");
    }
}

static bool slice_add_squares(const struct plot_picture *p,
                              const struct slice_frame *frame,
                              const struct slice_items *items,
                              struct storm_page *svg)
{
    const long size[2] = {lround(ceil(frame->width / frame->unit)),
                          lround(ceil(frame->height / frame->unit))};
    const size_t n_squares = (size_t)(size[0] * size[1]);
    struct storm_memory *memory = p->slice->memory;
    int *grid = storm_alloc(memory, PLOT_LABEL, n_squares * sizeof *grid);
    double(*corners)[2] = slice_room(p->slice);
    bool good = grid != NULL && corners != NULL;
    if (good) {
        for (size_t i = 0; i < n_squares; i++)
            grid[i] = -2; /* nothing */
        for (size_t i = 0; i < items->n; i++) {
            int n = slice_corners(p, frame, &items->list[i], corners);
            if (n >= 3)
                slice_paint((const double(*)[2])corners, n,
                            items->list[i].level, grid, size);
        }
        slice_add_runs(p, svg, grid, size);
    }
    storm_free(memory, grid);
    storm_free(memory, corners);
    return good;
}

/* ---- the frame ----------------------------------------------------------- */

static bool slice_add_cells(const struct plot_picture *p,
                            struct slice_frame *frame, struct storm_page *svg)
{
    struct slice_items items;
    if (!slice_list(p, &items))
        return false;
    bool squares = items.n > SLICE_MAX_POLYGONS;
    frame->unit = squares ? SLICE_SQUARE : items.n > SLICE_FINE ? 0.1 : 0.01;
    storm_page_add(svg,
                   "<g transform=\"translate(%.2f %.2f) scale(%g)\" "
                   "stroke-linejoin=\"round\" class=\"cells\"",
                   frame->left, frame->top, frame->unit);
    if (squares)
        storm_page_add(svg, " shape-rendering=\"crispEdges\">\n");
    else if (p->lines)
        storm_page_add(svg,
                       " stroke=\"#000\" stroke-opacity=\"0.45\" "
                       "stroke-width=\"%g\">\n",
                       (items.n > 3000 ? 0.25 : 0.5) / frame->unit);
    else
        storm_page_add(svg, " stroke-width=\"%g\">\n", 0.4 / frame->unit);
    bool good = squares ? slice_add_squares(p, frame, &items, svg)
                        : slice_add_polygons(p, frame, &items, svg);
    storm_page_add(svg, "</g>\n");
    if (squares)
        storm_svg_text(svg, frame->left + frame->width,
                       frame->top + frame->height + 50, "end sub",
                       "many cells: drawn as squares");
    storm_free(p->slice->memory, items.list);
    return good;
}

static struct storm_svg_axis slice_ticks(const struct storm_svg_scale *scale,
                                         double pixels, bool upright)
{
    int n_wanted = (int)fmin(fmax(pixels / 80.0, 2.0), 7.0);
    return storm_svg_axis(scale, pixels, upright, n_wanted);
}

static void slice_add_axes(const struct plot_picture *p,
                           const struct slice_frame *frame,
                           const struct storm_svg_axis ticks[2],
                           struct storm_page *svg)
{
    const double bottom = frame->top + frame->height;
    for (size_t i = 0; i < ticks[0].n; i++) {
        const struct storm_svg_tick *tick = &ticks[0].tick[i];
        double x = frame->left +
                   frame->width * storm_svg_place(&ticks[0].scale, tick->value);
        storm_svg_line(svg, x, bottom, 0, 6, "line");
        if (tick->label[0] != '\0')
            storm_svg_text(svg, x, bottom + 23, "mid", tick->label);
    }
    for (size_t i = 0; i < ticks[1].n; i++) {
        const struct storm_svg_tick *tick = &ticks[1].tick[i];
        double y = bottom - frame->height *
                                storm_svg_place(&ticks[1].scale, tick->value);
        storm_svg_line(svg, frame->left, y, -6, 0, "line");
        if (tick->label[0] != '\0')
            storm_svg_text(svg, frame->left - 11, y + 5, "end", tick->label);
    }
    storm_svg_frame(svg, frame->left, frame->top, frame->width, frame->height);
    char label[PLOT_TEXT];
    storm_svg_axis_label(&ticks[0], p->axis[0], label, sizeof label);
    storm_svg_text(svg, frame->left + 0.5 * frame->width, bottom + 50, "mid",
                   label);
    storm_svg_axis_label(&ticks[1], p->axis[1], label, sizeof label);
    storm_svg_text_up(svg, frame->left - 28 - ticks[1].width,
                      frame->top + 0.5 * frame->height, label);
}

/* The names of the halves, readable on any colour. */
static void slice_add_halves(const struct plot_picture *p,
                             const struct slice_frame *frame,
                             struct storm_page *svg)
{
    const double middle = frame->top + 0.5 * frame->height;
    if (p->below == NULL)
        return;
    storm_page_add(svg,
                   "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#fff\" "
                   "stroke-width=\"3\"/>\n",
                   frame->left, middle, frame->width);
    storm_svg_line(svg, frame->left, middle, frame->width, 0, "line");
    storm_page_add(svg, "<g stroke=\"#fff\" stroke-width=\"4\" "
                        "stroke-linejoin=\"round\" paint-order=\"stroke\">\n");
    storm_svg_text(svg, frame->left + 12, frame->top + 24, "start", p->half[0]);
    storm_svg_text(svg, frame->left + 12, frame->top + frame->height - 14,
                   "start", p->half[1]);
    storm_page_add(svg, "</g>\n");
}

/* ---- what colours mean --------------------------------------------------- */

static void slice_add_bar(const struct plot_picture *p,
                          const struct slice_frame *frame,
                          const struct storm_svg_axis *ticks,
                          struct storm_page *svg)
{
    const double left = frame->left + frame->width + SLICE_BAR_GAP;
    const double stripe = frame->height / SLICE_STRIPES;
    const double bottom = frame->top + frame->height;
    storm_page_add(svg, "<g shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < SLICE_STRIPES; i++)
        storm_page_add(svg,
                       "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" "
                       "height=\"%.2f\" fill=\"#%06x\"/>\n",
                       left, bottom - stripe * (i + 1), SLICE_BAR, stripe + 0.5,
                       slice_shade(p, (i + 0.5) / SLICE_STRIPES));
    storm_page_add(svg, "</g>\n");
    storm_svg_frame(svg, left, frame->top, SLICE_BAR, frame->height);
    for (size_t i = 0; i < ticks->n; i++) {
        double at =
            bottom - frame->height *
                         storm_svg_place(&ticks->scale, ticks->tick[i].value);
        storm_svg_line(svg, left + SLICE_BAR, at, 5, 0, "line");
        if (ticks->tick[i].label[0] != '\0')
            storm_svg_text(svg, left + SLICE_BAR + 10, at + 5, "start",
                           ticks->tick[i].label);
    }
    char label[PLOT_TEXT];
    storm_svg_axis_label(ticks, p->label, label, sizeof label);
    storm_svg_text_up(svg, left + SLICE_BAR + 30 + ticks->width,
                      frame->top + 0.5 * frame->height, label);
}

void plot_add_key(struct storm_page *svg, double x, double y, unsigned colour,
                  const char *name)
{
    storm_page_add(svg,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"18\" "
                   "fill=\"#%06x\" stroke=\"#222\"/>\n",
                   x, y, colour);
    storm_svg_text(svg, x + 28, y + 14, "start", name);
}

/* Categories with names, and what is blank. */
static size_t slice_n_keys(const struct plot_picture *p)
{
    return (p->category != NULL ? p->n_categories : 0) + (p->blank != NULL);
}

static void slice_add_legend(const struct plot_picture *p, double left,
                             double top, struct storm_page *svg)
{
    size_t n = p->category != NULL ? p->n_categories : 0;
    for (size_t i = 0; i < n; i++)
        plot_add_key(svg, left, top + STORM_CHART_ROW * (double)i, p->colour[i],
                     p->category[i]);
    if (p->blank != NULL)
        plot_add_key(svg, left, top + STORM_CHART_ROW * (double)n, SLICE_BLANK,
                     p->blank);
}

static double slice_legend_width(const struct plot_picture *p)
{
    double width = 0.0;
    for (size_t i = 0; p->category != NULL && i < p->n_categories; i++)
        width = fmax(width,
                     28 + storm_svg_width(p->category[i], STORM_SVG_LETTERS));
    if (p->blank != NULL)
        width = fmax(width, 28 + storm_svg_width(p->blank, STORM_SVG_LETTERS));
    return width;
}

/* ---- the picture --------------------------------------------------------- */

/* Equal scales, unless the box is too thin to be seen so. */
static struct slice_frame slice_fit(const struct plot_picture *p)
{
    double width = p->hi[0] - p->lo[0], height = p->hi[1] - p->lo[1];
    double scale = fmin(SLICE_WIDTH / width, SLICE_HEIGHT / height);
    return (struct slice_frame){.width = fmax(scale * width, SLICE_MIN_WIDTH),
                                .height =
                                    fmax(scale * height, SLICE_MIN_HEIGHT)};
}

char *plot_slice_svg(const struct plot_picture *p)
{
    struct storm_page svg = {0};
    struct slice_frame frame = slice_fit(p);
    const struct storm_svg_scale scales[2] = {
        storm_svg_scale(p->lo[0], p->hi[0], false),
        storm_svg_scale(p->lo[1], p->hi[1], false)};
    const struct storm_svg_axis ticks[2] = {
        slice_ticks(&scales[0], frame.width, false),
        slice_ticks(&scales[1], frame.height, true)};
    const struct storm_svg_axis bar =
        slice_ticks(&p->scale, frame.height, true);
    frame.left = 52 + ticks[1].width;
    frame.top = storm_chart_top(p->title, p->subtitle);
    double right = frame.left + frame.width + SLICE_BAR_GAP;
    double bottom = frame.top + frame.height + 66;
    bool has_bar = p->n_categories == 0;
    double legend = has_bar ? bottom : frame.top;
    if (has_bar && slice_n_keys(p) > 0)
        bottom += STORM_CHART_ROW;
    else if (!has_bar)
        bottom = fmax(bottom, frame.top + 14 +
                                  STORM_CHART_ROW * (double)slice_n_keys(p));
    double beside =
        has_bar ? SLICE_BAR + 36 + bar.width : slice_legend_width(p);
    storm_svg_begin(&svg,
                    storm_chart_width(frame.left, right + beside, p->title,
                                      p->subtitle),
                    bottom);
    storm_chart_head(&svg, frame.left, p->title, p->subtitle);
    bool good = slice_add_cells(p, &frame, &svg);
    slice_add_halves(p, &frame, &svg);
    slice_add_axes(p, &frame, ticks, &svg);
    if (has_bar)
        slice_add_bar(p, &frame, &bar, &svg);
    slice_add_legend(p, has_bar ? frame.left : right, legend, &svg);
    char *text = storm_svg_end(&svg);
    if (good)
        return text;
    free(text);
    return NULL;
}
