/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_store.h"

/* A chunk is as large as those before it together, from the first to the small
 * one; later an eighth of them, so that large ones get huge pages. */
enum {
    CHUNK_FIRST = 16 * 1024,
    CHUNK_SMALL = 256 * 1024,
    CHUNK_PINNED = 8 << 20, /* min, with a device */
    CHUNK_MAX = 64 << 20,
    CHUNK_SHARE = 8
};

void *storm_pinned_alloc(struct storm_memory *memory,
                         struct storm_device *device, const char *label,
                         size_t bytes)
{
    void *array = storm_alloc(memory, label, bytes);
    if (array && storm_device_pin(device, array, bytes) < 0) {
        storm_free(memory, array);
        return NULL;
    }
    return array;
}

void storm_pinned_free(struct storm_memory *memory, struct storm_device *device,
                       void *array)
{
    if (array)
        storm_device_unpin(device, array);
    storm_free(memory, array);
}

void storm_store_open(struct storm_store *store, struct storm_memory *memory,
                      struct storm_device *device, size_t record_bytes)
{
    *store = (struct storm_store){
        .memory = memory, .device = device, .record_bytes = record_bytes};
    storm_store_follow(store, &store->free);
}

void storm_store_close(struct storm_store *store)
{
    for (size_t i = 0; i < store->n_chunks; i++)
        storm_pinned_free(store->memory, store->device, store->chunk[i]);
    storm_free(store->memory, store->chunk);
    storm_list_free(&store->free, store->memory);
}

void storm_store_follow(struct storm_store *store, struct storm_list *list)
{
    STORM_ASSERT(store->n_followers < STORM_STORE_LISTS);
    store->followers[store->n_followers++] = list;
}

storm_status storm_list_reserve(struct storm_list *list,
                                struct storm_memory *memory, const char *label,
                                size_t n)
{
    if (n <= list->capacity)
        return STORM_OK;
    void *item = list->item;
    storm_status status = storm_reserve(memory, label, sizeof *list->item, n,
                                        &item, &list->capacity);
    list->item = item;
    return status;
}

void storm_list_free(struct storm_list *list, struct storm_memory *memory)
{
    storm_free(memory, list->item);
    *list = (struct storm_list){0};
}

/* Bytes of a chunk after so many in others. */
static size_t next_chunk(size_t before)
{
    size_t large = before / CHUNK_SHARE;
    if (large > CHUNK_SMALL)
        return large < CHUNK_MAX ? large : CHUNK_MAX;
    if (before > CHUNK_SMALL)
        return CHUNK_SMALL;
    return before > CHUNK_FIRST ? before : CHUNK_FIRST;
}

storm_status storm_store_grow(struct storm_store *store)
{
    size_t bytes = next_chunk(store->n_slots * store->record_bytes);
    if (store->device && bytes < CHUNK_PINNED)
        bytes = CHUNK_PINNED;
    size_t n = bytes / store->record_bytes;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < store->n_followers && status == STORM_OK; i++)
        status = storm_list_reserve(store->followers[i], store->memory,
                                    "packet lists", store->n_slots + n);
    void *chunks = store->chunk;
    if (status == STORM_OK)
        status =
            storm_reserve(store->memory, "packet lists", sizeof *store->chunk,
                          store->n_chunks + 1, &chunks, &store->chunk_capacity);
    store->chunk = chunks;
    unsigned char *chunk =
        status < 0 ? NULL
                   : storm_pinned_alloc(store->memory, store->device, "packets",
                                        n * store->record_bytes);
    if (!chunk)
        return STORM_ERR_NOMEM;
    store->chunk[store->n_chunks++] = chunk;
    store->n_slots += n;
    for (size_t i = n; i > 0; i--)
        storm_store_put(store, chunk + (i - 1) * store->record_bytes);
    return STORM_OK;
}
