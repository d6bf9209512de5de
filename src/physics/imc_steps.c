/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a step has changed: the length of the next one, and whether its heating
 * can be trusted.
 *
 *   STEPS-1  Only the last step, maxima and exact sums enter: the same bits on
 *            any number of ranks, and after a restart, as the length of the
 *            next step is known when the state is saved.
 *   STEPS-2  A cell counts as far as its gain is above steps_errors standard
 *            errors: else the noise of many cells, of which one is always far
 *            off, would shorten steps until it is small itself.
 *   STEPS-3  A step that was shortened to end at some time does not make the
 *            steps after it shorter, unless it has changed too much.
 */
#include <math.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/imc.h"
#include "physics/imc_ddmc.h"

static const char steps_label[] = "imc steps";

static const double steps_errors = 3.0;
/* Of the energy of matter and radiation: less radiation than that does not
 * decide. */
static const double steps_radiation = 0.1;

/* Cells at a front, eq. (S3): they heat, and T^4 is by this factor below that
 * around them after the step. They are stiff below this Fleck factor if their
 * energy grows by that factor. */
static const double steps_cold = 16.0;
static const double steps_fleck = 0.01, steps_jump = 2.0;

/* Mean paths of absorption until a packet is gone: it loses all but a hundredth
 * of its weight bit by bit, and that at once. */
static const double steps_absorbed = 5.6;

/* Collisions of a packet before it is so deep in a cell that it walks. */
static const double steps_walk = 50.0;

/* ---- a cell ------------------------------------------------------------- */

/* Ends of a packet's stay in a cell, per collision there: it has been absorbed,
 * has diffused out, or the step ends. */
static double steps_ends(const struct storm_imc *imc, storm_cell_idx i,
                         double absorb, double scatter)
{
    const double *half = &imc->half[3 * (size_t)i];
    double sigma = absorb + scatter;
    double depth = 2.0 * sigma * fmin(half[0], fmin(half[1], half[2]));
    if (!(depth > 0.0))
        return INFINITY;
    return absorb / (steps_absorbed * sigma) + 1.0 / (depth + depth * depth) +
           1.0 / (sigma * imc->track.light_cm_s * imc->dt_s);
}

/* Collisions of a packet that stays as long as one can. With groups, each draws
 * a new one from what the cell emits. */
static double steps_collisions(const struct storm_imc *imc, storm_cell_idx i)
{
    size_t n = (size_t)imc->problem->n_groups;
    const struct imc_cell *cell = &imc->track.cells[i];
    double stay = 0.0, below = 0.0;
    if (imc->ddmc.cells != NULL && imc->ddmc.cells[i].is_in)
        return 1.0; /* it hops */
    if (n == 1)
        stay = 1.0 / (1.0 + steps_ends(imc, i, cell->absorb, cell->scatter));
    for (size_t g = 0; g < n && n > 1; g++) {
        const struct imc_opacity *o = &imc->opacity[(size_t)i * n + g];
        double share = imc->spectrum[(size_t)i * n + g] - below;
        below += share;
        stay += share / (1.0 + steps_ends(imc, i, o->absorb, o->scatter));
    }
    double collisions = stay / (1.0 - fmin(stay, 1.0 - 0x1p-52));
    return imc->walk != NULL ? fmin(collisions, steps_walk) : collisions;
}

/* Packets that the deposit of a cell rests on, about: eq. (S2). */
static double steps_packets(const struct storm_imc *imc, storm_cell_idx i)
{
    return (double)imc->track.cells[i].events /
           (1.0 + steps_collisions(imc, i));
}

/* Energy densities of a cell before and after the step. */
static void steps_energies(const struct storm_imc *imc, storm_cell_idx i,
                           double *before_out, double *after_out)
{
    double gain =
        (imc_heated_erg(imc, i) - imc->emitted[i]) / imc_proper_cm3(imc, i);
    double now = imc->energy[i];
    bool is_added = !imc->problem->matter_by_host;
    *before_out = is_added ? fmax(now - gain, 0.0) : now;
    *after_out = is_added ? now : fmax(now + gain, 0.0);
}

