/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The maximum principle: matter must not get hotter than its surroundings, but
 * in implicit Monte Carlo it does if steps are too long (Larsen and Mercier
 * 1987). Checked before each step, eqs. (27) and (28), until a warning has been
 * logged.
 */
#include <inttypes.h>
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char principle_label[] = "imc principle";

/* Warn above this ratio to the hottest around a cell: energies of cells
 * fluctuate. */
static const double principle_room = 1.25;

/* ---- faces -------------------------------------------------------------- */

/* The blackbody at a face of a cell, NULL if there is none. */
static const struct storm_wall_part *principle_edge(const struct storm_imc *imc,
                                                    storm_cell_idx cell,
                                                    int face, int wall)
{
    const struct storm_wall_part *edge = imc_edge_middle(imc, cell, face, wall);
    return edge != NULL && edge->kind == STORM_WALL_BLACKBODY ? edge : NULL;
}

/* Counts hot faces; fills the lists unless they are NULL. */
static size_t principle_faces(const struct storm_imc *imc, double *flux,
                              struct imc_hot_face *hot)
{
    size_t at = 0, n_hot = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, i, k, &face);
            double reach = 0.25 * face.area_cm2 / imc->volume[i];
            if (face.rank >= 0) {
                if (flux != NULL)
                    flux[at] = reach;
                at++;
                continue;
            }
            const struct storm_wall_part *edge =
                principle_edge(imc, i, k, face.wall);
            if (edge == NULL)
                continue;
            if (hot != NULL)
                hot[n_hot] = (struct imc_hot_face){i, face.wall, edge, reach};
            n_hot++;
        }
    return n_hot;
}

static storm_status principle_build(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_principle *p = &imc->principle;
    size_t n = (size_t)imc->n_cells, n_faces = imc->halo.first[n];
    p->n_hot = principle_faces(imc, NULL, NULL);
    p->flux =
        storm_alloc(memory, principle_label, (n_faces + 1) * sizeof *p->flux);
    p->hot =
        storm_alloc(memory, principle_label, (p->n_hot + 1) * sizeof *p->hot);
    p->coming =
        storm_alloc(memory, principle_label, (n + 1) * sizeof *p->coming);
    p->around =
        storm_alloc(memory, principle_label, (n + 1) * sizeof *p->around);
    p->is_open =
        storm_alloc(memory, principle_label, (n + 1) * sizeof *p->is_open);
    if (p->flux == NULL || p->hot == NULL || p->coming == NULL ||
        p->around == NULL || p->is_open == NULL)
        return STORM_ERR_NOMEM;
    principle_faces(imc, p->flux, p->hot);
    return STORM_OK;
}

storm_status imc_principle_open(struct storm_imc *imc)
{
    return storm_context_agree(imc->context, principle_build(imc));
}

void imc_principle_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    storm_free(memory, imc->principle.flux);
    storm_free(memory, imc->principle.hot);
    storm_free(memory, imc->principle.coming);
    storm_free(memory, imc->principle.around);
    storm_free(memory, imc->principle.is_open);
    imc->principle = (struct imc_principle){0};
}

/* ---- one cell ----------------------------------------------------------- */

/* What is around a cell, and how it would heat. */
struct principle_cell {
    storm_cell_idx cell;
    double energy, t4;  /* of its matter, now */
    double top_kev;     /* the hottest around it or in it */
    double coming;      /* through its faces at most, keV^4 / cm */
    double absorb;      /* f sigma, 1/cm, at this dt */
    double sigma, beta; /* for another dt: f = 1 / (1 + beta c sigma dt) */
};

