/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters, groups, materials and walls: what is said before there is a mesh.
 * storm_host_begin makes a problem of it (host_begin.c). */
#include "host/host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

/* ---- parameters --------------------------------------------------------- */

enum host_type { HOST_FLAG, HOST_COUNT, HOST_REAL, HOST_AVERAGE };

/* One row is all there is to a parameter: where it is in the problem. */
struct host_parameter {
    const char *name, *help;
    enum host_type type;
    size_t offset;
    double min, max, default_value;
};
#define AT(_member) offsetof(struct storm_problem, _member)

static const struct host_parameter parameters[] = {
    {"seed", "of all random numbers", HOST_COUNT, AT(seed), 0, 9e18, 1},
    {"emit_per_cell", "packets that a cell emits in a step", HOST_COUNT,
     AT(emit_per_cell), 0, 1e9, 5},
    {"min_per_cell", "packets that the comb splits up to", HOST_COUNT,
     AT(min_per_cell), 0, 1e9, 2},
    {"max_per_cell",
     "packets that the comb merges down to, and that the "
     "initial radiation has",
     HOST_COUNT, AT(max_per_cell), 1, 1e9, 15},
    {"comb", "population control", HOST_FLAG, AT(comb), 0, 1, 1},
    {"steer_by_error", "more packets where errors are large", HOST_FLAG,
     AT(steer_by_error), 0, 1, 0},
    {"random_walk", "many collisions as one event", HOST_FLAG, AT(random_walk),
     0, 1, 0},
    {"diffusion", "packets hop between thick cells", HOST_FLAG, AT(diffusion),
     0, 1, 0},
    {"motion", "matter moves: storm_host_field has a velocity", HOST_FLAG,
     AT(motion), 0, 1, 0},
    {"matter_by_host", "steps leave the energy of matter as it is", HOST_FLAG,
     AT(matter_by_host), 0, 1, 0},
    {"group_average",
     "opacities of laws in a group: 0 its middle, 1 Planck, 2 "
     "Rosseland; materials with numbers by cell: 0",
     HOST_AVERAGE, AT(group_average), 0, 2, 0},
    {"light_cm_s", "speed of light", HOST_REAL, AT(light_cm_s), 1e-100, 1e100,
     2.99792458e10},
    {"radiation_erg_cm3_kev4", "radiation constant", HOST_REAL,
     AT(radiation_erg_cm3_kev4), 1e-100, 1e100, 1.3720172e14},
};
#undef AT
enum { N_PARAMETERS = sizeof parameters / sizeof parameters[0] };

static void parameter_write(struct storm_problem *problem,
                            const struct host_parameter *p, double real,
                            uint64_t count)
{
    char *at = (char *)problem + p->offset;
    bool flag = real != 0.0;
    storm_group_average average = 0;
    switch (p->type) {
    case HOST_FLAG:
        memcpy(at, &flag, sizeof flag);
        break;
    case HOST_COUNT:
        memcpy(at, &count, sizeof count);
        break;
    case HOST_REAL:
        memcpy(at, &real, sizeof real);
        break;
    case HOST_AVERAGE: /* other numbers may be no value of it */
        average = (storm_group_average)real;
        memcpy(at, &average, sizeof average);
        break;
    }
}

void host_parameter_reset(struct storm_problem *problem, size_t i)
{
    const struct host_parameter *p = &parameters[i];
    parameter_write(problem, p, p->default_value, (uint64_t)p->default_value);
}

const char *storm_host_parameter(size_t i, double *default_out,
                                 const char **help_out)
{
    if (i >= N_PARAMETERS)
        return NULL;
    if (default_out != NULL)
        *default_out = parameters[i].default_value;
    if (help_out != NULL)
        *help_out = parameters[i].help;
    return parameters[i].name;
}

/* NULL, logged: there is none; the nearest name is suggested. */
static const struct host_parameter *parameter_find(struct storm_host *host,
                                                   const char *name)
{
    enum { ENOUGH = 4 };
    const struct host_parameter *nearest = NULL;
    size_t best = ENOUGH;
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        size_t d = storm_text_distance(name, parameters[i].name, ENOUGH);
        if (d == 0)
            return &parameters[i];
        if (d < best) {
            best = d;
            nearest = &parameters[i];
        }
    }
    host_fail(host, STORM_ERR_ARG, "parameter %s: there is none%s%s%s", name,
              nearest != NULL ? "; did you mean " : "",
              nearest != NULL ? nearest->name : "",
              nearest != NULL ? "?" : "; storm_host_parameter lists them");
    return NULL;
}

