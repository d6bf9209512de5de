/* SPDX-License-Identifier: BSD-3-Clause */
/* Create, grow and shrink: rules GROW-1 to GROW-5 of channel_ring.h. */
#include <math.h>

#include "base/clock.h"
#include "channel/channel_ring.h"

static uint64_t power_of_two(uint64_t n)
{
    uint64_t power = RING_MIN_SLOTS;
    while (power < n)
        power *= 2;
    return power;
}

static void set_awaited(struct ring_channel *c, struct out_peer *peer,
                        bool awaited)
{
    c->n_awaited += awaited && !peer->awaited;
    c->n_awaited -= !awaited && peer->awaited;
    peer->awaited = awaited;
}

storm_status ring_growth_want(struct ring_channel *c, struct out_peer *peer)
{
    int64_t id = peer->ring ? peer->ring->id : 0;
    if (peer->asked == id || peer->next)
        return STORM_OK;
    double slots = (double)c->params.slots;
    if (peer->ring)
        slots = (double)peer->ring->capacity * fmax(c->params.growth, 2);
    struct storm_message message = {
        .kind = STORM_MESSAGE_WANT,
        .id = (uint32_t)id,
        .capacity = power_of_two((uint64_t)slots),
        .stamp_ns = (uint64_t)(1e9 * storm_clock_seconds()),
    };
    peer->asked = id;
    set_awaited(c, peer, c->params.sync_growth);
    return c->params.control->ops->send(c->params.control, peer->rank,
                                        &message);
}

storm_status ring_growth_retire(struct ring_channel *c, struct out_peer *peer)
{
    struct storm_message message = {
        .kind = STORM_MESSAGE_RETIRE,
        .id = peer->old->id,
        .last = peer->old->published,
    };
    ring_out_free(c, peer->old);
    peer->old = NULL;
    return c->params.control->ops->send(c->params.control, peer->rank,
                                        &message);
}

/* GROW-5 */
static storm_status send_later(struct ring_channel *c, struct in_pair *pair)
{
    if (!c->params.sync_growth || pair->later_sent)
        return STORM_OK;
    pair->later_sent = true;
    struct storm_message message = {.kind = STORM_MESSAGE_LATER,
                                    .id = pair->newest};
    return c->params.control->ops->send(c->params.control, pair->rank,
                                        &message);
}

/* Creates ring newest + 1 and sends RING. */
static storm_status give(struct ring_channel *c, uint32_t i_pair,
                         uint64_t capacity)
{
    struct storm_message message;
    struct in_pair *pair = &c->in[i_pair];
    storm_status status = ring_in_make(c, i_pair, capacity, &message);
    if (status == STORM_ERR_NOMEM && pair->ring)
        return send_later(c, pair); /* the sender continues with its ring */
    if (status < 0)
        return status;
    c->stats.growths += pair->old && capacity > pair->old->capacity;
    return c->params.control->ops->send(c->params.control, pair->rank,
                                        &message);
}

/* Is there memory for a ring of that capacity within the limit? A first ring is
 * always given, however small: without it its sender could never finish. */
static uint64_t within_cap(const struct ring_channel *c,
                           const struct in_pair *pair, uint64_t capacity)
{
    uint64_t cap = c->params.memory_cap;
    uint64_t bytes = ring_in_bytes(c, capacity);
    if (cap == 0 || c->stats.ring_bytes + bytes <= cap)
        return capacity;
    return pair->ring ? 0 : RING_MIN_SLOTS;
}

/* Oldest request first, so that no sender starves. */
static storm_status serve_wants(struct ring_channel *c)
{
    for (;;) {
        struct in_pair *first = NULL;
        uint64_t capacity = 0;
        for (size_t i = 0; i < c->n_in && c->n_wants > 0; i++) {
            struct in_pair *pair = &c->in[i];
            if (pair->want == 0 || pair->old ||
                (first && pair->want_stamp_ns >= first->want_stamp_ns))
                continue;
            uint64_t within = within_cap(c, pair, pair->want);
            storm_status status = within > 0 ? STORM_OK : send_later(c, pair);
            if (status < 0)
                return status;
            if (within > 0) {
                first = pair;
                capacity = within;
            }
        }
        if (!first)
            return STORM_OK;
        first->want = 0;
        c->n_wants--;
        storm_status status = give(c, (uint32_t)(first - c->in), capacity);
        if (status < 0)
            return status;
    }
}

