/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* CHART-1 to CHART-6 and SVG-1 to SVG-4. With a folder as argument, some
 * of the pictures are written there, for inspection. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/xml.h"
#include "view/chart.h"
#include "view/svg.h"

enum { N = 5 };

static const char *folder; /* for the pictures; NULL: none */

static void keep(const char *name, const char *svg)
{
    char path[512];
    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(svg, file);
    fclose(file);
}

/* Number behind `key`, from `at` on; not-a-number if there is none. */
static double number_after(const char *at, const char *key)
{
    const char *found = strstr(at, key);
    return found != NULL ? strtod(found + strlen(key), NULL) : (double)NAN;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

/* Well-formed, all numbers finite, every place on the canvas. */
static void check_picture(const char *svg)
{
    CHECK(svg != NULL);
    CHECK(test_xml_well_formed(svg));
    CHECK(strstr(svg, "nan") == NULL);
    CHECK(strstr(svg, "inf") == NULL);
    double width = number_after(svg, " width=\"");
    double height = number_after(svg, " height=\"");
    CHECK(width > 0.0 && width < 1e5 && height > 0.0 && height < 1e5);
    for (const char *at = svg; (at = strstr(at, "d=\"M")) != NULL; at++) {
        char *rest;
        double x = strtod(at + 4, &rest), y = strtod(rest, NULL);
        CHECK(x >= -0.1 && x <= width && y >= -0.1 && y <= height);
    }
    for (const char *at = svg; (at = strstr(at, "<text x=\"")) != NULL; at++) {
        double x = number_after(at, "x=\""), y = number_after(at, "y=\"");
        CHECK(x >= 0.0 && x <= width && y >= 0.0 && y <= height);
    }
}

/* The frame is the last rectangle with the class of lines. */
static void find_frame(const char *svg, double box_out[4])
{
    const char *at = svg, *last = NULL;
    while ((at = strstr(at, "<rect x=")) != NULL) {
        const char *end = strchr(at, '>');
        if (memmem(at, (size_t)(end - at), "class=\"line\"", 12) != NULL)
            last = at;
        at = end;
    }
    CHECK(last != NULL);
    box_out[0] = number_after(last, "x=\"");
    box_out[1] = number_after(last, "y=\"");
    box_out[2] = box_out[0] + number_after(last, "width=\"");
    box_out[3] = box_out[1] + number_after(last, "height=\"");
}

/* All corners of the series' line, which begins with the stroke's colour
 * behind it, are inside the frame. Returns how many. */
static int corners_inside(const char *svg, const char *colour)
{
    double box[4];
    int n = 0;
    find_frame(svg, box);
    for (const char *at = svg; (at = strstr(at, "<path d=\"M")) != NULL;) {
        const char *end = strchr(at, '>');
        const char *d = at + 9, *quote = strchr(d, '"');
        bool wanted =
            memmem(quote, (size_t)(end - quote), colour, strlen(colour)) &&
            memmem(quote, (size_t)(end - quote), "linejoin", 8);
        bool sample = memchr(d, 'h', (size_t)(quote - d)) != NULL;
        while (wanted && !sample && d < quote) {
            char *rest;
            double x = strtod(d + 1, &rest), y = strtod(rest, &rest);
            CHECK(x >= box[0] - 0.01 && x <= box[2] + 0.01);
            CHECK(y >= box[1] - 0.01 && y <= box[3] + 0.01);
            d = rest;
            n++;
        }
        at = end;
    }
    return n;
}

static void test_lines(void)
{
    const double ranks[N] = {1, 2, 4, 8, 16};
    const double shm[N] = {8.1, 4.2, 2.2, 1.2, 0.71};
    const double p2p[N] = {8.2, 4.6, 2.6, 1.5, 1.0};
    const double ideal[N] = {8.1, 4.05, 2.025, 1.0125, 0.50625};
    const double error[N] = {0.4, 0.2, 0.1, 0.1, 0.05};
    const struct storm_chart_series series[] = {
        {"shm", STORM_CHART_BOTH, 0, N, ranks, shm, error, NULL, 0},
        {"p2p", STORM_CHART_BOTH, 1, N, ranks, p2p, NULL, NULL, 0},
        {"ideal", STORM_CHART_REFERENCE, 7, N, ranks, ideal, NULL, NULL, 0},
    };
    struct storm_chart chart = {
        .title = "Strong scaling",
        .subtitle = "uniform emission, 5,000 cells per rank",
        .x = {.label = "ranks", .log = true, .ticks = ranks, .n_ticks = N},
        .y = {.label = "time per cycle (s)", .log = true},
        .series = series,
        .n_series = 3,
    };
    char *svg = storm_chart_svg(&chart), *again = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_TEXT(svg, again);
    keep("lines", svg);
    CHECK_EQ(corners_inside(svg, "#0072b2"), N);
    CHECK_EQ(corners_inside(svg, "#222222"), N);
    /* Markers of two series, and one each in the legend. */
    CHECK_EQ(count(svg, "stroke=\"#fff\""), 2 * N + 2);
    CHECK_EQ(count(svg, "stroke-dasharray"), 2);
    CHECK(strstr(svg, ">16</text>") != NULL);
    /* The legend is to the right of the frame. */
    double box[4];
    find_frame(svg, box);
    const char *entry = strstr(svg, ">ideal</text>");
    while (*entry != '<')
        entry--;
    CHECK(number_after(entry, "x=\"") > box[2]);
    free(svg);
    free(again);
}

/* Gaps: the others stay as they were; what is between gaps is still seen. */
static void test_gaps(void)
{
    const double x[7] = {0, 1, 2, 3, 4, 5, 6};
    const double y[7] = {1, 2, (double)NAN, 3, (double)INFINITY, -1, 4};
    struct storm_chart_series series = {
        "a", STORM_CHART_LINE, 0, 7, x, y, NULL, NULL, 0};
    struct storm_chart chart = {
        .x.label = "x", .y.label = "y", .series = &series, .n_series = 1};
    char *svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_EQ(corners_inside(svg, "#0072b2"), 5);
    CHECK_EQ(count(svg, "stroke=\"#fff\""), 1); /* the lone (3, 3) */
    free(svg);
    chart.y.log = true;
    svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_EQ(corners_inside(svg, "#0072b2"), 4); /* without -1 */
    free(svg);
}

/* An axis that is whole has places without values, too; ends are round, so that
 * a piece shorter than the line is wide is seen. */
static void test_whole(void)
{
    const double x[4] = {0, 1, 2, 3};
    const double y[4] = {(double)NAN, 1, 2, (double)NAN};
    const struct storm_chart_series series = {
        .name = "s", .n = 4, .x = x, .y = y};
    struct storm_chart chart = {
        .x.label = "x", .y.label = "y", .series = &series, .n_series = 1};
    double place[2][2], box[4];
    for (int whole = 0; whole < 2; whole++) {
        chart.x.whole = whole == 1;
        char *svg = storm_chart_svg(&chart);
        check_picture(svg);
        CHECK_EQ(corners_inside(svg, "#0072b2"), 2);
        CHECK(strstr(svg, "stroke-linecap=\"round\"") != NULL);
        find_frame(svg, box);
        const char *line = strstr(svg, " fill=\"none\" stroke=\"#0072b2\"");
        CHECK(line != NULL);
        while (line[-1] != 'L')
            line--;
        place[whole][1] = strtod(line, NULL);
        while (line[-1] != 'M')
            line--;
        place[whole][0] = strtod(line, NULL);
        free(svg);
    }
    CHECK(place[1][1] - place[1][0] < 0.4 * (place[0][1] - place[0][0]));
    CHECK(place[1][0] - box[0] > 0.3 * (box[2] - box[0]));
}

/* A band has two pieces around a gap, lies in the frame, also where it would
 * reach below zero, and what cannot be drawn has no width. */
static void test_bands(void)
{
    const double x[7] = {0, 1, 2, 3, 4, 5, 6};
    const double y[6] = {1, 2, (double)NAN, 3, 1, 2};
    const double band[6] = {2, 0.5, 1, (double)INFINITY, 3, (double)NAN};
    struct storm_chart_series series = {
        "a", STORM_CHART_LINE, 0, 6, x, y, NULL, band, 0};
    struct storm_chart chart = {.x.label = "x",
                                .y = {.label = "y", .from_zero = true},
                                .series = &series,
                                .n_series = 1};
    for (int i = 0; i < 4; i++) {
        chart.y.log = i & 1;
        series.style = i & 2 ? STORM_CHART_STEPS : STORM_CHART_LINE;
        char *svg = storm_chart_svg(&chart);
        check_picture(svg);
        CHECK_EQ(count(svg, "fill-opacity"), 2);
        /* stairs: there and back, and the line itself */
        CHECK_EQ(count(svg, "H"), (i & 2 ? 3 * 5 : 0) + count(svg, "Helv"));
        CHECK_EQ(count(svg, "nan"), 0);
        CHECK_EQ(count(svg, "inf"), 0);
        CHECK_EQ(count(svg, ">-1<"), 0); /* the axis still begins at 0 */
        free(svg);
    }
}

/* A line at 0 is above the frame's. */
static void test_zero(void)
{
    const double x[2] = {0, 1}, zero[2] = {0, 0}, one[2] = {0, 1};
    const struct storm_chart_series series[] = {
        {"0", STORM_CHART_LINE, 0, 2, x, zero, NULL, NULL, 0},
        {"1", STORM_CHART_LINE, 1, 2, x, one, NULL, NULL, 0}};
    const struct storm_chart chart = {.x.label = "x",
                                      .y = {.label = "y", .from_zero = true},
                                      .series = series,
                                      .n_series = 2};
    char *svg = storm_chart_svg(&chart);
    double box[4];
    find_frame(svg, box);
    const char *line = strstr(svg, " fill=\"none\" stroke=\"#0072b2\"");
    CHECK(line != NULL);
    while (line[-1] != ' ')
        line--;
    double y = strtod(line, NULL);
    CHECK(y < box[3] - 3.0 && y > box[3] - 20.0);
    free(svg);
}

/* CHART-6: three equal lines, of which two have gaps, in the legend as well. A
 * line with other values has none. */
static void test_equal_lines(void)
{
    const double x[3] = {0, 1, 2}, y[3] = {1, 2, 1}, other[3] = {1, 2, 3};
    const struct storm_chart_series series[] = {
        {"a", STORM_CHART_LINE, 0, 3, x, y, NULL, NULL, 0},
        {"b", STORM_CHART_LINE, 1, 3, x, y, NULL, NULL, 0},
        {"c", STORM_CHART_LINE, 2, 3, x, other, NULL, NULL, 0},
        {"d", STORM_CHART_LINE, 3, 3, x, y, NULL, NULL, 0}};
    const struct storm_chart chart = {
        .x.label = "x", .y.label = "y", .series = series, .n_series = 4};
    char *svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_EQ(count(svg, "stroke-dasharray=\"10 10\""), 2);
    CHECK_EQ(count(svg, "stroke-dasharray=\"4 16\""), 2);
    CHECK_EQ(count(svg, "stroke-dasharray"), 4);
    free(svg);
}

/* Lines in an order have colours of their own, from dark blue to orange. */
static void test_order(void)
{
    const double x[2] = {0, 1}, y[2] = {1, 2};
    struct storm_chart_series series[3];
    for (int i = 0; i < 3; i++)
        series[i] = (struct storm_chart_series){
            "t",  STORM_CHART_LINE,       5, 2, x, i > 0 ? x : y, NULL,
            NULL, i == 0 ? 1e-3 : 0.5 * i};
    const struct storm_chart chart = {
        .x.label = "x", .y.label = "y", .series = series, .n_series = 3};
    char *svg = storm_chart_svg(&chart);
    CHECK_EQ(count(svg, "stroke=\"#0d0887\""), 2);
    CHECK_EQ(count(svg, "stroke=\"#9c179e\""), 2);
    CHECK_EQ(count(svg, "stroke=\"#f0804e\""), 2);
    free(svg);
}

/* SVG-4: powers of ten that all labels share are in that of the axis. */
static void test_powers(void)
{
    char label[64];
    struct storm_svg_scale scale = storm_svg_scale(0.0, 6.1e13, false);
    struct storm_svg_axis axis = storm_svg_axis(&scale, 540.0, false, 6);
    CHECK(axis.n >= 3);
    CHECK_EQ(axis.power, 13);
    CHECK_TEXT(axis.tick[0].label, "0");
    CHECK_TEXT(axis.tick[1].label, "1");
    storm_svg_axis_label(&axis, "energy (erg)", label, sizeof label);
    CHECK_TEXT(label, "energy (10¹³ erg)");
    storm_svg_axis_label(&axis, "energy", label, sizeof label);
    CHECK_TEXT(label, "energy / 10¹³");
    scale = storm_svg_scale(-2.2e-10, 1e-10, false);
    axis = storm_svg_axis(&scale, 540.0, false, 6);
    CHECK_EQ(axis.power, -10);
    CHECK_TEXT(axis.tick[0].label, "-2");
    scale = storm_svg_scale(0.0, 99000.0, false);
    axis = storm_svg_axis(&scale, 540.0, false, 6);
    CHECK_EQ(axis.power, 0);
    storm_svg_axis_label(&axis, "energy (erg)", label, sizeof label);
    CHECK_TEXT(label, "energy (erg)");
    /* Many digits stay with their numbers. */
    scale = storm_svg_scale(1e7, 1e7 + 1.0, false);
    CHECK_EQ(storm_svg_axis(&scale, 540.0, true, 6).power, 0);
}

static void test_nothing(void)
{
    const double bad[2] = {(double)NAN, (double)-INFINITY};
    const double x[2] = {1, 2};
    struct storm_chart_series series = {
        "a", STORM_CHART_BOTH, 0, 2, x, bad, bad, bad, 0};
    struct storm_chart chart = {.title = "t",
                                .x.label = "x",
                                .y.label = "y",
                                .series = &series,
                                .n_series = 1};
    for (int i = 0; i < 8; i++) {
        chart.x.log = i & 1;
        chart.y.log = i & 2;
        chart.n_series = i & 4 ? 0 : 1;
        char *svg = storm_chart_svg(&chart);
        check_picture(svg);
        CHECK_EQ(count(svg, "no data"), 1);
        free(svg);
    }
}

/* One point, equal points, and the ends of what a double can hold. */
static void test_extremes(void)
{
    const double pairs[][2] = {
        {3.0, 3.0},
        {0.0, 0.0},
        {-DBL_MAX, DBL_MAX},
        {DBL_MAX, DBL_MAX},
        {DBL_MIN, DBL_MAX},
        {DBL_MIN, DBL_MIN},
        {5e-324, 5e-324},
        {1.0, 1.0 + DBL_EPSILON},
        {1e300, 1.000001e300},
        {-1e-20, 1e-20},
        {1e15, 1e15 + 1.0},
        {0.999, 1.001},
    };
    const double error[2] = {DBL_MAX, 1e-3};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (int form = 0; form < 16; form++) {
            struct storm_chart_series series = {"a",
                                                STORM_CHART_BOTH,
                                                0,
                                                form & 8 ? 1 : 2,
                                                pairs[i],
                                                pairs[i],
                                                form & 4 ? error : NULL,
                                                NULL,
                                                0};
            struct storm_chart chart = {
                .x = {.label = "x", .log = form & 1},
                .y = {.label = "y", .log = form & 2, .from_zero = true},
                .series = &series,
                .n_series = 1};
            char *svg = storm_chart_svg(&chart);
            check_picture(svg);
            corners_inside(svg, "#0072b2");
            free(svg);
        }
}

/* Labels of one series of ticks all differ, and there are some. */
static void check_ticks(double lo, double hi, bool log)
{
    struct storm_svg_tick ticks[STORM_SVG_MAX_TICKS];
    struct storm_svg_scale scale = storm_svg_scale(lo, hi, log);
    CHECK(scale.hi > scale.lo);
    for (int widen = 0; widen < 2; widen++) {
        for (int wanted = 2; wanted <= 8; wanted++) {
            size_t n = storm_svg_ticks(&scale, wanted, ticks);
            CHECK(n >= 3 && n <= STORM_SVG_MAX_TICKS);
            for (size_t i = 0; i < n; i++) {
                double at = storm_svg_place(&scale, ticks[i].value);
                CHECK(at >= -1e-8 && at <= 1.0 + 1e-8);
                if (i > 0) {
                    CHECK(ticks[i].value > ticks[i - 1].value);
                    CHECK(strcmp(ticks[i].label, ticks[i - 1].label) != 0);
                }
            }
        }
        scale = storm_svg_widen(scale, 0.04);
    }
}

static void test_ticks(void)
{
    uint64_t dice = 12345;
    double last = 1.0;
    for (int i = 0; i < 4000; i++) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        double part = (double)(dice >> 11) * 0x1p-53;
        double value = pow(10.0, 600.0 * part - 300.0);
        double near = last * (1.0 + 1e-9 * part);
        check_ticks(last, value, true);
        check_ticks(last, value, false);
        check_ticks(-last, value, false);
        check_ticks(last, near, false);
        check_ticks(last, near, true);
        last = value;
    }
    check_ticks((double)NAN, (double)NAN, false);
    check_ticks((double)NAN, (double)NAN, true);
    check_ticks(-1.0, 0.0, true);
    check_ticks(-DBL_MAX, DBL_MAX, false);
    check_ticks(DBL_MIN, DBL_MAX, true);
}

