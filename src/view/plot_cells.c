/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells of a slice. Polygons of one colour are one path, in whole fractions
 * of a pixel, so that a picture of many cells stays small. Where there are more
 * cells than a screen can show, squares of a few pixels stand for them. Films
 * have pixels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/colours.h"
#include "view/plot.h"

enum {
    CELLS_LEVELS = 129,          /* colours of a scale */
    CELLS_FINE = 20000,          /* polygons with two digits after the point */
    CELLS_MAX_POLYGONS = 100000, /* with more, squares are drawn */
    CELLS_SQUARE = 2             /* pixels, of such a square */
};

/* One polygon, or its part in one half of the picture. */
struct cells_item {
    size_t polygon;
    int level;        /* which colour; -1: blank */
    signed char half; /* 1: upper, -1: lower, 0: both */
};

struct cells_items {
    struct cells_item *list;
    size_t n;
    double unit; /* parts of a pixel in paths */
};

/* ---- colours ------------------------------------------------------------- */

static int cells_n_levels(const struct plot_picture *p)
{
    return p->n_categories > 0 ? (int)p->n_categories : CELLS_LEVELS;
}

static int cells_level(const struct plot_picture *p, double value)
{
    if (!isfinite(value))
        return -1;
    if (p->n_categories > 0) {
        bool known = value >= 0.0 && value < (double)p->n_categories;
        return known ? (int)value : -1;
    }
    if (p->scale.log && value <= p->scale.lo)
        return 0;
    double place = storm_svg_place(&p->scale, value) * CELLS_LEVELS;
    return (int)fmin(fmax(place, 0.0), CELLS_LEVELS - 1);
}

unsigned cells_shade(const struct plot_picture *p, double place)
{
    return p->is_signed ? storm_colour_signed(2.0 * place - 1.0)
                        : storm_colour(place);
}

static unsigned cells_colour(const struct plot_picture *p, int level)
{
    if (level < 0)
        return CELLS_BLANK;
    if (p->n_categories > 0)
        return p->colour[level];
    return cells_shade(p, (level + 0.5) / CELLS_LEVELS);
}

/* ---- polygons ------------------------------------------------------------ */

static double cells_middle(const struct plot_picture *p)
{
    return 0.5 * (p->lo[1] + p->hi[1]);
}

/* The part of a convex polygon above (half 1) or below (-1) the middle. Has
 * room for n + 1. */
static int cells_clip(const double (*from)[2], int n, double middle, int half,
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
static bool cells_list(const struct plot_picture *p, struct cells_items *items)
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
            (struct cells_item){.polygon = i,
                                .level = cells_level(p, p->value[cell]),
                                .half = p->below != NULL ? 1 : 0};
        if (p->below != NULL)
            items->list[items->n++] =
                (struct cells_item){.polygon = i,
                                    .level = cells_level(p, p->below[cell]),
                                    .half = -1};
    }
    return true;
}

/* The corners of an item in parts of pixels from the top left of the frame.
 * `corners` has room for two more than the polygon has. */
static int cells_corners(const struct plot_picture *p,
                         const struct cells_frame *frame, double unit,
                         const struct cells_item *item, double (*corners)[2])
{
    const struct slice_polygon *polygon = &p->slice->polygons[item->polygon];
    const double(*from)[2] =
        (const double(*)[2])p->slice->corners + polygon->first;
    int n = polygon->n;
    if (item->half != 0)
        n = cells_clip(from, n, cells_middle(p), item->half, corners);
    else
        memcpy(corners, from, (size_t)n * sizeof *corners);
    for (int i = 0; i < n; i++) {
        double x = (corners[i][0] - p->lo[0]) / (p->hi[0] - p->lo[0]);
        double y = (corners[i][1] - p->lo[1]) / (p->hi[1] - p->lo[1]);
        corners[i][0] = x * frame->width / unit;
        corners[i][1] = (1.0 - y) * frame->height / unit;
    }
    return n;
}

