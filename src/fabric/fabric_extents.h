/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A first-fit allocator of extents: which bytes of a range are free. It handles
 * offsets alone and never accesses that memory.
 *
 *   EXTENT-1  Extents that are in use do not overlap.
 *   EXTENT-2  take finds the lowest free extent that is large enough.
 *   EXTENT-3  Free extents that touch are one: when all are free, the whole
 *             range is one free extent again.
 *   EXTENT-4  give never fails. Without memory for the list the extent is never
 *             used again; nothing else is affected.
 */
#ifndef STORM_FABRIC_EXTENTS_H
#define STORM_FABRIC_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/memory.h"

struct storm_extent {
    uint64_t offset, bytes;
};

struct storm_extents {
    struct storm_memory *memory;
    const char *label;         /* of the list, in the memory book */
    uint64_t bytes;            /* of the range */
    struct storm_extent *free; /* sorted by offset, never adjacent */
    size_t n_free, capacity;
};

/* All of [0, bytes) is free. STORM_ERR_NOMEM. */
storm_status storm_extents_open(struct storm_extents *extents,
                                struct storm_memory *memory, const char *label,
                                uint64_t bytes);
void storm_extents_close(struct storm_extents *extents);

/* False: no free extent has so many bytes. bytes > 0. */
bool storm_extents_take(struct storm_extents *extents, uint64_t bytes,
                        struct storm_extent *extent_out);
void storm_extents_give(struct storm_extents *extents,
                        struct storm_extent extent);

/* Is everything free? */
bool storm_extents_unused(const struct storm_extents *extents);

#endif /* STORM_FABRIC_EXTENTS_H */
