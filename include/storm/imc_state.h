/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/imc_state.h
 * Implicit Monte Carlo: the state, to be saved and loaded by a host.
 *
 * Lifecycle  calls on an object of storm/imc.h, which includes this header.
 * Ownership  arrays are the caller's.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_IMC_STATE_H
#define STORM_IMC_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_imc; /* opaque, storm/imc.h */

/**
 * @name State: what a host saves to restart later, with the same bits, on any
 * number of ranks.
 *
 * The state is a row of numbers for each cell, by id of the cell, and accounts
 * of the whole run. Packets are the engine's: save the records of
 * storm_engine_packets.
 *
 * To restart, load the state into a newly created object, and do not call
 * storm_imc_start. Add each packet with storm_engine_add on exactly one rank,
 * any. Then call storm_engine_set_step and storm_imc_set_step, and continue.
 * The mesh may change before the first step (storm_remap).
 */
/** @{ */

/** Sizes of the state. */
struct storm_imc_layout {
    size_t size;          /**< of this struct: STORM_IMC_LAYOUT_INIT */
    uint64_t version;     /**< of the meaning of the numbers */
    size_t cell_values;   /**< doubles for each cell */
    size_t n_accounts;    /**< of all ranks together */
    size_t account_words; /**< int64_t for each account */
};
#define STORM_IMC_LAYOUT_INIT STORM_INIT(struct storm_imc_layout)

/** The present layout. Where density, composition, emission or materials of
 *  cells may differ from those of the problem, it has another version, with
 *  these. Local. STORM_ERR_ARG: @p layout_out does not begin with
 *  STORM_IMC_LAYOUT_INIT. */
STORM_API storm_status
storm_imc_state_layout(const struct storm_imc *imc,
                       struct storm_imc_layout *layout_out);

/** cell_values of a version; 0: there is no such version. Local. */
STORM_API size_t storm_imc_state_values(uint64_t version);
/** n_accounts of a version; the same. */
STORM_API size_t storm_imc_state_accounts(uint64_t version);

/**
 * Save the state. Collective, blocks; between steps.
 *
 * @param[out] cells_out     cell_values for each local cell, in order
 * @param[out] accounts_out  n_accounts * account_words, the same on every rank
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_save_state(struct storm_imc *imc, double *cells_out,
                     int64_t *accounts_out);

/**
 * Load a saved state. Mesh, materials and groups must be the same: the caller
 * makes sure. Between steps, on every rank; local for version 1, collective for
 * others, with the errors of MPI. Versions 1 and 2, of older programs, have
 * neither densities nor all accounts: storm_imc_energy then begins anew.
 *
 * @param version   of the layout it was saved with
 * @param cells     of the local cells, in order
 * @param accounts  on rank 0; elsewhere ignored, and may be NULL
 * @retval STORM_ERR_NOSUP  another version; nothing has changed
 * @retval STORM_ERR_ARG    a value is negative, not finite or no material
 *                          (logged); nothing has changed
 * @retval STORM_ERR_STATE  the mesh has changed (logged), or called from
 *                          a callback
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_load_state(struct storm_imc *imc, uint64_t version,
                     const double *cells, const int64_t *accounts);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_IMC_STATE_H */
