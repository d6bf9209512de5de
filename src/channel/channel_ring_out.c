/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's end of rings: fast protocol and the paper's Algorithm 1. */
#include <string.h>

#include "channel/channel_ring.h"

static uint64_t slot_of(const struct out_ring *ring, uint64_t count)
{
    return count & (ring->capacity - 1);
}

static struct storm_ticket *half_of(struct out_ring *ring, uint64_t count)
{
    return &ring->half[slot_of(ring, count) >= ring->capacity / 2];
}

/* Records from `count` on, up to the end of the half it lies in. */
static uint64_t to_half_end(const struct out_ring *ring, uint64_t count)
{
    uint64_t half = ring->capacity / 2;
    return half - slot_of(ring, count) % half;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

storm_status ring_out_make(struct ring_channel *c, int rank,
                           const struct storm_message *message,
                           struct out_ring **ring_out)
{
    struct ring_route *route = ring_route_to(c, rank);
    struct storm_fabric *f = route->fabric;
    int peer = ring_peer_at(c, route, rank);
    size_t record = c->params.record_bytes;
    struct out_ring *ring =
        storm_alloc(c->memory, "rings, sender", sizeof *ring);
    if (!ring)
        return STORM_ERR_NOMEM;
    /* The paper puts every record from memory of its own. */
    ring->fabric = f;
    ring->direct = f->caps.direct && !c->params.paper;
    ring->id = message->id;
    ring->capacity = message->capacity;
    ring->tail_offset = message->tail_offset;
    size_t copy = ring->direct ? 0 : message->capacity * record;
    storm_status status =
        f->ops->alloc(f, RING_SLOTS_OFFSET + copy, &ring->local);
    if (status == STORM_OK)
        status = f->ops->attach(f, peer, &message->ring, &ring->remote);
    if (status == STORM_OK)
        status = f->ops->attach(f, peer, &message->tails, &ring->tails);
    if (status < 0) {
        ring_out_free(c, ring);
        return status;
    }
    ring->slots = ring->direct ? (unsigned char *)ring->remote->direct
                               : (unsigned char *)ring->local->base;
    ring->slots += RING_SLOTS_OFFSET;
    *ring_out = ring;
    return STORM_OK;
}

void ring_out_free(struct ring_channel *c, struct out_ring *ring)
{
    if (!ring)
        return;
    struct storm_fabric *f = ring->fabric;
    if (ring->tails)
        f->ops->detach(f, ring->tails);
    if (ring->remote)
        f->ops->detach(f, ring->remote);
    if (ring->local)
        f->ops->release(f, ring->local);
    storm_free(c->memory, ring);
}

storm_status ring_out_peer(struct storm_channel *channel, int rank,
                           uint32_t *peer_out)
{
    struct ring_channel *c = ring_of(channel);
    if (c->out_of_rank[rank] < 0) {
        void *list = c->out, *waiting = c->waiting;
        storm_status status =
            storm_reserve(c->memory, "ring peers", sizeof *c->out, c->n_out + 1,
                          &list, &c->out_capacity);
        c->out = list;
        if (status == STORM_OK)
            status =
                storm_reserve(c->memory, "ring peers", sizeof *c->waiting,
                              c->n_out + 1, &waiting, &c->waiting_capacity);
        c->waiting = waiting;
        if (status < 0)
            return status;
        c->out[c->n_out] = (struct out_peer){.rank = rank, .asked = -1};
        c->out_of_rank[rank] = (int32_t)c->n_out++;
    }
    *peer_out = (uint32_t)c->out_of_rank[rank];
    struct out_peer *peer = &c->out[*peer_out];
    return peer->ring || peer->next ? STORM_OK : ring_growth_want(c, peer);
}

/* A failed operation on a ring is final, and logged once. */
static storm_status ring_status(const struct ring_channel *c,
                                struct out_peer *peer,
                                const struct out_ring *ring)
{
    if (STORM_LIKELY((ring->half[0].status | ring->half[1].status |
                      ring->word.status | ring->look.status) == STORM_OK))
        return STORM_OK;
    if (!peer->failed)
        storm_log_write(&c->params.env->log, STORM_LOG_ERROR,
                        "a transfer to rank %d failed", peer->rank);
    peer->failed = true;
    return STORM_ERR_FABRIC;
}

/* Reads the receiver's counters: head, and tail too for the paper. */
static storm_status look(struct ring_channel *c, struct out_ring *ring)
{
    struct storm_transfer get = {
        .remote = ring->remote,
        .remote_offset = RING_HEAD_OFFSET,
        .local = ring->local,
        .local_offset = 0,
        .bytes = c->params.paper ? 16 : 8,
        .ticket = &ring->look,
    };
    storm_status status = ring->fabric->data->get(&get);
    ring->looking = status == STORM_OK;
    return status;
}

/* Is it time to read head? When there is no room; and on a fabric where that
 * takes time, when half of the ring has been used since the last read. */
static bool wants_look(const struct out_ring *ring, uint64_t room)
{
    return room == 0 ||
           (!ring->fabric->caps.instant && room <= ring->capacity / 2 &&
            ring->committed - ring->looked >= ring->capacity / 4);
}

/* Room for more records in the fast protocol; 0 if there is none.
 * `full_out`: a head read just now shows a full ring. */
static storm_status fast_room(struct ring_channel *c, struct out_peer *peer,
                              uint64_t *room_out, bool *full_out)
{
    struct out_ring *ring = peer->ring;
    uint64_t room = ring->capacity - (ring->committed - ring->head);
    *full_out = false;
    if (!ring->looking && wants_look(ring, room)) {
        storm_status status = look(c, ring);
        if (status < 0 || (status == STORM_AGAIN && room == 0))
            return status;
        if (status == STORM_OK) {
            ring->looked = ring->committed;
            ring->looked_full = room == 0;
        }
    }
    if (ring->looking && ring->look.pending == 0) {
        storm_status status = ring_status(c, peer, ring);
        if (status < 0)
            return status;
        memcpy(&ring->head, ring->local->base, sizeof ring->head);
        ring->looking = false;
        room = ring->capacity - (ring->committed - ring->head);
        *full_out = room == 0 && ring->looked_full;
    }
    *room_out = room;
    return STORM_OK;
}

storm_status ring_out_reserve(struct storm_channel *channel, uint32_t i_peer,
                              struct storm_span *span_out)
{
    struct ring_channel *c = ring_of(channel);
    struct out_peer *peer = &c->out[i_peer];
    STORM_ASSERT(!peer->span_open);
    if (STORM_UNLIKELY(peer->next != NULL)) {
        storm_status status = ring_out_adopt(c, i_peer);
        if (status < 0)
            return status;
    }
    struct out_ring *ring = peer->ring;
    if (!ring)
        return STORM_AGAIN;

    uint64_t room;
    bool full = false;
    if (c->params.paper) {
        room = ring->capacity - (ring->committed - ring->published);
    } else {
        storm_status status = fast_room(c, peer, &room, &full);
        if (status != STORM_OK)
            return status;
    }
    if (full) {
        storm_status status = ring_growth_want(c, peer);
        if (status < 0)
            return status;
    }
    uint64_t slot = slot_of(ring, ring->committed);
    uint64_t n = min_u64(room, ring->capacity - slot);
    if (!ring->direct && n > 0) {
        /* Entering a half: its puts of the last lap must be complete. */
        if (slot % (ring->capacity / 2) == 0 &&
            half_of(ring, ring->committed)->pending > 0)
            n = 0;
        n = min_u64(n, to_half_end(ring, ring->committed));
    }
    if (n == 0)
        return STORM_AGAIN;
    peer->span_open = true;
    *span_out = (struct storm_span){
        .records = ring->slots + slot * c->params.record_bytes,
        .n = n,
        .far = ring->direct,
    };
    return STORM_OK;
}

void ring_out_commit(struct storm_channel *channel, uint32_t i_peer, size_t n)
{
    struct out_peer *peer = &ring_of(channel)->out[i_peer];
    STORM_ASSERT(peer->span_open);
    peer->span_open = false;
    peer->ring->committed += n;
}

/* Does the fabric order the tail after the records by itself? Order is promised
 * for put_word (FABRIC-7), not for the paper's fetch-and-add. */
static bool ordered(const struct ring_channel *c, const struct out_ring *ring)
{
    return ring->fabric->caps.ordered && !c->params.paper;
}

/* Puts the records up to `upto` into the ring; STORM_AGAIN: not all. */
static storm_status post_records(struct ring_channel *c, struct out_ring *ring,
                                 uint64_t upto)
{
    if (ring->direct) {
        ring->posted = upto;
        return STORM_OK;
    }
    size_t record = c->params.record_bytes;
    while (ring->posted < upto) {
        uint64_t n =
            min_u64(upto - ring->posted, to_half_end(ring, ring->posted));
        uint64_t offset =
            RING_SLOTS_OFFSET + slot_of(ring, ring->posted) * record;
        struct storm_transfer put = {
            .remote = ring->remote,
            .remote_offset = offset,
            .local = ring->local,
            .local_offset = offset,
            .bytes = n * record,
            .delivered = !ordered(c, ring),
            .ticket = half_of(ring, ring->posted),
        };
        storm_status status = ring->fabric->data->put(&put);
        if (status != STORM_OK)
            return status;
        ring->posted += n;
    }
    return STORM_OK;
}

/* May the tail word follow the records that are posted (RING-2)? */
static bool tail_may_follow(const struct ring_channel *c,
                            const struct out_ring *ring)
{
    return ordered(c, ring) ||
           (ring->half[0].pending == 0 && ring->half[1].pending == 0);
}

/* With so many operations in flight the fabric is busy: what is published
 * meanwhile travels as one batch behind them. */
static bool busy(const struct out_ring *ring)
{
    return ring->half[0].pending + ring->half[1].pending + ring->word.pending >=
           RING_BUSY;
}

/* Fast protocol: one or two puts and the tail word, no round trip. */
static storm_status pump_fast(struct ring_channel *c, struct out_peer *peer,
                              struct out_ring *ring)
{
    while (ring->published < ring->goal) {
        if (ring->posted == ring->published && busy(ring))
            return STORM_AGAIN;
        /* One batch at a time: on an unordered fabric a batch that keeps
         * growing would never be complete. */
        if (ring->posted == ring->published)
            ring->upto = ring->goal;
        storm_status status = post_records(c, ring, ring->upto);
        if (status == STORM_OK)
            status = ring_status(c, peer, ring);
        if (status != STORM_OK)
            return status;
        if (!tail_may_follow(c, ring) ||
            (!ordered(c, ring) && ring->word.pending > 0))
            return STORM_AGAIN;
        uint64_t word = ring->posted | c->parity;
        status = ring->fabric->data->put_word(ring->tails, ring->tail_offset,
                                              word, &ring->word);
        if (status != STORM_OK)
            return status;
        ring->published = ring->posted;
        c->stats.batches++;
    }
    return ring_status(c, peer, ring);
}

/* Lines 1 to 4 of Algorithm 1: room for the whole batch, or ask for it. */
static storm_status paper_check_room(struct ring_channel *c,
                                     struct out_peer *peer,
                                     struct out_ring *ring)
{
    uint64_t counters[2];
    memcpy(counters, ring->local->base, sizeof counters);
    ring->looking = false;
    ring->head = counters[0];
    if (counters[1] != ring->tail_word) {
        storm_log_write(
            &c->params.env->log, STORM_LOG_ERROR,
            "ring to rank %d: tail is %#llx, but %#llx was published",
            peer->rank, (unsigned long long)counters[1],
            (unsigned long long)ring->tail_word);
        return STORM_ERR_FABRIC;
    }
    uint64_t n = ring->goal - ring->published;
    if (ring->published - ring->head + n <= ring->capacity) {
        ring->upto = ring->goal;
        ring->phase = PAPER_PUT;
        return STORM_OK;
    }
    ring->phase = PAPER_REST;
    storm_status status =
        ring == peer->ring ? ring_growth_want(c, peer) : STORM_OK;
    return status < 0 ? status : STORM_AGAIN;
}

/* Last line of Algorithm 1: publish by fetch-and-add. */
static storm_status paper_add(struct ring_channel *c, struct out_ring *ring)
{
    ring->next_word = ring->upto | c->parity;
    struct storm_atomic add = {
        .remote = ring->remote,
        .remote_offset = RING_TAIL_OFFSET,
        .operand = ring->next_word - ring->tail_word,
        .old_out = &ring->old_word,
        .ticket = &ring->word,
    };
    storm_status status = ring->fabric->data->fetch_add(&add);
    if (status != STORM_OK)
        return status;
    ring->phase = PAPER_ADD;
    return STORM_OK;
}

static storm_status paper_check_add(struct ring_channel *c, int rank,
                                    struct out_ring *ring)
{
    if (ring->old_word != ring->tail_word) {
        storm_log_write(&c->params.env->log, STORM_LOG_ERROR,
                        "ring to rank %d: another rank changed its tail", rank);
        return STORM_ERR_FABRIC;
    }
    ring->tail_word = ring->next_word;
    ring->published = ring->upto;
    ring->phase = PAPER_REST;
    c->stats.batches++;
    return STORM_OK;
}

/* The paper's protocol, as far as it goes without waiting. */
static storm_status pump_paper(struct ring_channel *c, struct out_peer *peer,
                               struct out_ring *ring)
{
    storm_status status;
    while ((status = ring_status(c, peer, ring)) == STORM_OK) {
        switch (ring->phase) {
        case PAPER_REST:
            if (ring->published == ring->goal)
                return STORM_OK;
            status = look(c, ring);
            if (status == STORM_OK)
                ring->phase = PAPER_LOOK;
            break;
        case PAPER_LOOK:
            status = ring->look.pending > 0 ? STORM_AGAIN
                                            : paper_check_room(c, peer, ring);
            break;
        case PAPER_PUT:
            status = post_records(c, ring, ring->upto);
            if (status == STORM_OK)
                ring->phase = PAPER_LAND;
            break;
        case PAPER_LAND:
            status =
                tail_may_follow(c, ring) ? paper_add(c, ring) : STORM_AGAIN;
            break;
        case PAPER_ADD: /* PAPER-1 */
            status = ring->word.pending > 0
                         ? STORM_AGAIN
                         : paper_check_add(c, peer->rank, ring);
            break;
        }
        if (status != STORM_OK)
            return status;
    }
    return status;
}

static storm_status pump(struct ring_channel *c, struct out_peer *peer,
                         struct out_ring *ring)
{
    return c->params.paper ? pump_paper(c, peer, ring)
                           : pump_fast(c, peer, ring);
}

static bool at_rest(const struct out_ring *ring)
{
    return ring->published == ring->goal && ring->half[0].pending == 0 &&
           ring->half[1].pending == 0 && ring->word.pending == 0 &&
           ring->look.pending == 0;
}

/* Progress of one peer; STORM_AGAIN: call again later. */
static storm_status pump_peer(struct ring_channel *c, struct out_peer *peer)
{
    storm_status status = STORM_OK;
    if (peer->old) {
        status = pump(c, peer, peer->old);
        if (status == STORM_OK && at_rest(peer->old))
            status = ring_growth_retire(c, peer); /* GROW-3 */
        if (status < 0)
            return status;
    }
    if (peer->ring) {
        storm_status now = pump(c, peer, peer->ring);
        if (now != STORM_OK)
            status = now;
    }
    /* Rings with operations in flight are polled until these have ended: one
     * may fail. */
    bool rests = !peer->old && (!peer->ring || at_rest(peer->ring));
    return status == STORM_OK && !rests ? STORM_AGAIN : status;
}

static void wait_for(struct ring_channel *c, uint32_t i_peer)
{
    if (c->out[i_peer].in_waiting)
        return;
    c->out[i_peer].in_waiting = true;
    c->waiting[c->n_waiting++] = i_peer;
}

storm_status ring_out_adopt(struct ring_channel *c, uint32_t i_peer)
{
    struct out_peer *peer = &c->out[i_peer];
    if (!peer->next || peer->span_open)
        return STORM_OK;
    STORM_ASSERT(!peer->old);
    peer->old = peer->ring;
    peer->ring = peer->next;
    peer->next = NULL;
    if (peer->old) {
        peer->old->goal = peer->old->committed;
        wait_for(c, i_peer);
    }
    return STORM_OK;
}

storm_status ring_out_publish(struct storm_channel *channel, uint32_t i_peer)
{
    struct ring_channel *c = ring_of(channel);
    struct out_peer *peer = &c->out[i_peer];
    STORM_ASSERT(!peer->span_open);
    if (!peer->ring)
        return STORM_OK;
    peer->ring->goal = peer->ring->committed;
    storm_status status = pump(c, peer, peer->ring);
    if (status == STORM_AGAIN || (status == STORM_OK && !at_rest(peer->ring)))
        wait_for(c, i_peer);
    if (STORM_UNLIKELY(peer->next != NULL) && status >= 0)
        status = ring_out_adopt(c, i_peer); /* there may be no reserve */
    return status < 0 ? status : STORM_OK;
}

storm_status ring_out_progress(struct ring_channel *c)
{
    size_t kept = 0;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < c->n_waiting; i++) {
        uint32_t i_peer = c->waiting[i];
        storm_status now =
            status < 0 ? STORM_AGAIN : pump_peer(c, &c->out[i_peer]);
        if (now < 0)
            status = now;
        if (now == STORM_OK)
            c->out[i_peer].in_waiting = false;
        else
            c->waiting[kept++] = i_peer;
    }
    c->n_waiting = kept;
    return status;
}