storm_status ring_growth_free_old(struct ring_channel *c, uint32_t i_pair)
{
    struct in_pair *pair = &c->in[i_pair];
    struct in_ring *old = pair->old;
    if (!old || !old->retired || old->head != old->last) /* GROW-4 */
        return STORM_OK;
    pair->old = NULL;
    ring_in_free(c, old);
    return c->n_wants > 0 ? serve_wants(c) : STORM_OK;
}

static storm_status on_want(struct ring_channel *c, int rank,
                            const struct storm_message *message)
{
    uint32_t i_pair;
    storm_status status = ring_in_pair(c, rank, &i_pair);
    if (status < 0)
        return status;
    struct in_pair *pair = &c->in[i_pair];
    if (message->id != pair->newest) /* GROW-2: RING is in flight */
        return STORM_OK;
    c->n_wants += pair->want == 0;
    pair->want = message->capacity;
    pair->want_stamp_ns = message->stamp_ns;
    pair->later_sent = false;
    return serve_wants(c);
}

static storm_status on_ring(struct ring_channel *c, int rank,
                            const struct storm_message *message)
{
    uint32_t i_peer = (uint32_t)c->out_of_rank[rank];
    struct out_peer *peer = &c->out[i_peer];
    STORM_ASSERT(!peer->next);
    set_awaited(c, peer, false);
    storm_status status = ring_out_make(c, rank, message, &peer->next);
    return status < 0 ? status : ring_out_adopt(c, i_peer);
}

static storm_status on_later(struct ring_channel *c, int rank,
                             const struct storm_message *message)
{
    struct out_peer *peer = &c->out[c->out_of_rank[rank]];
    if (peer->asked == message->id)
        set_awaited(c, peer, false);
    return STORM_OK;
}

static storm_status on_retire(struct ring_channel *c, int rank,
                              const struct storm_message *message)
{
    uint32_t i_pair = (uint32_t)c->in_of_rank[rank];
    struct in_ring *old = c->in[i_pair].old;
    if (!old || old->id != message->id) {
        storm_log_write(&c->params.env->log, STORM_LOG_ERROR,
                        "RETIRE for unknown ring %u from rank %d", message->id,
                        rank);
        return STORM_ERR_FABRIC;
    }
    old->retired = true;
    old->last = message->last;
    return ring_growth_free_old(c, i_pair);
}

storm_status ring_growth_control(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    c->stats.control_polls++;
    for (;;) {
        int rank;
        struct storm_message message;
        storm_status status =
            c->params.control->ops->poll(c->params.control, &rank, &message);
        if (status == STORM_AGAIN)
            return STORM_OK;
        if (status == STORM_OK && message.kind == STORM_MESSAGE_WANT)
            status = on_want(c, rank, &message);
        else if (status == STORM_OK && message.kind == STORM_MESSAGE_RING)
            status = on_ring(c, rank, &message);
        else if (status == STORM_OK && message.kind == STORM_MESSAGE_RETIRE)
            status = on_retire(c, rank, &message);
        else if (status == STORM_OK && message.kind == STORM_MESSAGE_LATER)
            status = on_later(c, rank, &message);
        else if (status == STORM_OK && message.kind == STORM_MESSAGE_FAIL) {
            ring_give_up(channel);
            status = STORM_ERR_PEER;
        }
        if (status < 0)
            return status;
    }
}

storm_status ring_growth_trim(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    for (size_t i = 0; i < c->n_in; i++) {
        struct in_pair *pair = &c->in[i];
        struct in_ring *ring = pair->ring;
        if (!ring || pair->old)
            continue;
        bool idle = ring->head == pair->head_at_trim;
        pair->head_at_trim = ring->head;
        if (!idle || ring->capacity <= RING_MIN_SLOTS)
            continue;
        c->n_wants -= pair->want > 0; /* the sender can ask again */
        pair->want = 0;
        storm_status status = give(c, (uint32_t)i, RING_MIN_SLOTS);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}
