/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/chart.h"

#include <math.h>

#include "view/chart_parts.h"
#include "view/colours.h"
#include "view/svg.h"

/* Sizes on the canvas, in pixels. */
enum {
    CHART_WIDTH = 540, /* of the frame */
    CHART_HEIGHT = 400,
    CHART_BOTTOM = 72, /* below it: ticks and label */
    CHART_LABEL = 56,  /* left of the numbers: label */
    CHART_N_TICKS = 6,
    CHART_BANDS = 3,  /* above each other */
    CHART_TEXT = 1024 /* bytes of a label */
};
static const double chart_margin = 0.04; /* around the data */

/* Layout around the data. */
struct chart_frame {
    double left, top;
    struct storm_svg_scale x, y;
    struct storm_svg_axis x_axis, y_axis;
    bool has_data, whole_x;
    bool y_from_zero; /* begins a little below 0, where nothing is */
    double opacity;   /* of bands: many are paler, so that lines are seen */
};

static double chart_x(const struct chart_frame *frame, double x)
{
    return frame->left + CHART_WIDTH * storm_svg_place(&frame->x, x);
}

static double chart_y(const struct chart_frame *frame, double y)
{
    return frame->top + CHART_HEIGHT * (1.0 - storm_svg_place(&frame->y, y));
}

/* ---- what the axes must cover -------------------------------------------- */

struct chart_range {
    double lo, hi;
};

static void chart_cover(struct chart_range *range,
                        const struct storm_svg_scale *scale, double value)
{
    if (!storm_svg_shows(scale, value))
        return;
    range->lo = fmin(range->lo, value);
    range->hi = fmax(range->hi, value);
}

static bool chart_shows(const struct chart_frame *frame,
                        const struct storm_chart_series *series, size_t i)
{
    return storm_svg_shows(&frame->x, series->x[i]) &&
           storm_svg_shows(&frame->y, series->y[i]) &&
           (series->style != STORM_CHART_STEPS ||
            storm_svg_shows(&frame->x, series->x[i + 1]));
}

static double chart_error(const struct storm_chart_series *series, size_t i)
{
    double error = series->error != NULL ? series->error[i] : 0.0;
    return isfinite(error) && error > 0.0 ? error : 0.0;
}

static double chart_band(const struct storm_chart_series *series, size_t i)
{
    double half = series->band != NULL ? series->band[i] : 0.0;
    return isfinite(half) && half > 0.0 ? half : 0.0;
}

static void chart_cover_series(struct chart_frame *frame,
                               const struct storm_chart_series *series,
                               struct chart_range *x, struct chart_range *y)
{
    for (size_t i = 0; i < series->n; i++) {
        if (frame->whole_x)
            chart_cover(x, &frame->x, series->x[i]);
        if (!chart_shows(frame, series, i))
            continue;
        frame->has_data = true;
        chart_cover(x, &frame->x, series->x[i]);
        if (series->style == STORM_CHART_STEPS)
            chart_cover(x, &frame->x, series->x[i + 1]);
        double error = chart_error(series, i), half = chart_band(series, i);
        if (series->style == STORM_CHART_STEPS) { /* drawn from 0 */
            half = fmax(half, error);
            error = 0.0;
        }
        chart_cover(y, &frame->y, series->y[i]);
        if (half > 0.0 && (series->y[i] < 0.0 || series->y[i] > half))
            chart_cover(y, &frame->y, series->y[i] - half);
        chart_cover(y, &frame->y, series->y[i] + half);
        chart_cover(y, &frame->y, series->y[i] - error);
        chart_cover(y, &frame->y, series->y[i] + error);
    }
}

static struct storm_svg_scale chart_scale(const struct storm_chart_axis *axis,
                                          struct chart_range range)
{
    bool from_zero = axis->from_zero && !axis->log && range.lo <= range.hi;
    if (from_zero) {
        range.lo = fmin(range.lo, 0.0);
        range.hi = fmax(range.hi, 0.0);
    }
    if (from_zero && range.lo == range.hi)
        range.hi = 1.0; /* only zeros: nothing below 0 */
    struct storm_svg_scale scale =
        storm_svg_scale(range.lo, range.hi, axis->log);
    bool at_zero = from_zero && scale.lo == 0.0;
    scale = storm_svg_widen(scale, chart_margin);
    if (at_zero) /* a line at 0 is seen above the frame */
        scale.lo = -0.75 * chart_margin * scale.hi;
    return scale;
}

