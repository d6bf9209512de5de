/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/heatmap.h"

#include <math.h>

#include "view/colours.h"
#include "view/svg.h"

/* Places on the canvas, in pixels. */
enum {
    MAP_WIDTH = 760,
    MAP_HEIGHT = 660,
    MAP_LEFT = 92,
    MAP_TOP = 88,
    MAP_SIDE = 500,
    MAP_BAR_LEFT = 622,
    MAP_BAR_WIDTH = 24,
    MAP_BAR_STRIPES = 64,
    MAP_MOST_BLOCKS = 128
};

/* Mean of the values of one block; not-a-number if it has none. */
static double map_block_mean(const struct storm_heatmap *map,
                             const int64_t from[2], const int64_t to[2])
{
    double sum = 0.0;
    int64_t n = 0;
    for (int64_t j = from[1]; j < to[1]; j++)
        for (int64_t i = from[0]; i < to[0]; i++) {
            double value = map->value[j * map->n[0] + i];
            if (isfinite(value)) {
                sum += value;
                n++;
            }
        }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* What a block of values covers on the canvas. */
static void map_add_values(struct storm_page *svg,
                           const struct storm_heatmap *map,
                           const struct storm_svg_scale *colours)
{
    int64_t blocks[2];
    for (int k = 0; k < 2; k++)
        blocks[k] = map->n[k] < MAP_MOST_BLOCKS ? map->n[k] : MAP_MOST_BLOCKS;
    storm_page_add(svg, "<g shape-rendering=\"crispEdges\">\n");
    for (int64_t j = 0; j < blocks[1]; j++)
        for (int64_t i = 0; i < blocks[0]; i++) {
            int64_t from[2] = {i * map->n[0] / blocks[0],
                               j * map->n[1] / blocks[1]};
            int64_t to[2] = {(i + 1) * map->n[0] / blocks[0],
                             (j + 1) * map->n[1] / blocks[1]};
            double mean = map_block_mean(map, from, to);
            if (!isfinite(mean))
                continue;
            double size[2], at[2];
            for (int k = 0; k < 2; k++) {
                double cell = (double)MAP_SIDE / (double)map->n[k];
                at[k] = cell * (double)from[k];
                size[k] = cell * (double)(to[k] - from[k]);
            }
            storm_page_add(
                svg,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                "fill=\"#%06x\"/>\n",
                MAP_LEFT + at[0], MAP_TOP + MAP_SIDE - at[1] - size[1], size[0],
                size[1], storm_colour(storm_svg_place(colours, mean)));
        }
    storm_page_add(svg, "</g>\n");
}

static void map_add_axes(struct storm_page *svg,
                         const struct storm_heatmap *map)
{
    const int bottom = MAP_TOP + MAP_SIDE;
    struct storm_svg_tick ticks[STORM_SVG_MOST_TICKS];
    for (int k = 0; k < 2; k++) {
        struct storm_svg_scale scale =
            storm_svg_scale(map->lo[k], map->hi[k], false);
        size_t n = storm_svg_ticks(&scale, 6, ticks);
        for (size_t i = 0; i < n; i++) {
            double at = MAP_SIDE * storm_svg_place(&scale, ticks[i].value);
            if (k == 0) {
                storm_svg_line(svg, MAP_LEFT + at, bottom, 0, 6, "line");
                storm_svg_text(svg, MAP_LEFT + at, bottom + 23, "mid",
                               ticks[i].label);
            } else {
                storm_svg_line(svg, MAP_LEFT, bottom - at, -6, 0, "line");
                storm_svg_text(svg, MAP_LEFT - 11, bottom - at + 5, "end",
                               ticks[i].label);
            }
        }
    }
    storm_svg_frame(svg, MAP_LEFT, MAP_TOP, MAP_SIDE, MAP_SIDE);
    storm_svg_text(svg, MAP_LEFT + 0.5 * MAP_SIDE, bottom + 50, "mid",
                   map->axis[0]);
    storm_svg_text_up(svg, 32, MAP_TOP + 0.5 * MAP_SIDE, map->axis[1]);
}

static void map_add_bar(struct storm_page *svg, const char *label,
                        const struct storm_svg_scale *scale)
{
    const double stripe = (double)MAP_SIDE / MAP_BAR_STRIPES;
    storm_page_add(svg, "<g shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < MAP_BAR_STRIPES; i++)
        storm_page_add(svg,
                       "<rect x=\"%d\" y=\"%.2f\" width=\"%d\" "
                       "height=\"%.2f\" fill=\"#%06x\"/>\n",
                       MAP_BAR_LEFT, MAP_TOP + MAP_SIDE - stripe * (i + 1),
                       MAP_BAR_WIDTH, stripe + 0.01,
                       storm_colour((i + 0.5) / MAP_BAR_STRIPES));
    storm_page_add(svg, "</g>\n");
    storm_svg_frame(svg, MAP_BAR_LEFT, MAP_TOP, MAP_BAR_WIDTH, MAP_SIDE);
    const int right = MAP_BAR_LEFT + MAP_BAR_WIDTH;
    struct storm_svg_tick ticks[STORM_SVG_MOST_TICKS];
    size_t n = storm_svg_ticks(scale, 6, ticks);
    for (size_t i = 0; i < n; i++) {
        double at = MAP_SIDE * storm_svg_place(scale, ticks[i].value);
        storm_svg_line(svg, right, MAP_TOP + MAP_SIDE - at, 5, 0, "line");
        storm_svg_text(svg, right + 10, MAP_TOP + MAP_SIDE - at + 5, "start",
                       ticks[i].label);
    }
    storm_svg_text_up(svg, right + 74, MAP_TOP + 0.5 * MAP_SIDE, label);
}

/* From the smallest to the largest value. */
static struct storm_svg_scale map_colour_scale(const struct storm_heatmap *map)
{
    double lo = (double)INFINITY, hi = (double)-INFINITY;
    for (int64_t i = 0; i < map->n[0] * map->n[1]; i++)
        if (isfinite(map->value[i])) {
            lo = fmin(lo, map->value[i]);
            hi = fmax(hi, map->value[i]);
        }
    return storm_svg_scale(lo, hi, false);
}

char *storm_heatmap_svg(const struct storm_heatmap *map)
{
    struct storm_page svg = {0};
    storm_svg_begin(&svg, MAP_WIDTH, MAP_HEIGHT);
    struct storm_svg_scale colours = map_colour_scale(map);
    storm_svg_text(&svg, MAP_LEFT, 40, "title", map->title);
    storm_svg_text(&svg, MAP_LEFT, 66, "sub", map->subtitle);
    map_add_values(&svg, map, &colours);
    map_add_axes(&svg, map);
    map_add_bar(&svg, map->value_label, &colours);
    return storm_svg_end(&svg);
}
