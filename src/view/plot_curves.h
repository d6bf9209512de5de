/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The curves of one chart over time, photon energy or direction.
 *
 *   CURVES-1  A curve that is 0 everywhere, or below 1e-12 of the largest
 *             value, is left out; of more than eight, the eight with the
 *             largest values are drawn, and the chart says so.
 *   CURVES-2  The axis is logarithmic if a whole curve, or an eighth of all
 *             values, is below a hundredth of the largest value; what is below
 *             a millionth of it is a gap then.
 *   CURVES-4  Curves that are times have colours of an ordered scale.
 *   CURVES-3  Bands are 95 % intervals of the means of replicas; of more than
 *             three stairs in one chart they are bars, side by side.
 */
#ifndef STORM_VIEW_PLOT_CURVES_H
#define STORM_VIEW_PLOT_CURVES_H

#include "io/io_table.h"
#include "view/chart.h"
#include "view/plot.h"

struct plot_curve {
    char name[PLOT_TEXT]; /* empty: it has none */
    storm_chart_style style;
    size_t n;
    double *x;     /* n + 1 */
    double *y;     /* n */
    double *band;  /* n half heights, if it has one */
    bool has_band; /* false at first */
    bool is_time;  /* one of several times: its colour is ordered */
};

struct plot_curves {
    struct plot_run *plot;
    struct plot_curve *curve;
    size_t n, capacity;
    uint64_t replicas;
    bool log_x, whole_x;
    bool linear;   /* not logarithmic unless that is asked for: temperatures */
    bool off_zero; /* the axis need not begin at 0 */
};

struct plot_chart_text {
    const char *file; /* name of the picture */
    const char *subtitle, *x, *y;
};

/* Place k of n on the ordered scale of colours, above 0. */
double plot_order(size_t k, size_t n);

/* A curve of n points. It moves when one is added. NULL: no memory. */
struct plot_curve *plot_curves_add(struct plot_curves *curves, size_t n);
void plot_curves_free(struct plot_curves *curves);

/* Is there a value that is not 0? */
bool plot_curves_any(const struct plot_curves *curves);

/* Draws and delivers. Changes the values. */
storm_status plot_curves_draw(struct plot_curves *curves,
                              const struct plot_chart_text *text);

/* Is an axis with these values, in order, better logarithmic? It is if half of
 * them are in the first tenth. */
bool plot_wants_log_x(const struct plot_run *plot, const double *x, size_t n);

/* Half the 95 % interval of each row of a column; false: there are no
 * errors. */
bool plot_band(const struct io_table *table, const char *name, double *band);

/* Adds "; mean of N replicas, ..."; mark: what shows the interval. */
void plot_band_text(uint64_t replicas, const char *mark, char *text,
                    size_t size);

#endif /* STORM_VIEW_PLOT_CURVES_H */
