/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/io.h
 * Files that do not need a deck. Part of libstorm_run.
 *
 * Ownership  arrays are the caller's, and released with the call that is named.
 * Threads    one thread at a time in a process: HDF5 may not be thread-safe.
 */
#ifndef STORM_IO_H
#define STORM_IO_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>
#include <storm/table.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_mesh;    /* opaque, storm/mesh.h */

/**
 * Read points from a file of one of two formats. Text: three numbers per line,
 * separated by commas or blanks; lines that begin with # and column names in
 * the first line are skipped. HDF5: the array `generator`, as in the mesh.h5 of
 * a run, or `points`, n x 3 numbers. Each rank reads a part of the file.
 * Collective, blocks; an error on one rank is an error on all.
 *
 * @param[out] points_out  this rank's; release with storm_points_free
 * @retval STORM_ERR_IO     no such file, a line that is not three numbers, or
 *                          no such array (logged)
 * @retval STORM_ERR_NOMEM  no memory
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC MPI reports an error
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_points_read(struct storm_context *context, const char *path,
                  double **points_out, uint64_t *n_out);

/** Release. Local. NULL is allowed. */
STORM_API void storm_points_free(struct storm_context *context, double *points);

/**
 * Make a given mesh (storm/given.h) of a file: tetrahedra and hexahedra of a
 * Gmsh 4.1 text file, or polyhedra from HDF5; docs/mesh-files.md has the
 * layouts. Boundaries have the numbers of the file. Tags are the places of the
 * cells in the file; the cells are distributed evenly, along a Hilbert curve.
 * Rank 0 reads the file and has all of it in memory until the mesh is made.
 * Collective, blocks; an error on one rank is an error on all.
 *
 * @param[out] mesh_out  set only on STORM_OK; free with storm_mesh_destroy
 * @retval STORM_ERR_IO     no such file, or not such a mesh (logged, with the
 *                          place in the file)
 * @retval STORM_ERR_ARG    not a mesh of convex cells (logged)
 * @retval STORM_ERR_NOMEM  no memory
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC MPI reports an error
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_mesh_read(struct storm_context *context, const char *path,
                struct storm_mesh **mesh_out);

/**
 * Make a table of matter (storm/table.h) of an HDF5 file; docs/matter-files.md
 * has the layout. Each rank reads the file. Collective, blocks; an error on one
 * rank is an error on all.
 *
 * @param[out] table_out  set only on STORM_OK; free with storm_table_destroy
 * @retval STORM_ERR_IO     no such file, or not such a table (logged)
 * @retval STORM_ERR_ARG    holes, or values that do not rise (logged)
 * @retval STORM_ERR_NOMEM  no memory
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC MPI reports an error
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_table_read(struct storm_context *context, const char *path,
                 storm_table_beyond beyond, struct storm_table **table_out);

/**
 * Write a text file, all of it or not at all: as @p path with .part after it,
 * which is synced and then renamed. A file that has the name is replaced, a
 * link is followed, a device or pipe is written as it is. A line feed is added
 * if the text does not end with one. Local, blocks; no MPI.
 *
 * @param problem       after an error, one line with the reason and what to do;
 *                      NULL is allowed
 * @param problem_size  bytes available there
 * @retval STORM_ERR_IO  it cannot be written; what was there before still is
 */
STORM_API STORM_MUST_CHECK storm_status storm_file_write(const char *path,
                                                         const char *text,
                                                         char *problem,
                                                         size_t problem_size);

/**
 * Make a directory with its parents, and sync those that hold new ones. Local,
 * blocks; no MPI.
 *
 * @param problem       after an error, one line with the reason and what to do;
 *                      NULL is allowed
 * @param problem_size  bytes available there
 * @retval STORM_ERR_IO  it cannot be made, or something else has its name
 */
STORM_API STORM_MUST_CHECK storm_status
storm_directory_make(const char *path, char *problem, size_t problem_size);

#ifdef __cplusplus
}
#endif
#endif /* STORM_IO_H */
