/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deck that was read: all values, defaults included.
 *
 *   DECK-1  One table (deck_keys.h) has all keys, the values they take and
 *           their defaults; the structs below, reading, messages, the resolved
 *           deck and docs/deck.md come from it.
 *   DECK-2  All errors are reported at once, each with file, line, key and what
 *           was expected.
 *   DECK-3  The text of a resolved deck reads back to the same text.
 */
#ifndef STORM_DECK_DECK_H
#define STORM_DECK_DECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/deck.h>
#include <storm/problem.h>

#include <storm_meshes.h>

#include "deck/deck_keys.h"
#include "deck/deck_node.h"

/* Words of the table, in its order. */
enum deck_motion_kind {
    DECK_MOTION_NONE,
    DECK_MOTION_TRANSLATE,
    DECK_MOTION_VORTEX,
    DECK_MOTION_EXPAND
};
enum deck_control { DECK_CONTROL_FIXED, DECK_CONTROL_ACCURACY };
enum deck_interfaces { DECK_INTERFACES_PLAIN, DECK_INTERFACES_SHARP };
enum deck_weight { DECK_WEIGHT_STEPS, DECK_WEIGHT_CELLS, DECK_WEIGHT_NONE };
enum { DECK_BY_WORD = -1 }; /* INT_OR: the word in place of a number */
enum deck_host { DECK_HOST_NONE, DECK_HOST_CELLS };

/* What a list of maps or of numbers is read into: from the pool. */
#define DECK_LIST_OF(_type) \
    struct {                \
        _type *item;        \
        size_t n;           \
    }

typedef int64_t deck_int3[3];
typedef double deck_real3[3];

/* Types of deck_keys.h as members. Limits and choices are the table's. */
#define DECK_TYPE_TEXT char *
#define DECK_TYPE_BOOL bool
#define DECK_TYPE_WORD(...) int       /* which of the choices */
#define DECK_TYPE_WORDS(...) unsigned /* bits */
#define DECK_TYPE_INT(...) int64_t
#define DECK_TYPE_INT_OR(...) int64_t
#define DECK_TYPE_INT3(...) deck_int3
#define DECK_TYPE_REAL(...) double
#define DECK_TYPE_REAL3(...) deck_real3
#define DECK_TYPE_POSITIVE(...) double
#define DECK_TYPE_POSITIVE3(...) deck_real3
#define DECK_TYPE_TIMES(...) DECK_LIST_OF(double)
#define DECK_TYPE_POSITIVES(...) DECK_LIST_OF(double)
#define DECK_TYPE_POINTS(...) DECK_LIST_OF(deck_real3)
#define DECK_TYPE_TEXTS DECK_LIST_OF(char *)
#define DECK_TYPE_MAP(_map) struct deck_##_map
#define DECK_TYPE_LIST(_struct, _map) DECK_LIST_OF(struct _struct)

#define DECK_MEMBER(_map, _key, _type, _default, _help) DECK_TYPE_##_type _key;
#define DECK_NO_MEMBER(_key, _default, _help)
#define DECK_STRUCT(_map)             \
    struct deck_##_map {              \
        DECK_KEYS_##_map(DECK_MEMBER) \
    };

/* A material, and where its matter comes from. */
struct deck_material {
    struct storm_material laws;
    char *table; /* "none": the laws */
    int beyond;  /* storm_table_beyond */
};

struct deck_region {
    char *material;
    struct storm_shape shape;
    int64_t number; /* of cells of a mesh from a file; 0: any */
    int line;       /* of it in the deck */
};

struct deck_lineout {
    char *name;
    double from[3], to[3]; /* cm */
    int64_t points;
};

struct deck_tally {
    char *name;
    int where;   /* storm_tally_where */
    unsigned by; /* bits: enum deck_tally_by */
    int64_t time_bins, mu_bins, azimuth_bins;
    double from, to;
    DECK_LIST_OF(double) time_edges;
    DECK_LIST_OF(double) mu_edges;
    int clock; /* 1: of the observer */
    double origin[3], towards[3];
    char *material;
    struct storm_shape shape;
};
enum deck_tally_by {
    DECK_TALLY_TIME = 1 << 0,
    DECK_TALLY_GROUP = 1 << 1,
    DECK_TALLY_DIRECTION = 1 << 2,
    DECK_TALLY_WALL = 1 << 3,
    DECK_TALLY_SIDE = 1 << 4
};

/* The boundary with a number of a mesh from a file. */
struct deck_boundary {
    int64_t number;
    int line;
    struct storm_wall wall;
};

struct deck_walls {
    struct storm_wall wall[STORM_N_WALLS];
    DECK_LIST_OF(struct deck_boundary) numbered;
};

/* The table in deck_keys.h makes struct deck_time, deck_output and so on: one
 * struct deck_<map> for each of its maps, then one of all of them. */
