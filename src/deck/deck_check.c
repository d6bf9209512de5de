/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of names, defaults that depend on others, and faults of the problem
 * (storm_problem_check) at their places in the deck. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/octree.h>

#include "deck/deck.h"

enum { CHECK_PATH_BYTES = 256, CHECK_DEFAULT_STEPS = 100 };
static const double check_growth = 1.2; /* of time.control: accuracy */

struct check {
    struct storm_deck *deck;
    struct deck_problems *problems;
    struct deck_node *root;
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

/* The line of a key if it is given, else of the map. */
static int check_line(const struct deck_node *map, const char *key)
{
    const struct deck_node *node = deck_node_find(map, key);
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

/* ---- mesh ---------------------------------------------------------------- */

/* Above what storm_mesh_create_octree has room for, whatever the box. */
static void check_octree(const struct check *s, const struct deck_node *map)
{
    const struct deck_mesh *mesh = &s->deck->values.mesh;
    double cells = (double)((int64_t)1 << 3 * mesh->level);
    for (int d = 0; d < 3; d++)
        cells *= (double)mesh->roots[d];
    if (cells >= 0x1p48)
        deck_complain(s->problems, check_line(map, "level"), "mesh.level",
                      "expected fewer than 2^48 cells, got %g", cells);
    int64_t level = mesh->level + mesh->refine_levels;
    if (level > STORM_OCTREE_MAX_LEVEL)
        deck_complain(s->problems, check_line(map, "refine_levels"),
                      "mesh.refine_levels",
                      "expected level + refine_levels of at most %d, got %d",
                      STORM_OCTREE_MAX_LEVEL, (int)level);
}

char *deck_resolve(struct storm_deck *deck, const char *name)
{
    const char *path = deck->path;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    struct storm_page page = {0};
    if (path == NULL || name[0] == '/')
        return NULL;
    storm_page_add(&page, "%.*s", slash != NULL ? (int)(slash + 1 - path) : 2,
                   slash != NULL ? path : "./");
    char *folder = storm_page_end(&page);
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    struct storm_page whole = {0};
    storm_page_add(&whole, "%s/%s", real != NULL ? real : "", name);
    char *text = storm_page_end(&whole), *resolved = NULL;
    if (text != NULL && real != NULL)
        resolved = deck_pool_text(&deck->pool, text, strlen(text));
    free(text);
    free(real);
    free(folder);
    return resolved;
}

static void check_file(const struct check *s, const struct deck_node *map)
{
    struct deck_mesh *mesh = &s->deck->values.mesh;
    if (!check_usable(map, "file") || mesh->file == NULL)
        return;
    if (strcmp(mesh->file, "none") == 0) {
        deck_complain(s->problems, check_line(map, "kind"), "mesh.file",
                      "is required: expected the name of a file, as mesh.kind "
                      "is file");
        return;
    }
    char *resolved = deck_resolve(s->deck, mesh->file);
    if (resolved != NULL)
        mesh->file = resolved;
}

static void check_points_file(const struct check *s,
                              const struct deck_node *map)
{
    struct deck_mesh *mesh = &s->deck->values.mesh;
    if (!check_good(map, "points_file") || mesh->points_file == NULL ||
        strcmp(mesh->points_file, "none") == 0)
        return;
    if (mesh->interfaces == DECK_INTERFACES_SHARP)
        deck_complain(s->problems, check_line(map, "interfaces"),
                      "mesh.interfaces",
                      "expected plain: points of a file stay where they are");
    char *resolved = deck_resolve(s->deck, mesh->points_file);
    if (resolved != NULL)
        mesh->points_file = resolved;
}

static bool check_is_wall(const char *key)
{
    return key[0] >= 'x' && key[0] <= 'z' &&
           (strcmp(key + 1, "_lo") == 0 || strcmp(key + 1, "_hi") == 0);
}

/* A box has walls, a mesh from a file has numbers. Keys that are neither were
 * found when the map was read. */
static void check_walls(const struct check *s, const struct deck_node *root)
{
    const struct deck_node *map = deck_node_find(root, "boundaries");
    bool has_numbers = s->deck->values.mesh.kind == STORM_MESH_FILE;
    if (map == NULL || map->kind != DECK_MAP || map->bad)
        return;
    for (size_t i = 0; i < map->n; i++) {
        char path[CHECK_PATH_BYTES];
        bool is_number = deck_key_is_number(map->keys[i]);
        snprintf(path, sizeof path, "boundaries.%.100s", map->keys[i]);
        if (has_numbers && check_is_wall(map->keys[i]))
            deck_complain(s->problems, map->key_lines[i], path,
                          "expected the number of a boundary, as mesh.kind is "
                          "file");
        if (!has_numbers && is_number)
            deck_complain(s->problems, map->key_lines[i], path,
                          "expected a wall, such as x_lo; numbers are for "
                          "mesh.kind file");
    }
}

/* Boundaries as the problem has them. */
static void check_numbers(const struct check *s)
{
    const struct deck_walls *walls = &s->deck->values.boundaries;
    size_t n = 0;
    for (size_t i = 0; i < walls->numbered.n; i++)
        if ((size_t)walls->numbered.item[i].number >= n)
            n = (size_t)walls->numbered.item[i].number + 1;
    s->deck->boundaries =
        deck_pool_get(&s->deck->pool, (n + 1) * sizeof *s->deck->boundaries);
    if (s->deck->boundaries == NULL)
        return;
    for (size_t i = 0; i < walls->numbered.n; i++)
        s->deck->boundaries[walls->numbered.item[i].number] =
            walls->numbered.item[i].wall;
    s->deck->n_boundaries = n;
}

/* One list of edges, its name, and the i-th that is not above the one before
 * it; 0: there is none. */
struct edges {
    const double *item;
    size_t n;
    const char *key;
};

static size_t check_falling(const struct edges *e)
{
    for (size_t i = 1; i < e->n; i++)
        if (!(e->item[i] > e->item[i - 1]))
            return i;
    return 0;
}

/* Is it a list of edges, two at least, that grow? If not, it is reported. */
static bool check_edges_grow(const struct check *s, int line,
                             const struct edges *e)
{
    size_t i = check_falling(e);
    if (e->n < 2)
        deck_complain(s->problems, line, e->key,
                      "expected two edges at least, got %zu", e->n);
    else if (i > 0)
        deck_complain(s->problems, line, e->key,
                      "expected edges that grow, got %.12g after %.12g as "
                      "element %zu",
                      e->item[i], e->item[i - 1], i + 1);
    return e->n >= 2 && i == 0;
}

/* What else says how the cells of direction d are must agree. */
static void check_edges_agree(const struct check *s,
                              const struct deck_node *map,
                              const struct edges *e, int d)
{
    const struct deck_mesh *mesh = &s->deck->values.mesh;
    const struct deck_node *box = deck_node_find(map, "box");
    const char axis = "xyz"[d];
    int64_t n = (int64_t)e->n - 1;
    if (check_good(map, "cells") && mesh->cells[d] != 1 && mesh->cells[d] != n)
        deck_complain(s->problems, check_line(map, "cells"), "mesh.cells",
                      "expected 1 or %lld cells along %c, as in %s, got %lld",
                      (long long)n, axis, e->key, (long long)mesh->cells[d]);
    if (check_good(map, "stretch") && mesh->stretch[d] != 1.0)
        deck_complain(s->problems, check_line(map, "stretch"), "mesh.stretch",
                      "expected 1 along %c, as there is %s, got %g", axis,
                      e->key, mesh->stretch[d]);
    if (check_good(box, "lo") && mesh->box.lo[d] != e->item[0])
        deck_complain(s->problems, check_line(box, "lo"), "mesh.box.lo",
                      "expected %.12g along %c, as in %s, got %.12g",
                      e->item[0], axis, e->key, mesh->box.lo[d]);
    if (check_good(box, "hi") && mesh->box.hi[d] != e->item[n])
        deck_complain(s->problems, check_line(box, "hi"), "mesh.box.hi",
                      "expected %.12g along %c, as in %s, got %.12g",
                      e->item[n], axis, e->key, mesh->box.hi[d]);
}

/* Edges of Cartesian cells: from here on cells and box are theirs. */
static void check_edges(const struct check *s, const struct deck_node *map)
{
    struct deck_mesh *mesh = &s->deck->values.mesh;
    const struct deck_node *lists = deck_node_find(map, "edges");
    const struct edges edges[3] = {
        {mesh->edges.x.item, mesh->edges.x.n, "mesh.edges.x"},
        {mesh->edges.y.item, mesh->edges.y.n, "mesh.edges.y"},
        {mesh->edges.z.item, mesh->edges.z.n, "mesh.edges.z"}};
    for (int d = 0; d < 3; d++) {
        const struct edges *e = &edges[d];
        int line = check_line(lists, e->key + sizeof "mesh.edges");
        if (e->n == 0)
            continue;
        if (mesh->kind != STORM_MESH_CARTESIAN && check_usable(map, "kind")) {
            deck_complain(s->problems, line, e->key,
                          "expected none: edges are for mesh.kind cartesian");
            continue;
        }
        if (!check_edges_grow(s, line, e))
            continue;
        check_edges_agree(s, map, e, d);
        mesh->cells[d] = (int64_t)e->n - 1;
        mesh->box.lo[d] = e->item[0];
        mesh->box.hi[d] = e->item[e->n - 1];
    }
}

static void check_mesh(const struct check *s, const struct deck_node *root)
{
    const struct deck_mesh *mesh = &s->deck->values.mesh;
    const struct deck_node *map = deck_node_find(root, "mesh");
    check_edges(s, map);
    double cells = (double)mesh->cells[0] * (double)mesh->cells[1] *
                   (double)mesh->cells[2];
    if (check_usable(map, "cells") && cells >= 0x1p48)
        deck_complain(s->problems, check_line(map, "cells"), "mesh.cells",
                      "expected fewer than 2^48 cells, got %g", cells);
    check_points_file(s, map);
    if (mesh->kind == STORM_MESH_OCTREE && check_usable(map, "level") &&
        check_usable(map, "refine_levels") && check_usable(map, "roots"))
        check_octree(s, map);
    if (mesh->kind == STORM_MESH_FILE)
        check_file(s, map);
    if (check_usable(map, "kind"))
        check_walls(s, root);
    check_numbers(s);
}

/* ---- output -------------------------------------------------------------- */

/* With edges, the number of bins is theirs. */
static void check_profile(const struct check *s, const struct deck_node *root)
{
    struct deck_profile *p = &s->deck->values.output.profile;
    const struct deck_node *map =
        deck_node_find(deck_node_find(root, "output"), "profile");
    const struct edges e = {p->edges.item, p->edges.n, "output.profile.edges"};
    if (p->bins == DECK_BY_WORD && e.n == 0 &&
        s->deck->values.mesh.kind != STORM_MESH_CARTESIAN)
        deck_complain(s->problems, check_line(map, "bins"),
                      "output.profile.bins",
                      "expected a number, or output.profile.edges: only a "
                      "Cartesian mesh has layers of cells");
    if (e.n == 0 || !check_edges_grow(s, check_line(map, "edges"), &e))
        return;
    if (check_good(map, "bins") && p->bins != (int64_t)e.n - 1)
        deck_complain(s->problems, check_line(map, "bins"),
                      "output.profile.bins",
                      "expected no number besides output.profile.edges, or "
                      "%zu as there",
                      e.n - 1);
    p->bins = (int64_t)e.n - 1;
}

/* ---- names --------------------------------------------------------------- */

static bool check_same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void check_trace(const struct check *s, const struct deck_node *root)
{
    const struct deck_output *output = &s->deck->values.output;
    struct storm_packet_id id;
    for (size_t i = 0; i < output->trace.n; i++) {
        char path[CHECK_PATH_BYTES];
        if (storm_packet_id_parse(output->trace.item[i], &id))
            continue;
        snprintf(path, sizeof path, "output.trace.%zu", i);
        deck_complain(s->problems,
                      check_line(deck_node_find(root, "output"), "trace"), path,
                      "expected origin:step:place:index with origin initial, "
                      "emission, source, boundary or host, or 32 hexadecimal "
                      "digits, got '%.80s'",
                      output->trace.item[i]);
    }
}

static void check_same_radiation(struct storm_material *m)
{
    m->radiation_temperature_kev = m->temperature_kev;
    m->radiation_temperature_formula = m->temperature_formula;
}

static void check_materials(const struct check *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "materials");
    for (size_t i = 0; i < v->materials.n; i++) {
        struct storm_material *m = &v->materials.item[i].laws;
        const struct deck_node *map = check_item(list, i);
        char path[CHECK_PATH_BYTES];
        snprintf(path, sizeof path, "materials.%zu.name", i);
        int line = check_line(map, "name");
        if (check_same_name(m->name, "outside"))
            deck_complain(s->problems, line, path,
                          "expected another name: 'outside' is for regions");
        for (size_t k = 0; k < i; k++)
            if (check_same_name(m->name, v->materials.item[k].laws.name)) {
                deck_complain(s->problems, line, path,
                              "expected a name of its own, '%s' is there "
                              "already",
                              m->name);
                break;
            }
        if (!check_good(map, "radiation_temperature"))
            check_same_radiation(m);
    }
}

/* Points are isotropic unless they have a cone. */
static void check_cones(const struct check *s, const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "sources");
    for (size_t i = 0; i < v->sources.n; i++)
        if (v->sources.item[i].kind == STORM_SOURCE_POINT &&
            deck_node_find(check_item(list, i), "cone") == NULL)
            v->sources.item[i].cone_deg = 180.0;
}

