/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank owns which cells: rank r has the ids partition[r] to
 * partition[r+1] - 1.
 *
 *   PARTITION-1  A partition by weight is a function of the weights by cell id
 *                and of the number of ranks, not of the present partition.
 *   PARTITION-2  A cell goes to the rank in whose share of the total its middle
 *                lies: rank r gets its share but for half the weight of the
 *                cells at its two ends. All in integers: nothing is rounded.
 *   PARTITION-3  If all weights are zero, cells count one each.
 *   PARTITION-4  partition[] is the one array of a mesh that grows with the
 *                number of ranks: 8 bytes each.
 */
#ifndef STORM_MESH_PARTITION_H
#define STORM_MESH_PARTITION_H

#include <stdint.h>

#include <storm/context.h>
#include <storm/packet.h>
#include <storm/status.h>

/* partition_out[0 .. n_ranks]: numbers of cells differ by one at most. */
void storm_partition_equal(uint64_t n_total, int n_ranks,
                           uint64_t *partition_out);

/*
 * A new partition, by weight. Collective, blocks.
 *
 * partition      the present one
 * weight         one for each of this rank's cells
 * partition_out  n_ranks + 1 values, not the same array as partition
 * STORM_ERR_ARG, on every rank: the total is 2^96 or more.
 */
storm_status storm_partition_by_weight(const struct storm_context *context,
                                       const uint64_t *partition,
                                       const uint64_t *weight,
                                       uint64_t *partition_out);

/* The rank that owns an id below partition[n_ranks]. */
int storm_partition_owner(const uint64_t *partition, int n_ranks, uint64_t id);

#endif /* STORM_MESH_PARTITION_H */
