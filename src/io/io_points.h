/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points from files: one reader per format, chosen by the first bytes of the
 * file.
 *
 *   POINTFILE-1  Each rank reads a part of the file; in order of rank the
 *                points are in the order of the file.
 *   POINTFILE-2  Files are not trusted. An error is logged, with the file and
 *                what was expected, by the rank that has found it, or by rank
 *                0 alone if all have.
 */
#ifndef STORM_IO_POINTS_H
#define STORM_IO_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include <storm/status.h>

#include "base/env.h"

enum { IO_POINTS_HEAD = 8 }; /* bytes at the start of a file */

/* The points of one rank. */
struct io_points_share {
    const struct storm_env *env;
    const char *path;
    double *points; /* from storm_alloc */
    size_t n, capacity;
};

struct io_points_format {
    const char *name;
    bool (*begins)(const unsigned char head[IO_POINTS_HEAD], size_t n);
    /* On rank 0, before any rank reads. STORM_ERR_IO (logged): do not. */
    storm_status (*check)(const struct io_points_share *share);
    /* Adds the points of this rank; they are not freed after an error. Local.
     * STORM_ERR_IO (logged), STORM_ERR_NOMEM. */
    storm_status (*read)(struct io_points_share *share);
};

extern const struct io_points_format io_points_text;
extern const struct io_points_format io_points_hdf5;

/* Makes room for so many points in total. STORM_ERR_NOMEM. */
storm_status io_points_reserve(struct io_points_share *share, size_t n);

/* Is it a file of points? Reads all of it, without MPI. STORM_ERR_IO (logged),
 * STORM_ERR_NOMEM. */
storm_status io_points_check(const struct storm_env *env, const char *path);

#endif /* STORM_IO_POINTS_H */
