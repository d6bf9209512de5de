/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: networks; timeout: 100; label: slow-asan slow-mpich;
 *      env: STORM_SHM=yes STORM_RANKS_PER_NODE=2 */
/* TEST ranks: 5; backend: ofi-tcp; timeout: 100; label: long;
 *      env: STORM_SHM=yes STORM_RANKS_PER_NODE=2 */
/* The same as walk_counts.c over two fabrics at once: shared memory between
 * pairs of ranks, a network between the pairs. */
#define WALK_LESS 30
#include "walk_counts.c"
