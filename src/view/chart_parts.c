/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/chart_parts.h"

#include <math.h>
#include <stddef.h>

#include "view/svg.h"

void storm_chart_box_add(struct storm_chart_box *box, const char *name)
{
    if (name == NULL)
        return;
    double width = STORM_CHART_GAP + STORM_CHART_SAMPLE + 10 +
                   storm_svg_width(name, STORM_SVG_LETTERS);
    box->width = fmax(box->width, width);
    box->height += STORM_CHART_ROW;
}

double storm_chart_top(const char *title, const char *subtitle)
{
    return 28.0 + (title != NULL ? 34.0 : 0.0) +
           (subtitle != NULL ? 26.0 : 0.0);
}

double storm_chart_width(double left, double right, const char *title,
                         const char *subtitle)
{
    const double bold = 1.12 * STORM_SVG_TITLE_LETTERS;
    if (title != NULL)
        right = fmax(right, left + storm_svg_width(title, bold));
    if (subtitle != NULL)
        right = fmax(right,
                     left + storm_svg_width(subtitle, STORM_SVG_SUB_LETTERS));
    return ceil(right + STORM_CHART_EDGE);
}

void storm_chart_head(struct storm_page *svg, double left, const char *title,
                      const char *subtitle)
{
    double y = 40.0;
    if (title != NULL) {
        storm_svg_text(svg, left, y, "title", title);
        y += 26.0;
    }
    if (subtitle != NULL)
        storm_svg_text(svg, left, y, "sub", subtitle);
}

/* After M. Okabe and K. Ito, "Color universal design" (2008): also distinct for
 * colour-blind readers. */
static const struct {
    unsigned rgb;
    int dark;
} parts_colours[] = {{0x0072b2, 1}, {0xd55e00, 1}, {0x009e73, 1},
                     {0xe69f00, 0}, {0x56b4e9, 0}, {0x999999, 0},
                     {0xcc79a7, 0}, {0x222222, 1}};
enum { PARTS_N_COLOURS = sizeof parts_colours / sizeof parts_colours[0] };

/* Outlines, from the middle. */
static const char *const parts_markers[] = {
    "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", /* disc */
    "m-4.5 -4.5h9v9h-9z",                    /* square */
    "m0 -6l5.5 10h-11z",                     /* triangle */
    "m0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z",   /* diamond */
    "m0 6l5.5 -10h-11z",                     /* triangle, down */
};
enum { PARTS_N_MARKERS = sizeof parts_markers / sizeof parts_markers[0] };

unsigned storm_chart_colour(int i)
{
    return parts_colours[i % PARTS_N_COLOURS].rgb;
}

int storm_chart_is_dark(int i)
{
    return parts_colours[i % PARTS_N_COLOURS].dark;
}

void storm_chart_marker(struct storm_page *svg, double x, double y, int i,
                        unsigned rgb)
{
    storm_page_add(svg,
                   "<path d=\"M%.2f %.2f%s\" fill=\"#%06x\" stroke=\"#fff\" "
                   "stroke-width=\"0.8\"/>\n",
                   x, y, parts_markers[i % PARTS_N_MARKERS], rgb);
}
