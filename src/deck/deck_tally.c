/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of output.tallies, and defaults that depend on other keys. */
#include <stdio.h>
#include <string.h>

#include "deck/deck.h"

enum { TALLY_PATH_BYTES = 64 };

/* A tally that is being checked. */
struct tally_check {
    struct storm_deck *deck;
    struct deck_problems *problems;
    const struct deck_node *map;
    struct deck_tally *tally;
    size_t i;
};

/* Reports, unless the key has an error already. */
static void complain(const struct tally_check *c, const char *key,
                     const char *message, const char *value)
{
    char path[TALLY_PATH_BYTES];
    const struct deck_node *node = deck_node_find(c->map, key);
    if (node != NULL && node->bad)
        return;
    snprintf(path, sizeof path, "output.tallies.%zu.%s", c->i, key);
    if (node == NULL)
        node = c->map;
    deck_complain(c->problems, node != NULL ? node->line : 1, path, "%s%s",
                  message, value);
}

static void check_name(const struct tally_check *c)
{
    const char *name = c->tally->name;
    const struct deck_output *output = &c->deck->values.output;
    if (name == NULL)
        return;
    if (!deck_is_file_name(name))
        complain(c, "name",
                 "expected at most 100 letters, digits, - and _, got ", name);
    for (size_t k = 0; k < c->i; k++)
        if (output->tallies.item[k].name != NULL &&
            strcmp(output->tallies.item[k].name, name) == 0)
            complain(c, "name", "expected another name: there is a tally ",
                     name);
}

static void check_edges(const struct tally_check *c, const char *key,
                        const double *edges, size_t n)
{
    if (n == 1)
        complain(c, key, "expected at least two edges, got one", "");
    for (size_t i = 1; i < n; i++)
        if (!(edges[i] > edges[i - 1])) {
            char values[TALLY_PATH_BYTES];
            snprintf(values, sizeof values, "%.12g after %.12g", edges[i],
                     edges[i - 1]);
            complain(c, key, "expected edges that grow, got ", values);
            return;
        }
}

static void check_times(const struct tally_check *c)
{
    struct deck_tally *t = c->tally;
    const struct deck_time *time = &c->deck->values.time;
    if ((t->by & DECK_TALLY_TIME) == 0 || t->time_edges.n > 0)
        return;
    if (deck_node_find(c->map, "to") == NULL) {
        if (!(time->stop < STORM_UNLIMITED)) {
            complain(c, "to",
                     "expected the end of the last bin, or time.stop, or "
                     "time_edges",
                     "");
            return;
        }
        t->to = time->stop;
    }
    if (!(t->from < t->to))
        complain(c, "from", "expected a time before `to`", "");
}

/* Two numbers of which the first must be below the second. */
static void check_rises(const struct tally_check *c, const char *key, double lo,
                        double hi)
{
    char values[TALLY_PATH_BYTES];
    if (lo < hi)
        return;
    snprintf(values, sizeof values, "%g and %g", lo, hi);
    complain(c, key, "expected the first below the second, got ", values);
}

/* As regions are: a shape that is empty has no surface. */
static void check_shape(const struct tally_check *c)
{
    const struct storm_shape *shape = &c->tally->shape;
    switch (shape->kind) {
    case STORM_SHAPE_BOX:
        for (int d = 0; d < 3; d++)
            if (!(shape->lo_cm[d] < shape->hi_cm[d])) {
                check_rises(c, "hi", shape->lo_cm[d], shape->hi_cm[d]);
                return;
            }
        return;
    case STORM_SHAPE_CYLINDER:
        check_rises(c, "range", shape->range_cm[0], shape->range_cm[1]);
        check_rises(c, "radius", shape->radius_cm[0], shape->radius_cm[1]);
        return;
    case STORM_SHAPE_SPHERE:
        check_rises(c, "radius", shape->radius_cm[0], shape->radius_cm[1]);
        return;
    default:
        return;
    }
}

static void check_axis(const struct tally_check *c)
{
    const double *axis = c->tally->towards;
    if (axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0)
        complain(c, "towards", "expected a direction, got [0, 0, 0]", "");
}

static void check_surface(const struct tally_check *c)
{
    const struct deck_tally *t = c->tally;
    const struct deck_values *v = &c->deck->values;
    bool all = t->material != NULL && strcmp(t->material, "all") == 0;
    if (t->where == 0) {
        if ((t->by & DECK_TALLY_SIDE) != 0)
            complain(c, "by", "expected no side: what escapes goes outwards",
                     "");
        return;
    }
    check_shape(c);
    if ((t->by & DECK_TALLY_WALL) != 0)
        complain(c, "by", "expected no wall: surfaces are inside the domain",
                 "");
    if (all && t->shape.kind == STORM_SHAPE_ALL)
        complain(c, "shape",
                 "expected a shape or a material: a surface is "
                 "where it ends",
                 "");
    for (size_t i = 0; i < v->materials.n && !all; i++)
        all = v->materials.item[i].laws.name != NULL && t->material != NULL &&
              strcmp(v->materials.item[i].laws.name, t->material) == 0;
    if (!all && t->material != NULL)
        complain(c, "material", "expected the name of a material, or all, got ",
                 t->material);
}

void deck_check_tallies(struct storm_deck *deck, const struct deck_node *root,
                        struct deck_problems *problems)
{
    const struct deck_node *list =
        deck_node_find(deck_node_find(root, "output"), "tallies");
    const struct deck_output *output = &deck->values.output;
    for (size_t i = 0; i < output->tallies.n; i++) {
        struct deck_tally *t = &output->tallies.item[i];
        const struct tally_check c = {
            .deck = deck,
            .problems = problems,
            .map = list != NULL && i < list->n ? list->items[i] : NULL,
            .tally = t,
            .i = i,
        };
        if (c.map == NULL || c.map->kind != DECK_MAP)
            continue;
        check_name(&c);
        check_edges(&c, "time_edges", t->time_edges.item, t->time_edges.n);
        check_edges(&c, "mu_edges", t->mu_edges.item, t->mu_edges.n);
        check_times(&c);
        check_surface(&c);
        check_axis(&c);
    }
}
