/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 4: the problem that was described, and the objects that solve it. */
#include "host/host.h"

#include <string.h>

/* ---- matter with numbers by cell ---------------------------------------- */

/* Numbers by cell are components of the composition: they go with their cells
 * when the mesh changes, and count in the hash. */

static double matter_component(const struct host_matter *m,
                               const struct storm_matter_block *block, size_t i,
                               size_t law, size_t group)
{
    return block->composition[i * block->n_components + m->first[law] + group];
}

static double matter_opacity_of(const struct host_matter *m,
                                const struct storm_matter_block *block,
                                size_t i, size_t law, size_t group)
{
    if (m->by_cell[law])
        return matter_component(m, block, i, law, group);
    return storm_power_law_value(&m->law[law], block->temperature_kev[i],
                                 block->density_g_cm3[i],
                                 block->n_groups > 1
                                     ? block->group_middle_kev[group]
                                     : 1.0);
}

static storm_status matter_opacity(void *self,
                                   const struct storm_matter_block *block,
                                   double *absorption_out,
                                   double *scattering_out)
{
    const struct host_matter *m = self;
    for (size_t i = 0; i < block->n; i++)
        for (size_t g = 0; g < block->n_groups; g++) {
            size_t at = i * block->n_groups + g;
            absorption_out[at] =
                matter_opacity_of(m, block, i, STORM_HOST_LAW_ABSORPTION, g);
            scattering_out[at] =
                matter_opacity_of(m, block, i, STORM_HOST_LAW_SCATTERING, g);
        }
    return STORM_OK;
}

static storm_status
matter_capacity(void *self, const struct storm_matter_block *block, double *out)
{
    const struct host_matter *m = self;
    for (size_t i = 0; i < block->n; i++)
        out[i] = m->by_cell[STORM_HOST_LAW_HEAT]
                     ? matter_component(m, block, i, STORM_HOST_LAW_HEAT, 0)
                     : storm_power_law_capacity(&m->law[STORM_HOST_LAW_HEAT],
                                                block->temperature_kev[i],
                                                block->density_g_cm3[i]);
    return STORM_OK;
}

static storm_status
matter_energy(void *self, const struct storm_matter_block *block, double *out)
{
    const struct host_matter *m = self;
    for (size_t i = 0; i < block->n; i++)
        out[i] = m->by_cell[STORM_HOST_LAW_HEAT]
                     ? block->temperature_kev[i] *
                           matter_component(m, block, i, STORM_HOST_LAW_HEAT, 0)
                     : storm_power_law_energy(&m->law[STORM_HOST_LAW_HEAT],
                                              block->temperature_kev[i],
                                              block->density_g_cm3[i]);
    return STORM_OK;
}

static storm_status matter_temperature(void *self,
                                       const struct storm_matter_block *block,
                                       const double *energy, double *out)
{
    const struct host_matter *m = self;
    for (size_t i = 0; i < block->n; i++)
        out[i] = m->by_cell[STORM_HOST_LAW_HEAT]
                     ? energy[i] /
                           matter_component(m, block, i, STORM_HOST_LAW_HEAT, 0)
                     : storm_power_law_temperature(&m->law[STORM_HOST_LAW_HEAT],
                                                   energy[i],
                                                   block->density_g_cm3[i]);
    return STORM_OK;
}

/* ---- the problem -------------------------------------------------------- */

static bool material_is_by_cell(const struct host_material *m)
{
    bool any = false;
    for (int law = 0; law < STORM_HOST_N_LAWS; law++)
        any = any || m->by_cell[law];
    return any;
}

/* Where numbers of each kind are in the composition. */
static void begin_components(struct storm_host *host)
{
    size_t n_groups = (size_t)host->problem.n_groups, n = 0;
    for (int law = 0; law < STORM_HOST_N_LAWS; law++) {
        host->any_by_cell[law] = false;
        for (size_t i = 0; i < host->n_materials; i++)
            host->any_by_cell[law] =
                host->any_by_cell[law] || host->materials[i].by_cell[law];
        host->first_component[law] = n;
        if (host->any_by_cell[law])
            n += law == STORM_HOST_LAW_HEAT ? 1 : n_groups;
    }
    host->problem.n_components = n;
}