/* Round numbers, or those asked for that are inside, if not too many. */
static struct storm_svg_axis chart_axis(const struct storm_chart_axis *axis,
                                        const struct storm_svg_scale *scale,
                                        double pixels, bool upright)
{
    struct storm_svg_axis out = {.scale = *scale};
    bool given = axis->n_ticks <= STORM_SVG_MAX_TICKS;
    for (size_t i = 0; given && i < axis->n_ticks; i++) {
        if (!storm_svg_shows(scale, axis->ticks[i]))
            continue;
        double place = storm_svg_place(scale, axis->ticks[i]);
        if (!(place >= 0.0 && place <= 1.0))
            continue;
        out.tick[out.n].value = axis->ticks[i];
        storm_svg_number(axis->ticks[i], 6, out.tick[out.n].label);
        out.n++;
    }
    if (out.n == 0)
        return storm_svg_axis(scale, pixels, upright, CHART_N_TICKS);
    storm_svg_axis_fit(&out, pixels, upright);
    return out;
}

static struct chart_frame chart_layout(const struct storm_chart *chart)
{
    struct chart_frame frame = {.x.log = chart->x.log,
                                .y.log = chart->y.log,
                                .whole_x = chart->x.whole};
    struct chart_range x = {(double)INFINITY, (double)-INFINITY}, y = x;
    for (size_t i = 0; i < chart->n_series; i++)
        chart_cover_series(&frame, &chart->series[i], &x, &y);
    frame.x = chart_scale(&chart->x, x);
    frame.y = chart_scale(&chart->y, y);
    frame.y_from_zero = chart->y.from_zero && !chart->y.log && y.lo >= 0.0;
    frame.x_axis = chart_axis(&chart->x, &frame.x, CHART_WIDTH, false);
    frame.y_axis = chart_axis(&chart->y, &frame.y, CHART_HEIGHT, true);
    size_t n_bands = 0;
    for (size_t i = 0; i < chart->n_series; i++)
        n_bands += chart->series[i].band != NULL;
    frame.opacity = n_bands > CHART_BANDS ? 0.12 : 0.25;
    frame.left = CHART_LABEL + frame.y_axis.width;
    frame.top = storm_chart_top(chart->title, chart->subtitle);
    return frame;
}

/* ---- axes ---------------------------------------------------------------- */

static void chart_add_x_axis(struct storm_page *svg,
                             const struct chart_frame *frame, const char *label)
{
    const double bottom = frame->top + CHART_HEIGHT;
    char text[CHART_TEXT];
    for (size_t i = 0; i < frame->x_axis.n; i++) {
        const struct storm_svg_tick *tick = &frame->x_axis.tick[i];
        double x = chart_x(frame, tick->value);
        storm_svg_line(svg, x, frame->top, 0, CHART_HEIGHT, "thin");
        storm_svg_line(svg, x, bottom, 0, 6, "line");
        if (tick->label[0] != '\0')
            storm_svg_text(svg, x, bottom + 23, "mid", tick->label);
    }
    storm_svg_axis_label(&frame->x_axis, label, text, sizeof text);
    storm_svg_text(svg, frame->left + 0.5 * CHART_WIDTH, bottom + 50, "mid",
                   text);
}

static void chart_add_y_axis(struct storm_page *svg,
                             const struct chart_frame *frame, const char *label)
{
    char text[CHART_TEXT];
    for (size_t i = 0; i < frame->y_axis.n; i++) {
        const struct storm_svg_tick *tick = &frame->y_axis.tick[i];
        double y = chart_y(frame, tick->value);
        storm_svg_line(svg, frame->left, y, CHART_WIDTH, 0, "thin");
        storm_svg_line(svg, frame->left, y, -6, 0, "line");
        if (tick->label[0] != '\0')
            storm_svg_text(svg, frame->left - 11, y + 5, "end", tick->label);
    }
    storm_svg_axis_label(&frame->y_axis, label, text, sizeof text);
    storm_svg_text_up(svg, 26, frame->top + 0.5 * CHART_HEIGHT, text);
}