/* A table is in place of all laws. */
static void check_table(const struct check *s, const struct deck_node *map,
                        size_t i)
{
    static const char *const laws[] = {"absorption", "scattering",
                                       "heat_capacity"};
    struct deck_material *m = &s->deck->values.materials.item[i];
    char path[CHECK_PATH_BYTES];
    if (m->table == NULL || strcmp(m->table, "none") == 0)
        return;
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
        const struct deck_node *law = deck_node_find(map, laws[k]);
        snprintf(path, sizeof path, "materials.%zu.%s", i, laws[k]);
        /* The resolved deck has all keys, with coefficients of 0. */
        const struct deck_node *coef = deck_node_find(law, "coef");
        if (coef != NULL && strcmp(coef->text != NULL ? coef->text : "", "0"))
            deck_complain(s->problems, law->line, path,
                          "expected none, as the material has a table");
    }
    char *resolved = deck_resolve(s->deck, m->table);
    if (resolved != NULL)
        m->table = resolved;
}

/* Materials as the problem has them. */
static void check_take_materials(const struct check *s,
                                 const struct deck_node *root)
{
    struct deck_values *v = &s->deck->values;
    const struct deck_node *list = deck_node_find(root, "materials");
    s->deck->materials =
        deck_pool_get(&s->deck->pool,
                      (v->materials.n + 1) * sizeof *s->deck->materials);
    for (size_t i = 0; s->deck->materials != NULL && i < v->materials.n; i++) {
        check_table(s, check_item(list, i), i);
        s->deck->materials[i] = v->materials.item[i].laws;
    }
}

