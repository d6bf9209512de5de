/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HDF5 files of arrays that all ranks have a share of. Rank 0 writes, a piece
 * at a time (io/io_gather.h).
 *
 *   H1  Rows are in order of the ranks that have them.
 *   H2  The same rows give the same bytes, however they are shared; no times
 *       of day are kept.
 *   H3  What goes wrong is logged once, by rank 0; then put does nothing but
 *       hand the error on, and close says it again.
 */
#ifndef STORM_IO_H5_H
#define STORM_IO_H5_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

struct storm_context;
struct output_h5;

typedef enum output_kind { OUTPUT_REAL, OUTPUT_WHOLE } output_kind;

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

/* A number that belongs to the whole file. Collective. */
storm_status output_h5_mark(struct output_h5 *file, const char *name,
                            double value);

/* Collective. NULL is allowed. */
storm_status output_h5_close(struct output_h5 *file);

#endif /* STORM_IO_H5_H */
