/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums of arrays of 64-bit words, one for each block of rows.
 *
 *   SUMS-1  A checksum is the sum modulo 2^64 of one term for each word, which
 *           depends on the word and its place in the array: parts of a block
 *           may be summed by different ranks, in any order.
 *   SUMS-2  Blocks depend on the shape of the array alone.
 */
#ifndef STORM_IO_H5_SUMS_H
#define STORM_IO_H5_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Words of a block, if its rows are not longer. */
enum { IO_H5_BLOCK_WORDS = 8192 };

/* Name of the group of a file with the checksums, under the arrays' names. */
#define IO_H5_SUMS "checksums"

static inline uint64_t io_h5_block_rows(uint64_t columns)
{
    return columns < IO_H5_BLOCK_WORDS ? IO_H5_BLOCK_WORDS / columns : 1;
}

static inline uint64_t io_h5_n_blocks(uint64_t n_rows, uint64_t columns)
{
    uint64_t each = io_h5_block_rows(columns);
    return n_rows / each + (n_rows % each != 0);
}

/* Sum over n words, of which the first is number `place` of the array. */
static inline uint64_t io_h5_sum(const void *words, uint64_t n, uint64_t place)
{
    const unsigned char *at = words;
    uint64_t sum = 0, word;
    for (uint64_t i = 0; i < n; i++, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum += storm_hash_fold(place + i, word);
    }
    return sum;
}

#endif /* STORM_IO_H5_SUMS_H */
