/* SPDX-License-Identifier: BSD-3-Clause */
/* What several keys must be together, and defaults that depend on others. */
#include <stdio.h>
#include <string.h>

#include "deck/deck.h"

enum { SENSE_PATH_BYTES = 256, SENSE_STEPS = 100 };

struct sense {
    struct storm_deck *deck;
    struct deck_problems *problems;
};

/* Is the key there and was it read? */
static bool sense_good(const struct deck_node *map, const char *key)
{
    const struct deck_node *node = deck_node_find(map, key);
    return node != NULL && !node->bad;
}

/* Not there, or read: what the values hold is meant. */
static bool sense_usable(const struct deck_node *map, const char *key)
{
    const struct deck_node *node = deck_node_find(map, key);
    return node == NULL || !node->bad;
}

/* The line of the first of two keys that is there, else of the map. */
static int sense_line(const struct deck_node *map, const char *key,
                      const char *other)
{
    const struct deck_node *node = deck_node_find(map, key);
    if (node == NULL)
        node = deck_node_find(map, other);
    if (node == NULL)
        node = map;
    return node != NULL ? node->line : 1;
}

/* The i-th map of a list; a single map is the first of itself. */
static const struct deck_node *sense_item(const struct deck_node *list,
                                          size_t i)
{
    if (list == NULL || list->kind == DECK_MAP)
        return list;
    return list->kind == DECK_LIST && i < list->n ? list->items[i] : NULL;
}

/* ---- shapes --------------------------------------------------------------- */

static void sense_shape(const struct sense *s, const struct storm_shape *shape,
                        const struct deck_node *map, const char *path)
{
    if (map == NULL)
        return;
    if (shape->kind == STORM_SHAPE_BOX && sense_good(map, "lo") &&
        sense_good(map, "hi"))
        for (int d = 0; d < 3; d++)
            if (!(shape->lo[d] < shape->hi[d])) {
                deck_complain(s->problems, sense_line(map, "hi", "lo"), path,
                              "expected lo below hi in each direction, got "
                              "%g to %g in %c",
                              shape->lo[d], shape->hi[d], "xyz"[d]);
                break;
            }
    if ((shape->kind == STORM_SHAPE_CYLINDER ||
         shape->kind == STORM_SHAPE_SPHERE) &&
        sense_good(map, "radius") && !(shape->radius[0] < shape->radius[1]))
        deck_complain(s->problems, sense_line(map, "radius", "radius"), path,
                      "expected radius: [inner, outer] with inner below outer, "
                      "got %g and %g",
                      shape->radius[0], shape->radius[1]);
    if (shape->kind == STORM_SHAPE_CYLINDER && sense_usable(map, "range") &&
        !(shape->range[0] < shape->range[1]))
        deck_complain(s->problems, sense_line(map, "range", "range"), path,
                      "expected range: [low, high] with low below high, got %g "
                      "and %g",
                      shape->range[0], shape->range[1]);
}

/* ---- mesh ----------------------------------------------------------------- */

static void sense_mesh(const struct sense *s, const struct deck_node *root)
{
    const struct deck_mesh *mesh = &s->deck->values.mesh;
    const struct deck_node *map = deck_node_find(root, "mesh");
    const struct deck_node *box = deck_node_find(map, "box");
    if (sense_usable(box, "lo") && sense_usable(box, "hi"))
        for (int d = 0; d < 3; d++)
            if (!(mesh->box.lo[d] < mesh->box.hi[d])) {
                deck_complain(s->problems, sense_line(box, "hi", "lo"),
                              "mesh.box",
                              "expected lo below hi in each direction, got %g "
                              "to %g in %c",
                              mesh->box.lo[d], mesh->box.hi[d], "xyz"[d]);
                break;
            }
    double cells = (double)mesh->cells[0] * (double)mesh->cells[1] *
                   (double)mesh->cells[2];
    if (sense_usable(map, "cells") && cells >= 0x1p48)
        deck_complain(s->problems, sense_line(map, "cells", "cells"),
                      "mesh.cells", "expected fewer than 2^48 cells, got %g",
                      cells);
}

/* ---- materials and regions ------------------------------------------------ */

