/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/table.h
 * Matter from tables over temperature, density and group.
 *
 * Lifecycle  create from arrays, or storm_table_read (storm/io.h) from a file;
 *            storm_table_matter gives what struct storm_material takes; destroy
 *            after the objects that use it.
 * Ownership  arrays are copied by create.
 * Threads    one thread at a time per table.
 *
 * Between the points of the table:
 *   TABLE-1  Opacities are linear in log T, log rho and the log of the value;
 *            where one of the four points around is 0, in the value itself.
 *            Powers of T and rho are exact, others of second order in the
 *            spacing of log T and log rho.
 *   TABLE-2  The log of the energy is a monotone cubic of log T (Fritsch and
 *            Carlson 1980) and linear in log rho: it has a continuous heat
 *            capacity, which is its derivative, and rises strictly. Third order
 *            in log T, the heat capacity second; second in log rho.
 *   TABLE-3  The temperature is the inverse of the energy to some roundings.
 */
#ifndef STORM_TABLE_H
#define STORM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/matter.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_table;   /* opaque */

/** What is done with a temperature, density or energy beyond the table. */
typedef enum storm_table_beyond {
    STORM_TABLE_ERROR = 0, /**< an error that names cell, value and range */
    STORM_TABLE_EDGE       /**< opacities are those of the edge; the energy goes
                                on in T with the power that it has there, and
                                takes the density of the edge */
} storm_table_beyond;

/** Arrays over (temperature, density, group), the last index the fastest. */
struct storm_table_params {
    size_t size;           /**< of this struct: STORM_TABLE_PARAMS_INIT */
    const char *name;      /**< for messages; NULL: "table" */
    size_t n_temperatures; /**< at least 2 */
    const double *temperature_kev; /**< above 0, rising */
    size_t n_densities;            /**< at least 1; one: no dependence */
    const double *density_g_cm3;   /**< above 0, rising */
    size_t n_groups;               /**< 0: opacities are the same in all groups,
                                        and have one value for each point */
    const double *group_edge_kev;  /**< n_groups + 1, rising; those of the
                                        problem; NULL if n_groups is 0 */
    const double *absorption;      /**< not negative; NULL: 0 */
    const double *scattering;      /**< not negative; NULL: 0 */
    const double *energy; /**< (temperature, density), above 0, rising with
                               temperature; NULL: temperatures are held */
    int opacity_per_mass; /**< 1: opacities in cm2/g; 0: 1/cm */
    int energy_per_mass;  /**< 1: energies in erg/g; 0: erg/cm3 */
    storm_table_beyond beyond;
};
#define STORM_TABLE_PARAMS_INIT STORM_INIT(struct storm_table_params)

/**
 * Find the first fault of a table: a value that is out of range, not a number
 * or not rising; or, unless @p n_groups is 0, groups that are not those of a
 * problem, to 1e-9. Local.
 *
 * @param edge_kev  of the problem, n_groups + 1; NULL if it is grey
 * @param problem   the fault, with its place; empty if there is none
 * @retval STORM_ERR_ARG    there is a fault
 * @retval STORM_ERR_NOSUP  something is set that this library lacks
 */
STORM_API STORM_MUST_CHECK storm_status
storm_table_check(const struct storm_table_params *params, uint64_t n_groups,
                  const double *edge_kev, char *problem, size_t problem_size);

/**
 * Make a table. Local; the same on every rank.
 *
 * @param[out] table_out  set only on STORM_OK; free with storm_table_destroy
 * @retval STORM_ERR_ARG    a value is out of range, not a number or not rising
 *                          (logged by rank 0, with its place)
 * @retval STORM_ERR_NOSUP  something is set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_table_create(struct storm_context *context,
                   const struct storm_table_params *params,
                   struct storm_table **table_out);

/** The table as matter, for struct storm_material. It refers to the table.
 *  Local.
 *  @param[in,out] matter_out  as STORM_MATTER_INIT sets it */
STORM_API void storm_table_matter(struct storm_table *table,
                                  struct storm_matter *matter_out);

/** A hash of all that answers depend on. Local. */
STORM_API uint64_t storm_table_hash(const struct storm_table *table);

/** Free. Local. NULL is allowed. */
STORM_API void storm_table_destroy(struct storm_table *table);

#ifdef __cplusplus
}
#endif
#endif /* STORM_TABLE_H */
