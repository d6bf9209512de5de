/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of words that are spread over all ranks. */
#ifndef STORM_MESH_OCTREE_WORDS_H
#define STORM_MESH_OCTREE_WORDS_H

#include <storm/context.h>

#include "mesh/octree/octree_mesh.h"

/* STORM_ERR_NOMEM. */
storm_status octree_words_add(const struct storm_env *env,
                              struct octree_words *words, uint64_t word);
void octree_words_free(const struct storm_env *env, struct octree_words *words);

/* What is left of words that are equal. */
enum octree_keep {
    OCTREE_KEEP_ALL,
    OCTREE_KEEP_ONE, /* one of them */
    OCTREE_KEEP_LONE /* none: only words that have no equal */
};

/*
 * Sorts the words of all ranks: afterwards a rank's are in order, and below
 * those of the next rank; equal ones are on one rank. Every rank has about its
 * share of those that there were. Collective, blocks. `status` is that of this
 * rank so far; if any rank's is an error nothing is sorted.
 *
 * n_total_out  words that are left on all ranks
 */
storm_status octree_words_sort(const struct storm_context *context,
                               storm_status status, struct octree_words *words,
                               enum octree_keep keep, uint64_t *n_total_out);

/*
 * Moves words, one per cell in order of places, from one partition to another.
 * Collective, blocks; `from` keeps its own. `to_out` is set on STORM_OK.
 */
storm_status octree_words_move(const struct storm_context *context,
                               const uint64_t *from,
                               const uint64_t *from_partition,
                               const uint64_t *to_partition, uint64_t **to_out);

#endif /* STORM_MESH_OCTREE_WORDS_H */
