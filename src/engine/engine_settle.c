/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of the packets of a batch.
 *
 *   SETTLE-1  They are settled in runs of the same fate, in their order. Those
 *             that stay are the first of the next batch.
 *   SETTLE-2  Of a run that is sent, those that go to this rank are separated
 *             from the others without a branch: where a packet goes next is as
 *             good as random, and every second guess of the processor would be
 *             wrong.
 *   SETTLE-3  A run ends where packets in the channel begin or end (BATCH-1):
 *             those have no slot to be freed, and get one if they stay.
 */
#include "engine/engine_internal.h"

enum { RUN_MAX = 64 }; /* packets settled together */

/* The batch on its way: packets before i are settled, and the first `kept`
 * stay. */
struct settling {
    size_t i, kept;
    uint64_t events, moves; /* moves: those without an event count as one */
};

/* Packets to other ranks. */
struct sends {
    size_t n;
    int32_t rank[RUN_MAX];
    void *packet[RUN_MAX];
};

static storm_status bad_outcome(struct storm_engine *e,
                                const struct storm_outcome *outcome)
{
    if (outcome->fate == STORM_FATE_SEND)
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "the physics sends a packet to rank %d of %d",
                        outcome->rank, e->env->size);
    else if (outcome->fate == STORM_FATE_BOUNDARY)
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "the boundary's apply answers STORM_FATE_BOUNDARY");
    else
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "the physics answers with unknown fate %d",
                        outcome->fate);
    return STORM_ERR_ARG;
}

static storm_status too_many_events(struct storm_engine *e, uint64_t events,
                                    const void *packet)
{
    const unsigned char *byte = packet;
    char text[3 * 32 + 1];
    for (int i = 0; i < 32; i++) {
        static const char digit[] = "0123456789abcdef";
        text[3 * i] = digit[byte[i] >> 4];
        text[3 * i + 1] = digit[byte[i] & 15];
        text[3 * i + 2] = ' ';
    }
    text[3 * 32 - 1] = '\0';
    storm_log_write(&e->env->log, STORM_LOG_ERROR,
                    "a packet does not end: %llu events, more than "
                    "transport.max_events; its first bytes are %s",
                    (unsigned long long)events, text);
    return STORM_ERR_STATE;
}

/* The boundary's answer in place of the physics'. */
static void ask_boundary(struct storm_engine *e, void *packet,
                         struct storm_outcome *outcome)
{
    const struct storm_boundary *boundary = &e->boundary;
    uint64_t events = outcome->events;
    *outcome = (struct storm_outcome){.fate = STORM_FATE_ESCAPED};
    if (boundary->apply) {
        outcome->fate = STORM_FATE_CONTINUE;
        boundary->apply(boundary->self, &e->step, packet, outcome);
        storm_engine_count_new(e);
    }
    outcome->events = events;
}

static inline uint64_t moves_of(uint64_t events)
{
    return events + (events == 0);
}

/* ---- slots ----------------------------------------------------------------*/

/* Does packet i of the batch lie in the channel? */
static inline bool is_lent(const struct storm_engine *e, size_t i)
{
    return i - e->first_lent < e->lent.n;
}

/* SETTLE-3: where packets end that are settled together with packet i. */
static size_t run_limit(const struct storm_engine *e, size_t i)
{
    size_t end = e->n_batch;
    if (is_lent(e, i))
        end = e->first_lent + e->lent.n;
    else if (e->lent.n > 0 && i < e->first_lent)
        end = e->first_lent;
    return end - i < RUN_MAX ? end : i + RUN_MAX;
}

/* The packets before `end` are settled. */
static inline void settled(const struct storm_engine *e, struct settling *at,
                           size_t end)
{
    uint64_t events = 0, none = 0;
    for (size_t i = at->i; i < end; i++) {
        events += e->outcome[i].events;
        none += e->outcome[i].events == 0;
    }
    at->events += events;
    at->moves += events + none;
    at->i = end;
}

/* A slot for a packet that stays: that of the packet, or a new one for one that
 * is lent. NULL: no memory. */
static inline void *slot_of(struct storm_engine *e, void *packet, bool lent)
{
    if (!lent)
        return packet;
    void *slot = storm_store_get(&e->store);
    if (STORM_LIKELY(slot != NULL))
        storm_record_copy(slot, packet, e->store.record_bytes);
    return slot;
}

/* ---- those that stay ------------------------------------------------------*/

/* Of packets that stay, one has had more events than are allowed. */
static storm_status check_events(struct storm_engine *e, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (e->batch_events[i] > e->max_events)
            return too_many_events(e, e->batch_events[i], e->batch[i]);
    return STORM_OK;
}

/* Slots for packets that stay and lie in the channel. */
static storm_status keep_lent(struct storm_engine *e, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        e->batch[i] = slot_of(e, e->batch[i], true);
        if (STORM_UNLIKELY(!e->batch[i]))
            return STORM_ERR_NOMEM;
    }
    return STORM_OK;
}

/* Packets of the batch that stay, by number, all lent or none. */
static storm_status keep(struct storm_engine *e, struct settling *at,
                         const uint32_t *stays, size_t n)
{
    const size_t old = at->kept;
    const bool lent = n > 0 && is_lent(e, stays[0]);
    uint64_t max = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = stays[k];
        uint64_t sum = e->batch_events[i] + moves_of(e->outcome[i].events);
        max = sum > max ? sum : max;
        e->batch[old + k] = e->batch[i];
        e->batch_events[old + k] = sum;
    }
    at->kept = old + n;
    storm_status status = lent ? keep_lent(e, old, at->kept) : STORM_OK;
    if (STORM_UNLIKELY(max > e->max_events) && status >= 0)
        status = check_events(e, old, at->kept);
    return status;
}

