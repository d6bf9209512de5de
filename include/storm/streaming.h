/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/streaming.h
 * Bundled physics for free-streaming packets on a mesh: emission, tracking,
 * walls, an exact path-length tally, and population control by comb.
 *
 * The objects here fill the interfaces of storm/engine.h for struct
 * storm_packet. Create, attach to an engine, run steps, destroy after it.
 * Mesh: after a change (storm/change.h) the object follows in the next step;
 * until then results of the last step are invalid: STORM_ERR_STATE (logged).
 * Threads: one thread at a time per object.
 */
#ifndef STORM_STREAMING_H
#define STORM_STREAMING_H

#include <stddef.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/mesh.h>
#include <storm/packet.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context;   /* opaque, storm/context.h */
struct storm_streaming; /* opaque */
struct storm_comb;      /* opaque */

/** Sums of the path tally; OFF and DOUBLE measure the cost of EXACT. */
typedef enum storm_tally_kind {
    STORM_TALLY_EXACT = 0, /**< order-independent, the default */
    STORM_TALLY_DOUBLE,    /**< plain doubles: bits depend on the order */
    STORM_TALLY_OFF
} storm_tally_kind;

/** Zero in a field means "choose for me". Copied by create. */
struct storm_streaming_params {
    size_t size; /**< of this struct: STORM_STREAMING_PARAMS_INIT */
    uint64_t seed;
    double speed_cm_s;          /**< finite, not negative; 0: that of light */
    double dt_s;                /**< required: length of a step, above 0; a
                                     path of dt at this speed is finite */
    uint64_t emit_per_cell;     /**< new packets per cell and step, below
                                     2^40 */
    double emit_energy_erg_cm3; /**< energy they share, per volume: finite, not
                                     negative; 0: 1 */
    storm_wall_kind walls[STORM_N_WALLS]; /**< VACUUM: packets escape; REFLECT
                                               is part of tracking; periodic
                                               walls belong to the mesh */
    storm_tally_kind tally;
    const storm_wall_kind *boundaries; /**< of a given mesh, by number, in place
                                            of walls; NULL: walls are its first,
                                            others are VACUUM */
    size_t n_boundaries;               /**< as many as the mesh has */
};
#define STORM_STREAMING_PARAMS_INIT STORM_INIT(struct storm_streaming_params)

/**
 * Free streaming on @p mesh, which must outlive it.
 *
 * Local, with the same params on every rank.
 * @param[out] streaming_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG    a value out of its range, or no
 *                          STORM_STREAMING_PARAMS_INIT (logged)
 * @retval STORM_ERR_NOSUP  no tracking for this kind of mesh, or a field is set
 *                          that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 */
STORM_API STORM_MUST_CHECK storm_status
storm_streaming_create(struct storm_context *context,
                       const struct storm_mesh *mesh,
                       const struct storm_streaming_params *params,
                       struct storm_streaming **streaming_out);

/** Release. Local. NULL is allowed. */
STORM_API void storm_streaming_destroy(struct storm_streaming *streaming);

/** Make this physics and boundary of @p engine, whose records are struct
 *  storm_packet; the engine borrows @p streaming. Local, on every rank.
 *  STORM_ERR_ARG: the engine has other records (logged). STORM_ERR_STATE:
 *  called from a callback. */
STORM_API STORM_MUST_CHECK storm_status
storm_streaming_attach(struct storm_streaming *streaming,
                       struct storm_engine *engine);

/**
 * Add a packet to @p engine between steps and count its energy as created.
 * Local. Its `cell` must be set and may belong to any rank: the packet is sent
 * there in the next step, which also sets time_left_s and cell_idx.
 *
 * @retval STORM_ERR_ARG    no such cell, a weight that is negative or not
 *                          finite, a position that is not finite, or a
 *                          direction whose length is not 1 to 1e-6
 * @retval STORM_ERR_STATE  called from a callback
 * @retval STORM_ERR_NOMEM
 */