/* ---- changes ------------------------------------------------------------ */

/* What the changes of all cells are made of. */
struct steps_max {
    double change;
    storm_cell_id cell;
};

/* The largest energy densities of materials, on all ranks. */
static storm_status steps_floors(const struct storm_imc *imc, double *floors)
{
    size_t n = imc->problem->n_materials;
    for (size_t m = 0; m < n; m++)
        floors[m] = 0.0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        double before, after;
        if (!imc_is_warm(imc, imc->material[i]))
            continue;
        steps_energies(imc, i, &before, &after);
        double *floor = &floors[imc->material[i]];
        *floor = fmax(*floor, fmax(before, after));
    }
    return n > 0 ? storm_context_reduce(imc->context, floors, (int)n,
                                        MPI_DOUBLE, MPI_MAX)
                 : STORM_OK;
}

/* Eq. (S1), STEPS-2. */
static double steps_change(const struct storm_imc *imc, storm_cell_idx i,
                           double floor)
{
    double before, after, packets = steps_packets(imc, i);
    steps_energies(imc, i, &before, &after);
    double energy = fmax(fmax(before, after), floor);
    double gain = fabs(imc_heated_erg(imc, i) - imc->emitted[i]);
    double noise = packets > 0.0
                       ? steps_errors * fabs(imc->deposited[i]) / sqrt(packets)
                       : 0.0;
    return energy > 0.0 && gain > noise
               ? (gain - noise) / (imc_proper_cm3(imc, i) * energy)
               : 0.0;
}

/* The cell that has changed most; of equal ones that with the highest id. */
static storm_status steps_matter(const struct storm_imc *imc, double share,
                                 const double *floors,
                                 struct steps_max *max_out)
{
    double max = 0.0;
    int64_t id = -1;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        int m = imc->material[i];
        if (!imc_is_warm(imc, m))
            continue;
        double change = steps_change(imc, i, share * floors[m]);
        if (change > max ||
            (change == max && change > 0.0 && (int64_t)imc->tag[i] > id)) {
            max = change;
            id = (int64_t)imc->tag[i];
        }
    }
    double all = max;
    storm_status status =
        storm_context_reduce(imc->context, &all, 1, MPI_DOUBLE, MPI_MAX);
    if (max < all)
        id = -1;
    if (status == STORM_OK)
        status =
            storm_context_reduce(imc->context, &id, 1, MPI_INT64_T, MPI_MAX);
    max_out->change = all;
    max_out->cell = (storm_cell_id)id;
    return status;
}

/* What the step has added to the radiation, on this rank: created but for that
 * of the start, less absorbed, less escaped. */
static struct storm_ledger steps_added(const struct storm_imc *imc)
{
    const struct imc_flows *flows = &imc->flows;
    struct storm_ledger sum = {.n_since_carry = 0};
    size_t at = 0;
    for (int kind = 0; kind < STORM_IMC_FLOW_KINDS; kind++)
        for (size_t k = 0; k < flows->n[kind]; k++, at++)
            if (kind != STORM_IMC_FLOW_CREATED || k != STORM_ORIGIN_INITIAL)
                storm_ledger_merge(&sum, &flows->flow[at].energy,
                                   kind == STORM_IMC_FLOW_CREATED ? 1 : -1);
    return sum;
}

