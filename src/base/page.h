/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text that grows by printf.
 *
 *   PAGE-1  All zero is an empty text.
 *   PAGE-2  If memory runs out, storm_page_end returns NULL.
 */
#ifndef STORM_BASE_PAGE_H
#define STORM_BASE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/port.h"

struct storm_page {
    char *text;
    size_t length, capacity;
    bool failed;
};

STORM_PRIVATE void storm_page_add(struct storm_page *page, const char *format,
                                  ...) STORM_PRINTF(2, 3);

/* Adds a text to XML: what that reserves (& < > ") is escaped, and characters
 * it cannot hold become spaces. */
STORM_PRIVATE void storm_page_add_xml(struct storm_page *page,
                                      const char *text);

/* Ends the text; the caller owns it (free). NULL if memory ran out. */
STORM_PRIVATE char *storm_page_end(struct storm_page *page);

/* "1,234,567" in `buffer`, which is returned. */
enum { STORM_GROUPED_BYTES = 32 };
STORM_PRIVATE char *storm_page_grouped(uint64_t value,
                                       char buffer[STORM_GROUPED_BYTES]);

#endif /* STORM_BASE_PAGE_H */