static void cells_add_polygon(struct storm_page *svg, const double (*x)[2],
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

static void cells_begin_level(const struct plot_picture *p,
                              struct storm_page *svg, int level)
{
    unsigned colour = cells_colour(p, level);
    storm_page_add(svg, "<path fill=\"#%06x\"", colour);
    if (!p->lines) /* hides the gaps that browsers leave between polygons */
        storm_page_add(svg, " stroke=\"#%06x\"", colour);
    storm_page_add(svg, " d=\"");
}

static int cells_compare(const void *a, const void *b)
{
    const struct cells_item *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->polygon != y->polygon)
        return x->polygon < y->polygon ? -1 : 1;
    return x->half - y->half;
}

/* Room for the corners of any item. */
static double (*cells_room(const struct slice *s))[2]
{
    int max = 0;
    for (size_t i = 0; i < s->n_polygons; i++)
        if (s->polygons[i].n > max)
            max = s->polygons[i].n;
    return storm_alloc(s->memory, PLOT_LABEL,
                       ((size_t)max + 2) * sizeof(double[2]));
}

static bool cells_add_polygons(const struct plot_picture *p,
                               const struct cells_frame *frame,
                               const struct cells_items *items,
                               struct storm_page *svg)
{
    double(*corners)[2] = cells_room(p->slice);
    int level = -2; /* of the path that is open; -2: none is */
    if (corners == NULL)
        return false;
    qsort(items->list, items->n, sizeof *items->list, cells_compare);
    for (size_t i = 0; i < items->n; i++) {
        int n = cells_corners(p, frame, items->unit, &items->list[i], corners);
        if (n < 3)
            continue;
        if (items->list[i].level != level) {
            storm_page_add(svg, "%s", level > -2 ? "\"/>\n" : "");
            level = items->list[i].level;
            cells_begin_level(p, svg, level);
        }
        cells_add_polygon(svg, (const double(*)[2])corners, n);
    }
    storm_page_add(svg, "%s", level > -2 ? "\"/>\n" : "");
    storm_free(p->slice->memory, corners);
    return true;
}

/* ---- squares ------------------------------------------------------------- */

/* Is the point in a convex polygon? Corners go clockwise on the screen or
 * anticlockwise. */
static bool cells_inside(const double (*x)[2], int n, const double point[2])
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
static void cells_paint_one(const double (*x)[2], int n, int level, int *grid,
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
            if (cells_inside(x, n, point))
                grid[j * size[0] + i] = level;
        }
}

/* Squares of one colour side by side are one. */
static void cells_add_runs(const struct plot_picture *p, struct storm_page *svg,
                           const int *grid, const long size[2])
{
    for (int level = -1; level < cells_n_levels(p); level++) {
        bool is_begun = false;
        for (long j = 0; j < size[1]; j++)
            for (long i = 0; i < size[0]; i++) {
                long n = 0;
                while (i + n < size[0] && grid[j * size[0] + i + n] == level)
                    n++;
                if (n == 0)
                    continue;
                if (!is_begun)
                    cells_begin_level(p, svg, level);
                is_begun = true;
                storm_page_add(svg, "M%ld %ldl%ld 0 0 1 %ld 0z\n", i, j, n, -n);
                i += n;
            }
        if (is_begun)
            storm_page_add(svg, "\"/>\n");
    }
}

/* Paints all of it; -2 stays where there is nothing. */
static bool cells_paint_all(const struct plot_picture *p,
                            const struct cells_frame *frame,
                            const struct cells_items *items, int *grid,
                            const long size[2])
{
    double(*corners)[2] = cells_room(p->slice);
    if (corners == NULL)
        return false;
    for (long i = 0; i < size[0] * size[1]; i++)
        grid[i] = -2;
    for (size_t i = 0; i < items->n; i++) {
        int n = cells_corners(p, frame, items->unit, &items->list[i], corners);
        if (n >= 3)
            cells_paint_one((const double(*)[2])corners, n,
                            items->list[i].level, grid, size);
    }
    storm_free(p->slice->memory, corners);
    return true;
}

