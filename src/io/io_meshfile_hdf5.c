/* SPDX-License-Identifier: BSD-3-Clause */
/* Meshes from HDF5: the layout is in docs/mesh-files.md. */
#include <inttypes.h>
#include <stdio.h>

#include "io/io_h5.h"
#include "io/io_meshfile.h"

enum { HDF5_ROWS = 4096 }; /* that are read at once */

/* An array that is read from its first row to its last. */
struct hdf5_stream {
    struct io_meshfile *file;
    const char *name;
    struct io_h5_array array;
    bool is_open, is_optional;
    io_h5_kind kind;
    uint64_t next;    /* row */
    size_t at, ready; /* rows in the buffer */
    union {
        double real[3 * HDF5_ROWS];
        int64_t integer[3 * HDF5_ROWS];
    } rows;
};

/* The arrays of a file. */
enum hdf5_name {
    CELL_OFFSETS,
    FACE_OFFSETS,
    FACE_POINTS,
    BOUNDARY,
    NUMBER, /* may be missing */
    N_STREAMS
};
static const char *const hdf5_names[N_STREAMS] = {
    "cell_offsets", "face_offsets", "face_points", "boundary", "number"};

/* ---- one array ----------------------------------------------------------- */

static storm_status hdf5_open(struct hdf5_stream *s, io_h5_file h5,
                              uint64_t columns)
{
    const struct io_h5_array *a = &s->array;
    const char *what =
        columns == 3 ? "an array of n x 3 numbers" : "a list of whole numbers";
    s->is_open = io_h5_array_open(h5, s->name, &s->array);
    if (!s->is_open && s->is_optional)
        return STORM_OK;
    if (!s->is_open)
        return io_meshfile_fail(s->file, ": has no array `%s`: expected %s",
                                s->name, what);
    if (!a->numbers)
        return io_meshfile_fail(s->file,
                                ": `%s`: expected %s, got another "
                                "type",
                                s->name, what);
    if (a->n_dims != (columns == 3 ? 2 : 1) || a->shape[1] != columns)
        return io_meshfile_fail(s->file,
                                ": `%s`: expected %s, got %d dimensions, "
                                "%" PRIu64 " x %" PRIu64,
                                s->name, what, a->n_dims, a->shape[0],
                                a->shape[1]);
    if (!a->plain)
        return io_meshfile_fail(s->file,
                                ": `%s`: is stored in chunks; make it "
                                "contiguous: h5repack -l CONTI OLD NEW",
                                s->name);
    return STORM_OK;
}

/* Makes the next row ready. */
static storm_status hdf5_row(struct hdf5_stream *s)
{
    if (s->at < s->ready)
        return STORM_OK;
    uint64_t left = s->array.shape[0] - s->next;
    uint64_t n = left < HDF5_ROWS ? left : HDF5_ROWS;
    if (n == 0)
        return io_meshfile_fail(s->file,
                                ": `%s`: expected more than %" PRIu64 " rows",
                                s->name, s->next);
    if (io_h5_array_rows(&s->array, s->kind, s->next, n, &s->rows) != STORM_OK)
        return io_meshfile_fail(s->file,
                                ": `%s`: rows from %" PRIu64
                                " on cannot be read or are damaged; "
                                "make the file again",
                                s->name, s->next);
    s->next += n;
    s->at = 0;
    s->ready = (size_t)n;
    return STORM_OK;
}

/* The next whole number, within limits. */
static storm_status hdf5_next(struct hdf5_stream *s, int64_t min, int64_t max,
                              int64_t *value_out)
{
    storm_status status = hdf5_row(s);
    if (status < 0)
        return status;
    int64_t value = s->rows.integer[s->at++];
    if (value < min || value > max)
        return io_meshfile_fail(s->file,
                                ": `%s`, row %" PRIu64 ": expected %" PRId64
                                " to %" PRId64 ", got %" PRId64,
                                s->name, s->next - s->ready + s->at - 1, min,
                                max, value);
    *value_out = value;
    return STORM_OK;
}

/* ---- points, cells ------------------------------------------------------- */

static storm_status hdf5_points(struct io_meshfile *file, io_h5_file h5,
                                struct hdf5_stream *s)
{
    *s = (struct hdf5_stream){
        .file = file, .name = "points", .kind = IO_H5_REAL};
    storm_status status = hdf5_open(s, h5, 3);
    for (uint64_t i = 0; status == STORM_OK && i < s->array.shape[0]; i++) {
        status = hdf5_row(s);
        if (status == STORM_OK)
            status = io_meshfile_add_point(file, &s->rows.real[3 * s->at++]);
    }
    return status;
}

