/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/problem.h"

#include <string.h>

#include <storm/matter.h>

#include "base/sized.h"

static const char problem_label[] = "problem";

/* A caller's array, and the size of its elements here. */
struct problem_array {
    const void *from;
    size_t n, from_bytes, bytes;
};

/* A copy of the elements; NULL: there are none, or no memory. */
static storm_status problem_copy_array(const struct storm_env *env,
                                       const struct problem_array *array,
                                       const void **to_out)
{
    *to_out = NULL;
    if (array->n == 0)
        return STORM_OK;
    unsigned char *to =
        storm_alloc(env->memory, problem_label, array->n * array->bytes);
    if (to == NULL)
        return STORM_ERR_NOMEM;
    *to_out = to;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < array->n && status == STORM_OK; i++)
        status = storm_sized_read_element(env, "storm_problem",
                                          (const unsigned char *)array->from +
                                              i * array->from_bytes,
                                          array->from_bytes,
                                          to + i * array->bytes, array->bytes);
    return status;
}

static storm_status problem_copy_bytes(const struct storm_env *env,
                                       const void *from, size_t bytes,
                                       const void **to_out)
{
    void *to = storm_alloc(env->memory, problem_label, bytes > 0 ? bytes : 1);
    if (to != NULL && bytes > 0)
        memcpy(to, from, bytes);
    *to_out = to;
    return to != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

/* What elements point to. Until a pointer is that of a copy, it must not be
 * freed. */

static void problem_copy_text(const struct storm_env *env, const char **text,
                              storm_status *status_inout)
{
    const void *copy = NULL;
    if (*status_inout == STORM_OK && *text != NULL)
        *status_inout =
            problem_copy_bytes(env, *text, strlen(*text) + 1, &copy);
    *text = copy;
}

static storm_status problem_copy_texts(const struct storm_env *env,
                                       struct storm_material *materials,
                                       size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n; i++) {
        struct storm_material *m = &materials[i];
        problem_copy_text(env, &m->name, &status);
        problem_copy_text(env, &m->temperature_formula, &status);
        problem_copy_text(env, &m->radiation_temperature_formula, &status);
        problem_copy_text(env, &m->density_formula, &status);
    }
    return status;
}

/* Functions of a host; what is known here of its struct. */
static storm_status problem_copy_matter(const struct storm_env *env,
                                        struct storm_material *materials,
                                        size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n; i++) {
        const struct storm_matter *from = materials[i].matter;
        struct storm_matter *to = NULL;
        if (status == STORM_OK && from != NULL) {
            to = storm_alloc(env->memory, problem_label, sizeof *to);
            status = to != NULL ? storm_sized_read(env, "storm_matter", from,
                                                   to, sizeof *to)
                                : STORM_ERR_NOMEM;
        }
        materials[i].matter = to;
    }
    return status;
}

static void problem_copy_curve(const struct storm_env *env,
                               struct storm_curve *curve,
                               storm_status *status_inout)
{
    const void *copy = NULL;
    if (*status_inout == STORM_OK && curve->n > 0)
        *status_inout =
            problem_copy_bytes(env, curve->points,
                               2 * curve->n * sizeof *curve->points, &copy);
    curve->points = copy;
}

static storm_status problem_copy_compositions(const struct storm_env *env,
                                              struct storm_material *materials,
                                              size_t n, size_t n_components)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n; i++) {
        const double *from = materials[i].composition;
        const void *copy = NULL;
        if (status == STORM_OK && from != NULL)
            status = problem_copy_bytes(env, from, n_components * sizeof *from,
                                        &copy);
        materials[i].composition = copy;
    }
    return status;
}

static storm_status problem_copy_curves(const struct storm_env *env,
                                        struct storm_wall_part *edges, size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n; i++) {
        problem_copy_curve(env, &edges[i].temperature, &status);
        problem_copy_text(env, &edges[i].temperature_formula, &status);
    }
    return status;
}

static storm_status problem_copy_powers(const struct storm_env *env,
                                        struct storm_source *sources, size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n; i++) {
        problem_copy_curve(env, &sources[i].power, &status);
        problem_copy_text(env, &sources[i].power_formula, &status);
    }
    return status;
}