/* A grid for the frame, from its book; size_out: columns and rows. */
static int *cells_grid(const struct plot_picture *p,
                       const struct cells_frame *frame,
                       const struct cells_items *items, long size_out[2])
{
    struct storm_memory *memory = p->slice->memory;
    size_out[0] = lround(ceil(frame->width / items->unit));
    size_out[1] = lround(ceil(frame->height / items->unit));
    int *grid = storm_alloc(memory, PLOT_LABEL,
                            (size_t)(size_out[0] * size_out[1]) * sizeof *grid);
    if (grid != NULL && cells_paint_all(p, frame, items, grid, size_out))
        return grid;
    storm_free(memory, grid);
    return NULL;
}

static bool cells_add_squares(const struct plot_picture *p,
                              const struct cells_frame *frame,
                              const struct cells_items *items,
                              struct storm_page *svg)
{
    long size[2];
    int *grid = cells_grid(p, frame, items, size);
    if (grid != NULL)
        cells_add_runs(p, svg, grid, size);
    storm_free(p->slice->memory, grid);
    return grid != NULL;
}

/* ---- all ----------------------------------------------------------------- */

bool cells_add(const struct plot_picture *p, const struct cells_frame *frame,
               struct storm_page *svg)
{
    struct cells_items items;
    if (!cells_list(p, &items))
        return false;
    bool squares = items.n > CELLS_MAX_POLYGONS;
    items.unit = squares ? CELLS_SQUARE : items.n > CELLS_FINE ? 0.1 : 0.01;
    storm_page_add(svg,
                   "<g transform=\"translate(%.2f %.2f) scale(%g)\" "
                   "stroke-linejoin=\"round\" class=\"cells\"",
                   frame->left, frame->top, items.unit);
    if (squares)
        storm_page_add(svg, " shape-rendering=\"crispEdges\">\n");
    else if (p->lines)
        storm_page_add(svg,
                       " stroke=\"#000\" stroke-opacity=\"0.45\" "
                       "stroke-width=\"%g\">\n",
                       (items.n > 3000 ? 0.25 : 0.5) / items.unit);
    else
        storm_page_add(svg, " stroke-width=\"%g\">\n", 0.4 / items.unit);
    bool good = squares ? cells_add_squares(p, frame, &items, svg)
                        : cells_add_polygons(p, frame, &items, svg);
    storm_page_add(svg, "</g>\n");
    if (squares)
        storm_svg_text(svg, frame->left + frame->width,
                       frame->top + frame->height + 50, "end sub",
                       "many cells: drawn as squares");
    storm_free(p->slice->memory, items.list);
    return good;
}

bool cells_paint(const struct plot_picture *p, const struct cells_frame *frame,
                 unsigned char *grid, size_t row)
{
    const size_t left = (size_t)frame->left, top = (size_t)frame->top;
    struct cells_items items;
    long size[2];
    if (!cells_list(p, &items))
        return false;
    items.unit = 1.0;
    int *own = cells_grid(p, frame, &items, size);
    for (long j = 0; own != NULL && j < size[1]; j++)
        for (long i = 0; i < size[0]; i++)
            grid[(top + (size_t)j) * row + left + (size_t)i] =
                (unsigned char)((own[j * size[0] + i] + 2) % CELLS_COLOURS);
    storm_free(p->slice->memory, own);
    storm_free(p->slice->memory, items.list);
    return own != NULL;
}

void cells_palette(const struct plot_picture *p,
                   unsigned palette_out[CELLS_COLOURS])
{
    const int n = cells_n_levels(p);
    palette_out[0] = 0xffffff;
    for (int i = 1; i < CELLS_COLOURS; i++)
        palette_out[i] = i < n + 2 ? cells_colour(p, i - 2) : 0xffffff;
}
