/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charts as SVG text: lines over two axes, and bars made of parts.
 *
 *   CHART-1  The axes contain all values that can be drawn, with their error
 *            bars.
 *   CHART-2  A value that cannot be drawn (not finite; not positive on a
 *            logarithmic axis) leaves a gap and changes nothing else. A chart
 *            without values has the text "no data".
 *   CHART-3  The legend is beside the frame, never over data. The picture
 *            grows with it, and with long texts; nothing is cut.
 *   CHART-4  Texts may contain any characters: they are escaped.
 *   CHART-5  The same chart gives the same bytes.
 *   CHART-6  No line is hidden: one on top of an earlier one has gaps through
 *            which that is seen, and 0 is a little above the frame.
 */
#ifndef STORM_VIEW_CHART_H
#define STORM_VIEW_CHART_H

#include <stdbool.h>
#include <stddef.h>

/* ---- lines --------------------------------------------------------------- */

typedef enum storm_chart_style {
    STORM_CHART_LINE = 0,  /* a line through the points */
    STORM_CHART_POINTS,    /* a marker on each */
    STORM_CHART_BOTH,      /* line and markers */
    STORM_CHART_REFERENCE, /* dashes: what the others are compared with */
    STORM_CHART_TWIN,      /* the same in a darker shade, so that it is seen on
                              top of the line of that colour */
    STORM_CHART_STEPS      /* y[i] from x[i] to x[i + 1]; n + 1 values of x */
} storm_chart_style;

struct storm_chart_series {
    const char *name; /* in the legend; NULL: not in it */
    storm_chart_style style;
    int colour; /* series of one colour belong together; 0, 1, ... */
    size_t n;
    const double *x, *y;
    const double *error; /* n half heights of error bars, or NULL */
    const double *band;  /* n half heights of a band around a line, or NULL; cut
                            off at 0 on an axis that begins there */
    double order;        /* above 0, up to 1: its place on an ordered scale of
                            colours, which takes the place of `colour` */
};

struct storm_chart_axis {
    const char *label; /* with the unit */
    bool log;
    bool from_zero;      /* show 0, too (linear) */
    bool whole;          /* of x: places without a value are on it, too */
    const double *ticks; /* where to write numbers, if not at round ones */
    size_t n_ticks;
};

struct storm_chart {
    const char *title, *subtitle; /* NULL: none */
    struct storm_chart_axis x, y;
    const struct storm_chart_series *series;
    size_t n_series;
};

/* The picture; the caller owns it (free). NULL if there is no memory. */
char *storm_chart_svg(const struct storm_chart *chart);

/* ---- bars ---------------------------------------------------------------- */

/* One bar, from left to right. */
struct storm_bar {
    const char *name;     /* beside it */
    const char *group;    /* bars with the same one in a row stand together
                             under it; NULL: none */
    const double *values; /* n_parts; what is not positive is left out */
};

struct storm_bars {
    const char *title, *subtitle; /* NULL: none */
    const char *label;            /* of the axis, with the unit */
    const char *const *parts;     /* names, for the legend */
    size_t n_parts;               /* 1: plain bars, without legend */
    const struct storm_bar *bars; /* from top to bottom */
    size_t n_bars;
};

/* As above. Parts wide enough carry their value, bars end with their sum. */
char *storm_bars_svg(const struct storm_bars *bars);

#endif /* STORM_VIEW_CHART_H */