/* Index of a material, STORM_OUTSIDE, or -2. */
static int check_find_material(const struct deck_values *v, const char *name)
{
    if (check_same_name(name, "outside"))
        return STORM_OUTSIDE;
    for (size_t i = 0; i < v->materials.n; i++)
        if (check_same_name(name, v->materials.item[i].laws.name))
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
        if (v->materials.item[i].laws.name != NULL && used < sizeof known)
            snprintf(known + used, sizeof known - used, ", %s",
                     v->materials.item[i].laws.name);
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
    if (region == NULL || v->materials.item[0].laws.name == NULL)
        return;
    region->material =
        deck_pool_text(&s->deck->pool, v->materials.item[0].laws.name,
                       strlen(v->materials.item[0].laws.name));
    v->regions.item = region;
    v->regions.n = 1;
}

/* Cells have numbers in files alone. */
static void check_region_number(const struct check *s,
                                const struct deck_node *map, size_t i)
{
    struct deck_region *region = &s->deck->values.regions.item[i];
    char path[CHECK_PATH_BYTES];
    if (region->number == 0)
        return;
    region->line = check_line(map, "number");
    snprintf(path, sizeof path, "regions.%zu.number", i);
    if (s->deck->values.mesh.kind != STORM_MESH_FILE)
        deck_complain(s->problems, region->line, path,
                      "expected none: numbers are for mesh.kind file");
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
        struct deck_node *name = deck_node_find(map, "material");
        if (material == -2 && from->material != NULL)
            check_no_material(s, path, check_line(map, "material"),
                              from->material);
        if (material == -2 && name != NULL)
            name->bad = true;
        check_region_number(s, map, i);
        s->deck->regions[i] =
            (struct storm_region){.material = material,
                                  .shape = from->shape,
                                  .number = (int)from->number};
    }
}

