/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include "base/grow.h"
#include "base/port.h"

enum {
    READER_PIECE = 1 << 18, /* words of cells */
    READER_BOX_WORDS = 32,  /* of a box as a polyhedron */
    READER_POLYHEDRON = 16, /* XDMF's number for one */
    READER_BOX_CORNERS = 8
};

/* ---- problems ------------------------------------------------------------- */

STORM_PRINTF(2, 3)
static storm_status reader_fail(struct output_reader *r, const char *format,
                                ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->problem, sizeof r->problem, format, args);
    va_end(args);
    return STORM_ERR_IO;
}

static storm_status reader_no_memory(struct output_reader *r)
{
    reader_fail(r, "%s: no memory", r->dir);
    return STORM_ERR_NOMEM;
}

/* HDF5 prints what goes wrong unless it is told not to. */
static hid_t reader_open_file(const struct output_reader *r, const char *name)
{
    char path[OUTPUT_READER_PATH + OUTPUT_READER_NAME];
    hid_t file;
    snprintf(path, sizeof path, "%s/%s", r->dir, name);
    H5E_BEGIN_TRY
    {
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    }
    H5E_END_TRY;
    return file;
}

/* ---- arrays --------------------------------------------------------------- */

/* An array of a file: rows and columns. */
struct reader_array {
    hid_t set, space;
    hsize_t shape[2];
};

static void reader_close_array(const struct reader_array *array)
{
    if (array->space >= 0)
        H5Sclose(array->space);
    if (array->set >= 0)
        H5Dclose(array->set);
}

static bool reader_open_array(hid_t file, const char *name,
                              struct reader_array *array)
{
    int rank = -1;
    *array = (struct reader_array){.set = -1, .space = -1, .shape = {0, 1}};
    H5E_BEGIN_TRY
    {
        array->set = H5Dopen2(file, name, H5P_DEFAULT);
        if (array->set >= 0)
            array->space = H5Dget_space(array->set);
        if (array->space >= 0)
            rank = H5Sget_simple_extent_ndims(array->space);
        if (rank == 1 || rank == 2)
            H5Sget_simple_extent_dims(array->space, array->shape, NULL);
    }
    H5E_END_TRY;
    if (rank == 1 || rank == 2)
        return true;
    reader_close_array(array);
    return false;
}

static bool reader_rows(const struct reader_array *array, hid_t type,
                        uint64_t first, uint64_t n, void *rows_out)
{
    hsize_t from[2] = {first, 0}, shape[2] = {n, array->shape[1]};
    bool good = false;
    if (n == 0)
        return true;
    if (first > array->shape[0] || n > array->shape[0] - first)
        return false;
    H5E_BEGIN_TRY
    {
        hid_t memory = H5Screate_simple(2, shape, NULL);
        good = memory >= 0 &&
               H5Sselect_hyperslab(array->space, H5S_SELECT_SET, from, NULL,
                                   shape, NULL) >= 0 &&
               H5Dread(array->set, type, memory, array->space, H5P_DEFAULT,
                       rows_out) >= 0;
        if (memory >= 0)
            H5Sclose(memory);
    }
    H5E_END_TRY;
    return good;
}

static bool reader_shape(hid_t file, const char *name, uint64_t *rows_out,
                         uint64_t columns)
{
    struct reader_array array;
    if (!reader_open_array(file, name, &array))
        return false;
    bool good = array.shape[1] == columns;
    *rows_out = array.shape[0];
    reader_close_array(&array);
    return good;
}

/* ---- opening -------------------------------------------------------------- */

storm_status output_reader_open(const char *dir,
                                struct output_reader *reader_out)
{
    struct output_reader *r = reader_out;
    uint64_t n_boxes = 0;
    *r = (struct output_reader){.mesh = -1};
    if (snprintf(r->dir, sizeof r->dir, "%s", dir) >= (int)sizeof r->dir)
        return reader_fail(r, "the name of the directory is too long");
    r->mesh = reader_open_file(r, "mesh.h5");
    if (r->mesh < 0)
        return reader_fail(r,
                           "%s is not the directory of a run: mesh.h5 is not "
                           "there or cannot be read",
                           dir);
    if (!reader_shape(r->mesh, "volume", &r->n_cells, 1) ||
        !reader_shape(r->mesh, "points", &r->n_points, 3))
        return reader_fail(r, "%s/mesh.h5 has no cells", dir);
    r->boxes = reader_shape(r->mesh, "corners", &n_boxes, READER_BOX_CORNERS);
    if (r->boxes ? n_boxes != r->n_cells
                 : !reader_shape(r->mesh, "cells", &r->n_words, 1))
        return reader_fail(r, "%s/mesh.h5 does not say what its cells are",
                           dir);
    return STORM_OK;
}

void output_reader_close(struct output_reader *reader)
{
    if (reader->mesh >= 0)
        H5Fclose(reader->mesh);
    reader->mesh = -1;
}

/* ---- cells ---------------------------------------------------------------- */

