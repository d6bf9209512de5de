/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of the cells in order of their tags, each rank with an equal share, and
 * back.
 *
 * Tags are split over the ranks (mesh_split.h). Sorted by tag, the cells of a
 * rank are also sorted by the rank that has their rows: what goes there is one
 * piece, and what comes back from there is in the same order.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_change.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_split.h"
#include "mesh/mesh_tags.h"

static const char rows_label[] = "mesh rows";

enum { ROWS_HEAD = 2 }; /* words before a row that is sent: tag, bytes */

struct rows_item {
    storm_cell_id tag;
    size_t at; /* cell, or word of messages */
};

static int rows_by_tag(const void *left, const void *right)
{
    const struct rows_item *a = left, *b = right;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static size_t rows_words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* ---- the order ----------------------------------------------------------- */

/* This rank's cells in order of their tags. */
struct rows_order {
    const struct storm_mesh *mesh;
    size_t n;
    struct rows_item *items;
    uint64_t *splitter; /* for each rank but the last: tags from here on are of
                           the ranks after it */
    size_t *first;      /* n + 1 words of messages: where items begin */
};

static void rows_close(struct rows_order *order)
{
    struct storm_memory *memory = order->mesh->env->memory;
    storm_free(memory, order->items);
    storm_free(memory, order->splitter);
    storm_free(memory, order->first);
}

/* Splits the tags. Collective. */
static storm_status rows_split(struct rows_order *order, storm_status status)
{
    const struct storm_mesh *mesh = order->mesh;
    const struct rows_item *items = order->items; /* NULL after an error */
    const struct storm_keys keys = {.first = items != NULL ? &items->tag : NULL,
                                    .n = order->n,
                                    .stride = sizeof *items,
                                    .bits = STORM_TAG_BITS};
    return storm_split_keys(mesh->context, status, &keys, mesh->n_total,
                            order->splitter);
}

/* Collective; close it also after an error. */
static storm_status rows_open(const struct storm_mesh *mesh,
                              struct rows_order *order)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t n = (size_t)mesh->part->n_cells;
    *order = (struct rows_order){
        .mesh = mesh,
        .n = n,
        .items =
            storm_alloc(memory, rows_label, (n + 1) * sizeof *order->items),
        .splitter =
            storm_alloc(memory, rows_label,
                        (size_t)mesh->env->size * sizeof *order->splitter),
        .first =
            storm_alloc(memory, rows_label, (n + 1) * sizeof *order->first)};
    storm_status status =
        order->items != NULL && order->splitter != NULL && order->first != NULL
            ? STORM_OK
            : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        order->items[i] = (struct rows_item){
            .tag = storm_mesh_part_tag(mesh->part, (storm_cell_idx)i), .at = i};
    if (n > 0 && status >= 0)
        qsort(order->items, n, sizeof *order->items, rows_by_tag);
    return rows_split(order, status);
}

/* Messages, without contents, to the ranks that have the rows: `first` says
 * where the part of each item begins. Local. */
static storm_status rows_address(const struct rows_order *order,
                                 struct storm_messages *out)
{
    const struct storm_env *env = order->mesh->env;
    const size_t *first = order->first;
    storm_status status = STORM_OK;
    size_t begin = 0;
    for (int rank = 0; rank < env->size && status >= 0; rank++) {
        size_t end = begin;
        while (end < order->n &&
               (rank + 1 == env->size ||
                order->items[end].tag < order->splitter[rank]))
            end++;
        status = storm_messages_add(env, out, rank, first[begin],
                                    first[end] - first[begin]);
        begin = end;
    }
    if (status < 0)
        return status;
    out->words = storm_alloc(env->memory, rows_label,
                             (first[order->n] + 1) * sizeof *out->words);
    return out->words != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

/* What came, in order of the tags: each begins with its tag, and has the same
 * number of words, or, if it is 0, as many as it says. Local. */
static storm_status rows_sort(const struct storm_env *env,
                              const struct storm_messages *in, size_t words,
                              struct rows_item **items_out, size_t *n_out)
{
    size_t n_words = 0, n = 0, capacity = 0;
    void *items = NULL;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < in->n; i++)
        n_words += in->array[i].n_words;
    for (size_t at = 0; at < n_words && status >= 0; n++) {
        status = storm_reserve(env->memory, rows_label, sizeof **items_out,
                               n + 1, &items, &capacity);
        if (status < 0)
            break;
        ((struct rows_item *)items)[n] =
            (struct rows_item){.tag = in->words[at], .at = at};
        at += words > 0 ? words
                        : ROWS_HEAD + rows_words((size_t)in->words[at + 1]);
    }
    if (n > 0 && status >= 0)
        qsort(items, n, sizeof **items_out, rows_by_tag);
    *items_out = items;
    *n_out = n;
    return status;
}

/* ---- from cells to rows -------------------------------------------------- */

/* Rows of this rank's cells; sizes NULL: all have `bytes`. */
struct rows_source {
    const char *rows;
    size_t bytes;
    const size_t *sizes;
    size_t *offset; /* of each row; NULL: they follow from `bytes` */
};

static storm_status rows_write(struct rows_order *order,
                               const struct rows_source *source,
                               struct storm_messages *out)
{
    size_t *first = order->first;
    for (size_t i = 0; i < order->n; i++) {
        size_t at = order->items[i].at;
        size_t bytes =
            source->sizes != NULL ? source->sizes[at] : source->bytes;
        first[i + 1] = first[i] + ROWS_HEAD + rows_words(bytes);
    }
    storm_status status = rows_address(order, out);
    for (size_t i = 0; i < order->n && status >= 0; i++) {
        size_t at = order->items[i].at;
        size_t bytes =
            source->sizes != NULL ? source->sizes[at] : source->bytes;
        size_t from =
            source->offset != NULL ? source->offset[at] : at * source->bytes;
        uint64_t *row = &out->words[first[i]];
        row[0] = order->items[i].tag;
        row[1] = bytes;
        if (bytes > 0)
            memcpy(row + ROWS_HEAD, source->rows + from, bytes);
    }
    return status;
}