/* ---- motion -------------------------------------------------------------- */

static bool check_walls_are(const struct deck_values *v, int axis, int kind)
{
    for (int wall = 2 * axis; wall < 2 * axis + 2; wall++)
        for (size_t i = 0; i < v->boundaries.wall[wall].n; i++)
            if ((int)v->boundaries.wall[wall].parts[i].kind != kind)
                return false;
    return v->boundaries.wall[2 * axis].n > 0 || kind == STORM_WALL_VACUUM;
}

/* What is wrong with the keys of a motion: where, and what was expected. NULL:
 * nothing. */
static const char *check_translate(const struct deck_values *v,
                                   const char **key_out)
{
    const struct deck_motion *motion = &v->mesh.motion;
    bool all = check_same_name(motion->material, "all");
    for (int d = 0; d < 3; d++) {
        if (motion->velocity[d] == 0.0)
            continue;
        bool periodic = check_walls_are(v, d, STORM_WALL_PERIODIC);
        *key_out = "velocity";
        if (all && !periodic)
            return "expected 0 in directions without periodic walls, or the "
                   "`material` that moves";
        if (!all && periodic)
            return "expected 0 in directions with periodic walls, or no "
                   "`material`";
    }
    *key_out = "material";
    return all || check_find_material(v, motion->material) >= 0
               ? NULL
               : "expected the name of a material, or all";
}

