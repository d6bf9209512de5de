/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 files of arrays of numbers, written and read: all that knows HDF5 is
 * behind this header. What HDF5 itself has to say is not printed.
 *
 * Writing: all ranks have a share of an array. Rank 0 writes, a piece at a time
 * (io/io_gather.h).
 *
 *   H1  Rows are in order of the ranks that have them.
 *   H2  The same rows give the same bytes, however they are shared; no times
 *       of day are kept.
 *   H3  What goes wrong is logged once, by rank 0; then put does nothing but
 *       hand the error on, and close says it again.
 *
 * Reading is local, without MPI.
 *
 *   H4  Files are not trusted: what is not there, or not as it is asked for, is
 *       false.
 */
#ifndef STORM_IO_H5_H
#define STORM_IO_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

struct storm_context;
struct io_h5_writer;

typedef enum io_h5_kind { IO_H5_REAL, IO_H5_INTEGER } io_h5_kind;

/* ---- writing -------------------------------------------------------------- */

/* This rank's share of an array of doubles or int64_t. */
struct io_h5_share {
    const char *name;
    io_h5_kind kind;
    size_t columns;
    size_t n; /* rows */
    void *self;
    void (*fill)(void *self, size_t first, size_t n, void *rows_out);
};

/* An existing file is replaced. Collective; close it also after an error, if
 * it is not NULL. */
storm_status io_h5_create(const struct storm_context *context, const char *dir,
                          const char *name, struct io_h5_writer **file_out);

/* Arrays that follow get checksums: reading finds what has been damaged. */
void io_h5_add_checksums(struct io_h5_writer *file);

/* Collective. */
storm_status io_h5_put(struct io_h5_writer *file,
                       const struct io_h5_share *array);

/* The same for n rows that lie in memory as they go to the file. */
storm_status io_h5_put_plain(struct io_h5_writer *file, const char *name,
                             io_h5_kind kind, size_t columns, const void *rows,
                             size_t n);

/* A number that belongs to the whole file. Collective. */
storm_status io_h5_put_number(struct io_h5_writer *file, const char *name,
                              double value);

/* Collective. NULL is allowed. */
storm_status io_h5_finish(struct io_h5_writer *file);

/* ---- reading -------------------------------------------------------------- */

/* HDF5's handles; negative: none. */
typedef int64_t io_h5_file;

/* An array of a file. */
struct io_h5_array {
    int64_t set, space;
    int n_dims;
    uint64_t shape[2]; /* rows and columns, 1 of one dimension; 0 of others */
    bool numbers;
};

/* Negative: it is not there, or no HDF5. */
io_h5_file io_h5_open(const char *path);
void io_h5_close(io_h5_file file);

/* True: close it. */
bool io_h5_array_open(io_h5_file file, const char *name,
                      struct io_h5_array *array_out);
void io_h5_array_close(const struct io_h5_array *array);

/* Rows [first, first + n) as doubles or int64_t. */
bool io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                      uint64_t first, uint64_t n, void *rows_out);

/* How many rows an array of so many columns has; false: there is none. */
bool io_h5_count_rows(io_h5_file file, const char *name, uint64_t columns,
                      uint64_t *rows_out);

/* Rows of an array of so many columns. */
bool io_h5_get_rows(io_h5_file file, const char *name, io_h5_kind kind,
                    uint64_t columns, uint64_t first, uint64_t n,
                    void *rows_out);

/* Visits the names of all that the file holds, in order, until a visit gives
 * false. */
typedef bool io_h5_visit(void *self, const char *name);
bool io_h5_visit_names(io_h5_file file, io_h5_visit *visit, void *self);

/* A number that belongs to the whole file. */
bool io_h5_get_number(io_h5_file file, const char *name, double *value_out);

#endif /* STORM_IO_H5_H */
