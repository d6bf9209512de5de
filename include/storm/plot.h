/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/plot.h
 * Pictures of a run, from the files in its directory.
 *
 * Lifecycle  one call, which passes every picture to a callback.
 * Ownership  params and what they point to are borrowed during the call.
 * Threads    one thread at a time in a process: HDF5 may not be thread-safe.
 *
 * Local: no MPI, no ranks; nothing is written or printed.
 */
#ifndef STORM_PLOT_H
#define STORM_PLOT_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A choice; by default it depends on the picture. */
typedef enum storm_plot_choice {
    STORM_PLOT_AUTO = 0,
    STORM_PLOT_YES,
    STORM_PLOT_NO
} storm_plot_choice;

/**
 * Receives a picture: a file name without directory that ends in .svg, a
 * caption, and the SVG. All are valid until it returns. An error ends
 * storm_plot, which returns it.
 */
typedef storm_status storm_plot_take(void *self, const char *name,
                                     const char *caption, const char *svg);

/** Zero in a field means default. */
struct storm_plot_params {
    size_t size;           /**< of this struct: STORM_PLOT_PARAMS_INIT */
    const char *run_dir;   /**< required: directory of the run */
    const char *fields;    /**< names separated by commas; NULL: a useful set */
    char axis;             /**< x, y or z: slices are normal to it; 0: z */
    const double *at_cm;   /**< position on it; NULL: in the middle */
    const uint64_t *steps; /**< steps of dumps; n_steps 0: the last */
    size_t n_steps;
    const char *reference;   /**< CSV file to compare profiles with; NULL */
    storm_plot_choice lines; /**< edges of cells; by default in some pictures
                                  with few cells */
    storm_plot_choice log;   /**< logarithmic scales; by default for a wide
                                  range of values, except of temperatures, and
                                  not in profiles */
    storm_plot_take *take;   /**< required */
    void *take_self;
    const double *line_cm; /**< x, y, z of both ends of a line: charts of
                                fields along it instead; NULL: none */
};
#define STORM_PLOT_PARAMS_INIT STORM_INIT(struct storm_plot_params)

/**
 * Draw slices through the mesh and charts of profiles, line-outs, history,
 * probes and tallies; docs/output.md lists them. Local, blocks.
 *
 * @param problem       after an error other than that of take, one line with
 *                      the reason
 * @param problem_size  bytes available there
 * @retval STORM_ERR_ARG    @p params does not begin with
 *                          STORM_PLOT_PARAMS_INIT; not the directory of a run;
 *                          no such field, step, axis or position (the line
 *                          lists what exists); a reference that is not a table
 * @retval STORM_ERR_NOSUP  @p params has fields that this library does not know
 * @retval STORM_ERR_IO     a file is damaged or cannot be read
 * @retval STORM_ERR_NOMEM  no memory
 * @return any error of take
 */
STORM_API STORM_MUST_CHECK storm_status
storm_plot(const struct storm_plot_params *params, char *problem,
           size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif /* STORM_PLOT_H */
