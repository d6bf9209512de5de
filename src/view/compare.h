/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of storm_compare.
 *
 *   compare.c           what is compared; norms; the result
 *   compare_runs.c      two runs, cell by cell
 *   compare_tables.c    profiles, of a run or as CSV files
 *   compare_json.c      two JSON files
 *   compare_picture.c   pictures of differences
 */
#ifndef STORM_VIEW_COMPARE_H
#define STORM_VIEW_COMPARE_H

#include <storm/compare.h>

#include "base/json.h"
#include "view/plot.h"

/* Label in the book. */
#define COMPARE_LABEL "compare"

struct compare {
    struct storm_memory *memory; /* of the call */
    struct storm_compare_params params;
    char problem[4 * IO_READER_PATH];
    struct storm_page table;
    struct storm_json json;
    bool beyond;                /* something is */
    struct storm_page excesses; /* which, for people */
};

/* Sets the message and returns the status. */
storm_status compare_fail(struct compare *c, storm_status status,
                          const char *format, ...) STORM_PRINTF(3, 4);

/* Is the name in the list of params? NULL: every name is. */
bool compare_wants(const struct compare *c, const char *name);

/* Are two times the same, within rounding? */
bool compare_same_time(double a, double b);

/* The last part of a path. */
const char *compare_name(const char *path);

/* ---- norms --------------------------------------------------------------- */

/* Two values at one place. One that is not finite is none. */
struct compare_pair {
    double a, b;
    double weight; /* volume */
    double error;  /* standard error of a - b; negative: not known */
    double at[3];
};

/* The difference of a field. Sums over the places where both have a value. */
struct compare_norms {
    const char *name;
    int n_at;                         /* coordinates of a place */
    uint64_t n;                       /* places */
    uint64_t n_single;                /* places where only one has a value */
    double weight, sum, squares, max; /* of |a - b|, by weight */
    double of_b, of_b_squares, max_b; /* of |b| */
    struct compare_pair worst;        /* where the max is */
    uint64_t n_errors;                /* places with a standard error */
    uint64_t n_exact;                 /* they differ, with an error of 0 */
    double error_squares, max_errors; /* of |a - b| / error */
};

void compare_add(struct compare_norms *norms, const struct compare_pair *pair);

/* The heading of a table of norms; `at`: what the last column has. */
void compare_head(struct compare *c, const char *at);

/* Adds the row, to the JSON an object, and looks whether it is within. */
void compare_row(struct compare *c, const struct compare_norms *norms);

/* ---- what is compared ---------------------------------------------------- */

storm_status compare_runs(struct compare *c);
storm_status compare_tables(struct compare *c, bool a_is_run);
storm_status compare_json(struct compare *c);

/* ---- pictures (compare_picture.c) ---------------------------------------- */

/* "-radiation_energy-12" and so on: compare-...svg. */
storm_status compare_deliver(struct compare *c, const char *what,
                             const char *caption, char *svg);

/* A difference over a line. */
struct compare_line {
    const char *what;  /* see compare_deliver */
    const char *words; /* of the field */
    const char *when;  /* "" or the time */
    const char *x, *y; /* labels */
    size_t n;
    const double *position, *difference;
    const double *error; /* of the difference; negative: none */
};
storm_status compare_draw_line(struct compare *c,
                               const struct compare_line *line);

/* A slice of A's mesh, with a scale that is even about 0. */
struct compare_slice {
    const char *what, *words, *when, *label;
    const double *difference; /* by cell */
};
storm_status compare_draw_slice(struct compare *c, struct plot_run *plot,
                                const struct compare_slice *slice);

#endif /* STORM_VIEW_COMPARE_H */