/* Cells in hand. */
struct reader_piece {
    struct output_reader *reader;
    struct reader_array cells, points;
    int64_t *words;
    double (*corners)[3];
    size_t n_words, words_capacity, corners_capacity;
    uint64_t next_word, next_cell; /* after the piece */
};

static bool reader_reserve_words(struct reader_piece *p, size_t n)
{
    void *words = p->words;
    bool good = storm_grow(&words, &p->words_capacity, n, sizeof *p->words);
    p->words = words;
    return good;
}

static storm_status reader_damaged(struct reader_piece *p)
{
    return reader_fail(p->reader, "%s/mesh.h5 is damaged at cell %llu",
                       p->reader->dir, (unsigned long long)p->next_cell);
}

/* The corners of a box as six faces. */
static void reader_box(const int64_t corners[READER_BOX_CORNERS],
                       int64_t words_out[READER_BOX_WORDS])
{
    static const int sides[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                    {3, 7, 6, 2}, {0, 4, 7, 3}, {1, 2, 6, 5}};
    *words_out++ = READER_POLYHEDRON;
    *words_out++ = 6;
    for (int side = 0; side < 6; side++) {
        *words_out++ = 4;
        for (int k = 0; k < 4; k++)
            *words_out++ = corners[sides[side][k]];
    }
}

static storm_status reader_next_boxes(struct reader_piece *p)
{
    uint64_t left = p->reader->n_cells - p->next_cell;
    size_t most = READER_PIECE / READER_BOX_WORDS;
    size_t n = left < most ? (size_t)left : most;
    int64_t *corners = malloc((n + 1) * READER_BOX_CORNERS * sizeof *corners);
    p->n_words = n * READER_BOX_WORDS;
    storm_status status = STORM_OK;
    if (corners == NULL || !reader_reserve_words(p, p->n_words))
        status = reader_no_memory(p->reader);
    else if (!reader_rows(&p->cells, H5T_NATIVE_INT64, p->next_cell, n,
                          corners))
        status = reader_damaged(p);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        reader_box(corners + READER_BOX_CORNERS * i,
                   p->words + READER_BOX_WORDS * i);
    free(corners);
    return status;
}

/* How many words a cell has, from what is there; 0: there are not enough, -1:
 * they cannot be of a cell. */
static int64_t reader_cell_words(const int64_t *words, size_t n)
{
    if (n < 2)
        return 0;
    if (words[0] != READER_POLYHEDRON || words[1] < 1)
        return -1;
    size_t at = 2;
    for (int64_t f = 0; f < words[1]; f++) {
        if (at >= n)
            return 0;
        if (words[at] < 3)
            return -1;
        if ((uint64_t)words[at] >= n - at)
            return 0;
        at += (size_t)words[at] + 1;
    }
    return (int64_t)at;
}

/* Whole cells: what is left of the last is read again with the next piece. */
static storm_status reader_trim(struct reader_piece *p, bool is_end,
                                size_t *n_cells_out)
{
    size_t at = 0, n_cells = 0;
    while (at < p->n_words) {
        int64_t n = reader_cell_words(p->words + at, p->n_words - at);
        if (n < 0 || (n == 0 && is_end))
            return reader_damaged(p);
        if (n == 0)
            break;
        at += (size_t)n;
        n_cells++;
    }
    p->n_words = at;
    *n_cells_out = n_cells;
    return STORM_OK;
}

static storm_status reader_next_words(struct reader_piece *p)
{
    uint64_t left = p->reader->n_words - p->next_word;
    size_t n_cells = 0;
    for (size_t wanted = READER_PIECE; n_cells == 0; wanted *= 2) {
        p->n_words = left < wanted ? (size_t)left : wanted;
        if (p->n_words == 0)
            return reader_damaged(p);
        if (!reader_reserve_words(p, p->n_words))
            return reader_no_memory(p->reader);
        if (!reader_rows(&p->cells, H5T_NATIVE_INT64, p->next_word, p->n_words,
                         p->words))
            return reader_damaged(p);
        storm_status status = reader_trim(p, p->n_words == left, &n_cells);
        if (status < 0)
            return status;
    }
    p->next_word += p->n_words;
    return STORM_OK;
}

/* Reads the corners that the words name and counts them from the first. */
static storm_status reader_corners(struct reader_piece *p)
{
    int64_t least = INT64_MAX, most = -1;
    for (size_t at = 0; at < p->n_words;) {
        int64_t n_faces = p->words[at + 1];
        at += 2;
        for (; n_faces > 0; n_faces--)
            for (int64_t n = p->words[at++]; n > 0; n--, at++) {
                least = p->words[at] < least ? p->words[at] : least;
                most = p->words[at] > most ? p->words[at] : most;
            }
    }
    if (least < 0 || most < 0 || (uint64_t)most >= p->reader->n_points)
        return reader_damaged(p);
    size_t n = (size_t)(most - least) + 1;
    void *corners = p->corners;
    bool good =
        storm_grow(&corners, &p->corners_capacity, n, sizeof *p->corners);
    p->corners = corners;
    if (!good)
        return reader_no_memory(p->reader);
    if (!reader_rows(&p->points, H5T_NATIVE_DOUBLE, (uint64_t)least, n,
                     p->corners))
        return reader_damaged(p);
    for (size_t at = 0; at < p->n_words;) {
        int64_t n_faces = p->words[at + 1];
        at += 2;
        for (; n_faces > 0; n_faces--)
            for (int64_t k = p->words[at++]; k > 0; k--)
                p->words[at++] -= least;
    }
    return STORM_OK;
}

