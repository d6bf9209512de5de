/* SPDX-License-Identifier: BSD-3-Clause */
/* From the tree to values, row by row of the table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/mesh.h>

#include "base/formula.h"
#include "base/text.h"
#include "deck/deck.h"

enum { READ_PATH_BYTES = 256, READ_WORDS_BYTES = 512 };

/* A map that is being read, and where it goes. */
struct reader {
    struct storm_deck *deck;
    struct deck_problems *problems;
    char path[READ_PATH_BYTES]; /* of the map */
    int line;
    void *into;
};

static void read_rows(const struct reader *r, const struct deck_row *rows,
                      struct deck_node *map);

/* "mesh.box.lo" */
static const char *read_path(const struct reader *r, const char *key,
                             char path_out[READ_PATH_BYTES])
{
    /* Only messages show it: too long a key may be cut. */
    snprintf(path_out, READ_PATH_BYTES, "%.160s%s%.90s", r->path,
             r->path[0] != '\0' ? "." : "", key);
    return path_out;
}

/* ---- messages ------------------------------------------------------------ */

/* A map of options, or an option of its own. */
static void read_expected_option(const struct deck_row *row, char *text_out,
                                 size_t bytes)
{
    const struct storm_option *option = storm_option_find(row->key);
    if (option == NULL || option->type != STORM_OPTION_INT) {
        snprintf(text_out, bytes, "a map");
        return;
    }
    const struct deck_row number = {
        .kind = DECK_INT, .min = option->min, .max = option->max};
    deck_row_expected(&number, text_out, bytes);
}

/* "one of a, b, c". Kinds of meshes that this build does not have are words of
 * decks, but are not offered. */
static void read_expected_word(const struct deck_row *row, char *text_out,
                               size_t bytes)
{
    bool is_mesh = strcmp(row->choices, STORM_MESH_WORDS) == 0;
    const char *word = row->choices, *comma = "";
    int length = snprintf(text_out, bytes, "one of");
    for (size_t i = 0; *word != '\0'; i++) {
        size_t n = strcspn(word, "|");
        if ((!is_mesh || storm_mesh_kind_built(i)) && length >= 0 &&
            (size_t)length < bytes) {
            length += snprintf(text_out + length, bytes - (size_t)length,
                               "%s %.*s", comma, (int)n, word);
            comma = ",";
        }
        word += n + (word[n] == '|');
    }
}

/* ", or a formula of x, y, z" */
static void read_expected_formula(const struct deck_row *row, char *text_out,
                                  size_t bytes)
{
    size_t used = strlen(text_out);
    const char *comma = "";
    if (row->variables == NULL || used >= bytes)
        return;
    snprintf(text_out + used, bytes - used, ", or a formula of");
    for (const char *v = row->variables; *v != '\0'; v++) {
        used = strlen(text_out);
        snprintf(text_out + used, bytes - used, "%s %c", comma, *v);
        comma = ",";
    }
}

/* "an integer from 1 to 9" and the like. */
void deck_row_expected(const struct deck_row *row, char *text_out, size_t bytes)
{
    char low[STORM_TEXT_REAL_BYTES], high[STORM_TEXT_REAL_BYTES];
    const char *from = row->above ? "above" : "from";
    const char *to = row->above ? "up to" : "to";
    const char *what = row->kind == DECK_INT || row->kind == DECK_INTS
                           ? "whole number"
                           : "number";
    storm_text_from_real(row->min, low);
    storm_text_from_real(row->max, high);
    switch (row->kind) {
    case DECK_TEXT:
        snprintf(text_out, bytes, "some text");
        break;
    case DECK_WORD:
        read_expected_word(row, text_out, bytes);
        break;
    case DECK_WORDS:
        snprintf(text_out, bytes, "a list of words, each ");
        read_expected_word(row, text_out + strlen(text_out),
                           bytes - strlen(text_out));
        break;
    case DECK_BOOL:
        snprintf(text_out, bytes, "true or false");
        break;
    case DECK_INT:
    case DECK_REAL:
        snprintf(text_out, bytes, "a %s %s %s %s %s%s%s", what, from, low, to,
                 high, row->choices != NULL ? ", or " : "",
                 row->choices != NULL ? row->choices : "");
        break;
    case DECK_INTS:
    case DECK_REALS:
        snprintf(text_out, bytes, "a list of %d %ss, each %s %s %s %s", row->n,
                 what, from, low, to, high);
        break;
    case DECK_TIMES:
        snprintf(text_out, bytes, "a list of numbers, each %s %s %s %s", from,
                 low, to, high);
        break;
    case DECK_POINTS:
        snprintf(text_out, bytes,
                 "a list of lists of %d numbers, each %s %s %s %s", row->n,
                 from, low, to, high);
        break;
    case DECK_TEXTS:
        snprintf(text_out, bytes, "a list of texts");
        break;
    case DECK_CURVE:
        snprintf(text_out, bytes,
                 "a number %s %s %s %s, or a list of pairs [time, number] with "
                 "growing times",
                 from, low, to, high);
        break;
    case DECK_LISTED:
        snprintf(text_out, bytes, "a list of maps");
        break;
    case DECK_ONE_OR_MORE:
    case DECK_NUMBERED:
        snprintf(text_out, bytes, "a map, or a list of maps");
        break;
    case DECK_ENTRY:
        snprintf(text_out, bytes, "a map");
        break;
    case DECK_OPTIONS:
        read_expected_option(row, text_out, bytes);
        break;
    }
    read_expected_formula(row, text_out, bytes);
}

