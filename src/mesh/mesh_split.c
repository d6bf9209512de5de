/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_split.h"

#include <string.h>

#include <mpi.h>

#include "base/env.h"
#include "mesh/mesh_partition.h"

static const char split_label[] = "mesh directory";

/* Bits of the keys per round of counting. */
enum { SPLIT_BITS = 4, SPLIT_TRIES = (1 << SPLIT_BITS) - 1 };

size_t storm_split_below(const struct storm_keys *keys, uint64_t key)
{
    const char *bytes = (const char *)keys->first;
    size_t low = 0, high = keys->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t there;
        memcpy(&there, bytes + middle * keys->stride, sizeof there);
        if (there < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Appends SPLIT_BITS bits to each splitter so that it stays the largest with no
 * more than its share of the keys below. */
static void split_refine(const uint64_t *count, const uint64_t *share,
                         int n_split, int shift, uint64_t *splitter)
{
    for (int r = 0; r < n_split; r++) {
        uint64_t best = 0;
        for (uint64_t k = 0; k < SPLIT_TRIES; k++)
            if (count[(size_t)r * SPLIT_TRIES + k] <= share[r + 1])
                best = k + 1;
        splitter[r] += best << shift;
    }
}

storm_status storm_split_keys(const struct storm_context *context,
                              storm_status status,
                              const struct storm_keys *keys, uint64_t n_total,
                              uint64_t *splitter_out)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n_split = (size_t)env->size - 1, n_counts = n_split * SPLIT_TRIES;
    uint64_t *count =
        storm_alloc(env->memory, split_label, (n_counts + 1) * sizeof *count);
    uint64_t *share =
        storm_alloc(env->memory, split_label, (n_split + 2) * sizeof *share);
    if (status >= 0 && (count == NULL || share == NULL))
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0)
        storm_partition_equal(n_total, env->size, share);
    for (size_t r = 0; r < n_split && status >= 0; r++)
        splitter_out[r] = 0;
    for (int shift = (keys->bits - 1) / SPLIT_BITS * SPLIT_BITS;
         status >= 0 && shift >= 0 && n_split > 0; shift -= SPLIT_BITS) {
        for (size_t k = 0; k < n_counts; k++)
            count[k] =
                storm_split_below(keys, splitter_out[k / SPLIT_TRIES] +
                                            ((uint64_t)(k % SPLIT_TRIES + 1)
                                             << shift));
        status = storm_context_reduce(context, count, (int)n_counts,
                                      MPI_UINT64_T, MPI_SUM);
        if (status >= 0)
            split_refine(count, share, (int)n_split, shift, splitter_out);
    }
    storm_free(env->memory, share);
    storm_free(env->memory, count);
    return status;
}
