/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/plot.h
 * Pictures of a finished run, from the files in its directory.
 *
 * Lifecycle  one call, which hands every picture to a callback of the caller.
 * Ownership  params and what they point to are borrowed during the call.
 * Threads    one thread at a time in a process: HDF5 may allow no more.
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

/** Something that may be left to the picture. */
typedef enum storm_plot_choice {
    STORM_PLOT_AUTO = 0,
    STORM_PLOT_YES,
    STORM_PLOT_NO
} storm_plot_choice;

/**
 * Takes a finished picture: a name without directory, ending in .svg, what it
 * shows in a few words, and the SVG. All are the caller's until it returns. An
 * error ends storm_plot, which hands it on.
 */
typedef storm_status storm_plot_take(void *self, const char *name,
                                     const char *caption, const char *svg);

/** Zero in a field means "choose for me". */
struct storm_plot_params {
    size_t size;           /**< of this struct: STORM_PLOT_PARAMS_INIT */
    const char *run_dir;   /**< required: where the run has written */
    const char *fields;    /**< names separated by commas; NULL: a useful set */
    char axis;             /**< x, y or z: slices are normal to it; 0: z */
    const double *at_cm;   /**< where on it; NULL: in the middle */
    const uint64_t *steps; /**< which dumps; the last if there are none */
    size_t n_steps;
    const char *reference;   /**< CSV file to compare profiles with; NULL */
    storm_plot_choice lines; /**< edges of cells; by default in some pictures
                                  of not too many cells */
    storm_plot_choice log;   /**< logarithmic scales; by default for slices
                                  whose values ask for it, but not of
                                  temperatures */
    storm_plot_take *take;   /**< required */
    void *take_self;
};
#define STORM_PLOT_PARAMS_INIT STORM_INIT(struct storm_plot_params)

/**
 * Draw slices through the mesh and charts of the profiles. docs/output.md says
 * which there are. Local, blocks.
 *
 * @param problem       after an error other than take's, one line that says
 *                      what is wrong
 * @param problem_size  bytes available there
 * @retval STORM_ERR_ARG    not the directory of a run; no such field, step,
 *                          axis or position (the line lists what there is)
 * @retval STORM_ERR_IO     a file is damaged or cannot be read
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_plot(const struct storm_plot_params *params, char *problem,
           size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif /* STORM_PLOT_H */
