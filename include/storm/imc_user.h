/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/imc_user.h
 * Implicit Monte Carlo: walls, sources and scattering of a host.
 *
 * A wall of kind STORM_WALL_USER (or a part of it, or a numbered boundary of a
 * given mesh) asks the host what becomes of each packet that reaches it. A
 * source of the host adds packets at the beginning of each step. What they take
 * and add is in the accounts of storm_imc_balance: energy closes.
 *
 * Rules, for the same bits on any number of ranks:
 *   USER-1  An answer is a function of the packet and the hit, but for `cell`,
 *           `cell_idx` and `face` of the packet, which depend on the partition.
 *           Random numbers come from storm_packet_random with the seed of the
 *           hit, or from storm_random with the packet's id.
 *   USER-2  Ids of new packets are unique in the run and do not depend on the
 *           ranks: storm_packet_id_make with STORM_ORIGIN_USER.
 *   USER-3  No packet is heavier than what was declared (max_weight_erg), or
 *           exact sums would not hold it: that is an error.
 *   USER-4  Functions are called on every rank, within a step, and do not call
 *           the engine or implicit Monte Carlo, but for what is named here.
 *
 * Lifecycle  set between steps, before the first one that needs it.
 * Ownership  the structs are copied; `self` is the caller's and outlives the
 *            object; hits, packets and births are lent for the call.
 * Threads    functions are called by the thread that makes the step, one at a
 *            time per object.
 */
#ifndef STORM_IMC_USER_H
#define STORM_IMC_USER_H

#include <stddef.h>
#include <stdint.h>

#include <storm/imc.h>
#include <storm/packet.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where and when a packet has reached a wall of the host. */
struct storm_wall_hit {
    size_t size;      /**< of this struct */
    int wall;         /**< of the box, or number of the boundary */
    size_t part;      /**< of struct storm_wall: the one that applies there */
    double normal[3]; /**< outwards */
    double time_s;
    uint64_t step; /**< storm_step_number */
    uint64_t seed; /**< of the problem */
};

/** What becomes of it. Unless it is taken, it goes on with the weight, birth
 *  weight, group, draws and spawns that the function leaves in it. */
typedef enum storm_wall_answer {
    STORM_WALL_TAKE = 0, /**< it ends there and counts as escaped */
    STORM_WALL_MIRROR,   /**< its direction is mirrored, with the bits of
                              STORM_WALL_REFLECT */
    STORM_WALL_TURN,     /**< from there, with its new direction, inwards */
    STORM_WALL_MOVE      /**< with its new position, anywhere in the domain, and
                              its new direction */
} storm_wall_answer;

/** Walls of the host. */
struct storm_imc_walls {
    size_t size; /**< of this struct: STORM_IMC_WALLS_INIT */
    void *self;
    /** Largest weight of a packet that is given more than it came with; less
     *  counts as escaped, more as created by the host. 0: none is. It is part
     *  of the unit of exact sums: more than 2^20 times the largest weight that
     *  begins a step is an error of that step (STORM_ERR_ARG, logged); a step
     *  without packets is fine. */
    double max_weight_erg;
    storm_wall_answer (*apply)(void *self, const struct storm_wall_hit *hit,
                               struct storm_packet *packet);
};
#define STORM_IMC_WALLS_INIT STORM_INIT(struct storm_imc_walls)

/**
 * Set the function that walls of kind STORM_WALL_USER ask. Local, on every
 * rank, between steps; the same on every rank. Without it, steps of a problem
 * with such walls fail (STORM_ERR_STATE, logged). An answer that cannot be
 * (a direction that leads out or is no unit vector, a weight that is negative
 * or too large, a group or place that does not exist) ends the step with
 * STORM_ERR_ARG, logged with its values.
 *
 * @retval STORM_ERR_ARG    not begun with its _INIT, no function, or a bound
 *                          out of range (logged)
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks (logged)
 * @retval STORM_ERR_STATE  called within a step
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_walls(struct storm_imc *imc, const struct storm_imc_walls *walls);

/** The packets that a step begins with; lent to `emit`. */
struct storm_imc_births;

