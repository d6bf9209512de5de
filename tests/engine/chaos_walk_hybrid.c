/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; env: STORM_RANKS_PER_NODE=2; timeout: 100;
 *      label: slow-asan */
/* The same as walk_counts.c over two fabrics at once: shared memory between
 * pairs of ranks, chaos between the pairs. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&storm_fabric_shm,
                                                            &chaos_shm, NULL};

#define WALK_LESS 6
#define WALK_BACKEND "chaos shm"
#include "walk_counts.c"
