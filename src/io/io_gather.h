/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of all ranks on rank 0, in order of the ranks, a piece at a time.
 *
 *   G1  Rank 0 holds one piece, about IO_GATHER_BYTES, however many rows and
 *       ranks there are: a rank sends when rank 0 has called it, so that
 *       nothing piles up within MPI.
 *   G2  `take` runs on rank 0 alone. Once it has failed it is not called
 *       again, and all ranks learn of it.
 */
#ifndef STORM_IO_GATHER_H
#define STORM_IO_GATHER_H

#include <stddef.h>

#include <storm/status.h>

enum { IO_GATHER_BYTES = 1 << 20 };

struct storm_context;

/* What a rank has: row_bytes is the same everywhere. */
struct io_gather_rows {
    size_t n;
    size_t row_bytes;
    void *self;
    void (*fill)(void *self, size_t first, size_t n, void *rows_out);
};

typedef storm_status io_gather_take(void *self, const void *rows, size_t n);

/* Collective, blocks. The same kind of status on every rank. */
storm_status io_gather(const struct storm_context *context,
                       const struct io_gather_rows *rows, io_gather_take *take,
                       void *self);

#endif /* STORM_IO_GATHER_H */
