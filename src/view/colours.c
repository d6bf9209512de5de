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

unsigned storm_colour(double t)
{
    double place = fmin(fmax(t, 0.0), 1.0) * (COLOURS_N - 1);
    int i = (int)place;
    if (i > COLOURS_N - 2)
        i = COLOURS_N - 2;
    double part = place - i;
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++) {
        double c =
            (1.0 - part) * colours_table[i][k] + part * colours_table[i + 1][k];
        rgb = rgb << 8 | (unsigned)lround(c);
    }
    return rgb;
}
