/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture of a rectangle of values: SVG with axes, colour bar and title.
 *
 *   H1  More than 128 values a side are averaged in blocks.
 *   H2  Not-a-number is drawn as blank; if there is nothing else, so is all.
 */
#ifndef STORM_HEATMAP_H
#define STORM_HEATMAP_H

#include <stdint.h>

struct storm_heatmap {
    int64_t n[2];        /* columns, rows */
    double lo[2], hi[2]; /* of the axes */
    const double *value; /* row by row, from the lower left */
    const char *title, *subtitle;
    const char *axis[2];
    const char *value_label;
};

/* The picture; the caller owns it (free). NULL if there is no memory. */
char *storm_heatmap_svg(const struct storm_heatmap *map);

#endif /* STORM_HEATMAP_H */