void host_matter_begin(const struct storm_host *host, size_t material,
                       double *composition)
{
    const struct host_material *m = &host->materials[material];
    for (size_t law = 0; law < STORM_HOST_N_LAWS; law++) {
        size_t at = host->first_component[law];
        size_t end = law + 1 < STORM_HOST_N_LAWS
                         ? host->first_component[law + 1]
                         : host->problem.n_components;
        while (m->by_cell[law] && at < end)
            composition[at++] = m->start[law];
    }
}

static storm_status begin_composition(struct storm_host *host, size_t i)
{
    double *c = NULL;
    storm_status status =
        host_array(host, host->problem.n_components, sizeof *c, &c);
    if (status < 0)
        return status;
    host_matter_begin(host, i, c);
    host->matters[i].composition = c;
    return STORM_OK;
}

static storm_status begin_material(struct storm_host *host, size_t i,
                                   struct storm_material *out)
{
    const struct host_material *m = &host->materials[i];
    struct host_matter *matter = &host->matters[i];
    memcpy(matter->law, m->law, sizeof matter->law);
    memcpy(matter->by_cell, m->by_cell, sizeof matter->by_cell);
    memcpy(matter->first, host->first_component, sizeof matter->first);
    storm_status status = begin_composition(host, i);
    matter->matter = (struct storm_matter){
        .size = sizeof matter->matter,
        .self = matter,
        .is_held = !m->by_cell[STORM_HOST_LAW_HEAT] &&
                   m->law[STORM_HOST_LAW_HEAT].coef == 0.0,
        .opacity = matter_opacity,
        .energy = matter_energy,
        .heat_capacity = matter_capacity,
        .temperature = matter_temperature};
    *out = (struct storm_material){
        .name = m->name,
        .absorption = m->law[STORM_HOST_LAW_ABSORPTION],
        .scattering = m->law[STORM_HOST_LAW_SCATTERING],
        .heat_capacity = m->law[STORM_HOST_LAW_HEAT],
        .temperature_kev = m->temperature_kev,
        .radiation_temperature_kev = -1.0,
        .density_g_cm3 = m->density_g_cm3,
        .scattering_law = m->scattering_law,
        .electrons_per_g = m->electrons_per_g,
        .composition =
            host->problem.n_components > 0 ? matter->composition : NULL,
        .matter = material_is_by_cell(m) ? &matter->matter : NULL};
    return status;
}

/* What the problem points to, for the time of storm_imc_create. */
struct begin_parts {
    struct storm_material *materials;
    struct storm_wall_part *wall_parts;
    struct storm_wall *walls;
};

static storm_status begin_walls(struct storm_host *host,
                                struct begin_parts *parts,
                                struct storm_problem *problem)
{
    size_t n = (size_t)host->n_boundaries;
    storm_status status =
        host_array(host, n, sizeof *parts->wall_parts, &parts->wall_parts);
    if (status == STORM_OK)
        status = host_array(host, n, sizeof *parts->walls, &parts->walls);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        const struct host_wall *w = i < host->n_walls ? &host->walls[i] : NULL;
        if (w == NULL)
            continue;
        parts->wall_parts[i] =
            (struct storm_wall_part){.kind = w->kind,
                                     .temperature = {w->curve, w->n_curve},
                                     .start_s = -STORM_UNLIMITED,
                                     .stop_s = STORM_UNLIMITED,
                                     .packets = (uint64_t)w->packets};
        parts->walls[i] = (struct storm_wall){&parts->wall_parts[i], 1};
    }
    if (status < 0)
        return status;
    if (host->mesh_kind == HOST_GIVEN) {
        problem->boundaries = parts->walls;
        problem->n_boundaries = n;
    } else {
        memcpy(problem->walls, parts->walls, sizeof problem->walls);
    }
    return STORM_OK;
}

