/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 files of arrays of numbers. No other header uses HDF5, whose own
 * messages are not printed.
 *
 * Writing: each rank has a share of an array and writes it itself. Rank 0 makes
 * the layout (io/io_h5_layout.h) and writes what is not rows.
 *
 *   H5-1  Rows are in order of the ranks that have them.
 *   H5-2  The same rows give the same bytes, whichever ranks have them; no
 *         time stamps.
 *   H5-3  An error of any rank is an error on all, and is logged once, by rank
 *         0, with the reason; then put only returns it, and so does finish.
 *   H5-6  A file has its name only after all ranks have written and synced it
 *         (FILES-1); after an error there is none, or the one from before.
 *   H5-7  Every array has checksums, one for each block of rows
 *         (io/io_h5_sums.h), in the group `checksums`.
 *   H5-8  Memory does not grow with the number of ranks.
 *   H5-10 Ranks of different nodes never write to the same page of a file: a
 *         client of a network file system may write a whole page when asked
 *         for a part, with zeros where another node has written. Where there
 *         are several nodes, parts of pages at the ends of a share are written
 *         by rank 0, which writes all that is not rows, too.
 *   H5-11 Before a file gets its name rank 0 reads back its size, all that is
 *         not rows, and the first and last block of each array.
 *
 * Reading is local, without MPI.
 *
 *   H5-4  Files are not trusted: false or STORM_ERR_ARG if something does not
 *         exist or has another shape or type than asked for; STORM_ERR_IO if
 *         rows cannot be read or their checksums are wrong. Files of earlier
 *         versions have none.
 *   H5-5  HDF5 itself trusts what a file says of chunks, filters and types:
 *         a damaged one can crash it. Values of plain arrays are read here,
 *         past HDF5, in types of a list. Chunks are for our own files of
 *         earlier versions.
 *   H5-9  So it does with the structure of a file: one from elsewhere is first
 *         opened by a child process (io_h5_probe.c), whose end harms nobody.
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

/* Creates a file; one that exists is replaced at the end. Collective; call
 * finish also after an error. Here and below: STORM_ERR_IO (logged),
 * STORM_ERR_NOMEM, or an error of MPI. */
storm_status io_h5_create(const struct storm_context *context, const char *dir,
                          const char *name, struct io_h5_writer **file_out);

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

/* Writes a text as an attribute of an array that was put before, or of the file
 * if `array` is NULL. Collective. */
storm_status io_h5_put_text(struct io_h5_writer *file, const char *array,
                            const char *name, const char *text);

/* A dump of hexahedra, for VTK. Names of files are without their directory. */
struct io_h5_vtk {
    const char *mesh, *fields;
    uint64_t n_cells;
    double time_s;
    /* Name of the i-th array of fields; false: there is none. */
    bool (*name)(void *self, size_t i, char *name_out, size_t bytes);
    void *self;
};

/* Makes the file, which has nothing else, one of format VTKHDF that refers to
 * arrays of the others. Collective. */
storm_status io_h5_put_vtk(struct io_h5_writer *file,
                           const struct io_h5_vtk *what);

/* Ends the file and frees. `status` is this rank's: after an error on any rank
 * the file is removed. Collective. NULL is allowed. */
storm_status io_h5_finish(struct io_h5_writer *file, storm_status status);

/* ---- reading ------------------------------------------------------------- */

/* Handle of HDF5; negative: none. */
typedef int64_t io_h5_file;

/* Rows of an array; more are damage. */
#define IO_H5_MAX_ROWS ((uint64_t)1 << 40)

/* An open array. */
struct io_h5_array {
    int64_t set, space;
    int64_t sums; /* array of checksums; negative: none */
    bool checked; /* there must be checksums */
    int n_dims;
    uint64_t shape[2]; /* rows, columns (1 if n_dims is 1); of three
                          dimensions the first two are rows; else 0 */
    uint64_t dims[3];  /* each dimension, if there are up to three */
    bool numbers;      /* not texts or other types */
    bool plain;        /* one piece of the file: neither chunks nor filters */
    bool whole; /* IO_H5_MAX_ROWS at most, and if plain all within the file:
                   room for it may be allocated */
};

/* H5-9: can it be opened, arrays and all, without harm? Local; one rank asks
 * for a file that is not known to be good, before any opens it. Blocks, for
 * some seconds at most. */
bool io_h5_opens(const char *path);

/* Do the first bytes of a file say that it is HDF5? */
enum { IO_H5_HEAD = 8 };
bool io_h5_begins(const unsigned char head[IO_H5_HEAD], size_t n);

/* Negative: it does not exist or is not HDF5. */
io_h5_file io_h5_open(const char *path);
void io_h5_close(io_h5_file file);

/* Close it only if true. */
bool io_h5_array_open(io_h5_file file, const char *name,
                      struct io_h5_array *array_out);
void io_h5_array_close(const struct io_h5_array *array);

/* Reads rows [first, first + n) as doubles or int64_t. Arrays with checksums
 * are not converted. */
storm_status io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                              uint64_t first, uint64_t n, void *rows_out);

/* Reads an attribute of the array that is a text; false: there is none, or it
 * does not fit. */
bool io_h5_array_text(const struct io_h5_array *array, const char *name,
                      char *text_out, size_t bytes);

/* Number of rows of the array `name`; false: none with so many columns that is
 * whole (then the number is 0 if there is none at all). */
bool io_h5_count_rows(io_h5_file file, const char *name, uint64_t columns,
                      uint64_t *rows_out);

/* Reads rows of the array `name`, which must have so many columns. */
storm_status io_h5_get_rows(io_h5_file file, const char *name, io_h5_kind kind,
                            uint64_t columns, uint64_t first, uint64_t n,
                            void *rows_out);

/* Does the file have checksums? */
bool io_h5_has_checksums(io_h5_file file);

/* Visits the names of all objects of the file, in order, until a visit returns
 * false. */
typedef bool io_h5_visit(void *self, const char *name);
bool io_h5_visit_names(io_h5_file file, io_h5_visit *visit, void *self);

/* What is under this name? */
typedef enum io_h5_sort { IO_H5_ARRAY, IO_H5_OTHER, IO_H5_BROKEN } io_h5_sort;
io_h5_sort io_h5_sort_of(io_h5_file file, const char *name);

/* Reads an attribute of the file. */
bool io_h5_get_number(io_h5_file file, const char *name, double *value_out);

#endif /* STORM_IO_H5_H */
