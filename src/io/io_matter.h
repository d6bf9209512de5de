/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of matter from HDF5: docs/matter-files.md has the layout. */
#ifndef STORM_IO_MATTER_H
#define STORM_IO_MATTER_H

#include <storm/table.h>

#include "base/env.h"

/* A table as a file has it. */
struct io_matter {
    struct storm_table_params p; /* its arrays are those below */
    double *arrays[6];           /* in the order of the layout; may be NULL */
};

/* H5-9, by one rank, before any reads it. STORM_ERR_IO (logged). */
storm_status io_matter_probe(const struct storm_env *env, const char *path);

/* Reads a file. Local; free it also after an error, if it was all zero before.
 * STORM_ERR_IO (logged by rank 0), STORM_ERR_NOMEM. */
storm_status io_matter_read(const struct storm_env *env, const char *path,
                            struct io_matter *table);
void io_matter_free(const struct storm_env *env, struct io_matter *table);

#endif /* STORM_IO_MATTER_H */
