/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one check of problems, for decks and programs.
 *
 *   CHECK-1  A problem without faults can be run: no value is outside its
 *            documented range or not a number, and no index or pointer leads
 *            nowhere.
 *   CHECK-2  All faults are reported, in the order of the members, each with
 *            its path, the value and what was expected.
 *   CHECK-3  What a deck may say has no fault: ranges are not narrower than
 *            those of the deck's keys.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include <storm/matter.h>
#include <storm/problem.h>

#include "base/formula.h"
#include "base/port.h"
#include "base/sized.h"
#include "physics/imc_motion.h"

enum { CHECK_PATH_BYTES = 96, CHECK_TEXT_BYTES = 256 };

static const double check_far_cm = 1e150; /* its square is a number, too */
static const double check_max_kev = 1e30; /* T^4 is a number */
static const double check_max_electrons = 1e30; /* per gram */
static const double check_max_exponent = 100.0;
static const uint64_t check_max_groups = 10000;
static const uint64_t check_max_per_cell = 1000000000;
static const uint64_t check_max_components = 1000;
static const uint64_t check_max_packets = 1000000000000;

struct check {
    const struct storm_problem *p;
    void (*report)(void *self, const char *path, const char *member,
                   const char *other, const char *message);
    void *self;
    size_t n;
    bool is_inelastic;           /* scattering of a material may be */
    char path[CHECK_PATH_BYTES]; /* of the struct that is being checked */
};

static void check_enter(struct check *c, const char *format, ...)
    STORM_PRINTF(2, 3);
static void check_enter(struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->path, sizeof c->path, format, args);
    va_end(args);
}

static void check_fault(struct check *c, const char *member, const char *other,
                        const char *format, ...) STORM_PRINTF(4, 5);