static storm_status problem_copy_materials(const struct storm_env *env,
                                           const struct storm_problem *from,
                                           struct storm_problem *to)
{
    const void *copy;
    storm_status status =
        problem_copy_array(env,
                           &(struct problem_array){
                               from->materials, from->n_materials,
                               from->material_size,
                               sizeof(struct storm_material)},
                           &copy);
    to->materials = copy;
    to->n_materials = copy != NULL ? from->n_materials : 0;
    struct storm_material *materials = (struct storm_material *)(uintptr_t)copy;
    storm_status texts = problem_copy_texts(env, materials, to->n_materials);
    storm_status matter = problem_copy_matter(env, materials, to->n_materials);
    storm_status rest =
        problem_copy_compositions(env, materials, to->n_materials,
                                  from->n_components);
    return status < 0 ? status : texts < 0 ? texts : matter < 0 ? matter : rest;
}

static storm_status problem_copy_wall(const struct storm_env *env,
                                      const struct storm_wall *from,
                                      size_t part_size, struct storm_wall *to)
{
    const void *copy;
    storm_status status =
        problem_copy_array(env,
                           &(struct problem_array){
                               from->parts, from->n, part_size,
                               sizeof(struct storm_wall_part)},
                           &copy);
    to->parts = copy;
    to->n = copy != NULL ? from->n : 0;
    storm_status curves =
        problem_copy_curves(env, (struct storm_wall_part *)(uintptr_t)copy,
                            to->n);
    return status < 0 ? status : curves;
}

/* Walls, and boundaries by number. */
static storm_status problem_copy_walls(const struct storm_env *env,
                                       const struct storm_problem *from,
                                       struct storm_problem *to)
{
    storm_status status = STORM_OK;
    struct storm_wall *copy = NULL;
    for (int wall = 0; wall < STORM_N_WALLS && status == STORM_OK; wall++)
        status = problem_copy_wall(env, &from->walls[wall],
                                   from->wall_part_size, &to->walls[wall]);
    if (status < 0 || from->n_boundaries == 0)
        return status;
    copy = storm_alloc(env->memory, problem_label,
                       from->n_boundaries * sizeof *copy);
    if (copy == NULL)
        return STORM_ERR_NOMEM;
    to->boundaries = copy;
    to->n_boundaries = from->n_boundaries;
    for (size_t i = 0; i < from->n_boundaries && status == STORM_OK; i++)
        status = problem_copy_wall(env, &from->boundaries[i],
                                   from->wall_part_size, &copy[i]);
    return status;
}

static storm_status problem_copy_planes(const struct storm_env *env,
                                        const struct storm_problem *from,
                                        struct storm_problem *to)
{
    const void *copy = NULL;
    storm_status status =
        problem_copy_array(env,
                           &(struct problem_array){
                               from->planes, from->n_planes, from->plane_size,
                               sizeof(struct storm_black_plane)},
                           &copy);
    struct storm_black_plane *planes =
        (struct storm_black_plane *)(uintptr_t)copy;
    storm_status curves = STORM_OK;
    to->planes = planes;
    to->n_planes = planes != NULL ? from->n_planes : 0;
    for (size_t i = 0; i < to->n_planes; i++) {
        problem_copy_curve(env, &planes[i].temperature, &curves);
        problem_copy_text(env, &planes[i].temperature_formula, &curves);
    }
    return status < 0 ? status : curves;
}

static storm_status problem_copy_rest(const struct storm_env *env,
                                      const struct storm_problem *from,
                                      struct storm_problem *to)
{
    const void *regions, *sources = NULL;
    storm_status status =
        problem_copy_array(env,
                           &(struct problem_array){
                               from->regions, from->n_regions,
                               from->region_size, sizeof(struct storm_region)},
                           &regions);
    to->regions = regions;
    if (status == STORM_OK)
        status = problem_copy_array(env,
                                    &(struct problem_array){
                                        from->sources, from->n_sources,
                                        from->source_size,
                                        sizeof(struct storm_source)},
                                    &sources);
    to->sources = sources;
    to->n_sources = sources != NULL ? from->n_sources : 0;
    storm_status powers =
        problem_copy_powers(env, (struct storm_source *)(uintptr_t)sources,
                            to->n_sources);
    status = status < 0 ? status : powers;
    if (status == STORM_OK)
        status = problem_copy_planes(env, from, to);
    const void *edges = NULL;
    if (status == STORM_OK && from->group_edge_kev != NULL)
        status = problem_copy_bytes(env, from->group_edge_kev,
                                    ((size_t)from->n_groups + 1) *
                                        sizeof *from->group_edge_kev,
                                    &edges);
    to->group_edge_kev = edges;
    return status;
}

