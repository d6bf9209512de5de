/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_gather.h"

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/env.h"

enum { GATHER_TAG = 77 };

static const char gather_label[] = "output";

/* Sent to a rank: do not send rows. Any other value asks for them. */
static const uint64_t gather_stop = UINT64_MAX;

struct gather {
    const struct storm_context *context;
    const struct io_gather_rows *rows;
    size_t piece; /* rows */
    /* In use by MPI while a message is under way: */
    uint64_t *count; /* rows of the rank whose turn it is, or gather_stop */
    unsigned char *buffer;
    io_gather_take *take;
    void *self;
    storm_status taken; /* status of take */
};

static void gather_pass_on(struct gather *g, size_t n)
{
    if (g->taken == STORM_OK)
        g->taken = g->take(g->self, g->buffer, n);
}

storm_status io_message(const struct storm_context *context, void *bytes,
                        size_t n, int peer, bool sends)
{
    MPI_Comm comm = storm_context_comm(context);
    MPI_Request request;
    int error = sends ? MPI_Isend(bytes, (int)n, MPI_BYTE, peer, GATHER_TAG,
                                  comm, &request)
                      : MPI_Irecv(bytes, (int)n, MPI_BYTE, peer, GATHER_TAG,
                                  comm, &request);
    return error == MPI_SUCCESS ? storm_context_wait(context, &request)
                                : STORM_ERR_FABRIC;
}

static storm_status gather_message(const struct gather *g, void *bytes,
                                   size_t n, int peer, bool sends)
{
    return io_message(g->context, bytes, n, peer, sends);
}

/* All rows of this rank: passed to take, or sent to rank 0. */
static storm_status gather_mine(struct gather *g, bool is_root)
{
    storm_status status = STORM_OK;
    for (size_t at = 0; at < g->rows->n && status == STORM_OK;) {
        size_t left = g->rows->n - at;
        size_t n = left < g->piece ? left : g->piece;
        g->rows->fill(g->rows->self, at, n, g->buffer);
        if (is_root)
            gather_pass_on(g, n);
        else
            status =
                gather_message(g, g->buffer, n * g->rows->row_bytes, 0, true);
        at += n;
    }
    return status;
}

static storm_status gather_theirs(struct gather *g, int rank, uint64_t n_rows)
{
    storm_status status = STORM_OK;
    for (uint64_t left = n_rows; left > 0 && status == STORM_OK;) {
        size_t n = left < g->piece ? (size_t)left : g->piece;
        status =
            gather_message(g, g->buffer, n * g->rows->row_bytes, rank, false);
        if (status == STORM_OK)
            gather_pass_on(g, n);
        left -= n;
    }
    return status;
}

/* Rank 0 asks another rank for its rows. */
static storm_status gather_ask(struct gather *g, int rank)
{
    *g->count = g->taken == STORM_OK ? 0 : gather_stop;
    bool stops = *g->count == gather_stop;
    storm_status status =
        gather_message(g, g->count, sizeof *g->count, rank, true);
    if (status < 0 || stops)
        return status;
    status = gather_message(g, g->count, sizeof *g->count, rank, false);
    return status < 0 ? status : gather_theirs(g, rank, *g->count);
}

/* The other rank answers. */
static storm_status gather_answer(struct gather *g)
{
    storm_status status =
        gather_message(g, g->count, sizeof *g->count, 0, false);
    if (status < 0 || *g->count == gather_stop)
        return status;
    *g->count = g->rows->n;
    status = gather_message(g, g->count, sizeof *g->count, 0, true);
    return status < 0 ? status : gather_mine(g, false);
}

static storm_status gather_all(struct gather *g)
{
    if (storm_context_rank(g->context) != 0)
        return gather_answer(g);
    storm_status status = gather_mine(g, true);
    for (int r = 1; r < storm_context_size(g->context) && status == STORM_OK;
         r++)
        status = gather_ask(g, r);
    return status;
}

storm_status io_gather(const struct storm_context *context,
                       const struct io_gather_rows *rows, io_gather_take *take,
                       void *self)
{
    struct gather g = {.context = context,
                       .rows = rows,
                       .piece = IO_GATHER_BYTES / rows->row_bytes + 1,
                       .take = take,
                       .self = self,
                       .taken = STORM_OK};
    struct storm_memory *memory = storm_context_env(context)->memory;
    g.count = storm_alloc(memory, gather_label, sizeof *g.count);
    g.buffer = storm_alloc(memory, gather_label, g.piece * rows->row_bytes);
    bool good = g.count != NULL && g.buffer != NULL;
    storm_status status =
        storm_context_agree(context, good ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = gather_all(&g);
    if (status == STORM_ERR_LOST)
        return status; /* MPI may still use the memory */
    storm_free(memory, g.count);
    storm_free(memory, g.buffer);
    return storm_context_agree(context, status < 0 ? status : g.taken);
}
