/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/imc.h
 * Bundled physics: implicit Monte Carlo of thermal radiation (Fleck and
 * Cummings 1971). docs/physics.md has the equations.
 *
 * The object fills the interfaces of storm/engine.h for struct storm_packet.
 * This header includes storm/imc_accounts.h (energies, flows, the hash),
 * storm/imc_state.h (saving and loading) and storm/imc_steps.h (lengths of
 * steps by accuracy).
 *
 * Lifecycle  create; an engine; storm_imc_attach; storm_imc_start; then for
 *            every step storm_imc_set_step and storm_engine_step; destroy after
 *            the engine. If problem.comb is set, also a comb (storm_comb_create
 *            and storm_comb_attach, storm/streaming.h), which keeps the number
 *            of packets in check; without it, steps fail. examples/step4.c
 *            does all of this.
 * Ownership  the mesh is the caller's and outlives the object; the problem is
 *            copied.
 * Mesh       the object is built for one generation of its mesh. After a
 *            change, the next step and the calls that list it return
 *            STORM_ERR_STATE (logged) until storm_imc_follow has moved the
 *            state of this object; the engine of such a step has failed for
 *            good. Until then, of the calls without a status,
 *            storm_imc_deposit does nothing, storm_imc_max_packets returns
 *            problem.max_per_cell, storm_imc_material returns STORM_OUTSIDE,
 *            and storm_imc_set_step works as always.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_IMC_H
#define STORM_IMC_H

#include <stddef.h>
#include <stdint.h>

#include <storm/change.h>
#include <storm/engine.h>
#include <storm/mesh.h>
#include <storm/problem.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_imc;     /* opaque */

/**
 * Radiation and matter on @p mesh.
 *
 * Collective: same problem on every rank (names may differ), which is checked;
 * an error of one rank is one on all. The box must be that of the mesh, and the
 * same walls periodic in both.
 *
 * @param[out] imc_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG     storm_problem_check finds faults, the problem is
 *                           not the same on all ranks, or the box or its
 *                           periodic walls are not those of the mesh (all
 *                           logged, by one rank)
 * @retval STORM_ERR_NOSUP   no tracking for this kind of mesh, or the problem
 *                           has a field set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_create(struct storm_context *context, struct storm_mesh *mesh,
                 const struct storm_problem *problem,
                 struct storm_imc **imc_out);

/** Release. Local. NULL is allowed. */
STORM_API void storm_imc_destroy(struct storm_imc *imc);

/** Bytes of the records that an engine for it has: those of struct
 *  storm_packet, or of struct storm_photon where groups are Doppler-shifted
 *  (problem.motion with several groups) or scattering changes the energy of
 *  photons (storm_scattering_law). Local. */
STORM_API size_t storm_imc_record_bytes(const struct storm_imc *imc);

/** Make this the physics of @p engine, whose records are those of
 *  storm_imc_record_bytes; the engine borrows @p imc. It handles walls itself
 *  and needs no boundary object. Local, on every rank. STORM_ERR_ARG: the
 *  engine has other records (logged). STORM_ERR_STATE: called from a
 *  callback. */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_attach(struct storm_imc *imc, struct storm_engine *engine);

/** Give energy to a cell. Local. Fits the `remainder` of struct
 *  storm_comb_params, with @p imc for `remainder_self`: in a step, the energy
 *  counts as absorbed by it. Between steps it goes to the matter at once, and
 *  counts as added by the host (storm_imc_energy); matter of constant
 *  temperature takes nothing. If the matter cannot have the energy then
 *  (negative, not finite, or its functions fail), nothing is added and the next
 *  step fails with the reason. */
STORM_API void storm_imc_deposit(void *imc, storm_cell_idx cell,
                                 double weight_erg);

/** Max number of packets of a cell after the comb in this step. Local. Fits the
 *  `limit` of struct storm_comb_params, with @p imc for `limit_self`. */
STORM_API uint64_t storm_imc_max_packets(void *imc, storm_cell_idx cell);

/** Add the initial radiation to @p engine, before its first step. Local.
 *  @retval STORM_ERR_STATE  the mesh has changed (logged), or called
 *                           from a callback
 *  @retval STORM_ERR_NOMEM */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_start(struct storm_imc *imc, struct storm_engine *engine);

