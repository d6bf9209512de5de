/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; backend: auto; timeout: 100 */
/* The same as remap_voronoi.c over a fabric that orders nothing and completes
 * late. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&chaos_shm, NULL};

#define REMAP_LESS 3
#include "remap_voronoi.c"