/* ---- series -------------------------------------------------------------- */

static bool chart_has_line(storm_chart_style style)
{
    return style != STORM_CHART_POINTS;
}

static bool chart_has_markers(storm_chart_style style)
{
    return style == STORM_CHART_POINTS || style == STORM_CHART_BOTH;
}

static unsigned chart_colour(const struct storm_chart_series *series)
{
    return series->order > 0.0 ? storm_colour_line(series->order)
                               : storm_chart_colour(series->colour);
}

static unsigned chart_line_colour(const struct storm_chart_series *series)
{
    const double shade = 0.5;
    unsigned rgb = chart_colour(series), darker = 0;
    for (int k = 16; k >= 0; k -= 8)
        darker |= (unsigned)lround(shade * (double)(rgb >> k & 0xff)) << k;
    return series->style == STORM_CHART_TWIN ? darker : rgb;
}

/* Dashes of a line on top of n others; a reference has its own. */
static const char *chart_dashes(const struct storm_chart_series *series,
                                size_t n_below)
{
    if (series->style == STORM_CHART_REFERENCE ||
        series->style == STORM_CHART_TWIN)
        return " stroke-dasharray=\"7 5\"";
    return n_below == 0   ? ""
           : n_below == 1 ? " stroke-dasharray=\"10 10\""
                          : " stroke-dasharray=\"4 16\" "
                            "stroke-dashoffset=\"-13\"";
}

/* Round ends: a piece that is shorter than the line is wide is seen. */
static void chart_line_class(struct storm_page *svg,
                             const struct storm_chart_series *series,
                             size_t n_below)
{
    bool thin = series->style == STORM_CHART_REFERENCE ||
                series->style == STORM_CHART_TWIN;
    const char *dashes = chart_dashes(series, n_below);
    storm_page_add(svg,
                   " fill=\"none\" stroke=\"#%06x\" stroke-width=\"%s\" "
                   "stroke-linejoin=\"round\"%s/>\n",
                   chart_line_colour(series), thin ? "1.6" : "2.2",
                   *dashes != '\0' ? dashes : " stroke-linecap=\"round\"");
}

/* Do two lines look like one? */
static bool chart_same_line(const struct chart_frame *frame,
                            const struct storm_chart_series *a,
                            const struct storm_chart_series *b)
{
    const double apart = 2.2; /* pixels: a line's width */
    bool any = false;
    if (!chart_has_line(a->style) || a->style != b->style || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        bool shows = chart_shows(frame, b, i);
        if (chart_shows(frame, a, i) != shows)
            return false;
        if (!shows)
            continue;
        if (fabs(chart_x(frame, a->x[i]) - chart_x(frame, b->x[i])) > apart ||
            fabs(chart_y(frame, a->y[i]) - chart_y(frame, b->y[i])) > apart)
            return false;
        any = true;
    }
    return any;
}

/* CHART-6: how many earlier ones lie below a line. */
static size_t chart_n_below(const struct chart_frame *frame,
                            const struct storm_chart *chart, size_t k)
{
    size_t n = 0;
    for (size_t i = 0; i < k; i++)
        n += chart_same_line(frame, &chart->series[i], &chart->series[k]);
    return n;
}

/* With gaps where a value cannot be drawn (CHART-2). */
static void chart_add_path(struct storm_page *svg,
                           const struct chart_frame *frame,
                           const struct storm_chart_series *series,
                           size_t n_below)
{
    bool down = false, any = false;
    for (size_t i = 0; i < series->n; i++) {
        if (!chart_shows(frame, series, i)) {
            down = false;
            continue;
        }
        storm_page_add(svg, "%s%s%.2f %.2f", any ? "" : "<path d=\"",
                       down ? "L" : "M", chart_x(frame, series->x[i]),
                       chart_y(frame, series->y[i]));
        if (series->style == STORM_CHART_STEPS)
            storm_page_add(svg, "H%.2f", chart_x(frame, series->x[i + 1]));
        down = any = true;
    }
    if (any) {
        storm_page_add(svg, "\"");
        chart_line_class(svg, series, n_below);
    }
}

