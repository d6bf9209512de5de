/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: one time step. */
#include "physics/imc.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/planck.h"
#include "physics/track.h"

static const char imc_label[] = "imc";

/* Temperatures below this count as this in the Fleck factor: a material whose
 * heat capacity falls with T as fast as T^3 has a limit there. */
static const double imc_coldest_kev = 1e-30;

/* Less energy than this is nothing. */
static const double imc_least_erg = 1e-250;

/* ---- fields at the start of a step ---------------------------------------- */

/* f = 1 / (1 + beta c sigma dt), eq. (3). */
static double imc_fleck(const struct storm_imc *imc, storm_cell_idx cell,
                        double sigma)
{
    const struct storm_problem *p = imc->problem;
    const struct storm_heat *heat = &imc->heat[imc->material[cell]];
    if (heat->held || p->emit_per_cell == 0)
        return 1.0;
    double t = fmax(imc->temperature[cell], imc_coldest_kev);
    double beta =
        4.0 * p->radiation * (t * t * t) / storm_heat_capacity(heat, t);
    return 1.0 / (1.0 + beta * p->light_cm_s * sigma * imc->dt_s);
}

/* What the material of a cell radiates in the step, eq. (4); never more than
 * it has. */
static double imc_emission(const struct storm_imc *imc, storm_cell_idx cell,
                           double sigma, double fleck)
{
    const struct storm_problem *p = imc->problem;
    double t2 = imc->temperature[cell] * imc->temperature[cell];
    double volume = imc->volume[cell];
    double energy = fleck * sigma * p->radiation * p->light_cm_s * (t2 * t2) *
                    imc->dt_s * volume;
    if (p->emit_per_cell == 0)
        return 0.0;
    if (!imc->heat[imc->material[cell]].held)
        energy = fmin(energy, imc->energy[cell] * volume);
    return energy > imc_least_erg ? energy : 0.0;
}

static void imc_grey(struct storm_imc *imc, storm_cell_idx cell)
{
    const struct storm_material *m =
        &imc->problem->materials[imc->material[cell]];
    double t = imc->temperature[cell];
    double absorb = storm_material_law(&m->absorption, t, 1.0);
    double fleck = imc_fleck(imc, cell, absorb);
    imc->track.cells[cell].absorb = fleck * absorb;
    imc->track.cells[cell].scatter =
        (1.0 - fleck) * absorb + storm_material_law(&m->scattering, t, 1.0);
    imc->emitted[cell] = imc_emission(imc, cell, absorb, fleck);
}

/* Eqs. (12) to (14). */
static void imc_groups(struct storm_imc *imc, storm_cell_idx cell)
{
    const struct storm_material *m =
        &imc->problem->materials[imc->material[cell]];
    size_t n = (size_t)imc->problem->n_groups;
    struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    double t = imc->temperature[cell];
    double shape = fmax(t, imc_coldest_kev), below = 0.0, planck_mean = 0.0;
    for (size_t g = 0; g < n; g++) {
        double e = imc->group_middle[g];
        double up = g + 1 < n
                        ? storm_planck_below(imc->group_edge[g + 1] / shape)
                        : 1.0;
        o[g].absorb = storm_material_law(&m->absorption, t, e);
        planck_mean += o[g].absorb * (up - below);
        o[g].emission = planck_mean;
        below = up;
    }
    double fleck = imc_fleck(imc, cell, planck_mean);
    for (size_t g = 0; g < n; g++) {
        double absorb = o[g].absorb;
        double effective = (1.0 - fleck) * absorb;
        o[g].absorb = fleck * absorb;
        o[g].scatter = effective + storm_material_law(&m->scattering, t,
                                                      imc->group_middle[g]);
        o[g].effective = o[g].scatter > 0.0 ? effective / o[g].scatter : 0.0;
        o[g].emission = planck_mean > 0.0 ? o[g].emission / planck_mean : 1.0;
    }
    imc->track.cells[cell].absorb = fleck * planck_mean;
    imc->emitted[cell] = imc_emission(imc, cell, planck_mean, fleck);
}

/* Groups in order of thickness, for the random walk. What a group emits, over
 * its opacity, is its share of the Planck function. */
static void imc_order_groups(struct storm_imc *imc, storm_cell_idx cell)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_opacity *o = &imc->opacity[(size_t)cell * n];
    struct storm_walk_group *thick = &imc->thick[(size_t)cell * n];
    double below = 0.0;
    for (size_t g = 0; g < n; g++) {
        double effective = o[g].effective * o[g].scatter;
        double absorb = o[g].absorb + effective;
        double planck = absorb > 0.0 ? (o[g].emission - below) / absorb : 0.0;
        below = o[g].emission;
        thick[g] = storm_walk_group((int32_t)g, planck, o[g].absorb,
                                    o[g].scatter, effective);
    }
    storm_walk_sort(thick, n);
}

