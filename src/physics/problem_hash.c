/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes of a problem, to compare it between ranks. */
#include "base/hash.h"
#include "physics/problem.h"

static uint64_t hash_reals(uint64_t hash, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = storm_hash_fold_real(hash, values[i]);
    return hash;
}

static uint64_t hash_law(uint64_t hash, const struct storm_power_law *law)
{
    const double values[] = {law->coef, law->t_exp, law->e_exp, law->min,
                             law->max};
    return hash_reals(hash, values, sizeof values / sizeof values[0]);
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
        hash = hash_law(hash, &m->absorption);
        hash = hash_law(hash, &m->scattering);
        hash = hash_law(hash, &m->heat_capacity);
        hash = storm_hash_fold_real(hash, m->temperature_kev);
        hash = storm_hash_fold_real(hash, m->radiation_temperature_kev);
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
    hash = hash_reals(hash, part->temperature.points, 2 * part->temperature.n);
    hash = storm_hash_fold_real(hash, part->start_s);
    hash = storm_hash_fold_real(hash, part->stop_s);
    return storm_hash_fold(hash, part->packets);
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
    return hash;
}

static uint64_t hash_sources(const struct storm_problem *p)
{
    uint64_t hash = p->n_sources;
    for (size_t i = 0; i < p->n_sources; i++) {
        const struct storm_source *s = &p->sources[i];
        hash = hash_shape(hash, &s->shape);
        hash = storm_hash_fold_real(hash, s->power_erg_cm3_s);
        hash = storm_hash_fold_real(hash, s->start_s);
        hash = storm_hash_fold_real(hash, s->stop_s);
        hash = storm_hash_fold(hash, s->packets);
        if (p->n_groups > 1)
            hash = storm_hash_fold_real(hash, s->temperature_kev);
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
