/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deck that was read: all values, defaults included.
 *
 *   D1  One table (deck_schema.c) says which keys there are, what they take
 *       and what they are otherwise; reading, messages, the resolved deck and
 *       docs/deck.md come from it.
 *   D2  All that is wrong is said at once, each with file, line, key and what
 *       was expected.
 *   D3  The text of a resolved deck reads back to the same text.
 */
#ifndef STORM_DECK_DECK_H
#define STORM_DECK_DECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/deck.h>
#include <storm/problem.h>

#include <storm_meshes.h>

#include "deck/deck_node.h"

enum deck_motion_kind {
    DECK_MOTION_NONE,
    DECK_MOTION_TRANSLATE,
    DECK_MOTION_ROTATE,
    DECK_MOTION_EXPAND,
    DECK_MOTION_SHEAR
};
enum deck_weight { DECK_WEIGHT_STEPS, DECK_WEIGHT_CELLS, DECK_WEIGHT_NONE };

struct deck_mesh {
    int kind; /* enum storm_mesh_kind */
    double lo[3], hi[3];
    int64_t cells[3];
    double stretch[3];
    int64_t level, refine_levels;
    int64_t points, lloyd;
    char *points_file; /* or "none" */
    double refine_interfaces;
    int64_t seed;
    struct {
        int kind, axis;
        double velocity[3], rate;
    } motion;
};

struct deck_region {
    char *material;
    struct storm_shape shape;
};

struct deck_time {
    double dt, growth, dt_max, stop;
    int64_t steps; /* 0: until stop */
};

struct deck_output {
    int64_t every;
    struct {
        double *value;
        size_t n;
    } times;
    int radiation; /* 0: path, 1: census */
    int profile_axis;
    int64_t profile_bins; /* 0: none */
    int64_t checkpoint_every, checkpoint_keep;
};

/* What the table fills. Lists are an array from the pool and a number. */
struct deck_values {
    char *title;
    double light, radiation;
    struct deck_mesh mesh;
    struct {
        struct storm_material *item;
        size_t n;
    } materials;
    struct {
        struct deck_region *item;
        size_t n;
    } regions;
    struct storm_edges walls[STORM_N_WALLS];
    struct {
        struct storm_source *item;
        size_t n;
    } sources;
    struct deck_time time;
    int64_t n_groups;
    double group_min, group_max;
    int64_t emit_per_cell, min_per_cell, max_per_cell;
    int population; /* 0: comb, 1: none */
    int steer;      /* 0: number, 1: error */
    bool random_walk;
    int64_t balance_every;
    int balance_weight;
    struct deck_output output;
};

struct storm_deck {
    struct storm_memory *memory; /* all of it is in */
    struct deck_pool pool;
    struct deck_values values;
    void *file;                    /* as it was read; NULL: from memory */
    struct storm_options *options; /* seed and transport */
    struct storm_region *regions;  /* as many as values.regions */
    char *text;                    /* resolved; from malloc */
};

/* ---- the table ------------------------------------------------------------ */

enum deck_kind {
    DECK_TEXT,   /* char * */
    DECK_WORD,   /* int: which of `choices` */
    DECK_BOOL,   /* bool */
    DECK_INT,    /* int64_t, also for uint64_t */
    DECK_REAL,   /* double */
    DECK_INTS,   /* int64_t[n] */
    DECK_REALS,  /* double[n] */
    DECK_TIMES,  /* { double *; size_t }: any number of them */
    DECK_CURVE,  /* struct storm_curve: a number, or [[time, number], ...] */
    DECK_ENTRY,  /* a map of more rows, into the same struct */
    DECK_LISTED, /* { void *; size_t }: a list of maps */
    DECK_SPLIT,  /* the same; a single map is a list of one */
    DECK_OPTIONS /* a map of options of the option table */
};

struct deck_row {
    const char *key;
    enum deck_kind kind;
    size_t offset;
    const char *preset; /* as YAML; NULL: required */
    double min, max;    /* of numbers */
    bool above;         /* more than min */
    const char *choices;
    int n;                       /* INTS, REALS */
    const char *when;            /* only with this `shape` */
    const struct deck_row *rows; /* ENTRY, LISTED, SPLIT; ended by a NULL key */
    size_t bytes;                /* LISTED, SPLIT: of one */
    const char *help;
};

extern const struct deck_row deck_schema[];

/* deck_read.c: "a number from 0 to 1", what a row takes. */
void deck_row_expected(const struct deck_row *row, char *text_out,
                       size_t bytes);

/* deck_read.c: fills values from the tree; says what is wrong. */
void deck_fill(struct storm_deck *deck, struct deck_node *root,
               struct deck_problems *problems);

/* deck_sense.c: what several keys must be together. */
void deck_make_sense(struct storm_deck *deck, const struct deck_node *root,
                     struct deck_problems *problems);

/* deck_write.c: the resolved deck; NULL if memory ran out. From malloc. */
char *deck_write(const struct storm_deck *deck);

#endif /* STORM_DECK_DECK_H */
