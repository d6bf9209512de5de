/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo: the state of the cells as rows of numbers. */
#include <string.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"

enum { STATE_LEDGER_WORDS = sizeof(struct storm_ledger) / sizeof(int64_t) };
_Static_assert(STATE_LEDGER_WORDS * sizeof(int64_t) ==
                   sizeof(struct storm_ledger),
               "a ledger is whole words");

/*
 * Versions of the meaning of the numbers. Those of older programs, which have
 * fewer accounts: cells that have their material from the problem, and those
 * that have brought it along. Those that are saved: with all accounts, and with
 * what a host may set; the number of components is above the lowest bits; and
 * with velocities and momenta.
 */
enum {
    STATE_AT_REST = 1,
    STATE_MOVED = 2,
    STATE_ALL = 3,
    STATE_SET = 4,
    STATE_MOTION = 5
};
enum { STATE_COMPONENT_BITS = 8 };
/* Accounts of momentum, and of what packets have. */
enum { STATE_MOMENTA = 3 * (IMC_PUSH_ACCOUNTS + 1) };

/* A row, as far as a version has it; components of the composition follow. */
enum {
    STATE_TEMPERATURE,
    STATE_ENERGY,
    STATE_RADIATION,
    STATE_MATERIAL, /* but AT_REST */
    STATE_DENSITY,  /* SET alone, and all that follows */
    STATE_EMISSION,
    STATE_COMPOSITION
};
_Static_assert((int)IMC_STATE_VALUES == (int)STATE_MATERIAL,
               "and the material");

static uint64_t state_version(const struct storm_imc *imc)
{
    uint64_t parts = (uint64_t)imc->problem->n_components
                     << STATE_COMPONENT_BITS;
    if (imc->velocity != NULL)
        return STATE_MOTION | parts;
    return imc->has_more ? STATE_SET | parts : STATE_ALL;
}

/* Without the number of components. */
static uint64_t state_kind(uint64_t version)
{
    return version & ((1u << STATE_COMPONENT_BITS) - 1);
}

/* Components of the composition, and behind them those of the velocity. */
static double *state_part(const struct storm_imc *imc, size_t i, size_t k)
{
    size_t n_parts = imc->problem->n_components;
    return k < n_parts
               ? &imc->composition[k * (size_t)imc->n_cells + i]
               : imc_velocity(imc, (storm_cell_idx)i, (int)(k - n_parts));
}

static void state_get(const struct storm_imc *imc, double *rows_out)
{
    uint64_t version = state_version(imc);
    size_t n = storm_imc_state_values(version), n_cells = (size_t)imc->n_cells;
    for (size_t i = 0; i < n_cells; i++) {
        double *row = &rows_out[n * i];
        row[STATE_TEMPERATURE] = imc->temperature[i];
        row[STATE_ENERGY] = imc->energy[i];
        row[STATE_RADIATION] = imc->radiation[i];
        row[STATE_MATERIAL] = imc->material[i];
        if (state_kind(version) < STATE_SET)
            continue;
        row[STATE_DENSITY] = imc->density[i];
        row[STATE_EMISSION] = imc->emission[i];
        for (size_t k = STATE_COMPOSITION; k < n; k++)
            row[k] = *state_part(imc, i, k - STATE_COMPOSITION);
    }
}

static void state_set(struct storm_imc *imc, uint64_t version,
                      const double *rows)
{
    size_t n = storm_imc_state_values(version), n_cells = (size_t)imc->n_cells;
    for (size_t i = 0; i < n_cells; i++) {
        const double *row = &rows[n * i];
        imc->temperature[i] = row[STATE_TEMPERATURE];
        imc->energy[i] = row[STATE_ENERGY];
        imc->radiation[i] = row[STATE_RADIATION];
        if (version == STATE_AT_REST)
            continue;
        imc->material[i] = (int)row[STATE_MATERIAL];
        imc->track.cells[i].outside = imc->material[i] == STORM_OUTSIDE;
        imc_cells_fill(imc, (storm_cell_idx)i);
        if (state_kind(version) < STATE_SET)
            continue;
        imc->density[i] = row[STATE_DENSITY];
        imc->emission[i] = row[STATE_EMISSION];
        for (size_t k = STATE_COMPOSITION; k < n; k++)
            *state_part(imc, i, k - STATE_COMPOSITION) = row[k];
    }
}