/* The packets of a run that continue here, RUN_MAX at most. */
static storm_status settle_stays(struct storm_engine *e, struct settling *at)
{
    const struct storm_outcome *const outcome = e->outcome;
    const size_t first = at->i, limit = run_limit(e, first);
    uint32_t stays[RUN_MAX];
    size_t i = first;
    for (; i < limit && outcome[i].fate == STORM_FATE_CONTINUE; i++)
        stays[i - first] = (uint32_t)i;
    settled(e, at, i);
    return keep(e, at, stays, i - first);
}

/* ---- those that are sent --------------------------------------------------*/

/* SETTLE-2: the packets of a run, RUN_MAX at most. */
static storm_status sort_sends(struct storm_engine *e, struct settling *at,
                               struct sends *sends)
{
    const struct storm_outcome *const outcome = e->outcome;
    void *const *const batch = e->batch;
    const int own = e->env->rank, size = e->env->size;
    const size_t first = at->i, limit = run_limit(e, first);
    uint32_t stays[RUN_MAX];
    size_t i = first, n = 0, n_stay = 0;
    for (; i < limit && outcome[i].fate == STORM_FATE_SEND; i++) {
        const int rank = outcome[i].rank;
        if (STORM_UNLIKELY((unsigned)rank >= (unsigned)size))
            return bad_outcome(e, &outcome[i]);
        sends->rank[n] = rank;
        sends->packet[n] = batch[i];
        stays[n_stay] = (uint32_t)i;
        n_stay += rank == own;
        n = i + 1 - first - n_stay;
    }
    sends->n = n;
    settled(e, at, i);
    return keep(e, at, stays, n_stay);
}

/* To another rank, when more is to be done than a copy. */
static storm_status send(struct storm_engine *e, int rank, void *packet,
                         bool lent)
{
    void *slot = slot_of(e, packet, lent);
    return slot ? storm_outbox_send(&e->outbox, rank, slot) : STORM_ERR_NOMEM;
}

static storm_status send_all(struct storm_engine *e, const struct sends *sends,
                             bool lent)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < sends->n && status >= 0; i++) {
        size_t n = storm_outbox_copy(&e->outbox, sends->rank + i,
                                     sends->packet + i, sends->n - i);
        if (!lent)
            storm_store_put_all(&e->store, sends->packet + i, n);
        i += n;
        if (i < sends->n)
            status = send(e, sends->rank[i], sends->packet[i], lent);
    }
    return status;
}

static storm_status settle_sent(struct storm_engine *e, struct settling *at)
{
    const bool lent = is_lent(e, at->i);
    struct sends sends;
    storm_status status = sort_sends(e, at, &sends);
    if (STORM_UNLIKELY(status < 0))
        return status;
    e->stats.transfers += sends.n;
    return send_all(e, &sends, lent);
}

/* ---- those that end -------------------------------------------------------*/

/* Packets of a run with the same end, RUN_MAX at most; how many. */
static size_t settle_ended(struct storm_engine *e, struct settling *at)
{
    const struct storm_outcome *const outcome = e->outcome;
    const size_t first = at->i, limit = run_limit(e, first);
    const storm_fate fate = outcome[first].fate;
    size_t i = first;
    while (i < limit && outcome[i].fate == fate)
        i++;
    if (!is_lent(e, first))
        storm_store_put_all(&e->store, e->batch + first, i - first);
    settled(e, at, i);
    e->counts.finished += i - first;
    return i - first;
}

static storm_status settle_census(struct storm_engine *e, struct settling *at)
{
    const size_t i = at->i;
    void *slot = slot_of(e, e->batch[i], is_lent(e, i));
    if (STORM_UNLIKELY(!slot))
        return STORM_ERR_NOMEM;
    storm_list_push(&e->census, slot);
    e->counts.finished++;
    settled(e, at, i + 1);
    return STORM_OK;
}

/* The next packets of the batch, at least one. */
static storm_status settle_next(struct storm_engine *e, struct settling *at)
{
    struct storm_outcome *outcome = &e->outcome[at->i];
    if (STORM_UNLIKELY(outcome->fate == STORM_FATE_BOUNDARY))
        ask_boundary(e, e->batch[at->i], outcome);
    switch (outcome->fate) {
    case STORM_FATE_SEND:
        return settle_sent(e, at);
    case STORM_FATE_CONTINUE:
        return settle_stays(e, at);
    case STORM_FATE_CENSUS:
        return settle_census(e, at);
    case STORM_FATE_ABSORBED:
        e->stats.absorbed += settle_ended(e, at);
        return STORM_OK;
    case STORM_FATE_ESCAPED:
        e->stats.escaped += settle_ended(e, at);
        return STORM_OK;
    default:
        return bad_outcome(e, outcome);
    }
}

storm_status storm_engine_settle(struct storm_engine *e)
{
    struct settling at = {0};
    while (at.i < e->n_batch) {
        storm_status status = settle_next(e, &at);
        if (STORM_UNLIKELY(status < 0))
            return status;
    }
    e->n_batch = at.kept;
    e->stats.events += at.events;
    e->counts.moves += at.moves;
    return STORM_OK;
}