static const char *check_expand(const struct deck_values *v,
                                const char **key_out)
{
    const struct deck_motion *motion = &v->mesh.motion;
    *key_out = "rate";
    if (!(1.0 + motion->rate * v->time.dt > 0.0))
        return "expected rate * time.dt above -1";
    *key_out = "kind";
    for (int d = 0; d < 3; d++)
        if (!check_walls_are(v, d, STORM_WALL_VACUUM))
            return "expected vacuum at all walls of a box that expands";
    return NULL;
}

static const char *check_vortex(const struct deck_values *v,
                                const char **key_out)
{
    *key_out = "rate";
    return fabs(v->mesh.motion.rate) * v->time.dt <= DECK_MAX_TURN
               ? NULL
               : "expected rate * time.dt from -1000 to 1000, in radians";
}

static void check_motion(const struct check *s, const struct deck_node *root)
{
    const struct deck_values *v = &s->deck->values;
    const struct deck_motion *motion = &v->mesh.motion;
    const struct deck_node *map =
        deck_node_find(deck_node_find(root, "mesh"), "motion");
    const char *key = "kind", *why = NULL;
    char path[CHECK_PATH_BYTES];
    if (motion->kind == DECK_MOTION_NONE || s->deck->pool.failed)
        return;
    if (v->mesh.kind != STORM_MESH_VORONOI)
        why = "expected none: only meshes of kind voronoi move";
    else if (motion->kind == DECK_MOTION_TRANSLATE)
        why = check_translate(v, &key);
    else if (motion->kind == DECK_MOTION_EXPAND)
        why = check_expand(v, &key);
    else
        why = check_vortex(v, &key);
    snprintf(path, sizeof path, "mesh.motion.%s", key);
    if (why != NULL && check_usable(map, key))
        deck_complain(s->problems, check_line(map, key), path, "%s", why);
}

