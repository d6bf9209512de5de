/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/io.h
 * Files that a program can read without a deck. Part of libstorm_run.
 *
 * Ownership  arrays handed out are released by the call that is named.
 * Threads    one thread at a time in a process: HDF5 may allow no more.
 */
#ifndef STORM_IO_H
#define STORM_IO_H

#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */

/**
 * Points from a file, of whichever of two formats it is. Text: three numbers a
 * line, separated by commas or blanks; lines that begin with # and names of
 * columns in the first line are passed over. HDF5: the array `generator`, as
 * the mesh.h5 of a run has it, or `points`, n x 3 numbers. Each rank reads a
 * part of the file. Collective, blocks; same kind of status on every rank.
 *
 * @param[out] points_out  this rank's; release with storm_points_free
 * @retval STORM_ERR_IO     no such file, a line that is not three numbers, or
 *                          no such array (logged)
 * @retval STORM_ERR_NOMEM  on some rank
 */
STORM_API STORM_MUST_CHECK storm_status
storm_points_read(struct storm_context *context, const char *path,
                  double **points_out, uint64_t *n_out);

/** Local. NULL is allowed. */
STORM_API void storm_points_free(struct storm_context *context, double *points);

#ifdef __cplusplus
}
#endif
#endif /* STORM_IO_H */
