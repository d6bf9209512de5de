/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitters of sorted keys, spread over the ranks, into equal shares. */
#ifndef STORM_MESH_SPLIT_H
#define STORM_MESH_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>

/* This rank's keys, in order; each may be part of a larger record. */
struct storm_keys {
    const uint64_t *first; /* of the first record */
    size_t n;
    size_t stride; /* bytes from one to the next */
    int bits;      /* keys of all ranks are below 2^bits */
};

/* The number of keys below one. */
size_t storm_split_below(const struct storm_keys *keys, uint64_t key);

/*
 * splitter_out[r], of n_ranks - 1: the largest key with no more than the share
 * of ranks 0 .. r, n_total * (r + 1) / n_ranks, of the keys below it. If no two
 * keys are the same, exactly as many are. Collective; `status` is that of this
 * rank so far.
 */
storm_status storm_split_keys(const struct storm_context *context,
                              storm_status status,
                              const struct storm_keys *keys, uint64_t n_total,
                              uint64_t *splitter_out);

#endif /* STORM_MESH_SPLIT_H */