/** A source of the host. */
struct storm_imc_source {
    size_t size; /**< of this struct: STORM_IMC_SOURCE_INIT */
    void *self;
    double max_weight_erg; /**< of a packet; above 0 */
    /** Once in each step, before transport: calls storm_imc_emit for each of
     *  its packets. A negative status ends the step. */
    storm_status (*emit)(void *self, struct storm_imc_births *births);
};
#define STORM_IMC_SOURCE_INIT STORM_INIT(struct storm_imc_source)

/** Set the source of the host; NULL: none. Local, on every rank, between steps;
 *  on all of them or on none. Status as of storm_imc_set_walls. */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_source(struct storm_imc *imc,
                     const struct storm_imc_source *source);

/** The step that packets are emitted in. Any pointer may be NULL. Local. */
STORM_API void storm_imc_births_step(const struct storm_imc_births *births,
                                     uint64_t *step_out, double *time_s_out,
                                     double *dt_s_out);

/**
 * Emit a packet: a copy of @p packet. Local.
 *
 * It needs an id, a position, a unit direction, the time that is left of the
 * step when it begins (0 .. dt), a weight up to the declared bound, and a
 * group. An optical depth of 0 is drawn from its history, a birth weight of 0
 * is its weight.
 * With a negative cell_idx it is offered on every rank, and the one that has
 * its place takes it; offered on some ranks alone, or in no cell, it is an
 * error of the step. Otherwise it is in that local cell, which the caller has
 * found, and is given on that rank alone.
 * Where packets diffuse, one that begins on a wall, on its way in, may be sent
 * back (docs/diffusion.md, eq. D3); any other diffuses at once.
 *
 * @retval STORM_OK        taken, or another rank's
 * @retval STORM_ERR_ARG   a value that cannot be (logged); the step fails
 * @retval STORM_ERR_NOMEM
 */
STORM_API storm_status storm_imc_emit(struct storm_imc_births *births,
                                      const struct storm_packet *packet);

/** The same with the energy of the photons in the frame of the mesh, above 0,
 *  which decides on the group; storm_imc_emit takes the middle of the group,
 *  and is an error without groups where records have an energy.
 *  Where records have no such energy (storm_imc_record_bytes), only the group
 *  counts. */
STORM_API storm_status storm_imc_emit_photon(struct storm_imc_births *births,
                                             const struct storm_photon *photon);

/** A photon that is scattered by matter, in the frame of that. */
struct storm_scattering {
    size_t size; /**< of this struct */
    storm_cell_idx
        cell; /**< local index: of fields of the host alone (USER-1) */
    storm_cell_id tag;
    int material;
    double temperature_kev; /**< at the start of the step, as the next */
    double density_g_cm3;
    int32_t group;       /**< of the energy, before */
    double direction[3]; /**< before; the function leaves that after */
    double energy_kev;   /**< of the photons: before, and after; above 0 */
    double weight_ratio; /**< energy of the packet after over before: 1, or
                               what the function leaves; above 0, up to 2^20.
                               The rest is given to matter. Photons that are
                               not lost have that of energy_kev */
    void *draws;         /**< for storm_scattering_random */
};

/** Four uniform numbers in (0, 1) of the packet's own history. Local. */
STORM_API void storm_scattering_random(struct storm_scattering *scattering,
                                       double uniform_out[4]);

/** Scattering of materials with STORM_SCATTER_USER. */
struct storm_imc_scatter {
    size_t size; /**< of this struct: STORM_IMC_SCATTER_INIT */
    void *self;
    /** A collision; they come at the rate of `scattering`. 0: there is none
     *  after all, and the photon goes on as it was, so that the rate may be a
     *  bound for all energies. */
    int (*apply)(void *self, struct storm_scattering *scattering);
};
#define STORM_IMC_SCATTER_INIT STORM_INIT(struct storm_imc_scatter)

/**
 * Set the function that scatters. Local, on every rank, between steps; the same
 * on every rank. Without it, steps of a problem with such materials fail
 * (STORM_ERR_STATE, logged). An answer that cannot be (a direction that is no
 * unit vector to 1e-9, an energy or a ratio out of range) ends the step with
 * STORM_ERR_ARG, logged once with its values. Status as of storm_imc_set_walls.
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_set_scatter(struct storm_imc *imc,
                      const struct storm_imc_scatter *scatter);

#ifdef __cplusplus
}
#endif
#endif /* STORM_IMC_USER_H */
