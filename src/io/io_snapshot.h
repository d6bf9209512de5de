/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of cells from an HDF5 file: docs/matter-files.md has the layout. */
#ifndef STORM_IO_SNAPSHOT_H
#define STORM_IO_SNAPSHOT_H

#include <stdbool.h>

#include <storm/mesh.h>

struct storm_context;
struct storm_env;

struct io_snapshot {
    const char *path;
    bool by_position; /* else by cell */
    const struct storm_mesh *mesh;
};

/* The array `name` of the file for the cells of this rank, in local order.
 * Collective. STORM_ERR_IO, STORM_ERR_ARG: it is of another mesh (both logged
 * once), STORM_ERR_NOMEM, STORM_ERR_PEER. */
storm_status io_snapshot_read(struct storm_context *context,
                              const struct io_snapshot *from, const char *name,
                              double *values_out);

/* What the values of an array may be. */
struct io_snapshot_range {
    const char *expected; /* for messages; NULL: anything */
    bool above_zero;      /* else from 0 */
    double max;
    bool may_lack; /* NaN as well, for cells that need no value */
    uint64_t rows; /* by cell; 0: any number */
};
bool io_snapshot_is_good(const struct io_snapshot_range *range, double value);

/* Does the file have this array, and positions if it needs them; and by cell,
 * are the values such? Local, without MPI or mesh. STORM_ERR_IO, STORM_ERR_ARG
 * (logged). */
storm_status io_snapshot_check(const struct storm_env *env,
                               const struct io_snapshot *from, const char *name,
                               const struct io_snapshot_range *range);

#endif /* STORM_IO_SNAPSHOT_H */