/* False if the cell is safe: no heat, or nothing hotter around. */
static bool principle_inspect(const struct storm_imc *imc, storm_cell_idx i,
                              struct principle_cell *c)
{
    const struct imc_halo *halo = &imc->halo;
    if (!imc_is_warm(imc, imc->material[i]))
        return false;
    double t = imc->temperature[i], t4 = (t * t) * (t * t);
    double emission = imc->emission[i];
    double hottest = fmax(imc->principle.around[i], imc_halo_hot(imc, i));
    c->coming = imc->principle.coming[i];
    for (size_t k = halo->first[i]; k < halo->first[i + 1]; k++) {
        double hot = imc_halo_hot(imc, halo->next[k]);
        hottest = fmax(hottest, hot);
        c->coming += hot * imc->principle.flux[k];
    }
    /* In equilibrium, what it emits is what is around it. */
    hottest /= emission;
    double room = principle_room * principle_room;
    if (!(emission > 0.0) || !(hottest > room * room * t4))
        return false;
    c->cell = i;
    c->energy = imc->energy[i];
    c->t4 = t4;
    c->top_kev = sqrt(sqrt(hottest));
    c->absorb = imc->track.cells[i].absorb;
    return c->absorb > 0.0;
}

/* With its heat capacity. */
static void principle_heat(const struct storm_imc *imc, double capacity,
                           struct principle_cell *c)
{
    const struct storm_problem *p = imc->problem;
    double t = imc->temperature[c->cell];
    c->beta = 4.0 * p->radiation_erg_cm3_kev4 * (t * t * t) / capacity *
              imc->emission[c->cell];
    double path = p->light_cm_s * imc->dt_s * c->beta;
    /* f sigma = sigma / (1 + path sigma) */
    c->sigma = c->absorb * path < 1.0 ? c->absorb / (1.0 - c->absorb * path)
                                      : INFINITY;
}

/* Energy it may have after dt, eq. (27). */
static double principle_heated(const struct storm_imc *imc,
                               const struct principle_cell *c, double dt_s)
{
    double path = imc->problem->light_cm_s * dt_s;
    double absorb = isinf(c->sigma)
                        ? c->absorb
                        : c->sigma / (1.0 + c->beta * path * c->sigma);
    double top2 = c->top_kev * c->top_kev;
    double emits = imc->emission[c->cell];
    double gain =
        fmin(absorb * emits * (top2 * top2 - c->t4), c->coming) * path;
    return c->energy + imc->problem->radiation_erg_cm3_kev4 * gain;
}

/* Heat capacities of the cells of the block. */
static storm_status principle_ask_capacity(struct storm_imc *imc)
{
    struct imc_block *block = &imc->matter.block;
    for (size_t k = 0; k < block->b.n; k++)
        block->temperature[k] = imc_capacity_kev(block->temperature[k]);
    return imc_ask_capacity(imc);
}

/* Ratios of the temperatures of a block to those around: the highest. A state
 * that matter does not know, beyond its tables maybe, gives none: no cell need
 * ever get there. */
static storm_status principle_block(struct storm_imc *imc,
                                    struct imc_block *block)
{
    struct imc_principle *p = &imc->principle;
    storm_status status = principle_ask_capacity(imc);
    block->b.is_estimate = 1;
    for (size_t k = 0; k < block->b.n && status >= 0; k++) {
        struct principle_cell c;
        (void)principle_inspect(imc, block->cell[k], &c);
        principle_heat(imc, block->value[k], &c);
        block->energy[k] = principle_heated(imc, &c, imc->dt_s);
        block->extra[k] = c.top_kev;
    }
    if (status >= 0)
        status = imc_ask_temperature(imc);
    for (size_t k = 0; k < block->b.n && status >= 0; k++) {
        double excess = block->value[k] / block->extra[k];
        if (excess > p->worst ||
            (excess == p->worst && block->cell[k] > p->worst_cell)) {
            p->worst = excess;
            p->worst_cell = block->cell[k];
        }
    }
    if (status < 0)
        imc_fault_drop(imc);
    return STORM_OK;
}

/* Temperature of one cell after dt; the block has it and no other. */
static storm_status principle_after(struct storm_imc *imc,
                                    const struct principle_cell *c, double dt_s,
                                    double *temperature_out)
{
    struct imc_block *block = &imc->matter.block;
    block->energy[0] = principle_heated(imc, c, dt_s);
    block->b.is_estimate = 1;
    storm_status status = imc_ask_temperature(imc);
    *temperature_out = block->value[0];
    return status;
}

