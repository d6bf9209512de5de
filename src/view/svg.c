/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/svg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void storm_svg_begin(struct storm_page *svg, double width, double height)
{
    storm_page_add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
        "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"'DejaVu "
        "Sans', Helvetica, Arial, sans-serif\" font-size=\"%d\">\n"
        "<style>.mid{text-anchor:middle}.end{text-anchor:end}"
        ".title{font-size:%dpx;font-weight:bold}.sub{font-size:%dpx;"
        "fill:#555}.line{fill:none;stroke:#222;stroke-width:1.2}"
        ".thin{fill:none;stroke:#ddd;stroke-width:1}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height, STORM_SVG_LETTERS,
        STORM_SVG_TITLE_LETTERS, STORM_SVG_SUB_LETTERS);
}

char *storm_svg_end(struct storm_page *svg)
{
    storm_page_add(svg, "</svg>\n");
    return storm_page_end(svg);
}

void storm_svg_text(struct storm_page *svg, double x, double y,
                    const char *class, const char *text)
{
    storm_page_add(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y,
                   class);
    storm_page_add_xml(svg, text);
    storm_page_add(svg, "</text>\n");
}

void storm_svg_text_up(struct storm_page *svg, double x, double y,
                       const char *text)
{
    storm_page_add(svg,
                   "<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
                   "class=\"mid\">",
                   x, y);
    storm_page_add_xml(svg, text);
    storm_page_add(svg, "</text>\n");
}

void storm_svg_line(struct storm_page *svg, double x, double y, double dx,
                    double dy, const char *class)
{
    storm_page_add(svg, "<path d=\"M%.2f %.2fl%.2f %.2f\" class=\"%s\"/>\n", x,
                   y, dx, dy, class);
}

void storm_svg_frame(struct storm_page *svg, double x, double y, double width,
                     double height)
{
    storm_page_add(svg,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                   "height=\"%.1f\" class=\"line\"/>\n",
                   x, y, width, height);
}

double storm_svg_width(const char *text, double letters)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* starts a character */
    /* DejaVu Sans: digits take 0.64 of the size, letters 0.6 in the mean. */
    return 0.64 * letters * (double)n;
}

/* ---- scales -------------------------------------------------------------- */

/* Narrower scales, relative to the larger end, have no digits left for ticks;
 * smaller values count as 0. */
static const double svg_narrowest = 1e-11;
static const double svg_dust = 1e-290;

static struct storm_svg_scale svg_linear(double lo, double hi)
{
    double largest = fmax(fabs(lo), fabs(hi));
    if (largest < svg_dust)
        return (struct storm_svg_scale){-1.0, 1.0, false};
    if (0.5 * hi - 0.5 * lo < svg_narrowest * largest) {
        double middle = 0.5 * lo + 0.5 * hi;
        lo = fmax(middle - 0.1 * largest, -DBL_MAX);
        hi = fmin(middle + 0.1 * largest, DBL_MAX);
    }
    return (struct storm_svg_scale){lo, hi, false};
}

static struct storm_svg_scale svg_log(double lo, double hi)
{
    if (log(hi) - log(lo) < svg_narrowest) {
        lo = fmax(lo / 2.0, DBL_MIN);
        hi = fmin(hi * 2.0, DBL_MAX);
    }
    return (struct storm_svg_scale){lo, hi, true};
}

struct storm_svg_scale storm_svg_scale(double lo, double hi, bool log)
{
    const double min = log ? DBL_MIN : -DBL_MAX;
    bool has_lo = isfinite(lo) && lo >= min;
    bool has_hi = isfinite(hi) && hi >= min;
    if (!has_lo && !has_hi)
        return log ? svg_log(1.0, 1.0) : svg_linear(0.0, 0.0);
    if (!has_lo)
        lo = hi;
    if (!has_hi)
        hi = lo;
    return log ? svg_log(fmin(lo, hi), fmax(lo, hi))
               : svg_linear(fmin(lo, hi), fmax(lo, hi));
}

/* Halves: the width of a scale may be more than the largest number. */
double storm_svg_place(const struct storm_svg_scale *scale, double value)
{
    if (scale->log)
        return (log(value) - log(scale->lo)) /
               (log(scale->hi) - log(scale->lo));
    return (0.5 * value - 0.5 * scale->lo) /
           (0.5 * scale->hi - 0.5 * scale->lo);
}