/* Inside the frame. */
static double chart_edge(const struct chart_frame *frame, double y)
{
    double bottom = frame->top + CHART_HEIGHT;
    if (!storm_svg_shows(&frame->y, y))
        return bottom;
    if (frame->y_from_zero)
        y = fmax(y, 0.0);
    return fmin(fmax(chart_y(frame, y), frame->top), bottom);
}

/* One piece of a band, between two gaps: there above the line, back below. */
static void chart_add_piece(struct storm_page *svg,
                            const struct chart_frame *frame,
                            const struct storm_chart_series *series,
                            size_t first, size_t end)
{
    bool stairs = series->style == STORM_CHART_STEPS;
    storm_page_add(svg, "<path d=\"");
    for (size_t i = first; i < end; i++) {
        storm_page_add(svg, "%s%.2f %.2f", i == first ? "M" : "L",
                       chart_x(frame, series->x[i]),
                       chart_edge(frame, series->y[i] + chart_band(series, i)));
        if (stairs)
            storm_page_add(svg, "H%.2f", chart_x(frame, series->x[i + 1]));
    }
    for (size_t i = end; i-- > first;) {
        storm_page_add(svg, "L%.2f %.2f",
                       chart_x(frame, series->x[stairs ? i + 1 : i]),
                       chart_edge(frame, series->y[i] - chart_band(series, i)));
        if (stairs)
            storm_page_add(svg, "H%.2f", chart_x(frame, series->x[i]));
    }
    storm_page_add(svg, "Z\" fill=\"#%06x\" fill-opacity=\"%g\"/>\n",
                   chart_colour(series), frame->opacity);
}

static void chart_add_band(struct storm_page *svg,
                           const struct chart_frame *frame,
                           const struct storm_chart_series *series)
{
    size_t end;
    for (size_t i = 0; i < series->n; i = end + 1) {
        for (end = i; end < series->n && chart_shows(frame, series, end);)
            end++;
        if (end > i + (series->style == STORM_CHART_STEPS ? 0 : 1))
            chart_add_piece(svg, frame, series, i, end);
    }
}

/* Of a stair, within its bin: those of several series side by side. */
static double chart_error_x(const struct chart_frame *frame,
                            const struct storm_chart_series *series, size_t i)
{
    const double n_places = 9.0;
    double x = chart_x(frame, series->x[i]);
    if (series->style != STORM_CHART_STEPS)
        return x;
    double width = chart_x(frame, series->x[i + 1]) - x;
    return x + width * (double)(series->colour % 8 + 1) / n_places;
}

static void chart_add_errors(struct storm_page *svg,
                             const struct chart_frame *frame,
                             const struct storm_chart_series *series)
{
    for (size_t i = 0; i < series->n; i++) {
        double error = chart_error(series, i);
        if (!chart_shows(frame, series, i) || error == 0.0)
            continue;
        /* On a logarithmic axis the lower end may not be positive. */
        double x = chart_error_x(frame, series, i);
        double cap = series->style == STORM_CHART_STEPS ? 1.5 : 4.0;
        double y = series->y[i], floor_y = frame->top + CHART_HEIGHT;
        double end = frame->y_from_zero ? fmax(y - error, 0.0) : y - error;
        double low =
            storm_svg_shows(&frame->y, end) ? chart_y(frame, end) : floor_y;
        double high = storm_svg_shows(&frame->y, y + error)
                          ? chart_y(frame, y + error)
                          : frame->top;
        storm_page_add(svg,
                       "<path d=\"M%.2f %.2fV%.2fm%g 0h%g\" fill=\"none\" "
                       "stroke=\"#%06x\" stroke-width=\"1.3\"/>\n",
                       x, low, high, -cap, 2.0 * cap, chart_colour(series));
        if (low < floor_y)
            storm_page_add(svg,
                           "<path d=\"M%.2f %.2fh%g\" stroke=\"#%06x\" "
                           "stroke-width=\"1.3\"/>\n",
                           x - cap, low, 2.0 * cap, chart_colour(series));
    }
}

