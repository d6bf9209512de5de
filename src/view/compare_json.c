/* SPDX-License-Identifier: BSD-3-Clause */
/* Two JSON files, as benchmarks and runs print them: number by number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "deck/deck_node.h"
#include "view/chart.h"
#include "view/compare.h"

enum { PAIR_PATH = 256, PAIR_DRAWN = 24 };

/* A number that both have. */
struct pair {
    char path[PAIR_PATH];
    double a, b, relative;
};

struct pairs {
    struct compare *c;
    struct deck_pool pool;
    struct pair *list; /* those that differ */
    size_t n, capacity, n_same;
    double sum, squares;
    struct storm_page texts; /* what differs or is in one only */
    bool failed;
};

/* The whole path or the end of it, or what is below it? */
static bool pairs_wants(const struct pairs *p, const char *path)
{
    const char *at = p->c->params.fields;
    size_t length = strlen(path);
    if (at == NULL)
        return true;
    while (*at != '\0') {
        size_t n = strcspn(at, ",");
        bool whole = n == length && memcmp(path, at, n) == 0;
        bool end = n < length && memcmp(path + length - n, at, n) == 0 &&
                   path[length - n - 1] == '.';
        bool below = n < length && memcmp(path, at, n) == 0 && path[n] == '.';
        if (whole || end || below)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

static double pairs_relative(double a, double b)
{
    if (a == b)
        return 0.0;
    return b != 0.0 ? fabs(a - b) / fabs(b) : (double)INFINITY;
}

static void pairs_add(struct pairs *p, const char *path, double a, double b)
{
    void *list = p->list;
    double relative = pairs_relative(a, b);
    if (!pairs_wants(p, path))
        return;
    p->sum += relative;
    p->squares += relative * relative;
    if (relative == 0.0) {
        p->n_same++;
        return;
    }
    if (storm_reserve(p->c->memory, COMPARE_LABEL, sizeof *p->list, p->n + 1,
                      &list, &p->capacity) < 0) {
        p->failed = true;
        return;
    }
    p->list = list;
    struct pair *pair = &p->list[p->n++];
    snprintf(pair->path, sizeof pair->path, "%s", path);
    pair->a = a;
    pair->b = b;
    pair->relative = relative;
}

static void pairs_differ(struct pairs *p, const char *path, const char *a,
                         const char *b)
{
    if (!pairs_wants(p, path))
        return;
    p->c->beyond = true;
    storm_page_add(&p->texts, "%s: %s, %s\n", path, a, b);
    storm_json_open(&p->c->json, NULL, '{');
    storm_json_text(&p->c->json, "key", path);
    storm_json_text(&p->c->json, "a", a);
    storm_json_text(&p->c->json, "b", b);
    storm_json_close(&p->c->json, '}');
}

static const char *pairs_text(const struct deck_node *node)
{
    return node == NULL              ? "(none)"
           : node->kind == DECK_LIST ? "(list)"
           : node->kind == DECK_MAP  ? "(object)"
                                     : node->text;
}

static void pairs_scalars(struct pairs *p, const char *path,
                          const struct deck_node *a, const struct deck_node *b)
{
    double x, y;
    if (a->plain && b->plain && storm_text_to_real(a->text, &x) &&
        storm_text_to_real(b->text, &y))
        pairs_add(p, path, x, y);
    else if (strcmp(a->text, b->text) != 0)
        pairs_differ(p, path, a->text, b->text);
    else if (pairs_wants(p, path))
        p->n_same++;
}

static void pairs_walk(struct pairs *p, const char *path,
                       const struct deck_node *a, const struct deck_node *b);

static void pairs_walk_map(struct pairs *p, const char *path,
                           const struct deck_node *a, const struct deck_node *b)
{
    char below[PAIR_PATH];
    const char *dot = *path != '\0' ? "." : "";
    for (size_t i = 0; i < a->n; i++) {
        snprintf(below, sizeof below, "%s%s%s", path, dot, a->keys[i]);
        pairs_walk(p, below, a->items[i], deck_node_find(b, a->keys[i]));
    }
    for (size_t i = 0; i < b->n; i++)
        if (deck_node_find(a, b->keys[i]) == NULL) {
            snprintf(below, sizeof below, "%s%s%s", path, dot, b->keys[i]);
            pairs_walk(p, below, NULL, b->items[i]);
        }
}

static void pairs_walk(struct pairs *p, const char *path,
                       const struct deck_node *a, const struct deck_node *b)
{
    char below[PAIR_PATH];
    if (a == NULL || b == NULL || a->kind != b->kind) {
        pairs_differ(p, path, pairs_text(a), pairs_text(b));
    } else if (a->kind == DECK_SCALAR) {
        pairs_scalars(p, path, a, b);
    } else if (a->kind == DECK_MAP) {
        pairs_walk_map(p, path, a, b);
    } else {
        for (size_t i = 0; i < a->n || i < b->n; i++) {
            snprintf(below, sizeof below, "%s%s%zu", path,
                     *path != '\0' ? "." : "", i);
            pairs_walk(p, below, i < a->n ? a->items[i] : NULL,
                       i < b->n ? b->items[i] : NULL);
        }
    }
}

/* ---- reading ------------------------------------------------------------- */

static struct deck_node *pairs_read(struct pairs *p, const char *path)
{
    struct deck_problems problems = {.file = path, .pool = &p->pool};
    struct storm_page page = {0};
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        storm_page_add(&page, "%.*s", (int)n, piece);
    fclose(file);
    char *text = storm_page_end(&page);
    struct deck_node *node =
        text != NULL ? deck_node_read(&p->pool, text, strlen(text), &problems)
                     : NULL;
    char *list = deck_problems_end(&problems);
    if (node == NULL && list != NULL)
        compare_fail(p->c, STORM_ERR_ARG, "%.*s", (int)strcspn(list, "\n"),
                     list);
    free(list);
    free(text);
    return node;
}

/* ---- the result ---------------------------------------------------------- */

static int pairs_by_size(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->relative != y->relative)
        return x->relative > y->relative ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void pairs_write(struct pairs *p)
{
    struct compare *c = p->c;
    size_t n = p->n + p->n_same;
    char *texts = storm_page_end(&p->texts);
    storm_page_add(&c->table, "\n%-40s %14s %14s %10s\n", "number", "A", "B",
                   "relative");
    storm_json_open(&c->json, "numbers", '[');
    for (size_t i = 0; i < p->n; i++) {
        const struct pair *pair = &p->list[i];
        bool beyond = !(pair->relative <= c->params.tolerance);
        storm_page_add(&c->table, "%-40s %14.7g %14.7g %10.3e\n", pair->path,
                       pair->a, pair->b, pair->relative);
        storm_json_open(&c->json, NULL, '{');
        storm_json_text(&c->json, "key", pair->path);
        storm_json_real(&c->json, "a", pair->a);
        storm_json_real(&c->json, "b", pair->b);
        storm_json_real(&c->json, "relative", pair->relative);
        storm_json_close(&c->json, '}');
        if (beyond)
            storm_page_add(&c->excesses, "%s%s",
                           c->excesses.length > 0 ? ", " : "", pair->path);
        c->beyond = c->beyond || beyond;
    }
    storm_json_close(&c->json, ']');
    storm_json_uint(&c->json, "same", p->n_same);
    storm_json_real(&c->json, "mean_relative",
                    n > 0 ? p->sum / (double)n : 0.0);
    storm_json_real(&c->json, "rms_relative",
                    n > 0 ? sqrt(p->squares / (double)n) : 0.0);
    storm_page_add(&c->table,
                   "relative differences: mean %.3e, root mean square %.3e, "
                   "%zu values the same\n",
                   n > 0 ? p->sum / (double)n : 0.0,
                   n > 0 ? sqrt(p->squares / (double)n) : 0.0, p->n_same);
    if (texts != NULL && *texts != '\0')
        storm_page_add(&c->table, "\nother texts, or in one file only:\n%s",
                       texts);
    free(texts);
}

/* A as a multiple of B, for those that differ most. */
static storm_status pairs_draw(struct pairs *p)
{
    struct storm_bar bars[PAIR_DRAWN];
    double ratio[PAIR_DRAWN];
    size_t n = 0;
    for (size_t i = 0; i < p->n && n < PAIR_DRAWN; i++) {
        const struct pair *pair = &p->list[i];
        if (!(pair->a * pair->b > 0.0))
            continue; /* no ratio that a bar can show */
        ratio[n] = pair->a / pair->b;
        bars[n] = (struct storm_bar){.name = pair->path, .values = &ratio[n]};
        n++;
    }
    char title[PLOT_TEXT];
    snprintf(title, sizeof title, "A: %.200s, B: %.200s",
             compare_name(p->c->params.a), compare_name(p->c->params.b));
    const char *const parts[] = {"A / B"};
    struct storm_bars chart = {.title = title,
                               .subtitle = "A as a multiple of B, the numbers "
                                           "that differ most first",
                               .label = "A / B",
                               .parts = parts,
                               .n_parts = 1,
                               .bars = bars,
                               .n_bars = n};
    return n > 0 ? compare_deliver(p->c, "numbers", chart.subtitle,
                                   storm_bars_svg(&chart))
                 : STORM_OK;
}

static storm_status pairs_all(struct pairs *p)
{
    struct compare *c = p->c;
    if (c->params.standard_errors > 0.0)
        return compare_fail(c, STORM_ERR_ARG,
                            "JSON files have no standard errors to compare "
                            "with: use --tolerance");
    struct deck_node *a = pairs_read(p, c->params.a);
    struct deck_node *b = a != NULL ? pairs_read(p, c->params.b) : NULL;
    if (b == NULL)
        return STORM_ERR_ARG;
    storm_json_text(&c->json, "kind", "json");
    storm_json_open(&c->json, "texts", '[');
    pairs_walk(p, "", a, b);
    storm_json_close(&c->json, ']');
    if (p->failed)
        return compare_fail(c, STORM_ERR_NOMEM, "no memory");
    if (p->n + p->n_same == 0 && p->texts.length == 0)
        return compare_fail(c, STORM_ERR_ARG, "no key '%s' in %s and %s",
                            c->params.fields, c->params.a, c->params.b);
    if (p->n > 0)
        qsort(p->list, p->n, sizeof *p->list, pairs_by_size);
    pairs_write(p);
    return c->params.take != NULL ? pairs_draw(p) : STORM_OK;
}

storm_status compare_json(struct compare *c)
{
    struct pairs p = {.c = c, .pool = {.memory = c->memory}};
    compare_fail(c, STORM_ERR_ARG, "no memory");
    storm_status status = pairs_all(&p);
    free(storm_page_end(&p.texts));
    storm_free(c->memory, p.list);
    deck_pool_free(&p.pool);
    return status;
}
