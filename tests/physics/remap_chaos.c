/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; timeout: 100; label: slow-asan */
/* TEST ranks: 2; backend: ofi-tcp; timeout: 100; label: slow-asan */
/* TEST ranks: 2 5 8; backend: auto; timeout: 300; label: long */
/* TEST ranks: 3 5; backend: ofi-tcp; timeout: 300; label: long */
/* The same as remap_voronoi.c over fabrics that order nothing and complete
 * late: around shared memory, and around ofi. MPI's own messages (p2p) have an
 * order that chaos must not change. */
#include "support/chaos.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {
    &chaos_shm, &chaos_as_ofi, NULL};

#define REMAP_LESS 3
#include "remap_voronoi.c"
