/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts of stacked bars, in groups. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "view/chart.h"
#include "view/chart_parts.h"
#include "view/svg.h"

/* Sizes on the canvas, in pixels. */
enum {
    BARS_WIDTH = 540, /* of the frame */
    BARS_THICK = 32,
    BARS_PITCH = 46,
    BARS_GROUP = 34, /* more above the first bar of a group */
    BARS_EDGE = 16,  /* above the first and below the last */
    BARS_BOTTOM = 72,
    BARS_MIN_HEIGHT = 78, /* height of the frame */
    BARS_VALUE_LETTERS = 12,
    BARS_N_TICKS = 6,
    BARS_TEXT = 1024 /* bytes of a label */
};

struct bars_frame {
    double left, top, height;
    struct storm_svg_scale scale;
};

static double bars_part(const struct storm_bar *bar, size_t k)
{
    double value = bar->values[k];
    return isfinite(value) && value > 0.0 ? value : 0.0;
}

static double bars_sum(const struct storm_bars *bars, size_t i)
{
    double sum = 0.0;
    for (size_t k = 0; k < bars->n_parts; k++)
        sum += bars_part(&bars->bars[i], k);
    return fmin(sum, DBL_MAX);
}

/* Does a new group begin with this bar? */
static bool bars_begins(const struct storm_bars *bars, size_t i)
{
    const char *group = bars->bars[i].group;
    const char *before = i > 0 ? bars->bars[i - 1].group : NULL;
    return group != NULL && (before == NULL || strcmp(group, before) != 0);
}

static struct bars_frame bars_layout(const struct storm_bars *bars)
{
    struct bars_frame frame = {.height = 2.0 * BARS_EDGE};
    double max = 0.0, widest = 0.0;
    for (size_t i = 0; i < bars->n_bars; i++) {
        const struct storm_bar *bar = &bars->bars[i];
        max = fmax(max, bars_sum(bars, i));
        widest = fmax(widest, storm_svg_width(bar->name, STORM_SVG_LETTERS));
        frame.height += BARS_PITCH + (bars_begins(bars, i) ? BARS_GROUP : 0.0);
    }
    frame.height = fmax(frame.height, BARS_MIN_HEIGHT);
    frame.left = fmax(60.0, 28.0 + widest);
    frame.top = storm_chart_top(bars->title, bars->subtitle);
    /* Room for the sum behind the longest bar. */
    double hi = max > 0.0 ? fmin(1.25 * max, DBL_MAX) : 1.0;
    frame.scale = storm_svg_scale(0.0, hi, false);
    frame.scale.lo = 0.0;
    return frame;
}

static double bars_x(const struct bars_frame *frame, double value)
{
    return frame->left + BARS_WIDTH * storm_svg_place(&frame->scale, value);
}

static void bars_add_axis(struct storm_page *svg,
                          const struct bars_frame *frame, const char *label)
{
    const double bottom = frame->top + frame->height;
    const struct storm_svg_axis axis =
        storm_svg_axis(&frame->scale, BARS_WIDTH, false, BARS_N_TICKS);
    const struct storm_svg_tick *ticks = axis.tick;
    char text[BARS_TEXT];
    for (size_t i = 0; i < axis.n; i++) {
        double x = bars_x(frame, ticks[i].value);
        storm_svg_line(svg, x, frame->top, 0, frame->height, "thin");
        storm_svg_line(svg, x, bottom, 0, 6, "line");
        if (ticks[i].label[0] != '\0')
            storm_svg_text(svg, x, bottom + 23, "mid", ticks[i].label);
    }
    storm_svg_axis_label(&axis, label, text, sizeof text);
    storm_svg_text(svg, frame->left + 0.5 * BARS_WIDTH, bottom + 50, "mid",
                   text);
}

static void bars_add_part(struct storm_page *svg, double x, double y,
                          double width, int colour)
{
    storm_page_add(svg,
                   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
                   "height=\"%d\" fill=\"#%06x\"/>\n",
                   x, y, width, BARS_THICK, storm_chart_colour(colour));
}