/* ---- fields -------------------------------------------------------------- */

static void check_fields(const struct check *s, const struct deck_node *root)
{
    struct deck_fields *f = &s->deck->values.fields;
    const struct deck_node *map = deck_node_find(root, "fields");
    const char *const names[] = {f->temperature, f->density,
                                 f->radiation_temperature};
    bool has = false;
    if (s->deck->pool.failed || f->file == NULL)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        has = has || (names[i] != NULL && strcmp(names[i], "none") != 0);
    if (strcmp(f->file, "none") == 0) {
        if (has)
            deck_complain(s->problems, check_line(map, "file"), "fields.file",
                          "is required: expected the name of a file, as arrays "
                          "of it are named");
        return;
    }
    if (!has)
        deck_complain(s->problems, check_line(map, "file"), "fields",
                      "expected the name of an array in temperature, density "
                      "or radiation_temperature");
    char *resolved = deck_resolve(s->deck, f->file);
    if (resolved != NULL)
        f->file = resolved;
}

/* ---- faults of the problem ----------------------------------------------- */

/* A place in the deck, and how it is named. */
struct place {
    const struct deck_node *node; /* NULL: not given */
    int line;                     /* of the nearest that is given */
    bool reported;                /* it, or what it is in, has an error */
    char key[CHECK_PATH_BYTES];
};

static void place_enter(struct place *p, const char *key,
                        const struct deck_node *node)
{
    size_t used = strlen(p->key);
    snprintf(p->key + used, sizeof p->key - used, "%s%s", used > 0 ? "." : "",
             key);
    p->node = node;
    if (node != NULL) {
        p->line = node->line;
        p->reported = p->reported || node->bad;
    }
}

static void place_down(struct place *p, const char *key)
{
    place_enter(p, key, deck_node_find(p->node, key));
}

static void place_item(struct place *p, size_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    place_enter(p, number, check_item(p->node, i));
}

/* Members of the problem and of its structs whose keys have other names. */
static const char *const place_of_problem[][3] = {
    {"light_cm_s", "constants", "c"},
    {"radiation_erg_cm3_kev4", "constants", "a"},
    {"lo_cm", "mesh.box", "lo"},
    {"hi_cm", "mesh.box", "hi"},
    {"n_groups", "groups", "count"},
    {"random_walk", "acceleration", "method"},
    {"diffusion", "acceleration", "method"},
    {"group_min_kev", "groups", "min"},
    {"group_max_kev", "groups", "max"},
    {"group_edge_kev", "groups", "edges"},
    {"emit_per_cell", "packets", "emit_per_cell"},
    {"min_per_cell", "packets", "min_per_cell"},
    {"max_per_cell", "packets", "max_per_cell"},
};
static const char *const place_names[][2] = {
    {"t_exp", "T_exp"},
    {"e_exp", "E_exp"},
    {"lo_cm", "lo"},
    {"hi_cm", "hi"},
    {"centre_cm", "centre"},
    {"radius_cm", "radius"},
    {"range_cm", "range"},
    {"temperature_kev", "temperature"},
    {"power_erg_cm3_s", "power"},
    {"start_s", "start"},
    {"stop_s", "stop"},
    {"shape", "part"},
    {"radiation_temperature_kev", "radiation_temperature"},
    {"temperature_formula", "temperature"},
    {"density_formula", "density"},
    {"power_formula", "power"},
    {"energy_kev", "energy"},
    {"at_cm", "at"},
    {"cone_deg", "cone"},
    {"disc_radius_cm", "disc_radius"},
    {"shell_radius_cm", "shell_radius"},
    {"width_cm", "rectangle"},
    {"velocity_cm_s", "velocity"},
    {"radiation_temperature_formula", "radiation_temperature"},
};

static const char *place_name(const char *member)
{
    for (size_t i = 0; i < sizeof place_names / sizeof place_names[0]; i++)
        if (strcmp(member, place_names[i][0]) == 0)
            return place_names[i][1];
    return member;
}