static bool read_is_pair(const struct deck_node *node)
{
    return node->kind == DECK_LIST && node->n == 2 &&
           node->items[0]->kind == DECK_SCALAR &&
           node->items[1]->kind == DECK_SCALAR;
}

/* Short description of what was found instead. */
static void read_got(struct deck_node *node, char *text_out, size_t bytes)
{
    if (node->kind == DECK_LIST && node->wrong > 0) {
        struct deck_node *item = node->items[node->wrong - 1];
        char got[96];
        if (read_is_pair(item))
            snprintf(got, sizeof got, "[%.40s, %.40s]", item->items[0]->text,
                     item->items[1]->text);
        else
            read_got(item, got, sizeof got);
        snprintf(text_out, bytes, "%s as element %zu", got, node->wrong);
    } else if (node->kind == DECK_MAP)
        snprintf(text_out, bytes, "a map");
    else if (node->kind == DECK_LIST)
        snprintf(text_out, bytes, "a list of %zu", node->n);
    else if (deck_node_is_null(node))
        snprintf(text_out, bytes, "nothing");
    else if (node->plain)
        snprintf(text_out, bytes, "'%.80s'", node->text);
    else
        snprintf(text_out, bytes, "the text \"%.80s\"", node->text);
}

/* Text that is no number may be a formula. */
static bool read_is_words(const struct deck_row *row,
                          const struct deck_node *node)
{
    double value;
    return row->variables != NULL && node->kind == DECK_SCALAR &&
           node->text[0] != '\0' && !storm_text_to_real(node->text, &value);
}

static void read_wrong(const struct reader *r, const struct deck_row *row,
                       struct deck_node *node)
{
    char path[READ_PATH_BYTES], expected[READ_WORDS_BYTES], got[128];
    char fault[STORM_FORMULA_FAULT_BYTES];
    bool words = read_is_words(row, node) && !deck_node_is_null(node) &&
                 storm_formula_check(node->text, row->variables, fault) < 0;
    deck_row_expected(row, expected, sizeof expected);
    read_got(node, got, sizeof got);
    deck_complain(r->problems, node->line, read_path(r, row->key, path),
                  "expected %s, got %s%s%s%s", expected, got, words ? " (" : "",
                  words ? fault : "", words ? ")" : "");
    node->bad = true;
}

/* ---- single values ------------------------------------------------------- */

static bool read_is_plain(struct deck_node *node)
{
    return node->kind == DECK_SCALAR && node->plain && node->text[0] != '\0';
}

static bool read_in_range(const struct deck_row *row, double value)
{
    bool low = row->above ? value > row->min : value >= row->min;
    return low && value <= row->max;
}

static bool read_real(const struct deck_row *row, struct deck_node *node,
                      double *value_out)
{
    double value;
    if (!read_is_plain(node) || !storm_text_to_real(node->text, &value) ||
        !read_in_range(row, value))
        return false;
    *value_out = value;
    return true;
}