/* The number in the middle of a part, if it fits. */
static void bars_add_value(struct storm_page *svg, double x, double y,
                           double width, int colour, double value)
{
    char label[STORM_SVG_LABEL_BYTES];
    storm_svg_number(value, 3, label);
    if (storm_svg_width(label, BARS_VALUE_LETTERS) + 6.0 > width)
        return;
    storm_page_add(svg,
                   "<text x=\"%.1f\" y=\"%.1f\" class=\"mid\" "
                   "font-size=\"%d\" fill=\"%s\">%s</text>\n",
                   x + 0.5 * width, y + 0.5 * BARS_THICK + 4.0,
                   BARS_VALUE_LETTERS,
                   storm_chart_is_dark(colour) ? "#fff" : "#000", label);
}

static void bars_add_bar(struct storm_page *svg, const struct bars_frame *frame,
                         const struct storm_bars *bars, size_t i, double y)
{
    const struct storm_bar *bar = &bars->bars[i];
    double sum = 0.0, end = frame->left;
    for (size_t k = 0; k < bars->n_parts; k++) {
        double value = bars_part(bar, k);
        if (value == 0.0)
            continue;
        sum = fmin(sum + value, DBL_MAX);
        double x = end;
        end = bars_x(frame, sum);
        bars_add_part(svg, x, y, end - x, (int)k);
        if (bars->n_parts > 1)
            bars_add_value(svg, x, y, end - x, (int)k, value);
    }
    char label[STORM_SVG_LABEL_BYTES] = "no data";
    if (sum > 0.0)
        storm_svg_number(sum, 3, label);
    const double base = y + 0.5 * BARS_THICK + 5.0;
    storm_svg_text(svg, end + 7.0, base, "start", label);
    storm_svg_text(svg, frame->left - 11.0, base, "end", bar->name);
}

static void bars_add_legend(struct storm_page *svg,
                            const struct storm_bars *bars, double x, double top)
{
    for (size_t k = 0; k < bars->n_parts; k++) {
        double y = top + STORM_CHART_ROW * (double)k;
        storm_page_add(svg,
                       "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" "
                       "height=\"18\" fill=\"#%06x\"/>\n",
                       x, y + 4.0, storm_chart_colour((int)k));
        storm_svg_text(svg, x + 28.0, y + 18.0, "start", bars->parts[k]);
    }
}

char *storm_bars_svg(const struct storm_bars *bars)
{
    struct bars_frame frame = bars_layout(bars);
    struct storm_chart_box legend = {0.0, 0.0};
    for (size_t k = 0; bars->n_parts > 1 && k < bars->n_parts; k++)
        storm_chart_box_add(&legend, bars->parts[k]);
    const double right = frame.left + BARS_WIDTH;
    struct storm_page svg = {0};
    storm_svg_begin(&svg,
                    storm_chart_width(frame.left, right + legend.width,
                                      bars->title, bars->subtitle),
                    frame.top + fmax(frame.height, legend.height) +
                        BARS_BOTTOM);
    storm_chart_head(&svg, frame.left, bars->title, bars->subtitle);
    bars_add_axis(&svg, &frame, bars->label);
    double y = frame.top + BARS_EDGE + 0.5 * (BARS_PITCH - BARS_THICK);
    for (size_t i = 0; i < bars->n_bars; i++) {
        if (bars_begins(bars, i)) {
            storm_svg_text(&svg, frame.left + 8.0, y + 18.0, "sub",
                           bars->bars[i].group);
            y += BARS_GROUP;
        }
        bars_add_bar(&svg, &frame, bars, i, y);
        y += BARS_PITCH;
    }
    if (bars->n_bars == 0)
        storm_svg_text(&svg, frame.left + 0.5 * BARS_WIDTH,
                       frame.top + 0.5 * frame.height, "mid", "no data");
    storm_svg_frame(&svg, frame.left, frame.top, BARS_WIDTH, frame.height);
    if (bars->n_parts > 1)
        bars_add_legend(&svg, bars, right + STORM_CHART_GAP, frame.top);
    return storm_svg_end(&svg);
}