static void imc_set_fields(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        imc->emitted[i] = 0.0;
        imc->track.cells[i].events = 0;
        if (imc->material[i] < 0 ||
            imc->material[i] >= (int)imc->problem->n_materials)
            continue;
        if (imc->problem->n_groups == 1)
            imc_grey(imc, i);
        else
            imc_groups(imc, i);
        if (imc->thick != NULL)
            imc_order_groups(imc, i);
    }
}

/* ---- before transport ----------------------------------------------------- */

/* Packets of the last step go on; those not in a cell of this rank are marked
 * for the kernel to send. Returns the largest weight. */
static double imc_wake(struct storm_imc *imc, struct storm_step *step)
{
    size_t n;
    void *const *packets = storm_step_packets(step, &n);
    storm_cell_id first = storm_mesh_cell_id(imc->mesh, 0);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet == NULL)
            continue;
        storm_cell_id offset = packet->cell - first; /* huge if below */
        packet->cell_idx =
            offset < (storm_cell_id)imc->n_cells ? (storm_cell_idx)offset : -1;
        packet->time_left_s = imc->dt_s;
        largest = packet->weight > largest ? packet->weight : largest;
    }
    return largest;
}

static storm_status imc_pre_step(void *self, struct storm_step *step)
{
    struct storm_imc *imc = self;
    double largest = imc_wake(imc, step);
    imc_set_fields(imc);
    storm_status status = imc_halo_slopes(imc);
    if (status == STORM_OK)
        status = imc_principle_check(imc, step);
    if (status == STORM_OK)
        status = imc_steer(imc, step);
    if (status == STORM_OK)
        status = imc_birth_emission(imc, step, &largest);
    if (status == STORM_OK)
        status = imc_birth_sources(imc, step, &largest);
    if (status == STORM_OK)
        status = imc_birth_walls(imc, step, &largest);
    if (status == STORM_OK)
        status = storm_connect_neighbours(&imc->connect, imc->mesh, step);

    /* Also after an error: the others are waiting. */
    storm_status reduced =
        storm_context_reduce(imc->context, &largest, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0 || reduced < 0)
        return status < 0 ? status : reduced;
    /* A path may exceed c dt by its roundings, not by a factor. */
    imc->track.deposit_unit = storm_exact_unit(largest);
    imc->track.path_unit =
        storm_exact_unit(2.0 * largest * imc->track.light_cm_s * imc->dt_s);
    imc->track.max_events = storm_step_max_events(step);
    return STORM_OK;
}

/* ---- transport ------------------------------------------------------------ */

static void imc_step_batch(void *self, struct storm_step *step,
                           void *const *packets, size_t n,
                           struct storm_outcome *outcomes_out)
{
    const struct storm_imc *imc = self;
    (void)step;
    imc->advance(&imc->track, packets, n, outcomes_out);
}

void storm_imc_deposit(void *self, storm_cell_idx cell, double weight_erg)
{
    struct storm_imc *imc = self;
    storm_exact_add(&imc->track.cells[cell].deposit, weight_erg,
                    imc->track.deposit_unit);
}

/* ---- after transport ------------------------------------------------------ */

/* Adds energy and finds the temperature that has it, eqs. (8) and (9). */
static void imc_heat_up(struct storm_imc *imc, storm_cell_idx i,
                        double deposit_erg)
{
    int m = imc->material[i];
    if (m < 0 || imc->heat[m].held)
        return;
    double energy =
        imc->energy[i] + (deposit_erg - imc->emitted[i]) / imc->volume[i];
    imc->energy[i] = energy > 0.0 ? energy : 0.0;
    imc->temperature[i] = storm_heat_temperature(&imc->heat[m], imc->energy[i]);
}

static storm_status imc_post_step(void *self, struct storm_step *step)
{
    struct storm_imc *imc = self;
    double length = imc->track.light_cm_s * imc->dt_s;
    (void)step;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        struct imc_cell *cell = &imc->track.cells[i];
        double deposit =
            storm_exact_value(cell->deposit, imc->track.deposit_unit);
        double path = storm_exact_value(cell->path, imc->track.path_unit);
        cell->deposit = 0;
        cell->path = 0;
        imc->radiation[i] = path / (imc->volume[i] * length);
        storm_ledger_add(&imc->account[IMC_ABSORBED], deposit);
        imc_heat_up(imc, i, deposit);
    }
    return STORM_OK;
}

/* ---- public --------------------------------------------------------------- */

