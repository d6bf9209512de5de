/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Means and standard errors over the replicas of a job, in files.
 *
 *   MEANS-1  A file holds the mean over the replicas so far, the standard error
 *            of that mean, and the number of replicas. Nothing else is kept
 *            between replicas, in memory or on the disk: what a file shows is
 *            what the next replica goes on from.
 *   MEANS-2  Values are added in the order of the replicas, each by itself: the
 *            same bits on any number of ranks, and after a restart.
 *   MEANS-3  Exactly once: a file that has the present replica already is left
 *            as it is. So a replica may be repeated, from any checkpoint of its
 *            own or from its start.
 *   MEANS-4  Of one replica there is no error, and files are those of a run
 *            without replicas (but counts in HDF5 are real numbers). Values
 *            that are equal in all replicas have exactly this value as mean,
 *            and the error 0.
 *   MEANS-6  NaN is no value: a place that has none in one of the replicas has
 *            neither mean nor error.
 *   MEANS-5  A file of another number of replicas, or with other names or rows,
 *            is an error (logged); nothing is written.
 */
#ifndef STORM_IO_MEANS_H
#define STORM_IO_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "io/io_fields.h"
#include "io/io_h5.h"

/* Arrays and columns of errors are named as the values, with this behind. */
#define IO_ERROR_SUFFIX "_error"

/* ---- one value ----------------------------------------------------------- */

/* All zero before the first value. */
struct io_mean {
    double mean, error;
};

/* Adds the n-th value, n = 1, 2, ... */
void io_mean_add(struct io_mean *mean, uint64_t n, double value);

/* ---- tables -------------------------------------------------------------- */

/* Writes a CSV file, as struct io_table has them: names and rows, maybe
 * comments before them, of the present replica alone. From the second replica
 * on the file has means, further columns NAME_error behind, and a first comment
 * that ends with `replicas N`. Columns of `keys`, separated by commas, must be
 * equal in all replicas and get no error. On rank 0. STORM_ERR_IO,
 * STORM_ERR_STATE (MEANS-5), both logged; STORM_ERR_NOMEM. */
storm_status io_means_table(const struct io_source *source, const char *name,
                            const char *keys, const char *text);

/* The same of a file <name>-<replica>.csv that the present replica has written,
 * into <name>.csv; nothing if there is none. */
storm_status io_means_file(const struct io_source *source, const char *name,
                           const char *keys);

/* ---- arrays -------------------------------------------------------------- */

/* The file of the replicas so far, while it is replaced. */
struct io_means {
    const struct io_source *source;
    uint64_t n;      /* the present replica, from 1 */
    bool is_done;    /* MEANS-3: there is nothing to write */
    io_h5_file file; /* negative: none, or not needed */
    char name[64];
};

/* Opens it, before the new one is created. Close it also after an error.
 * Collective. STORM_ERR_IO, STORM_ERR_STATE (logged). */
storm_status io_means_open(const struct io_source *source, const char *name,
                           struct io_means *means_out);
void io_means_close(struct io_means *means);

/* Writes the number of replicas. Collective, once for each file. */
storm_status io_means_put_number(const struct io_means *means,
                                 struct io_h5_writer *file);

/* A share of an array of doubles: rows [first, first + n) of all. */
struct io_means_rows {
    const char *name;
    size_t columns;
    uint64_t first;
    size_t n;
    const double *values; /* of the present replica */
};

/* Writes the means and, from the second replica on, the errors. Collective. */
storm_status io_means_put(const struct io_means *means,
                          struct io_h5_writer *file,
                          const struct io_means_rows *rows);

#endif /* STORM_IO_MEANS_H */
