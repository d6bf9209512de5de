/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_partition.h"

#include <mpi.h>

#include "base/env.h"
#include "base/port.h"

/* Larger than any id. Some MPI libraries compare unsigned integers as signed
 * ones, so it must be positive as a signed one, too. */
static const uint64_t partition_none = INT64_MAX;

__extension__ typedef unsigned __int128 partition_sum;

/* MPI adds no 128-bit integers; it adds 32 bits at a time in 64. The sums of
 * 2^31 ranks fit, and each rank's own is below 2^31 cells * 2^64. */
enum { PARTITION_LIMBS = 3, PARTITION_TOTAL_BITS = 96 };

static void partition_to_limbs(partition_sum sum, uint64_t *limbs)
{
    for (int i = 0; i < PARTITION_LIMBS; i++)
        limbs[i] = (uint64_t)(sum >> (32 * i)) & 0xffffffffu;
}

static partition_sum partition_from_limbs(const uint64_t *limbs)
{
    partition_sum sum = 0;
    for (int i = 0; i < PARTITION_LIMBS; i++)
        sum += (partition_sum)limbs[i] << (32 * i);
    return sum;
}

void storm_partition_equal(uint64_t n_total, int n_ranks,
                           uint64_t *partition_out)
{
    for (int r = 0; r <= n_ranks; r++)
        partition_out[r] = (uint64_t)((partition_sum)n_total * (unsigned)r /
                                      (unsigned)n_ranks);
}

/* First id of each rank from the lowest id of the ranks that have any: ranks
 * without cells start where the next one does. */
static void partition_close(uint64_t *partition, int n_ranks, uint64_t n_total)
{
    partition[0] = 0;
    partition[n_ranks] = n_total;
    for (int r = n_ranks - 1; r > 0; r--) {
        if (partition[r] > partition[r + 1])
            partition[r] = partition[r + 1];
    }
}

storm_status storm_partition_by_weight(const struct storm_context *context,
                                       const uint64_t *partition,
                                       const uint64_t *weight,
                                       uint64_t *partition_out)
{
    int rank = storm_context_rank(context);
    int n_ranks = storm_context_size(context);
    uint64_t n_cells = partition[rank + 1] - partition[rank];

    partition_sum mine = 0;
    for (uint64_t i = 0; i < n_cells; i++)
        mine += weight[i];
    uint64_t limbs[PARTITION_LIMBS], before[PARTITION_LIMBS];
    partition_to_limbs(mine, limbs);
    partition_to_limbs(mine, before);
    storm_status status =
        storm_context_exscan(context, before, PARTITION_LIMBS);
    if (status == STORM_OK)
        status = storm_context_reduce(context, limbs, PARTITION_LIMBS,
                                      MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    partition_sum total = partition_from_limbs(limbs);
    partition_sum sum = partition_from_limbs(before);
    if (total >> PARTITION_TOTAL_BITS) {
        storm_log_shared(&storm_context_env(context)->log, 0,
                         "weights of cells add up to 2^96 or more: use "
                         "smaller ones");
        return STORM_ERR_ARG;
    }
    if (total == 0) {
        storm_partition_equal(partition[n_ranks], n_ranks, partition_out);
        return STORM_OK;
    }

    for (int r = 0; r <= n_ranks; r++)
        partition_out[r] = partition_none;
    int last = -1;
    for (uint64_t i = 0; i < n_cells; i++) {
        partition_sum middle = 2 * sum + weight[i];
        /* below 2^97 * 2^31, and at most n_ranks */
        partition_sum target = middle * (unsigned)n_ranks / (2 * total);
        int r = target < (unsigned)n_ranks ? (int)target : n_ranks - 1;
        if (r > last)
            partition_out[r] = partition[rank] + i;
        last = r;
        sum += weight[i];
    }
    status = storm_context_reduce(context, partition_out, n_ranks + 1,
                                  MPI_UINT64_T, MPI_MIN);
    if (status < 0)
        return status;
    partition_close(partition_out, n_ranks, partition[n_ranks]);
    return STORM_OK;
}

int storm_partition_owner(const uint64_t *partition, int n_ranks, uint64_t id)
{
    STORM_ASSERT(id < partition[n_ranks]);
    int low = 0, high = n_ranks; /* cut[low] <= id < cut[high] */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (partition[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}