/* Known answers. */
static void test_known_ticks(void)
{
    struct storm_svg_tick ticks[STORM_SVG_MAX_TICKS];
    struct storm_svg_scale scale = storm_svg_scale(-5.0, 5.0, false);
    CHECK_EQ(storm_svg_ticks(&scale, 6, ticks), 5);
    CHECK_TEXT(ticks[0].label, "-4");
    CHECK_TEXT(ticks[2].label, "0");
    scale = storm_svg_scale(0.3, 40.0, true);
    CHECK_EQ(storm_svg_ticks(&scale, 6, ticks), 6);
    CHECK_TEXT(ticks[0].label, "0.5");
    CHECK_TEXT(ticks[5].label, "20");
    scale = storm_svg_scale(1e-9, 1e9, true);
    CHECK_EQ(storm_svg_ticks(&scale, 6, ticks), 7);
    CHECK_TEXT(ticks[0].label, "10⁻⁹");
    /* Six decades in a small bar: no round numbers at its upper end. */
    scale = storm_svg_scale(7e-7, 0.7, true);
    CHECK_EQ(storm_svg_ticks(&scale, 2, ticks), 3);
    CHECK_TEXT(ticks[0].label, "10⁻⁶");
    CHECK_TEXT(ticks[2].label, "10⁻²");
    scale = storm_svg_scale(1e-5, 1e5, true);
    CHECK_EQ(storm_svg_ticks(&scale, 6, ticks), 5);
    CHECK_TEXT(ticks[2].label, "1");
    CHECK_TEXT(ticks[3].label, "10²");
    scale = storm_svg_scale(0.1, 900.0, true);
    CHECK_EQ(storm_svg_ticks(&scale, 6, ticks), 4);
    CHECK_TEXT(ticks[0].label, "0.1");
    CHECK_TEXT(ticks[3].label, "100");
    char label[STORM_SVG_LABEL_BYTES];
    storm_svg_number(-2.5e-12, 6, label);
    CHECK_TEXT(label, "-2.5×10⁻¹²");
    storm_svg_number(-1e20, 6, label);
    CHECK_TEXT(label, "-10²⁰");
    storm_svg_number(0.0, 6, label);
    CHECK_TEXT(label, "0");
}