DECK_MAPS_OF_KEYS(DECK_STRUCT)
struct deck_values {
    DECK_KEYS_values(DECK_MEMBER, DECK_NO_MEMBER)
};

struct storm_deck {
    struct storm_memory *memory; /* all of it is in */
    struct deck_pool pool;
    struct deck_values values;
    void *file;                       /* as it was read; NULL: from memory */
    struct storm_options *options;    /* seed and transport */
    struct storm_region *regions;     /* as many as values.regions */
    struct storm_material *materials; /* as many as values.materials */
    const char *path;                 /* of the file; NULL: from memory */
    struct storm_wall *boundaries;    /* by number; NULL: none */
    size_t n_boundaries;
    char *text; /* resolved; from malloc */
};

/* ---- the table ----------------------------------------------------------- */

enum deck_kind {
    DECK_TEXT,   /* char * */
    DECK_WORD,   /* int: which of `choices` */
    DECK_WORDS,  /* unsigned: a list of them, as bits */
    DECK_BOOL,   /* bool */
    DECK_INT,    /* int64_t, also for uint64_t; with `choices` also a word */
    DECK_REAL,   /* double */
    DECK_INTS,   /* int64_t[n] */
    DECK_REALS,  /* double[n] */
    DECK_TIMES,  /* { double *; size_t }: any number of them */
    DECK_POINTS, /* { double (*)[n]; size_t }: any number of lists of n */
    DECK_TEXTS,  /* { char **; size_t } */
    DECK_CURVE,  /* struct storm_curve: a number, or [[time, number], ...] */
    DECK_ENTRY,  /* a map of more rows: a struct */
    DECK_LISTED, /* { void *; size_t }: a list of maps */
    DECK_ONE_OR_MORE, /* the same; a single map is a list of one */
    DECK_NUMBERED, /* { struct deck_boundary *; size_t }: a ONE_OR_MORE for each
                      key that is a number */
    DECK_OPTIONS   /* a map of options of the option table */
};

struct deck_row {
    const char *key;
    enum deck_kind kind;
    size_t offset;
    const char *default_yaml; /* NULL: required */
    double min, max;          /* of numbers */
    bool above;               /* more than min */
    const char *choices;
    int n;                       /* INTS, REALS */
    const char *when;            /* only with this `shape` */
    const char *variables;       /* REAL, CURVE: of a formula; NULL: none */
    size_t formula_offset;       /* of its text */
    const struct deck_row *rows; /* ENTRY, LISTED, ONE_OR_MORE; the last has a
                                    NULL key */
    size_t bytes;                /* LISTED, ONE_OR_MORE: of one */
    const char *help;
};

extern const struct deck_row deck_schema[];

/* deck_read.c: "a number from 0 to 1", what a row takes. */
void deck_row_expected(const struct deck_row *row, char *text_out,
                       size_t bytes);

/* deck_read.c: is it a number that DECK_NUMBER_KEY stands for? */
bool deck_key_is_number(const char *key);

/* deck_read.c: fills values from the tree; adds errors to the problems. */
void deck_fill(struct storm_deck *deck, struct deck_node *root,
               struct deck_problems *problems);

/* deck_check.c: checks of several keys together, and defaults that depend on
 * others. */
void deck_check(struct storm_deck *deck, struct deck_node *root,
                struct deck_problems *problems);

/* Reports a fault of the problem: storm_problem_check. */
typedef void deck_fault(void *self, const char *path, const char *member,
                        const char *other, const char *message);

/* deck_formulas.c: values of formulas of time where these begin and end. */
void deck_check_formulas(const struct storm_deck *deck,
                         const struct storm_problem *problem, deck_fault *fault,
                         void *self);

/* A file of the deck's folder: from here on an absolute path, so that the
 * resolved deck can be elsewhere. NULL: as it is. */
char *deck_resolve(struct storm_deck *deck, const char *name);

/* deck_groups.c: edges of groups, from the deck or a file of it; the resolved
 * deck has the numbers. */
void deck_check_groups(struct storm_deck *deck, const struct deck_node *root,
                       struct deck_problems *problems);

/* deck_lineout.c: checks of output.lineouts. */
void deck_check_lineouts(struct storm_deck *deck, const struct deck_node *root,
                         struct deck_problems *problems);

/* May it be a part of the name of a file? */
bool deck_is_file_name(const char *name);

/* deck_tally.c: the same for output.tallies. */
void deck_check_tallies(struct storm_deck *deck, const struct deck_node *root,
                        struct deck_problems *problems);

/* The problem of the deck but for its seed, which is an option. It points into
 * the deck. */
void deck_get_problem(const struct storm_deck *deck,
                      struct storm_problem *problem_out);

/* deck_write.c: the resolved deck; NULL if memory ran out. From malloc. */
char *deck_write(const struct storm_deck *deck);

#endif /* STORM_DECK_DECK_H */
