/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice as SVG: one or two frames with their axes, and what colours mean.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/chart_parts.h"
#include "view/colours.h"
#include "view/plot.h"
#include "view/png.h"

enum {
    SLICE_WIDTH = 640, /* max of the frame, in pixels */
    SLICE_HEIGHT = 500,
    SLICE_PANEL_WIDTH = 400,  /* of one of two side by side */
    SLICE_PANEL_HEIGHT = 300, /* of one above the other */
    SLICE_MIN_WIDTH = 240,
    SLICE_MIN_HEIGHT = 160,
    SLICE_BAR_GAP = 30,
    SLICE_BAR = 24,
    SLICE_NAME = 24,    /* a row of names */
    SLICE_FOOT = 66,    /* ticks and label below */
    SLICE_STRIPES = 65, /* odd: one is 0 */
    SLICE_MAX_NUMBERS = 64
};

/* Where everything is. */
struct slice_layout {
    size_t n_frames;
    struct cells_frame frame[2];
    struct storm_svg_axis ticks[2], bar;
    struct cells_frame all; /* around the frames */
};

/* ---- the layout ---------------------------------------------------------- */

/* No ticks between whole numbers. */
static void slice_whole(struct storm_svg_axis *axis)
{
    size_t n = 0;
    for (size_t i = 0; i < axis->n; i++)
        if (axis->tick[i].value == nearbyint(axis->tick[i].value))
            axis->tick[n++] = axis->tick[i];
    axis->n = n;
}

static struct storm_svg_axis slice_ticks(const struct storm_svg_scale *scale,
                                         double pixels, bool upright)
{
    int n_wanted = (int)fmin(fmax(pixels / 80.0, 2.0), 7.0);
    return storm_svg_axis(scale, pixels, upright, n_wanted);
}

static struct storm_svg_axis slice_axis(const struct plot_picture *p, int k,
                                        double pixels)
{
    const struct storm_svg_scale scale =
        storm_svg_scale(p->lo[k], p->hi[k], false);
    struct storm_svg_axis axis = slice_ticks(&scale, pixels, k == 1);
    if (p->whole)
        slice_whole(&axis);
    return axis;
}

/* Equal scales, unless the box is too thin to be seen so. Panels of wide boxes
 * are above each other. */
static void slice_fit(const struct plot_picture *p, struct slice_layout *l)
{
    double width = p->hi[0] - p->lo[0], height = p->hi[1] - p->lo[1];
    bool panels = p->below != NULL && p->panels;
    bool stacked = panels && width > 1.2 * height;
    double room[2] = {panels && !stacked ? SLICE_PANEL_WIDTH : SLICE_WIDTH,
                      stacked ? SLICE_PANEL_HEIGHT : SLICE_HEIGHT};
    double scale = fmin(room[0] / width, room[1] / height);
    struct cells_frame one = {
        .width = ceil(fmax(scale * width, SLICE_MIN_WIDTH)),
        .height = ceil(fmax(scale * height, SLICE_MIN_HEIGHT))};
    l->n_frames = panels ? 2 : 1;
    l->ticks[0] = slice_axis(p, 0, one.width);
    l->ticks[1] = slice_axis(p, 1, one.height);
    one.left = ceil(52 + l->ticks[1].width);
    one.top =
        storm_chart_top(p->title, p->subtitle) + (p->below == NULL ? 0
                                                  : panels         ? SLICE_NAME
                                                           : 2 * SLICE_NAME);
    l->frame[0] = l->frame[1] = l->all = one;
    if (stacked)
        l->frame[1].top += one.height + SLICE_NAME + 18;
    else if (panels)
        l->frame[1].left += one.width + 36;
    l->all.width += l->frame[1].left - one.left;
    l->all.height += l->frame[1].top - one.top;
    l->bar = slice_ticks(&p->scale, l->all.height, true);
}

/* What is in one of the frames. */
static struct plot_picture slice_part(const struct plot_picture *p, size_t i)
{
    struct plot_picture part = *p;
    if (p->panels) {
        part.value = i == 0 ? p->value : p->below;
        part.below = NULL;
    }
    return part;
}

/* ---- the frames ---------------------------------------------------------- */

