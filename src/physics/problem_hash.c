/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes of a problem, to compare it between ranks. */
#include <storm/matter.h>

#include "base/hash.h"
#include "physics/problem.h"

static uint64_t hash_reals(uint64_t hash, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = storm_hash_fold_real(hash, values[i]);
    return hash;
}

/* A formula; none leaves the hash as it is. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = storm_hash_fold(hash, (unsigned char)*text);
    return hash;
}

static uint64_t hash_law(uint64_t hash, const struct storm_power_law *law)
{
    const double values[] = {law->coef, law->t_exp, law->e_exp, law->min,
                             law->max};
    hash = hash_reals(hash, values, sizeof values / sizeof values[0]);
    return law->rho_exp != 0.0 ? storm_hash_fold_real(hash, law->rho_exp)
                               : hash;
}

/* Functions of a host cannot be compared, but that there are some. */
static uint64_t hash_matter(uint64_t hash, const struct storm_material *m)
{
    if (m->matter != NULL)
        return storm_hash_fold(hash, 2 + (m->matter->is_held != 0));
    hash = hash_law(hash, &m->absorption);
    hash = hash_law(hash, &m->scattering);
    return hash_law(hash, &m->heat_capacity);
}

static uint64_t hash_shape(uint64_t hash, const struct storm_shape *shape)
{
    hash = storm_hash_fold(hash, (uint64_t)shape->kind);
    switch (shape->kind) {
    case STORM_SHAPE_ALL:
        break;
    case STORM_SHAPE_BOX:
        hash = hash_reals(hash, shape->lo_cm, 3);
        return hash_reals(hash, shape->hi_cm, 3);
    case STORM_SHAPE_CYLINDER:
        hash = storm_hash_fold(hash, (uint64_t)shape->axis);
        hash = hash_reals(hash, shape->centre_cm, 2);
        hash = hash_reals(hash, shape->radius_cm, 2);
        return hash_reals(hash, shape->range_cm, 2);
    case STORM_SHAPE_SPHERE:
        hash = hash_reals(hash, shape->centre_cm, 3);
        return hash_reals(hash, shape->radius_cm, 2);
    }
    return hash;
}

static uint64_t hash_box(const struct storm_problem *p)
{
    uint64_t hash = storm_hash_fold_real(0, p->light_cm_s);
    hash = storm_hash_fold_real(hash, p->radiation_erg_cm3_kev4);
    hash = hash_reals(hash, p->lo_cm, 3);
    return hash_reals(hash, p->hi_cm, 3);
}

static uint64_t hash_materials(const struct storm_problem *p)
{
    uint64_t hash = p->n_materials;
    for (size_t i = 0; i < p->n_materials; i++) {
        const struct storm_material *m = &p->materials[i];
        hash = hash_matter(hash, m);
        hash = storm_hash_fold_real(hash, m->temperature_kev);
        hash = storm_hash_fold_real(hash, m->radiation_temperature_kev);
        hash = hash_text(hash, m->temperature_formula);
        hash = hash_text(hash, m->radiation_temperature_formula);
        hash = hash_text(hash, m->density_formula);
        if (m->density_g_cm3 != 0.0)
            hash = storm_hash_fold_real(hash, m->density_g_cm3);
        if (m->composition != NULL)
            hash = hash_reals(hash, m->composition, p->n_components);
        if (p->motion)
            hash = hash_reals(hash, m->velocity_cm_s, 3);
        if (m->scattering_law != STORM_SCATTER_ISOTROPIC)
            hash = storm_hash_fold(hash, (uint64_t)m->scattering_law);
        if (m->electrons_per_g != 0.0)
            hash = storm_hash_fold_real(hash, m->electrons_per_g);
    }
    return hash;
}

static uint64_t hash_regions(const struct storm_problem *p)
{
    uint64_t hash = p->n_regions;
    for (size_t i = 0; i < p->n_regions; i++) {
        hash = storm_hash_fold(hash, (uint64_t)p->regions[i].material);
        hash = hash_shape(hash, &p->regions[i].shape);
        if (p->regions[i].number != 0)
            hash = storm_hash_fold(hash, (uint64_t)p->regions[i].number);
    }
    return hash;
}

static uint64_t hash_part(uint64_t hash, const struct storm_wall_part *part)
{
    hash = storm_hash_fold(hash, (uint64_t)part->kind);
    hash = hash_shape(hash, &part->shape);
    if (part->kind != STORM_WALL_BLACKBODY)
        return hash;
    if (part->temperature_formula == NULL)
        hash =
            hash_reals(hash, part->temperature.points, 2 * part->temperature.n);
    hash = hash_text(hash, part->temperature_formula);
    hash = storm_hash_fold_real(hash, part->start_s);
    hash = storm_hash_fold_real(hash, part->stop_s);
    return storm_hash_fold(hash, part->packets);
}

