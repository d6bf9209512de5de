/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather the rows of all ranks on rank 0, in order of the ranks, a piece at a
 * time.
 *
 *   GATHER-1  Rank 0 holds one piece, about IO_GATHER_BYTES, for any number of
 *             rows and ranks: a rank sends only when rank 0 asks for its rows,
 *             so that messages do not pile up within MPI.
 *   GATHER-2  `take` runs on rank 0 alone. After a failure it is not called
 *             again, and all ranks get its status.
 */
#ifndef STORM_IO_GATHER_H
#define STORM_IO_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include <storm/status.h>

enum { IO_GATHER_BYTES = 1 << 20 };

struct storm_context;

/* The rows of one rank; row_bytes is the same on all. */
struct io_gather_rows {
    size_t n;
    size_t row_bytes;
    void *self;
    void (*fill)(void *self, size_t first, size_t n, void *rows_out);
};

typedef storm_status io_gather_take(void *self, const void *rows, size_t n);

/* Collective, blocks; an error on one rank is an error on all. The status of
 * `take`, STORM_ERR_NOMEM, STORM_ERR_FABRIC (MPI failed) or STORM_ERR_LOST. */
storm_status io_gather(const struct storm_context *context,
                       const struct io_gather_rows *rows, io_gather_take *take,
                       void *self);

/* One message of at most IO_GATHER_BYTES to or from another rank, in order.
 * Blocks. After STORM_ERR_LOST MPI may still use the memory. */
storm_status io_message(const struct storm_context *context, void *bytes,
                        size_t n, int peer, bool sends);

#endif /* STORM_IO_GATHER_H */
