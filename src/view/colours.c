/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/colours.h"

#include <math.h>

/* The colours of "viridis" (public domain): equal steps look equal, also in
 * grey and to colour-blind eyes. */
static const unsigned char colours_table[][3] = {
    {0x44, 0x01, 0x54}, {0x47, 0x2d, 0x7b}, {0x3b, 0x52, 0x8b},
    {0x2c, 0x72, 0x8e}, {0x21, 0x91, 0x8c}, {0x28, 0xae, 0x80},
    {0x5e, 0xc9, 0x62}, {0xad, 0xdc, 0x30}, {0xfd, 0xe7, 0x25}};
enum { COLOURS_N = sizeof colours_table / sizeof colours_table[0] };

typedef const unsigned char colours_row[3];

/* Between the rows of a table. */
static unsigned colours_mix(colours_row *table, int n, double t)
{
    double place = fmin(fmax(t, 0.0), 1.0) * (n - 1);
    int i = (int)place;
    if (i > n - 2)
        i = n - 2;
    double part = place - i;
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++) {
        double c = (1.0 - part) * table[i][k] + part * table[i + 1][k];
        rgb = rgb << 8 | (unsigned)lround(c);
    }
    return rgb;
}

unsigned storm_colour(double t)
{
    return colours_mix(colours_table, COLOURS_N, t);
}

/* From white to each sign: as dark as the other in grey. */
static const unsigned char colours_below[][3] = {{0xff, 0xff, 0xff},
                                                 {0x9d, 0xc3, 0xe2},
                                                 {0x3f, 0x7f, 0xbf},
                                                 {0x0b, 0x3c, 0x78}};
static const unsigned char colours_above[][3] = {{0xff, 0xff, 0xff},
                                                 {0xf6, 0xb2, 0x8f},
                                                 {0xd3, 0x55, 0x42},
                                                 {0x7d, 0x0f, 0x21}};
enum { COLOURS_N_SIGNED = sizeof colours_below / sizeof colours_below[0] };

unsigned storm_colour_signed(double t)
{
    return colours_mix(t < 0.0 ? colours_below : colours_above,
                       COLOURS_N_SIGNED, fabs(t));
}

/* The darker part of "plasma" (public domain). */
static const unsigned char colours_lines[][3] = {{0x0d, 0x08, 0x87},
                                                 {0x5c, 0x01, 0xa6},
                                                 {0x9c, 0x17, 0x9e},
                                                 {0xcc, 0x47, 0x78},
                                                 {0xf0, 0x80, 0x4e}};
enum { COLOURS_N_LINES = sizeof colours_lines / sizeof colours_lines[0] };

unsigned storm_colour_line(double t)
{
    return colours_mix(colours_lines, COLOURS_N_LINES, t);
}
