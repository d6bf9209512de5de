/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; timeout: 100 */
/* The same as walk_counts.c over a fabric that orders nothing and completes
 * late. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&chaos_shm, NULL};

#define WALK_LESS 6
#define WALK_BACKEND "chaos shm"
#include "walk_counts.c"