/* ---- all ---------------------------------------------------------------- */

storm_status problem_copy(const struct storm_env *env,
                          const struct storm_problem *from,
                          struct storm_problem *to)
{
    struct storm_problem given;
    storm_status status =
        storm_sized_read(env, "storm_problem", from, &given, sizeof given);
    if (status < 0)
        return status;
    *to = given;
    to->material_size = sizeof(struct storm_material);
    to->region_size = sizeof(struct storm_region);
    to->wall_part_size = sizeof(struct storm_wall_part);
    to->source_size = sizeof(struct storm_source);
    to->materials = NULL;
    to->regions = NULL;
    to->sources = NULL;
    to->n_materials = 0;
    to->n_sources = 0;
    to->plane_size = sizeof(struct storm_black_plane);
    to->planes = NULL;
    to->n_planes = 0;
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        to->walls[wall] = (struct storm_wall){.n = 0};
    to->boundaries = NULL;
    to->n_boundaries = 0;
    to->group_edge_kev = NULL;
    status = problem_copy_materials(env, &given, to);
    if (status == STORM_OK)
        status = problem_copy_walls(env, &given, to);
    return status < 0 ? status : problem_copy_rest(env, &given, to);
}

static void problem_release(const struct storm_env *env, const void *copy)
{
    storm_free(env->memory, (void *)(uintptr_t)copy);
}

static void problem_free_wall(const struct storm_env *env,
                              const struct storm_wall *wall)
{
    for (size_t i = 0; i < wall->n; i++) {
        problem_release(env, wall->parts[i].temperature.points);
        problem_release(env, wall->parts[i].temperature_formula);
    }
    problem_release(env, wall->parts);
}

void problem_free(const struct storm_env *env, struct storm_problem *problem)
{
    for (size_t i = 0; i < problem->n_materials; i++) {
        problem_release(env, problem->materials[i].name);
        problem_release(env, problem->materials[i].temperature_formula);
        problem_release(env,
                        problem->materials[i].radiation_temperature_formula);
        problem_release(env, problem->materials[i].density_formula);
        problem_release(env, problem->materials[i].matter);
        problem_release(env, problem->materials[i].composition);
    }
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        problem_free_wall(env, &problem->walls[wall]);
    for (size_t i = 0; i < problem->n_boundaries; i++)
        problem_free_wall(env, &problem->boundaries[i]);
    for (size_t i = 0; i < problem->n_sources; i++) {
        problem_release(env, problem->sources[i].power.points);
        problem_release(env, problem->sources[i].power_formula);
    }
    for (size_t i = 0; i < problem->n_planes; i++) {
        problem_release(env, problem->planes[i].temperature.points);
        problem_release(env, problem->planes[i].temperature_formula);
    }
    problem_release(env, problem->planes);
    problem_release(env, problem->boundaries);
    problem_release(env, problem->materials);
    problem_release(env, problem->regions);
    problem_release(env, problem->sources);
    problem_release(env, problem->group_edge_kev);
}

/* The last region that contains it. */
int storm_problem_cell_material(const struct storm_problem *problem,
                                const double centre_cm[3], int number)
{
    const unsigned char *regions = (const unsigned char *)problem->regions;
    size_t size = problem->region_size;
    bool has_numbers = size > offsetof(struct storm_region, number);
    for (size_t i = problem->n_regions; i > 0; i--) {
        const struct storm_region *region =
            (const void *)(regions + (i - 1) * size);
        int wanted = has_numbers ? region->number : 0;
        if ((wanted == 0 || wanted == number) &&
            storm_shape_contains(&region->shape, centre_cm))
            return region->material;
    }
    return (int)problem->n_materials;
}

int storm_problem_material(const struct storm_problem *problem,
                           const double point_cm[3])
{
    return storm_problem_cell_material(problem, point_cm, 0);
}
