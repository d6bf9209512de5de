/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: writing. */
#include "io/io_h5.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include <storm/context.h>

#include "base/env.h"
#include "io/io_gather.h"

enum { H5_PATH = 4096, H5_CHUNK_ROWS = 4096 };

struct io_h5_writer {
    const struct storm_context *context;
    storm_status status;
    bool checksums;
    /* rank 0: */
    char path[H5_PATH];
    hid_t file;
};

static bool h5_is_root(const struct io_h5_writer *file)
{
    return storm_context_rank(file->context) == 0;
}

/* H5-3 */
static storm_status h5_check(struct io_h5_writer *file, bool good)
{
    if (!good && file->status == STORM_OK) {
        storm_context_log(file->context, STORM_LOG_ERROR,
                          "cannot write %s: is the disk full?", file->path);
        file->status = STORM_ERR_IO;
    }
    return file->status;
}

storm_status io_h5_create(const struct storm_context *context, const char *dir,
                          const char *name, struct io_h5_writer **file_out)
{
    struct storm_memory *memory = storm_context_env(context)->memory;
    struct io_h5_writer *file = storm_alloc(memory, "output", sizeof *file);
    storm_status status =
        storm_context_agree(context, file != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, file);
        return status;
    }
    *file_out = file;
    file->context = context;
    file->file = -1;
    if (h5_is_root(file)) {
        int n = snprintf(file->path, sizeof file->path, "%s/%s", dir, name);
        H5E_BEGIN_TRY
        {
            if (n < H5_PATH)
                file->file = H5Fcreate(file->path, H5F_ACC_TRUNC, H5P_DEFAULT,
                                       H5P_DEFAULT);
        }
        H5E_END_TRY;
        h5_check(file, file->file >= 0);
    }
    file->status = storm_context_agree(context, file->status);
    return file->status;
}

void io_h5_add_checksums(struct io_h5_writer *file)
{
    file->checksums = true;
}

storm_status io_h5_finish(struct io_h5_writer *file)
{
    if (file == NULL)
        return STORM_OK;
    if (h5_is_root(file) && file->file >= 0) {
        herr_t closed;
        H5E_BEGIN_TRY
        {
            closed = H5Fclose(file->file);
        }
        H5E_END_TRY;
        h5_check(file, closed >= 0);
    }
    storm_status status = storm_context_agree(file->context, file->status);
    storm_free(storm_context_env(file->context)->memory, file);
    return status;
}

/* ---- arrays -------------------------------------------------------------- */

/* An array that is being written, on rank 0. */
struct h5_target {
    struct io_h5_writer *file;
    hid_t set, space, memory_type;
    hsize_t next; /* row */
    size_t columns;
};

static bool h5_open_target(const struct io_h5_share *array, uint64_t n_rows,
                           struct h5_target *target)
{
    bool whole = array->kind == IO_H5_INTEGER;
    int n_dims = array->columns > 1 ? 2 : 1;
    hsize_t shape[2] = {n_rows, array->columns};
    /* Only arrays that may grow can have chunks, and only chunks checksums. */
    hsize_t max[2] = {H5S_UNLIMITED, array->columns};
    /* Chunks are written whole: no larger than the array. */
    hsize_t rows = n_rows < H5_CHUNK_ROWS ? n_rows : H5_CHUNK_ROWS;
    hsize_t chunk[2] = {rows > 0 ? rows : 1, array->columns};
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    target->memory_type = whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    target->columns = array->columns;
    target->space =
        H5Screate_simple(n_dims, shape, target->file->checksums ? max : NULL);
    bool good = properties >= 0 && H5Pset_obj_track_times(properties, 0) >= 0;
    if (good && target->file->checksums)
        good = H5Pset_chunk(properties, n_dims, chunk) >= 0 &&
               H5Pset_fletcher32(properties) >= 0;
    target->set =
        H5Dcreate2(target->file->file, array->name,
                   whole ? H5T_STD_I64LE : H5T_IEEE_F64LE, target->space,
                   H5P_DEFAULT, properties, H5P_DEFAULT);
    if (properties >= 0)
        H5Pclose(properties);
    return good && target->set >= 0;
}

