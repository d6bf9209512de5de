/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points from files: one reader for each format, chosen by what the file
 * begins with.
 *
 *   P1  All ranks together read all points, each a part; in order of rank they
 *       are in the order of the file.
 *   P2  Files are not trusted. What is wrong is logged, with the file and what
 *       was expected, by the rank that has seen it, or by rank 0 alone if all
 *       have.
 */
#ifndef STORM_IO_POINTS_H
#define STORM_IO_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include <storm/status.h>

#include "base/env.h"

enum { IO_POINTS_HEAD = 8 }; /* bytes at the start of a file */

/* What one rank reads of a file. */
struct io_points_share {
    const struct storm_env *env;
    const char *path;
    double *points; /* from storm_alloc */
    size_t n, capacity;
};

struct io_points_format {
    const char *name;
    bool (*begins)(const unsigned char head[IO_POINTS_HEAD], size_t n);
    /* Fills in the points of this rank; what there is stays, also after an
     * error. Local. */
    storm_status (*read)(struct io_points_share *share);
};

extern const struct io_points_format io_points_text;
extern const struct io_points_format io_points_hdf5;

/* Room for so many points in all. */
storm_status io_points_reserve(struct io_points_share *share, size_t n);

#endif /* STORM_IO_POINTS_H */