/* Labels that are left do not touch; powers of ten are left first. */
static void test_room(void)
{
    struct storm_svg_tick ticks[STORM_SVG_MAX_TICKS];
    struct storm_svg_scale scale = storm_svg_scale(1.5, 150.0, true);
    for (int upright = 0; upright < 2; upright++)
        for (double pixels = 30.0; pixels < 600.0; pixels += 10.0) {
            size_t n = storm_svg_ticks(&scale, 6, ticks), n_left = 0;
            double end = -1e3;
            storm_svg_clear(&scale, pixels, upright, ticks, n);
            for (size_t i = 0; i < n; i++) {
                double at = pixels * storm_svg_place(&scale, ticks[i].value);
                double half = 0.5 * storm_svg_width(ticks[i].label, 15.0);
                if (upright)
                    half = 7.5;
                if (ticks[i].label[0] == '\0')
                    continue;
                CHECK(at - half >= end - 1e-9);
                end = at + half;
                n_left++;
            }
            CHECK_EQ(n, 6); /* 2, 5, 10, 20, 50, 100 */
            CHECK(n_left > 0 && (pixels < 400.0 || n_left == n));
            CHECK_TEXT(ticks[2].label, "10");
        }
}

/* Labels of a linear axis stay at equal distances, 0 among them. */
static void test_even_labels(void)
{
    struct storm_svg_tick ticks[STORM_SVG_MAX_TICKS];
    struct storm_svg_scale scale = storm_svg_scale(0.0, 4.1e-10, false);
    size_t n = storm_svg_ticks(&scale, 6, ticks), n_left = 0;
    double last = 0.0, step = 0.0;
    storm_svg_clear(&scale, 540.0, false, ticks, n);
    for (size_t i = 0; i < n; i++) {
        if (ticks[i].label[0] == '\0')
            continue;
        if (++n_left == 2)
            step = ticks[i].value;
        if (n_left > 2)
            CHECK(fabs(ticks[i].value - last - step) < 1e-6 * step);
        last = ticks[i].value;
    }
    CHECK(n > 5 && n_left >= 3 && n_left < n);
    CHECK_TEXT(ticks[0].label, "0");
}