bool storm_svg_shows(const struct storm_svg_scale *scale, double value)
{
    return isfinite(value) && (!scale->log || value >= DBL_MIN);
}

struct storm_svg_scale storm_svg_widen(struct storm_svg_scale scale,
                                       double part)
{
    if (scale.log) {
        double by = exp(part * (log(scale.hi) - log(scale.lo)));
        scale.lo = fmax(scale.lo / by, DBL_MIN);
        scale.hi = fmin(scale.hi * by, DBL_MAX);
    } else {
        double by = 2.0 * part * (0.5 * scale.hi - 0.5 * scale.lo);
        scale.lo = fmax(scale.lo - by, -DBL_MAX);
        scale.hi = fmin(scale.hi + by, DBL_MAX);
    }
    return scale;
}

/* ---- ticks --------------------------------------------------------------- */

static const char *const svg_high_digits[] = {"⁰", "¹", "²", "³", "⁴",
                                              "⁵", "⁶", "⁷", "⁸", "⁹"};

void storm_svg_number(double value, int digits,
                      char label_out[STORM_SVG_LABEL_BYTES])
{
    char text[STORM_SVG_LABEL_BYTES];
    snprintf(text, sizeof text, "%.*g", digits < 15 ? digits : 15, value);
    char *e = strchr(text, 'e');
    if (e == NULL) {
        memcpy(label_out, text, sizeof text);
        return;
    }
    *e = '\0';
    const char *mantissa = text;
    bool one = strcmp(mantissa, "1") == 0, minus = strcmp(mantissa, "-1") == 0;
    int n = snprintf(label_out, STORM_SVG_LABEL_BYTES, "%s%s10%s",
                     one ? "" : (minus ? "-" : mantissa),
                     one || minus ? "" : "×", e[1] == '-' ? "⁻" : "");
    const char *power = e + 2;
    while (*power == '0')
        power++;
    for (; *power != '\0' && n < STORM_SVG_LABEL_BYTES - 4; power++)
        n += snprintf(label_out + n, (size_t)(STORM_SVG_LABEL_BYTES - n), "%s",
                      svg_high_digits[*power - '0']);
}

/* The ticks so far. */
struct svg_ticks {
    struct storm_svg_tick *list;
    size_t n;
};

static void svg_add_tick(struct svg_ticks *ticks,
                         const struct storm_svg_scale *scale, double value,
                         int digits)
{
    const double slack = 1e-9;
    double place = storm_svg_place(scale, value);
    if (!(place >= -slack && place <= 1.0 + slack) ||
        ticks->n == STORM_SVG_MAX_TICKS)
        return;
    struct storm_svg_tick *tick = &ticks->list[ticks->n++];
    tick->value = value;
    storm_svg_number(value, digits, tick->label);
}

/* Multiples of 1, 2 or 5 times a power of ten. */
static void svg_linear_ticks(struct svg_ticks *ticks,
                             const struct storm_svg_scale *scale, int n_wanted)
{
    double rough = 2.0 * ((0.5 * scale->hi - 0.5 * scale->lo) / n_wanted);
    double power = pow(10.0, floor(log10(rough)));
    double ratio = rough / power;
    double nice = ratio < 1.5   ? 1.0
                  : ratio < 3.5 ? 2.0
                  : ratio < 7.5 ? 5.0
                                : 10.0;
    double step = nice * power;
    double largest = fmax(fabs(scale->lo), fabs(scale->hi));
    int digits = (int)fmax(6.0, ceil(log10(largest / step)) + 2.0);
    double first = ceil(scale->lo / step - 1e-9);
    double last = floor(scale->hi / step + 1e-9);
    for (double i = first; i <= last; i++)
        svg_add_tick(ticks, scale, i == 0.0 ? 0.0 : i * step, digits);
}

/* How many multiples of it are in between? */
static double svg_n_multiples(double lo, double hi, double stride)
{
    return floor(hi / stride) - ceil(lo / stride) + 1.0;
}

/* "10⁻⁴", "1", "10¹" */
static void svg_power(double power, char label_out[STORM_SVG_LABEL_BYTES])
{
    char digits[16];
    snprintf(digits, sizeof digits, "%.0f", fabs(power));
    int n = snprintf(label_out, STORM_SVG_LABEL_BYTES, "%s%s",
                     power == 0.0 ? "1" : "10", power < 0.0 ? "⁻" : "");
    for (const char *d = digits; power != 0.0 && *d != '\0'; d++)
        n += snprintf(label_out + n, (size_t)(STORM_SVG_LABEL_BYTES - n), "%s",
                      svg_high_digits[*d - '0']);
}

