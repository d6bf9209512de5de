/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric_extents.h"

#include <string.h>

enum { FIRST_CAPACITY = 16 };

static storm_status reserve(struct storm_extents *e, size_t n)
{
    void *list = e->free;
    storm_status status = storm_reserve(e->memory, e->label, sizeof *e->free, n,
                                        &list, &e->capacity);
    e->free = list;
    return status;
}

storm_status storm_extents_open(struct storm_extents *extents,
                                struct storm_memory *memory, const char *label,
                                uint64_t bytes)
{
    *extents = (struct storm_extents){
        .memory = memory, .label = label, .bytes = bytes};
    storm_status status = reserve(extents, FIRST_CAPACITY);
    if (status < 0)
        return status;
    extents->free[0] = (struct storm_extent){0, bytes};
    extents->n_free = 1;
    return STORM_OK;
}

void storm_extents_close(struct storm_extents *extents)
{
    if (extents->memory)
        storm_free(extents->memory, extents->free);
    *extents = (struct storm_extents){0};
}

static void insert_at(struct storm_extents *e, size_t i,
                      struct storm_extent extent)
{
    memmove(&e->free[i + 1], &e->free[i], (e->n_free - i) * sizeof *e->free);
    e->free[i] = extent;
    e->n_free++;
}

static void remove_at(struct storm_extents *e, size_t i)
{
    e->n_free--;
    memmove(&e->free[i], &e->free[i + 1], (e->n_free - i) * sizeof *e->free);
}

bool storm_extents_take(struct storm_extents *extents, uint64_t bytes,
                        struct storm_extent *extent_out)
{
    size_t i = 0;
    while (i < extents->n_free && extents->free[i].bytes < bytes)
        i++;
    if (i == extents->n_free)
        return false;
    struct storm_extent *found = &extents->free[i];
    *extent_out = (struct storm_extent){found->offset, bytes};
    found->offset += bytes;
    found->bytes -= bytes;
    if (found->bytes == 0)
        remove_at(extents, i);
    return true;
}

/* Makes one of number i and the one before it, if they touch. */
static void join_at(struct storm_extents *e, size_t i)
{
    if (i == 0 || i >= e->n_free)
        return;
    struct storm_extent *low = &e->free[i - 1];
    if (low->offset + low->bytes != e->free[i].offset)
        return;
    low->bytes += e->free[i].bytes;
    remove_at(e, i);
}

void storm_extents_give(struct storm_extents *extents,
                        struct storm_extent extent)
{
    size_t i = 0;
    while (i < extents->n_free && extents->free[i].offset < extent.offset)
        i++;
    if (reserve(extents, extents->n_free + 1) < 0)
        return; /* EXTENT-4 */
    insert_at(extents, i, extent);
    join_at(extents, i + 1);
    join_at(extents, i);
}

bool storm_extents_unused(const struct storm_extents *extents)
{
    return extents->n_free == 1 && extents->free[0].bytes == extents->bytes;
}