/* Numbers and labels are where no other frame is in the way. */
static void slice_add_axes(const struct plot_picture *p,
                           const struct slice_layout *l, size_t i_frame,
                           struct storm_page *svg)
{
    const struct cells_frame *frame = &l->frame[i_frame];
    const struct storm_svg_axis *ticks = l->ticks;
    const double bottom = frame->top + frame->height;
    bool has_x = frame->top >= l->all.top + l->all.height - frame->height;
    bool has_y = frame->left <= l->all.left;
    for (size_t i = 0; i < ticks[0].n; i++) {
        const struct storm_svg_tick *tick = &ticks[0].tick[i];
        double x = frame->left +
                   frame->width * storm_svg_place(&ticks[0].scale, tick->value);
        storm_svg_line(svg, x, bottom, 0, 6, "line");
        if (has_x && tick->label[0] != '\0')
            storm_svg_text(svg, x, bottom + 23, "mid", tick->label);
    }
    for (size_t i = 0; i < ticks[1].n; i++) {
        const struct storm_svg_tick *tick = &ticks[1].tick[i];
        double y = bottom - frame->height *
                                storm_svg_place(&ticks[1].scale, tick->value);
        storm_svg_line(svg, frame->left, y, -6, 0, "line");
        if (has_y && tick->label[0] != '\0')
            storm_svg_text(svg, frame->left - 11, y + 5, "end", tick->label);
    }
    storm_svg_frame(svg, frame->left, frame->top, frame->width, frame->height);
    char label[PLOT_TEXT];
    storm_svg_axis_label(&ticks[0], p->axis[0], label, sizeof label);
    if (has_x)
        storm_svg_text(svg, frame->left + 0.5 * frame->width, bottom + 50,
                       "mid", label);
    storm_svg_axis_label(&ticks[1], p->axis[1], label, sizeof label);
    if (has_y)
        storm_svg_text_up(svg, frame->left - 28 - ticks[1].width,
                          frame->top + 0.5 * frame->height, label);
}

/* What is in which half, or in the panel: above the frame, off the data. */
static void slice_add_names(const struct plot_picture *p,
                            const struct slice_layout *l,
                            struct storm_page *svg)
{
    static const char *const where[2] = {"upper half: ", "lower half: "};
    const struct cells_frame *frame = l->frame;
    if (p->below == NULL)
        return;
    for (int k = 0; k < 2; k++) {
        char text[PLOT_TEXT];
        snprintf(text, sizeof text, "%s%s", p->panels ? "" : where[k],
                 p->half[k]);
        storm_svg_text(svg, frame[k].left,
                       frame[k].top -
                           (p->panels ? 8 : 8 + (1 - k) * SLICE_NAME),
                       "start", text);
    }
    if (p->panels)
        return;
    const double middle = frame->top + 0.5 * frame->height;
    storm_page_add(svg,
                   "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#fff\" "
                   "stroke-width=\"3\"/>\n",
                   frame->left, middle, frame->width);
    storm_svg_line(svg, frame->left, middle, frame->width, 0, "line");
}

/* The values, in polygons large enough for them. */
static void slice_add_numbers(const struct plot_picture *p,
                              const struct cells_frame *frame,
                              struct storm_page *svg)
{
    const struct slice *s = p->slice;
    for (size_t i = 0; p->numbers && i < s->n_polygons; i++) {
        const struct slice_polygon *polygon = &s->polygons[i];
        double value = p->value[polygon->cell], middle[2] = {0.0, 0.0};
        char number[STORM_SVG_LABEL_BYTES];
        if (s->n_polygons > SLICE_MAX_NUMBERS || !isfinite(value))
            continue;
        for (int k = 0; k < polygon->n; k++)
            for (int d = 0; d < 2; d++)
                middle[d] +=
                    s->corners[polygon->first + (size_t)k][d] / polygon->n;
        storm_svg_number(value, value < 1e6 ? 6 : 3, number);
        bool is_dark = storm_svg_place(&p->scale, value) < 0.6;
        storm_page_add(svg, "<g fill=\"%s\">", is_dark ? "#fff" : "#000");
        storm_svg_text(svg,
                       frame->left + frame->width * (middle[0] - p->lo[0]) /
                                         (p->hi[0] - p->lo[0]),
                       frame->top + 5 +
                           frame->height * (p->hi[1] - middle[1]) /
                               (p->hi[1] - p->lo[1]),
                       "mid", number);
        storm_page_add(svg, "</g>\n");
    }
}