/* Edges and middles of the groups, log-spaced. */
static storm_status imc_make_groups(struct storm_imc *imc)
{
    const struct storm_problem *p = imc->problem;
    size_t n = (size_t)p->n_groups;
    imc->group_edge =
        storm_alloc(imc->env->memory, imc_label, (n + 1) * sizeof(double));
    imc->group_middle =
        storm_alloc(imc->env->memory, imc_label, n * sizeof(double));
    if (imc->group_edge == NULL || imc->group_middle == NULL)
        return STORM_ERR_NOMEM;
    double ratio = n > 1 ? log(p->group_max / p->group_min) / (double)n : 0.0;
    for (size_t g = 0; n > 1 && g <= n; g++)
        imc->group_edge[g] = p->group_min * exp(ratio * (double)g);
    for (size_t g = 0; n > 1 && g < n; g++)
        imc->group_middle[g] = p->group_min * exp(ratio * ((double)g + 0.5));
    return STORM_OK;
}

/* Heat capacities; the last is of empty space. */
static storm_status imc_make_heat(struct storm_imc *imc)
{
    size_t n = imc->problem->n_materials;
    imc->heat =
        storm_alloc(imc->env->memory, imc_label, (n + 1) * sizeof *imc->heat);
    if (imc->heat == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        imc->heat[i] =
            storm_heat_make(&imc->problem->materials[i].heat_capacity);
    imc->heat[n].held = true;
    return STORM_OK;
}

static storm_status imc_make_walk(struct storm_imc *imc)
{
    if (!imc->problem->random_walk)
        return STORM_OK;
    imc->walk = storm_alloc(imc->env->memory, imc_label, sizeof *imc->walk);
    if (imc->walk == NULL)
        return STORM_ERR_NOMEM;
    storm_walk_make(imc->walk);
    imc->track.walk = imc->walk;
    return STORM_OK;
}

static void imc_sort_walls(struct storm_imc *imc)
{
    for (int wall = 0; wall < STORM_N_WALLS; wall++) {
        const struct storm_edges *edges = &imc->problem->walls[wall];
        bool one = edges->n == 1 && edges->edge[0].part.kind == STORM_SHAPE_ALL;
        if (one && edges->edge[0].kind == STORM_EDGE_REFLECT)
            imc->track.mirror_walls |= 1u << wall;
        if (edges->n > 0 && !one)
            imc->track.split_walls |= 1u << wall;
    }
}

storm_status storm_imc_create(struct storm_context *context,
                              struct storm_mesh *mesh,
                              const struct storm_problem *problem,
                              struct storm_imc **imc_out)
{
    const struct storm_env *env = storm_context_env(context);
    const struct storm_track_ops *ops = storm_track_ops_for(mesh);
    struct storm_imc *imc = storm_alloc(env->memory, imc_label, sizeof *imc);
    storm_status status = imc != NULL ? STORM_OK : STORM_ERR_NOMEM;
    if (status == STORM_OK && ops == NULL) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "no implicit Monte Carlo on a mesh of kind %s",
                        mesh->ops->name);
        status = STORM_ERR_NOSUP;
    }
    if (status == STORM_OK) {
        imc->context = context;
        imc->env = env;
        imc->mesh = mesh;
        imc->problem = problem;
        imc->advance = ops->imc;
        imc->track = (struct imc_track){
            .mesh = mesh,
            .problem = problem,
            .light_cm_s = problem->light_cm_s,
            .seed = problem->seed,
            .max_events = UINT64_MAX,
            .n_groups = (size_t)problem->n_groups,
            .escaped = &imc->account[IMC_ESCAPED],
        };
        imc_sort_walls(imc);
        status = imc_make_groups(imc);
    }
    if (status == STORM_OK)
        status = imc_make_heat(imc);
    if (status == STORM_OK)
        status = imc_make_walk(imc);
    status = storm_context_agree(context, status);
    if (status == STORM_OK)
        status = imc_cells_open(imc);
    if (status < 0) {
        if (imc != NULL && imc->env != NULL)
            storm_imc_destroy(imc);
        else
            storm_free(env->memory, imc);
        return status;
    }
    imc_cells_begin(imc);
    *imc_out = imc;
    return STORM_OK;
}

void storm_imc_destroy(struct storm_imc *imc)
{
    if (imc == NULL)
        return;
    struct storm_memory *memory = imc->env->memory;
    imc_cells_close(imc);
    storm_free(memory, imc->walk);
    storm_free(memory, imc->heat);
    storm_free(memory, imc->group_edge);
    storm_free(memory, imc->group_middle);
    storm_free(memory, imc);
}

storm_status storm_imc_attach(struct storm_imc *imc,
                              struct storm_engine *engine)
{
    const struct storm_physics physics = {
        .size = sizeof physics,
        .self = imc,
        .pre_step = imc_pre_step,
        .step_batch = imc_step_batch,
        .post_step = imc_post_step,
    };
    return storm_engine_use(engine, &physics, NULL, NULL);
}

void storm_imc_set_step(struct storm_imc *imc, double time_s, double dt_s)
{
    imc->time_s = time_s;
    imc->dt_s = dt_s;
}
