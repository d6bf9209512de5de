/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/report.h
 * A report of a run as one HTML page, from the files in its directory.
 *
 * Ownership  params and what they point to are borrowed during the call; the
 *            page is the caller's.
 * Threads    one thread at a time in a process: HDF5 may not be thread-safe.
 *
 * Local: no MPI, no ranks; nothing is written or printed.
 */
#ifndef STORM_REPORT_H
#define STORM_REPORT_H

#include <stddef.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero in a field means default. */
struct storm_report_params {
    size_t size;           /**< of this struct: STORM_REPORT_PARAMS_INIT */
    const char *run_dir;   /**< required: directory of the run */
    const char *reference; /**< CSV file to compare profiles with; NULL: none */
};
#define STORM_REPORT_PARAMS_INIT STORM_INIT(struct storm_report_params)

/**
 * Make the page: summary, pictures and deck as one HTML document that loads no
 * other files. Local, blocks.
 *
 * @param[out] html_out     from malloc, the caller frees it; set only on
 *                          STORM_OK
 * @param problem           after an error, one line with the reason
 * @param problem_size      bytes available there
 * @retval STORM_ERR_ARG    @p params does not begin with
 *                          STORM_REPORT_PARAMS_INIT; not the directory of a
 *                          run; a reference that is not a table
 * @retval STORM_ERR_NOSUP  @p params has fields that this library does not know
 * @retval STORM_ERR_IO     a file is damaged or cannot be read
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_report(const struct storm_report_params *params, char **html_out,
             char *problem, size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif /* STORM_REPORT_H */
