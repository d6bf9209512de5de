/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/port.h"
#include "io/io_h5.h"

enum {
    READER_PIECE = 1 << 18, /* words of cells */
    READER_BOX_WORDS = 32,  /* of a box as a polyhedron */
    READER_POLYHEDRON = 16, /* XDMF's number for one */
    READER_BOX_CORNERS = 8
};

static const char reader_label[] = "reader";

/* ---- problems ------------------------------------------------------------ */

STORM_PRINTF(2, 3)
static storm_status reader_fail(struct io_reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->problem, sizeof r->problem, format, args);
    va_end(args);
    return STORM_ERR_IO;
}

static storm_status reader_no_memory(struct io_reader *r)
{
    reader_fail(r, "%s: no memory", r->dir);
    return STORM_ERR_NOMEM;
}

static io_h5_file reader_open_file(const struct io_reader *r, const char *name)
{
    char path[IO_READER_PATH + IO_READER_NAME];
    snprintf(path, sizeof path, "%s/%s", r->dir, name);
    return io_h5_open(path);
}

/* ---- opening ------------------------------------------------------------- */

uint64_t io_reader_mesh_step(const char *dir, uint64_t dump)
{
    char path[IO_READER_PATH + IO_READER_NAME];
    double step = 0.0;
    snprintf(path, sizeof path, "%s/fields-%llu.h5", dir,
             (unsigned long long)dump);
    io_h5_file file = io_h5_open(path);
    bool good = file >= 0 && io_h5_get_number(file, "mesh_step", &step);
    io_h5_close(file);
    return good && step > 0.0 && step < 0x1p53 ? (uint64_t)step : 0;
}

bool io_reader_box(const struct io_reader *reader, double lo_out[3],
                   double hi_out[3])
{
    double box[2][3];
    uint64_t n;
    bool good = io_h5_count_rows(reader->mesh, "box", 3, &n) && n == 2 &&
                io_h5_get_rows(reader->mesh, "box", IO_H5_REAL, 3, 0, 2, box) ==
                    STORM_OK;
    for (int d = 0; d < 3 && good; d++)
        good = box[0][d] < box[1][d];
    if (good) {
        memcpy(lo_out, box[0], sizeof box[0]);
        memcpy(hi_out, box[1], sizeof box[1]);
    }
    return good;
}

storm_status io_reader_open(struct storm_memory *memory, const char *dir,
                            uint64_t mesh_step, struct io_reader *reader_out)
{
    struct io_reader *r = reader_out;
    uint64_t n_boxes = 0;
    *r = (struct io_reader){.memory = memory, .mesh = -1};
    if (snprintf(r->dir, sizeof r->dir, "%s", dir) >= (int)sizeof r->dir)
        return reader_fail(r, "the path of the directory is too long");
    if (mesh_step == 0)
        snprintf(r->mesh_name, sizeof r->mesh_name, "mesh.h5");
    else
        snprintf(r->mesh_name, sizeof r->mesh_name, "mesh-%llu.h5",
                 (unsigned long long)mesh_step);
    r->mesh = reader_open_file(r, r->mesh_name);
    if (r->mesh < 0)
        return reader_fail(r,
                           "%s is not the directory of a run: %s does not "
                           "exist or cannot be read",
                           dir, r->mesh_name);
    if (!io_h5_count_rows(r->mesh, "volume", 1, &r->n_cells) ||
        !io_h5_count_rows(r->mesh, "points", 3, &r->n_points))
        return reader_fail(r, "%s/%s has no cells", dir, r->mesh_name);
    r->boxes =
        io_h5_count_rows(r->mesh, "corners", READER_BOX_CORNERS, &n_boxes);
    if (r->boxes ? n_boxes != r->n_cells
                 : !io_h5_count_rows(r->mesh, "cells", 1, &r->n_words))
        return reader_fail(r,
                           "%s/%s has neither 'corners' of all cells nor "
                           "'cells'",
                           dir, r->mesh_name);
    return STORM_OK;
}

void io_reader_close(struct io_reader *reader)
{
    io_h5_close(reader->mesh);
    reader->mesh = -1;
}

/* ---- cells --------------------------------------------------------------- */

