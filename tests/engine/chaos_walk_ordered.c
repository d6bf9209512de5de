/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; timeout: 100; label: slow-asan */
/* The same as walk_counts.c over a fabric that orders puts but completes early
 * and lands late. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&chaos_shm_ordered,
                                                            NULL};

#define WALK_LESS 6
#define WALK_BACKEND "chaos shm ordered"
#include "walk_counts.c"
