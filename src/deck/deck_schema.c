/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of deck_keys.h as tables of rows, one for each map. */
#include "deck/deck.h"

#define REQUIRED NULL
#define WHEN(_shape) , .when = _shape
#define FORMULA(_struct, _member, _variables) \
    , .variables = _variables,                \
      .formula_offset = offsetof(struct _struct, _member)

/* Types of deck_keys.h as parts of a row. */
#define RANGE(_min, _max) .min = _min, .max = _max
#define DECK_ROW_TEXT .kind = DECK_TEXT
#define DECK_ROW_BOOL .kind = DECK_BOOL
#define DECK_ROW_WORD(_choices) .kind = DECK_WORD, .choices = _choices
#define DECK_ROW_WORDS(_choices) .kind = DECK_WORDS, .choices = _choices
#define DECK_ROW_INT(_min, _max) .kind = DECK_INT, RANGE(_min, _max)
#define DECK_ROW_INT_OR(_min, _max, _word) \
    .kind = DECK_INT, RANGE(_min, _max), .choices = _word
#define DECK_ROW_INT3(_min, _max) .kind = DECK_INTS, .n = 3, RANGE(_min, _max)
#define DECK_ROW_REAL(_min, _max) .kind = DECK_REAL, RANGE(_min, _max)
#define DECK_ROW_REAL_ABOVE(_min, _max) DECK_ROW_REAL(_min, _max), .above = true
#define DECK_ROW_REALS(_n, _min, _max) \
    .kind = DECK_REALS, .n = _n, RANGE(_min, _max)
#define DECK_ROW_REAL3(_min, _max) DECK_ROW_REALS(3, _min, _max)
#define DECK_ROW_POSITIVE(_max) DECK_ROW_REAL_ABOVE(0, _max)
#define DECK_ROW_POSITIVE3(_max) DECK_ROW_REAL3(0, _max), .above = true
#define DECK_ROW_TIMES(_min, _max) .kind = DECK_TIMES, RANGE(_min, _max)
#define DECK_ROW_POSITIVES(_max) DECK_ROW_TIMES(0, _max), .above = true
#define DECK_ROW_POINTS(_min, _max) \
    .kind = DECK_POINTS, .n = 3, RANGE(_min, _max)
#define DECK_ROW_TEXTS .kind = DECK_TEXTS
#define DECK_ROW_CURVE(_min, _max) .kind = DECK_CURVE, RANGE(_min, _max)
#define DECK_ROW_MAP(_map) .kind = DECK_ENTRY, .rows = deck_##_map##_rows
#define DECK_ROW_LIST(_struct, _map)                 \
    .kind = DECK_LISTED, .rows = deck_##_map##_rows, \
    .bytes = sizeof(struct _struct)
#define DECK_ROW_EDGES                                \
    .kind = DECK_ONE_OR_MORE, .rows = deck_edge_rows, \
    .bytes = sizeof(struct storm_wall_part)

#define DECK_ROW_NUMBERED                          \
    .kind = DECK_NUMBERED, .rows = deck_edge_rows, \
    .bytes = sizeof(struct storm_wall_part)

#define FIELD_ROW(_struct, _member, _key, _type, _default, _help) \
    {.key = _key,                                                 \
     .offset = offsetof(struct _struct, _member),                 \
     .default_yaml = _default,                                    \
     .help = _help,                                               \
     DECK_ROW_##_type},
#define KEY_ROW(_map, _key, _type, _default, _help) \
    {.key = #_key,                                  \
     .offset = offsetof(struct deck_##_map, _key),  \
     .default_yaml = _default,                      \
     .help = _help,                                 \
     DECK_ROW_##_type},
#define OPTIONS_ROW(_key, _default, _help) \
    {.key = #_key,                         \
     .kind = DECK_OPTIONS,                 \
     .default_yaml = _default,             \
     .help = _help},

#define FIELD_TABLE(_map)                                 \
    static const struct deck_row deck_##_map##_rows[] = { \
        DECK_FIELDS_##_map(FIELD_ROW){.key = NULL}};
#define KEY_TABLE(_map)                                   \
    static const struct deck_row deck_##_map##_rows[] = { \
        DECK_KEYS_##_map(KEY_ROW){.key = NULL}};

DECK_MAPS_OF_FIELDS(FIELD_TABLE)
DECK_MAPS_OF_KEYS(KEY_TABLE)

const struct deck_row deck_schema[] = {
    DECK_KEYS_values(KEY_ROW, OPTIONS_ROW){.key = NULL}};