static void sense_law(const struct sense *s, const struct storm_power_law *law,
                      const struct deck_node *material, const char *key,
                      size_t i)
{
    char path[SENSE_PATH_BYTES];
    const struct deck_node *map = deck_node_find(material, key);
    snprintf(path, sizeof path, "materials.%zu.%s", i, key);
    if (sense_usable(map, "min") && sense_usable(map, "max") &&
        !(law->min <= law->max))
        deck_complain(s->problems, sense_line(map, "max", "min"), path,
                      "expected min not above max, got %g and %g", law->min,
                      law->max);
    if (sense_good(map, "E_exp") && law->e_exp != 0.0 &&
        s->deck->values.groups.count == 1)
        deck_complain(
            s->problems, sense_line(map, "E_exp", "E_exp"), path,
            "E_exp: expected 0, as there is one group (groups.count)");
}

static bool sense_same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void sense_materials(const struct sense *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "materials");
    for (size_t i = 0; i < v->materials.n; i++) {
        struct storm_material *m = &v->materials.item[i];
        const struct deck_node *map = sense_item(list, i);
        char path[SENSE_PATH_BYTES];
        snprintf(path, sizeof path, "materials.%zu.name", i);
        int line = sense_line(map, "name", "name");
        if (sense_same_name(m->name, "outside"))
            deck_complain(s->problems, line, path,
                          "expected another name: 'outside' is for regions");
        for (size_t k = 0; k < i; k++)
            if (sense_same_name(m->name, v->materials.item[k].name)) {
                deck_complain(s->problems, line, path,
                              "expected a name of its own, '%s' is there "
                              "already",
                              m->name);
                break;
            }
        if (!sense_good(map, "radiation_temperature"))
            m->radiation_temperature_kev = m->temperature_kev;
        sense_law(s, &m->absorption, map, "absorption", i);
        sense_law(s, &m->scattering, map, "scattering", i);
        sense_law(s, &m->heat_capacity, map, "heat_capacity", i);
    }
}

/* Index of a material, STORM_OUTSIDE, or -2. */
static int sense_find_material(const struct deck_values *v, const char *name)
{
    if (sense_same_name(name, "outside"))
        return STORM_OUTSIDE;
    for (size_t i = 0; i < v->materials.n; i++)
        if (sense_same_name(name, v->materials.item[i].name))
            return (int)i;
    return -2;
}

static void sense_no_material(const struct sense *s, const char *path, int line,
                              const char *name)
{
    const struct deck_values *v = &s->deck->values;
    char known[512] = "outside";
    for (size_t i = 0; i < v->materials.n; i++) {
        size_t used = strlen(known);
        if (v->materials.item[i].name != NULL && used < sizeof known)
            snprintf(known + used, sizeof known - used, ", %s",
                     v->materials.item[i].name);
    }
    deck_complain(s->problems, line, path,
                  "expected the name of a material (%s), got '%s'", known,
                  name);
}

/* Without regions, the first material is everywhere. */
static void sense_default_region(const struct sense *s)
{
    struct deck_values *v = &s->deck->values;
    if (v->regions.n > 0 || v->materials.n == 0)
        return;
    struct deck_region *region = deck_pool_get(&s->deck->pool, sizeof *region);
    if (region == NULL || v->materials.item[0].name == NULL)
        return;
    region->material = deck_pool_text(&s->deck->pool, v->materials.item[0].name,
                                      strlen(v->materials.item[0].name));
    v->regions.item = region;
    v->regions.n = 1;
}

static void sense_regions(const struct sense *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "regions");
    sense_default_region(s);
    s->deck->regions =
        deck_pool_get(&s->deck->pool,
                      (v->regions.n + 1) * sizeof *s->deck->regions);
    for (size_t i = 0; s->deck->regions != NULL && i < v->regions.n; i++) {
        const struct deck_region *from = &v->regions.item[i];
        const struct deck_node *map = sense_item(list, i);
        char path[SENSE_PATH_BYTES];
        int material = sense_find_material(v, from->material);
        snprintf(path, sizeof path, "regions.%zu.material", i);
        if (material == -2 && from->material != NULL)
            sense_no_material(s, path, sense_line(map, "material", "material"),
                              from->material);
        snprintf(path, sizeof path, "regions.%zu", i);
        sense_shape(s, &from->shape, map, path);
        s->deck->regions[i] =
            (struct storm_region){.material = material, .shape = from->shape};
    }
}

/* ---- walls and sources ---------------------------------------------------- */

static const char *const sense_walls_names[STORM_N_WALLS] = {
    "x_lo", "x_hi", "y_lo", "y_hi", "z_lo", "z_hi"};

static void sense_span(const struct sense *s, const struct deck_node *map,
                       const char *path, double start, double stop)
{
    if (sense_usable(map, "start") && sense_usable(map, "stop") &&
        !(start <= stop))
        deck_complain(s->problems, sense_line(map, "stop", "start"), path,
                      "expected start not after stop, got %g and %g", start,
                      stop);
}

