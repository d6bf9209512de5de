/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: reading. */
#include <errno.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/io_h5.h"

io_h5_file io_h5_open(const char *path)
{
    hid_t file = -1;
    H5E_BEGIN_TRY
    {
        /* In a damaged file HDF5 may not close what it could not open. */
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
            file = H5Fopen(path, H5F_ACC_RDONLY, access);
        if (access >= 0)
            H5Pclose(access);
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

/* Types that numbers are kept in. HDF5 takes the layout of bits of any other
 * from the file, and trusts it. */
static bool h5_is_number(hid_t type)
{
    const hid_t known[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE,
                           H5T_IEEE_F32BE, H5T_STD_I64LE,  H5T_STD_I64BE,
                           H5T_STD_I32LE,  H5T_STD_I32BE,  H5T_STD_U64LE,
                           H5T_STD_U64BE,  H5T_STD_U32LE,  H5T_STD_U32BE,
                           H5T_STD_I16LE,  H5T_STD_I16BE,  H5T_STD_U16LE,
                           H5T_STD_U16BE,  H5T_STD_I8LE,   H5T_STD_U8LE};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (H5Tequal(type, known[i]) > 0)
            return true;
    return false;
}

static bool h5_is_plain(hid_t set)
{
    hid_t create = H5Dget_create_plist(set);
    bool plain = create >= 0 && H5Pget_layout(create) == H5D_CONTIGUOUS &&
                 H5Pget_external_count(create) == 0;
    if (create >= 0)
        H5Pclose(create);
    return plain;
}

static void h5_read_shape(struct io_h5_array *array)
{
    hsize_t shape[2] = {0, 1};
    hid_t type = H5Dget_type((hid_t)array->set);
    array->numbers = type >= 0 && h5_is_number(type);
    array->plain = h5_is_plain((hid_t)array->set);
    if (type >= 0)
        H5Tclose(type);
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

/* Descriptor of the open file; -1: none. */
static int h5_descriptor(hid_t set)
{
    void *handle = NULL;
    hid_t file = H5Iget_file_id(set);
    if (file >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0)
        handle = NULL;
    if (file >= 0)
        H5Fclose(file);
    return handle != NULL ? *(int *)handle : -1;
}

/* All bytes, or false. */
static bool h5_pread(int fd, char *bytes_out, size_t n, uint64_t offset)
{
    while (n > 0) {
        ssize_t got = pread(fd, bytes_out, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes_out += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

/* H5-5: n values of 8 bytes from value `first` on. */
static bool h5_read_plain(const struct io_h5_array *array, hid_t wanted,
                          uint64_t first, uint64_t n, void *values_out)
{
    int fd = h5_descriptor((hid_t)array->set);
    hid_t type = H5Dget_type((hid_t)array->set);
    haddr_t offset = H5Dget_offset((hid_t)array->set);
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    bool good = fd >= 0 && array->numbers && bytes > 0 && bytes <= 8 &&
                offset < INT64_MAX && first < INT64_MAX / 16 &&
                n < INT64_MAX / 16 &&
                h5_pread(fd, values_out, n * bytes, offset + first * bytes) &&
                H5Tconvert(type, wanted, n, values_out, NULL, H5P_DEFAULT) >= 0;
    if (type >= 0)
        H5Tclose(type);
    return good;
}

/* Chunks, which HDF5 decodes. */
static bool h5_read_chunks(const struct io_h5_array *array, hid_t wanted,
                           uint64_t first, uint64_t n, void *rows_out)
{
    hsize_t from[2] = {first, 0}, shape[2] = {n, array->shape[1]};
    hid_t space = (hid_t)array->space;
    hid_t memory = H5Screate_simple(2, shape, NULL);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, shape,
                                    NULL) >= 0 &&
                H5Dread((hid_t)array->set, wanted, memory, space, H5P_DEFAULT,
                        rows_out) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    return good;
}

bool io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                      uint64_t first, uint64_t n, void *rows_out)
{
    uint64_t columns = array->shape[1];
    bool good;
    if (first > array->shape[0] || n > array->shape[0] - first)
        return false;
    if (n == 0 || columns == 0)
        return true;
    if (array->shape[0] > UINT64_MAX / columns)
        return false;
    H5E_BEGIN_TRY
    {
        hid_t wanted =
            kind == IO_H5_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
        good = array->plain ? h5_read_plain(array, wanted, first * columns,
                                            n * columns, rows_out)
                            : h5_read_chunks(array, wanted, first, n, rows_out);
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