static uint64_t hash_plane(uint64_t hash, const struct storm_black_plane *s)
{
    hash = storm_hash_fold(hash, (uint64_t)s->axis);
    hash = storm_hash_fold_real(hash, s->at_cm);
    hash = storm_hash_fold_real(hash, s->velocity_cm_s);
    hash = hash_reals(hash, s->lo_cm, 2);
    hash = hash_reals(hash, s->hi_cm, 2);
    hash = storm_hash_fold(hash, (uint64_t)s->side * 2 + s->passes);
    if (s->temperature_formula == NULL)
        hash = hash_reals(hash, s->temperature.points, 2 * s->temperature.n);
    hash = hash_text(hash, s->temperature_formula);
    hash = storm_hash_fold_real(hash, s->start_s);
    hash = storm_hash_fold_real(hash, s->stop_s);
    return storm_hash_fold(hash, s->packets);
}

static uint64_t hash_walls(const struct storm_problem *p)
{
    uint64_t hash = 0;
    for (int w = 0; w < STORM_N_WALLS; w++) {
        hash = storm_hash_fold(hash, p->walls[w].n);
        for (size_t i = 0; i < p->walls[w].n; i++)
            hash = hash_part(hash, &p->walls[w].parts[i]);
    }
    for (size_t w = 0; w < p->n_boundaries; w++) {
        hash = storm_hash_fold(hash, p->boundaries[w].n);
        for (size_t i = 0; i < p->boundaries[w].n; i++)
            hash = hash_part(hash, &p->boundaries[w].parts[i]);
    }
    for (size_t i = 0; i < p->n_planes; i++)
        hash = hash_plane(hash, &p->planes[i]);
    return hash;
}

/* Place, direction and power. */
static uint64_t hash_source(uint64_t hash, const struct storm_source *s)
{
    hash = storm_hash_fold(hash, (uint64_t)s->kind);
    if (s->power_formula == NULL && s->power.n > 0)
        hash = hash_reals(hash, s->power.points, 2 * s->power.n);
    hash = hash_text(hash, s->power_formula);
    if (s->kind == STORM_SOURCE_VOLUME) {
        hash = hash_shape(hash, &s->shape);
        return storm_hash_fold_real(hash, s->power_erg_cm3_s);
    }
    hash = hash_reals(hash, s->at_cm, 3);
    hash = hash_reals(hash, s->direction, 3);
    hash = storm_hash_fold_real(hash, s->cone_deg);
    hash = storm_hash_fold_real(hash, s->disc_radius_cm);
    hash = hash_reals(hash, s->width_cm, 2);
    hash = hash_reals(hash, s->across, 3);
    hash = storm_hash_fold_real(hash, s->shell_radius_cm);
    return storm_hash_fold(hash, (uint64_t)s->side);
}

static uint64_t hash_sources(const struct storm_problem *p)
{
    uint64_t hash = p->n_sources;
    for (size_t i = 0; i < p->n_sources; i++) {
        const struct storm_source *s = &p->sources[i];
        hash = hash_source(hash, s);
        hash = storm_hash_fold_real(hash, s->start_s);
        hash = storm_hash_fold_real(hash, s->stop_s);
        hash = storm_hash_fold(hash, s->packets);
        if (p->n_groups == 1 && !problem_has_photons(p))
            continue;
        hash = storm_hash_fold_real(hash, s->temperature_kev);
        hash = storm_hash_fold_real(hash, s->energy_kev);
    }
    return hash;
}

static uint64_t hash_packets(const struct storm_problem *p)
{
    const uint64_t values[] = {
        p->n_groups, p->emit_per_cell,  p->min_per_cell, p->max_per_cell,
        p->comb,     p->steer_by_error, p->random_walk,  p->seed};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = storm_hash_fold(hash, values[i]);
    hash = storm_hash_fold(hash, p->n_components);
    hash = storm_hash_fold(hash, p->matter_by_host);
    if (p->motion)
        hash = storm_hash_fold(hash, UINT64_C(0x6d6f7665));
    if (p->diffusion) /* runs without keep their hashes */
        hash = storm_hash_fold(hash, UINT64_C(0x64646d63));
    if (p->n_groups > 1)
        hash = storm_hash_fold(hash, (uint64_t)p->group_average);
    if (p->group_edge_kev != NULL)
        return hash_reals(hash, p->group_edge_kev, (size_t)p->n_groups + 1);
    hash = storm_hash_fold_real(hash, p->group_min_kev);
    return storm_hash_fold_real(hash, p->group_max_kev);
}

void problem_hash(const struct storm_problem *problem,
                  uint64_t hash_out[PROBLEM_N_PARTS])
{
    hash_out[PROBLEM_BOX] = hash_box(problem);
    hash_out[PROBLEM_MATERIALS] = hash_materials(problem);
    hash_out[PROBLEM_REGIONS] = hash_regions(problem);
    hash_out[PROBLEM_WALLS] = hash_walls(problem);
    hash_out[PROBLEM_SOURCES] = hash_sources(problem);
    hash_out[PROBLEM_PACKETS] = hash_packets(problem);
}
