/* SPDX-License-Identifier: BSD-3-Clause */
/* Points from HDF5: an array of n x 3 numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "io/io_h5.h"
#include "io/io_points.h"

/* In the mesh.h5 of a run `points` are corners: look for generators first. */
static const char *const hdf5_names[] = {"generator", "points"};

static storm_status hdf5_fail(const struct io_points_share *share,
                              const char *what)
{
    if (share->env->rank == 0)
        storm_log_write(&share->env->log, STORM_LOG_ERROR,
                        "%s: %s; expected `generator` or `points`, an array of "
                        "n x 3 numbers",
                        share->path, what);
    return STORM_ERR_IO;
}

static storm_status hdf5_check(const struct io_points_share *share,
                               const struct io_h5_array *array,
                               const char *name)
{
    char what[256];
    if (!array->numbers)
        snprintf(what, sizeof what, "`%s` does not hold numbers", name);
    else if (!array->plain)
        snprintf(what, sizeof what,
                 "`%s` is stored in chunks (make it contiguous: "
                 "h5repack -l CONTI OLD NEW)",
                 name);
    else if (array->n_dims != 2)
        snprintf(what, sizeof what, "`%s` has %d dimensions", name,
                 array->n_dims);
    else if (array->shape[1] != 3)
        snprintf(what, sizeof what, "`%s` is %" PRIu64 " x %" PRIu64, name,
                 array->shape[0], array->shape[1]);
    else if (!array->whole)
        snprintf(what, sizeof what, "`%s` is larger than the file", name);
    else
        return STORM_OK;
    return hdf5_fail(share, what);
}

/* This rank's rows: equal shares. */
static storm_status hdf5_rows(struct io_points_share *share,
                              const struct io_h5_array *array, const char *name)
{
    uint64_t size = (uint64_t)share->env->size;
    uint64_t rank = (uint64_t)share->env->rank;
    uint64_t each = array->shape[0] / size, rest = array->shape[0] % size;
    uint64_t first = each * rank + (rank < rest ? rank : rest);
    uint64_t n = each + (rank < rest);
    storm_status status = io_points_reserve(share, (size_t)n);
    if (status < 0)
        return status;
    if (io_h5_array_rows(array, IO_H5_REAL, first, n, share->points) ==
        STORM_OK) {
        share->n = (size_t)n;
        return STORM_OK;
    }
    storm_log_write(&share->env->log, STORM_LOG_ERROR,
                    "%s: rows from %" PRIu64 " of `%s` cannot be read or are "
                    "damaged; make the file again",
                    share->path, first, name);
    return STORM_ERR_IO;
}

static storm_status hdf5_read_file(struct io_points_share *share,
                                   io_h5_file file)
{
    struct io_h5_array array;
    size_t i = 0, n = sizeof hdf5_names / sizeof hdf5_names[0];
    while (i < n && !io_h5_array_open(file, hdf5_names[i], &array))
        i++;
    if (i == n)
        return hdf5_fail(share, "has no points");
    storm_status status = hdf5_check(share, &array, hdf5_names[i]);
    if (status >= 0)
        status = hdf5_rows(share, &array, hdf5_names[i]);
    io_h5_array_close(&array);
    return status;
}

static storm_status hdf5_read(struct io_points_share *share)
{
    io_h5_file file = io_h5_open(share->path);
    if (file < 0)
        return hdf5_fail(share, "is damaged");
    storm_status status = hdf5_read_file(share, file);
    io_h5_close(file);
    return status;
}

static storm_status hdf5_check_file(const struct io_points_share *share)
{
    return io_h5_opens(share->path) ? STORM_OK : hdf5_fail(share, "is damaged");
}

const struct io_points_format io_points_hdf5 = {
    .name = "HDF5",
    .begins = io_h5_begins,
    .check = hdf5_check_file,
    .read = hdf5_read,
};