/* `real` decides whether it is in range, `count` is the value of a count. */
static storm_status parameter_set(struct storm_host *host, const char *name,
                                  double real, uint64_t count)
{
    if (name == NULL)
        return host_fail(host, STORM_ERR_ARG, "parameter: no name");
    const struct host_parameter *p = parameter_find(host, name);
    if (p == NULL)
        return STORM_ERR_ARG;
    bool is_whole = p->type != HOST_REAL;
    if (!host_is_between(real, p->min, p->max) ||
        (is_whole && real != floor(real)))
        return host_fail(host, STORM_ERR_ARG,
                         "parameter %s: expected a %s from %g to %g, got %g",
                         name, is_whole ? "whole number" : "number", p->min,
                         p->max, real);
    parameter_write(&host->problem, p, real, count);
    return STORM_OK;
}

storm_status storm_host_set_int(struct storm_host *host, const char *name,
                                int64_t value)
{
    storm_status status =
        host_enter(host, "storm_host_set_int", HOST_SETUP, HOST_MESH);
    return status < 0
               ? status
               : parameter_set(host, name, (double)value, (uint64_t)value);
}

storm_status storm_host_set_double(struct storm_host *host, const char *name,
                                   double value)
{
    storm_status status =
        host_enter(host, "storm_host_set_double", HOST_SETUP, HOST_MESH);
    bool is_count = host_is_between(value, 0.0, 9e18);
    return status < 0 ? status
                      : parameter_set(host, name, value,
                                      is_count ? (uint64_t)value : 0);
}

/* ---- groups ------------------------------------------------------------- */

/* An array of numbers that grow, within min and max; copied. */
static storm_status host_copy_growing(struct storm_host *host, const char *what,
                                      const double *from, size_t n,
                                      double **copy_out)
{
    double *copy = NULL;
    if (from == NULL || n < 2)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: expected 2 edges or more, got %zu%s", what, n,
                         from == NULL ? ", and no array" : "");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(from[i]) || (i > 0 && !(from[i] > from[i - 1])))
            return host_fail(host, STORM_ERR_ARG,
                             "%s: edge %zu: expected a number above the edge "
                             "before it, got %g",
                             what, i, from[i]);
    storm_status status = host_array(host, n, sizeof *copy, &copy);
    if (status < 0)
        return status;
    memcpy(copy, from, n * sizeof *copy);
    host_free(host, *copy_out);
    *copy_out = copy;
    return STORM_OK;
}

storm_status storm_host_set_groups(struct storm_host *host,
                                   const double *edges_kev, size_t n)
{
    storm_status status =
        host_enter(host, "storm_host_set_groups", HOST_SETUP, HOST_MESH);
    if (status == STORM_OK && n > 0)
        status = host_copy_growing(host, "storm_host_set_groups", edges_kev, n,
                                   &host->group_edges);
    if (status < 0)
        return status;
    host->problem.n_groups = n > 0 ? n - 1 : 1;
    return STORM_OK;
}

storm_status storm_host_set_edges(struct storm_host *host, int axis,
                                  const double *edges_cm, size_t n)
{
    storm_status status =
        host_enter(host, "storm_host_set_edges", HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    if (axis < 0 || axis > 2)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_set_edges: direction: expected 0, 1 or 2, "
                         "got %d",
                         axis);
    status = host_copy_growing(host, "storm_host_set_edges", edges_cm, n,
                               &host->edges[axis]);
    if (status == STORM_OK)
        host->n_edges[axis] = n;
    return status;
}

/* ---- materials ---------------------------------------------------------- */