static storm_status begin_problem(struct storm_host *host,
                                  struct begin_parts *parts,
                                  struct storm_problem *problem)
{
    size_t n = host->n_materials;
    storm_status status = STORM_OK;
    if (n == 0)
        status = host_fail(host, STORM_ERR_STATE,
                           "storm_host_begin: there is no material: "
                           "storm_host_add_material");
    if (status == STORM_OK)
        status = host_scatter_check(host);
    if (status == STORM_OK)
        status = host_array(host, n, sizeof *host->matters, &host->matters);
    if (status == STORM_OK)
        status =
            host_array(host, n, sizeof *parts->materials, &parts->materials);
    if (status < 0)
        return status;
    if (host->problem.n_groups == 0)
        host->problem.n_groups = 1;
    begin_components(host);
    *problem = host->problem;
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = begin_material(host, i, &parts->materials[i]);
    if (status == STORM_OK)
        status = begin_walls(host, parts, problem);
    storm_mesh_box(host->mesh, problem->lo_cm, problem->hi_cm);
    problem->materials = parts->materials;
    problem->n_materials = n;
    problem->n_regions = 1;
    problem->group_edge_kev = problem->n_groups > 1 ? host->group_edges : NULL;
    return status;
}

/* ---- objects ------------------------------------------------------------ */

static storm_status begin_engine(struct storm_host *host)
{
    const struct storm_comb_params comb = {
        .size = sizeof comb,
        .seed = host->problem.seed,
        .n_min = host->problem.min_per_cell,
        .n_max = host->problem.max_per_cell,
        .remainder = storm_imc_deposit,
        .remainder_self = host->imc,
        .limit = storm_imc_max_packets,
        .limit_self = host->imc,
    };
    const struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = storm_imc_record_bytes(host->imc),
    };
    storm_status status =
        host_agree(host, storm_comb_create(host->context, &comb, &host->comb));
    if (status == STORM_OK)
        status = storm_engine_create(host->context, &engine, &host->engine);
    if (status == STORM_OK)
        status = storm_imc_attach(host->imc, host->engine);
    if (status == STORM_OK && host->problem.comb)
        status = storm_comb_attach(host->comb, host->engine);
    return status;
}

void host_begin_release(struct storm_host *host)
{
    storm_engine_destroy(host->engine);
    storm_comb_destroy(host->comb);
    storm_imc_destroy(host->imc);
    for (size_t i = 0; host->matters != NULL && i < host->n_materials; i++)
        host_free(host, host->matters[i].composition);
    host_free(host, host->matters);
    host_free(host, host->start_kev);
    host->engine = NULL;
    host->comb = NULL;
    host->imc = NULL;
    host->matters = NULL;
    host->start_kev = NULL;
}

storm_status storm_host_begin(struct storm_host *host)
{
    static const struct storm_region everywhere = {.material = 0};
    struct begin_parts parts = {.materials = NULL};
    struct storm_problem problem;
    storm_status status =
        host_enter(host, "storm_host_begin", HOST_MESH, HOST_MESH);
    if (status < 0)
        return status;
    status = host_agree(host, begin_problem(host, &parts, &problem));
    problem.regions = &everywhere;
    if (status == STORM_OK)
        status =
            storm_imc_create(host->context, host->mesh, &problem, &host->imc);
    if (status == STORM_OK)
        status = host_agree(host, host_scatter_begin(host));
    if (status == STORM_OK)
        status = begin_engine(host);
    host_free(host, parts.walls);
    host_free(host, parts.wall_parts);
    host_free(host, parts.materials);
    if (status < 0) {
        host_begin_release(host);
        return status;
    }
    host->stage = HOST_RUN;
    return STORM_OK;
}