/* Versions of older programs have fewer: the energy of matter is that of the
 * start then. */
static void state_set_accounts(struct storm_imc *imc, uint64_t version,
                               const int64_t *accounts)
{
    memset(imc->account, 0, sizeof imc->account);
    memset(imc->more, 0, sizeof imc->more);
    memset(imc->momentum, 0, sizeof imc->momentum);
    memset(imc->rested, 0, sizeof imc->rested);
    bool has_all = version >= STATE_ALL;
    bool moves = state_kind(version) == STATE_MOTION;
    for (storm_cell_idx i = 0; i < imc->n_cells && !has_all; i++)
        storm_ledger_add(&imc->more[IMC_MATTER], imc_cell_erg(imc, i));
    if (imc->env->rank != 0) /* they are sums over all ranks */
        return;
    const int64_t *more = accounts + STORM_LEDGER_ACCOUNTS * STATE_LEDGER_WORDS;
    memcpy(imc->account, accounts, sizeof imc->account);
    if (has_all)
        memcpy(imc->more, more,
               moves ? sizeof imc->more
                     : IMC_OLD_ACCOUNTS * sizeof imc->more[0]);
    if (!moves)
        return;
    const int64_t *momenta = more + IMC_ACCOUNTS * STATE_LEDGER_WORDS;
    memcpy(imc->momentum, momenta, sizeof imc->momentum);
    memcpy(imc->rested, momenta + 3 * IMC_PUSH_ACCOUNTS * STATE_LEDGER_WORDS,
           sizeof imc->rested);
}

/* ---- public ------------------------------------------------------------- */

size_t storm_imc_state_values(uint64_t version)
{
    size_t n = (size_t)(version >> STATE_COMPONENT_BITS);
    if (state_kind(version) == STATE_SET)
        return STATE_COMPOSITION + n;
    if (state_kind(version) == STATE_MOTION)
        return STATE_COMPOSITION + n + 3;
    return version == STATE_AT_REST                         ? STATE_MATERIAL
           : version == STATE_MOVED || version == STATE_ALL ? STATE_DENSITY
                                                            : 0;
}

size_t storm_imc_state_accounts(uint64_t version)
{
    if (storm_imc_state_values(version) == 0)
        return 0;
    if (state_kind(version) == STATE_MOTION)
        return STORM_LEDGER_ACCOUNTS + IMC_ACCOUNTS + STATE_MOMENTA;
    return version < STATE_ALL ? STORM_LEDGER_ACCOUNTS
                               : STORM_LEDGER_ACCOUNTS + IMC_OLD_ACCOUNTS;
}

storm_status storm_imc_state_layout(const struct storm_imc *imc,
                                    struct storm_imc_layout *layout_out)
{
    const struct storm_imc_layout layout = {
        .size = sizeof layout,
        .version = state_version(imc),
        .cell_values = storm_imc_state_values(state_version(imc)),
        .n_accounts = storm_imc_state_accounts(state_version(imc)),
        .account_words = STATE_LEDGER_WORDS,
    };
    return storm_sized_write(&layout, sizeof layout, layout_out);
}

static storm_status state_save_momenta(struct storm_imc *imc, int64_t *out)
{
    struct storm_ledger sum[STATE_MOMENTA];
    storm_status status =
        storm_ledger_sum(&imc->momentum[0][0], 3 * IMC_PUSH_ACCOUNTS,
                         imc->context, sum);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->rested, 3, imc->context,
                                  &sum[3 * IMC_PUSH_ACCOUNTS]);
    if (status == STORM_OK)
        memcpy(out, sum, sizeof sum);
    return status;
}

