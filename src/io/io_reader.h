/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells and fields that a run has written, read back. Local, without MPI.
 *
 *   A1  Cells are read a piece at a time: memory does not follow their number,
 *       but for what the caller asks to hold.
 *   A2  Files are not trusted. What cannot be read or does not fit together is
 *       STORM_ERR_IO, and `problem` says which file and what.
 */
#ifndef STORM_IO_READER_H
#define STORM_IO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

enum { IO_READER_PATH = 4096, IO_READER_NAME = 64 };

struct storm_memory;

struct io_reader {
    struct storm_memory *memory; /* the caller's book */
    char dir[IO_READER_PATH];
    char problem[IO_READER_PATH + 512]; /* after an error */
    uint64_t n_cells, n_points, n_words;
    bool boxes;
    int64_t mesh; /* HDF5's handle */
};

/* Opens mesh.h5 of a run's directory. Close it also after an error. */
storm_status io_reader_open(struct storm_memory *memory, const char *dir,
                            struct io_reader *reader_out);
void io_reader_close(struct io_reader *reader);

/* A cell while it is visited. */
struct io_cell {
    uint64_t id;
    size_t n_faces;
    const int64_t *faces; /* each: how many corners, then which; anticlockwise
                           * as seen from outside */
    const double (*corners)[3];
};
typedef storm_status io_visit(void *self, const struct io_cell *cell);

/* Visits all cells in order of their ids, until a visit fails. */
storm_status io_reader_cells(struct io_reader *reader, io_visit *visit,
                             void *self);

/* One value for each cell, from a file of the directory. `values_out` has
 * room for n_cells. */
storm_status io_reader_values(struct io_reader *reader, const char *file,
                              const char *name, double *values_out);

/* Names of the arrays with one value for each cell. *names_out is the reader's
 * book's (storm_free); NULL if there are none. */
typedef char io_reader_name[IO_READER_NAME];
storm_status io_reader_names(struct io_reader *reader, const char *file,
                             io_reader_name **names_out, size_t *n_out);

/* A number that belongs to a whole file. */
storm_status io_reader_number(struct io_reader *reader, const char *file,
                              const char *name, double *value_out);

#endif /* STORM_IO_READER_H */
