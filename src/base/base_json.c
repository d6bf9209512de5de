/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/port.h"
#include "base/text.h"

enum { JSON_FIRST_BYTES = 1024 };

/* After a failure nothing is written; storm_json_end reports it. */
static void json_fail(struct storm_json *json)
{
    free(json->text);
    json->text = NULL;
    json->length = json->capacity = 0;
    json->failed = true;
}

static void json_append(struct storm_json *json, const char *text, size_t n)
{
    if (json->failed)
        return;
    if (n > SIZE_MAX / 4 - json->length) {
        json_fail(json);
        return;
    }
    if (json->length + n + 1 > json->capacity) {
        size_t capacity = 2 * (json->length + n + 1);
        if (capacity < JSON_FIRST_BYTES)
            capacity = JSON_FIRST_BYTES;
        char *grown = realloc(json->text, capacity);
        if (grown == NULL) {
            json_fail(json);
            return;
        }
        json->text = grown;
        json->capacity = capacity;
    }
    memcpy(json->text + json->length, text, n);
    json->length += n;
    json->text[json->length] = '\0';
}

static void json_append_text(struct storm_json *json, const char *text)
{
    json_append(json, text, strlen(text));
}

static void json_new_line(struct storm_json *json)
{
    if (!json->pretty)
        return;
    json_append(json, "\n", 1);
    for (int i = 0; i < json->depth; i++)
        json_append(json, "  ", 2);
}

static void json_append_string(struct storm_json *json, const char *text)
{
    json_append(json, "\"", 1);
    while (*text != '\0') {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        json_append(json, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        char escape[8];
        if (*text == '"' || *text == '\\')
            snprintf(escape, sizeof escape, "\\%c", *text);
        else if (*text == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else if (*text == '\t')
            snprintf(escape, sizeof escape, "\\t");
        else
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*text);
        json_append_text(json, escape);
        text++;
    }
    json_append(json, "\"", 1);
}

/* Comma, new line and key: all that precedes a value. */
static void json_start(struct storm_json *json, const char *key)
{
    if (!json->first)
        json_append(json, ",", 1);
    if (json->depth > 0)
        json_new_line(json);
    json->first = false;
    if (key == NULL)
        return;
    json_append_string(json, key);
    json_append_text(json, json->pretty ? ": " : ":");
}

void storm_json_begin(struct storm_json *json, bool pretty)
{
    *json = (struct storm_json){.first = true, .pretty = pretty};
    json_append(json, "", 0);
}

void storm_json_open(struct storm_json *json, const char *key, char bracket)
{
    STORM_ASSERT(bracket == '{' || bracket == '[');
    json_start(json, key);
    json_append(json, &bracket, 1);
    json->depth++;
    json->first = true;
}

void storm_json_close(struct storm_json *json, char bracket)
{
    STORM_ASSERT(bracket == '}' || bracket == ']');
    STORM_ASSERT(json->depth > 0);
    json->depth--;
    if (!json->first)
        json_new_line(json);
    json_append(json, &bracket, 1);
    json->first = false;
}

void storm_json_text(struct storm_json *json, const char *key,
                     const char *value)
{
    if (value == NULL) {
        storm_json_null(json, key);
        return;
    }
    json_start(json, key);
    json_append_string(json, value);
}

void storm_json_int(struct storm_json *json, const char *key, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    json_start(json, key);
    json_append_text(json, digits);
}

void storm_json_uint(struct storm_json *json, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_start(json, key);
    json_append_text(json, digits);
}

void storm_json_real(struct storm_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        storm_json_null(json, key);
        return;
    }
    char digits[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, digits);
    json_start(json, key);
    json_append_text(json, digits);
    /* Readers take a number without these for an integer, and -0 for 0. */
    if (strpbrk(digits, ".e") == NULL)
        json_append(json, ".0", 2);
}

void storm_json_bool(struct storm_json *json, const char *key, bool value)
{
    json_start(json, key);
    json_append_text(json, value ? "true" : "false");
}

void storm_json_hash(struct storm_json *json, const char *key, uint64_t value)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, value);
    storm_json_text(json, key, digits);
}

void storm_json_null(struct storm_json *json, const char *key)
{
    json_start(json, key);
    json_append(json, "null", 4);
}

char *storm_json_end(struct storm_json *json)
{
    STORM_ASSERT(json->depth == 0);
    char *text = json->text;
    json->text = NULL;
    json->length = json->capacity = 0;
    return text;
}
