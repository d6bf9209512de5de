/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; timeout: 100; label: slow-asan */
/* The same as engine_fence.c over a fabric that orders nothing and completes
 * late. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&chaos_shm, NULL};

#define FENCE_LESS 8
#include "engine_fence.c"
