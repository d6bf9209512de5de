/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run, and from it: how many packets each rank has sent to
 * each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "deck/deck_node.h"
#include "view/plot.h"

enum {
    TRAFFIC_MAX_BLOCKS = 96, /* in each direction: of more ranks, sums */
    TRAFFIC_MAX_RANKS = 1 << 24
};

/* ---- the summary --------------------------------------------------------- */

/* The whole file, ended by 0; NULL: it cannot be read. */
static char *summary_text(const char *path)
{
    FILE *file = fopen(path, "r");
    struct storm_page text = {0};
    char piece[4096];
    size_t n;
    if (file == NULL)
        return NULL;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        storm_page_add(&text, "%.*s", (int)n, piece);
    bool good = ferror(file) == 0;
    fclose(file);
    char *result = storm_page_end(&text);
    if (good)
        return result;
    free(result);
    return NULL;
}

/* JSON is YAML: the reader of decks reads it. */
struct deck_node *plot_summary(const struct plot_run *plot,
                               struct deck_pool *pool)
{
    char path[IO_READER_PATH + 32];
    struct deck_problems problems = {.file = "summary.json"};
    struct deck_node *node = NULL;
    snprintf(path, sizeof path, "%s/summary.json", plot->params->run_dir);
    char *text = summary_text(path);
    if (text != NULL)
        node = deck_node_read(pool, text, strlen(text), &problems);
    free(text);
    return node;
}

/* ---- traffic ------------------------------------------------------------- */

/* The number of an entry, or -1. */
static double traffic_number(const struct deck_node *node, const char *key)
{
    const struct deck_node *entry = deck_node_find(node, key);
    double value;
    bool is = entry != NULL && entry->kind == DECK_SCALAR &&
              storm_text_to_real(entry->text, &value);
    return is ? value : -1.0;
}

/* NULL: no rank has sent anything. */
static const struct deck_node *traffic_list(const struct deck_node *summary)
{
    const struct deck_node *list = deck_node_find(summary, "traffic");
    return list != NULL && list->kind == DECK_LIST && list->n > 0 ? list : NULL;
}

bool plot_has_traffic(const struct plot_run *plot)
{
    struct deck_pool pool = {.memory = plot->memory};
    bool has = traffic_list(plot_summary(plot, &pool)) != NULL;
    deck_pool_free(&pool);
    return has;
}

/* Squares of ranks, and the packets in them. */
struct traffic {
    size_t n_ranks, n, width; /* blocks in each direction, ranks in a block */
    struct slice squares;
    double *packets;
};

/* A square for each pair of blocks: x is where packets went, y where they came
 * from. */
static bool traffic_make(struct traffic *t, const struct deck_node *list)
{
    struct slice *s = &t->squares;
    bool good = true;
    t->packets =
        storm_alloc(s->memory, PLOT_LABEL, t->n * t->n * sizeof *t->packets);
    for (size_t i = 0; i < t->n * t->n && good; i++) {
        double w = (double)t->width;
        double x = w * (double)(i % t->n) - 0.5,
               y = w * (double)(i / t->n) - 0.5;
        const double corners[4][2] = {
            {x, y}, {x + w, y}, {x + w, y + w}, {x, y + w}};
        good = slice_add(s, i, corners, 4) == STORM_OK;
    }
    for (size_t i = 0; t->packets != NULL && i < list->n; i++) {
        double from = traffic_number(list->items[i], "from");
        double to = traffic_number(list->items[i], "to");
        if (!(from >= 0.0 && to >= 0.0 && from < (double)t->n_ranks &&
              to < (double)t->n_ranks))
            continue;
        t->packets[(size_t)from / t->width * t->n + (size_t)to / t->width] +=
            fmax(traffic_number(list->items[i], "packets"), 0.0);
    }
    return good && t->packets != NULL;
}

/* None is blank. */
static struct storm_svg_scale traffic_scale(struct traffic *t)
{
    double lo = (double)INFINITY, hi = 0.0;
    for (size_t i = 0; i < t->n * t->n; i++) {
        if (t->packets[i] > 0.0) {
            lo = fmin(lo, t->packets[i]);
            hi = fmax(hi, t->packets[i]);
        } else {
            t->packets[i] = (double)NAN;
        }
    }
    bool log = hi > plot_wide * lo;
    return storm_svg_scale(log ? fmax(lo, plot_deep * hi) : 0.0, hi, log);
}

static storm_status traffic_deliver(struct plot_run *plot, struct traffic *t)
{
    char subtitle[PLOT_TEXT] = "packets that ranks have sent to each other";
    if (t->width > 1)
        snprintf(subtitle, sizeof subtitle,
                 "packets that ranks have sent to each other, sums of blocks "
                 "of %zu x %zu ranks",
                 t->width, t->width);
    const double end = (double)(t->n * t->width) - 0.5;
    const struct plot_picture picture = {.slice = &t->squares,
                                         .lo = {-0.5, -0.5},
                                         .hi = {end, end},
                                         .title = plot->title,
                                         .subtitle = subtitle,
                                         .axis = {"to rank", "from rank"},
                                         .value = t->packets,
                                         .scale = traffic_scale(t),
                                         .label = "packets",
                                         .blank = "none",
                                         .whole = true,
                                         .numbers = true};
    char *svg = plot_slice_svg(&picture);
    if (svg == NULL)
        return plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    storm_status status = plot->params->take(plot->params->take_self,
                                             "traffic.svg", subtitle, svg);
    free(svg);
    return status;
}

storm_status plot_traffic(struct plot_run *plot)
{
    struct deck_pool pool = {.memory = plot->memory};
    const struct deck_node *summary = plot_summary(plot, &pool);
    const struct deck_node *list = traffic_list(summary);
    double n_ranks = traffic_number(summary, "ranks");
    struct traffic t = {.squares.memory = plot->memory};
    storm_status status = STORM_OK;
    if (list != NULL && n_ranks >= 2.0 && n_ranks <= TRAFFIC_MAX_RANKS) {
        t.n_ranks = (size_t)n_ranks;
        t.width = (t.n_ranks + TRAFFIC_MAX_BLOCKS - 1) / TRAFFIC_MAX_BLOCKS;
        t.n = (t.n_ranks + t.width - 1) / t.width;
        status = traffic_make(&t, list)
                     ? traffic_deliver(plot, &t)
                     : plot_fail(plot, STORM_ERR_NOMEM, "no memory");
    }
    slice_free(&t.squares);
    storm_free(plot->memory, t.packets);
    deck_pool_free(&pool);
    return status;
}