/* From a struct of the problem to the map that it was read from: one part of a
 * path, such as "walls[1]". */
static void place_follow(struct place *p, const char *part, bool in_wall)
{
    static const char *const walls[STORM_N_WALLS] = {"x_lo", "x_hi", "y_lo",
                                                     "y_hi", "z_lo", "z_hi"};
    char name[32];
    size_t i = 0;
    int n = sscanf(part, "%31[a-z_][%zu]", name, &i);
    if (n == 2 && strcmp(name, "walls") == 0 && i < STORM_N_WALLS) {
        place_down(p, "boundaries");
        place_down(p, walls[i]);
    } else if (n == 2 && strcmp(name, "boundaries") == 0) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        place_down(p, "boundaries");
        place_down(p, number);
    } else if (n == 2 && strcmp(name, "parts") == 0) {
        if (p->node != NULL && p->node->kind == DECK_LIST)
            place_item(p, i);
    } else if (n == 2) {
        place_down(p, name);
        place_item(p, i);
    } else if (strcmp(part, "shape") != 0 || in_wall) {
        place_down(p, place_name(part)); /* else keys are among its owner's */
    }
}

/* The map of a path; a member of the problem itself is in a map of its own. */
static struct place place_find(const struct check *s, const char *path,
                               const char **member_inout)
{
    struct place p = {.node = s->root, .line = 1};
    char parts[CHECK_PATH_BYTES], *rest = NULL;
    snprintf(parts, sizeof parts, "%s", path);
    size_t n = sizeof place_of_problem / sizeof place_of_problem[0];
    for (size_t i = 0; path[0] == '\0' && i < n; i++)
        if (strcmp(*member_inout, place_of_problem[i][0]) == 0) {
            snprintf(parts, sizeof parts, "%s", place_of_problem[i][1]);
            *member_inout = place_of_problem[i][2];
            break;
        }
    for (char *part = strtok_r(parts, ".", &rest); part != NULL;
         part = strtok_r(NULL, ".", &rest))
        place_follow(&p, part,
                     strncmp(path, "walls", 5) == 0 ||
                         strncmp(path, "boundaries", 10) == 0);
    return p;
}

/* Not again what was reported when the values were read: such a value is not
 * what the deck has. */
static void check_fault(void *self, const char *path, const char *member,
                        const char *other, const char *message)
{
    const struct check *s = self;
    const char *first = member, *second = other;
    struct place p = place_find(s, path, &first);
    if (other != NULL && path[0] == '\0')
        (void)place_find(s, path, &second);
    if (p.node != NULL &&
        (p.node->lacks || (p.node->kind != DECK_MAP && member != NULL)))
        return;
    struct place at[2] = {p, p};
    if (first != NULL)
        place_down(&at[0], place_name(first));
    if (second != NULL)
        place_down(&at[1], place_name(second));
    if (at[0].reported || at[1].reported)
        return;
    int line = at[0].node != NULL ? at[0].line : at[1].line;
    deck_complain(s->problems, line, second != NULL ? p.key : at[0].key, "%s",
                  message);
}

/* ---- acceleration -------------------------------------------------------- */

/* In the order of the key's words. */
enum { METHOD_NONE, METHOD_RANDOM_WALK, METHOD_DDMC, METHOD_AUTO };

static void check_acceleration(const struct check *s,
                               const struct deck_node *root)
{
    const struct deck_node *map = deck_node_find(root, "acceleration");
    if (s->deck->values.acceleration.random_walk &&
        s->deck->values.acceleration.method == METHOD_DDMC)
        deck_complain(s->problems, check_line(map, "random_walk"),
                      "acceleration.random_walk",
                      "true excludes method: ddmc; for both, method: auto");
}

/* ---- time ---------------------------------------------------------------- */

