/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/pipe.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL_OFFSET = 0, HEAD_OFFSET = 64, SLOTS_OFFSET = 128 };

struct pipe {
    struct conform *c;
    struct pipe_params params;
    uint64_t slot_bytes;

    /* sender */
    struct storm_remote *to;
    struct storm_region *copy; /* of the slots, and of head in front */
    struct storm_ticket *slot; /* per slot of the copy */
    struct storm_ticket word, look;
    bool looking;
    uint64_t sent, head_seen;

    /* receiver */
    struct storm_region *mine;
    uint64_t from; /* rank */
    uint64_t taken;
};

/* Word i of the k-th slot of a sender: the first is its length. */
static uint64_t stamp(const struct pipe *p, uint64_t sender, uint64_t k,
                      uint64_t i)
{
    uint64_t key = dice_mix(p->c->seed ^ sender << 56 ^ k);
    return i == 0 ? 1 + key % p->params.max_words : key + i;
}

/* ---- sender ---------------------------------------------------------------*/

/* Is there a free slot, as far as this side knows? If not, looks again. */
static bool has_room(struct pipe *p)
{
    if (p->looking && p->look.pending == 0) {
        CHECK_OK(p->look.status);
        memcpy(&p->head_seen, p->copy->base, sizeof p->head_seen);
        CHECK(p->sent - p->head_seen <= p->params.slots);
        p->looking = false;
    }
    if (p->sent - p->head_seen < p->params.slots)
        return true;
    struct storm_transfer look = {
        .remote = p->to,
        .remote_offset = HEAD_OFFSET,
        .local = p->copy,
        .bytes = 8,
        .ticket = &p->look,
    };
    if (!p->looking) {
        conform_get(p->c, &look);
        p->looking = true;
    }
    return false;
}

/* Stores a slot into the peer's memory; for many slots in a row around the
 * cache, so that it does not hold what is stored. */
static void store_slot(const struct pipe *p, uint64_t k, uint64_t at,
                       uint64_t n)
{
    unsigned char *there = (unsigned char *)p->to->direct + at;
    const unsigned char *here = (unsigned char *)p->copy->base + at;
    if (k / 1024 % 2 == 0)
        storm_stream_copy(there, here, 8 * (n + n % 2)); /* 16 at a time */
    else
        for (uint64_t i = 0; i < n; i++)
            memcpy(there + 8 * i, here + 8 * i, 8);
}

static void put_slot(struct pipe *p, uint64_t k, uint64_t at, uint64_t n)
{
    bool ordered = p->c->fabric->caps.ordered;
    struct storm_ticket *ticket = &p->slot[k % p->params.slots];
    struct storm_transfer put = {
        .remote = p->to,
        .remote_offset = at,
        .local = p->copy,
        .local_offset = at,
        .bytes = 8 * n,
        .delivered = !ordered,
        .ticket = ticket,
    };
    conform_put(p->c, &put);
    if (!ordered) {
        conform_wait(p->c, ticket);
        conform_wait(p->c, &p->word);
    }
}

static bool send_one(struct pipe *p)
{
    if (p->sent == p->params.rounds || !has_room(p))
        return false;
    uint64_t k = p->sent, slot = k % p->params.slots;
    uint64_t at = SLOTS_OFFSET + slot * p->slot_bytes;
    conform_wait(p->c, &p->slot[slot]); /* FABRIC-5: the copy is ours again */
    uint64_t n = stamp(p, (uint64_t)p->c->rank, k, 0);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t word = stamp(p, (uint64_t)p->c->rank, k, i);
        memcpy((unsigned char *)p->copy->base + at + 8 * i, &word, 8);
    }
    if (p->params.direct)
        store_slot(p, k, at, n);
    else
        put_slot(p, k, at, n);
    conform_put_word(p->c, p->to, TAIL_OFFSET, ++p->sent, &p->word);
    return true;
}

/* ---- receiver -------------------------------------------------------------*/

static void read_slot(const struct pipe *p, uint64_t k)
{
    const uint64_t *slot =
        (const uint64_t *)(const void *)((unsigned char *)p->mine->base +
                                         SLOTS_OFFSET +
                                         k % p->params.slots * p->slot_bytes);
    uint64_t n = stamp(p, p->from, k, 0);
    for (uint64_t i = 0; i < n; i++) {
        if (p->params.linger && i == n / 2 && k % 64 == 0)
            sched_yield();
        CHECK_EQ(slot[i], stamp(p, p->from, k, i));
    }
}

static bool take_all(struct pipe *p)
{
    /* Pairs with the put_word in send_one (FABRIC-8). */
    uint64_t tail = atomic_load_explicit(conform_word(p->mine, TAIL_OFFSET),
                                         memory_order_acquire);
    CHECK(tail - p->taken <= p->params.slots);
    if (tail == p->taken)
        return false;
    while (p->taken < tail)
        read_slot(p, p->taken++);
    /* Pairs with the get in has_room (FABRIC-10). */
    atomic_store_explicit(conform_word(p->mine, HEAD_OFFSET), p->taken,
                          memory_order_release);
    return true;
}

void pipe_run(struct conform *c, const struct pipe_params *params)
{
    struct pipe p = {.c = c, .params = *params};
    struct conform_share share;
    p.slot_bytes = 8 * (uint64_t)params->max_words;
    size_t bytes = SLOTS_OFFSET + params->slots * p.slot_bytes;
    conform_share_open(c, bytes, &share);
    p.to = share.remote[(c->rank + params->shift) % c->size];
    p.from =
        (uint64_t)((c->rank + c->size - params->shift % c->size) % c->size);
    p.mine = share.region;
    p.copy = conform_alloc(c, bytes);
    p.slot = calloc(params->slots, sizeof *p.slot);
    CHECK(p.slot);

    uint64_t n_empty = 0;
    while (p.sent < params->rounds || p.taken < params->rounds) {
        bool moved = send_one(&p);
        moved |= take_all(&p);
        n_empty = moved ? 0 : n_empty + 1;
        conform_poll(c, n_empty);
    }
    for (uint32_t i = 0; i < params->slots; i++)
        conform_wait(c, &p.slot[i]);
    conform_wait(c, &p.word);
    conform_wait(c, &p.look);
    conform_fence(c);
    free(p.slot);
    conform_release(c, p.copy);
    conform_share_close(c, &share);
}
