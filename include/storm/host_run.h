/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/host_run.h
 * The bundled physics for a host, stage 5: fields, steps, accounts, the state,
 * and changes of the mesh.
 *
 * Lifecycle  calls on an object of storm/host.h, which includes this header,
 *            after storm_host_begin; what is said there holds here.
 * Ownership  arrays are the caller's and lent for the call.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_HOST_RUN_H
#define STORM_HOST_RUN_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_host; /* opaque, storm/host.h */

/** @name Stage 5: fields. */
/** @{ */

/** Number of cells of this rank; 0 before there is a mesh. Local. */
STORM_API size_t storm_host_n_cells(const struct storm_host *host);

/** Fields of cells, by number. Set: may be set; the others can only be got.
 *  storm/imc.h says what happens to matter when one is set. */
typedef enum storm_host_field {
    STORM_HOST_TEMPERATURE = 0, /**< set; of matter, keV */
    STORM_HOST_HEAT,            /**< set; energy of matter, erg/cm3 */
    STORM_HOST_DENSITY,         /**< set; g/cm3; the energy stays */
    STORM_HOST_MATERIAL,        /**< set; number of a material; the number of
                                     materials: nothing */
    STORM_HOST_EMISSION,        /**< set; factor on what the cell emits */
    STORM_HOST_VELOCITY,        /**< set; x, y, z, cm/s; with "motion" */
    STORM_HOST_RADIATION_START, /**< set, before the first step only; radiation
                                     temperature, keV; that of matter unless it
                                     is set */
    STORM_HOST_ABSORPTION,      /**< set, where materials have it by cell; by
                                     group, 1/cm */
    STORM_HOST_SCATTERING,      /**< the same */
    STORM_HOST_HEAT_CAPACITY,   /**< the same; erg/keV/cm3; the energy stays */
    STORM_HOST_FRAME,           /**< set, not got; x, y, z, cm/s: how cells will
                                     move after the next step; with "motion" and
                                     "diffusion" (storm_imc_set_frame) */

    STORM_HOST_RADIATION = 16, /**< energy density, mean of the step, erg/cm3 */
    STORM_HOST_CENSUS,         /**< the same of the packets now */
    STORM_HOST_ABSORBED,       /**< by matter in the step, erg */
    STORM_HOST_EMITTED,        /**< the same */
    STORM_HOST_PUSH,           /**< x, y, z: momentum that matter has got in the
                                    step, g cm/s. With "motion" at once, else on
                                    request, without that of emission, which is
                                    0 but for chance */
    STORM_HOST_FLUX,           /**< on request; x, y, z, erg/cm2/s */
    STORM_HOST_PRESSURE, /**< on request; xx, yy, zz, xy, yz, zx, erg/cm3 */
    STORM_HOST_GROUPS,   /**< on request; RADIATION by group */
    STORM_HOST_VOLUME,   /**< cm3 */
    STORM_HOST_CENTRE    /**< x, y, z, cm */
} storm_host_field;

/** Name of a field in lower case, such as "temperature"; NULL: there is none of
 *  this number. Numbers are below 64. Local. */
STORM_API const char *storm_host_field_name(int field);
/** Values for each cell; 0: no such field, or no mesh. Local. */
STORM_API size_t storm_host_n_values(const struct storm_host *host, int field);

/** Count PUSH, FLUX, PRESSURE or GROUPS from the next step on. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_request(struct storm_host *host, int field);
/** @p n is the number of values: that of cells times that for each. Nothing
 *  changes after an error. */
STORM_API STORM_MUST_CHECK storm_status storm_host_set(struct storm_host *host,
                                                       int field,
                                                       const double *values,
                                                       size_t n);
STORM_API STORM_MUST_CHECK storm_status storm_host_get(struct storm_host *host,
                                                       int field,
                                                       double *values_out,
                                                       size_t n);

/** Tags of the cells, which name them for good. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_get_tags(struct storm_host *host, uint64_t *tags_out, size_t n);

/** Add energy to the matter of each of @p n cells, erg; negative takes. It is
 *  declared work of the host, too. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_add_heat(struct storm_host *host, const double *erg, size_t n);
/** Declare how much of the change of matter that the host has made or will make
 *  before the next step is its own work on each of @p n cells, erg. Changes
 *  nothing but the account. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_declare_work(struct storm_host *host, const double *erg, size_t n);
/** @} */

/** @name Stage 5: steps and accounts. */
/** @{ */

/** Transport from @p time_s to @p time_s + @p dt_s. After an error other than
 *  STORM_ERR_ARG only destroy is allowed. */
STORM_API STORM_MUST_CHECK storm_status storm_host_step(struct storm_host *host,
                                                        double time_s,
                                                        double dt_s);

