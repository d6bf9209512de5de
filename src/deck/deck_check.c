/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of several keys together, and defaults that depend on others. */
#include <stdio.h>
#include <string.h>

#include "deck/deck.h"

enum { CHECK_PATH_BYTES = 256, CHECK_DEFAULT_STEPS = 100 };

struct check {
    struct storm_deck *deck;
    struct deck_problems *problems;
};

/* Is the key given and valid? */
static bool check_good(const struct deck_node *map, const char *key)
{
    const struct deck_node *node = deck_node_find(map, key);
    return node != NULL && !node->bad;
}

/* Not given, or valid: the values can be used. */
static bool check_usable(const struct deck_node *map, const char *key)
{
    const struct deck_node *node = deck_node_find(map, key);
    return node == NULL || !node->bad;
}

/* The line of the first of two keys that is given, else of the map. */
static int check_line(const struct deck_node *map, const char *key,
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
static const struct deck_node *check_item(const struct deck_node *list,
                                          size_t i)
{
    if (list == NULL || list->kind == DECK_MAP)
        return list;
    return list->kind == DECK_LIST && i < list->n ? list->items[i] : NULL;
}

/* ---- shapes -------------------------------------------------------------- */

static void check_shape(const struct check *s, const struct storm_shape *shape,
                        const struct deck_node *map, const char *path)
{
    if (map == NULL)
        return;
    if (shape->kind == STORM_SHAPE_BOX && check_good(map, "lo") &&
        check_good(map, "hi"))
        for (int d = 0; d < 3; d++)
            if (!(shape->lo_cm[d] < shape->hi_cm[d])) {
                deck_complain(s->problems, check_line(map, "hi", "lo"), path,
                              "expected lo below hi in each direction, got "
                              "%g to %g in %c",
                              shape->lo_cm[d], shape->hi_cm[d], "xyz"[d]);
                break;
            }
    if ((shape->kind == STORM_SHAPE_CYLINDER ||
         shape->kind == STORM_SHAPE_SPHERE) &&
        check_good(map, "radius") &&
        !(shape->radius_cm[0] < shape->radius_cm[1]))
        deck_complain(s->problems, check_line(map, "radius", "radius"), path,
                      "expected radius: [inner, outer] with inner below outer, "
                      "got %g and %g",
                      shape->radius_cm[0], shape->radius_cm[1]);
    if (shape->kind == STORM_SHAPE_CYLINDER && check_usable(map, "range") &&
        !(shape->range_cm[0] < shape->range_cm[1]))
        deck_complain(s->problems, check_line(map, "range", "range"), path,
                      "expected range: [low, high] with low below high, got %g "
                      "and %g",
                      shape->range_cm[0], shape->range_cm[1]);
}

/* ---- mesh ---------------------------------------------------------------- */

static void check_mesh(const struct check *s, const struct deck_node *root)
{
    const struct deck_mesh *mesh = &s->deck->values.mesh;
    const struct deck_node *map = deck_node_find(root, "mesh");
    const struct deck_node *box = deck_node_find(map, "box");
    if (check_usable(box, "lo") && check_usable(box, "hi"))
        for (int d = 0; d < 3; d++)
            if (!(mesh->box.lo[d] < mesh->box.hi[d])) {
                deck_complain(s->problems, check_line(box, "hi", "lo"),
                              "mesh.box",
                              "expected lo below hi in each direction, got %g "
                              "to %g in %c",
                              mesh->box.lo[d], mesh->box.hi[d], "xyz"[d]);
                break;
            }
    double cells = (double)mesh->cells[0] * (double)mesh->cells[1] *
                   (double)mesh->cells[2];
    if (check_usable(map, "cells") && cells >= 0x1p48)
        deck_complain(s->problems, check_line(map, "cells", "cells"),
                      "mesh.cells", "expected fewer than 2^48 cells, got %g",
                      cells);
}

/* ---- materials and regions ----------------------------------------------- */

static void check_law(const struct check *s, const struct storm_power_law *law,
                      const struct deck_node *material, const char *key,
                      size_t i)
{
    char path[CHECK_PATH_BYTES];
    const struct deck_node *map = deck_node_find(material, key);
    snprintf(path, sizeof path, "materials.%zu.%s", i, key);
    if (check_usable(map, "min") && check_usable(map, "max") &&
        !(law->min <= law->max))
        deck_complain(s->problems, check_line(map, "max", "min"), path,
                      "expected min not above max, got %g and %g", law->min,
                      law->max);
    if (check_good(map, "E_exp") && law->e_exp != 0.0 &&
        s->deck->values.groups.count == 1)
        deck_complain(
            s->problems, check_line(map, "E_exp", "E_exp"), path,
            "E_exp: expected 0, as there is one group (groups.count)");
}

static bool check_same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void check_materials(const struct check *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "materials");
    for (size_t i = 0; i < v->materials.n; i++) {
        struct storm_material *m = &v->materials.item[i];
        const struct deck_node *map = check_item(list, i);
        char path[CHECK_PATH_BYTES];
        snprintf(path, sizeof path, "materials.%zu.name", i);
        int line = check_line(map, "name", "name");
        if (check_same_name(m->name, "outside"))
            deck_complain(s->problems, line, path,
                          "expected another name: 'outside' is for regions");
        for (size_t k = 0; k < i; k++)
            if (check_same_name(m->name, v->materials.item[k].name)) {
                deck_complain(s->problems, line, path,
                              "expected a name of its own, '%s' is there "
                              "already",
                              m->name);
                break;
            }
        if (!check_good(map, "radiation_temperature"))
            m->radiation_temperature_kev = m->temperature_kev;
        check_law(s, &m->absorption, map, "absorption", i);
        check_law(s, &m->scattering, map, "scattering", i);
        check_law(s, &m->heat_capacity, map, "heat_capacity", i);
    }
}