storm_status storm_imc_save_state(struct storm_imc *imc, double *cells_out,
                                  int64_t *accounts_out)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS], more[IMC_ACCOUNTS];
    storm_status status = imc_check(imc);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->account, STORM_LEDGER_ACCOUNTS,
                                  imc->context, sum);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->more, IMC_ACCOUNTS, imc->context, more);
    if (status < 0)
        return status;
    memcpy(accounts_out, sum, sizeof sum);
    accounts_out += STORM_LEDGER_ACCOUNTS * STATE_LEDGER_WORDS;
    memcpy(accounts_out, more,
           imc->velocity != NULL ? sizeof more
                                 : IMC_OLD_ACCOUNTS * sizeof more[0]);
    if (imc->velocity != NULL)
        status = state_save_momenta(imc, accounts_out +
                                             IMC_ACCOUNTS * STATE_LEDGER_WORDS);
    if (status < 0)
        return status;
    state_get(imc, cells_out);
    return STORM_OK;
}

static bool state_is_good(const struct storm_imc *imc, size_t k, double value)
{
    if (k == STATE_MATERIAL)
        return value >= STORM_OUTSIDE &&
               value <= (double)imc->problem->n_materials &&
               value == (double)(int)value;
    if (k >= STATE_COMPOSITION + imc->problem->n_components)
        return true; /* three together: state_check_velocity */
    return value >= 0.0 && value <= STORM_UNLIMITED &&
           !(k == STATE_DENSITY && value == 0.0);
}

static storm_status state_check_velocities(const struct storm_imc *imc,
                                           size_t n, const double *cells)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        const double *v = &cells[n * (size_t)i + n - 3];
        if (imc_motion_is_slow(v, imc->problem->light_cm_s))
            continue;
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "storm_imc_load_state: expected velocities below that "
                        "of light, got (%g, %g, %g) cm/s of local cell %d",
                        v[0], v[1], v[2], i);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

static storm_status state_check(const struct storm_imc *imc, uint64_t version,
                                const double *cells)
{
    size_t n = storm_imc_state_values(version);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (size_t k = 0; k < n; k++) {
            double value = cells[n * (size_t)i + k];
            if (state_is_good(imc, k, value))
                continue;
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "storm_imc_load_state: expected %s, got %g as "
                            "value %zu of local cell %d",
                            k == STATE_MATERIAL ? "a material"
                                                : "numbers from 0",
                            value, k, i);
            return STORM_ERR_ARG;
        }
    return imc->velocity != NULL ? state_check_velocities(imc, n, cells)
                                 : STORM_OK;
}

storm_status storm_imc_load_state(struct storm_imc *imc, uint64_t version,
                                  const double *cells, const int64_t *accounts)
{
    if (storm_imc_state_values(version) == 0 ||
        (state_kind(version) == STATE_MOTION) != (imc->velocity != NULL) ||
        (state_kind(version) >= STATE_SET &&
         version >> STATE_COMPONENT_BITS != imc->problem->n_components))
        return STORM_ERR_NOSUP;
    storm_status status = imc->in_step ? STORM_ERR_STATE : imc_check(imc);
    if (status == STORM_OK)
        status = state_check(imc, version, cells);
    if (version != STATE_AT_REST)
        status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    const size_t bytes = (size_t)imc->n_cells * sizeof(double);
    state_set(imc, version, cells);
    imc->is_counting = true;
    memset(imc->deposited, 0, bytes);
    memset(imc->emitted, 0, bytes);
    imc_flows_clear(imc);
    imc_moments_clear(imc);
    imc->matter.deferred = STORM_OK; /* of the state before */
    state_set_accounts(imc, version, accounts);
    imc->has_begun = true;
    imc->has_step = false;
    imc->has_more = imc->has_more || state_kind(version) >= STATE_SET;
    return version == STATE_AT_REST ? STORM_OK : imc_cells_finish(imc);
}
