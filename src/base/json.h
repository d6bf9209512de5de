/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one JSON value into a growing text.
 *
 *   JSON-1  Keys appear in the order of the calls; nesting is the caller's.
 *   JSON-2  Doubles are written so that they read back to the same bits;
 *           infinite and not-a-number become null.
 *   JSON-3  Strings are escaped; the output is valid UTF-8 if the input is.
 *   JSON-4  If memory runs out, storm_json_end returns NULL.
 */
#ifndef STORM_BASE_JSON_H
#define STORM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/port.h"

struct storm_json {
    char *text; /* free() it; always ends in '\0' */
    size_t length, capacity;
    int depth;
    bool failed, first, pretty;
};

/* pretty: one key per line, two spaces per level. */
STORM_PRIVATE void storm_json_begin(struct storm_json *json, bool pretty);

/* key is NULL inside an array and at the top. */
STORM_PRIVATE void storm_json_open(struct storm_json *json, const char *key,
                                   char bracket);
STORM_PRIVATE void storm_json_close(struct storm_json *json, char bracket);
STORM_PRIVATE void storm_json_text(struct storm_json *json, const char *key,
                                   const char *value); /* NULL: null */
STORM_PRIVATE void storm_json_int(struct storm_json *json, const char *key,
                                  int64_t value);
STORM_PRIVATE void storm_json_uint(struct storm_json *json, const char *key,
                                   uint64_t value);
STORM_PRIVATE void storm_json_real(struct storm_json *json, const char *key,
                                   double value);
STORM_PRIVATE void storm_json_bool(struct storm_json *json, const char *key,
                                   bool value);
/* 16 hexadecimal digits, as text. */
STORM_PRIVATE void storm_json_hash(struct storm_json *json, const char *key,
                                   uint64_t value);
void storm_json_null(struct storm_json *json, const char *key);

/* Ends the text; the caller owns it (free). NULL if memory ran out. */
STORM_PRIVATE char *storm_json_end(struct storm_json *json);

#endif /* STORM_BASE_JSON_H */
