/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank owns which cells: rank r has the ids [cut[r], cut[r+1]).
 *
 *   P1  A cut by weight is a function of the weights by cell id and of the
 *       number of ranks, not of the cut they are given in.
 *   P2  A cell goes to the rank in whose share of the total its middle lies:
 *       rank r gets its share but for half the weight of the cells at its
 *       two ends. Whole numbers throughout: nothing is rounded.
 *   P3  If all weights are zero, cells count one each.
 *   P4  cut[] is the one array of a mesh that grows with the number of ranks:
 *       8 bytes each.
 */
#ifndef STORM_MESH_PARTITION_H
#define STORM_MESH_PARTITION_H

#include <stdint.h>

#include <storm/context.h>
#include <storm/packet.h>
#include <storm/status.h>

/* cut_out[0 .. n_ranks]: equal numbers of cells, but for one. */
void storm_partition_equal(uint64_t n_total, int n_ranks, uint64_t *cut_out);

/*
 * Cut anew. Collective, blocks.
 *
 * weight   one for each of this rank's cells, [cut[rank], cut[rank+1])
 * cut_out  n_ranks + 1 values, not the same array as cut
 * STORM_ERR_ARG, on every rank: the total is 2^96 or more.
 */
storm_status storm_partition_by_weight(const struct storm_context *context,
                                       const uint64_t *cut,
                                       const uint64_t *weight,
                                       uint64_t *cut_out);

/* The rank that owns an id below cut[n_ranks]. */
int storm_partition_owner(const uint64_t *cut, int n_ranks, uint64_t id);

#endif /* STORM_MESH_PARTITION_H */
