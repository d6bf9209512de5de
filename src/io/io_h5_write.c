/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: writing by all ranks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <storm/context.h>

#include "base/env.h"
#include "io/io_h5_layout.h"
#include "io/io_h5_sums.h"

enum {
    H5_PIECE_BYTES = 1 << 20, /* rows are filled and written so many at once */
    H5_SUMS_AT_ONCE = 1 << 14,
    H5_BORDERS_BYTES = 1 << 20, /* of some ranks at once */
    H5_MIN_PAGE_BYTES = 4096
};

static const char h5_label[] = "output";

struct io_h5_writer {
    const struct storm_context *context;
    struct storm_memory *memory;
    storm_status status;        /* the same on all ranks */
    uint64_t page_bytes;        /* H5-10; 1: all ranks are on one node */
    struct io_part part;        /* with the errno of this rank */
    struct io_h5_layout layout; /* on rank 0 */
};

static bool h5_is_root(const struct io_h5_writer *file)
{
    return storm_context_rank(file->context) == 0;
}

static void h5_note(struct io_h5_writer *file, int error)
{
    if (file->part.error == 0)
        file->part.error = error;
}

/* ---- errors -------------------------------------------------------------- */

static void h5_log(const struct io_h5_writer *file, int rank, int error)
{
    char where[IO_PATH_BYTES + 64], problem[IO_PATH_BYTES + 320];
    int n = snprintf(where, sizeof where, "%s", file->part.path);
    if (rank != 0)
        snprintf(where + n, sizeof where - (size_t)n, " on rank %d", rank);
    io_files_problem(where, error, problem, sizeof problem);
    storm_context_log(file->context, STORM_LOG_ERROR, "%s", problem);
}

/* H5-3: one reason for all ranks. Collective. */
static storm_status h5_agree(struct io_h5_writer *file)
{
    uint64_t worst = (uint64_t)file->part.error << 32 |
                     (uint64_t)storm_context_rank(file->context);
    if (file->status < 0)
        return file->status;
    file->status =
        storm_context_reduce(file->context, &worst, 1, MPI_UINT64_T, MPI_MAX);
    if (file->status == STORM_OK && worst >> 32 != 0) {
        file->status = STORM_ERR_IO;
        if (h5_is_root(file))
            h5_log(file, (int)(worst & UINT32_MAX), (int)(worst >> 32));
    }
    return file->status;
}

/* ---- files --------------------------------------------------------------- */

/* The largest of all machines. Collective. */
static storm_status h5_find_page(struct io_h5_writer *file)
{
    long mine = sysconf(_SC_PAGESIZE);
    file->page_bytes = 1;
    if (storm_context_env(file->context)->one_node)
        return STORM_OK;
    file->page_bytes =
        mine > H5_MIN_PAGE_BYTES ? (uint64_t)mine : H5_MIN_PAGE_BYTES;
    return storm_context_reduce(file->context, &file->page_bytes, 1,
                                MPI_UINT64_T, MPI_MAX);
}

storm_status io_h5_create(const struct storm_context *context, const char *dir,
                          const char *name, struct io_h5_writer **file_out)
{
    struct storm_memory *memory = storm_context_env(context)->memory;
    struct io_h5_writer *file = storm_alloc(memory, h5_label, sizeof *file);
    storm_status status =
        storm_context_agree(context, file != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(memory, file);
        return status;
    }
    *file_out = file;
    file->context = context;
    file->memory = memory;
    file->layout.fd = -1;
    file->layout.file = -1;
    file->part.fd = -1;
    if (h5_is_root(file)) {
        io_part_open(&file->part, dir, name, true);
        h5_note(file, io_h5_layout_open(&file->layout, memory));
    }
    status = h5_agree(file);
    if (status == STORM_OK && !h5_is_root(file))
        io_part_open(&file->part, dir, name, false);
    if (status == STORM_OK)
        file->status = h5_find_page(file);
    return file->status;
}

