/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of line and bar charts: head, legend, colours, markers. */
#ifndef STORM_VIEW_CHART_PARTS_H
#define STORM_VIEW_CHART_PARTS_H

#include "base/page.h"

/* Sizes of the legend, in pixels. */
enum {
    STORM_CHART_ROW = 26,
    STORM_CHART_SAMPLE = 34, /* of the line */
    STORM_CHART_GAP = 22,    /* between frame and legend */
    STORM_CHART_EDGE = 24    /* right of everything */
};

struct storm_chart_box {
    double width, height;
};

/* Makes room for one more row of the legend; NULL needs none. */
void storm_chart_box_add(struct storm_chart_box *box, const char *name);

/* Where the frame begins below the head, and how wide a picture must be that
 * has a head from `left` on and other things up to `right`. */
double storm_chart_top(const char *title, const char *subtitle);
double storm_chart_width(double left, double right, const char *title,
                         const char *subtitle);
void storm_chart_head(struct storm_page *svg, double left, const char *title,
                      const char *subtitle);

/* Colours and shapes of markers repeat, but with different periods. */
unsigned storm_chart_colour(int i);

/* Can white letters be read on it? */
int storm_chart_is_dark(int i);
void storm_chart_marker(struct storm_page *svg, double x, double y, int i,
                        unsigned rgb);

#endif /* STORM_VIEW_CHART_PARTS_H */
