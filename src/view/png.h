/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of pixels for pages that need no other file: PNG of up to 256
 * colours, as a data URI.
 *
 *   PNG-1  What a decoder gets are the pixels that were given.
 *   PNG-2  The same pixels give the same bytes.
 */
#ifndef STORM_VIEW_PNG_H
#define STORM_VIEW_PNG_H

#include <stddef.h>

#include "base/memory.h"
#include "base/page.h"

struct storm_png {
    size_t width, height;
    const unsigned char *pixels; /* rows from the top: places in the palette */
    const unsigned *palette;     /* 0xrrggbb */
    size_t n_colours;            /* up to 256 */
};

/* Adds "data:image/png;base64,..." to a page; if there is no memory, the page
 * has failed. */
void storm_png_add(struct storm_page *page, struct storm_memory *memory,
                   const struct storm_png *png);

#endif /* STORM_VIEW_PNG_H */