/* The cells that are in memory. */
struct reader_piece {
    struct io_reader *reader;
    struct io_h5_array cells, points;
    int64_t *words;
    double (*corners)[3];
    size_t n_words, words_capacity, corners_capacity;
    uint64_t next_word, next_cell; /* after the piece */
};

/* Room for at low n elements of an array that grows. */
static storm_status reader_reserve(const struct reader_piece *p,
                                   size_t element_bytes, size_t n, void **array,
                                   size_t *capacity)
{
    storm_status status = storm_reserve(p->reader->memory, reader_label,
                                        element_bytes, n, array, capacity);
    return status < 0 ? reader_no_memory(p->reader) : STORM_OK;
}

static storm_status reader_reserve_words(struct reader_piece *p, size_t n)
{
    void *words = p->words;
    storm_status status =
        reader_reserve(p, sizeof *p->words, n, &words, &p->words_capacity);
    p->words = words;
    return status;
}

static storm_status reader_damaged(struct reader_piece *p)
{
    return reader_fail(p->reader, "%s/%s is damaged at cell %llu",
                       p->reader->dir, p->reader->mesh_name,
                       (unsigned long long)p->next_cell);
}

/* Rows of an array of the mesh. */
static storm_status reader_rows(struct reader_piece *p, const char *name,
                                uint64_t first, uint64_t n, void *rows_out)
{
    bool points = strcmp(name, "points") == 0;
    if (io_h5_array_rows(points ? &p->points : &p->cells,
                         points ? IO_H5_REAL : IO_H5_INTEGER, first, n,
                         rows_out) == STORM_OK)
        return STORM_OK;
    return reader_fail(p->reader,
                       "%s/%s: '%s' is damaged: it cannot be read or has "
                       "wrong checksums; run the deck again",
                       p->reader->dir, p->reader->mesh_name, name);
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
    size_t max = READER_PIECE / READER_BOX_WORDS;
    size_t n = left < max ? (size_t)left : max;
    struct storm_memory *memory = p->reader->memory;
    int64_t *corners =
        storm_alloc(memory, reader_label,
                    (n + 1) * READER_BOX_CORNERS * sizeof *corners);
    p->n_words = n * READER_BOX_WORDS;
    storm_status status = corners != NULL ? reader_reserve_words(p, p->n_words)
                                          : reader_no_memory(p->reader);
    if (status == STORM_OK)
        status = reader_rows(p, "corners", p->next_cell, n, corners);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        reader_box(corners + READER_BOX_CORNERS * i,
                   p->words + READER_BOX_WORDS * i);
    storm_free(memory, corners);
    return status;
}

/* Number of words of the cell that begins at `words`; 0: more than n, -1: not a
 * cell. */
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

/* Cuts the piece after its last whole cell; the rest is read again with the
 * next piece. */
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
        storm_status status = reader_reserve_words(p, p->n_words);
        if (status < 0)
            return status;
        status = reader_rows(p, "cells", p->next_word, p->n_words, p->words);
        if (status == STORM_OK)
            status = reader_trim(p, p->n_words == left, &n_cells);
        if (status < 0)
            return status;
    }
    p->next_word += p->n_words;
    return STORM_OK;
}

/* Reads the corners that the words name and counts them from the first. */
static storm_status reader_corners(struct reader_piece *p)
{
    int64_t low = INT64_MAX, high = -1;
    for (size_t at = 0; at < p->n_words;) {
        int64_t n_faces = p->words[at + 1];
        at += 2;
        for (; n_faces > 0; n_faces--)
            for (int64_t n = p->words[at++]; n > 0; n--, at++) {
                low = p->words[at] < low ? p->words[at] : low;
                high = p->words[at] > high ? p->words[at] : high;
            }
    }
    if (low < 0 || high < 0 || (uint64_t)high >= p->reader->n_points)
        return reader_damaged(p);
    size_t n = (size_t)(high - low) + 1;
    void *corners = p->corners;
    storm_status status = reader_reserve(p, sizeof *p->corners, n, &corners,
                                         &p->corners_capacity);
    p->corners = corners;
    if (status == STORM_OK)
        status = reader_rows(p, "points", (uint64_t)low, n, p->corners);
    if (status < 0)
        return status;
    for (size_t at = 0; at < p->n_words;) {
        int64_t n_faces = p->words[at + 1];
        at += 2;
        for (; n_faces > 0; n_faces--)
            for (int64_t k = p->words[at++]; k > 0; k--)
                p->words[at++] -= low;
    }
    return STORM_OK;
}

