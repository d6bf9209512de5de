/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's end of rings.
 *
 * Pairs of memory orders, by label:
 *   RECEIVE-1  load-acquire of the tail word in ring_in_take: pairs with the
 *              put_word or fetch_add that published it (FABRIC-7, FABRIC-8);
 *              the slots are read after it.
 *   RECEIVE-2  store-release of the head word in ring_in_release: pairs with
 *              the get of the sender (FABRIC-10); it is done with the
 *              slots before it.
 */
#include "channel/channel_ring.h"

/* A place for the tails of one more pair. */
static storm_status make_place(struct ring_channel *c, struct ring_route *route)
{
    if (route->n_pairs < route->n_tail_blocks * TAIL_BLOCK_PAIRS)
        return STORM_OK;
    struct storm_fabric *f = route->fabric;
    void *blocks = route->tail_block;
    storm_status status =
        storm_reserve(c->memory, "ring peers", sizeof *route->tail_block,
                      route->n_tail_blocks + 1, &blocks,
                      &route->tail_block_capacity);
    route->tail_block = blocks;
    if (status == STORM_OK)
        status = f->ops->alloc(f, 2 * TAIL_BLOCK_PAIRS * sizeof(uint64_t),
                               &route->tail_block[route->n_tail_blocks]);
    route->n_tail_blocks += status == STORM_OK;
    return status;
}

storm_status ring_in_pair(struct ring_channel *c, int rank, uint32_t *pair_out)
{
    if (c->in_of_rank[rank] < 0) {
        struct ring_route *route = ring_route_to(c, rank);
        void *list = c->in;
        storm_status status =
            storm_reserve(c->memory, "ring peers", sizeof *c->in, c->n_in + 1,
                          &list, &c->in_capacity);
        c->in = list;
        if (status == STORM_OK)
            status = make_place(c, route);
        if (status < 0)
            return status;
        c->in[c->n_in] = (struct in_pair){
            .rank = rank, .route = route, .place = (uint32_t)route->n_pairs++};
        c->in_of_rank[rank] = (int32_t)c->n_in++;
    }
    *pair_out = (uint32_t)c->in_of_rank[rank];
    return STORM_OK;
}

size_t ring_in_bytes(const struct ring_channel *c, uint64_t capacity)
{
    return RING_SLOTS_OFFSET + (size_t)capacity * c->params.record_bytes;
}

static void book(struct ring_channel *c, uint64_t capacity, int sign)
{
    size_t bytes = ring_in_bytes(c, capacity);
    storm_memory_book(c->memory, "rings, receiver", sign * (ptrdiff_t)bytes);
    c->stats.ring_bytes += sign > 0 ? bytes : (size_t)0 - bytes;
    if (c->stats.ring_bytes > c->stats.ring_bytes_peak)
        c->stats.ring_bytes_peak = c->stats.ring_bytes;
}

storm_status ring_in_make(struct ring_channel *c, uint32_t i_pair,
                          uint64_t capacity, struct storm_message *message_out)
{
    struct in_pair *pair = &c->in[i_pair];
    struct storm_fabric *f = pair->route->fabric;
    STORM_ASSERT(!pair->old);
    void *slots = c->slot;
    storm_status status =
        storm_reserve(c->memory, "ring peers", sizeof *c->slot, c->n_slots + 1,
                      &slots, &c->slot_capacity);
    c->slot = slots;
    struct in_ring *ring =
        status < 0 ? NULL : storm_alloc(c->memory, "ring peers", sizeof *ring);
    if (!ring)
        return STORM_ERR_NOMEM;
    status = f->ops->alloc(f, ring_in_bytes(c, capacity), &ring->region);
    if (status < 0) {
        storm_free(c->memory, ring);
        return status;
    }
    book(c, capacity, 1);
    ring->fabric = f;
    ring->id = pair->newest + 1;
    ring->capacity = capacity;
    unsigned char *base = ring->region->base;
    ring->slots = base + RING_SLOTS_OFFSET;
    ring->head_word = (_Atomic uint64_t *)(void *)(base + RING_HEAD_OFFSET);

    struct storm_region *block =
        pair->route->tail_block[pair->place / TAIL_BLOCK_PAIRS];
    uint64_t word =
        (ring->id & 1) * TAIL_BLOCK_PAIRS + pair->place % TAIL_BLOCK_PAIRS;
    _Atomic uint64_t *tail = (_Atomic uint64_t *)block->base + word;
    if (c->params.paper)
        tail = (_Atomic uint64_t *)(void *)(base + RING_TAIL_OFFSET);
    /* Before RING is sent no rank writes here: the ring that used the word two
     * ids ago is freed, so its last tail has landed (GROW-4). */
    atomic_store_explicit(tail, 0, memory_order_relaxed);
    ring->tail_word = tail;

    *message_out =
        (struct storm_message){.kind = STORM_MESSAGE_RING,
                               .id = ring->id,
                               .capacity = capacity,
                               .tail_offset = word * sizeof(uint64_t)};
    f->ops->describe(f, ring->region, &message_out->ring);
    f->ops->describe(f, block, &message_out->tails);

    c->slot[c->n_slots++] = (struct in_slot){
        .tail_word = ring->tail_word, .ring = ring, .pair = i_pair};
    pair->old = pair->ring;
    pair->ring = ring;
    pair->newest = ring->id;
    return STORM_OK;
}