/* Relative change of the energy of all radiation. */
static storm_status steps_radiation_change(struct storm_imc *imc,
                                           struct storm_engine *engine,
                                           double *change_out)
{
    enum { ADDED, MATTER, CENSUS, N };
    struct storm_ledger mine[N] = {[ADDED] = steps_added(imc)}, sum[N];
    double values[STORM_LEDGER_ACCOUNTS], error;
    storm_status status = storm_census_balance(engine, imc->context,
                                               imc->account, values, &error);
    if (status < 0)
        return status;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        storm_ledger_add(&mine[MATTER], imc_cell_erg(imc, i));
    mine[CENSUS] = imc->account[STORM_LEDGER_CENSUS];
    status = storm_ledger_sum(mine, N, imc->context, sum);
    if (status < 0)
        return status;
    double after = storm_ledger_value(&sum[CENSUS]);
    double added = storm_ledger_value(&sum[ADDED]);
    double all = steps_radiation * (storm_ledger_value(&sum[MATTER]) + after);
    double scale = fmax(fmax(after, after - added), all);
    *change_out = scale > 0.0 ? fabs(added) / scale : 0.0;
    return STORM_OK;
}

/* ---- the next step ------------------------------------------------------ */

/* The caller's, with defaults. Rank 0 logs what is wrong. */
static storm_status steps_read(const struct storm_imc *imc,
                               const struct storm_imc_control *control,
                               struct storm_imc_control *own)
{
    storm_status status = storm_sized_read(imc->env, "storm_imc_next_step",
                                           control, own, sizeof *own);
    if (status < 0)
        return status;
    const struct {
        double *value, otherwise, min, max;
        const char *name;
    } fields[] = {
        {&own->target, 0.1, 0.0, STORM_UNLIMITED, "target"},
        {&own->overshoot, 2.0, 1.0, STORM_UNLIMITED, "overshoot"},
        {&own->floor, 0.1, 0.0, 1.0, "floor"},
        {&own->growth, 1.2, 1.0, STORM_UNLIMITED, "growth"},
        {&own->shrink, 0.5, 0.0, 1.0, "shrink"},
        {&own->min_s, 0.0, 0.0, STORM_UNLIMITED, "min_s"},
        {&own->max_s, STORM_UNLIMITED, own->min_s, STORM_UNLIMITED, "max_s"},
        {&own->planned_s, 0.0, 0.0, STORM_UNLIMITED, "planned_s"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        double *value = fields[i].value;
        if (*value == 0.0)
            *value = fields[i].otherwise;
        if (*value >= fields[i].min && *value <= fields[i].max)
            continue;
        if (imc->env->rank == 0)
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "storm_imc_next_step: expected %s from %g to %g, "
                            "got %g",
                            fields[i].name, fields[i].min, fields[i].max,
                            *value);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* Is there a step to look at, on all ranks? Deposits are those of one.
 * Collective. */
static storm_status steps_check(const struct storm_imc *imc, const char *what)
{
    storm_status status = imc_check(imc);
    int has_step = imc->has_step;
    if (status >= 0) /* on all ranks */
        status =
            storm_context_reduce(imc->context, &has_step, 1, MPI_INT, MPI_MIN);
    if (status < 0 || has_step)
        return status;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "%s: there is no step to look at; call it after "
                        "storm_engine_step, before matter is set or given "
                        "energy",
                        what);
    return STORM_ERR_STATE;
}

/* STEPS-3 */
static double steps_next(const struct storm_imc_control *c, double dt_s,
                         double change)
{
    double planned = fmax(c->planned_s, dt_s);
    double longest = c->planned_s > dt_s ? planned : c->growth * dt_s;
    double next = change > 0.0 ? dt_s * (c->target / change) : longest;
    next = fmin(fmax(next, c->shrink * planned), longest);
    return fmin(fmax(next, c->min_s), c->max_s);
}

storm_status storm_imc_next_step(struct storm_imc *imc,
                                 struct storm_engine *engine,
                                 const struct storm_imc_control *control,
                                 struct storm_imc_change *change_out)
{
    struct storm_memory *memory = imc->env->memory;
    struct storm_imc_control own;
    struct storm_imc_change change = STORM_IMC_CHANGE_INIT;
    struct steps_max max = {0.0, 0};
    double *floors =
        storm_alloc(memory, steps_label,
                    (imc->problem->n_materials + 1) * sizeof *floors);
    storm_status status = steps_check(imc, "storm_imc_next_step");
    if (status == STORM_OK)
        status = steps_read(imc, control, &own);
    if (status == STORM_OK && floors == NULL)
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(imc->context, status);
    if (status == STORM_OK)
        status = steps_floors(imc, floors);
    if (status == STORM_OK)
        status = steps_matter(imc, own.floor, floors, &max);
    if (status == STORM_OK)
        status = steps_radiation_change(imc, engine, &change.radiation);
    storm_free(memory, floors);
    if (status < 0)
        return status;
    change.matter = max.change;
    change.cell = max.cell;
    double largest = fmax(change.matter, change.radiation);
    change.overshoots = largest > own.overshoot * own.target;
    change.next_s = steps_next(&own, imc->dt_s, largest);
    return storm_sized_write(&change, sizeof change, change_out);
}

/* ---- trust -------------------------------------------------------------- */

enum { HEAT_ALL, HEAT_SCARCE, HEAT_SUMS };
enum { CELLS_SCARCE, CELLS_FRONT, CELLS_STIFF, CELLS_COUNTS };

/* The highest T^4 in a cell or at its faces before the step, keV^4. */
static double steps_hottest(const struct storm_imc *imc, storm_cell_idx i)
{
    const struct imc_halo *halo = &imc->halo;
    double hottest = imc_halo_hot(imc, i);
    for (size_t k = halo->first[i]; k < halo->first[i + 1]; k++)
        hottest = fmax(hottest, imc_halo_hot(imc, halo->next[k]));
    return hottest;
}

/* Has a cell that heats still less than half the temperature of what is around
 * it? */
static bool steps_is_front(const struct storm_imc *imc, storm_cell_idx i)
{
    double t2 = imc->temperature[i] * imc->temperature[i];
    double t4 = t2 * t2 * imc->emission[i];
    return steps_cold * t4 < steps_hottest(imc, i);
}

/* Sums and counts of this rank. */
static void steps_heat(const struct storm_imc *imc, storm_cell_idx i,
                       struct storm_ledger *sum, uint64_t *cells)
{
    double before, after, packets = steps_packets(imc, i);
    double gain = imc_heated_erg(imc, i) - imc->emitted[i];
    if (!(gain > 0.0))
        return;
    steps_energies(imc, i, &before, &after);
    bool jumps = after > steps_jump * before;
    storm_ledger_add(&sum[HEAT_ALL], gain);
    if (jumps && packets < STORM_IMC_SCARCE) {
        storm_ledger_add(&sum[HEAT_SCARCE], gain);
        cells[CELLS_SCARCE]++;
    }
    if (!steps_is_front(imc, i))
        return;
    cells[CELLS_FRONT]++;
    cells[CELLS_STIFF] += jumps && imc->fleck[i] < steps_fleck; /* eq. (S3) */
}

storm_status storm_imc_get_heating(struct storm_imc *imc,
                                   struct storm_imc_heating *heating_out)
{
    struct storm_ledger mine[HEAT_SUMS] = {{.n_since_carry = 0}};
    struct storm_ledger sum[HEAT_SUMS];
    uint64_t cells[CELLS_COUNTS] = {0};
    storm_status status = steps_check(imc, "storm_imc_get_heating");
    status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        if (imc_is_warm(imc, imc->material[i]))
            steps_heat(imc, i, mine, cells);
    status = storm_ledger_sum(mine, HEAT_SUMS, imc->context, sum);
    if (status == STORM_OK)
        status = storm_context_reduce(imc->context, cells, CELLS_COUNTS,
                                      MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    const struct storm_imc_heating heating = {
        .size = sizeof heating,
        .heating_erg = storm_ledger_value(&sum[HEAT_ALL]),
        .scarce_erg = storm_ledger_value(&sum[HEAT_SCARCE]),
        .scarce_cells = cells[CELLS_SCARCE],
        .front_cells = cells[CELLS_FRONT],
        .stiff_cells = cells[CELLS_STIFF],
    };
    return storm_sized_write(&heating, sizeof heating, heating_out);
}