/* The longest step that is safe there, eq. (28), by bisection. */
static storm_status principle_longest(struct storm_imc *imc,
                                      const struct principle_cell *c,
                                      double *dt_out)
{
    double low = 0.0, high = imc->dt_s, after;
    storm_status status = STORM_OK;
    for (int k = 0; k < 50 && status >= 0; k++) {
        double middle = 0.5 * (low + high);
        status = principle_after(imc, c, middle, &after);
        if (after > c->top_kev)
            high = middle;
        else
            low = middle;
    }
    *dt_out = low > 0.0 ? low : high;
    return status;
}

/* ---- all cells ---------------------------------------------------------- */

/* Incoming from walls. */
static void principle_walls(struct storm_imc *imc)
{
    struct imc_principle *p = &imc->principle;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        p->coming[i] = p->around[i] = 0.0;
    for (size_t k = 0; k < p->n_hot; k++) {
        double t = imc_edge_hottest(imc, p->hot[k].wall, p->hot[k].edge);
        double t4 = (t * t) * (t * t);
        storm_cell_idx i = p->hot[k].cell;
        p->coming[i] += t4 * p->hot[k].flux;
        p->around[i] = fmax(p->around[i], t4);
    }
}

/* Fills what is said of a cell, but for its id; nothing if its matter cannot
 * answer. */
static void principle_describe(struct storm_imc *imc, storm_cell_idx cell,
                               double row_out[5])
{
    struct principle_cell c;
    double after, longest;
    (void)principle_inspect(imc, cell, &c);
    imc_block_fill(imc, imc->material[cell], &cell, 1);
    storm_status status = principle_ask_capacity(imc);
    if (status >= 0) {
        principle_heat(imc, imc->matter.block.value[0], &c);
        status = principle_after(imc, &c, imc->dt_s, &after);
    }
    if (status >= 0)
        status = principle_longest(imc, &c, &longest);
    if (status < 0) {
        imc_fault_drop(imc);
        return;
    }
    row_out[1] = c.top_kev;
    row_out[2] = imc->temperature[cell];
    row_out[3] = after;
    row_out[4] = longest;
}

/* Rank 0 logs the warning. Of equal cells, the one with the highest id. */
static storm_status principle_warn(struct storm_imc *imc,
                                   const struct storm_step *step, double worst)
{
    /* id, hottest around, now, after, the longest step: of one rank */
    double worst_row[5] = {-1.0, -1.0, -1.0, -1.0, -1.0};
    storm_cell_idx cell = imc->principle.worst_cell;
    bool here = imc->principle.worst == worst && cell >= 0;
    if (here)
        worst_row[0] = (double)storm_mesh_cell_id(imc->mesh, cell);
    double id = worst_row[0];
    storm_status status =
        storm_context_reduce(imc->context, &id, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    if (here && worst_row[0] == id)
        principle_describe(imc, cell, worst_row);
    status =
        storm_context_reduce(imc->context, worst_row, 5, MPI_DOUBLE, MPI_MAX);
    imc->warned_principle = status == STORM_OK && worst_row[4] >= 0.0;
    if (imc->warned_principle && imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "a step of %.3g s is too long in cell %.0f (step "
                        "%" PRIu64 "): its matter, at %.3g keV, could reach "
                        "%.3g keV, more than the %.3g keV around it; %.2g s "
                        "is safe there (maximum principle; logged once)",
                        imc->dt_s, id, storm_step_number(step), worst_row[2],
                        worst_row[3], worst_row[1], worst_row[4]);
    return status;
}

storm_status imc_principle_check(struct storm_imc *imc,
                                 const struct storm_step *step)
{
    /* It is known for matter at rest. */
    if (imc->warned_principle || imc->problem->emit_per_cell == 0 ||
        imc->problem->motion)
        return STORM_OK;
    struct imc_principle *p = &imc->principle;
    p->worst = 0.0;
    p->worst_cell = -1;
    principle_walls(imc);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        struct principle_cell c;
        p->is_open[i] = principle_inspect(imc, i, &c);
    }
    (void)imc_matter_each(imc, p->is_open, principle_block);
    double worst = p->worst;
    storm_status status =
        storm_context_reduce(imc->context, &worst, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0 || !(worst > principle_room))
        return status;
    return principle_warn(imc, step, worst);
}