/* Index of a material, STORM_OUTSIDE, or -2. */
static int check_find_material(const struct deck_values *v, const char *name)
{
    if (check_same_name(name, "outside"))
        return STORM_OUTSIDE;
    for (size_t i = 0; i < v->materials.n; i++)
        if (check_same_name(name, v->materials.item[i].name))
            return (int)i;
    return -2;
}

static void check_no_material(const struct check *s, const char *path, int line,
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
static void check_default_region(const struct check *s)
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

static void check_regions(const struct check *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "regions");
    check_default_region(s);
    s->deck->regions =
        deck_pool_get(&s->deck->pool,
                      (v->regions.n + 1) * sizeof *s->deck->regions);
    for (size_t i = 0; s->deck->regions != NULL && i < v->regions.n; i++) {
        const struct deck_region *from = &v->regions.item[i];
        const struct deck_node *map = check_item(list, i);
        char path[CHECK_PATH_BYTES];
        int material = check_find_material(v, from->material);
        snprintf(path, sizeof path, "regions.%zu.material", i);
        if (material == -2 && from->material != NULL)
            check_no_material(s, path, check_line(map, "material", "material"),
                              from->material);
        snprintf(path, sizeof path, "regions.%zu", i);
        check_shape(s, &from->shape, map, path);
        s->deck->regions[i] =
            (struct storm_region){.material = material, .shape = from->shape};
    }
}

/* ---- walls and sources --------------------------------------------------- */

static const char *const check_walls_names[STORM_N_WALLS] = {
    "x_lo", "x_hi", "y_lo", "y_hi", "z_lo", "z_hi"};

static void check_span(const struct check *s, const struct deck_node *map,
                       const char *path, double start, double stop)
{
    if (check_usable(map, "start") && check_usable(map, "stop") &&
        !(start <= stop))
        deck_complain(s->problems, check_line(map, "stop", "start"), path,
                      "expected start not after stop, got %g and %g", start,
                      stop);
}