/**
 * The next step goes from @p time_s to @p time_s + @p dt_s. Local, on every
 * rank, between steps, before each of them; without it the step returns
 * STORM_ERR_STATE (logged).
 *
 * @param time_s  finite
 * @param dt_s    above 0; c times it is finite
 * @retval STORM_ERR_ARG    a value out of range (logged by each rank that has
 *                          it); the step is not set
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_step(struct storm_imc *imc, double time_s, double dt_s);

/**
 * How the cells will move at the end of the step that comes, three values for
 * each: packets that diffuse ride with their cell when the mesh moves
 * (storm_remap), and in the step matter passes through a cell with its velocity
 * relative to that. Without this call the cells are at rest. With
 * problem.motion and problem.diffusion; else it does nothing. Collective,
 * before each step, after storm_imc_follow.
 *
 * @param velocity_cm_s  below that of light
 * @retval STORM_ERR_ARG    a value out of range (logged with the cell); nothing
 *                          is set
 * @retval STORM_ERR_STATE  the mesh has changed (logged), or in a step
 * @retval STORM_ERR_PEER   another rank has one of these
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_frame(struct storm_imc *imc, const double *velocity_cm_s);

/** Fields of the cells after the last step. DEPOSITED and EMITTED are 0 before
 *  the first step, after storm_imc_follow and after a state was loaded. */
typedef enum storm_imc_field {
    STORM_IMC_TEMPERATURE = 0,  /**< of the material, keV */
    STORM_IMC_MATERIAL_ENERGY,  /**< erg/cm3 */
    STORM_IMC_RADIATION_PATH,   /**< energy density averaged over the step by
                                     path length, erg/cm3; before the first
                                     step that of storm_imc_start */
    STORM_IMC_RADIATION_CENSUS, /**< energy density of the packets now */
    STORM_IMC_DEPOSITED,        /**< energy that the material has absorbed in
                                     the step, erg */
    STORM_IMC_EMITTED,          /**< energy it has emitted in the step, erg */
    STORM_IMC_VOLUME,           /**< cm3 */
    STORM_IMC_MATERIAL,         /**< what storm_imc_material gives */
    STORM_IMC_OUTSIDE,          /**< 1: nothing is transported there; else 0 */

    STORM_IMC_DENSITY = 32,  /**< g/cm3 */
    STORM_IMC_COMPOSITION,   /**< n_components values for each cell, one cell
                                  after the other */
    STORM_IMC_EMISSION,      /**< what the cell emits is multiplied by it; 1
                                  unless it is set */
    STORM_IMC_HEAT_CAPACITY, /**< erg/keV/cm3, at the temperature now; 0 where
                                  the temperature is constant */
    /* With problem.motion; three values for each cell. DEPOSITED and EMITTED
     * are in the frame of the mesh. */
    STORM_IMC_VELOCITY, /**< cm/s */
    STORM_IMC_PUSH      /**< momentum that matter has got in the step, less
                              that of what it has emitted; g cm/s. Of the last
                              step, as DEPOSITED */
} storm_imc_field;

