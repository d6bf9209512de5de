/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool page_reserve(struct storm_page *page, size_t wanted)
{
    if (wanted <= page->capacity)
        return true;
    size_t capacity = page->capacity > 0 ? page->capacity : 1024;
    while (capacity < wanted)
        capacity *= 2;
    char *larger = realloc(page->text, capacity);
    if (larger == NULL)
        return false;
    page->text = larger;
    page->capacity = capacity;
    return true;
}

void storm_page_add(struct storm_page *page, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (page->failed || n < 0 ||
        !page_reserve(page, page->length + (size_t)n + 1)) {
        page->failed = true;
    } else {
        vsnprintf(page->text + page->length, (size_t)n + 1, format, again);
        page->length += (size_t)n;
    }
    va_end(again);
}

void storm_page_add_xml(struct storm_page *page, const char *text)
{
    while (*text != '\0') {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' &&
               strchr("&<>\"", text[plain]) == NULL)
            plain++;
        if (plain > 0)
            storm_page_add(page, "%.*s", (int)plain, text);
        text += plain;
        if (*text != '\0') {
            const char *as = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : " ";
            storm_page_add(page, "%s", as);
            text++;
        }
    }
}

char *storm_page_end(struct storm_page *page)
{
    storm_page_add(page, "%s", "");
    char *result = page->text;
    if (page->failed) {
        free(result);
        result = NULL;
    }
    memset(page, 0, sizeof *page);
    return result;
}

char *storm_page_grouped(uint64_t value, char buffer[STORM_GROUPED_BYTES])
{
    char digits[STORM_GROUPED_BYTES];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = buffer;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return buffer;
}
