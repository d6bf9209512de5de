/* SPDX-License-Identifier: BSD-3-Clause */
/* The range of values of a slice, and the scale of its colours. */
#include <math.h>
#include <string.h>

#include "view/plot.h"

const double plot_wide = 100.0;
const double plot_deep = 1e-6;

/* Linear scales begin at zero if min / max is smaller. */
static const double plot_low = 0.05;

/* Values are equal within rounding. */
static const double plot_same = 1e-9;

static void plot_widen(struct plot_range *range, const struct slice *slice,
                       const double *value)
{
    for (size_t i = 0; i < slice->n_polygons; i++) {
        double x = value[slice->polygons[i].cell];
        if (!isfinite(x))
            continue;
        range->lo = fmin(range->lo, x);
        range->hi = fmax(range->hi, x);
        if (x > 0.0)
            range->positive = fmin(range->positive, x);
    }
}

/* Of one field that there is; reads it into the run's scratch. */
static storm_status plot_widen_by(struct plot_run *plot, const char *field,
                                  uint64_t step, struct plot_range *range)
{
    storm_status status = plot_values(plot, field, step, plot->scratch);
    if (status == STORM_OK)
        plot_widen(range, &plot->slice, plot->scratch);
    return status;
}

storm_status plot_find_range(struct plot_run *plot, const char *field,
                             const uint64_t *steps, size_t n_steps,
                             struct plot_range *range_out)
{
    bool both = strcmp(field, "temperatures") == 0;
    storm_status status = STORM_OK;
    *range_out = (struct plot_range){(double)INFINITY, (double)INFINITY,
                                     (double)-INFINITY};
    for (size_t i = 0; i < n_steps && status == STORM_OK; i++) {
        status = plot_cut(plot, steps[i]);
        if (status == STORM_OK)
            status = plot_widen_by(plot, both ? "radiation_temperature" : field,
                                   steps[i], range_out);
        if (both && status == STORM_OK)
            status = plot_widen_by(plot, "material_temperature", steps[i],
                                   range_out);
    }
    return status;
}

bool plot_is_even(const struct plot_range *range)
{
    double largest = fmax(fabs(range->lo), fabs(range->hi));
    return !(range->hi - range->lo > plot_same * largest);
}

/* Is the scale logarithmic? Not of temperatures by default: cold cells are
 * decades below hot ones, but of no interest. */
static bool plot_wants_log(const struct plot_run *plot, const char *field,
                           const struct plot_range *range)
{
    bool asks = strstr(field, "temperature") == NULL &&
                range->hi > plot_wide * range->positive;
    bool can = range->lo >= 0.0 && range->hi > 0.0;
    return can && (plot->params->log == STORM_PLOT_YES ||
                   (plot->params->log == STORM_PLOT_AUTO && asks));
}

struct storm_svg_scale plot_scale(const struct plot_run *plot,
                                  const char *field,
                                  const struct plot_range *range)
{
    if (plot_wants_log(plot, field, range))
        return storm_svg_scale(fmax(range->positive, plot_deep * range->hi),
                               range->hi, true);
    bool near_zero = range->lo > 0.0 && range->lo < plot_low * range->hi;
    return storm_svg_scale(near_zero ? 0.0 : range->lo, range->hi, false);
}