static void check_edge(const struct check *s,
                       const struct storm_wall_part *edge,
                       const struct deck_node *map, const char *path,
                       size_t n_edges)
{
    if (map != NULL && map->kind != DECK_MAP)
        return;
    if (edge->kind == STORM_WALL_BLACKBODY && edge->temperature.n == 0 &&
        deck_node_find(map, "temperature") == NULL)
        deck_complain(s->problems, check_line(map, "kind", "kind"), path,
                      "temperature is required: expected a number or a table "
                      "for kind blackbody");
    if (edge->kind == STORM_WALL_PERIODIC && n_edges > 1)
        deck_complain(s->problems, check_line(map, "kind", "kind"), path,
                      "expected a whole wall, not a part, for kind periodic");
    check_span(s, map, path, edge->start_s, edge->stop_s);
    check_shape(s, &edge->shape, deck_node_find(map, "part"), path);
}

static bool check_is_periodic(const struct storm_wall *edges)
{
    return edges->n == 1 && edges->parts[0].kind == STORM_WALL_PERIODIC;
}

static void check_walls(const struct check *s, const struct deck_node *root)
{
    const struct storm_wall *walls = s->deck->values.boundaries.wall;
    const struct deck_node *map = deck_node_find(root, "boundaries");
    for (int w = 0; w < STORM_N_WALLS; w++) {
        const struct deck_node *list =
            deck_node_find(map, check_walls_names[w]);
        for (size_t i = 0; i < walls[w].n; i++) {
            char path[CHECK_PATH_BYTES];
            if (list != NULL && list->kind == DECK_LIST)
                snprintf(path, sizeof path, "boundaries.%s.%zu",
                         check_walls_names[w], i);
            else
                snprintf(path, sizeof path, "boundaries.%s",
                         check_walls_names[w]);
            check_edge(s, &walls[w].parts[i], check_item(list, i), path,
                       walls[w].n);
        }
    }
    for (int w = 0; w < STORM_N_WALLS; w++)
        if (check_is_periodic(&walls[w]) && !check_is_periodic(&walls[w ^ 1])) {
            char path[CHECK_PATH_BYTES];
            snprintf(path, sizeof path, "boundaries.%s", check_walls_names[w]);
            deck_complain(s->problems,
                          check_line(map, check_walls_names[w], ""), path,
                          "expected %s to be periodic as well",
                          check_walls_names[w ^ 1]);
        }
}

static void check_sources(const struct check *s, const struct deck_node *root)
{
    const struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "sources");
    for (size_t i = 0; i < v->sources.n; i++) {
        const struct deck_node *map = check_item(list, i);
        char path[CHECK_PATH_BYTES];
        snprintf(path, sizeof path, "sources.%zu", i);
        check_shape(s, &v->sources.item[i].shape, map, path);
        check_span(s, map, path, v->sources.item[i].start_s,
                   v->sources.item[i].stop_s);
    }
}

/* ---- the rest ------------------------------------------------------------ */

static void check_rest(const struct check *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *groups = deck_node_find(root, "groups");
    const struct deck_node *packets = deck_node_find(root, "packets");
    if (v->time.stop >= STORM_UNLIMITED && v->time.steps == 0)
        v->time.steps = CHECK_DEFAULT_STEPS;
    if (check_usable(groups, "min") && check_usable(groups, "max") &&
        !(v->groups.min < v->groups.max))
        deck_complain(s->problems, check_line(groups, "max", "min"), "groups",
                      "expected min below max, got %g and %g", v->groups.min,
                      v->groups.max);
    if (check_usable(packets, "min_per_cell") &&
        check_usable(packets, "max_per_cell") &&
        v->packets.min_per_cell > v->packets.max_per_cell)
        deck_complain(s->problems,
                      check_line(packets, "min_per_cell", "max_per_cell"),
                      "packets",
                      "expected min_per_cell not above max_per_cell, got %lld "
                      "and %lld",
                      (long long)v->packets.min_per_cell,
                      (long long)v->packets.max_per_cell);
}

void deck_check(struct storm_deck *deck, const struct deck_node *root,
                struct deck_problems *problems)
{
    struct check s = {.deck = deck, .problems = problems};
    check_mesh(&s, root);
    check_materials(&s, root);
    check_regions(&s, root);
    check_walls(&s, root);
    check_sources(&s, root);
    check_rest(&s, root);
}
