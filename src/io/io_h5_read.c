/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: reading. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/io_h5.h"
#include "io/io_h5_sums.h"

bool io_h5_begins(const unsigned char head[IO_H5_HEAD], size_t n)
{
    static const unsigned char signature[IO_H5_HEAD] = {0x89, 'H',  'D',  'F',
                                                        '\r', '\n', 0x1a, '\n'};
    return n == sizeof signature && memcmp(head, signature, n) == 0;
}

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

bool io_h5_has_checksums(io_h5_file file)
{
    bool has;
    H5E_BEGIN_TRY
    {
        has = H5Lexists((hid_t)file, IO_H5_SUMS, H5P_DEFAULT) > 0;
    }
    H5E_END_TRY;
    return has;
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

/* Are so many bytes of a plain array within the file? */
static bool h5_is_within(hid_t set, uint64_t rows, uint64_t row_bytes)
{
    struct stat file;
    haddr_t offset = H5Dget_offset(set);
    int fd = h5_descriptor(set);
    if (rows == 0 || row_bytes == 0)
        return true;
    return fd >= 0 && fstat(fd, &file) == 0 &&
           offset <= (uint64_t)file.st_size &&
           rows <= ((uint64_t)file.st_size - offset) / row_bytes;
}

static bool h5_is_whole(const struct io_h5_array *array, size_t value_bytes)
{
    const uint64_t *shape = array->shape;
    if (shape[0] > IO_H5_MAX_ROWS || value_bytes == 0 ||
        shape[1] > UINT64_MAX / value_bytes)
        return false;
    return !array->plain ||
           h5_is_within((hid_t)array->set, shape[0], shape[1] * value_bytes);
}

static void h5_read_shape(struct io_h5_array *array)
{
    hsize_t shape[3] = {0, 1, 1};
    hid_t type = H5Dget_type((hid_t)array->set);
    array->numbers = type >= 0 && h5_is_number(type);
    array->plain = h5_is_plain((hid_t)array->set);
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    array->n_dims = H5Sget_simple_extent_ndims((hid_t)array->space);
    if (array->n_dims < 1 || array->n_dims > 3 ||
        (array->n_dims == 3 && !array->plain))
        return;
    H5Sget_simple_extent_dims((hid_t)array->space, shape, NULL);
    for (int d = 0; d < array->n_dims; d++)
        array->dims[d] = shape[d];
    if (array->n_dims == 3 && shape[1] > 0 && shape[0] > UINT64_MAX / shape[1])
        return;
    array->shape[0] = array->n_dims == 3 ? shape[0] * shape[1] : shape[0];
    array->shape[1] = array->n_dims == 3 ? shape[2] : shape[1];
    array->whole = h5_is_whole(array, bytes);
}

/* Is the array of this type in the file, too? */
static bool h5_is_type(hid_t set, hid_t wanted)
{
    hid_t type = H5Dget_type(set);
    bool same = type >= 0 && H5Tequal(type, wanted) > 0;
    if (type >= 0)
        H5Tclose(type);
    return same;
}

/* The array of checksums, if it is plain and has a number for each block. */
static hid_t h5_open_sums(io_h5_file file, const char *name,
                          const struct io_h5_array *array)
{
    char path[256];
    int n = snprintf(path, sizeof path, IO_H5_SUMS "/%s", name);
    hid_t sums =
        n < (int)sizeof path ? H5Dopen2((hid_t)file, path, H5P_DEFAULT) : -1;
    hid_t space = sums >= 0 ? H5Dget_space(sums) : -1;
    bool good = space >= 0 && array->shape[1] > 0 && h5_is_plain(sums) &&
                h5_is_type(sums, H5T_NATIVE_UINT64) &&
                H5Sget_simple_extent_npoints(space) ==
                    (hssize_t)io_h5_n_blocks(array->shape[0], array->shape[1]);
    if (space >= 0)
        H5Sclose(space);
    if (good || sums < 0)
        return sums;
    H5Dclose(sums);
    return -1;
}

bool io_h5_array_open(io_h5_file file, const char *name,
                      struct io_h5_array *array_out)
{
    struct io_h5_array array = {.set = -1, .space = -1, .sums = -1};
    H5E_BEGIN_TRY
    {
        array.set = H5Dopen2((hid_t)file, name, H5P_DEFAULT);
        if (array.set >= 0)
            array.space = H5Dget_space((hid_t)array.set);
        if (array.space >= 0)
            h5_read_shape(&array);
        array.checked = array.space >= 0 && io_h5_has_checksums(file);
        if (array.checked)
            array.sums = h5_open_sums(file, name, &array);
    }
    H5E_END_TRY;
    if (array.space < 0)
        io_h5_array_close(&array);
    *array_out = array;
    return array.space >= 0;
}

void io_h5_array_close(const struct io_h5_array *array)
{
    if (array->sums >= 0)
        H5Dclose((hid_t)array->sums);
    if (array->space >= 0)
        H5Sclose((hid_t)array->space);
    if (array->set >= 0)
        H5Dclose((hid_t)array->set);
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
static bool h5_read_plain(hid_t set, hid_t wanted, uint64_t first, uint64_t n,
                          void *values_out)
{
    int fd = h5_descriptor(set);
    hid_t type = H5Dget_type(set);
    haddr_t offset = H5Dget_offset(set);
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    bool good = fd >= 0 && bytes > 0 && bytes <= 8 && offset < INT64_MAX &&
                first < INT64_MAX / 16 && n < INT64_MAX / 16 &&
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

static hid_t h5_type(io_h5_kind kind)
{
    return kind == IO_H5_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
}

static bool h5_read_rows(const struct io_h5_array *array, io_h5_kind kind,
                         uint64_t first, uint64_t n, void *rows_out)
{
    uint64_t columns = array->shape[1];
    if (!array->plain)
        return h5_read_chunks(array, h5_type(kind), first, n, rows_out);
    return array->numbers &&
           h5_read_plain((hid_t)array->set, h5_type(kind), first * columns,
                         n * columns, rows_out);
}

/* ---- checksums ----------------------------------------------------------- */

/* Adds rows [from, to), which are part of a block, from the file. */
static bool h5_add_rows(const struct io_h5_array *array, io_h5_kind kind,
                        uint64_t from, uint64_t to, uint64_t *sum)
{
    uint64_t words[IO_H5_BLOCK_WORDS];
    const uint64_t columns = array->shape[1];
    if (from >= to)
        return true;
    if (!h5_read_rows(array, kind, from, to - from, words))
        return false;
    *sum += io_h5_sum(words, (to - from) * columns, from * columns);
    return true;
}

/* Compares the sums of all blocks that have some of these rows. */
static bool h5_check(const struct io_h5_array *array, io_h5_kind kind,
                     uint64_t first, uint64_t n, const void *rows)
{
    const uint64_t columns = array->shape[1], end = first + n;
    const uint64_t each = io_h5_block_rows(columns);
    for (uint64_t from = first - first % each; from < end; from += each) {
        uint64_t left = array->shape[0] - from;
        uint64_t to = from + (left < each ? left : each);
        uint64_t low = from > first ? from : first, high = to < end ? to : end;
        uint64_t right, sum = 0;
        if (!h5_read_plain((hid_t)array->sums, H5T_NATIVE_UINT64, from / each,
                           1, &right) ||
            !h5_add_rows(array, kind, from, low, &sum) ||
            !h5_add_rows(array, kind, high, to, &sum))
            return false;
        sum += io_h5_sum((const uint64_t *)rows + (low - first) * columns,
                         (high - low) * columns, low * columns);
        if (sum != right)
            return false;
    }
    return true;
}

storm_status io_h5_array_rows(const struct io_h5_array *array, io_h5_kind kind,
                              uint64_t first, uint64_t n, void *rows_out)
{
    bool good = false, fits = true;
    if (first > array->shape[0] || n > array->shape[0] - first ||
        (array->shape[1] > 0 && array->shape[0] > UINT64_MAX / array->shape[1]))
        return STORM_ERR_ARG;
    if (n == 0 || array->shape[1] == 0)
        return STORM_OK;
    if (!array->whole)
        return STORM_ERR_IO;
    H5E_BEGIN_TRY
    {
        if (array->checked)
            fits = h5_is_type((hid_t)array->set, h5_type(kind));
        good = fits && (!array->checked || array->sums >= 0) &&
               h5_read_rows(array, kind, first, n, rows_out) &&
               (!array->checked || h5_check(array, kind, first, n, rows_out));
    }
    H5E_END_TRY;
    return good ? STORM_OK : fits ? STORM_ERR_IO : STORM_ERR_ARG;
}

/* A text of fixed length, or one that HDF5 allocates. */
static bool h5_read_text(hid_t mark, hid_t type, char *text_out, size_t bytes)
{
    bool good = false;
    size_t n = H5Tget_size(type);
    hid_t memory = H5Tcopy(type);
    if (memory >= 0 && H5Tis_variable_str(type) > 0) {
        char *text = NULL;
        if (H5Aread(mark, memory, &text) >= 0 && text != NULL) {
            good = strlen(text) < bytes;
            snprintf(text_out, bytes, "%s", text);
            H5free_memory(text);
        }
    } else if (memory >= 0 && n < bytes &&
               H5Aread(mark, memory, text_out) >= 0) {
        text_out[n] = '\0';
        good = true;
    }
    if (memory >= 0)
        H5Tclose(memory);
    return good;
}

bool io_h5_array_text(const struct io_h5_array *array, const char *name,
                      char *text_out, size_t bytes)
{
    bool good = false;
    H5E_BEGIN_TRY
    {
        hid_t mark = H5Aopen((hid_t)array->set, name, H5P_DEFAULT);
        hid_t space = mark >= 0 ? H5Aget_space(mark) : -1;
        hid_t type = mark >= 0 ? H5Aget_type(mark) : -1;
        good = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_STRING &&
               H5Sget_simple_extent_npoints(space) == 1 && /* H5-4 */
               h5_read_text(mark, type, text_out, bytes);
        if (type >= 0)
            H5Tclose(type);
        if (space >= 0)
            H5Sclose(space);
        if (mark >= 0)
            H5Aclose(mark);
    }
    H5E_END_TRY;
    return good;
}

bool io_h5_count_rows(io_h5_file file, const char *name, uint64_t columns,
                      uint64_t *rows_out)
{
    struct io_h5_array array;
    *rows_out = 0;
    if (!io_h5_array_open(file, name, &array))
        return false;
    bool good = array.shape[1] == columns && array.whole;
    *rows_out = array.shape[0];
    io_h5_array_close(&array);
    return good;
}

storm_status io_h5_get_rows(io_h5_file file, const char *name, io_h5_kind kind,
                            uint64_t columns, uint64_t first, uint64_t n,
                            void *rows_out)
{
    struct io_h5_array array;
    if (!io_h5_array_open(file, name, &array))
        return STORM_ERR_ARG;
    storm_status status =
        array.shape[1] == columns
            ? io_h5_array_rows(&array, kind, first, n, rows_out)
            : STORM_ERR_ARG;
    io_h5_array_close(&array);
    return status;
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

io_h5_sort io_h5_sort_of(io_h5_file file, const char *name)
{
    H5I_type_t type = H5I_BADID;
    H5E_BEGIN_TRY
    {
        hid_t object = H5Oopen((hid_t)file, name, H5P_DEFAULT);
        if (object >= 0) {
            type = H5Iget_type(object);
            H5Oclose(object);
        }
    }
    H5E_END_TRY;
    return type == H5I_DATASET ? IO_H5_ARRAY
           : type == H5I_BADID ? IO_H5_BROKEN
                               : IO_H5_OTHER;
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
