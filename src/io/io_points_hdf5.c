/* SPDX-License-Identifier: BSD-3-Clause */
/* Points from HDF5: an array of n x 3 numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "io/io_points.h"

/* In the mesh of a run `points` are corners: generators come first. */
static const char *const hdf5_names[] = {"generator", "points"};

struct hdf5_array {
    const char *name;
    hid_t set, space;
    hsize_t shape[2];
    int rank;
    H5T_class_t class; /* of its numbers */
};

static bool hdf5_begins(const unsigned char head[POINTS_HEAD], size_t n)
{
    static const unsigned char signature[POINTS_HEAD] = {
        0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return n == sizeof signature && memcmp(head, signature, n) == 0;
}

static storm_status hdf5_fail(const struct points_share *share,
                              const char *what)
{
    if (share->env->rank == 0)
        storm_log_write(&share->env->log, STORM_LOG_ERROR,
                        "%s: %s; expected `generator` or `points`, an array of "
                        "n x 3 numbers",
                        share->path, what);
    return STORM_ERR_IO;
}

static bool hdf5_open(hid_t file, const char *name, struct hdf5_array *array)
{
    *array = (struct hdf5_array){.name = name, .space = -1, .rank = -1};
    array->set = H5Dopen2(file, name, H5P_DEFAULT);
    if (array->set < 0)
        return false;
    hid_t type = H5Dget_type(array->set);
    array->class = H5Tget_class(type);
    H5Tclose(type);
    array->space = H5Dget_space(array->set);
    array->rank = H5Sget_simple_extent_ndims(array->space);
    if (array->rank == 2)
        H5Sget_simple_extent_dims(array->space, array->shape, NULL);
    return true;
}

static void hdf5_close(const struct hdf5_array *array)
{
    if (array->space >= 0)
        H5Sclose(array->space);
    if (array->set >= 0)
        H5Dclose(array->set);
}

static storm_status hdf5_check(const struct points_share *share,
                               const struct hdf5_array *array)
{
    char what[256];
    if (array->class != H5T_FLOAT && array->class != H5T_INTEGER)
        snprintf(what, sizeof what, "`%s` does not hold numbers", array->name);
    else if (array->rank != 2)
        snprintf(what, sizeof what, "`%s` has %d dimensions", array->name,
                 array->rank);
    else if (array->shape[1] != 3)
        snprintf(what, sizeof what, "`%s` is %" PRIu64 " x %" PRIu64,
                 array->name, (uint64_t)array->shape[0],
                 (uint64_t)array->shape[1]);
    else
        return STORM_OK;
    return hdf5_fail(share, what);
}

/* This rank's rows: equal shares. */
static storm_status hdf5_rows(struct points_share *share,
                              const struct hdf5_array *array)
{
    uint64_t size = (uint64_t)share->env->size;
    uint64_t rank = (uint64_t)share->env->rank;
    uint64_t each = array->shape[0] / size, rest = array->shape[0] % size;
    hsize_t from[2] = {each * rank + (rank < rest ? rank : rest), 0};
    hsize_t shape[2] = {each + (rank < rest), 3};
    storm_status status = points_reserve(share, (size_t)shape[0]);
    if (status < 0 || shape[0] == 0)
        return status;
    hid_t memory = H5Screate_simple(2, shape, NULL);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(array->space, H5S_SELECT_SET, from, NULL,
                                    shape, NULL) >= 0 &&
                H5Dread(array->set, H5T_NATIVE_DOUBLE, memory, array->space,
                        H5P_DEFAULT, share->points) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    if (good) {
        share->n = (size_t)shape[0];
        return STORM_OK;
    }
    storm_log_write(&share->env->log, STORM_LOG_ERROR,
                    "%s: rows from %" PRIu64 " of `%s` cannot be read",
                    share->path, (uint64_t)from[0], array->name);
    return STORM_ERR_IO;
}

static storm_status hdf5_read_file(struct points_share *share, hid_t file)
{
    struct hdf5_array array = {.set = -1, .space = -1};
    bool found = false;
    for (size_t i = 0; i < sizeof hdf5_names / sizeof hdf5_names[0]; i++) {
        found = hdf5_open(file, hdf5_names[i], &array);
        if (found)
            break;
    }
    if (!found)
        return hdf5_fail(share, "has no points");
    storm_status status = hdf5_check(share, &array);
    if (status >= 0)
        status = hdf5_rows(share, &array);
    hdf5_close(&array);
    return status;
}

static storm_status hdf5_read(struct points_share *share)
{
    storm_status status = STORM_ERR_IO;
    H5E_BEGIN_TRY /* it prints what goes wrong unless it is told not to */
    {
        hid_t file = H5Fopen(share->path, H5F_ACC_RDONLY, H5P_DEFAULT);
        if (file >= 0) {
            status = hdf5_read_file(share, file);
            H5Fclose(file);
        } else {
            hdf5_fail(share, "is damaged");
        }
    }
    H5E_END_TRY;
    return status;
}

const struct points_format points_hdf5 = {
    .name = "HDF5",
    .begins = hdf5_begins,
    .read = hdf5_read,
};