static bool slice_add_frames(const struct plot_picture *p,
                             const struct slice_layout *l,
                             struct storm_page *svg)
{
    bool good = true;
    if (p->image != NULL)
        storm_page_add(svg,
                       "<image class=\"frame\" x=\"%.2f\" y=\"%.2f\" "
                       "width=\"%.2f\" height=\"%.2f\" href=\"%s\"/>\n",
                       l->all.left, l->all.top, l->all.width, l->all.height,
                       p->image);
    for (size_t i = 0; i < l->n_frames && p->image == NULL; i++) {
        const struct plot_picture part = slice_part(p, i);
        good = good && cells_add(&part, &l->frame[i], svg);
        slice_add_numbers(&part, &l->frame[i], svg);
    }
    slice_add_names(p, l, svg);
    for (size_t i = 0; i < l->n_frames; i++)
        slice_add_axes(p, l, i, svg);
    return good;
}

/* ---- what colours mean --------------------------------------------------- */

static void slice_add_bar(const struct plot_picture *p,
                          const struct slice_layout *l, struct storm_page *svg)
{
    const struct cells_frame *frame = &l->all;
    const struct storm_svg_axis *ticks = &l->bar;
    const double left = frame->left + frame->width + SLICE_BAR_GAP;
    const double stripe = frame->height / SLICE_STRIPES;
    const double bottom = frame->top + frame->height;
    storm_page_add(svg, "<g shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < SLICE_STRIPES; i++)
        storm_page_add(svg,
                       "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" "
                       "height=\"%.2f\" fill=\"#%06x\"/>\n",
                       left, bottom - stripe * (i + 1), SLICE_BAR, stripe + 0.5,
                       cells_shade(p, (i + 0.5) / SLICE_STRIPES));
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
        plot_add_key(svg, left, top + STORM_CHART_ROW * (double)n, CELLS_BLANK,
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

char *plot_slice_svg(const struct plot_picture *p)
{
    struct storm_page svg = {0};
    struct slice_layout l;
    slice_fit(p, &l);
    double right = l.all.left + l.all.width + SLICE_BAR_GAP;
    double bottom = l.all.top + l.all.height + SLICE_FOOT;
    bool has_bar = p->n_categories == 0;
    double legend = has_bar ? bottom : l.all.top;
    if (has_bar && slice_n_keys(p) > 0)
        bottom += STORM_CHART_ROW;
    else if (!has_bar)
        bottom = fmax(bottom, l.all.top + 14 +
                                  STORM_CHART_ROW * (double)slice_n_keys(p));
    double beside =
        has_bar ? SLICE_BAR + 36 + l.bar.width : slice_legend_width(p);
    storm_svg_begin(&svg,
                    storm_chart_width(l.all.left, right + beside, p->title,
                                      p->subtitle),
                    bottom);
    storm_chart_head(&svg, l.all.left, p->title, p->subtitle);
    bool good = slice_add_frames(p, &l, &svg);
    if (has_bar)
        slice_add_bar(p, &l, &svg);
    slice_add_legend(p, has_bar ? l.all.left : right, legend, &svg);
    char *text = storm_svg_end(&svg);
    if (good)
        return text;
    free(text);
    return NULL;
}

void plot_slice_image(const struct plot_picture *p, struct storm_page *page)
{
    struct storm_memory *memory = p->slice->memory;
    unsigned palette[CELLS_COLOURS];
    struct slice_layout l;
    slice_fit(p, &l);
    const size_t width = (size_t)l.all.width, height = (size_t)l.all.height;
    unsigned char *grid =
        storm_alloc(memory, PLOT_LABEL, width * height); /* zeroed */
    bool good = grid != NULL;
    for (size_t i = 0; i < l.n_frames && good; i++) {
        const struct plot_picture part = slice_part(p, i);
        struct cells_frame frame = l.frame[i];
        frame.left -= l.all.left;
        frame.top -= l.all.top;
        good = cells_paint(&part, &frame, grid, width);
    }
    cells_palette(p, palette);
    if (good)
        storm_png_add(page, memory,
                      &(struct storm_png){.width = width,
                                          .height = height,
                                          .pixels = grid,
                                          .palette = palette,
                                          .n_colours = CELLS_COLOURS});
    else
        page->failed = true;
    storm_free(memory, grid);
}