/* Rows that have come, in order. */
static storm_status rows_read(const struct storm_env *env,
                              const struct storm_messages *in, char *rows)
{
    struct rows_item *items = NULL;
    size_t n = 0;
    storm_status status = rows_sort(env, in, 0, &items, &n);
    for (size_t i = 0; i < n && status >= 0; i++) {
        const uint64_t *row = &in->words[items[i].at];
        size_t bytes = (size_t)row[1];
        if (bytes > 0)
            memcpy(rows, row + ROWS_HEAD, bytes);
        rows += bytes;
    }
    storm_free(env->memory, items);
    return status;
}

static storm_status rows_move(const struct storm_mesh *mesh,
                              const struct rows_source *source, char *rows)
{
    const struct storm_env *env = mesh->env;
    struct rows_order order;
    struct storm_messages out = {.n = 0}, in = {.n = 0};
    storm_status status = rows_open(mesh, &order);
    if (status >= 0) {
        status = rows_write(&order, source, &out);
        status = storm_messages_exchange(mesh->context, status, &out, &in);
    }
    rows_close(&order);
    storm_messages_release(env, &out);
    if (status >= 0)
        status = storm_context_agree(mesh->context, rows_read(env, &in, rows));
    storm_messages_release(env, &in);
    return status;
}

/* ---- from rows to cells -------------------------------------------------- */

/* The rows that other ranks ask for, in the order in which they do. */
static storm_status unrows_answer(const struct storm_env *env, size_t bytes,
                                  const struct storm_messages *asked,
                                  const char *rows, struct storm_messages *out)
{
    struct rows_item *items = NULL;
    size_t n = 0, words = rows_words(bytes);
    storm_status status = rows_sort(env, asked, 1, &items, &n);
    for (size_t i = 0; i < asked->n && status >= 0; i++)
        status = storm_messages_add(env, out, asked->array[i].rank,
                                    asked->array[i].first * words,
                                    asked->array[i].n_words * words);
    if (status >= 0) {
        out->words = storm_alloc(env->memory, rows_label,
                                 (n * words + 1) * sizeof *out->words);
        if (out->words == NULL)
            status = STORM_ERR_NOMEM;
    }
    for (size_t i = 0; i < n && status >= 0; i++)
        memcpy(&out->words[items[i].at * words], rows + i * bytes, bytes);
    storm_free(env->memory, items);
    return status;
}

/* Asks for the rows of this rank's cells. Collective. */
static storm_status unrows_ask(struct rows_order *order,
                               struct storm_messages *asked)
{
    struct storm_messages out = {.n = 0};
    for (size_t i = 0; i < order->n; i++)
        order->first[i + 1] = i + 1;
    storm_status status = rows_address(order, &out);
    for (size_t i = 0; i < order->n && status >= 0; i++)
        out.words[i] = order->items[i].tag;
    status = storm_messages_exchange(order->mesh->context, status, &out, asked);
    storm_messages_release(order->mesh->env, &out);
    return status;
}

/* ---- public -------------------------------------------------------------- */

bool storm_mesh_is_in_order(const struct storm_mesh *mesh)
{
    return mesh->part->tags == NULL;
}

size_t storm_mesh_n_rows(const struct storm_mesh *mesh)
{
    uint64_t rank = (uint64_t)mesh->env->rank, size = (uint64_t)mesh->env->size;
    return (size_t)(mesh->n_total * (rank + 1) / size -
                    mesh->n_total * rank / size);
}

storm_cell_id storm_mesh_next_tag(const struct storm_mesh *mesh)
{
    return mesh->next_tag;
}

storm_status storm_mesh_rows(const struct storm_mesh *mesh, size_t bytes,
                             const void *in, void *rows)
{
    const struct rows_source source = {.rows = in, .bytes = bytes};
    return rows_move(mesh, &source, rows);
}

storm_status storm_mesh_rows_sized(const struct storm_mesh *mesh,
                                   const size_t *bytes, const void *in,
                                   void *rows)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t n = (size_t)mesh->part->n_cells;
    struct rows_source source = {
        .rows = in,
        .sizes = bytes,
        .offset =
            storm_alloc(memory, rows_label, (n + 1) * sizeof *source.offset)};
    storm_status status =
        storm_context_agree(mesh->context,
                            source.offset != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0) {
        for (size_t i = 0; i < n; i++)
            source.offset[i + 1] = source.offset[i] + bytes[i];
        status = rows_move(mesh, &source, rows);
    }
    storm_free(memory, source.offset);
    return status;
}

storm_status storm_mesh_unrows(const struct storm_mesh *mesh, size_t bytes,
                               const void *rows, void *out)
{
    const struct storm_env *env = mesh->env;
    struct rows_order order;
    struct storm_messages asked = {.n = 0}, sent = {.n = 0}, in = {.n = 0};
    storm_status status = rows_open(mesh, &order);
    if (status >= 0)
        status = unrows_ask(&order, &asked);
    if (status >= 0) {
        status = unrows_answer(env, bytes, &asked, rows, &sent);
        status = storm_messages_exchange(mesh->context, status, &sent, &in);
    }
    for (size_t i = 0; i < order.n && status >= 0; i++)
        memcpy((char *)out + order.items[i].at * bytes,
               &in.words[i * rows_words(bytes)], bytes);
    storm_messages_release(env, &in);
    storm_messages_release(env, &sent);
    storm_messages_release(env, &asked);
    rows_close(&order);
    return status;
}