storm_status storm_host_add_material(struct storm_host *host, const char *name,
                                     int *material_out)
{
    enum { MAX_MATERIALS = 1000 };
    storm_status status =
        host_enter(host, "storm_host_add_material", HOST_SETUP, HOST_MESH);
    if (status < 0)
        return status;
    if (name == NULL || name[0] == '\0' || strlen(name) >= HOST_NAME_BYTES)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_add_material: expected a name of 1 to %d "
                         "characters",
                         HOST_NAME_BYTES - 1);
    if (host->n_materials >= MAX_MATERIALS)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_add_material: expected %d at most",
                         MAX_MATERIALS);
    void *array = host->materials;
    status =
        storm_reserve(host->env->memory, "host", sizeof *host->materials,
                      host->n_materials + 1, &array, &host->material_capacity);
    if (status < 0)
        return storm_env_explain(host->env, status);
    host->materials = array;
    struct host_material *m = &host->materials[host->n_materials];
    *m = (struct host_material){.density_g_cm3 = 1.0};
    memcpy(m->name, name, strlen(name) + 1);
    for (int law = 0; law < STORM_HOST_N_LAWS; law++)
        m->law[law].max = STORM_UNLIMITED;
    if (material_out != NULL)
        *material_out = (int)host->n_materials;
    host->n_materials++;
    return STORM_OK;
}

storm_status host_enter_material(struct storm_host *host, const char *what,
                                 int material,
                                 struct host_material **material_out)
{
    storm_status status = host_enter(host, what, HOST_SETUP, HOST_MESH);
    if (status < 0)
        return status;
    if (material < 0 || (size_t)material >= host->n_materials)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: material %d: expected the number of a material; "
                         "there are %zu",
                         what, material, host->n_materials);
    *material_out = &host->materials[material];
    return STORM_OK;
}

static storm_status host_check_law(struct storm_host *host, const char *what,
                                   storm_host_law law)
{
    if ((int)law >= 0 && law < STORM_HOST_N_LAWS)
        return STORM_OK;
    return host_fail(host, STORM_ERR_ARG,
                     "%s: law %d: expected absorption (0), scattering (1) or "
                     "heat (2)",
                     what, (int)law);
}

storm_status storm_host_set_law(struct storm_host *host, int material,
                                storm_host_law law, const double *values,
                                size_t n)
{
    static const char what[] = "storm_host_set_law";
    struct host_material *m;
    storm_status status = host_enter_material(host, what, material, &m);
    if (status == STORM_OK)
        status = host_check_law(host, what, law);
    if (status < 0)
        return status;
    if (values == NULL || n < 1 || n > HOST_LAW_VALUES)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: expected 1 to %d values, got %zu%s", what,
                         HOST_LAW_VALUES, n,
                         values == NULL ? ", and no array" : "");
    double v[HOST_LAW_VALUES] = {[5] = STORM_UNLIMITED};
    for (size_t i = 0; i < n; i++) {
        v[i] = values[i];
        if (!isfinite(v[i]))
            return host_fail(host, STORM_ERR_ARG,
                             "%s: value %zu: expected a number, got %g", what,
                             i, v[i]);
    }
    m->law[law] = (struct storm_power_law){.coef = v[0],
                                           .t_exp = v[1],
                                           .rho_exp = v[2],
                                           .e_exp = v[3],
                                           .min = v[4],
                                           .max = v[5]};
    m->by_cell[law] = false;
    return STORM_OK;
}

storm_status storm_host_set_by_cell(struct storm_host *host, int material,
                                    storm_host_law law, double start)
{
    static const char what[] = "storm_host_set_by_cell";
    struct host_material *m;
    storm_status status = host_enter_material(host, what, material, &m);
    if (status == STORM_OK)
        status = host_check_law(host, what, law);
    if (status < 0)
        return status;
    if (!host_is_between(start, 0.0, STORM_UNLIMITED) ||
        (law == STORM_HOST_LAW_HEAT && start == 0.0))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: start: expected a number %s 0 to 1e300, got %g",
                         what, law == STORM_HOST_LAW_HEAT ? "above" : "from",
                         start);
    m->by_cell[law] = true;
    m->start[law] = start;
    return STORM_OK;
}

storm_status storm_host_set_start(struct storm_host *host, int material,
                                  double density_g_cm3, double temperature_kev)
{
    static const char what[] = "storm_host_set_start";
    struct host_material *m;
    storm_status status = host_enter_material(host, what, material, &m);
    if (status < 0)
        return status;
    if (!host_is_between(density_g_cm3, 1e-300, STORM_UNLIMITED))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: density: expected a number above 0 up to 1e300, "
                         "got %g",
                         what, density_g_cm3);
    if (!host_is_between(temperature_kev, 0.0, 1e30))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: temperature: expected a number from 0 to 1e30, "
                         "got %g",
                         what, temperature_kev);
    m->density_g_cm3 = density_g_cm3;
    m->temperature_kev = temperature_kev;
    return STORM_OK;
}