static bool read_int(const struct deck_row *row, struct deck_node *node,
                     int64_t *value_out)
{
    int64_t value;
    if (row->choices != NULL && node->kind == DECK_SCALAR &&
        strcmp(node->text, row->choices) == 0) {
        *value_out = DECK_BY_WORD;
        return true;
    }
    if (!read_is_plain(node) || !storm_text_to_int(node->text, &value) ||
        !read_in_range(row, (double)value))
        return false;
    *value_out = value;
    return true;
}

/* Which of "a|b|c"; -1: none. */
static int read_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (int i = 0; *choices != '\0'; i++) {
        size_t n = strcspn(choices, "|");
        if (n == length && memcmp(choices, text, n) == 0)
            return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

static bool read_word(const struct deck_row *row, struct deck_node *node,
                      int *value_out)
{
    int value =
        node->kind == DECK_SCALAR ? read_choice(row->choices, node->text) : -1;
    if (value < 0)
        return false;
    *value_out = value;
    return true;
}

static bool read_words(const struct deck_row *row, struct deck_node *node,
                       unsigned *bits_out)
{
    unsigned bits = 0;
    if (node->kind != DECK_LIST)
        return false;
    for (size_t i = 0; i < node->n; i++) {
        int value;
        node->wrong = i + 1;
        if (!read_word(row, node->items[i], &value))
            return false;
        bits |= 1u << value;
    }
    node->wrong = 0;
    *bits_out = bits;
    return true;
}

static bool read_text(const struct reader *r, struct deck_node *node,
                      char **value_out)
{
    if (node->kind != DECK_SCALAR || node->text[0] == '\0' ||
        deck_node_is_null(node))
        return false;
    *value_out = deck_pool_text(&r->deck->pool, node->text, strlen(node->text));
    return true;
}

static bool read_bool(struct deck_node *node, bool *value_out)
{
    return read_is_plain(node) && storm_text_to_bool(node->text, value_out);
}

/* Into the member of its own; false: it is no formula. */
static bool read_formula(const struct reader *r, const struct deck_row *row,
                         struct deck_node *node)
{
    char fault[STORM_FORMULA_FAULT_BYTES];
    return read_is_words(row, node) &&
           storm_formula_check(node->text, row->variables, fault) == STORM_OK &&
           read_text(r, node,
                     (char **)(void *)((char *)r->into + row->formula_offset));
}

/* ---- several values ------------------------------------------------------ */

static bool read_reals(const struct deck_row *row, struct deck_node *node,
                       double *values_out)
{
    bool good = node->kind == DECK_LIST && node->n == (size_t)row->n;
    for (size_t i = 0; good && i < node->n; i++) {
        good = read_real(row, node->items[i], &values_out[i]);
        node->wrong = good ? 0 : i + 1;
    }
    return good;
}

static bool read_ints(const struct deck_row *row, struct deck_node *node,
                      int64_t *values_out)
{
    bool good = node->kind == DECK_LIST && node->n == (size_t)row->n;
    for (size_t i = 0; good && i < node->n; i++) {
        good = read_int(row, node->items[i], &values_out[i]);
        node->wrong = good ? 0 : i + 1;
    }
    return good;
}

/* A pointer and a number, side by side, of whatever type. */
static void read_store(void *field, const void *array, size_t n)
{
    memcpy(field, &array, sizeof array);
    memcpy((char *)field + sizeof array, &n, sizeof n);
}

static bool read_times(const struct reader *r, const struct deck_row *row,
                       struct deck_node *node, void *field)
{
    if (node->kind != DECK_LIST)
        return false;
    double *values =
        deck_pool_get(&r->deck->pool, (node->n + 1) * sizeof *values);
    if (values == NULL)
        return true; /* the pool has recorded it */
    for (size_t i = 0; i < node->n; i++)
        if (!read_real(row, node->items[i], &values[i])) {
            node->wrong = i + 1;
            return false;
        }
    read_store(field, values, node->n);
    return true;
}

static bool read_points(const struct reader *r, const struct deck_row *row,
                        struct deck_node *node, void *field)
{
    const size_t n = (size_t)row->n;
    if (node->kind != DECK_LIST)
        return false;
    double *values =
        deck_pool_get(&r->deck->pool, (node->n + 1) * n * sizeof *values);
    if (values == NULL)
        return true;
    for (size_t i = 0; i < node->n; i++)
        if (!read_reals(row, node->items[i], &values[n * i])) {
            node->wrong = i + 1;
            return false;
        }
    read_store(field, values, node->n);
    return true;
}

static bool read_texts(const struct reader *r, struct deck_node *node,
                       void *field)
{
    if (node->kind != DECK_LIST)
        return false;
    char **values =
        deck_pool_get(&r->deck->pool, (node->n + 1) * sizeof *values);
    if (values == NULL)
        return true;
    for (size_t i = 0; i < node->n; i++)
        if (!read_text(r, node->items[i], &values[i])) {
            node->wrong = i + 1;
            return false;
        }
    read_store(field, values, node->n);
    return true;
}

static bool read_curve(const struct reader *r, const struct deck_row *row,
                       struct deck_node *node, void *field)
{
    static const struct deck_row time = {.min = -1e300, .max = 1e300};
    size_t n = node->kind == DECK_LIST ? node->n : 1;
    double *points =
        deck_pool_get(&r->deck->pool, 2 * (n + 1) * sizeof *points);
    if (points == NULL)
        return true;
    if (node->kind != DECK_LIST) {
        if (!read_real(row, node, &points[1]))
            return false;
    } else {
        for (size_t i = 0; i < n; i++) {
            struct deck_node *pair = node->items[i];
            if (pair->kind != DECK_LIST || pair->n != 2 ||
                !read_real(&time, pair->items[0], &points[2 * i]) ||
                !read_real(row, pair->items[1], &points[2 * i + 1]) ||
                (i > 0 && !(points[2 * i] > points[2 * i - 2]))) {
                node->wrong = i + 1;
                return false;
            }
        }
        if (n == 0)
            return false;
    }
    read_store(field, points, n);
    return true;
}

/* ---- maps ---------------------------------------------------------------- */

static struct reader read_inside(const struct reader *r, const char *key,
                                 struct deck_node *node, void *into)
{
    struct reader inner = *r;
    inner.into = into;
    inner.line = node->line;
    read_path(r, key, inner.path);
    return inner;
}

/* A list of maps; for ONE_OR_MORE also a single map. */
static bool read_list(const struct reader *r, const struct deck_row *row,
                      struct deck_node *node, void *field)
{
    bool single = row->kind == DECK_ONE_OR_MORE && node->kind == DECK_MAP;
    if (node->kind != DECK_LIST && !single)
        return false;
    size_t n = single ? 1 : node->n;
    char *items = deck_pool_get(&r->deck->pool, (n + 1) * row->bytes);
    if (items == NULL)
        return true;
    for (size_t i = 0; i < n; i++) {
        struct deck_node *item = single ? node : node->items[i];
        char key[READ_PATH_BYTES];
        if (single)
            snprintf(key, sizeof key, "%s", row->key);
        else
            snprintf(key, sizeof key, "%s.%zu", row->key, i);
        struct reader inner = read_inside(r, key, item, items + i * row->bytes);
        if (item->kind == DECK_MAP) {
            read_rows(&inner, row->rows, item);
        } else {
            char got[128];
            read_got(item, got, sizeof got);
            deck_complain(r->problems, item->line, inner.path,
                          "expected a map, got %s", got);
        }
    }
    read_store(field, items, n);
    return true;
}

bool deck_key_is_number(const char *key)
{
    int64_t value;
    return key[strspn(key, "0123456789")] == '\0' &&
           (key[0] != '0' || key[1] == '\0') &&
           storm_text_to_int(key, &value) && value <= DECK_MAX_NUMBER;
}

/* All keys of the map that are numbers. */
static void read_numbered(const struct reader *r, const struct deck_row *row,
                          struct deck_node *map)
{
    struct deck_row each = *row;
    struct deck_boundary *items =
        deck_pool_get(&r->deck->pool, (map->n + 1) * sizeof *items);
    size_t n = 0;
    each.kind = DECK_ONE_OR_MORE;
    for (size_t i = 0; items != NULL && i < map->n; i++) {
        if (!deck_key_is_number(map->keys[i]))
            continue;
        each.key = map->keys[i];
        (void)storm_text_to_int(map->keys[i], &items[n].number);
        items[n].line = map->key_lines[i];
        if (!read_list(r, &each, map->items[i], &items[n].wall))
            read_wrong(r, &each, map->items[i]);
        n++;
    }
    read_store((char *)r->into + row->offset, items, n);
}

/* `seed`, or the map `transport`: rows of the option table. */
static void read_option(const struct reader *r, const char *key,
                        struct deck_node *node)
{
    char problem[READ_WORDS_BYTES] = "";
    const struct storm_option *row = storm_option_find(key);
    const char *text = node->kind == DECK_SCALAR ? node->text : NULL;
    if (row == NULL || strcmp(row->key, key) != 0) {
        if (storm_options_set(r->deck->options, key, "", problem,
                              sizeof problem) == STORM_OK)
            return; /* cannot be: there is no such key */
        const char *hint = strstr(problem, "did you mean");
        deck_complain(r->problems, node->line, key, "unknown key%s%s",
                      hint != NULL ? "; " : ": options.md lists them",
                      hint != NULL ? hint : "");
        return;
    }
    if (storm_options_set(r->deck->options, key, text, problem,
                          sizeof problem) == STORM_OK)
        return;
    const char *expected = strstr(problem, "expected");
    deck_complain(r->problems, node->line, key, "%s",
                  expected != NULL ? expected : problem);
}

static bool read_options(const struct reader *r, const struct deck_row *row,
                         struct deck_node *node)
{
    const struct storm_option *option = storm_option_find(row->key);
    if (option != NULL && strcmp(option->key, row->key) == 0) {
        read_option(r, row->key, node);
        return true;
    }
    if (node->kind != DECK_MAP)
        return false;
    for (size_t i = 0; i < node->n; i++) {
        char key[READ_PATH_BYTES];
        snprintf(key, sizeof key, "%s.%.200s", row->key, node->keys[i]);
        read_option(r, key, node->items[i]);
    }
    return true;
}

static bool read_value(const struct reader *r, const struct deck_row *row,
                       struct deck_node *node)
{
    void *field = (char *)r->into + row->offset;
    switch (row->kind) {
    case DECK_TEXT:
        return read_text(r, node, field);
    case DECK_WORD:
        return read_word(row, node, field);
    case DECK_WORDS:
        return read_words(row, node, field);
    case DECK_BOOL:
        return read_bool(node, field);
    case DECK_INT:
        return read_int(row, node, field);
    case DECK_REAL:
        return read_real(row, node, field) || read_formula(r, row, node);
    case DECK_INTS:
        return read_ints(row, node, field);
    case DECK_REALS:
        return read_reals(row, node, field);
    case DECK_TIMES:
        return read_times(r, row, node, field);
    case DECK_POINTS:
        return read_points(r, row, node, field);
    case DECK_TEXTS:
        return read_texts(r, node, field);
    case DECK_CURVE:
        return read_curve(r, row, node, field) || read_formula(r, row, node);
    case DECK_LISTED:
    case DECK_ONE_OR_MORE:
        return read_list(r, row, node, field);
    case DECK_OPTIONS:
        return read_options(r, row, node);
    case DECK_NUMBERED: /* of several keys: read_numbered */
    case DECK_ENTRY:
        break;
    }
    if (node->kind != DECK_MAP)
        return false;
    struct reader inner = read_inside(r, row->key, node, field);
    read_rows(&inner, row->rows, node);
    return true;
}

/* The default, which is YAML as well; "" is none. */
static void read_default(const struct reader *r, const struct deck_row *row)
{
    if (row->default_yaml[0] == '\0')
        return;
    struct deck_problems none = {.file = "default"};
    struct deck_node *node = deck_node_read(&r->deck->pool, row->default_yaml,
                                            strlen(row->default_yaml), &none);
    bool good = node == NULL || (none.n == 0 && read_value(r, row, node));
    STORM_ASSERT(good || r->deck->pool.failed);
    (void)good;
}

/* ---- rows ---------------------------------------------------------------- */

/* The value of `shape` that rows depend on; NULL: invalid, all rows apply. */
static const char *read_shape(const struct deck_row *rows,
                              struct deck_node *map)
{
    struct deck_node *node = deck_node_find(map, "shape");
    for (; rows->key != NULL; rows++)
        if (strcmp(rows->key, "shape") == 0)
            break;
    if (rows->key == NULL || node == NULL)
        return "all";
    int value;
    return read_word(rows, node, &value) ? node->text : NULL;
}

static bool read_applies(const struct deck_row *row, const char *shape)
{
    return row->when == NULL ||
           (shape != NULL && strcmp(row->when, shape) == 0);
}

static const char *read_nearest(const struct deck_row *rows, const char *key)
{
    const char *nearest = NULL;
    size_t best = 2 + strlen(key) / 6; /* 1 + 1 per 6 letters, or less */
    for (; rows->key != NULL; rows++) {
        size_t distance = storm_text_distance(key, rows->key, best);
        if (distance < best) {
            best = distance;
            nearest = rows->key;
        }
    }
    return nearest;
}

static void read_unknown(const struct reader *r, const struct deck_row *rows,
                         struct deck_node *map, size_t i, const char *shape)
{
    char path[READ_PATH_BYTES], known[READ_WORDS_BYTES] = "";
    const char *nearest = read_nearest(rows, map->keys[i]);
    read_path(r, map->keys[i], path);
    for (const struct deck_row *row = rows; row->key != NULL; row++)
        if (strcmp(row->key, map->keys[i]) == 0) { /* of another shape */
            deck_complain(r->problems, map->key_lines[i], path,
                          "does not go with shape %s", shape);
            return;
        }
    for (; rows->key != NULL; rows++) {
        size_t used = strlen(known);
        if (read_applies(rows, shape) && used < sizeof known)
            snprintf(known + used, sizeof known - used, "%s%s",
                     used > 0 ? ", " : "", rows->key);
    }
    if (nearest != NULL)
        deck_complain(r->problems, map->key_lines[i], path,
                      "unknown key; did you mean '%s'?", nearest);
    else
        deck_complain(r->problems, map->key_lines[i], path,
                      "unknown key; expected one of %s", known);
}

static void read_missing(const struct reader *r, const struct deck_row *row)
{
    char path[READ_PATH_BYTES], expected[READ_WORDS_BYTES];
    deck_row_expected(row, expected, sizeof expected);
    deck_complain(r->problems, r->line, read_path(r, row->key, path),
                  "is required: expected %s", expected);
}

/* May the key be left empty, as `sources:` with nothing below? */
static bool read_may_be_empty(const struct deck_row *row)
{
    return row->default_yaml != NULL &&
           (row->kind == DECK_ENTRY || row->kind == DECK_LISTED ||
            row->kind == DECK_ONE_OR_MORE || row->kind == DECK_OPTIONS);
}

static void read_rows(const struct reader *r, const struct deck_row *rows,
                      struct deck_node *map)
{
    const char *shape = read_shape(rows, map);
    for (size_t i = 0; i < map->n; i++) {
        bool known = false;
        for (const struct deck_row *row = rows; row->key != NULL; row++)
            if ((row->kind == DECK_NUMBERED
                     ? deck_key_is_number(map->keys[i])
                     : strcmp(row->key, map->keys[i]) == 0) &&
                (shape == NULL || read_applies(row, shape)))
                known = true;
        if (!known)
            read_unknown(r, rows, map, i, shape != NULL ? shape : "");
    }
    for (const struct deck_row *row = rows; row->key != NULL; row++) {
        if (!read_applies(row, shape))
            continue;
        if (row->kind == DECK_NUMBERED) {
            read_numbered(r, row, map);
            continue;
        }
        struct deck_node *node = deck_node_find(map, row->key);
        if (node != NULL && deck_node_is_null(node) && read_may_be_empty(row))
            node = NULL;
        if (row->default_yaml != NULL)
            read_default(r, row);
        if (node == NULL && row->default_yaml == NULL) {
            read_missing(r, row);
            map->lacks = true;
            if (row->kind == DECK_ENTRY) /* so that checks find something */
                read_value(r, row, &(struct deck_node){.kind = DECK_MAP});
        } else if (node != NULL && !read_value(r, row, node))
            read_wrong(r, row, node);
    }
}

void deck_fill(struct storm_deck *deck, struct deck_node *root,
               struct deck_problems *problems)
{
    struct reader r = {.deck = deck,
                       .problems = problems,
                       .line = root->line > 0 ? root->line : 1,
                       .into = &deck->values};
    if (root->kind != DECK_MAP) {
        char got[128];
        read_got(root, got, sizeof got);
        deck_complain(problems, r.line, "",
                      "expected a deck, that is a map of keys, got %s", got);
        return;
    }
    read_rows(&r, deck_schema, root);
}
