/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/imc_steps.h
 * Implicit Monte Carlo: how far a step can be trusted, and how long the next
 * one should be. From exact sums and maxima alone: the same bits on any number
 * of ranks. docs/physics.md has the equations.
 *
 * Lifecycle  calls on an object of storm/imc.h, which includes this header,
 *            after storm_engine_step and before anything else that changes
 *            matter, packets or the mesh: they look at the last step.
 * Ownership  structs are the caller's.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_IMC_STEPS_H
#define STORM_IMC_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_engine; /* opaque, storm/engine.h */
struct storm_imc;    /* opaque, storm/imc.h */

/** What lengths of steps follow. Zero in a field means its default. */
struct storm_imc_control {
    size_t size;      /**< of this struct: STORM_IMC_CONTROL_INIT */
    double target;    /**< relative change of energies in a step; 0.1 */
    double overshoot; /**< a step overshoots if its change is larger than this
                           many targets, 1 or more; 2 */
    double floor;     /**< the change of a cell is relative to its energy or to
                           this share of the largest energy density of its
                           material, the larger; 0.1 */
    double growth;    /**< max ratio of the next step to this one, 1 or more;
                           1.2 */
    double shrink;    /**< min of it, at most 1; 0.5 */
    double min_s;     /**< of the next step; 0: no limit */
    double max_s;     /**< the same; 0: no limit */
    double planned_s; /**< length that the step was to have before it was
                           shortened to end at some time: the next one is not
                           made longer than this then; 0: it was not
                           shortened */
};
#define STORM_IMC_CONTROL_INIT STORM_INIT(struct storm_imc_control)

/** What the last step has changed. */
struct storm_imc_change {
    size_t size;        /**< of this struct: STORM_IMC_CHANGE_INIT */
    double matter;      /**< largest relative change of a cell's energy, as far
                             as it is above three standard errors */
    double radiation;   /**< relative change of the radiation energy of all
                             cells; relative to a tenth of that of matter and
                             radiation together if that is larger */
    storm_cell_id cell; /**< the cell with the largest change; -1: none */
    bool overshoots;
    double next_s; /**< suggested length of the next step */
};
#define STORM_IMC_CHANGE_INIT STORM_INIT(struct storm_imc_change)

/**
 * The length that the next step should have for changes of about
 * control->target, eq. (S1). Cells of constant temperature do not count. A host
 * that keeps the energy of matter itself (matter_by_host) calls it before it
 * adds what matter has gained. Collective: same control on every rank; blocks.
 *
 * @retval STORM_ERR_ARG     a value of @p control is out of range (logged by
 *                           rank 0), or a struct has no size
 * @retval STORM_ERR_STATE   there was no step since the object was made, a
 *                           state was loaded, the mesh has changed, or matter
 *                           was set (storm_imc_set) or given energy
 *                           (storm_imc_deposit) between steps (logged)
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_next_step(struct storm_imc *imc, struct storm_engine *engine,
                    const struct storm_imc_control *control,
                    struct storm_imc_change *change_out);

/** How the last step has heated matter, and what of it cannot be trusted. Cells
 *  of constant temperature do not count. */
struct storm_imc_heating {
    size_t size;           /**< of this struct: STORM_IMC_HEATING_INIT */
    double heating_erg;    /**< absorbed less emitted, of cells that heat */
    double scarce_erg;     /**< of it: in cells that have doubled their energy
                                by fewer than STORM_IMC_SCARCE packets */
    uint64_t scarce_cells; /**< their number */
    uint64_t front_cells;  /**< cells that heat and whose temperature is still
                                less than half of what is around them */
    uint64_t stiff_cells;  /**< of these: with a Fleck factor below 0.01 and
                                more than twice the energy after the step; if
                                most are, the front moves as fast as steps
                                follow each other: eq. (S3) */
};
#define STORM_IMC_HEATING_INIT STORM_INIT(struct storm_imc_heating)
enum { STORM_IMC_SCARCE = 10 };

/**
 * How the last step has heated matter. Packets that a deposit rests on are
 * estimated from events and opacities, eq. (S2). Collective, blocks.
 *
 * @retval STORM_ERR_ARG     @p heating_out does not begin with
 *                           STORM_IMC_HEATING_INIT
 * @retval STORM_ERR_STATE   as above
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_get_heating(struct storm_imc *imc,
                      struct storm_imc_heating *heating_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_IMC_STEPS_H */
