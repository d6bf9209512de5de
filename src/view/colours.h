/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours of values: from dark to light, also in grey and for colour-blind
 * readers. */
#ifndef STORM_VIEW_COLOURS_H
#define STORM_VIEW_COLOURS_H

/* 0xrrggbb for 0 .. 1; values outside get the colour of the nearest end. */
unsigned storm_colour(double t);

/* The same for -1 .. 1: blue below 0, white at 0, red above. */
unsigned storm_colour_signed(double t);

/* Of lines in an order, 0 .. 1: from dark blue to orange, none too light for
 * white paper. */
unsigned storm_colour_line(double t);

#endif /* STORM_VIEW_COLOURS_H */