static void test_escaping(void)
{
    const char *nasty = "<a href=\"x\">&amp; & \x01\n</text>";
    const double x[1] = {1};
    struct storm_chart_series series = {
        nasty, STORM_CHART_POINTS, 0, 1, x, x, NULL, NULL, 0};
    struct storm_chart chart = {.title = nasty,
                                .subtitle = nasty,
                                .x.label = nasty,
                                .y.label = nasty,
                                .series = &series,
                                .n_series = 1};
    char *svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_EQ(count(svg, "&lt;a href=&quot;x&quot;&gt;&amp;amp; &amp;"), 5);
    free(svg);
    struct storm_bar bar = {nasty, nasty, x};
    struct storm_bars bars = {.title = nasty,
                              .label = nasty,
                              .parts = &nasty,
                              .n_parts = 1,
                              .bars = &bar,
                              .n_bars = 1};
    svg = storm_bars_svg(&bars);
    check_picture(svg);
    CHECK_EQ(count(svg, "&lt;/text&gt;"), 4);
    free(svg);
}

/* The picture grows with the legend and with the title. */
static void test_long_texts(void)
{
    enum { MANY = 60 };
    char names[MANY][128];
    const double x[2] = {0, 1};
    struct storm_chart_series series[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "series %d, %*s", i, 2 * i, "long");
        series[i] = (struct storm_chart_series){
            names[i], STORM_CHART_BOTH, i, 2, x, x, NULL, NULL, 0};
    }
    struct storm_chart chart = {.title = names[MANY - 1],
                                .x.label = "x",
                                .y.label = "y",
                                .series = series,
                                .n_series = MANY};
    char *svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK(number_after(svg, " width=\"") > 1200.0);
    CHECK(number_after(svg, " height=\"") > 26.0 * MANY);
    free(svg);
    /* Long subtitles are broken, behind commas if there are any. */
    chart.title = NULL;
    chart.n_series = 0;
    chart.subtitle =
        "a profile of the temperature of matter along x, mean over "
        "cells with a heat capacity; mean of 4 replicas, band: "
        "95 % interval";
    svg = storm_chart_svg(&chart);
    check_picture(svg);
    CHECK_EQ(count(svg, "class=\"sub\""), 2);
    CHECK_EQ(count(svg, "\">a profile of the temperature of matter along x,<"),
             1);
    CHECK(number_after(svg, " width=\"") < 900.0);
    free(svg);
}