static storm_status reader_visit(struct reader_piece *p, io_visit *visit,
                                 void *self)
{
    storm_status status = STORM_OK;
    for (size_t at = 0; at < p->n_words && status == STORM_OK;) {
        struct io_cell cell = {.id = p->next_cell,
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

storm_status io_reader_cells(struct io_reader *reader, io_visit *visit,
                             void *self)
{
    struct reader_piece p = {.reader = reader,
                             .points = {.set = -1, .space = -1, .sums = -1}};
    storm_status status = STORM_OK;
    bool has_cells =
        io_h5_array_open(reader->mesh, reader->boxes ? "corners" : "cells",
                         &p.cells);
    if (!has_cells || !io_h5_array_open(reader->mesh, "points", &p.points))
        status = reader_damaged(&p);
    while (status == STORM_OK && p.next_cell < reader->n_cells) {
        status = reader->boxes ? reader_next_boxes(&p) : reader_next_words(&p);
        if (status == STORM_OK)
            status = reader_corners(&p);
        if (status == STORM_OK)
            status = reader_visit(&p, visit, self);
    }
    if (has_cells)
        io_h5_array_close(&p.cells);
    io_h5_array_close(&p.points);
    storm_free(reader->memory, p.words);
    storm_free(reader->memory, p.corners);
    return status;
}

/* ---- fields -------------------------------------------------------------- */

storm_status io_reader_values(struct io_reader *reader, const char *file,
                              const char *name, double *values_out)
{
    io_h5_file handle = reader_open_file(reader, file);
    uint64_t n_rows;
    if (handle < 0)
        return reader_fail(reader, "%s/%s is not there or cannot be read",
                           reader->dir, file);
    storm_status status =
        io_h5_count_rows(handle, name, 1, &n_rows) && n_rows == reader->n_cells
            ? io_h5_get_rows(handle, name, IO_H5_REAL, 1, 0, n_rows, values_out)
            : STORM_ERR_ARG;
    io_h5_close(handle);
    if (status == STORM_ERR_IO)
        return reader_fail(reader,
                           "%s/%s: '%s' is damaged: it cannot be read or has "
                           "wrong checksums; run the deck again",
                           reader->dir, file, name);
    return status == STORM_OK
               ? STORM_OK
               : reader_fail(reader, "%s/%s has no '%s' for each cell",
                             reader->dir, file, name);
}

struct reader_names {
    struct storm_memory *memory;
    io_reader_name *list;
    size_t n, capacity;
    io_h5_file file;
    uint64_t n_cells;
};

static bool reader_add_name(void *self, const char *name)
{
    struct reader_names *names = self;
    uint64_t rows;
    if (strlen(name) >= sizeof *names->list ||
        strcmp(name, "tag") == 0 || /* integers, not values */
        !io_h5_count_rows(names->file, name, 1, &rows) ||
        rows != names->n_cells)
        return true;
    void *list = names->list;
    if (storm_reserve(names->memory, reader_label, sizeof *names->list,
                      names->n + 1, &list, &names->capacity) < 0)
        return false;
    names->list = list;
    strcpy(names->list[names->n++], name);
    return true;
}

storm_status io_reader_names(struct io_reader *reader, const char *file,
                             io_reader_name **names_out, size_t *n_out)
{
    struct reader_names names = {.memory = reader->memory,
                                 .file = reader_open_file(reader, file),
                                 .n_cells = reader->n_cells};
    bool good = names.file >= 0 &&
                io_h5_visit_names(names.file, reader_add_name, &names);
    io_h5_close(names.file);
    if (!good) {
        storm_free(reader->memory, names.list);
        return reader_fail(reader, "%s/%s is not there or cannot be read",
                           reader->dir, file);
    }
    *names_out = names.list;
    *n_out = names.n;
    return STORM_OK;
}

storm_status io_reader_number(struct io_reader *reader, const char *file,
                              const char *name, double *value_out)
{
    io_h5_file handle = reader_open_file(reader, file);
    bool good = handle >= 0 && io_h5_get_number(handle, name, value_out);
    io_h5_close(handle);
    return good ? STORM_OK
                : reader_fail(reader, "%s/%s has no '%s'", reader->dir, file,
                              name);
}