/* Powers of ten, every one or every second, ...; all are written alike. */
static void svg_power_ticks(struct svg_ticks *ticks,
                            const struct storm_svg_scale *scale, double stride)
{
    const double plain = 3.5; /* powers up to there are written out */
    double lo = log10(scale->lo), hi = log10(scale->hi);
    bool short_ones = fmax(fabs(lo), fabs(hi)) < plain;
    for (double i = ceil(lo / stride); i <= floor(hi / stride); i++) {
        size_t before = ticks->n;
        svg_add_tick(ticks, scale, pow(10.0, i * stride), 4);
        if (ticks->n > before && !short_ones)
            svg_power(i * stride, ticks->list[before].label);
    }
}

/* 1, 2 and 5 times powers of ten. */
static void svg_short_log_ticks(struct svg_ticks *ticks,
                                const struct storm_svg_scale *scale)
{
    double last = ceil(log10(scale->hi));
    for (double i = floor(log10(scale->lo)); i <= last; i++) {
        svg_add_tick(ticks, scale, pow(10.0, i), 3);
        svg_add_tick(ticks, scale, 2.0 * pow(10.0, i), 3);
        svg_add_tick(ticks, scale, 5.0 * pow(10.0, i), 3);
    }
}

/* Never fewer than three: with more of them than wanted, rather than with
 * round numbers, which would all be at the upper end. */
static void svg_log_ticks(struct svg_ticks *ticks,
                          const struct storm_svg_scale *scale, int n_wanted)
{
    const double few = 2.2; /* decades */
    double lo = log10(scale->lo), hi = log10(scale->hi);
    double stride = fmax(ceil((hi - lo) / (double)n_wanted), 1.0);
    while (stride > 1.0 && svg_n_multiples(lo, hi, stride) < 3.0)
        stride--;
    if (hi - lo < few || svg_n_multiples(lo, hi, stride) < 3.0)
        svg_short_log_ticks(ticks, scale);
    else
        svg_power_ticks(ticks, scale, stride);
}

size_t storm_svg_ticks(const struct storm_svg_scale *scale, int n_wanted,
                       struct storm_svg_tick ticks_out[STORM_SVG_MAX_TICKS])
{
    struct svg_ticks ticks = {.list = ticks_out};
    if (scale->log)
        svg_log_ticks(&ticks, scale, n_wanted);
    if (ticks.n >= 3)
        return ticks.n;
    /* less than a decade: linear ticks are better */
    for (ticks.n = 0; ticks.n < 3 && n_wanted <= STORM_SVG_MAX_TICKS;
         n_wanted++) {
        ticks.n = 0;
        svg_linear_ticks(&ticks, scale, n_wanted);
    }
    return ticks.n;
}

/* ---- room for labels ----------------------------------------------------- */

/* An axis on the canvas with the labels that stay. */
struct svg_row {
    const struct storm_svg_scale *scale;
    double pixels;
    bool upright;
    const struct storm_svg_tick *ticks;
    size_t n;
    bool stays[STORM_SVG_MAX_TICKS];
};

/* Pixels between the middles of two labels, and how many they need. */
static double svg_apart(const struct svg_row *row, size_t i, size_t k)
{
    return row->pixels * fabs(storm_svg_place(row->scale, row->ticks[i].value) -
                              storm_svg_place(row->scale, row->ticks[k].value));
}

static double svg_need(const struct svg_row *row, size_t i, size_t k)
{
    const double gap = 6.0;
    if (row->upright)
        return STORM_SVG_LETTERS;
    return gap + 0.5 * storm_svg_width(row->ticks[i].label, STORM_SVG_LETTERS) +
           0.5 * storm_svg_width(row->ticks[k].label, STORM_SVG_LETTERS);
}

/* Does a label touch one of those that stay? */
static bool svg_touches(const struct svg_row *row, size_t i)
{
    for (size_t k = 0; k < row->n; k++)
        if (row->stays[k] && svg_apart(row, i, k) < svg_need(row, i, k))
            return true;
    return false;
}

