/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of time: tables, and formulas, of which a table is made for each
 * step.
 *
 *   CURVE-1  The table of a formula goes through the formula at its points, and
 *            in between is off by at most 1e-5 of its largest value in the step
 *            where the formula has been looked at: at the middle of each
 *            interval, and in at least 32 intervals. A jump is at most 2^-30 of
 *            the step wide.
 *   CURVE-2  All that is derived from it, integrals and times of packets, is
 *            exact for the table: no bound can be exceeded.
 *   CURVE-3  It is a function of the formula, the step and `max`: the same on
 *            every rank.
 */
#ifndef STORM_PHYSICS_CURVE_H
#define STORM_PHYSICS_CURVE_H

#include <storm/problem.h>

#include "base/env.h"
#include "base/formula.h"

/* A part of a step. */
struct curve_window {
    double from, to;
};

/* A table, or a formula and the table of it for this step. */
struct curve {
    struct storm_curve table;
    struct storm_formula *formula; /* NULL: the caller's table is all */
    double *points;                /* of it */
};

/* Borrows the points; compiles `formula` unless it is NULL. */
storm_status curve_open(const struct storm_env *env,
                        const struct storm_curve *points, const char *formula,
                        struct curve *curve_out);
void curve_close(const struct storm_env *env, struct curve *curve);

/* What a value is called in messages, and its largest. */
struct curve_limits {
    const char *name;
    double max;
};

/* Makes the table of a formula for this window. STORM_ERR_ARG, logged by rank
 * 0: it has no number from 0 to max at some time, or changes too often. The
 * same on every rank. */
storm_status curve_begin(const struct storm_env *env, struct curve *curve,
                         struct curve_window window,
                         const struct curve_limits *limits);

/* The value at a time. */
double curve_at(const struct storm_curve *table, double time_s);

/* The integral of the value to the power n, 1 or 4, over the window, and the
 * largest value in it. */
double curve_integral(const struct storm_curve *table,
                      struct curve_window window, int n, double *max_out);

#endif /* STORM_PHYSICS_CURVE_H */
