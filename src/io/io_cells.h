/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays with a row for each cell, in files.
 *
 *   CELLS-1  Rows are in order of the tags. A file has the array `tag` unless
 *            tags are 0, 1, ...: the same bytes on any number of ranks, in any
 *            partition.
 *   CELLS-2  Where tags are places each rank writes the rows of its own cells;
 *            else rows are exchanged, and each rank writes an equal share.
 *   CELLS-3  Memory does not grow with the number of ranks.
 */
#ifndef STORM_IO_CELLS_H
#define STORM_IO_CELLS_H

#include "io/io_fields.h"
#include "io/io_h5.h"

/* The number of rows that this rank writes. */
size_t io_cells_n(const struct storm_mesh *mesh);

/* One row for each local cell, as the file has them. */
struct io_cells {
    const char *name;
    io_h5_kind kind;
    size_t columns;
    const void *rows;
};

/* Writes an array. Collective. Here and below: STORM_ERR_IO (logged),
 * STORM_ERR_NOMEM, or an error of MPI. */
storm_status io_cells_put(const struct io_source *source,
                          struct io_h5_writer *file,
                          const struct io_cells *cells);

/* The same of one column of doubles, with the replicas so far. Collective. */
struct io_means;
storm_status io_cells_put_mean(const struct io_means *means,
                               struct io_h5_writer *file, const char *name,
                               const double *values);

/* Writes `tag` if the file needs it. Collective. */
storm_status io_cells_put_tags(const struct io_source *source,
                               struct io_h5_writer *file);

/* Do cells have generators? Collective. */
storm_status io_cells_have_generators(const struct io_source *source,
                                      bool *have_out);

/* A hash of tags, volumes and centres of all cells, whichever ranks have them.
 * Collective. */
storm_status io_cells_hash(const struct storm_context *context,
                           const struct storm_mesh *mesh, uint64_t *hash_out);

/* ---- polyhedra (io_polyhedra.c) ------------------------------------------ */

/* Of the cells whose rows this rank writes. Where tags are places they are
 * built when asked for. */
struct io_polyhedra {
    struct storm_memory *memory;
    struct storm_polyhedra *builder; /* NULL: in `rows` */
    char *rows;
    size_t *first; /* byte of `rows`, by cell, and the end */
};

/* Collective. Close it also after an error. */
storm_status io_polyhedra_open(const struct io_source *source,
                               struct io_polyhedra *polyhedra_out);
void io_polyhedra_close(struct io_polyhedra *polyhedra);

/* Gets one, which is valid until the next. Local. */
storm_status io_polyhedra_get(struct io_polyhedra *polyhedra, size_t i,
                              struct storm_polyhedron *cell_out);

#endif /* STORM_IO_CELLS_H */