/**
 * One value per local cell (COMPOSITION: n_components, VELOCITY, PUSH: 3), into
 * @p values_out. Between steps. Collective for RADIATION_CENSUS, else local.
 *
 * @retval STORM_ERR_ARG     no such field, or the heat capacity of a material
 *                           breaks MATTER-3 (logged)
 * @retval STORM_ERR_STATE   the mesh has changed (logged)
 * @retval STORM_ERR_FABRIC  RADIATION_CENSUS: MPI reports an error
 * @retval STORM_ERR_LOST    RADIATION_CENSUS: a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_get(struct storm_imc *imc, struct storm_engine *engine,
              storm_imc_field field, double *values_out);

/**
 * Set a field from one value per local cell (COMPOSITION: n_components,
 * VELOCITY: 3), in order. Between steps. Values of cells without matter are
 * ignored, but for MATERIAL. What has the same bits as before changes nothing.
 *
 *   TEMPERATURE      0 .. 1e30; the energy follows
 *   MATERIAL_ENERGY  0 .. STORM_UNLIMITED, 0 where the temperature is constant;
 *                    the temperature follows
 *   DENSITY          above 0; the energy per cm3 stays, the temperature follows
 *   COMPOSITION      0 .. STORM_UNLIMITED; the same
 *   EMISSION         0 .. STORM_UNLIMITED
 *   VELOCITY         slower than light; energy per cm3 in the frame of matter
 *                    stays
 *   MATERIAL         an index, or n_materials for nothing; STORM_OUTSIDE where
 *                    it is and nowhere else. The energy per cm3 stays where
 *                    both materials have a heat capacity; else the temperature
 *                    stays, and is that of the material at the start where
 *                    there was none
 *
 * Energy that matter gains or loses by this is the host's account in
 * storm_imc_energy; before the first step it counts as there from the start.
 * To change density at constant temperature, set the temperature as well.
 *
 * Collective, blocks. After an error nothing has changed.
 *
 * @retval STORM_ERR_ARG     a field that cannot be set, a value out of range,
 *                           or functions of a material break MATTER-3 (logged)
 * @retval STORM_ERR_STATE   the mesh has changed (logged), or called from a
 *                           callback
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status storm_imc_set(struct storm_imc *imc,
                                                      storm_imc_field field,
                                                      const double *values);

/**
 * Set the radiation temperature of all cells of this rank, keV, 0 .. 1e30, for
 * storm_imc_start, in place of that of their materials; values of cells that
 * are outside have no effect. To be called between storm_imc_create and
 * storm_imc_start: later it changes nothing, and a change of the mesh forgets
 * it. Collective, blocks. After an error nothing has changed.
 *
 * @param kev  one value per local cell, in order; copied
 * @retval STORM_ERR_ARG    a value is out of range (logged)
 * @retval STORM_ERR_STATE  the mesh has changed (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC MPI reports an error
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_start(struct storm_imc *imc, const double *kev);

/** Index of a local cell's material, STORM_OUTSIDE, or n_materials for a cell
 *  of no region. Local. STORM_OUTSIDE for all cells if the mesh has
 *  changed. */
STORM_API int storm_imc_material(const struct storm_imc *imc,
                                 storm_cell_idx cell);

/** Has the material of this index in the problem no heat capacity, so that its
 *  temperature is constant? True for STORM_OUTSIDE and n_materials: there is no
 *  matter. Local. */
STORM_API bool storm_imc_is_held(const struct storm_imc *imc, int material);

/** @name On a mesh that changes (storm/change.h). */
/** @{ */

/**
 * Move the state of the cells to where the cells are now. A cell keeps its
 * material, composition and emission, and mass and energy of its matter. What
 * cells that are gone had goes to the cells where their packets begin to look
 * for theirs, and into a cell without matter the material comes along. If a
 * cell of an octree is cut, its parts share mass and energy by volume, and have
 * its material and temperature; if eight are joined their masses and energies
 * are added up, in the material that most of them have. The sum is conserved to
 * rounding, but for energy that goes to cells whose temperature is held: it
 * counts as created and absorbed (logged). Packets follow by storm_remap.
 * Collective, blocks; between steps.
 *
 * @retval STORM_ERR_ARG     the change is of another mesh (logged)
 * @retval STORM_ERR_STATE   the change is not the first one since the object
 *                           was built or followed, or it has failed before and
 *                           the state is lost (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_follow(struct storm_imc *imc, const struct storm_change *change);

/** Count a packet as escaped. Local. Fits `apply` of the struct storm_boundary
 *  that storm_remap takes, with @p imc for `self`. */
STORM_API void storm_imc_escape(void *imc, struct storm_step *step,
                                void *packet,
                                struct storm_outcome *outcome_out);

/** What the work of a cell is taken from. */
typedef enum storm_imc_weight {
    STORM_IMC_BY_EVENTS = 0, /**< of the last step */
    STORM_IMC_BY_PACKETS,    /**< in the cell now */
    STORM_IMC_BY_CELLS       /**< all have one */
} storm_imc_weight;

/** Weights for storm_cut_set: one per local cell. Local. STORM_ERR_STATE: the
 *  mesh has changed (logged). */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_weights(const struct storm_imc *imc, struct storm_engine *engine,
                  storm_imc_weight weight, uint64_t *weights_out);
/** @} */

#ifdef __cplusplus
}
#endif

#include <storm/imc_accounts.h>
#include <storm/imc_state.h>
#include <storm/imc_steps.h>

#endif /* STORM_IMC_H */
