/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/chart.h"
#include "view/compare.h"

storm_status compare_deliver(struct compare *c, const char *what,
                             const char *caption, char *svg)
{
    char name[4 * PLOT_NAME];
    if (svg == NULL)
        return compare_fail(c, STORM_ERR_NOMEM, "no memory");
    snprintf(name, sizeof name, "compare-%s.svg", what);
    storm_status status =
        c->params.take(c->params.take_self, name, caption, svg);
    free(svg);
    return status;
}

static void compare_title(const struct compare *c, char title_out[PLOT_TEXT])
{
    snprintf(title_out, PLOT_TEXT, "A: %.200s, B: %.200s",
             compare_name(c->params.a), compare_name(c->params.b));
}

/* Two standard errors; false: there are none. */
static bool compare_band(const struct compare_line *line, double *band_out)
{
    bool any = false;
    for (size_t i = 0; i < line->n; i++) {
        bool has = line->error != NULL && line->error[i] > 0.0;
        band_out[i] = has ? 2.0 * line->error[i] : (double)NAN;
        any = any || has;
    }
    return any;
}

storm_status compare_draw_line(struct compare *c,
                               const struct compare_line *line)
{
    char title[PLOT_TEXT], subtitle[2 * PLOT_TEXT];
    double *band =
        storm_alloc(c->memory, COMPARE_LABEL, (line->n + 1) * sizeof *band);
    if (band == NULL)
        return compare_fail(c, STORM_ERR_NOMEM, "no memory");
    bool has_band = compare_band(line, band);
    struct storm_chart_series series = {.style = STORM_CHART_LINE,
                                        .n = line->n,
                                        .x = line->position,
                                        .y = line->difference,
                                        .band = has_band ? band : NULL};
    struct storm_chart chart = {.title = title,
                                .subtitle = subtitle,
                                .x = {.label = line->x},
                                .y = {.label = line->y, .from_zero = true},
                                .series = &series,
                                .n_series = 1};
    compare_title(c, title);
    snprintf(subtitle, sizeof subtitle, "difference of the %s%s%s%s",
             line->words, *line->when != '\0' ? ", " : "", line->when,
             has_band ? "; band: two standard errors" : "");
    char *svg = storm_chart_svg(&chart);
    storm_free(c->memory, band);
    return compare_deliver(c, line->what, subtitle, svg);
}

/* The largest of a slice. */
static double compare_largest(const struct slice *slice, const double *value)
{
    double largest = 0.0;
    for (size_t i = 0; i < slice->n_polygons; i++) {
        double x = fabs(value[slice->polygons[i].cell]);
        largest = isfinite(x) ? fmax(largest, x) : largest;
    }
    return largest;
}

storm_status compare_draw_slice(struct compare *c, struct plot_run *plot,
                                const struct compare_slice *slice)
{
    char title[PLOT_TEXT], subtitle[2 * PLOT_TEXT], axis[2][16];
    char at[STORM_SVG_LABEL_BYTES];
    const int normal = plot->slice.axis;
    double largest = compare_largest(&plot->slice, slice->difference);
    struct plot_picture picture = {
        .slice = &plot->slice,
        .title = title,
        .subtitle = subtitle,
        .axis = {axis[0], axis[1]},
        .value = slice->difference,
        .scale = storm_svg_scale(-largest, largest, false),
        .is_signed = true,
        .label = slice->label,
        .blank = "no value"};
    for (int k = 0; k < 2; k++) {
        int d = slice_direction(normal, k);
        picture.lo[k] = plot->lo[d];
        picture.hi[k] = plot->hi[d];
        snprintf(axis[k], sizeof axis[k], "%c%s", 'x' + d,
                 plot->natural ? "" : " (cm)");
    }
    bool blank = false;
    for (size_t i = 0; i < plot->slice.n_polygons; i++)
        blank =
            blank || !isfinite(slice->difference[plot->slice.polygons[i].cell]);
    if (!blank)
        picture.blank = NULL;
    compare_title(c, title);
    storm_svg_number(plot_at(plot, normal), 4, at);
    snprintf(subtitle, sizeof subtitle, "difference of the %s, %c = %s%s%s%s",
             slice->words, 'x' + normal, at, plot->natural ? "" : " cm",
             *slice->when != '\0' ? ", " : "", slice->when);
    return compare_deliver(c, slice->what, subtitle, plot_slice_svg(&picture));
}
