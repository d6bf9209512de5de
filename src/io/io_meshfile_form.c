/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of a mesh from a file, and the choice of its reader. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/io_meshfile.h"

static const char form_label[] = "mesh file";

/* Coordinates: volumes are numbers, too. */
static const double form_max_cm = 1e50;

/* Which capacity is whose. */
enum form_array {
    FORM_POINTS,
    FORM_NAMES,
    FORM_NUMBERS,
    FORM_CELLS,
    FORM_FACES,
    FORM_CORNERS,
    FORM_BOUNDARY
};

/* The last accepts every file. */
static const struct io_meshfile_format *const form_formats[] = {
    &io_meshfile_hdf5, &io_meshfile_gmsh};

storm_status io_meshfile_fail(const struct io_meshfile *file,
                              const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    storm_log_write(&file->env->log, STORM_LOG_ERROR, "%s%s", file->path, text);
    return STORM_ERR_IO;
}

/* ---- growing ------------------------------------------------------------- */

static storm_status form_reserve(struct io_meshfile *file, enum form_array i,
                                 size_t bytes, size_t n, void **array)
{
    return storm_reserve(file->env->memory, form_label, bytes, n, array,
                         &file->capacity[i]);
}

storm_status io_meshfile_add_point(struct io_meshfile *file, const double x[3])
{
    void *array = file->points_cm;
    for (int d = 0; d < 3; d++)
        if (!(fabs(x[d]) <= form_max_cm))
            return io_meshfile_fail(file,
                                    ": point %zu: expected coordinates up to "
                                    "%g, got %g",
                                    file->n_points, form_max_cm, x[d]);
    if (file->n_points >= INT32_MAX)
        return io_meshfile_fail(file, ": expected at most 2^31 - 1 points");
    storm_status status = form_reserve(file, FORM_POINTS, 3 * sizeof *x,
                                       file->n_points + 1, &array);
    if (status < 0)
        return status;
    file->points_cm = array;
    memcpy(&file->points_cm[3 * file->n_points++], x, 3 * sizeof *x);
    return STORM_OK;
}

/* MESHFILE-2: the least corner first, the lesser of its neighbours next. */
static void form_rotate(size_t n, const uint32_t *from, uint32_t *to)
{
    size_t least = 0;
    for (size_t i = 1; i < n; i++)
        least = from[i] < from[least] ? i : least;
    bool back = from[(least + n - 1) % n] < from[(least + 1) % n];
    for (size_t i = 0; i < n; i++)
        to[i] = from[(least + (back ? n - i : i)) % n];
}

static storm_status form_check_face(const struct io_meshfile *file, size_t n,
                                    const uint32_t *corners, int64_t boundary)
{
    if (n < 3 || n > IO_MESHFILE_MAX_CORNERS)
        return io_meshfile_fail(file,
                                ": cell %zu (from 0): expected faces of 3 to "
                                "%d corners, got %zu",
                                file->n_cells, IO_MESHFILE_MAX_CORNERS, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && corners[k] != corners[i])
            k++;
        if (corners[i] >= file->n_points || k < i)
            return io_meshfile_fail(file,
                                    ": cell %zu (from 0): a corner of a face "
                                    "is point %u: expected different points "
                                    "below %zu",
                                    file->n_cells, corners[i], file->n_points);
    }
    if (boundary < IO_MESHFILE_INSIDE || boundary > IO_MESHFILE_MAX_BOUNDARY)
        return io_meshfile_fail(file,
                                ": a boundary has number %lld: expected at "
                                "most %d",
                                (long long)boundary, IO_MESHFILE_MAX_BOUNDARY);
    return STORM_OK;
}

