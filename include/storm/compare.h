/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/compare.h
 * The difference of two results, from their files: norms and pictures.
 *
 * Lifecycle  one call, which passes every picture to a callback.
 * Ownership  params and what they point to are borrowed during the call; the
 *            texts of the result are the caller's.
 * Threads    one thread at a time in a process: HDF5 may not be thread-safe.
 *
 * Local: no MPI, no ranks; nothing is written or printed.
 */
#ifndef STORM_COMPARE_H
#define STORM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/plot.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero in a field means default. */
struct storm_compare_params {
    size_t size;           /**< of this struct: STORM_COMPARE_PARAMS_INIT */
    const char *a, *b;     /**< required: directories of runs; or a run or a
                                CSV file, and a CSV file; or two JSON files. B
                                is what A is compared with */
    const char *fields;    /**< names separated by commas; NULL: all that both
                                have */
    const uint64_t *steps; /**< steps of A's dumps or profiles; n_steps 0: the
                                last */
    size_t n_steps;
    char axis;              /**< as in struct storm_plot_params */
    const double *at_cm;    /**< the same */
    double tolerance;       /**< max relative difference */
    double standard_errors; /**< max difference in standard errors, instead;
                                 0: tolerance */
    storm_plot_take *take;  /**< pictures; NULL: none */
    void *take_self;
};
#define STORM_COMPARE_PARAMS_INIT STORM_INIT(struct storm_compare_params)

/** The texts are from malloc; the caller frees them. */
struct storm_compare_result {
    size_t size; /**< of this struct: STORM_COMPARE_RESULT_INIT */
    bool within; /**< no difference is larger than allowed */
    char *table; /**< for people, of several lines */
    char *json;  /**< the same for machines: one object */
};
#define STORM_COMPARE_RESULT_INIT STORM_INIT(struct storm_compare_result)

/**
 * Compare two results; docs/output.md defines the norms. Local, blocks.
 *
 * Dumps of two runs are compared cell by cell: their meshes must be the same,
 * and B must have dumps at the times of A's.
 *
 * @param[out] result   set only on STORM_OK
 * @param problem       after an error other than that of take, one line with
 *                      the reason
 * @param problem_size  bytes available there
 * @retval STORM_ERR_ARG    @p params or @p result do not begin with their
 *                          initialisers; not a run, a table or a JSON file;
 *                          other meshes or times, no such field or step (the
 *                          line lists what exists)
 * @retval STORM_ERR_NOSUP  @p params has fields that this library does not know
 * @retval STORM_ERR_IO     a file is damaged or cannot be read
 * @retval STORM_ERR_NOMEM  no memory
 * @return any error of take
 */
STORM_API STORM_MUST_CHECK storm_status
storm_compare(const struct storm_compare_params *params,
              struct storm_compare_result *result, char *problem,
              size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif /* STORM_COMPARE_H */
