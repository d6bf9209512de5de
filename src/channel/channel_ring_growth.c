/* SPDX-License-Identifier: BSD-3-Clause */
/* Create, grow and shrink: rules GROW-1 to GROW-6 of channel_ring.h. */
#include <math.h>

#include "base/clock.h"
#include "channel/channel_ring.h"

/* Pauses between two tries to get memory; each is twice the one before. */
static const double first_pause_s = 1e-3, last_pause_s = 10;

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

/* Memory was refused: wants and offers are kept, and tried again later. */
static void try_later(struct ring_channel *c, int rank)
{
    if (c->pause_s == 0)
        c->pause_s = first_pause_s;
    if (!c->warned)
        storm_log_write(&c->params.env->log, STORM_LOG_WARN,
                        "no memory for a larger ring with rank %d; it is tried "
                        "again, meanwhile packets wait longer",
                        rank);
    c->warned = true;
    c->short_of_memory = true;
    c->retry_s = storm_clock_seconds() + c->pause_s;
}

/* What a fabric logs a refusal at (FABRIC-15): it is no error if this rank can
 * do without, and its reason is needed once. */
static storm_log_level refusal(const struct ring_channel *c, bool can_wait)
{
    if (!can_wait)
        return STORM_LOG_ERROR;
    return c->warned ? STORM_LOG_DEBUG : STORM_LOG_INFO;
}

/* Creates ring newest + 1 and sends RING. STORM_ERR_NOMEM: it did neither. */
static storm_status give(struct ring_channel *c, uint32_t i_pair,
                         uint64_t capacity, bool can_wait)
{
    struct storm_message message;
    struct in_pair *pair = &c->in[i_pair];
    struct storm_fabric *fabric = pair->route->fabric;
    fabric->refusal_level = refusal(c, can_wait);
    storm_status status = ring_in_make(c, i_pair, capacity, &message);
    fabric->refusal_level = STORM_LOG_ERROR;
    if (status < 0)
        return status;
    c->stats.growths += pair->old && capacity > pair->old->capacity;
    status =
        c->params.control->ops->send(c->params.control, pair->rank, &message);
    return status == STORM_ERR_NOMEM ? STORM_ERR_FABRIC : status;
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

/* The request that arrived next after that number and can be served, or NULL.
 * Stamps of the senders would not do: clocks of two nodes cannot be compared.
 */
static struct in_pair *next_want(struct ring_channel *c, uint64_t after)
{
    struct in_pair *next = NULL;
    for (size_t i = 0; i < c->n_in; i++) {
        struct in_pair *pair = &c->in[i];
        if (pair->want > 0 && !pair->old && pair->want_number > after &&
            (!next || pair->want_number < next->want_number))
            next = pair;
    }
    return next;
}

/* Serves a request, or keeps it (GROW-2). */
static storm_status ring_serve(struct ring_channel *c, struct in_pair *pair)
{
    uint32_t i_pair = (uint32_t)(pair - c->in);
    uint64_t capacity = within_cap(c, pair, pair->want);
    if (capacity == 0 || (c->short_of_memory && pair->ring))
        return send_later(c, pair); /* nobody overtakes the one refused */
    storm_status status = give(c, i_pair, capacity, true);
    if (status == STORM_ERR_NOMEM && pair->ring) {
        try_later(c, pair->rank);
        return send_later(c, pair);
    }
    if (status == STORM_ERR_NOMEM)
        status = give(c, i_pair, RING_MIN_SLOTS, false);
    pair->want = 0;
    c->n_wants--;
    return status;
}

/* In the order of arrival, so that no sender starves. */
static storm_status serve_wants(struct ring_channel *c)
{
    storm_status status = STORM_OK;
    struct in_pair *pair = c->n_wants > 0 ? next_want(c, 0) : NULL;
    while (pair && status >= 0) {
        status = ring_serve(c, pair);
        pair = next_want(c, pair->want_number);
    }
    return status;
}

storm_status ring_growth_free_old(struct ring_channel *c, uint32_t i_pair)
{
    struct in_pair *pair = &c->in[i_pair];
    struct in_ring *old = pair->old;
    if (!old || !old->retired || old->head != old->last) /* GROW-4 */
        return STORM_OK;
    pair->old = NULL;
    ring_in_free(c, old);
    c->retry_s = 0; /* there is some memory now */
    return serve_wants(c);
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
    pair->want_number = ++c->want_number;
    pair->later_sent = false;
    return serve_wants(c);
}

/* Makes this end of a ring that was given; keeps the offer if there is no
 * memory and a ring to continue with (GROW-3). */
static storm_status ring_accept(struct ring_channel *c, uint32_t i_peer)
{
    struct out_peer *peer = &c->out[i_peer];
    struct storm_fabric *fabric = ring_route_to(c, peer->rank)->fabric;
    fabric->refusal_level = refusal(c, peer->ring != NULL);
    storm_status status =
        ring_out_make(c, peer->rank, &peer->offer, &peer->next);
    fabric->refusal_level = STORM_LOG_ERROR;
    peer->has_offer = status == STORM_ERR_NOMEM && peer->ring;
    if (peer->has_offer) {
        try_later(c, peer->rank);
        return STORM_OK;
    }
    return status < 0 ? status : ring_out_adopt(c, i_peer);
}

static storm_status on_ring(struct ring_channel *c, int rank,
                            const struct storm_message *message)
{
    uint32_t i_peer = (uint32_t)c->out_of_rank[rank];
    struct out_peer *peer = &c->out[i_peer];
    STORM_ASSERT(!peer->next && !peer->has_offer);
    set_awaited(c, peer, false);
    peer->offer = *message;
    return ring_accept(c, i_peer);
}

/* Tries again what memory was refused for. */
static storm_status ring_retry(struct ring_channel *c)
{
    if (STORM_LIKELY(!c->short_of_memory) || storm_clock_seconds() < c->retry_s)
        return STORM_OK;
    c->pause_s = fmin(2 * c->pause_s, last_pause_s);
    c->short_of_memory = false;
    storm_status status = serve_wants(c);
    for (uint32_t i = 0; i < c->n_out && status >= 0; i++)
        if (c->out[i].has_offer)
            status = ring_accept(c, i);
    if (!c->short_of_memory)
        c->pause_s = 0;
    return status;
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
            return ring_retry(c);
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

/* GROW-6. Without memory for the smaller ring the larger one stays. */
storm_status ring_growth_trim(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    for (size_t i = 0; i < c->n_in; i++) {
        struct in_pair *pair = &c->in[i];
        struct in_ring *ring = pair->ring;
        if (!ring || pair->old)
            continue;
        uint64_t capacity = power_of_two(2 * ring->max_fill);
        uint64_t max = ring->capacity / (ring->max_fill > 0 ? 4 : 2);
        ring->max_fill = 0;
        if (capacity > max)
            continue;
        storm_status status = give(c, (uint32_t)i, capacity, true);
        if (status == STORM_ERR_NOMEM)
            continue;
        if (status < 0)
            return status;
        c->n_wants -= pair->want > 0; /* the sender can ask again */
        pair->want = 0;
    }
    return STORM_OK;
}