static bool h5_close_target(const struct h5_target *target)
{
    bool good = target->set >= 0 && H5Dclose(target->set) >= 0;
    if (target->space >= 0)
        H5Sclose(target->space);
    return good;
}

static bool h5_write_rows(struct h5_target *target, const void *rows, size_t n)
{
    hsize_t from[2] = {target->next, 0}, shape[2] = {n, target->columns};
    hid_t memory = H5Screate_simple(2, shape, NULL);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(target->space, H5S_SELECT_SET, from, NULL,
                                    shape, NULL) >= 0 &&
                H5Dwrite(target->set, target->memory_type, memory,
                         target->space, H5P_DEFAULT, rows) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    target->next += n;
    return good;
}

static storm_status h5_take(void *self, const void *rows, size_t n)
{
    struct h5_target *target = self;
    bool good;
    H5E_BEGIN_TRY
    {
        good = h5_write_rows(target, rows, n);
    }
    H5E_END_TRY;
    return h5_check(target->file, good);
}

storm_status io_h5_put(struct io_h5_writer *file,
                       const struct io_h5_share *array)
{
    struct h5_target target = {.file = file, .set = -1, .space = -1};
    struct io_gather_rows rows = {.n = array->n,
                                  .row_bytes = array->columns * sizeof(double),
                                  .self = array->self,
                                  .fill = array->fill};
    uint64_t n_rows = array->n;
    bool good = true;
    if (file->status < 0)
        return file->status;
    storm_status status =
        storm_context_reduce(file->context, &n_rows, 1, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK && h5_is_root(file)) {
        H5E_BEGIN_TRY
        {
            good = h5_open_target(array, n_rows, &target);
        }
        H5E_END_TRY;
        status = h5_check(file, good);
    }
    status = storm_context_agree(file->context, status);
    if (status == STORM_OK)
        status = io_gather(file->context, &rows, h5_take, &target);
    if (h5_is_root(file)) {
        H5E_BEGIN_TRY
        {
            good = h5_close_target(&target);
        }
        H5E_END_TRY;
        if (status == STORM_OK)
            status = h5_check(file, good);
    }
    file->status = storm_context_agree(file->context, status);
    return file->status;
}

/* Rows that are in memory as the file has them. */
struct h5_plain {
    const char *rows;
    size_t row_bytes;
};

static void h5_fill_plain(void *self, size_t first, size_t n, void *rows_out)
{
    const struct h5_plain *plain = self;
    memcpy(rows_out, plain->rows + first * plain->row_bytes,
           n * plain->row_bytes);
}

storm_status io_h5_put_plain(struct io_h5_writer *file, const char *name,
                             io_h5_kind kind, size_t columns, const void *rows,
                             size_t n)
{
    struct h5_plain plain = {rows, columns * sizeof(double)};
    const struct io_h5_share array = {.name = name,
                                      .kind = kind,
                                      .columns = columns,
                                      .n = n,
                                      .self = &plain,
                                      .fill = h5_fill_plain};
    return io_h5_put(file, &array);
}

/* ---- numbers ------------------------------------------------------------- */

static bool h5_write_number(hid_t file, const char *name, double value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t mark =
        H5Acreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = mark >= 0 && H5Awrite(mark, H5T_NATIVE_DOUBLE, &value) >= 0;
    if (mark >= 0)
        good = H5Aclose(mark) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

storm_status io_h5_put_number(struct io_h5_writer *file, const char *name,
                              double value)
{
    bool good = true;
    if (file->status < 0)
        return file->status;
    if (h5_is_root(file)) {
        H5E_BEGIN_TRY
        {
            good = h5_write_number(file->file, name, value);
        }
        H5E_END_TRY;
        h5_check(file, good);
    }
    file->status = storm_context_agree(file->context, file->status);
    return file->status;
}
