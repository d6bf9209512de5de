/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets lie: slots of one size that never move, and lists of them.
 *
 *   STORE-1  A slot keeps its address until it is freed; slots freed last are
 *            used first, while they are still in the cache.
 *   STORE-2  Only growth allocates. A list handed to storm_store_follow has
 *            room for every slot there is, so that pushing to it needs no
 *            check.
 *   STORE-3  With a device, kernels may work on packets in their slots: memory
 *            is pinned. Chunks are so large then that no two share a page.
 */
#ifndef STORM_ENGINE_STORE_H
#define STORM_ENGINE_STORE_H

#include <stddef.h>
#include <string.h>

#include <storm/status.h>

#include "base/memory.h"
#include "base/port.h"
#include "device/device.h"

struct storm_list {
    void **item;
    size_t n, capacity;
};

enum { STORM_STORE_LISTS = 4 };

struct storm_store {
    struct storm_memory *memory;
    struct storm_device *device; /* NULL: none */
    size_t record_bytes;
    void **chunk;
    size_t n_chunks, chunk_capacity;
    size_t n_slots;
    struct storm_list free;
    struct storm_list *followers[STORM_STORE_LISTS];
    size_t n_followers;
};

void storm_store_open(struct storm_store *store, struct storm_memory *memory,
                      struct storm_device *device, size_t record_bytes);
void storm_store_close(struct storm_store *store);

/* Makes `list` grow with the store (STORE-2). */
void storm_store_follow(struct storm_store *store, struct storm_list *list);

/* Adds free slots. STORM_ERR_NOMEM; STORM_ERR_DEVICE. */
storm_status storm_store_grow(struct storm_store *store);

/* An array that is pinned if there is a device; NULL: no memory. */
void *storm_pinned_alloc(struct storm_memory *memory,
                         struct storm_device *device, const char *label,
                         size_t bytes);
void storm_pinned_free(struct storm_memory *memory, struct storm_device *device,
                       void *array);

/* A list that grows by itself. STORM_ERR_NOMEM. */
storm_status storm_list_reserve(struct storm_list *list,
                                struct storm_memory *memory, const char *label,
                                size_t n);
void storm_list_free(struct storm_list *list, struct storm_memory *memory);

/* So that the next n calls of get find a slot. STORM_ERR_NOMEM. */
static inline storm_status storm_store_have(struct storm_store *store, size_t n)
{
    storm_status status = STORM_OK;
    while (STORM_UNLIKELY(store->free.n < n) && status == STORM_OK)
        status = storm_store_grow(store);
    return status;
}

/* A slot, or NULL if there is no memory. */
static inline void *storm_store_get(struct storm_store *store)
{
    if (STORM_UNLIKELY(store->free.n == 0) && storm_store_grow(store) < 0)
        return NULL;
    return store->free.item[--store->free.n];
}

static inline void storm_store_put(struct storm_store *store, void *slot)
{
    store->free.item[store->free.n++] = slot;
}

static inline void storm_store_put_all(struct storm_store *store,
                                       void *const *slots, size_t n)
{
    memcpy(store->free.item + store->free.n, slots, n * sizeof *slots);
    store->free.n += n;
}

static inline void storm_list_push(struct storm_list *list, void *item)
{
    STORM_ASSERT(list->n < list->capacity);
    list->item[list->n++] = item;
}

/* Two cache lines is what the bundled packets have: let the compiler see it. */
static inline void storm_record_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 128)
        memcpy(to, from, 128);
    else
        memcpy(to, from, bytes);
}

#endif /* STORM_ENGINE_STORE_H */
