/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of time. */
#include "physics/curve.h"

#include <math.h>

enum {
    CURVE_PARTS = 32,      /* intervals to begin with */
    CURVE_MAX_HALVES = 25, /* of each: 2^-30 of the window */
    CURVE_MAX_POINTS = 16384
};

/* Off by at most this part of the largest value. */
static const double curve_tolerance = 1e-5;

static const char curve_label[] = "curves";

/* ---- tables ------------------------------------------------------------- */

double curve_at(const struct storm_curve *table, double time_s)
{
    const double *p = table->points;
    size_t low = 0, high = table->n - 1;
    if (!(time_s > p[0]))
        return p[1];
    if (!(time_s < p[2 * high]))
        return p[2 * high + 1];
    while (high - low > 1) { /* between these two */
        size_t middle = (low + high) / 2;
        if (time_s < p[2 * middle])
            high = middle;
        else
            low = middle;
    }
    p += 2 * low;
    return p[1] + (p[3] - p[1]) * ((time_s - p[0]) / (p[2] - p[0]));
}

/* Integral of the 4th power of what is linear in between. */
static double curve_linear_4(double y0, double y1, double seconds)
{
    double a = y0 * y0, b = y1 * y1;
    return seconds * (a * a + a * y0 * y1 + a * b + y0 * y1 * b + b * b) / 5.0;
}

double curve_integral(const struct storm_curve *table,
                      struct curve_window window, int n, double *max_out)
{
    double from = window.from, sum = 0.0;
    double y_from = curve_at(table, from), max = y_from;
    for (size_t i = 0; i <= table->n && from < window.to; i++) {
        double to =
            i < table->n ? fmin(table->points[2 * i], window.to) : window.to;
        if (!(to > from))
            continue;
        double y_to = curve_at(table, to);
        sum += n == 4 ? curve_linear_4(y_from, y_to, to - from)
                      : 0.5 * (y_from + y_to) * (to - from);
        max = fmax(max, y_to);
        from = to;
        y_from = y_to;
    }
    *max_out = max;
    return sum;
}

/* ---- formulas ----------------------------------------------------------- */

storm_status curve_open(const struct storm_env *env,
                        const struct storm_curve *points, const char *formula,
                        struct curve *curve_out)
{
    *curve_out = (struct curve){.table = *points};
    if (formula == NULL)
        return STORM_OK;
    curve_out->formula = storm_formula_make(env->memory, formula);
    curve_out->points =
        storm_alloc(env->memory, curve_label,
                    2 * CURVE_MAX_POINTS * sizeof *curve_out->points);
    return curve_out->formula != NULL && curve_out->points != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

void curve_close(const struct storm_env *env, struct curve *curve)
{
    storm_free(env->memory, curve->formula);
    storm_free(env->memory, curve->points);
    *curve = (struct curve){.formula = NULL};
}

/* A table that is being made. */
struct curve_making {
    const struct storm_env *env;
    const struct curve_limits *limits;
    struct curve *curve;
    size_t n;
    double largest; /* of the first look */
    bool failed;
};

static double curve_evaluate(struct curve_making *m, double time_s)
{
    const double at[STORM_FORMULA_VARIABLES] = {[STORM_FORMULA_T] = time_s};
    double value = storm_formula_value(m->curve->formula, at);
    if (m->failed || (value >= 0.0 && value <= m->limits->max))
        return value;
    m->failed = true;
    storm_log_shared(&m->env->log, 0,
                     "%s: expected its formula to give a number from 0 to %g, "
                     "got %g at time %.17g s",
                     m->limits->name, m->limits->max, value, time_s);
    return 0.0;
}

static void curve_add(struct curve_making *m, double time_s, double value)
{
    double *points = m->curve->points;
    if (m->failed || (m->n > 0 && !(time_s > points[2 * m->n - 2])))
        return;
    if (m->n == CURVE_MAX_POINTS) {
        m->failed = true;
        storm_log_shared(&m->env->log, 0,
                         "%s: its formula changes too often to be followed, up "
                         "to time %g s within the step: shorten the steps",
                         m->limits->name, time_s);
        return;
    }
    points[2 * m->n] = time_s;
    points[2 * m->n + 1] = value;
    m->n++;
}

/* Adds points after the first, up to and with the last. */
static void curve_halve(struct curve_making *m, const double first[2],
                        const double last[2], int halves)
{
    double time_s = first[0] + 0.5 * (last[0] - first[0]);
    double middle[2] = {time_s, curve_evaluate(m, time_s)};
    double off = fabs(middle[1] - 0.5 * (first[1] + last[1]));
    if (m->failed)
        return;
    if (halves > 0 && off > curve_tolerance * m->largest) {
        curve_halve(m, first, middle, halves - 1);
        curve_halve(m, middle, last, halves - 1);
        return;
    }
    curve_add(m, middle[0], middle[1]);
    curve_add(m, last[0], last[1]);
}

storm_status curve_begin(const struct storm_env *env, struct curve *curve,
                         struct curve_window window,
                         const struct curve_limits *limits)
{
    struct curve_making m = {.env = env, .limits = limits, .curve = curve};
    double at[CURVE_PARTS + 1][2];
    if (curve->formula == NULL)
        return STORM_OK;
    for (int i = 0; i <= CURVE_PARTS; i++) {
        double part = (double)i / CURVE_PARTS;
        at[i][0] = i < CURVE_PARTS
                       ? window.from + part * (window.to - window.from)
                       : window.to;
        at[i][1] = curve_evaluate(&m, at[i][0]);
        m.largest = fmax(m.largest, at[i][1]);
    }
    curve_add(&m, at[0][0], at[0][1]);
    for (int i = 0; i < CURVE_PARTS && !m.failed; i++)
        curve_halve(&m, at[i], at[i + 1], CURVE_MAX_HALVES);
    curve->table = (struct storm_curve){curve->points, m.n};
    return m.failed ? STORM_ERR_ARG : STORM_OK;
}
