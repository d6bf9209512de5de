/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as text: the resolved deck, which has every key of the table, and
 * single keys. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "deck/deck.h"

struct writer {
    struct storm_page *page;
    const struct storm_deck *deck;
};

static void write_real(const struct writer *w, double value)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(w->page, "%s", text);
}

/* Always in quotes, so that no text looks like something else. */
static void write_text(const struct writer *w, const char *text)
{
    storm_page_add(w->page, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            storm_page_add(w->page, "\\%c", *c);
        else if (*c < ' ' || *c == 0x7f)
            storm_page_add(w->page, "\\x%02x", *c);
        else
            storm_page_add(w->page, "%c", *c);
    storm_page_add(w->page, "\"");
}

static void write_word(const struct writer *w, const char *choices, int i)
{
    for (; i > 0; i--)
        choices += strcspn(choices, "|") + 1;
    storm_page_add(w->page, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void write_words(const struct writer *w, const char *choices,
                        unsigned bits)
{
    const char *comma = "";
    storm_page_add(w->page, "[");
    for (int i = 0; bits != 0; i++, bits >>= 1)
        if ((bits & 1u) != 0) {
            storm_page_add(w->page, "%s", comma);
            write_word(w, choices, i);
            comma = ", ";
        }
    storm_page_add(w->page, "]");
}

static void write_reals(const struct writer *w, const double *values, size_t n)
{
    storm_page_add(w->page, "[");
    for (size_t i = 0; i < n; i++) {
        storm_page_add(w->page, "%s", i > 0 ? ", " : "");
        write_real(w, values[i]);
    }
    storm_page_add(w->page, "]");
}

static void write_ints(const struct writer *w, const int64_t *values, size_t n)
{
    storm_page_add(w->page, "[");
    for (size_t i = 0; i < n; i++)
        storm_page_add(w->page, "%s%" PRId64, i > 0 ? ", " : "", values[i]);
    storm_page_add(w->page, "]");
}

static void write_curve(const struct writer *w, const struct storm_curve *curve)
{
    if (curve->n == 1) {
        write_real(w, curve->points[1]);
        return;
    }
    storm_page_add(w->page, "[");
    for (size_t i = 0; i < curve->n; i++) {
        storm_page_add(w->page, "%s", i > 0 ? ", " : "");
        write_reals(w, &curve->points[2 * i], 2);
    }
    storm_page_add(w->page, "]");
}

/* A pointer and a number, side by side, of whatever type. */
static const char *write_load(const void *field, size_t *n_out)
{
    const char *array;
    memcpy(&array, field, sizeof array);
    memcpy(n_out, (const char *)field + sizeof array, sizeof *n_out);
    return array;
}

static void write_map(const struct writer *w, const struct deck_row *rows,
                      const void *from);

static void write_list(const struct writer *w, const struct deck_row *row,
                       const void *field)
{
    size_t n;
    const char *items = write_load(field, &n);
    if (n == 0) {
        storm_page_add(w->page, "[]");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        storm_page_add(w->page, "\n    - ");
        write_map(w, row->rows, items + i * row->bytes);
    }
}

static void write_points(const struct writer *w, const struct deck_row *row,
                         const void *field)
{
    size_t n;
    const double *values = (const void *)write_load(field, &n);
    storm_page_add(w->page, "[");
    for (size_t i = 0; i < n; i++) {
        storm_page_add(w->page, "%s", i > 0 ? ", " : "");
        write_reals(w, &values[i * (size_t)row->n], (size_t)row->n);
    }
    storm_page_add(w->page, "]");
}

static void write_texts(const struct writer *w, const void *field)
{
    size_t n;
    char *const *texts = (const void *)write_load(field, &n);
    storm_page_add(w->page, "[");
    for (size_t i = 0; i < n; i++) {
        storm_page_add(w->page, "%s", i > 0 ? ", " : "");
        write_text(w, texts[i]);
    }
    storm_page_add(w->page, "]");
}

static void write_options(const struct writer *w, const char *key)
{
    const struct storm_option *row = storm_option_find(key);
    if (row != NULL && strcmp(row->key, key) == 0) {
        storm_page_add(w->page, "%s",
                       storm_options_text(w->deck->options, key));
        return;
    }
    size_t length = strlen(key), n = 0;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        if (strncmp(row->key, key, length) != 0 || row->key[length] != '.')
            continue;
        /* Unset, a batch adapts: a value would change the meaning. */
        if (!storm_options_is_set(w->deck->options, row->key) &&
            strcmp(row->key, "transport.batch") == 0)
            continue;
        storm_page_add(w->page, "%s%s: ", n++ > 0 ? ", " : "{",
                       row->key + length + 1);
        if (row->type == STORM_OPTION_TEXT)
            write_text(w, storm_options_text(w->deck->options, row->key));
        else
            storm_page_add(w->page, "%s",
                           storm_options_text(w->deck->options, row->key));
    }
    storm_page_add(w->page, "%s", n > 0 ? "}" : "{}");
}

/* The text of a value that is a formula; NULL: it is none. */
static const char *write_formula(const struct deck_row *row, const void *from)
{
    const char *text = NULL;
    if (row->variables != NULL)
        memcpy(&text, (const char *)from + row->formula_offset, sizeof text);
    return text;
}

static void write_value(const struct writer *w, const struct deck_row *row,
                        const void *from)
{
    const void *field = (const char *)from + row->offset;
    const double *times;
    size_t n;
    if (write_formula(row, from) != NULL) {
        write_text(w, write_formula(row, from));
        return;
    }
    switch (row->kind) {
    case DECK_TEXT:
        write_text(w, *(char *const *)field);
        break;
    case DECK_WORD:
        write_word(w, row->choices, *(const int *)field);
        break;
    case DECK_WORDS:
        write_words(w, row->choices, *(const unsigned *)field);
        break;
    case DECK_BOOL:
        storm_page_add(w->page, "%s", *(const bool *)field ? "true" : "false");
        break;
    case DECK_INT:
        if (row->choices != NULL && *(const int64_t *)field == DECK_BY_WORD)
            storm_page_add(w->page, "%s", row->choices);
        else
            storm_page_add(w->page, "%" PRId64, *(const int64_t *)field);
        break;
    case DECK_REAL:
        write_real(w, *(const double *)field);
        break;
    case DECK_INTS:
        write_ints(w, field, (size_t)row->n);
        break;
    case DECK_REALS:
        write_reals(w, field, (size_t)row->n);
        break;
    case DECK_TIMES:
        times = (const void *)write_load(field, &n);
        write_reals(w, times, n);
        break;
    case DECK_POINTS:
        write_points(w, row, field);
        break;
    case DECK_TEXTS:
        write_texts(w, field);
        break;
    case DECK_CURVE:
        write_curve(w, field);
        break;
    case DECK_ENTRY:
        write_map(w, row->rows, field);
        break;
    case DECK_LISTED:
    case DECK_ONE_OR_MORE:
        write_list(w, row, field);
        break;
    case DECK_OPTIONS:
        write_options(w, row->key);
        break;
    case DECK_NUMBERED: /* several keys: write_numbered */
        break;
    }
}

/* An entry for each number. */
static void write_numbered(const struct writer *w, const struct deck_row *row,
                           const struct deck_walls *walls)
{
    for (size_t i = 0; i < walls->numbered.n; i++) {
        const struct deck_boundary *b = &walls->numbered.item[i];
        storm_page_add(w->page, "\n  \"%" PRId64 "\": ", b->number);
        write_list(w, row, &b->wall);
    }
}

/* Is there anything to write: a row of this shape, a curve that was given? */
static bool write_applies(const struct deck_row *rows,
                          const struct deck_row *row, const void *from)
{
    if (row->kind == DECK_CURVE) {
        size_t n;
        (void)write_load((const char *)from + row->offset, &n);
        return n > 0 || write_formula(row, from) != NULL;
    }
    if (row->when == NULL)
        return row->kind != DECK_NUMBERED;
    while (strcmp(rows->key, "shape") != 0)
        rows++;
    const char *choices = rows->choices;
    for (int i =
             *(const int *)(const void *)((const char *)from + rows->offset);
         i > 0; i--)
        choices += strcspn(choices, "|") + 1;
    size_t length = strcspn(choices, "|");
    return strlen(row->when) == length &&
           memcmp(row->when, choices, length) == 0;
}

static void write_map(const struct writer *w, const struct deck_row *rows,
                      const void *from)
{
    bool first = true;
    storm_page_add(w->page, "{");
    for (const struct deck_row *row = rows; row->key != NULL; row++) {
        if (!write_applies(rows, row, from))
            continue;
        storm_page_add(w->page, "%s%s: ", first ? "" : ", ", row->key);
        first = false;
        write_value(w, row, from);
    }
    storm_page_add(w->page, "}");
}

/* Below the top, entries are one line each; walls and lists one per item. */
char *deck_write(const struct storm_deck *deck)
{
    struct storm_page page = {0};
    struct writer w = {.page = &page, .deck = deck};
    bool has_numbers = deck->values.mesh.kind == STORM_MESH_FILE;
    storm_page_add(&page, "# all values, defaults included\n");
    for (const struct deck_row *row = deck_schema; row->key != NULL; row++) {
        const void *field = (const char *)&deck->values + row->offset;
        storm_page_add(&page, "%s: ", row->key);
        if (row->kind == DECK_ENTRY) {
            for (const struct deck_row *inner = row->rows; inner->key != NULL;
                 inner++) {
                if (inner->kind == DECK_NUMBERED)
                    write_numbered(&w, inner, field);
                if (inner->kind == DECK_NUMBERED ||
                    (inner->kind == DECK_ONE_OR_MORE && has_numbers))
                    continue;
                storm_page_add(&page, "\n  %s: ", inner->key);
                write_value(&w, inner, field);
            }
        } else {
            write_value(&w, row, &deck->values);
        }
        storm_page_add(&page, "\n");
    }
    return storm_page_end(&page);
}

/* ---- single keys --------------------------------------------------------- */

/* Where a key leads: a row, and its value. NULL: nowhere. */
struct write_place {
    const struct deck_row *row;
    const void *field;
};

/* The row of a map whose key has these letters. */
static struct write_place write_find(const struct deck_row *rows,
                                     const void *from, const char *key,
                                     size_t length)
{
    for (const struct deck_row *row = rows; row->key != NULL; row++)
        if (strlen(row->key) == length && memcmp(row->key, key, length) == 0 &&
            write_applies(rows, row, from))
            return (struct write_place){row, (const char *)from + row->offset};
    return (struct write_place){NULL, NULL};
}

/* The item of a list that a number from 0 names; NULL: there is none. */
static const void *write_item(const struct write_place *list, const char *part,
                              size_t length)
{
    size_t n, i = 0;
    const char *items = write_load(list->field, &n);
    for (size_t k = 0; k < length && i < n; k++) {
        if (part[k] < '0' || part[k] > '9')
            return NULL;
        i = 10 * i + (size_t)(part[k] - '0');
    }
    return length > 0 && i < n ? items + i * list->row->bytes : NULL;
}

static struct write_place write_walk(const struct storm_deck *deck,
                                     const char *key)
{
    struct write_place place = {NULL, NULL};
    const struct deck_row *rows = deck_schema;
    const void *from = &deck->values;
    while (rows != NULL) {
        size_t length = strcspn(key, ".");
        place = write_find(rows, from, key, length);
        if (place.row == NULL || key[length] == '\0')
            return place;
        key += length + 1;
        rows = place.row->rows;
        from = place.field;
        if (place.row->kind != DECK_LISTED &&
            place.row->kind != DECK_ONE_OR_MORE)
            continue;
        length = strcspn(key, ".");
        from = write_item(&place, key, length);
        if (from == NULL || key[length] == '\0')
            break;
        key += length + 1;
    }
    return (struct write_place){NULL, NULL};
}

size_t storm_deck_value(const struct storm_deck *deck, const char *key,
                        char *text_out, size_t size)
{
    struct write_place place = write_walk(deck, key);
    struct storm_page page = {0};
    struct writer w = {.page = &page, .deck = deck};
    text_out[0] = '\0';
    if (place.row == NULL)
        return 0;
    if (place.row->kind == DECK_TEXT)
        storm_page_add(&page, "%s", *(char *const *)place.field);
    else
        write_value(&w, place.row,
                    (const char *)place.field - place.row->offset);
    char *text = storm_page_end(&page);
    int n = snprintf(text_out, size, "%s", text != NULL ? text : "");
    free(text);
    return n > 0 ? (size_t)n : 0;
}

size_t storm_deck_numbers(const struct storm_deck *deck, const char *key,
                          double *values_out, size_t n)
{
    struct write_place place = write_walk(deck, key);
    if (place.row == NULL)
        return 0;
    bool is_list =
        place.row->kind == DECK_INTS || place.row->kind == DECK_REALS;
    bool is_int = place.row->kind == DECK_INT || place.row->kind == DECK_INTS;
    bool is_real = place.row->kind == DECK_REAL ||
                   place.row->kind == DECK_REALS ||
                   place.row->kind == DECK_TIMES;
    const void *from = place.field;
    size_t there = is_list ? (size_t)place.row->n : 1;
    if (!is_int && !is_real)
        return 0;
    if (place.row->kind == DECK_TIMES)
        from = write_load(place.field, &there);
    for (size_t i = 0; i < there && i < n; i++)
        values_out[i] = is_int ? (double)((const int64_t *)from)[i]
                               : ((const double *)from)[i];
    return there;
}