STORM_API STORM_MUST_CHECK storm_status
storm_streaming_add(struct storm_streaming *streaming,
                    struct storm_engine *engine,
                    const struct storm_packet *packet);

/** Count energy as absorbed in a cell. Local. Fits the `remainder` of struct
 *  storm_comb_params, with @p streaming for `remainder_self`. */
STORM_API void storm_streaming_deposit(void *streaming, storm_cell_idx cell,
                                       double weight_erg);

/** Count a packet as escaped. Local. Fits `apply` of the struct storm_boundary
 *  that storm_remap takes, with @p streaming for `self`. */
STORM_API void storm_streaming_escape(void *streaming, struct storm_step *step,
                                      void *packet,
                                      struct storm_outcome *outcome_out);

/** Path-length tally of the last step: for each local cell the sum of weight
 *  times path over volume and dt: mean energy density times speed, as doubles.
 *  Borrowed, valid until the next step. NULL (logged) if the mesh has
 *  changed since the last step. */
STORM_API const double *
storm_streaming_energy_density(const struct storm_streaming *streaming);

/**
 * Energy accounts of the whole run so far, in exact sums over all ranks.
 * Collective, blocks.
 *
 * @param[out] energy_erg_out  created, absorbed, escaped, now at census
 * @param[out] error_out  relative error of created = absorbed + escaped +
 *                        census
 * @retval STORM_ERR_STATE   the mesh has changed since the last step
 *                           (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_streaming_balance(struct storm_streaming *streaming,
                        struct storm_engine *engine, double energy_erg_out[4],
                        double *error_out);

/**
 * Hash of all cell fields and all packets; equal for any number of ranks,
 * backend, partition and order of arrival. Collective, blocks; between steps.
 *
 * @retval STORM_ERR_STATE   the mesh has changed since the last step
 *                           (logged)
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_streaming_hash(const struct storm_streaming *streaming,
                     struct storm_engine *engine, uint64_t *hash_out);

/** Comb: the packets of a cell with more than n_max are merged down to n_max,
 *  those of a cell with fewer than n_min are split up to n_min. Zero: never. */
struct storm_comb_params {
    size_t size; /**< of this struct: STORM_COMB_PARAMS_INIT */
    uint64_t seed;
    uint64_t n_min, n_max;
    /** Receives the rounding remainder of the weight of a merged cell, of
     *  either sign and maybe in several calls that add up to it exactly. NULL:
     *  it is lost (storm_streaming_deposit counts it). */
    void (*remainder)(void *self, storm_cell_idx cell, double weight_erg);
    void *remainder_self;
    /** n_max of a cell in this step, at least n_min, the same on any rank.
     *  NULL: n_max for all cells. */
    uint64_t (*limit)(void *self, storm_cell_idx cell);
    void *limit_self;
};
#define STORM_COMB_PARAMS_INIT STORM_INIT(struct storm_comb_params)

/**
 * The comb for struct storm_packet. The packets of a cell are ordered by id
 * first: the result does not depend on the order of arrival. The total
 * weight of a cell is conserved to one rounding. Local.
 *
 * @param[out] comb_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG    n_min > n_max > 0, or no STORM_COMB_PARAMS_INIT
 *                          (logged)
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 */
STORM_API STORM_MUST_CHECK storm_status
storm_comb_create(struct storm_context *context,
                  const struct storm_comb_params *params,
                  struct storm_comb **comb_out);
/** Release. Local. NULL is allowed. */
STORM_API void storm_comb_destroy(struct storm_comb *comb);
/** Make this the population control of @p engine, whose records are struct
 *  storm_packet; the engine borrows @p comb. Local, on every rank.
 *  STORM_ERR_ARG: the engine has other records (logged). STORM_ERR_STATE:
 *  called from a callback. */
STORM_API STORM_MUST_CHECK storm_status
storm_comb_attach(struct storm_comb *comb, struct storm_engine *engine);

#ifdef __cplusplus
}
#endif
#endif /* STORM_STREAMING_H */
