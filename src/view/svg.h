/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common parts of pictures: head, texts, lines, and scales with round ticks.
 *
 *   SVG-1  Texts are UTF-8; characters that XML reserves are escaped.
 *   SVG-2  A scale contains the range that was asked for, and has a width: a
 *          range without values, of one value or narrower than rounding errors
 *          is made wider.
 *   SVG-3  Ticks are inside the scale, in rising order, with different labels.
 *          There are at least 3 and at most STORM_SVG_MAX_TICKS. On a
 *          logarithmic scale of three decades or more they are powers of ten.
 *   SVG-4  Labels of an axis are short: a power of ten that numbers far from 1
 *          share goes to the label of the axis.
 */
#ifndef STORM_VIEW_SVG_H
#define STORM_VIEW_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/page.h"

/* Size of letters in pixels: of a text without class, and of the others. */
enum {
    STORM_SVG_LETTERS = 15,
    STORM_SVG_TITLE_LETTERS = 20,
    STORM_SVG_SUB_LETTERS = 14
};

/* Head with white background, in pixels; to be ended by storm_svg_end. */
void storm_svg_begin(struct storm_page *svg, double width, double height);

/* The picture; the caller owns it (free). NULL if there is no memory. */
char *storm_svg_end(struct storm_page *svg);

/* `class` is one or more of start, mid, end (which part of the text is at x),
 * title, sub, or for lines and frames line, thin. */
void storm_svg_text(struct storm_page *svg, double x, double y,
                    const char *class, const char *text);

/* The same, reading upwards, with its middle there. */
void storm_svg_text_up(struct storm_page *svg, double x, double y,
                       const char *text);

void storm_svg_line(struct storm_page *svg, double x, double y, double dx,
                    double dy, const char *class);
void storm_svg_frame(struct storm_page *svg, double x, double y, double width,
                     double height);

/* Width of a text in pixels: an upper estimate, as the font is not known. */
double storm_svg_width(const char *text, double letters);

/* ---- scales -------------------------------------------------------------- */

enum { STORM_SVG_MAX_TICKS = 16, STORM_SVG_LABEL_BYTES = 48 };

struct storm_svg_scale {
    double lo, hi;
    bool log;
};

struct storm_svg_tick {
    double value;
    char label[STORM_SVG_LABEL_BYTES];
};

/* A scale from lo to hi, which need not be finite or in order. A logarithmic
 * scale uses only positive ones. */
struct storm_svg_scale storm_svg_scale(double lo, double hi, bool log);

/* Where a value is, 0 at `lo` and 1 at `hi`. */
double storm_svg_place(const struct storm_svg_scale *scale, double value);

/* Can the scale show it: finite, and positive if it is logarithmic? */
bool storm_svg_shows(const struct storm_svg_scale *scale, double value);

/* A wider scale: by `part` of its length at both ends. */
struct storm_svg_scale storm_svg_widen(struct storm_svg_scale scale,
                                       double part);

/* Fills in about `n_wanted` (at most 8) ticks; returns how many. */
size_t storm_svg_ticks(const struct storm_svg_scale *scale, int n_wanted,
                       struct storm_svg_tick ticks_out[STORM_SVG_MAX_TICKS]);

/* Empties the labels (at most STORM_SVG_MAX_TICKS) that would touch another on
 * an axis of so many pixels, along the labels or, upright, across them. Powers
 * of ten on a logarithmic scale stay if they can; of a linear one every second,
 * or third, ... stays. */
void storm_svg_clear(const struct storm_svg_scale *scale, double pixels,
                     bool upright, struct storm_svg_tick *ticks, size_t n);

/* The ticks of an axis. */
struct storm_svg_axis {
    struct storm_svg_scale scale;
    struct storm_svg_tick tick[STORM_SVG_MAX_TICKS];
    size_t n;
    int power;    /* of ten, by which labels are divided; 0: they are not */
    double width; /* of the widest label, in pixels */
};

/* About `n_wanted` ticks along so many pixels, with labels that do not
 * touch. */
struct storm_svg_axis storm_svg_axis(const struct storm_svg_scale *scale,
                                     double pixels, bool upright, int n_wanted);

/* The label with the power: "energy (erg)" is "energy (10¹³ erg)" then. */
void storm_svg_axis_label(const struct storm_svg_axis *axis, const char *label,
                          char *label_out, size_t bytes);

/* Shortens and clears the labels of ticks that are there already. */
void storm_svg_axis_fit(struct storm_svg_axis *axis, double pixels,
                        bool upright);

/* A number as people write it, with up to `digits` digits: 0.25, 3×10⁻⁷. */
void storm_svg_number(double value, int digits,
                      char label_out[STORM_SVG_LABEL_BYTES]);

#endif /* STORM_VIEW_SVG_H */