/**
 * The length that the next step should have for relative changes of energies of
 * about @p target (0: 0.1), as storm_imc_next_step has it. Right after a step.
 *
 * @retval STORM_ERR_STATE  there was no step, or matter or mesh have changed
 *                          since
 */
STORM_API STORM_MUST_CHECK storm_status
storm_host_next_dt(struct storm_host *host, double target, double *dt_s_out);

/** Energies of the whole run, erg: exact sums over all ranks. */
typedef enum storm_host_energies {
    STORM_HOST_E_MATTER = 0, /**< now */
    STORM_HOST_E_RADIATION,  /**< now */
    STORM_HOST_E_START,      /**< of both, at the start */
    STORM_HOST_E_WALLS,      /**< emitted by walls */
    STORM_HOST_E_OTHERS, /**< with packets that were made by other means: calls
                              on storm_host_imc */
    STORM_HOST_E_ESCAPED,
    STORM_HOST_E_HELD,     /**< from matter of constant temperature */
    STORM_HOST_E_WORK,     /**< by radiation on matter that moves */
    STORM_HOST_E_HOST,     /**< that the host has added to matter, all calls */
    STORM_HOST_E_DECLARED, /**< work that it has declared */
    STORM_HOST_E_ERROR,    /**< relative, of matter + radiation = start + walls
                                + others + held + host - escaped - work */
    STORM_HOST_N_ENERGIES
} storm_host_energies;
/** @p n is STORM_HOST_N_ENERGIES. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_energy(struct storm_host *host, double *erg_out, size_t n);

/** Momenta of the whole run, g cm/s, x, y, z each: created, given to matter,
 *  escaped, given to walls, taken between steps (comb), of all packets now;
 *  then the relative error. @p n is STORM_HOST_N_MOMENTA. With "motion". */
enum { STORM_HOST_N_MOMENTA = 19 };
STORM_API STORM_MUST_CHECK storm_status
storm_host_momentum(struct storm_host *host, double *momenta_out, size_t n);

/** Hash of all cells and packets, the same on any number of ranks. */
STORM_API STORM_MUST_CHECK storm_status storm_host_hash(struct storm_host *host,
                                                        uint64_t *hash_out);
/** @} */

/**
 * @name Stage 5: the state, for checkpoints of the host's own.
 *
 * Each rank saves a piece of bytes, which the host writes where it writes its
 * own arrays. To go on with the same bits, on any number of ranks, describe the
 * same problem, make the mesh from the same cells (points and given cells: with
 * the same tags) on whichever ranks, begin, and load the pieces: each on one
 * rank, several of a rank one after the other. Fields that can be set and
 * accounts are part of it. What steps count, such as ABSORBED, is 0 until the
 * next step, and requests are to be made again.
 */
/** @{ */

/** Bytes of this rank's piece as it is now. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_state_bytes(struct storm_host *host, size_t *n_out);
/** @p n is storm_host_state_bytes. After the first step, between steps.
 *  STORM_ERR_STATE: before it. */
STORM_API STORM_MUST_CHECK storm_status storm_host_save(struct storm_host *host,
                                                        void *bytes_out,
                                                        size_t n);
/**
 * In place of the start of the radiation, before the first step.
 *
 * @param n  of the bytes of all pieces of this rank; may be 0
 * @retval STORM_ERR_STATE  after a step
 * @retval STORM_ERR_NOSUP  of another version of the library
 * @retval STORM_ERR_IO     bytes have changed, or a piece is missing or there
 *                          twice; nothing has changed
 * @retval STORM_ERR_ARG    of another mesh, or a problem with other packets or
 *                          groups; nothing has changed
 */
STORM_API STORM_MUST_CHECK storm_status storm_host_load(struct storm_host *host,
                                                        const void *bytes,
                                                        size_t n);
/** @} */

/** @name Stage 5: the mesh changes. Matter and packets follow; the order of the
 *  host's arrays stays. With "motion" and "diffusion", packets that diffuse
 *  ride with their cell, and a step needs to know how cells will move after it:
 *  STORM_HOST_FRAME. Without it they move with matter and with their cell. */
/** @{ */

/** Move the points of a mesh of points: @p n values are three for each cell.
 *  STORM_ERR_NOSUP: another mesh. */
STORM_API STORM_MUST_CHECK storm_status storm_host_move(struct storm_host *host,
                                                        const double *points_cm,
                                                        size_t n);
/** Given cells anew: storm_host_give_cells and _give_faces come before. Cells
 *  of old tags have moved, new tags are new; the order is the new one. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_replace(struct storm_host *host);
/** Even the work of the last step out over the ranks. STORM_ERR_NOSUP: the
 *  partition is the host's (given cells). */
STORM_API STORM_MUST_CHECK storm_status
storm_host_repartition(struct storm_host *host);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_HOST_RUN_H */