/* Is it a power of ten on a logarithmic scale? Those go first. */
static bool svg_goes_first(const struct storm_svg_scale *scale, double value)
{
    double power = scale->log ? log10(value) : 0.5;
    return fabs(power - round(power)) < 1e-9;
}

/* Every k-th label of a linear scale, 0 among them: the first k for which none
 * touch. Leaves at least two, or returns false. */
static bool svg_thin_out(struct svg_row *row)
{
    if (row->scale->log || row->n < 3)
        return false;
    double step = row->ticks[1].value - row->ticks[0].value;
    for (size_t k = 1; k < row->n; k++) {
        size_t n_left = 0;
        bool touches = false;
        memset(row->stays, 0, sizeof row->stays);
        for (size_t i = 0; i < row->n; i++) {
            double number = round(row->ticks[i].value / step);
            if (fmod(number, (double)k) != 0.0)
                continue;
            touches = touches || svg_touches(row, i);
            row->stays[i] = true;
            n_left++;
        }
        if (!touches && n_left > 1)
            return true;
    }
    memset(row->stays, 0, sizeof row->stays);
    return false;
}

void storm_svg_clear(const struct storm_svg_scale *scale, double pixels,
                     bool upright, struct storm_svg_tick *ticks, size_t n)
{
    struct svg_row row = {.scale = scale,
                          .pixels = pixels,
                          .upright = upright,
                          .ticks = ticks,
                          .n = n};
    bool is_done = svg_thin_out(&row);
    for (int round = 0; round < 2 && !is_done; round++)
        for (size_t i = 0; i < n; i++)
            if (svg_goes_first(scale, ticks[i].value) == (round == 0))
                row.stays[i] = !svg_touches(&row, i);
    for (size_t i = 0; i < n; i++)
        if (!row.stays[i])
            ticks[i].label[0] = '\0';
}

/* ---- axes ---------------------------------------------------------------- */

/* Labels of a linear scale without the power of ten of the largest, if that is
 * far from 1 and the rest has few digits. */
static void svg_take_power(struct storm_svg_axis *axis)
{
    const double large = 1e5, small = 1e-3;
    enum { DIGITS = 6 };
    double largest = 0.0;
    for (size_t i = 0; i < axis->n; i++)
        largest = fmax(largest, fabs(axis->tick[i].value));
    bool far = largest >= large || (largest > 0.0 && largest < small);
    if (axis->scale.log || axis->n < 2 || !far || largest < svg_dust)
        return;
    double step = axis->tick[1].value - axis->tick[0].value;
    if (!(log10(largest / step) < DIGITS - 2))
        return;
    axis->power = (int)floor(log10(largest) + 1e-9);
    for (size_t i = 0; i < axis->n; i++) {
        int halves[2] = {axis->power / 2, axis->power - axis->power / 2};
        double rest = axis->tick[i].value / pow(10.0, halves[0]);
        storm_svg_number(rest / pow(10.0, halves[1]), DIGITS,
                         axis->tick[i].label);
    }
}

void storm_svg_axis_fit(struct storm_svg_axis *axis, double pixels,
                        bool upright)
{
    svg_take_power(axis);
    storm_svg_clear(&axis->scale, pixels, upright, axis->tick, axis->n);
    axis->width = 0.0;
    for (size_t i = 0; i < axis->n; i++)
        axis->width = fmax(axis->width, storm_svg_width(axis->tick[i].label,
                                                        STORM_SVG_LETTERS));
}

struct storm_svg_axis storm_svg_axis(const struct storm_svg_scale *scale,
                                     double pixels, bool upright, int n_wanted)
{
    struct storm_svg_axis axis = {.scale = *scale};
    axis.n = storm_svg_ticks(scale, n_wanted, axis.tick);
    storm_svg_axis_fit(&axis, pixels, upright);
    return axis;
}

void storm_svg_axis_label(const struct storm_svg_axis *axis, const char *label,
                          char *label_out, size_t bytes)
{
    char power[STORM_SVG_LABEL_BYTES];
    const char *unit = strrchr(label, '(');
    svg_power(axis->power, power);
    if (axis->power == 0)
        snprintf(label_out, bytes, "%s", label);
    else if (unit != NULL)
        snprintf(label_out, bytes, "%.*s(%s %s", (int)(unit - label), label,
                 power, unit + 1);
    else
        snprintf(label_out, bytes, "%s / %s", label, power);
}