/* ---- walls -------------------------------------------------------------- */

/* The entry of a wall, which is made if there is none. */
static storm_status host_wall_at(struct storm_host *host, const char *what,
                                 int wall, struct host_wall **wall_out)
{
    enum { MAX_WALLS = 1 << 16 };
    if (wall < 0 || wall >= MAX_WALLS)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: wall: expected a number from 0 to %d, got %d",
                         what, MAX_WALLS - 1, wall);
    size_t n = (size_t)wall + 1;
    void *array = host->walls;
    if (n > host->n_walls) {
        storm_status status =
            storm_reserve(host->env->memory, "host", sizeof *host->walls, n,
                          &array, &host->wall_capacity);
        if (status < 0)
            return storm_env_explain(host->env, status);
        host->walls = array;
        for (size_t i = host->n_walls; i < n; i++)
            host->walls[i] = (struct host_wall){.kind = STORM_WALL_VACUUM};
        host->n_walls = n;
    }
    *wall_out = &host->walls[wall];
    return STORM_OK;
}

storm_status storm_host_set_wall(struct storm_host *host, int wall,
                                 storm_wall_kind kind)
{
    static const char what[] = "storm_host_set_wall";
    struct host_wall *w = NULL;
    storm_status status = host_enter(host, what, HOST_SETUP, HOST_SETUP);
    if (status < 0)
        return status;
    if (kind != STORM_WALL_VACUUM && kind != STORM_WALL_REFLECT &&
        kind != STORM_WALL_PERIODIC)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: kind: expected vacuum (0), reflect (1) or "
                         "periodic (2), got %d; storm_host_set_blackbody has "
                         "the fourth",
                         what, (int)kind);
    status = host_wall_at(host, what, wall, &w);
    if (status == STORM_OK)
        w->kind = kind;
    return status;
}

/* Times that grow, and temperatures. */
static storm_status host_check_curve(const struct storm_host *host,
                                     const char *what, const double *times_s,
                                     const double *kev, size_t n)
{
    if (kev == NULL || n < 1 || (times_s == NULL && n != 1))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: expected temperatures at 1 time or more, got "
                         "%zu%s",
                         what, n, kev == NULL ? ", and no array" : "");
    for (size_t i = 0; i < n; i++)
        if (!host_is_between(kev[i], 0.0, 1e30) ||
            (times_s != NULL && (!isfinite(times_s[i]) ||
                                 (i > 0 && !(times_s[i] > times_s[i - 1])))))
            return host_fail(host, STORM_ERR_ARG,
                             "%s: entry %zu: expected a time above the one "
                             "before it and a temperature from 0 to 1e30, got "
                             "%g and %g",
                             what, i, times_s != NULL ? times_s[i] : 0.0,
                             kev[i]);
    return STORM_OK;
}

storm_status storm_host_set_blackbody(struct storm_host *host, int wall,
                                      const double *times_s, const double *kev,
                                      size_t n, int64_t packets)
{
    static const char what[] = "storm_host_set_blackbody";
    double *curve = NULL;
    struct host_wall *w = NULL;
    storm_status status = host_enter(host, what, HOST_SETUP, HOST_SETUP);
    if (status == STORM_OK)
        status = host_check_curve(host, what, times_s, kev, n);
    if (status < 0)
        return status;
    if (packets < 1 || packets > INT64_C(1000000000000))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: packets: expected 1 to 1e12, got %" PRId64, what,
                         packets);
    status = host_array(host, 2 * n, sizeof *curve, &curve);
    if (status == STORM_OK)
        status = host_wall_at(host, what, wall, &w);
    if (status < 0) {
        host_free(host, curve);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        curve[2 * i] = times_s != NULL ? times_s[i] : 0.0;
        curve[2 * i + 1] = kev[i];
    }
    host_free(host, w->curve);
    *w = (struct host_wall){STORM_WALL_BLACKBODY, curve, n, packets};
    return STORM_OK;
}