static storm_status hdf5_face(struct io_meshfile *file, struct hdf5_stream *s,
                              int64_t *corner)
{
    uint32_t corners[IO_MESHFILE_MAX_CORNERS];
    int64_t end, point, number = 0;
    size_t n = 0;
    storm_status status = hdf5_next(&s[FACE_OFFSETS], *corner + 3,
                                    *corner + IO_MESHFILE_MAX_CORNERS, &end);
    for (; status == STORM_OK && *corner < end; (*corner)++) {
        status =
            hdf5_next(&s[FACE_POINTS], 0, (int64_t)file->n_points - 1, &point);
        if (status == STORM_OK)
            corners[n++] = (uint32_t)point;
    }
    if (status == STORM_OK)
        status = hdf5_next(&s[BOUNDARY], IO_MESHFILE_INSIDE,
                           IO_MESHFILE_MAX_BOUNDARY, &number);
    return status < 0 ? status : io_meshfile_add_face(file, n, corners, number);
}

/* Rows that nothing refers to are a sign of wrong offsets. */
static storm_status hdf5_end(const struct hdf5_stream *s)
{
    uint64_t used = s->next - s->ready + s->at;
    if (used == s->array.shape[0])
        return STORM_OK;
    return io_meshfile_fail(s->file,
                            ": `%s`: expected %" PRIu64 " rows, by the "
                            "offsets, got %" PRIu64,
                            s->name, used, s->array.shape[0]);
}

static storm_status hdf5_cells(struct io_meshfile *file, struct hdf5_stream *s)
{
    int64_t face = 0, corner = 0, end, number = 0;
    storm_status status = hdf5_next(&s[CELL_OFFSETS], 0, 0, &face);
    if (status == STORM_OK)
        status = hdf5_next(&s[FACE_OFFSETS], 0, 0, &corner);
    for (uint64_t c = 1;
         status == STORM_OK && c < s[CELL_OFFSETS].array.shape[0]; c++) {
        status = hdf5_next(&s[CELL_OFFSETS], face + 4, INT64_MAX / 2, &end);
        for (; status == STORM_OK && face < end; face++)
            status = hdf5_face(file, s, &corner);
        if (status == STORM_OK && s[NUMBER].is_open)
            status =
                hdf5_next(&s[NUMBER], 0, IO_MESHFILE_MAX_BOUNDARY, &number);
        if (status == STORM_OK)
            status = io_meshfile_end_cell(file, c - 1, number);
    }
    for (int i = 0; i < N_STREAMS && status == STORM_OK; i++)
        if (s[i].is_open)
            status = hdf5_end(&s[i]);
    return status;
}

static storm_status hdf5_arrays(struct io_meshfile *file, io_h5_file h5,
                                struct hdf5_stream *s)
{
    storm_status status = hdf5_points(file, h5, &s[0]);
    if (s[0].is_open)
        io_h5_array_close(&s[0].array);
    for (int i = 0; i < N_STREAMS; i++)
        s[i] = (struct hdf5_stream){.file = file,
                                    .name = hdf5_names[i],
                                    .kind = IO_H5_INTEGER,
                                    .is_optional = i == NUMBER};
    for (int i = 0; i < N_STREAMS && status == STORM_OK; i++)
        status = hdf5_open(&s[i], h5, 1);
    if (status == STORM_OK)
        status = hdf5_cells(file, s);
    for (int i = 0; i < N_STREAMS; i++)
        if (s[i].is_open)
            io_h5_array_close(&s[i].array);
    return status;
}

static storm_status hdf5_read(struct io_meshfile *file)
{
    struct storm_memory *memory = file->env->memory;
    if (!io_h5_opens(file->path))
        return io_meshfile_fail(file, ": is damaged; make it again");
    struct hdf5_stream *streams =
        storm_alloc(memory, "mesh file", N_STREAMS * sizeof *streams);
    if (streams == NULL)
        return STORM_ERR_NOMEM;
    io_h5_file h5 = io_h5_open(file->path);
    storm_status status = h5 < 0 ? io_meshfile_fail(file, ": is damaged; make "
                                                          "it again")
                                 : hdf5_arrays(file, h5, streams);
    io_h5_close(h5);
    storm_free(memory, streams);
    return status;
}

const struct io_meshfile_format io_meshfile_hdf5 = {
    .name = "HDF5",
    .begins = io_h5_begins,
    .read = hdf5_read,
};
