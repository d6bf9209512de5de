/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of an HDF5 file: where each array lies, and all bytes that are
 * not rows of an array. Local.
 *
 *   LAYOUT-1  HDF5 makes the file in memory, without the rows, and never has
 *             one on the disk open for writing: no failure of the disk reaches
 *             HDF5, nor its functions that run at exit.
 *   LAYOUT-2  Arrays are contiguous. Their rows take no memory here.
 *   LAYOUT-3  Every byte of the file is either of rows or copied from here,
 *             and is written once.
 */
#ifndef STORM_IO_H5_LAYOUT_H
#define STORM_IO_H5_LAYOUT_H

#include <stdbool.h>

#include "base/memory.h"
#include "io/io_files.h"
#include "io/io_h5.h"

struct io_h5_layout {
    int fd; /* of memory; negative: closed */
    io_h5_file file;
    struct storm_memory *memory;
    size_t ranges_capacity, arrays_capacity;
    size_t n_ranges; /* of rows, and of their checksums */
    struct io_h5_range {
        uint64_t offset, bytes;
    } * ranges;
    size_t n_arrays; /* with rows */
    struct io_h5_place {
        struct io_h5_range rows, sums;
        uint64_t n_rows, columns;
    } * arrays;
};

/* Functions return 0, or the errno of a failure: no memory, as a rule. */
int io_h5_layout_open(struct io_h5_layout *layout, struct storm_memory *memory);

/* Adds an array; the two ranges are of its rows and its checksums. */
int io_h5_layout_array(struct io_h5_layout *layout,
                       const struct io_h5_share *array, uint64_t n_rows,
                       struct io_h5_range ranges_out[2]);

int io_h5_layout_number(struct io_h5_layout *layout, const char *name,
                        double value);

/* A text as an attribute of an array, or of the file if `array` is NULL. */
int io_h5_layout_text(struct io_h5_layout *layout, const char *array,
                      const char *name, const char *text);

/* io_h5_vtk.c: makes the file a VTKHDF file. */
int io_h5_layout_vtk(struct io_h5_layout *layout, const struct io_h5_vtk *what);

/* Writes all that is not rows. */
int io_h5_layout_write(struct io_h5_layout *layout, struct io_part *part);

/* H5-11: reads back the file at `path`, after write. EBADMSG: it has other
 * bytes than were written. */
int io_h5_layout_check(const struct io_h5_layout *layout, const char *path);

/* Allowed if it is closed. */
void io_h5_layout_close(struct io_h5_layout *layout);

#endif /* STORM_IO_H5_LAYOUT_H */