void ring_in_free(struct ring_channel *c, struct in_ring *ring)
{
    if (!ring)
        return;
    for (size_t i = 0; i < c->n_slots; i++)
        if (c->slot[i].ring == ring) {
            c->slot[i] = c->slot[--c->n_slots];
            break;
        }
    book(c, ring->capacity, -1);
    ring->fabric->ops->release(ring->fabric, ring->region);
    storm_free(c->memory, ring);
}

/* An impossible tail: RING-3. */
static storm_status bad_tail(const struct ring_channel *c,
                             const struct in_slot *slot, uint64_t tail)
{
    storm_log_write(&c->params.env->log, STORM_LOG_ERROR,
                    "ring %u from rank %d: tail %llu does not fit head %llu "
                    "and capacity %llu",
                    slot->ring->id, c->in[slot->pair].rank,
                    (unsigned long long)tail,
                    (unsigned long long)slot->ring->head,
                    (unsigned long long)slot->ring->capacity);
    return STORM_ERR_FABRIC;
}

storm_status ring_in_take(struct storm_channel *channel,
                          struct storm_arrival *arrival_out)
{
    struct ring_channel *c = ring_of(channel);
    size_t i = c->next_slot;
    for (size_t looked = 0; looked < c->n_slots; looked++, i++) {
        if (i >= c->n_slots)
            i = 0;
        struct in_slot *slot = &c->slot[i];
        uint64_t word =
            atomic_load_explicit(slot->tail_word,
                                 memory_order_acquire); /* RECEIVE-1 */
        if (word == slot->seen || (word & RING_PARITY) != c->parity)
            continue;
        struct in_ring *ring = slot->ring;
        uint64_t tail = word & ~RING_PARITY;
        uint64_t n = tail - ring->head;
        if (STORM_UNLIKELY(n > ring->capacity))
            return bad_tail(c, slot, tail);
        if (n == 0) {
            slot->seen = word;
            continue;
        }
        if (n > ring->max_fill)
            ring->max_fill = n;
        uint64_t at = ring->head & (ring->capacity - 1);
        if (n > ring->capacity - at)
            n = ring->capacity - at;
        *arrival_out = (struct storm_arrival){
            .records = ring->slots + at * c->params.record_bytes,
            .n = n,
            .rank = c->in[slot->pair].rank,
            .slot = (uint32_t)i,
        };
        c->next_slot = i + 1; /* the other rings come first next time */
        return STORM_OK;
    }
    return STORM_AGAIN;
}

storm_status ring_in_release(struct storm_channel *channel,
                             const struct storm_arrival *arrival)
{
    struct ring_channel *c = ring_of(channel);
    const struct in_slot *slot = &c->slot[arrival->slot];
    struct in_ring *ring = slot->ring;
    ring->head += arrival->n;
    atomic_store_explicit(ring->head_word, ring->head,
                          memory_order_release); /* RECEIVE-2 */
    if (STORM_UNLIKELY(ring->retired))
        return ring_growth_free_old(c, slot->pair);
    return STORM_OK;
}