storm_status io_meshfile_add_face(struct io_meshfile *file, size_t n,
                                  const uint32_t *corners, int64_t boundary)
{
    size_t face = file->n_faces + file->n_marks;
    size_t at = face > 0 ? (size_t)file->first_corner[face] : 0;
    void *first = file->first_corner, *list = file->corners,
         *number = file->boundary;
    storm_status status = form_check_face(file, n, corners, boundary);
    if (status == STORM_OK)
        status = form_reserve(file, FORM_FACES, sizeof *file->first_corner,
                              face + 2, &first);
    file->first_corner = first;
    if (status == STORM_OK)
        status =
            form_reserve(file, FORM_CORNERS, sizeof *corners, at + n, &list);
    file->corners = list;
    if (status == STORM_OK)
        status = form_reserve(file, FORM_BOUNDARY, sizeof *file->boundary,
                              face + 1, &number);
    file->boundary = number;
    if (status < 0)
        return status;
    form_rotate(n, corners, &file->corners[at]);
    file->first_corner[face] = at;
    file->first_corner[face + 1] = at + n;
    file->boundary[face] = (int32_t)boundary;
    file->n_marks++; /* until the cell ends */
    return STORM_OK;
}

storm_status io_meshfile_end_cell(struct io_meshfile *file, uint64_t name,
                                  int64_t number)
{
    void *names = file->names, *first = file->first_face;
    void *numbers = file->numbers;
    if (number < 0 || number > IO_MESHFILE_MAX_BOUNDARY)
        return io_meshfile_fail(file,
                                ": %s %llu has number %lld: expected 0 to %d",
                                file->cell_word, (unsigned long long)name,
                                (long long)number, IO_MESHFILE_MAX_BOUNDARY);
    if (file->n_marks < 4)
        return io_meshfile_fail(file,
                                ": %s %llu: expected 4 or more faces, got %zu",
                                file->cell_word, (unsigned long long)name,
                                file->n_marks);
    if (file->n_cells >= INT32_MAX)
        return io_meshfile_fail(file, ": expected at most 2^31 - 1 cells");
    storm_status status = form_reserve(file, FORM_NAMES, sizeof *file->names,
                                       file->n_cells + 1, &names);
    file->names = names;
    if (status == STORM_OK)
        status = form_reserve(file, FORM_NUMBERS, sizeof *file->numbers,
                              file->n_cells + 1, &numbers);
    file->numbers = numbers;
    if (status == STORM_OK)
        status = form_reserve(file, FORM_CELLS, sizeof *file->first_face,
                              file->n_cells + 2, &first);
    file->first_face = first;
    if (status < 0)
        return status;
    file->names[file->n_cells] = name;
    file->numbers[file->n_cells] = (uint16_t)number;
    file->n_faces += file->n_marks;
    file->n_marks = 0;
    file->first_face[0] = 0;
    file->first_face[++file->n_cells] = file->n_faces;
    return STORM_OK;
}

void io_meshfile_clear(struct io_meshfile *file)
{
    void *arrays[] = {file->points_cm,    file->names,      file->first_face,
                      file->first_corner, file->corners,    file->boundary,
                      file->owner,        file->behind,     file->centroids_cm,
                      file->numbers,      file->volumes_cm3};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        storm_free(file->env->memory, arrays[i]);
    *file = (struct io_meshfile){.env = file->env, .path = file->path};
}

/* ---- reading ------------------------------------------------------------- */

/* The format of the file. STORM_ERR_IO (logged). */
static storm_status form_choose(const struct io_meshfile *file,
                                const struct io_meshfile_format **format_out)
{
    unsigned char head[IO_MESHFILE_HEAD];
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL)
        return io_meshfile_fail(file, ": %s", strerror(errno));
    size_t n = fread(head, 1, sizeof head, stream), i = 0;
    fclose(stream);
    while (!form_formats[i]->begins(head, n))
        i++;
    *format_out = form_formats[i];
    return STORM_OK;
}

storm_status io_meshfile_read(struct io_meshfile *file)
{
    const struct io_meshfile_format *format = NULL;
    file->cell_word = "cell";
    storm_status status = form_choose(file, &format);
    if (status == STORM_OK)
        status = format->read(file);
    if (status == STORM_OK && file->n_cells == 0)
        status = io_meshfile_fail(file, ": has no cells; expected one or more");
    if (status == STORM_OK)
        status = io_meshfile_match(file);
    return status < 0 ? status : io_meshfile_measure(file);
}