storm_status io_h5_finish(struct io_h5_writer *file, storm_status status)
{
    if (file == NULL)
        return status;
    storm_status agreed = storm_context_agree(file->context, status);
    if (file->status == STORM_OK)
        file->status = agreed;
    if (h5_is_root(file) && file->status == STORM_OK)
        h5_note(file, io_h5_layout_write(&file->layout, &file->part));
    io_part_close(&file->part);
    h5_agree(file); /* no rank has it open any more */
    if (file->status < 0)
        h5_note(file, ECANCELED);
    else if (h5_is_root(file)) /* H5-11 */
        h5_note(file, io_h5_layout_check(&file->layout, file->part.part));
    io_h5_layout_close(&file->layout);
    if (h5_is_root(file))
        io_part_commit(&file->part);
    status = h5_agree(file);
    storm_free(file->memory, file);
    return agreed < 0 ? agreed : status;
}

storm_status io_h5_put_number(struct io_h5_writer *file, const char *name,
                              double value)
{
    if (file->status == STORM_OK && h5_is_root(file))
        h5_note(file, io_h5_layout_number(&file->layout, name, value));
    return file->status;
}

storm_status io_h5_put_text(struct io_h5_writer *file, const char *array,
                            const char *name, const char *text)
{
    if (file->status == STORM_OK && h5_is_root(file))
        h5_note(file, io_h5_layout_text(&file->layout, array, name, text));
    return file->status;
}

storm_status io_h5_put_vtk(struct io_h5_writer *file,
                           const struct io_h5_vtk *what)
{
    if (file->status == STORM_OK && h5_is_root(file))
        h5_note(file, io_h5_layout_vtk(&file->layout, what));
    return file->status;
}

/* ---- arrays -------------------------------------------------------------- */

/* An array that is being written; this rank has rows [first, first + n). */
struct h5_target {
    struct io_h5_writer *file;
    const struct io_h5_share *array;
    uint64_t first, n_total;
    uint64_t rows_offset, sums_offset; /* in the file */
    uint64_t first_block, n_blocks;    /* that have rows of this rank */
    uint64_t *sums;                    /* of these blocks and rows */
    uint64_t *window;                  /* checksums of all ranks, some */
    unsigned char *piece;
    size_t piece_rows;
    uint64_t whole_from, whole_to; /* of the file: what this rank writes */
    struct h5_borders *borders;    /* NULL: it writes all of its share */
    unsigned char *slots;          /* borders of some ranks, or NULL */
    size_t slot_bytes;
    int n_slots;
};

/* Where the rows of all ranks go. Collective. */
static storm_status h5_place(struct h5_target *t)
{
    const struct io_h5_writer *file = t->file;
    struct io_h5_range ranges[2] = {{0}};
    t->first = t->n_total = t->array->n;
    storm_status status = storm_context_exscan(file->context, &t->first, 1);
    if (status == STORM_OK)
        status = storm_context_reduce(file->context, &t->n_total, 1,
                                      MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK && h5_is_root(file))
        h5_note(t->file, io_h5_layout_array(&t->file->layout, t->array,
                                            t->n_total, ranges));
    uint64_t offsets[2] = {ranges[0].offset, ranges[1].offset};
    if (status == STORM_OK)
        status = storm_context_reduce(file->context, offsets, 2, MPI_UINT64_T,
                                      MPI_MAX);
    t->rows_offset = offsets[0];
    t->sums_offset = offsets[1];
    return status;
}

/* ---- borders (H5-10) ----------------------------------------------------- */

/* What a rank does not write itself: before and after its whole pages. */
struct h5_borders {
    uint64_t offset[2], bytes[2];
    unsigned char kept[]; /* twice page_bytes */
};