static void test_steps(void)
{
    const double edges[4] = {0, 1, 2.5, 4}, y[3] = {2, 1, 3};
    const double x[3] = {0.5, 1.75, 3.25}, exact[3] = {1.9, 1.2, 2.7};
    const struct storm_chart_series series[2] = {
        {"Monte Carlo", STORM_CHART_STEPS, 0, 3, edges, y, NULL, NULL, 0},
        {"exact", STORM_CHART_REFERENCE, 7, 3, x, exact, NULL, NULL, 0}};
    struct storm_chart chart = {.title = "Profile",
                                .x.label = "x (cm)",
                                .y = {.label = "T (keV)", .from_zero = true},
                                .series = series,
                                .n_series = 2};
    char *svg = storm_chart_svg(&chart);
    check_picture(svg);
    keep("steps", svg);
    double box[4];
    find_frame(svg, box);
    const char *last = strrchr(svg, 'H');
    double end = strtod(last + 1, NULL);
    CHECK(end > box[0] + 0.9 * (box[2] - box[0]) && end < box[2]);
    free(svg);
}

static void test_bars(void)
{
    const char *parts[6] = {"physics",     "progress", "send_recv",
                            "termination", "growth",   "idle"};
    const double a[6] = {0.59, 0.97, 2.22, 0.57, 0.0, 1.33};
    const double b[6] = {0.59, 0.16, 1.92, 0.31, 0.19, 0.85};
    const double c[6] = {(double)NAN, -1.0, (double)INFINITY, 0, 0, 0};
    const struct storm_bar list[4] = {{"p2p", "2 ranks", a},
                                      {"ibv", "2 ranks", b},
                                      {"p2p", "8 ranks", b},
                                      {"ibv", "8 ranks", c}};
    struct storm_bars bars = {.title = "Where the time goes",
                              .subtitle = "hohlraum",
                              .label = "mean over ranks, per cycle (s)",
                              .parts = parts,
                              .n_parts = 6,
                              .bars = list,
                              .n_bars = 4};
    char *svg = storm_bars_svg(&bars);
    check_picture(svg);
    keep("bars", svg);
    CHECK_EQ(count(svg, ">2 ranks<"), 1);
    CHECK_EQ(count(svg, ">8 ranks<"), 1);
    CHECK_EQ(count(svg, ">5.68<"), 1);
    CHECK_EQ(count(svg, ">no data<"), 1);
    CHECK_EQ(count(svg, ">2.22<"), 1);
    free(svg);
    bars.n_bars = 0;
    svg = storm_bars_svg(&bars);
    check_picture(svg);
    free(svg);
}

static void test_bars_extremes(void)
{
    const char *parts[2] = {"a", "b"};
    const double values[][2] = {{DBL_MAX, DBL_MAX}, {5e-324, 0}, {1e-300, 1}};
    for (size_t i = 0; i < 3; i++) {
        struct storm_bar bar = {"x", NULL, values[i]};
        struct storm_bars bars = {.label = "s",
                                  .parts = parts,
                                  .n_parts = 2,
                                  .bars = &bar,
                                  .n_bars = 1};
        char *svg = storm_bars_svg(&bars);
        check_picture(svg);
        free(svg);
    }
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : NULL;
    test_lines();
    test_gaps();
    test_whole();
    test_bands();
    test_zero();
    test_equal_lines();
    test_order();
    test_powers();
    test_nothing();
    test_extremes();
    test_ticks();
    test_known_ticks();
    test_room();
    test_even_labels();
    test_escaping();
    test_long_texts();
    test_steps();
    test_bars();
    test_bars_extremes();
    return 0;
}
