/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 files of arrays of numbers. No other header uses HDF5, whose own
 * messages are not printed.
 *
 * Writing: each rank has a share of an array. Rank 0 writes, a piece at a time
 * (io/io_gather.h).
 *
 *   H5-1  Rows are in order of the ranks that have them.
 *   H5-2  The same rows give the same bytes, whichever ranks have them; no
 *         time stamps.
 *   H5-3  An error is logged once, by rank 0; then put only returns it, and so
 *         does finish.
 *
 * Reading is local, without MPI.
 *
 *   H5-4  Files are not trusted: false if something does not exist or has
 *         another shape or type than asked for.
 *   H5-5  HDF5 itself trusts what a file says of chunks, filters and types:
 *         a damaged one can crash it. Values of plain arrays are read here,
 *         past HDF5, in types of a list. Chunks are for our own files.
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

/* ---- writing ------------------------------------------------------------- */

/* This rank's share of an array of doubles or int64_t. */
struct io_h5_share {
    const char *name;
    io_h5_kind kind;
    size_t columns;
    size_t n; /* rows */
    void *self;
    void (*fill)(void *self, size_t first, size_t n, void *rows_out);
};

/* Creates a file; an existing one is replaced. Collective; call finish also
 * after an error. Here and below: STORM_ERR_IO (logged), STORM_ERR_NOMEM, or
 * an error of MPI. */
storm_status io_h5_create(const struct storm_context *context, const char *dir,
                          const char *name, struct io_h5_writer **file_out);

/* Adds checksums to the arrays that follow: reading detects damage. */
void io_h5_add_checksums(struct io_h5_writer *file);

/* Collective. */
storm_status io_h5_put(struct io_h5_writer *file,
                       const struct io_h5_share *array);

/* The same for n rows that are in memory as the file has them. */
storm_status io_h5_put_plain(struct io_h5_writer *file, const char *name,
                             io_h5_kind kind, size_t columns, const void *rows,
                             size_t n);

/* Writes a number as an attribute of the file. Collective. */
storm_status io_h5_put_number(struct io_h5_writer *file, const char *name,
                              double value);

/* Closes and frees. Collective. NULL is allowed. */
storm_status io_h5_finish(struct io_h5_writer *file);

/* ---- reading ------------------------------------------------------------- */

/* Handle of HDF5; negative: none. */
typedef int64_t io_h5_file;

/* An open array. */
struct io_h5_array {
    int64_t set, space;
    int n_dims;
    uint64_t shape[2]; /* rows, columns (1 if n_dims is 1); else 0 */
    bool numbers;      /* not texts or other types */
    bool plain;        /* one piece of the file: neither chunks nor filters */
};

/* Negative: it does not exist or is not HDF5. */
io_h5_file io_h5_open(const char *path);
void io_h5_close(io_h5_file file);

/* Close it only if true. */
bool io_h5_array_open(io_h5_file file, const char *name,
                      struct io_h5_array *array_out);
void io_h5_array_close(const struct io_h5_array *array);

/* Reads rows [first, first + n) as doubles or int64_t. */
bool io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                      uint64_t first, uint64_t n, void *rows_out);

/* Number of rows of the array `name`; false: none with so many columns. */
bool io_h5_count_rows(io_h5_file file, const char *name, uint64_t columns,
                      uint64_t *rows_out);

/* Reads rows of the array `name`, which must have so many columns. */
bool io_h5_get_rows(io_h5_file file, const char *name, io_h5_kind kind,
                    uint64_t columns, uint64_t first, uint64_t n,
                    void *rows_out);

/* Visits the names of all objects of the file, in order, until a visit returns
 * false. */
typedef bool io_h5_visit(void *self, const char *name);
bool io_h5_visit_names(io_h5_file file, io_h5_visit *visit, void *self);

/* Reads an attribute of the file. */
bool io_h5_get_number(io_h5_file file, const char *name, double *value_out);

#endif /* STORM_IO_H5_H */
