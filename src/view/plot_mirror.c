/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a slice its own mirror image, so that half of it shows all?
 *
 *   MIRROR-1  It is if materials, and the temperatures at the end, are the same
 *             in pixels above the middle of the box and as far below it, but
 *             for noise: for a tenth of the sum of both.
 */
#include <math.h>
#include <stdlib.h>

#include "view/plot.h"

enum { MIRROR_PIXELS = 128 };           /* in each direction */
static const double mirror_few = 0.04;  /* pixels of other materials */
static const double mirror_noise = 0.1; /* of temperatures */

/* Sum of differences of pixels over the sum of pixels, and pixels with a value
 * in one half alone. White is 0, blank 1. */
static bool mirror_is_same(const unsigned char *pixels, double noise)
{
    const size_t n = MIRROR_PIXELS;
    double apart = 0.0, sum = 0.0, n_other = 0.0;
    for (size_t j = 0; j < n / 2; j++)
        for (size_t i = 0; i < n; i++) {
            int a = pixels[j * n + i], b = pixels[(n - 1 - j) * n + i];
            n_other += (a > 1) != (b > 1);
            if (a > 1 && b > 1) {
                apart += abs(a - b);
                sum += a + b - 4;
            }
        }
    return n_other <= mirror_few * (double)(n * n) / 2.0 &&
           apart <= noise * sum;
}

/* The values in the run's scratch, as so many colours. */
static storm_status mirror_look(struct plot_run *plot, size_t n_categories,
                                double noise, bool *same)
{
    const struct cells_frame frame = {.width = MIRROR_PIXELS,
                                      .height = MIRROR_PIXELS};
    const int axis = plot->slice.axis;
    struct plot_range range = {0.0, 0.0, 0.0};
    struct plot_picture picture = {.slice = &plot->slice,
                                   .value = plot->scratch,
                                   .n_categories = n_categories};
    for (size_t i = 0; i < plot->slice.n_polygons; i++) {
        double value = plot->scratch[plot->slice.polygons[i].cell];
        if (isfinite(value))
            range.hi = fmax(range.hi, value);
    }
    picture.scale = storm_svg_scale(0.0, range.hi, false);
    for (int k = 0; k < 2; k++) {
        picture.lo[k] = plot->lo[slice_direction(axis, k)];
        picture.hi[k] = plot->hi[slice_direction(axis, k)];
    }
    unsigned char *pixels =
        storm_alloc(plot->memory, PLOT_LABEL, MIRROR_PIXELS * MIRROR_PIXELS);
    bool good =
        pixels != NULL && cells_paint(&picture, &frame, pixels, MIRROR_PIXELS);
    *same = good && mirror_is_same(pixels, noise);
    storm_free(plot->memory, pixels);
    return good ? STORM_OK : plot_fail(plot, STORM_ERR_NOMEM, "no memory");
}

storm_status plot_is_mirror(struct plot_run *plot, bool *is_mirror_out)
{
    static const char *const fields[] = {"material", "radiation_temperature",
                                         "material_temperature"};
    const uint64_t last = plot->dumps.step[plot->dumps.n - 1];
    bool same = true;
    storm_status status = plot_cut(plot, last);
    for (size_t i = 0; i < 3 && same && status == STORM_OK; i++) {
        status = plot_values(plot, fields[i], last, plot->scratch);
        if (status == STORM_OK)
            status = mirror_look(plot, i == 0 ? plot->n_materials : 0,
                                 i == 0 ? mirror_few : mirror_noise, &same);
    }
    *is_mirror_out = same;
    return status;
}