/* A point between two gaps has no line: it needs a marker in any case. */
static bool chart_is_alone(const struct chart_frame *frame,
                           const struct storm_chart_series *series, size_t i)
{
    bool before = i > 0 && chart_shows(frame, series, i - 1);
    bool after = i + 1 < series->n && chart_shows(frame, series, i + 1);
    return series->style != STORM_CHART_STEPS && !before && !after;
}

static void chart_add_markers(struct storm_page *svg,
                              const struct chart_frame *frame,
                              const struct storm_chart_series *series)
{
    for (size_t i = 0; i < series->n; i++)
        if (chart_shows(frame, series, i) &&
            (chart_has_markers(series->style) ||
             chart_is_alone(frame, series, i)))
            storm_chart_marker(svg, chart_x(frame, series->x[i]),
                               chart_y(frame, series->y[i]), series->colour,
                               chart_colour(series));
}

/* ---- legend -------------------------------------------------------------- */

static void chart_add_legend(struct storm_page *svg,
                             const struct chart_frame *frame,
                             const struct storm_chart *chart, double x)
{
    double y = frame->top + 0.5 * STORM_CHART_ROW;
    for (size_t i = 0; i < chart->n_series; i++) {
        const struct storm_chart_series *series = &chart->series[i];
        if (series->name == NULL)
            continue;
        if (chart_has_line(series->style)) {
            storm_page_add(svg, "<path d=\"M%.2f %.2fh%d\"", x, y,
                           STORM_CHART_SAMPLE);
            chart_line_class(svg, series, chart_n_below(frame, chart, i));
        }
        if (chart_has_markers(series->style))
            storm_chart_marker(svg, x + 0.5 * STORM_CHART_SAMPLE, y,
                               series->colour, chart_colour(series));
        storm_svg_text(svg, x + STORM_CHART_SAMPLE + 10, y + 5, "start",
                       series->name);
        y += STORM_CHART_ROW;
    }
}

static struct storm_chart_box chart_legend_box(const struct storm_chart *chart)
{
    struct storm_chart_box box = {0.0, 0.0};
    for (size_t i = 0; i < chart->n_series; i++)
        storm_chart_box_add(&box, chart->series[i].name);
    return box;
}

char *storm_chart_svg(const struct storm_chart *chart)
{
    struct chart_frame frame = chart_layout(chart);
    struct storm_chart_box legend = chart_legend_box(chart);
    const double right = frame.left + CHART_WIDTH;
    struct storm_page svg = {0};
    storm_svg_begin(&svg,
                    storm_chart_width(frame.left, right + legend.width,
                                      chart->title, chart->subtitle),
                    frame.top + fmax(CHART_HEIGHT, legend.height) +
                        CHART_BOTTOM);
    storm_chart_head(&svg, frame.left, chart->title, chart->subtitle);
    chart_add_x_axis(&svg, &frame, chart->x.label);
    chart_add_y_axis(&svg, &frame, chart->y.label);
    for (size_t i = 0; i < chart->n_series; i++)
        if (chart->series[i].band != NULL)
            chart_add_band(&svg, &frame, &chart->series[i]);
    for (size_t i = 0; i < chart->n_series; i++) {
        if (chart_has_line(chart->series[i].style))
            chart_add_path(&svg, &frame, &chart->series[i],
                           chart_n_below(&frame, chart, i));
        chart_add_errors(&svg, &frame, &chart->series[i]);
        chart_add_markers(&svg, &frame, &chart->series[i]);
    }
    if (!frame.has_data)
        storm_svg_text(&svg, frame.left + 0.5 * CHART_WIDTH,
                       frame.top + 0.5 * CHART_HEIGHT, "mid", "no data");
    storm_svg_frame(&svg, frame.left, frame.top, CHART_WIDTH, CHART_HEIGHT);
    chart_add_legend(&svg, &frame, chart, right + STORM_CHART_GAP);
    return storm_svg_end(&svg);
}
