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
struct output_h5;

typedef enum output_kind { OUTPUT_REAL, OUTPUT_WHOLE } output_kind;

/* ---- writing -------------------------------------------------------------- */

/* This rank's share of an array of doubles or int64_t. */
struct output_array {
    const char *name;
    output_kind kind;
    size_t columns;
    size_t n; /* rows */
    void *self;
    void (*fill)(void *self, size_t first, size_t n, void *rows_out);
};

/* An existing file is replaced. Collective; close it also after an error, if
 * it is not NULL. */
storm_status output_h5_create(const struct storm_context *context,
                              const char *dir, const char *name,
                              struct output_h5 **file_out);

/* Arrays that follow get checksums: reading finds what has been damaged. */
void output_h5_add_checksums(struct output_h5 *file);

/* Collective. */
storm_status output_h5_put(struct output_h5 *file,
                           const struct output_array *array);

/* The same for n rows that lie in memory as they go to the file. */
storm_status output_h5_put_plain(struct output_h5 *file, const char *name,
                                 output_kind kind, size_t columns,
                                 const void *rows, size_t n);

/* A number that belongs to the whole file. Collective. */
storm_status output_h5_mark(struct output_h5 *file, const char *name,
                            double value);

/* Collective. NULL is allowed. */
storm_status output_h5_close(struct output_h5 *file);

/* ---- reading -------------------------------------------------------------- */

/* HDF5's handles; negative: none. */
typedef int64_t input_h5;

/* An array of a file. */
struct input_array {
    int64_t set, space;
    int n_dims;
    uint64_t shape[2]; /* rows and columns, 1 of one dimension; 0 of others */
    bool numbers;
};

/* Negative: it is not there, or no HDF5. */
input_h5 input_h5_open(const char *path);
void input_h5_close(input_h5 file);

/* True: close it. */
bool input_array_open(input_h5 file, const char *name,
                      struct input_array *array_out);
void input_array_close(const struct input_array *array);

/* Rows [first, first + n) as doubles or int64_t. */
bool input_array_rows(const struct input_array *array, output_kind kind,
                      uint64_t first, uint64_t n, void *rows_out);

/* How many rows an array of so many columns has; false: there is none. */
bool input_h5_count(input_h5 file, const char *name, uint64_t columns,
                    uint64_t *rows_out);

/* Rows of an array of so many columns. */
bool input_h5_rows(input_h5 file, const char *name, output_kind kind,
                   uint64_t columns, uint64_t first, uint64_t n,
                   void *rows_out);

/* Visits the names of all that the file holds, in order, until a visit gives
 * false. */
typedef bool input_visit(void *self, const char *name);
bool input_h5_names(input_h5 file, input_visit *visit, void *self);

/* A number that belongs to the whole file. */
bool input_h5_mark(input_h5 file, const char *name, double *value_out);

#endif /* STORM_IO_H5_H */