static void sense_edge(const struct sense *s, const struct storm_edge *edge,
                       const struct deck_node *map, const char *path,
                       size_t n_edges)
{
    if (map != NULL && map->kind != DECK_MAP)
        return;
    if (edge->kind == STORM_EDGE_BLACKBODY && edge->temperature.n == 0 &&
        deck_node_find(map, "temperature") == NULL)
        deck_complain(s->problems, sense_line(map, "kind", "kind"), path,
                      "temperature is required: expected a number or a table "
                      "for kind blackbody");
    if (edge->kind == STORM_EDGE_PERIODIC && n_edges > 1)
        deck_complain(s->problems, sense_line(map, "kind", "kind"), path,
                      "expected a whole wall, not a part, for kind periodic");
    sense_span(s, map, path, edge->start_s, edge->stop_s);
    sense_shape(s, &edge->part, deck_node_find(map, "part"), path);
}

static bool sense_is_periodic(const struct storm_edges *edges)
{
    return edges->n == 1 && edges->edge[0].kind == STORM_EDGE_PERIODIC;
}

static void sense_walls(const struct sense *s, const struct deck_node *root)
{
    const struct storm_edges *walls = s->deck->values.boundaries.wall;
    const struct deck_node *map = deck_node_find(root, "boundaries");
    for (int w = 0; w < STORM_N_WALLS; w++) {
        const struct deck_node *list =
            deck_node_find(map, sense_walls_names[w]);
        for (size_t i = 0; i < walls[w].n; i++) {
            char path[SENSE_PATH_BYTES];
            if (list != NULL && list->kind == DECK_LIST)
                snprintf(path, sizeof path, "boundaries.%s.%zu",
                         sense_walls_names[w], i);
            else
                snprintf(path, sizeof path, "boundaries.%s",
                         sense_walls_names[w]);
            sense_edge(s, &walls[w].edge[i], sense_item(list, i), path,
                       walls[w].n);
        }
    }
    for (int w = 0; w < STORM_N_WALLS; w++)
        if (sense_is_periodic(&walls[w]) && !sense_is_periodic(&walls[w ^ 1])) {
            char path[SENSE_PATH_BYTES];
            snprintf(path, sizeof path, "boundaries.%s", sense_walls_names[w]);
            deck_complain(s->problems,
                          sense_line(map, sense_walls_names[w], ""), path,
                          "expected %s to be periodic as well",
                          sense_walls_names[w ^ 1]);
        }
}

static void sense_sources(const struct sense *s, const struct deck_node *root)
{
    const struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "sources");
    for (size_t i = 0; i < v->sources.n; i++) {
        const struct deck_node *map = sense_item(list, i);
        char path[SENSE_PATH_BYTES];
        snprintf(path, sizeof path, "sources.%zu", i);
        sense_shape(s, &v->sources.item[i].shape, map, path);
        sense_span(s, map, path, v->sources.item[i].start_s,
                   v->sources.item[i].stop_s);
    }
}

/* ---- the rest ------------------------------------------------------------- */

static void sense_rest(const struct sense *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *groups = deck_node_find(root, "groups");
    const struct deck_node *packets = deck_node_find(root, "packets");
    if (v->time.stop >= STORM_UNLIMITED && v->time.steps == 0)
        v->time.steps = SENSE_STEPS;
    if (sense_usable(groups, "min") && sense_usable(groups, "max") &&
        !(v->groups.min < v->groups.max))
        deck_complain(s->problems, sense_line(groups, "max", "min"), "groups",
                      "expected min below max, got %g and %g", v->groups.min,
                      v->groups.max);
    if (sense_usable(packets, "min_per_cell") &&
        sense_usable(packets, "max_per_cell") &&
        v->packets.min_per_cell > v->packets.max_per_cell)
        deck_complain(s->problems,
                      sense_line(packets, "min_per_cell", "max_per_cell"),
                      "packets",
                      "expected min_per_cell not above max_per_cell, got %lld "
                      "and %lld",
                      (long long)v->packets.min_per_cell,
                      (long long)v->packets.max_per_cell);
}

void deck_make_sense(struct storm_deck *deck, const struct deck_node *root,
                     struct deck_problems *problems)
{
    struct sense s = {.deck = deck, .problems = problems};
    sense_mesh(&s, root);
    sense_materials(&s, root);
    sense_regions(&s, root);
    sense_walls(&s, root);
    sense_sources(&s, root);
    sense_rest(&s, root);
}