static void check_fault(struct check *c, const char *member, const char *other,
                        const char *format, ...)
{
    char message[CHECK_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    c->n++;
    if (c->report != NULL)
        c->report(c->self, c->path, member, other, message);
}

/* ---- values ------------------------------------------------------------- */

/* Comparisons are such that NaN fails. */
static bool check_from(struct check *c, const char *member, double value,
                       double min, double max)
{
    if (value >= min && value <= max)
        return true;
    check_fault(c, member, NULL, "expected a number from %g to %g, got %g", min,
                max, value);
    return false;
}

static bool check_above(struct check *c, const char *member, double value,
                        double min, double max)
{
    if (value > min && value <= max)
        return true;
    check_fault(c, member, NULL, "expected a number above %g up to %g, got %g",
                min, max, value);
    return false;
}

static bool check_all(struct check *c, const char *member, const double *values,
                      int n, const double range[2])
{
    for (int i = 0; i < n; i++)
        if (!check_from(c, member, values[i], range[0], range[1]))
            return false;
    return true;
}

static bool check_count(struct check *c, const char *member, uint64_t value,
                        uint64_t min, uint64_t max)
{
    if (value >= min && value <= max)
        return true;
    check_fault(c, member, NULL,
                "expected a whole number from %llu to %llu, got %llu",
                (unsigned long long)min, (unsigned long long)max,
                (unsigned long long)value);
    return false;
}

/* Of these variables; NULL is none. */
static void check_formula(struct check *c, const char *member,
                          const char *formula, const char *variables)
{
    char fault[STORM_FORMULA_FAULT_BYTES];
    if (formula != NULL && storm_formula_check(formula, variables, fault) < 0)
        check_fault(c, member, NULL, "expected a formula: %s", fault);
}

static void check_corners(struct check *c, const double lo[3],
                          const double hi[3])
{
    for (int d = 0; d < 3; d++)
        if (!(lo[d] < hi[d])) {
            check_fault(c, "hi_cm", "lo_cm",
                        "expected lo below hi in each direction, got %g to %g "
                        "in %c",
                        lo[d], hi[d], "xyz"[d]);
            return;
        }
}

/* ---- arrays ------------------------------------------------------------- */

/* A caller's array. */
struct check_array {
    const char *name, *size_name;
    const void *items;
    size_t n, item_size;
};

/* Can its elements be read? */
static bool check_array(struct check *c, const struct check_array *a)
{
    unsigned char first;
    if (a->n == 0)
        return false;
    if (a->items == NULL || a->n > INT_MAX) {
        check_fault(c, a->name, NULL, "expected an array of %zu, got %s", a->n,
                    a->items == NULL ? "NULL" : "too many");
        return false;
    }
    if (storm_sized_read_element(NULL, "", a->items, a->item_size, &first, 1) ==
        STORM_ERR_ARG) {
        check_fault(c, a->size_name, NULL,
                    "expected the size of an element, as STORM_PROBLEM_INIT "
                    "sets it, got %zu",
                    a->item_size);
        return false;
    }
    return true;
}

/* An element as this library knows it; false: it has a field that this library
 * lacks, which is reported by who copies it. */
static bool check_item(const struct check_array *a, size_t i, void *to,
                       size_t bytes)
{
    const unsigned char *from = (const unsigned char *)a->items;
    return storm_sized_read_element(NULL, "", from + i * a->item_size,
                                    a->item_size, to, bytes) == STORM_OK;
}

/* ---- shapes ------------------------------------------------------------- */

static const double check_place[2] = {-STORM_UNLIMITED, STORM_UNLIMITED};
static const double check_length[2] = {0.0, STORM_UNLIMITED};

static void check_radius(struct check *c, const struct storm_shape *shape)
{
    if (check_all(c, "radius_cm", shape->radius_cm, 2, check_length) &&
        !(shape->radius_cm[0] < shape->radius_cm[1]))
        check_fault(c, "radius_cm", NULL,
                    "expected [inner, outer] with inner below outer, got %g "
                    "and %g",
                    shape->radius_cm[0], shape->radius_cm[1]);
}

static void check_cylinder(struct check *c, const struct storm_shape *shape)
{
    if (shape->axis < 0 || shape->axis > 2)
        check_fault(c, "axis", NULL, "expected 0, 1 or 2, got %d", shape->axis);
    check_all(c, "centre_cm", shape->centre_cm, 2, check_place);
    check_radius(c, shape);
    if (check_all(c, "range_cm", shape->range_cm, 2, check_place) &&
        !(shape->range_cm[0] < shape->range_cm[1]))
        check_fault(c, "range_cm", NULL,
                    "expected [low, high] with low below high, got %g and %g",
                    shape->range_cm[0], shape->range_cm[1]);
}

static void check_shape(struct check *c, const struct storm_shape *shape)
{
    switch ((storm_shape_kind)shape->kind) {
    case STORM_SHAPE_ALL:
        return;
    case STORM_SHAPE_BOX:
        if (check_all(c, "lo_cm", shape->lo_cm, 3, check_place) &&
            check_all(c, "hi_cm", shape->hi_cm, 3, check_place))
            check_corners(c, shape->lo_cm, shape->hi_cm);
        return;
    case STORM_SHAPE_CYLINDER:
        check_cylinder(c, shape);
        return;
    case STORM_SHAPE_SPHERE:
        check_all(c, "centre_cm", shape->centre_cm, 3, check_place);
        check_radius(c, shape);
        return;
    }
    check_fault(c, "kind", NULL, "expected a kind of shape, got %d",
                (int)shape->kind);
}

/* ---- materials and regions ---------------------------------------------- */

static void check_law(struct check *c, const struct storm_power_law *law)
{
    check_from(c, "coef", law->coef, 0.0, STORM_UNLIMITED);
    check_from(c, "rho_exp", law->rho_exp, -check_max_exponent,
               check_max_exponent);
    if (check_from(c, "min", law->min, 0.0, STORM_UNLIMITED) &&
        check_from(c, "max", law->max, 0.0, STORM_UNLIMITED) &&
        !(law->min <= law->max))
        check_fault(c, "max", "min",
                    "expected min not above max, got %g and %g", law->min,
                    law->max);
    else if (law->coef > 0.0 && law->max == 0.0)
        check_fault(c, "max", NULL,
                    "expected a number above 0, as coef is %g (%g: no limit)",
                    law->coef, STORM_UNLIMITED);
}

static void check_opacity(struct check *c, const struct storm_power_law *law)
{
    const double exponent[2] = {-check_max_exponent, check_max_exponent};
    check_law(c, law);
    check_all(c, "t_exp", &law->t_exp, 1, exponent);
    if (check_all(c, "e_exp", &law->e_exp, 1, exponent) && law->e_exp != 0.0 &&
        c->p->n_groups == 1)
        check_fault(c, "e_exp", NULL,
                    "expected 0, as there is one group, got %g", law->e_exp);
}

static void check_heat(struct check *c, const struct storm_power_law *law)
{
    check_law(c, law);
    check_above(c, "t_exp", law->t_exp, -1.0, check_max_exponent);
    if (!(law->e_exp == 0.0))
        check_fault(c, "e_exp", NULL, "expected 0, got %g", law->e_exp);
}

/* Functions of a host. */
static void check_matter(struct check *c, const struct storm_matter *given)
{
    struct storm_matter matter;
    storm_status status =
        storm_sized_read(NULL, "storm_matter", given, &matter, sizeof matter);
    if (status == STORM_ERR_ARG)
        check_fault(c, "size", NULL,
                    "expected what STORM_MATTER_INIT sets, got %zu",
                    given->size);
    if (status < 0)
        return; /* or it has a field that this library lacks */
    const char *missing = matter.opacity == NULL         ? "opacity"
                          : matter.is_held               ? NULL
                          : matter.energy == NULL        ? "energy"
                          : matter.heat_capacity == NULL ? "heat_capacity"
                          : matter.temperature == NULL   ? "temperature"
                                                         : NULL;
    if (missing != NULL)
        check_fault(c, missing, NULL, "expected a function, got NULL");
}

static void check_laws(struct check *c, size_t i,
                       const struct storm_material *m)
{
    check_enter(c, "materials[%zu].absorption", i);
    check_opacity(c, &m->absorption);
    check_enter(c, "materials[%zu].scattering", i);
    check_opacity(c, &m->scattering);
    check_enter(c, "materials[%zu].heat_capacity", i);
    check_heat(c, &m->heat_capacity);
}

static void check_velocity(struct check *c, const struct storm_material *m)
{
    const double *v = m->velocity_cm_s;
    bool is_slow = imc_motion_is_slow(v, c->p->light_cm_s);
    bool is_zero = v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
    if (is_zero || (c->p->motion && is_slow) || !(c->p->light_cm_s > 0.0))
        return;
    check_fault(c, "velocity_cm_s", NULL, "expected %s, got (%g, %g, %g)",
                c->p->motion ? "a velocity below that of light, with a gamma "
                               "of at most 1e4"
                             : "zero without motion of the problem",
                v[0], v[1], v[2]);
}

/* Of a material that need not be one: laws of an older caller are zero. */
static void check_scattering(struct check *c, const struct storm_material *m)
{
    const int law = (int)m->scattering_law;
    check_from(c, "electrons_per_g", m->electrons_per_g, 0.0,
               check_max_electrons);
    if (law < STORM_SCATTER_ISOTROPIC || law > STORM_SCATTER_USER)
        check_fault(c, "scattering_law", NULL,
                    "expected a law of scattering, got %d", law);
    c->is_inelastic = c->is_inelastic || law >= STORM_SCATTER_COMPTON;
    if (law != STORM_SCATTER_COMPTON || m->matter != NULL)
        return;
    if (m->scattering.e_exp != 0.0)
        check_fault(c, "scattering_law", "scattering",
                    "expected a coefficient that does not depend on the "
                    "photon energy, as Compton scattering does that by "
                    "itself, got a power of %g",
                    m->scattering.e_exp);
    if (m->electrons_per_g == 0.0 && m->scattering.coef == 0.0 &&
        m->scattering.min == 0.0)
        check_fault(c, "scattering_law", "electrons_per_g",
                    "expected electrons, or a coefficient of scattering, for "
                    "Compton scattering");
}

static void check_materials(struct check *c)
{
    struct storm_material m;
    const struct check_array array = {"materials", "material_size",
                                      c->p->materials, c->p->n_materials,
                                      c->p->material_size};
    if (!check_array(c, &array))
        return;
    for (size_t i = 0; i < array.n; i++) {
        if (!check_item(&array, i, &m, sizeof m))
            continue;
        check_enter(c, "materials[%zu].matter", i);
        if (m.matter != NULL)
            check_matter(c, m.matter);
        else
            check_laws(c, i, &m);
        check_enter(c, "materials[%zu]", i);
        check_from(c, "density_g_cm3", m.density_g_cm3, 0.0, STORM_UNLIMITED);
        if (m.composition != NULL && c->p->n_components <= check_max_components)
            check_all(c, "composition", m.composition, (int)c->p->n_components,
                      check_length);
        check_from(c, "temperature_kev", m.temperature_kev, 0.0, check_max_kev);
        if (!(m.radiation_temperature_kev <= check_max_kev))
            check_fault(c, "radiation_temperature_kev", NULL,
                        "expected a number up to %g, negative: the same as the "
                        "material's, got %g",
                        check_max_kev, m.radiation_temperature_kev);
        check_formula(c, "temperature_formula", m.temperature_formula, "xyz");
        check_formula(c, "density_formula", m.density_formula, "xyz");
        check_velocity(c, &m);
        check_scattering(c, &m);
        check_formula(c, "radiation_temperature_formula",
                      m.radiation_temperature_formula, "xyz");
    }
}

static void check_regions(struct check *c)
{
    struct storm_region region;
    const struct check_array array = {"regions", "region_size", c->p->regions,
                                      c->p->n_regions, c->p->region_size};
    if (!check_array(c, &array))
        return;
    for (size_t i = 0; i < array.n; i++) {
        if (!check_item(&array, i, &region, sizeof region))
            continue;
        check_enter(c, "regions[%zu]", i);
        if (region.material != STORM_OUTSIDE &&
            (region.material < 0 ||
             (size_t)region.material >= c->p->n_materials))
            check_fault(c, "material", NULL,
                        "expected the index of one of %zu materials, or "
                        "STORM_OUTSIDE, got %d",
                        c->p->n_materials, region.material);
        if (region.number < 0 || region.number > UINT16_MAX)
            check_fault(c, "number", NULL,
                        "expected the number of cells, 0 to %d, got %d",
                        UINT16_MAX, region.number);
        check_enter(c, "regions[%zu].shape", i);
        check_shape(c, &region.shape);
    }
}

/* ---- walls and sources -------------------------------------------------- */

static const char *const check_wall_names[STORM_N_WALLS] = {
    "x_lo", "x_hi", "y_lo", "y_hi", "z_lo", "z_hi"};

/* Times grow, values are from 0 to max. */
static void check_curve(struct check *c, const char *member,
                        const struct storm_curve *curve, double max)
{
    for (size_t i = 0; i < curve->n; i++) {
        const double *point = &curve->points[2 * i];
        if (!check_all(c, member, point, 1, check_place) ||
            !check_from(c, member, point[1], 0.0, max))
            return;
        if (i > 0 && !(point[0] > point[-2])) {
            check_fault(c, member, NULL,
                        "expected growing times, got %g after %g", point[0],
                        point[-2]);
            return;
        }
    }
}

/* From when to when; what emits must have some time for it. */
static void check_span(struct check *c, double start_s, double stop_s,
                       bool emits)
{
    if (!check_all(c, "start_s", &start_s, 1, check_place) ||
        !check_all(c, "stop_s", &stop_s, 1, check_place))
        return;
    if (!(start_s <= stop_s))
        check_fault(c, "stop_s", "start_s",
                    "expected start not after stop, got %g and %g", start_s,
                    stop_s);
    else if (emits && start_s == stop_s)
        check_fault(c, "stop_s", "start_s",
                    "expected start before stop, got %g and %g, which emits "
                    "nothing (%g: no end)",
                    start_s, stop_s, STORM_UNLIMITED);
}

static void check_part(struct check *c, const struct storm_wall_part *part,
                       size_t n_parts)
{
    bool black = part->kind == STORM_WALL_BLACKBODY;
    if ((int)part->kind < STORM_WALL_VACUUM ||
        (int)part->kind > STORM_WALL_USER)
        check_fault(c, "kind", NULL, "expected a kind of wall, got %d",
                    (int)part->kind);
    if (part->kind == STORM_WALL_PERIODIC &&
        (n_parts > 1 || part->shape.kind != STORM_SHAPE_ALL))
        check_fault(c, "kind", "shape",
                    "expected a whole wall, not a part, for kind periodic");
    if (black && part->temperature_formula == NULL &&
        (part->temperature.n == 0 || part->temperature.points == NULL))
        check_fault(c, "kind", "temperature",
                    "temperature is required: expected a number, a table or a "
                    "formula for kind blackbody");
    else if (black && part->temperature_formula == NULL)
        check_curve(c, "temperature", &part->temperature, check_max_kev);
    if (black)
        check_formula(c, "temperature_formula", part->temperature_formula, "t");
    check_span(c, part->start_s, part->stop_s, black);
    if (black)
        check_count(c, "packets", part->packets, 1, check_max_packets);
}

static bool check_is_periodic(const struct storm_wall *wall)
{
    return wall->n == 1 && wall->parts != NULL &&
           wall->parts[0].kind == STORM_WALL_PERIODIC;
}

static void check_wall(struct check *c, const char *name, size_t w,
                       const struct storm_wall *wall)
{
    struct storm_wall_part part;
    const struct check_array array = {"parts", "wall_part_size", wall->parts,
                                      wall->n, c->p->wall_part_size};
    check_enter(c, "%s[%zu]", name, w);
    bool readable = check_array(c, &array);
    for (size_t i = 0; readable && i < wall->n; i++) {
        if (!check_item(&array, i, &part, sizeof part))
            continue;
        check_enter(c, "%s[%zu].parts[%zu]", name, w, i);
        check_part(c, &part, wall->n);
        check_enter(c, "%s[%zu].parts[%zu].shape", name, w, i);
        check_shape(c, &part.shape);
    }
    check_enter(c, "%s[%zu]", name, w);
}

static void check_walls(struct check *c)
{
    for (size_t w = 0; w < STORM_N_WALLS; w++) {
        const struct storm_wall *wall = &c->p->walls[w];
        check_wall(c, "walls", w, wall);
        if (check_is_periodic(wall) && !check_is_periodic(&c->p->walls[w ^ 1]))
            check_fault(c, NULL, NULL, "expected %s to be periodic as well",
                        check_wall_names[w ^ 1]);
    }
}

/* By number; problems of older callers have none. */
static void check_boundaries(struct check *c)
{
    check_enter(c, "%s", "");
    if (c->p->n_boundaries > 0 && c->p->boundaries == NULL) {
        check_fault(c, "boundaries", NULL, "expected an array of %zu, got NULL",
                    c->p->n_boundaries);
        return;
    }
    for (size_t w = 0; w < c->p->n_boundaries; w++) {
        const struct storm_wall *wall = &c->p->boundaries[w];
        check_wall(c, "boundaries", w, wall);
        if (check_is_periodic(wall))
            check_fault(c, NULL, NULL,
                        "expected no kind periodic: faces of given meshes are "
                        "neighbours or not");
    }
}

/* By number, by table or by formula. */
static void check_power(struct check *c, const struct storm_source *s)
{
    check_from(c, "power_erg_cm3_s", s->power_erg_cm3_s, 0.0, STORM_UNLIMITED);
    check_formula(c, "power_formula", s->power_formula, "t");
    if (s->power_formula != NULL)
        return;
    if (s->power.n > 0 && s->power.points == NULL)
        check_fault(c, "power", NULL, "expected an array of %zu, got NULL",
                    s->power.n);
    else if (s->power.n == 0 && s->kind != STORM_SOURCE_VOLUME)
        check_fault(c, "kind", "power",
                    "power is required: expected a number, a table or a "
                    "formula, erg/s");
    else
        check_curve(c, "power", &s->power, STORM_UNLIMITED);
}

static bool check_is_zero(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}

/* Where the cone of a point or beam leads to. */
static void check_cone(struct check *c, const struct storm_source *s)
{
    const double far[2] = {-check_far_cm, check_far_cm};
    double max = s->kind == STORM_SOURCE_BEAM ? 90.0 : 180.0;
    if (!check_from(c, "cone_deg", s->cone_deg, 0.0, max) ||
        s->cone_deg == 180.0 ||
        !check_all(c, "direction", s->direction, 3, far))
        return;
    if (check_is_zero(s->direction))
        check_fault(c, "direction", NULL,
                    "expected a direction, got (0, 0, 0)");
}

static void check_beam(struct check *c, const struct storm_source *s)
{
    const double far[2] = {-check_far_cm, check_far_cm};
    const double *a = s->across, *v = s->direction;
    double square = 0.0;
    check_from(c, "disc_radius_cm", s->disc_radius_cm, 0.0, check_far_cm);
    if (!(s->disc_radius_cm == 0.0) || !check_all(c, "across", a, 3, far))
        return;
    for (int i = 0; i < 2; i++)
        if (!check_above(c, "width_cm", s->width_cm[i], 0.0, check_far_cm))
            return;
    for (int d = 0; d < 3; d++) {
        double x =
            a[(d + 1) % 3] * v[(d + 2) % 3] - a[(d + 2) % 3] * v[(d + 1) % 3];
        square += x * x;
    }
    if (!(square > 0.0) && !check_is_zero(a))
        check_fault(c, "across", "direction",
                    "expected a vector that is not along the direction");
}

static void check_surface(struct check *c, const struct storm_source *s)
{
    const double far[2] = {-check_far_cm, check_far_cm};
    if (!check_all(c, "at_cm", s->at_cm, 3, far))
        return;
    for (int d = 0; s->kind == STORM_SOURCE_POINT && d < 3; d++)
        if (!check_from(c, "at_cm", s->at_cm[d], c->p->lo_cm[d],
                        c->p->hi_cm[d]))
            break;
    if (s->kind != STORM_SOURCE_SHELL)
        check_cone(c, s);
    if (s->kind == STORM_SOURCE_BEAM)
        check_beam(c, s);
    if (s->kind != STORM_SOURCE_SHELL)
        return;
    check_above(c, "shell_radius_cm", s->shell_radius_cm, 0.0, check_far_cm);
    if ((int)s->side < STORM_SOURCE_OUTWARDS ||
        (int)s->side > STORM_SOURCE_BOTH)
        check_fault(c, "side", NULL, "expected a side, got %d", (int)s->side);
}

static void check_kind(struct check *c, const struct storm_source *s)
{
    switch ((storm_source_kind)s->kind) {
    case STORM_SOURCE_VOLUME:
        return;
    case STORM_SOURCE_POINT:
    case STORM_SOURCE_BEAM:
    case STORM_SOURCE_SHELL:
        check_surface(c, s);
        return;
    }
    check_fault(c, "kind", NULL, "expected a kind of source, got %d",
                (int)s->kind);
}

static void check_sources(struct check *c)
{
    struct storm_source source;
    const struct check_array array = {"sources", "source_size", c->p->sources,
                                      c->p->n_sources, c->p->source_size};
    if (!check_array(c, &array))
        return;
    for (size_t i = 0; i < array.n; i++) {
        if (!check_item(&array, i, &source, sizeof source))
            continue;
        check_enter(c, "sources[%zu].shape", i);
        check_shape(c, &source.shape);
        check_enter(c, "sources[%zu]", i);
        check_power(c, &source);
        check_kind(c, &source);
        check_from(c, "energy_kev", source.energy_kev, 0.0, STORM_UNLIMITED);
        check_span(c, source.start_s, source.stop_s, true);
        check_count(c, "packets", source.packets, 1, check_max_packets);
        if (c->p->n_groups != 1 ||
            (c->is_inelastic && !(source.energy_kev > 0.0)))
            check_above(c, "temperature_kev", source.temperature_kev, 0.0,
                        check_max_kev);
    }
}

static void check_plane(struct check *c, const struct storm_black_plane *s)
{
    double light = c->p->light_cm_s;
    if (s->axis < 0 || s->axis > 2) {
        check_fault(c, "axis", NULL, "expected 0, 1 or 2, got %d", s->axis);
        return;
    }
    if (check_is_periodic(&c->p->walls[2 * s->axis]))
        check_fault(c, "axis", NULL,
                    "expected a direction that is not periodic, got %c",
                    "xyz"[s->axis]);
    check_from(c, "at_cm", s->at_cm, -check_far_cm, check_far_cm);
    if (!(s->velocity_cm_s > -light && s->velocity_cm_s < light))
        check_fault(c, "velocity_cm_s", NULL,
                    "expected less than the speed of light, %g, got %g", light,
                    s->velocity_cm_s);
    for (int k = 0; k < 2; k++)
        if (!(s->lo_cm[k] < s->hi_cm[k]))
            check_fault(c, "hi_cm", "lo_cm",
                        "expected lo below hi, got %g and %g", s->lo_cm[k],
                        s->hi_cm[k]);
    if ((int)s->side < STORM_PLANE_BOTH || (int)s->side > STORM_PLANE_HIGH)
        check_fault(c, "side", NULL, "expected a side, got %d", (int)s->side);
    check_formula(c, "temperature_formula", s->temperature_formula, "t");
    if (s->temperature_formula == NULL &&
        (s->temperature.n == 0 || s->temperature.points == NULL))
        check_fault(c, "temperature", NULL,
                    "is required: expected a number, a table or a formula");
    else if (s->temperature_formula == NULL)
        check_curve(c, "temperature", &s->temperature, check_max_kev);
    check_span(c, s->start_s, s->stop_s, true);
    check_count(c, "packets", s->packets, 1, check_max_packets);
}

/* Problems of older callers have none. */
static void check_planes(struct check *c)
{
    struct storm_black_plane plane;
    const struct check_array array = {"planes", "plane_size", c->p->planes,
                                      c->p->n_planes, c->p->plane_size};
    check_enter(c, "%s", "");
    if (!check_array(c, &array))
        return;
    for (size_t i = 0; i < array.n; i++) {
        if (!check_item(&array, i, &plane, sizeof plane))
            continue;
        check_enter(c, "planes[%zu]", i);
        check_plane(c, &plane);
    }
}

/* ---- the rest ----------------------------------------------------------- */

static void check_box(struct check *c)
{
    const double far[2] = {-check_far_cm, check_far_cm};
    check_above(c, "light_cm_s", c->p->light_cm_s, 0.0, STORM_UNLIMITED);
    check_above(c, "radiation_erg_cm3_kev4", c->p->radiation_erg_cm3_kev4, 0.0,
                STORM_UNLIMITED);
    if (check_all(c, "lo_cm", c->p->lo_cm, 3, far) &&
        check_all(c, "hi_cm", c->p->hi_cm, 3, far))
        check_corners(c, c->p->lo_cm, c->p->hi_cm);
}

/* The first that is not above the one before. */
static void check_edges(struct check *c)
{
    const double *edge = c->p->group_edge_kev;
    for (uint64_t i = 0; i <= c->p->n_groups; i++) {
        if (!check_above(c, "group_edge_kev", edge[i], 0.0, STORM_UNLIMITED))
            return;
        if (i > 0 && !(edge[i] > edge[i - 1])) {
            check_fault(c, "group_edge_kev", NULL,
                        "expected rising edges, got %.12g after %.12g as "
                        "edge %llu of %llu",
                        edge[i], edge[i - 1], (unsigned long long)i + 1,
                        (unsigned long long)c->p->n_groups + 1);
            return;
        }
    }
}

/* Without groups their limits may be left out. */
static void check_groups(struct check *c)
{
    const struct storm_problem *p = c->p;
    if ((int)p->group_average < STORM_GROUP_MIDDLE ||
        (int)p->group_average > STORM_GROUP_ROSSELAND)
        check_fault(c, "group_average", NULL,
                    "expected a kind of average, got %d",
                    (int)p->group_average);
    if (!check_count(c, "n_groups", p->n_groups, 1, check_max_groups) ||
        (p->n_groups == 1 && p->group_min_kev == 0.0 &&
         p->group_max_kev == 0.0 && p->group_edge_kev == NULL))
        return;
    if (p->group_edge_kev != NULL) {
        check_edges(c);
        return;
    }
    if (check_above(c, "group_min_kev", p->group_min_kev, 0.0,
                    STORM_UNLIMITED) &&
        check_above(c, "group_max_kev", p->group_max_kev, 0.0,
                    STORM_UNLIMITED) &&
        !(p->group_min_kev < p->group_max_kev))
        check_fault(c, "group_max_kev", "group_min_kev",
                    "expected min below max, got %g and %g", p->group_min_kev,
                    p->group_max_kev);
}

static void check_packets(struct check *c)
{
    const struct storm_problem *p = c->p;
    check_count(c, "n_components", p->n_components, 0, check_max_components);
    check_count(c, "emit_per_cell", p->emit_per_cell, 0, check_max_per_cell);
    if (check_count(c, "min_per_cell", p->min_per_cell, 0,
                    check_max_per_cell) &&
        check_count(c, "max_per_cell", p->max_per_cell, 1,
                    check_max_per_cell) &&
        p->min_per_cell > p->max_per_cell)
        check_fault(c, "min_per_cell", "max_per_cell",
                    "expected min_per_cell not above max_per_cell, got %llu "
                    "and %llu",
                    (unsigned long long)p->min_per_cell,
                    (unsigned long long)p->max_per_cell);
}

size_t storm_problem_check(const struct storm_problem *problem,
                           void (*report)(void *self, const char *path,
                                          const char *member, const char *other,
                                          const char *message),
                           void *self)
{
    struct storm_problem own;
    struct check c = {.p = &own, .report = report, .self = self};
    storm_status status =
        storm_sized_read(NULL, "storm_problem", problem, &own, sizeof own);
    if (status == STORM_ERR_ARG)
        check_fault(&c, "size", NULL,
                    "expected what STORM_PROBLEM_INIT sets, got %zu",
                    problem->size);
    if (status < 0)
        return c.n;
    check_box(&c);
    check_materials(&c);
    check_regions(&c);
    check_walls(&c);
    check_boundaries(&c);
    check_sources(&c);
    check_planes(&c);
    check_enter(&c, "%s", "");
    check_groups(&c);
    check_packets(&c);
    return c.n;
}