static void check_time(const struct check *s, const struct deck_node *root)
{
    struct deck_time *time = &s->deck->values.time;
    const struct deck_node *map = deck_node_find(root, "time");
    if (time->stop >= STORM_UNLIMITED && time->steps == 0)
        time->steps = CHECK_DEFAULT_STEPS;
    if (time->control != DECK_CONTROL_ACCURACY)
        return;
    if (deck_node_find(map, "growth") == NULL)
        time->growth = check_growth;
    if (!(time->growth > 1.0) && check_usable(map, "growth"))
        deck_complain(s->problems, check_line(map, "growth"), "time.growth",
                      "expected a number above 1, as time.control is accuracy, "
                      "got %g",
                      time->growth);
    double first = fmin(time->dt, time->dt_max);
    if (time->dt_min > first && check_usable(map, "dt") &&
        check_usable(map, "dt_max"))
        deck_complain(s->problems, check_line(map, "dt_min"), "time.dt_min",
                      "expected at most the length of the first step, %g, got "
                      "%g",
                      first, time->dt_min);
}

/* ---- all ----------------------------------------------------------------- */

void deck_check(struct storm_deck *deck, struct deck_node *root,
                struct deck_problems *problems)
{
    struct check s = {.deck = deck, .problems = problems, .root = root};
    struct storm_problem problem;
    check_time(&s, root);
    check_mesh(&s, root);
    check_profile(&s, root);
    check_trace(&s, root);
    check_materials(&s, root);
    check_cones(&s, root);
    check_take_materials(&s, root);
    check_regions(&s, root);
    check_motion(&s, root);
    check_fields(&s, root);
    check_acceleration(&s, root);
    deck_check_groups(deck, root, problems);
    if (deck->pool.failed)
        return;
    deck_check_tallies(deck, root, problems);
    deck_check_lineouts(deck, root, problems);
    deck_get_problem(deck, &problem);
    if (storm_problem_check(&problem, check_fault, &s) == 0)
        deck_check_formulas(deck, &problem, check_fault, &s);
}

static bool deck_walks(const struct deck_values *v)
{
    return v->acceleration.random_walk ||
           v->acceleration.method == METHOD_RANDOM_WALK ||
           v->acceleration.method == METHOD_AUTO;
}

static bool deck_diffuses(const struct deck_values *v)
{
    return v->acceleration.method == METHOD_DDMC ||
           v->acceleration.method == METHOD_AUTO;
}

static bool deck_moves(const struct storm_deck *deck)
{
    bool moves = false;
    for (size_t i = 0; i < deck->values.materials.n; i++)
        for (int d = 0; d < 3; d++)
            moves = moves || deck->materials[i].velocity_cm_s[d] != 0.0;
    return moves;
}

void deck_get_problem(const struct storm_deck *deck,
                      struct storm_problem *problem_out)
{
    const struct deck_values *v = &deck->values;
    struct storm_problem problem = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = v->constants.c,
        .radiation_erg_cm3_kev4 = v->constants.a,
        .materials = deck->materials,
        .n_materials = v->materials.n,
        .regions = deck->regions,
        .n_regions = v->regions.n,
        .sources = v->sources.item,
        .n_sources = v->sources.n,
        .planes = v->planes.item,
        .n_planes = v->planes.n,
        .n_groups = (uint64_t)v->groups.count,
        .group_min_kev = v->groups.min,
        .group_max_kev = v->groups.max,
        .group_edge_kev = v->groups.edges.n > 0 ? v->groups.edges.item : NULL,
        .group_average = (storm_group_average)v->groups.opacity,
        .emit_per_cell = (uint64_t)v->packets.emit_per_cell,
        .min_per_cell = (uint64_t)v->packets.min_per_cell,
        .max_per_cell = (uint64_t)v->packets.max_per_cell,
        .comb = v->packets.population == 0,
        .steer_by_error = v->packets.steer == 1,
        .random_walk = deck_walks(v),
        .diffusion = deck_diffuses(v),
        .motion = deck_moves(deck),
        .boundaries = deck->n_boundaries > 0 ? deck->boundaries : NULL,
        .n_boundaries = deck->n_boundaries,
    };
    for (int d = 0; d < 3; d++) {
        problem.lo_cm[d] = v->mesh.box.lo[d];
        problem.hi_cm[d] = v->mesh.box.hi[d];
    }
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        problem.walls[wall] = v->boundaries.wall[wall];
    *problem_out = problem;
}