static storm_status h5_reserve_borders(struct h5_target *t)
{
    const struct io_h5_writer *file = t->file;
    t->slot_bytes = sizeof *t->borders + 2 * (size_t)file->page_bytes;
    t->n_slots = H5_BORDERS_BYTES / (int)t->slot_bytes + 1;
    if (t->n_slots > storm_context_size(file->context))
        t->n_slots = storm_context_size(file->context);
    t->borders = storm_alloc(file->memory, h5_label, t->slot_bytes);
    t->slots =
        storm_alloc(file->memory, h5_label, (size_t)t->n_slots * t->slot_bytes);
    return t->borders != NULL && t->slots != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static void h5_find_borders(struct h5_target *t)
{
    const uint64_t row_bytes = t->array->columns * sizeof(uint64_t);
    const uint64_t page = t->file->page_bytes;
    uint64_t from = t->rows_offset + t->first * row_bytes;
    uint64_t to = from + t->array->n * row_bytes;
    t->whole_from = from;
    t->whole_to = to;
    if (t->borders == NULL || h5_is_root(t->file))
        return;
    uint64_t up = (from + page - 1) / page * page, down = to / page * page;
    t->whole_from = up < to ? up : to;
    t->whole_to = down > t->whole_from ? down : t->whole_from;
    t->borders->offset[0] = from;
    t->borders->bytes[0] = t->whole_from - from;
    t->borders->offset[1] = t->whole_to;
    t->borders->bytes[1] = to - t->whole_to;
}

/* The part of n bytes for `offset` that lies in border i. */
static void h5_keep_border(struct h5_target *t, int i,
                           const unsigned char *bytes, size_t n,
                           uint64_t offset)
{
    struct h5_borders *b = t->borders;
    uint64_t from = offset > b->offset[i] ? offset : b->offset[i];
    uint64_t to = b->offset[i] + b->bytes[i];
    if (to > offset + n)
        to = offset + n;
    if (from < to)
        memcpy(b->kept + (uint64_t)i * t->file->page_bytes + from -
                   b->offset[i],
               bytes + (from - offset), (size_t)(to - from));
}

/* Writes n bytes of this rank's share, or keeps them. */
static void h5_write_share(struct h5_target *t, const unsigned char *bytes,
                           size_t n, uint64_t offset)
{
    uint64_t from = offset > t->whole_from ? offset : t->whole_from;
    uint64_t to = offset + n < t->whole_to ? offset + n : t->whole_to;
    if (from < to)
        io_part_write(&t->file->part, bytes + (from - offset),
                      (size_t)(to - from), from);
    for (int i = 0; i < 2 && t->borders != NULL; i++)
        h5_keep_border(t, i, bytes, n, offset);
}

/* Borders of ranks [first, first + n); rank 0 writes. Collective. */
static storm_status h5_write_slots(struct h5_target *t, int first, int n)
{
    const struct io_h5_writer *file = t->file;
    const size_t bytes = (size_t)n * t->slot_bytes;
    int mine = storm_context_rank(file->context) - first;
    memset(t->slots, 0, bytes);
    if (mine >= 0 && mine < n)
        memcpy(t->slots + (size_t)mine * t->slot_bytes, t->borders,
               t->slot_bytes);
    storm_status status = storm_context_reduce(file->context, t->slots,
                                               (int)(bytes / sizeof(uint64_t)),
                                               MPI_UINT64_T, MPI_SUM);
    for (int i = 0; i < 2 * n && status == STORM_OK && h5_is_root(file); i++) {
        const struct h5_borders *b =
            (const void *)(t->slots + (size_t)(i / 2) * t->slot_bytes);
        io_part_write(&t->file->part,
                      b->kept + (uint64_t)(i % 2) * file->page_bytes,
                      (size_t)b->bytes[i % 2], b->offset[i % 2]);
    }
    return status;
}

static storm_status h5_write_borders(struct h5_target *t)
{
    int n_all = storm_context_size(t->file->context);
    storm_status status = STORM_OK;
    for (int at = 0; at < n_all && t->borders != NULL && status == STORM_OK;
         at += t->n_slots) {
        int left = n_all - at;
        status = h5_write_slots(t, at, left < t->n_slots ? left : t->n_slots);
    }
    return status;
}

/* ---- rows and checksums -------------------------------------------------- */

static storm_status h5_reserve(struct h5_target *t)
{
    const size_t row_bytes = t->array->columns * sizeof(uint64_t);
    const uint64_t each = io_h5_block_rows(t->array->columns);
    struct storm_memory *memory = t->file->memory;
    t->first_block = t->first / each;
    if (t->array->n > 0)
        t->n_blocks = (t->first + t->array->n - 1) / each - t->first_block + 1;
    t->piece_rows = H5_PIECE_BYTES / row_bytes + 1;
    if (t->piece_rows > t->array->n)
        t->piece_rows = t->array->n;
    t->piece = storm_alloc(memory, h5_label, t->piece_rows * row_bytes + 1);
    t->sums = storm_alloc(memory, h5_label,
                          ((size_t)t->n_blocks + 1) * sizeof *t->sums);
    t->window =
        storm_alloc(memory, h5_label, H5_SUMS_AT_ONCE * sizeof *t->window);
    if (t->piece == NULL || t->sums == NULL || t->window == NULL)
        return STORM_ERR_NOMEM;
    return t->file->page_bytes > 1 ? h5_reserve_borders(t) : STORM_OK;
}

/* Adds n rows of the piece, from row `row` of the array, to the sums. */
static void h5_add_sums(struct h5_target *t, uint64_t row, uint64_t n)
{
    const uint64_t columns = t->array->columns;
    const uint64_t each = io_h5_block_rows(columns);
    const unsigned char *at = t->piece;
    while (n > 0) {
        uint64_t left = each - row % each; /* of the block */
        uint64_t some = n < left ? n : left;
        t->sums[row / each - t->first_block] +=
            io_h5_sum(at, some * columns, row * columns);
        at += some * columns * sizeof(uint64_t);
        row += some;
        n -= some;
    }
}

static void h5_write_rows(struct h5_target *t)
{
    const size_t row_bytes = t->array->columns * sizeof(uint64_t);
    for (size_t at = 0; at < t->array->n && t->file->part.error == 0;) {
        size_t left = t->array->n - at;
        size_t n = left < t->piece_rows ? left : t->piece_rows;
        t->array->fill(t->array->self, at, n, t->piece);
        h5_add_sums(t, t->first + at, n);
        h5_write_share(t, t->piece, n * row_bytes,
                       t->rows_offset + (t->first + at) * row_bytes);
        at += n;
    }
}

/* Checksums [from, from + n) of all ranks; rank 0 writes. Collective. */
static storm_status h5_write_window(struct h5_target *t, uint64_t from,
                                    uint64_t n)
{
    memset(t->window, 0, (size_t)n * sizeof *t->window);
    for (uint64_t i = 0; i < n; i++)
        if (from + i >= t->first_block &&
            from + i - t->first_block < t->n_blocks)
            t->window[i] = t->sums[from + i - t->first_block];
    storm_status status = storm_context_reduce(t->file->context, t->window,
                                               (int)n, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK && h5_is_root(t->file))
        io_part_write(&t->file->part, t->window, (size_t)n * sizeof *t->window,
                      t->sums_offset + from * sizeof *t->window);
    return status;
}

static storm_status h5_write_sums(struct h5_target *t)
{
    uint64_t n_all = io_h5_n_blocks(t->n_total, t->array->columns);
    storm_status status = STORM_OK;
    for (uint64_t at = 0; at < n_all && status == STORM_OK;
         at += H5_SUMS_AT_ONCE) {
        uint64_t left = n_all - at;
        status =
            h5_write_window(t, at,
                            left < H5_SUMS_AT_ONCE ? left : H5_SUMS_AT_ONCE);
    }
    return status;
}

storm_status io_h5_put(struct io_h5_writer *file,
                       const struct io_h5_share *array)
{
    struct h5_target t = {.file = file, .array = array};
    if (file->status < 0)
        return file->status;
    storm_status status = h5_place(&t);
    if (status == STORM_OK && t.n_total > 0 && t.rows_offset == 0)
        return h5_agree(file); /* there is no place */
    if (status == STORM_OK)
        status = h5_reserve(&t);
    status = storm_context_agree(file->context, status);
    if (status == STORM_OK) {
        h5_find_borders(&t);
        h5_write_rows(&t);
        status = h5_write_borders(&t);
    }
    if (status == STORM_OK)
        status = h5_write_sums(&t);
    storm_free(file->memory, t.piece);
    storm_free(file->memory, t.sums);
    storm_free(file->memory, t.window);
    storm_free(file->memory, t.borders);
    storm_free(file->memory, t.slots);
    if (status < 0) {
        file->status = status;
        return status;
    }
    return h5_agree(file);
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
