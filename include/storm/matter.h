/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/matter.h
 * Matter: opacities and equation of state, asked for by blocks of cells.
 *
 * A material of struct storm_problem is a set of power laws, or has a struct
 * storm_matter: a table, or functions of the host. Implicit Monte Carlo
 * (storm/imc.h) asks all of them through the same struct.
 *
 * Rules for all implementations:
 *   MATTER-1  Each answer is a function of the values of its own cell in the
 *             block (and of constants of the implementation): not of the block
 *             it comes in, of other cells, of the rank, or of time.
 *   MATTER-2  Energy grows with temperature; `temperature` is the inverse of
 *             `energy`, and the heat capacity its derivative.
 *   MATTER-3  Opacities are finite and not negative, heat capacities above 0,
 *             energies and temperatures finite and not negative. The caller
 *             checks it: what breaks it ends the step with an error that names
 *             the cell and the value.
 *   MATTER-4  Functions are called on every rank, only for cells of that rank,
 *             any number of times between the beginning and the end of a step,
 *             and while fields are set; they do not call back.
 *
 * Lifecycle  a struct storm_matter is filled before storm_imc_create; its
 *            functions are called from then until storm_imc_destroy.
 * Ownership  the struct and `self` are the caller's and outlive the users;
 *            blocks and arrays are lent for the call.
 * Threads    functions are called by the thread that calls the library, one at
 *            a time per object of storm/imc.h.
 */
#ifndef STORM_MATTER_H
#define STORM_MATTER_H

#include <stddef.h>

#include <storm/packet.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_power_law; /* storm/problem.h */

/** Cells of one material. Arrays have n entries, and belong to the caller. */
struct storm_matter_block {
    size_t size;                    /**< of this struct */
    size_t n;                       /**< cells, at least 1 */
    const storm_cell_idx *cell;     /**< local index */
    const storm_cell_id *tag;       /**< permanent */
    const double *density_g_cm3;    /**< above 0 */
    const double *temperature_kev;  /**< 0 or more; NULL where it is asked
                                         for */
    size_t n_components;            /**< of the composition; may be 0 */
    const double *composition;      /**< n_components each, cell after cell */
    size_t n_groups;                /**< 1: grey */
    const double *group_edge_kev;   /**< n_groups + 1; NULL if grey */
    const double *group_middle_kev; /**< n_groups: where laws of the photon
                                         energy are taken; NULL if grey */
    int is_estimate;                /**< 1: temperatures or energies of a guess,
                                         which the cells may never have: beyond
                                         what is known, answer for its edge */
};

/** What a material is. All functions are required; a status below 0 ends the
 *  step, unless a state was asked for that matter need never reach (whether a
 *  step is too long). A material without heat capacity (constant temperature)
 *  is `is_held`: its energy is 0, and it is asked for its opacity alone. */
struct storm_matter {
    size_t size; /**< of this struct: STORM_MATTER_INIT */
    void *self;  /**< the caller's, outlives the users of this struct */
    int is_held; /**< 1: the temperature changes only when it is set */

    /** Absorption and scattering, 1/cm, n_groups each, cell after cell. */
    storm_status (*opacity)(void *self, const struct storm_matter_block *block,
                            double *absorption_out, double *scattering_out);
    /** Energy density at the temperatures of the block, erg/cm3. */
    storm_status (*energy)(void *self, const struct storm_matter_block *block,
                           double *energy_out);
    /** Heat capacity at the temperatures of the block, erg/keV/cm3; where
     *  matter is colder than 1e-30 keV, it is asked for at 1e-30 keV. */
    storm_status (*heat_capacity)(void *self,
                                  const struct storm_matter_block *block,
                                  double *capacity_out);
    /** Temperature at which matter has these energies (erg/cm3), keV. */
    storm_status (*temperature)(void *self,
                                const struct storm_matter_block *block,
                                const double *energy, double *temperature_out);
    /** Why the last function has returned a status below 0, with the cell and
     *  what to do: a text that is valid until the next call. NULL: the status
     *  is all there is. */
    const char *(*problem)(void *self);
};
#define STORM_MATTER_INIT STORM_INIT(struct storm_matter)

/** @name Power laws, to the bits that materials of struct storm_problem have.
 *  Temperatures and photon energies in keV, densities in g/cm3. Local. */
/** @{ */

/** coef * T^t_exp * E^e_exp * rho^rho_exp within its min and max. */
STORM_API double storm_power_law_value(const struct storm_power_law *law,
                                       double temperature_kev,
                                       double density_g_cm3, double energy_kev);
/** The law as a heat capacity, erg/keV/cm3. */
STORM_API double storm_power_law_capacity(const struct storm_power_law *law,
                                          double temperature_kev,
                                          double density_g_cm3);
/** Its integral from 0 to a temperature, erg/cm3; 0 if the law is 0. */
STORM_API double storm_power_law_energy(const struct storm_power_law *law,
                                        double temperature_kev,
                                        double density_g_cm3);
/** The inverse of that; the law must not be 0. */
STORM_API double storm_power_law_temperature(const struct storm_power_law *law,
                                             double energy_erg_cm3,
                                             double density_g_cm3);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_MATTER_H */
