/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: reading. */
#include <hdf5.h>

#include "io/io_h5.h"

io_h5_file io_h5_open(const char *path)
{
    hid_t file;
    H5E_BEGIN_TRY
    {
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    }
    H5E_END_TRY;
    return file;
}

void io_h5_close(io_h5_file file)
{
    if (file >= 0)
        H5Fclose((hid_t)file);
}

/* ---- arrays -------------------------------------------------------------- */

static void h5_read_shape(struct io_h5_array *array)
{
    hsize_t shape[2] = {0, 1};
    hid_t type = H5Dget_type((hid_t)array->set);
    H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    array->numbers = class == H5T_FLOAT || class == H5T_INTEGER;
    array->n_dims = H5Sget_simple_extent_ndims((hid_t)array->space);
    if (array->n_dims != 1 && array->n_dims != 2)
        return;
    H5Sget_simple_extent_dims((hid_t)array->space, shape, NULL);
    array->shape[0] = shape[0];
    array->shape[1] = shape[1];
}

bool io_h5_array_open(io_h5_file file, const char *name,
                      struct io_h5_array *array_out)
{
    struct io_h5_array array = {.set = -1, .space = -1};
    H5E_BEGIN_TRY
    {
        array.set = H5Dopen2((hid_t)file, name, H5P_DEFAULT);
        if (array.set >= 0)
            array.space = H5Dget_space((hid_t)array.set);
        if (array.space >= 0)
            h5_read_shape(&array);
    }
    H5E_END_TRY;
    if (array.space < 0)
        io_h5_array_close(&array);
    *array_out = array;
    return array.space >= 0;
}

void io_h5_array_close(const struct io_h5_array *array)
{
    if (array->space >= 0)
        H5Sclose((hid_t)array->space);
    if (array->set >= 0)
        H5Dclose((hid_t)array->set);
}

bool io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                      uint64_t first, uint64_t n, void *rows_out)
{
    hsize_t from[2] = {first, 0}, shape[2] = {n, array->shape[1]};
    hid_t space = (hid_t)array->space;
    bool good = false;
    if (first > array->shape[0] || n > array->shape[0] - first)
        return false;
    if (n == 0)
        return true;
    H5E_BEGIN_TRY
    {
        hid_t type =
            kind == IO_H5_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
        hid_t memory = H5Screate_simple(2, shape, NULL);
        good = memory >= 0 &&
               H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, shape,
                                   NULL) >= 0 &&
               H5Dread((hid_t)array->set, type, memory, space, H5P_DEFAULT,
                       rows_out) >= 0;
        if (memory >= 0)
            H5Sclose(memory);
    }
    H5E_END_TRY;
    return good;
}

bool io_h5_count_rows(io_h5_file file, const char *name, uint64_t columns,
                      uint64_t *rows_out)
{
    struct io_h5_array array;
    if (!io_h5_array_open(file, name, &array))
        return false;
    bool good = array.shape[1] == columns;
    *rows_out = array.shape[0];
    io_h5_array_close(&array);
    return good;
}

bool io_h5_get_rows(io_h5_file file, const char *name, io_h5_kind kind,
                    uint64_t columns, uint64_t first, uint64_t n,
                    void *rows_out)
{
    struct io_h5_array array;
    if (!io_h5_array_open(file, name, &array))
        return false;
    bool good = array.shape[1] == columns &&
                io_h5_array_rows(&array, kind, first, n, rows_out);
    io_h5_array_close(&array);
    return good;
}

/* ---- names and numbers --------------------------------------------------- */

struct h5_visitor {
    io_h5_visit *visit;
    void *self;
};

static herr_t h5_visit_one(hid_t file, const char *name, const H5L_info_t *info,
                           void *self)
{
    const struct h5_visitor *visitor = self;
    (void)file;
    (void)info;
    return visitor->visit(visitor->self, name) ? 0 : -1;
}

bool io_h5_visit_names(io_h5_file file, io_h5_visit *visit, void *self)
{
    struct h5_visitor visitor = {visit, self};
    herr_t done;
    H5E_BEGIN_TRY
    {
        done = H5Literate((hid_t)file, H5_INDEX_NAME, H5_ITER_INC, NULL,
                          h5_visit_one, &visitor);
    }
    H5E_END_TRY;
    return done >= 0;
}

bool io_h5_get_number(io_h5_file file, const char *name, double *value_out)
{
    bool good = false;
    H5E_BEGIN_TRY
    {
        hid_t mark = H5Aopen((hid_t)file, name, H5P_DEFAULT);
        hid_t space = mark >= 0 ? H5Aget_space(mark) : -1;
        good = space >= 0 &&
               H5Sget_simple_extent_npoints(space) == 1 && /* H5-4 */
               H5Aread(mark, H5T_NATIVE_DOUBLE, value_out) >= 0;
        if (space >= 0)
            H5Sclose(space);
        if (mark >= 0)
            H5Aclose(mark);
    }
    H5E_END_TRY;
    return good;
}
