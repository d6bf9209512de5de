/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/imc_accounts.h
 * Implicit Monte Carlo: accounts of energy, what came and went in a step, and
 * the hash of the state. All sums are exact: the same bits on any number of
 * ranks.
 *
 * Lifecycle  calls on an object of storm/imc.h, which includes this header.
 * Ownership  arrays and structs are the caller's.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_IMC_ACCOUNTS_H
#define STORM_IMC_ACCOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_engine; /* opaque, storm/engine.h */
struct storm_imc;    /* opaque, storm/imc.h */

/**
 * Energy accounts of the whole run so far, in exact sums over all ranks.
 * Collective, blocks.
 *
 * @param[out] energy_erg_out  created, absorbed, escaped, now at census
 * @param[out] error_out  relative error of created = absorbed + escaped +
 *                        census
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_balance(struct storm_imc *imc, struct storm_engine *engine,
                  double energy_erg_out[4], double *error_out);

/** How packets have crossed cells. */
typedef enum storm_imc_method {
    STORM_IMC_FLOWN = 0, /**< from collision to collision */
    STORM_IMC_WALKED,    /**< random walks within cells */
    STORM_IMC_DIFFUSED   /**< hops between cells */
} storm_imc_method;
enum { STORM_IMC_METHODS = 3 };

struct storm_imc_share {
    double energy;    /**< its part of all energy times time, 0 .. 1 */
    uint64_t events;  /**< since the object was made */
    uint64_t packets; /**< at rest now; none walks then */
};

/**
 * The shares of the methods since the object was made. Collective, blocks;
 * between steps.
 *
 * @param[out] shares_out  STORM_IMC_METHODS of them
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_shares(struct storm_imc *imc, struct storm_engine *engine,
                 struct storm_imc_share *shares_out);

/** What came and went in a step, by where. */
typedef enum storm_imc_flow_kind {
    STORM_IMC_FLOW_CREATED = 0, /**< by storm_origin; BOUNDARY: by blackbody
                                     walls and planes */
    STORM_IMC_FLOW_ABSORBED,    /**< by material; the last is of cells without
                                     one */
    STORM_IMC_FLOW_ESCAPED      /**< by wall or boundary; the last is of regions
                                     outside, of blackbody planes, and of
                                     positions out of a mesh that has moved */
} storm_imc_flow_kind;
enum { STORM_IMC_FLOW_KINDS = 3 };

/** One of them. */
struct storm_imc_flow {
    double energy_erg;
    uint64_t packets; /**< 0 for ABSORBED: most absorb bit by bit */
};

/** How many there are of a kind. Local. */
STORM_API size_t storm_imc_n_flows(const struct storm_imc *imc,
                                   storm_imc_flow_kind kind);

/**
 * Flows of the last step, in exact sums over all ranks; those of the first step
 * have the initial radiation, too. What storm_imc_follow and storm_imc_escape
 * book is added to those of the step before. Zero after a state was loaded.
 * Collective, blocks; between steps.
 *
 * @param[out] flows_out  storm_imc_n_flows of them
 * @retval STORM_ERR_ARG     no such kind
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank has no memory
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_flows(struct storm_imc *imc, storm_imc_flow_kind kind,
                struct storm_imc_flow *flows_out);

/** Energies of the whole run so far, erg. */
struct storm_imc_energies {
    size_t size;          /**< of this struct: STORM_IMC_ENERGIES_INIT */
    double matter_erg;    /**< of all matter, now */
    double radiation_erg; /**< of all packets, now */
    double start_erg;     /**< of both, at the start */
    double walls_erg;     /**< emitted by walls */
    double sources_erg;   /**< emitted by sources */
    double user_erg;      /**< of packets that the host has added, and gains at
                               its walls (storm/imc_user.h) */
    double escaped_erg;
    double host_erg; /**< that the host has added to matter, less what it has
                          taken */
    double held_erg; /**< from matter of constant temperature: emitted by it,
                          less what it has absorbed */
    double error;    /**< relative, of matter + radiation = start + walls +
                          sources + user + host + held - escaped - work */
    double work_erg; /**< by radiation on matter that moves: what matter has
                          gained beyond heat */
};
#define STORM_IMC_ENERGIES_INIT STORM_INIT(struct storm_imc_energies)

/**
 * Balance of the energy of matter and radiation together, from exact sums over
 * all cells, packets and ranks. With matter_by_host, the host's account is what
 * it has set, less what matter has gained by radiation: 0 if it has done with
 * matter what a step would have done. Collective, blocks; between steps.
 *
 * @retval STORM_ERR_ARG     @p energies_out does not begin with
 *                           STORM_IMC_ENERGIES_INIT
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_energy(struct storm_imc *imc, struct storm_engine *engine,
                 struct storm_imc_energies *energies_out);

/** Momenta of the whole run so far, g cm/s. */
struct storm_imc_momenta {
    size_t size;         /**< of this struct: STORM_IMC_MOMENTA_INIT */
    double created[3];   /**< with packets of sources, walls, the start, the
                              host */
    double matter[3];    /**< given to matter, less that of what it emitted */
    double escaped[3];   /**< with packets that have left */
    double walls[3];     /**< given to walls that send packets back */
    double control[3];   /**< taken between steps: by the comb, by a host */
    double radiation[3]; /**< of all packets, now */
    double error;        /**< of created = the sum of the others, over the
                              largest account of storm_imc_balance / c */
};
#define STORM_IMC_MOMENTA_INIT STORM_INIT(struct storm_imc_momenta)

/**
 * Balance of momentum with problem.motion, from exact sums over all cells,
 * packets and ranks. Collective, blocks; between steps.
 *
 * @retval STORM_ERR_ARG     without problem.motion, or @p momenta_out does not
 *                           begin with STORM_IMC_MOMENTA_INIT
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_momentum(struct storm_imc *imc, struct storm_engine *engine,
                   struct storm_imc_momenta *momenta_out);

/**
 * Hash of all cell fields and all packets; equal for any number of ranks,
 * backend, partition and order of arrival. Collective, blocks; between steps.
 *
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_hash(struct storm_imc *imc, struct storm_engine *engine,
               uint64_t *hash_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_IMC_ACCOUNTS_H */
