/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/chart_parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Subtitles of more letters go on in the next line, that many pixels below. */
enum {
    PARTS_LETTERS = 78,
    PARTS_BYTES = 4 * PARTS_LETTERS + 1,
    PARTS_LINE = 19
};

/* The first line of a subtitle; returns the rest. Lines end behind a semicolon,
 * or else a comma, or else at a space. */
static const char *parts_split(const char *text, char line_out[PARTS_BYTES])
{
    size_t n = 0, n_letters = 0, space = 0, comma = 0, semicolon = 0;
    for (; text[n] != '\0' && n + 1 < PARTS_BYTES; n++) {
        n_letters += ((unsigned char)text[n] & 0xc0) != 0x80;
        if (n_letters > PARTS_LETTERS)
            break;
        if (text[n] != ' ')
            continue;
        space = n;
        if (n > 0 && text[n - 1] == ',')
            comma = n;
        if (n > 0 && text[n - 1] == ';')
            semicolon = n;
    }
    if (text[n] != '\0' && space > 0)
        n = semicolon > 0 ? semicolon : comma > 0 ? comma : space;
    memcpy(line_out, text, n);
    line_out[n] = '\0';
    return text + n + (text[n] == ' ');
}

double storm_chart_top(const char *title, const char *subtitle)
{
    char line[PARTS_BYTES];
    double top = 28.0 + (title != NULL ? 34.0 : 0.0);
    if (subtitle == NULL)
        return top;
    for (subtitle = parts_split(subtitle, line); *subtitle != '\0';
         subtitle = parts_split(subtitle, line))
        top += PARTS_LINE;
    return top + 26.0;
}

double storm_chart_width(double left, double right, const char *title,
                         const char *subtitle)
{
    const double bold = 1.12 * STORM_SVG_TITLE_LETTERS;
    char line[PARTS_BYTES];
    if (title != NULL)
        right = fmax(right, left + storm_svg_width(title, bold));
    while (subtitle != NULL && *subtitle != '\0') {
        subtitle = parts_split(subtitle, line);
        right =
            fmax(right, left + storm_svg_width(line, STORM_SVG_SUB_LETTERS));
    }
    return ceil(right + STORM_CHART_EDGE);
}

void storm_chart_head(struct storm_page *svg, double left, const char *title,
                      const char *subtitle)
{
    char line[PARTS_BYTES];
    double y = 40.0;
    if (title != NULL) {
        storm_svg_text(svg, left, y, "title", title);
        y += 26.0;
    }
    for (; subtitle != NULL && *subtitle != '\0'; y += PARTS_LINE) {
        subtitle = parts_split(subtitle, line);
        storm_svg_text(svg, left, y, "sub", line);
    }
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
