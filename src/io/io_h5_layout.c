/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_h5_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/io_h5_sums.h"

static const char layout_label[] = "output";

enum { LAYOUT_PIECE = 4096 }; /* bytes that are read at once */

/* HDF5 does not say why it failed. Without a disk it is memory. */
static int layout_error(bool good)
{
    return good ? 0 : ENOMEM;
}

/* The driver of HDF5 for stdio opens a path of /proc as it is; the default one
 * asks for the name behind it, and memory has none. */
static hid_t layout_create(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_stdio(access) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

int io_h5_layout_open(struct io_h5_layout *layout, struct storm_memory *memory)
{
    *layout = (struct io_h5_layout){.fd = -1, .file = -1, .memory = memory};
    layout->fd = memfd_create("storm layout", MFD_CLOEXEC);
    if (layout->fd < 0)
        return errno;
    hid_t group = -1;
    H5E_BEGIN_TRY
    {
        layout->file = layout_create(layout->fd);
        if (layout->file >= 0)
            group = H5Gcreate2((hid_t)layout->file, IO_H5_SUMS, H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT);
        if (group >= 0)
            H5Gclose(group);
    }
    H5E_END_TRY;
    return layout_error(group >= 0);
}

void io_h5_layout_close(struct io_h5_layout *layout)
{
    H5E_BEGIN_TRY
    {
        if (layout->file >= 0)
            H5Fclose((hid_t)layout->file);
    }
    H5E_END_TRY;
    if (layout->fd >= 0)
        close(layout->fd);
    storm_free(layout->memory, layout->ranges);
    storm_free(layout->memory, layout->arrays);
    layout->ranges = NULL;
    layout->arrays = NULL;
    layout->file = -1;
    layout->fd = -1;
}

/* ---- arrays -------------------------------------------------------------- */

/* Contiguous (LAYOUT-2), without time stamps (H5-2); no rows are written. */
static hid_t layout_properties(void)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (properties >= 0 && H5Pset_layout(properties, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_obj_track_times(properties, 0) >= 0)
        return properties;
    if (properties >= 0)
        H5Pclose(properties);
    return -1;
}

static bool layout_add(struct io_h5_layout *layout, const char *name,
                       hid_t type, const hsize_t shape[2],
                       struct io_h5_range *range_out)
{
    struct io_h5_range range = {.bytes = shape[0] * shape[1] * 8};
    hid_t properties = layout_properties();
    hid_t space = H5Screate_simple(shape[1] > 1 ? 2 : 1, shape, NULL);
    hid_t set = H5Dcreate2((hid_t)layout->file, name, type, space, H5P_DEFAULT,
                           properties, H5P_DEFAULT);
    bool good = properties >= 0 && space >= 0 && set >= 0;
    if (good && range.bytes > 0) {
        haddr_t offset = H5Dget_offset(set);
        void *ranges = layout->ranges;
        good = offset != HADDR_UNDEF &&
               storm_reserve(layout->memory, layout_label, sizeof range,
                             layout->n_ranges + 1, &ranges,
                             &layout->ranges_capacity) == STORM_OK;
        range.offset = offset;
        layout->ranges = ranges;
        if (good)
            layout->ranges[layout->n_ranges++] = range;
    }
    if (set >= 0)
        H5Dclose(set);
    if (space >= 0)
        H5Sclose(space);
    if (properties >= 0)
        H5Pclose(properties);
    *range_out = range;
    return good;
}

/* A limit on the size of files is one for this memory, too: HDF5 must not meet
 * it (LAYOUT-1). */
static bool layout_too_large(const struct io_h5_layout *layout, uint64_t bytes)
{
    enum { ELSE = 1 << 20 }; /* more than all that is not rows */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    for (size_t i = 0; i < layout->n_ranges; i++)
        bytes += layout->ranges[i].bytes;
    return limit.rlim_cur < ELSE || bytes > limit.rlim_cur - ELSE;
}

int io_h5_layout_array(struct io_h5_layout *layout,
                       const struct io_h5_share *array, uint64_t n_rows,
                       struct io_h5_range ranges_out[2])
{
    char name[256];
    const hsize_t shape[2] = {n_rows, array->columns};
    const hsize_t sums[2] = {io_h5_n_blocks(n_rows, array->columns), 1};
    bool good;
    if (layout_too_large(layout, (shape[0] * shape[1] + sums[0]) * 8))
        return EFBIG;
    snprintf(name, sizeof name, IO_H5_SUMS "/%s", array->name);
    H5E_BEGIN_TRY
    {
        good =
            layout_add(layout, array->name,
                       array->kind == IO_H5_INTEGER ? H5T_NATIVE_INT64
                                                    : H5T_NATIVE_DOUBLE,
                       shape, &ranges_out[0]) &&
            layout_add(layout, name, H5T_NATIVE_UINT64, sums, &ranges_out[1]);
    }
    H5E_END_TRY;
    const struct io_h5_place place = {.rows = ranges_out[0],
                                      .sums = ranges_out[1],
                                      .n_rows = n_rows,
                                      .columns = array->columns};
    if (!good || n_rows == 0)
        return layout_error(good);
    void *arrays = layout->arrays;
    if (storm_reserve(layout->memory, layout_label, sizeof place,
                      layout->n_arrays + 1, &arrays,
                      &layout->arrays_capacity) < 0)
        return ENOMEM;
    layout->arrays = arrays;
    layout->arrays[layout->n_arrays++] = place;
    return 0;
}

/* ---- numbers ------------------------------------------------------------- */

static bool layout_put_number(hid_t file, const char *name, double value)
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

int io_h5_layout_number(struct io_h5_layout *layout, const char *name,
                        double value)
{
    bool good;
    H5E_BEGIN_TRY
    {
        good = layout_put_number((hid_t)layout->file, name, value);
    }
    H5E_END_TRY;
    return layout_error(good);
}

static bool layout_put_text(hid_t file, const char *array, const char *name,
                            const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    hid_t mark = -1;
    bool good = space >= 0 && type >= 0 &&
                H5Tset_size(type, strlen(text) + 1) >= 0 &&
                H5Tset_strpad(type, H5T_STR_NULLTERM) >= 0;
    if (good)
        mark = H5Acreate_by_name(file, array != NULL ? array : ".", name, type,
                                 space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    good = mark >= 0 && H5Awrite(mark, type, text) >= 0;
    if (mark >= 0)
        good = H5Aclose(mark) >= 0 && good;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return good;
}

int io_h5_layout_text(struct io_h5_layout *layout, const char *array,
                      const char *name, const char *text)
{
    bool good;
    H5E_BEGIN_TRY
    {
        good = layout_put_text((hid_t)layout->file, array, name, text);
    }
    H5E_END_TRY;
    return layout_error(good);
}

/* ---- all that is not rows ------------------------------------------------ */

static int layout_compare(const void *a, const void *b)
{
    const struct io_h5_range *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Reads n bytes, all of them. */
static int layout_read(int fd, void *bytes_out, size_t n, uint64_t from)
{
    char *at = bytes_out;
    while (n > 0) {
        ssize_t done = pread(fd, at, n, (off_t)from);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        at += done;
        n -= (size_t)done;
        from += (uint64_t)done;
    }
    return 0;
}

/* What is done with n bytes that are not rows. */
typedef int layout_visit(void *self, const void *bytes, size_t n,
                         uint64_t from);

/* Visits the bytes [from, to). */
static int layout_visit_gap(const struct io_h5_layout *layout, uint64_t from,
                            uint64_t to, layout_visit *visit, void *self)
{
    unsigned char piece[LAYOUT_PIECE];
    int error = 0;
    for (size_t n; from < to && error == 0; from += n) {
        n = to - from < LAYOUT_PIECE ? (size_t)(to - from) : LAYOUT_PIECE;
        error = layout_read(layout->fd, piece, n, from);
        if (error == 0)
            error = visit(self, piece, n, from);
    }
    return error;
}

/* The ranges are sorted. */
static int layout_visit_gaps(const struct io_h5_layout *layout,
                             layout_visit *visit, void *self)
{
    struct stat info;
    uint64_t from = 0;
    int error = fstat(layout->fd, &info) == 0 ? 0 : errno;
    for (size_t i = 0; i < layout->n_ranges && error == 0; i++) {
        const struct io_h5_range *range = &layout->ranges[i];
        error = layout_visit_gap(layout, from, range->offset, visit, self);
        from = range->offset + range->bytes;
    }
    return error != 0 ? error
                      : layout_visit_gap(layout, from, (uint64_t)info.st_size,
                                         visit, self);
}

static int layout_copy(void *self, const void *bytes, size_t n, uint64_t from)
{
    io_part_write(self, bytes, n, from);
    return 0; /* the part keeps its own error */
}

int io_h5_layout_write(struct io_h5_layout *layout, struct io_part *part)
{
    herr_t closed;
    H5E_BEGIN_TRY
    {
        closed = H5Fclose((hid_t)layout->file); /* brings memory up to date */
    }
    H5E_END_TRY;
    layout->file = -1;
    if (closed < 0)
        return layout_error(false);
    if (layout->n_ranges > 0) /* else there is no array */
        qsort(layout->ranges, layout->n_ranges, sizeof layout->ranges[0],
              layout_compare);
    return layout_visit_gaps(layout, layout_copy, part);
}

/* ---- reading back -------------------------------------------------------- */

static int layout_check_gap(void *self, const void *bytes, size_t n,
                            uint64_t from)
{
    unsigned char piece[LAYOUT_PIECE];
    const int *fd = self;
    int error = layout_read(*fd, piece, n, from);
    return error != 0 ? error : memcmp(piece, bytes, n) == 0 ? 0 : EBADMSG;
}

/* The checksum of a block against its rows. */
static int layout_check_block(const struct io_h5_place *array, int fd,
                              uint64_t block)
{
    enum { WORDS = LAYOUT_PIECE / sizeof(uint64_t) };
    uint64_t words[WORDS], right, sum = 0;
    const uint64_t each = io_h5_block_rows(array->columns);
    uint64_t end = (block + 1) * each;
    if (end > array->n_rows)
        end = array->n_rows;
    int error = layout_read(fd, &right, sizeof right,
                            array->sums.offset + block * sizeof right);
    uint64_t n, place = block * each * array->columns;
    for (; place < end * array->columns && error == 0; place += n) {
        n = end * array->columns - place;
        if (n > WORDS)
            n = WORDS;
        error = layout_read(fd, words, (size_t)n * sizeof *words,
                            array->rows.offset + place * sizeof *words);
        sum += io_h5_sum(words, n, place);
    }
    return error != 0 ? error : sum == right ? 0 : EBADMSG;
}

static int layout_check_all(const struct io_h5_layout *layout, int fd)
{
    struct stat wanted, found;
    if (fstat(layout->fd, &wanted) != 0 || fstat(fd, &found) != 0)
        return errno;
    if (wanted.st_size != found.st_size)
        return EBADMSG;
    int error = layout_visit_gaps(layout, layout_check_gap, &fd);
    for (size_t i = 0; i < layout->n_arrays && error == 0; i++) {
        const struct io_h5_place *array = &layout->arrays[i];
        error = layout_check_block(array, fd, 0);
        if (error == 0)
            error = layout_check_block(array, fd,
                                       io_h5_n_blocks(array->n_rows,
                                                      array->columns) -
                                           1);
    }
    return error;
}

int io_h5_layout_check(const struct io_h5_layout *layout, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = layout_check_all(layout, fd);
    close(fd);
    return error;
}