static storm_status reader_visit(struct reader_piece *p, output_visit *visit,
                                 void *self)
{
    storm_status status = STORM_OK;
    for (size_t at = 0; at < p->n_words && status == STORM_OK;) {
        struct output_cell cell = {.id = p->next_cell,
                                   .n_faces = (size_t)p->words[at + 1],
                                   .faces = p->words + at + 2,
                                   .corners = (const double(*)[3])p->corners};
        if (p->next_cell == p->reader->n_cells)
            return reader_damaged(p);
        status = visit(self, &cell);
        at += (size_t)reader_cell_words(p->words + at, p->n_words - at);
        p->next_cell++;
    }
    return status;
}

storm_status output_reader_cells(struct output_reader *reader,
                                 output_visit *visit, void *self)
{
    struct reader_piece p = {.reader = reader,
                             .points = {.set = -1, .space = -1}};
    storm_status status = STORM_OK;
    bool has_cells =
        reader_open_array(reader->mesh, reader->boxes ? "corners" : "cells",
                          &p.cells);
    if (!has_cells || !reader_open_array(reader->mesh, "points", &p.points))
        status = reader_damaged(&p);
    while (status == STORM_OK && p.next_cell < reader->n_cells) {
        status = reader->boxes ? reader_next_boxes(&p) : reader_next_words(&p);
        if (status == STORM_OK)
            status = reader_corners(&p);
        if (status == STORM_OK)
            status = reader_visit(&p, visit, self);
    }
    if (has_cells)
        reader_close_array(&p.cells);
    reader_close_array(&p.points);
    free(p.words);
    free(p.corners);
    return status;
}

/* ---- fields --------------------------------------------------------------- */

storm_status output_reader_values(struct output_reader *reader,
                                  const char *file, const char *name,
                                  double *values_out)
{
    struct reader_array array;
    hid_t handle = reader_open_file(reader, file);
    bool good = false;
    if (handle < 0)
        return reader_fail(reader, "%s/%s is not there or cannot be read",
                           reader->dir, file);
    if (reader_open_array(handle, name, &array)) {
        good = array.shape[0] == reader->n_cells && array.shape[1] == 1 &&
               reader_rows(&array, H5T_NATIVE_DOUBLE, 0, reader->n_cells,
                           values_out);
        reader_close_array(&array);
    }
    H5Fclose(handle);
    return good ? STORM_OK
                : reader_fail(reader, "%s/%s has no '%s' for each cell",
                              reader->dir, file, name);
}

struct reader_names {
    output_reader_name *list;
    size_t n;
    uint64_t n_cells;
};

static herr_t reader_add_name(hid_t file, const char *name,
                              const H5L_info_t *info, void *self)
{
    struct reader_names *names = self;
    uint64_t rows;
    (void)info;
    if (strlen(name) >= sizeof *names->list ||
        !reader_shape(file, name, &rows, 1) || rows != names->n_cells)
        return 0;
    void *larger = realloc(names->list, (names->n + 1) * sizeof *names->list);
    if (larger == NULL)
        return -1;
    names->list = larger;
    strcpy(names->list[names->n++], name);
    return 0;
}

storm_status output_reader_names(struct output_reader *reader, const char *file,
                                 output_reader_name **names_out, size_t *n_out)
{
    struct reader_names names = {.list = malloc(sizeof *names.list),
                                 .n_cells = reader->n_cells};
    hid_t handle = reader_open_file(reader, file);
    herr_t done = -1;
    H5E_BEGIN_TRY
    {
        if (handle >= 0 && names.list != NULL)
            done = H5Literate(handle, H5_INDEX_NAME, H5_ITER_INC, NULL,
                              reader_add_name, &names);
        if (handle >= 0)
            H5Fclose(handle);
    }
    H5E_END_TRY;
    if (done < 0) {
        free(names.list);
        return reader_fail(reader, "%s/%s is not there or cannot be read",
                           reader->dir, file);
    }
    *names_out = names.list;
    *n_out = names.n;
    return STORM_OK;
}

storm_status output_reader_mark(struct output_reader *reader, const char *file,
                                const char *name, double *value_out)
{
    hid_t handle = reader_open_file(reader, file);
    bool good = false;
    H5E_BEGIN_TRY
    {
        hid_t mark = handle >= 0 ? H5Aopen(handle, name, H5P_DEFAULT) : -1;
        good = mark >= 0 && H5Aread(mark, H5T_NATIVE_DOUBLE, value_out) >= 0;
        if (mark >= 0)
            H5Aclose(mark);
        if (handle >= 0)
            H5Fclose(handle);
    }
    H5E_END_TRY;
    return good ? STORM_OK
                : reader_fail(reader, "%s/%s has no '%s'", reader->dir, file,
                              name);
}
