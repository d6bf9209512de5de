/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport loop: take what was made here and what has arrived, let the
 * physics advance a batch, send on what must go elsewhere, answer waves, until
 * nothing is alive on any rank.
 */
#include "base/clock.h"
#include "base/idle.h"
#include "base/lifeline.h"
#include "channel/channel_message.h"
#include "engine/engine_internal.h"
#include "engine/engine_report.h"

enum {
    TAKE_MAX = 256,      /* records taken per iteration, to stay in the cache */
    SAMPLE_EVERY = 7,    /* iterations; prime to every other period here */
    PREFETCH_AHEAD = 32, /* packets */
    /* If ranks outnumber cores, an idle one does not spin, yields its core at
     * once, and sleeps after 64 empty iterations. */
    CROWDED_SAVES = STORM_IDLE_NAPS - 64,
    AWAKE_CONTROL =
        64, /* empty iterations between polls for control messages */
    LATE_AGAIN_S = 10
};

/* The clock of one iteration; not read if statistics are off. */
struct stopwatch {
    bool on;
    uint64_t last;
};

static void lap(struct storm_engine *e, struct stopwatch *watch,
                enum engine_time what)
{
    if (STORM_LIKELY(!watch->on))
        return;
    uint64_t now = storm_clock_ticks();
    e->ticks[e->waits ? TIME_GROWTH : what] += now - watch->last;
    watch->last = now;
}

/* Records the first error of this rank; waves report it to the others. */
static void fail(struct storm_engine *e, storm_status status)
{
    if (e->failed < 0 || status >= 0)
        return;
    e->failed = status;
    e->counts.errors = 1;
}

/* ---- packets in -----------------------------------------------------------*/

/* Entries that were removed stay in these lists as NULL while their slots are
 * used again, so the lists may outgrow the store. */
static bool room_for_one(struct storm_engine *e, struct storm_list *list)
{
    return list->n < list->capacity ||
           storm_list_reserve(list, e->env->memory, "packet lists",
                              list->n + 1) == STORM_OK;
}

/* A new slot in the list of the phase, or NULL. */
static inline void *new_packet(struct storm_engine *e)
{
    if (e->phase != ENGINE_TRANSPORT &&
        !room_for_one(e, e->phase == ENGINE_PRE ? &e->todo : &e->census))
        return NULL;
    void *slot = storm_store_get(&e->store);
    if (STORM_UNLIKELY(!slot))
        return NULL;
    e->stats.created++;
    switch (e->phase) {
    case ENGINE_PRE:
        e->counts.created++;
        storm_list_push(&e->todo, slot);
        break;
    case ENGINE_TRANSPORT:
        e->counts.created++; /* TERM-1, TERM-2: before its parent can finish */
        storm_list_push(&e->fresh, slot);
        break;
    case ENGINE_BETWEEN:
    case ENGINE_POST:
        storm_list_push(&e->census, slot);
        break;
    }
    return slot;
}

void *storm_step_new(struct storm_step *step)
{
    void *slot = new_packet(step->engine);
    if (STORM_UNLIKELY(!slot))
        fail(step->engine, STORM_ERR_NOMEM);
    return slot;
}

storm_status storm_step_spawn(struct storm_step *step, const void *record)
{
    void *slot = storm_step_new(step);
    if (STORM_UNLIKELY(!slot))
        return STORM_ERR_NOMEM;
    storm_record_copy(slot, record, step->engine->store.record_bytes);
    return STORM_OK;
}

storm_status storm_step_report(struct storm_step *step, const char *text)
{
    struct storm_control *control = step->engine->control;
    return control->ops->report(control, text);
}

storm_status storm_engine_add(struct storm_engine *engine, const void *record)
{
    if (engine->phase != ENGINE_BETWEEN)
        return STORM_ERR_STATE;
    void *slot = new_packet(engine);
    if (!slot)
        return STORM_ERR_NOMEM;
    storm_record_copy(slot, record, engine->store.record_bytes);
    return STORM_OK;
}

static storm_status take_arrivals(struct storm_engine *e)
{
    size_t bytes = e->store.record_bytes;
    for (size_t taken = 0; taken < TAKE_MAX;) {
        struct storm_arrival arrival;
        storm_status status = e->channel->data->take(e->channel, &arrival);
        if (status != STORM_OK)
            return status < 0 ? status : STORM_OK;
        for (size_t i = 0; i < arrival.n; i++) {
            void *slot = storm_store_get(&e->store);
            if (STORM_UNLIKELY(!slot))
                return STORM_ERR_NOMEM;
            storm_record_copy(slot, arrival.records + i * bytes, bytes);
            storm_list_push(&e->fresh, slot);
        }
        taken += arrival.n;
        status = e->channel->data->release(e->channel, &arrival);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

/* Arrivals and spawns first, then the packets of the step in their order. */
static void fill_batch(struct storm_engine *e)
{
    while (e->n_batch < e->batch_max) {
        void *packet;
        if (e->fresh.n > 0) {
            packet = e->fresh.item[--e->fresh.n];
        } else if (e->next_todo < e->todo.n) {
            size_t i = e->next_todo++;
            packet = e->todo.item[i];
            if (i + PREFETCH_AHEAD < e->todo.n)
                STORM_PREFETCH_WRITE(e->todo.item[i + PREFETCH_AHEAD]);
            if (!packet)
                continue;
        } else {
            return;
        }
        e->batch[e->n_batch] = packet;
        e->batch_events[e->n_batch++] = 0;
    }
}

/* ---- what becomes of them -------------------------------------------------*/

static void call_physics(struct storm_engine *e)
{
    const struct storm_physics *physics = &e->physics;
    if (physics->step_batch) {
        physics->step_batch(physics->self, &e->step, e->batch, e->n_batch,
                            e->outcome);
        return;
    }
    for (size_t i = 0; i < e->n_batch; i++) {
        e->outcome[i] = (struct storm_outcome){0};
        physics->step(physics->self, &e->step, e->batch[i], &e->outcome[i]);
    }
}

static void finish(struct storm_engine *e, void *packet)
{
    storm_store_put(&e->store, packet);
    e->counts.finished++;
}

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
    }
    outcome->events = events;
}

/* What becomes of packet i of the batch; true in *stays_out if it stays. */
static inline storm_status settle(struct storm_engine *e, size_t i,
                                  bool *stays_out)
{
    struct storm_outcome *outcome = &e->outcome[i];
    void *packet = e->batch[i];
    *stays_out = false;
    if (outcome->fate == STORM_FATE_BOUNDARY)
        ask_boundary(e, packet, outcome);
    switch (outcome->fate) {
    case STORM_FATE_SEND:
        if (STORM_UNLIKELY(outcome->rank < 0 || outcome->rank >= e->env->size))
            return bad_outcome(e, outcome);
        if (outcome->rank == e->env->rank)
            break;
        e->stats.transfers++;
        return storm_outbox_send(&e->outbox, outcome->rank, packet);
    case STORM_FATE_CONTINUE:
        break;
    case STORM_FATE_CENSUS:
        storm_list_push(&e->census, packet);
        e->counts.finished++;
        return STORM_OK;
    case STORM_FATE_ABSORBED:
        e->stats.absorbed++;
        finish(e, packet);
        return STORM_OK;
    case STORM_FATE_ESCAPED:
        e->stats.escaped++;
        finish(e, packet);
        return STORM_OK;
    default:
        return bad_outcome(e, outcome);
    }
    *stays_out = true;
    e->batch_events[i] += outcome->events + (outcome->events == 0);
    return STORM_UNLIKELY(e->batch_events[i] > e->max_events)
               ? too_many_events(e, e->batch_events[i], packet)
               : STORM_OK;
}

static storm_status settle_batch(struct storm_engine *e)
{
    size_t kept = 0;
    uint64_t events = 0, still = 0;
    for (size_t i = 0; i < e->n_batch; i++) {
        bool stays;
        events += e->outcome[i].events;
        still += e->outcome[i].events == 0;
        storm_status status = settle(e, i, &stays);
        if (status < 0)
            return status;
        if (stays) {
            e->batch[kept] = e->batch[i];
            e->batch_events[kept++] = e->batch_events[i];
        }
    }
    e->n_batch = kept;
    e->stats.events += events;
    e->counts.moves += events + still;
    return STORM_OK;
}

/* ---- the loop -------------------------------------------------------------*/

/* Every control_every iterations, or sooner if the physics takes long; in each
 * while the rank waits for a ring; and on an idle rank each time it has slept
 * or yielded its core on a crowded node, else from time to time: it must answer
 * waves at once. */
static bool control_is_due(struct storm_engine *e)
{
    bool due = e->n_empty > 0 ? storm_pace_counts(&e->control_pace)
                              : storm_pace_due(&e->control_pace);
    return due || e->waits ||
           (e->env->crowded ? e->n_empty > 0
                            : e->n_empty > STORM_IDLE_NAPS &&
                                  e->n_empty % AWAKE_CONTROL == 0);
}

static storm_status control(struct storm_engine *e)
{
    storm_status status = storm_lifeline_check(e->env->lifeline);
    return status < 0 ? status : e->channel->ops->control(e->channel);
}

/* One iteration on a healthy rank. */
static storm_status work(struct storm_engine *e, struct stopwatch *watch,
                         bool *idle_out)
{
    storm_status status = STORM_OK;
    if (control_is_due(e)) {
        status = control(e);
        lap(e, watch, e->n_empty > 0 ? TIME_IDLE : TIME_GROWTH);
        if (status < 0)
            return status;
    }
    status = e->channel->ops->progress(e->channel);
    e->waits = status == STORM_AGAIN;
    lap(e, watch, TIME_PROGRESS);
    if (status < 0)
        return status;
    if (STORM_UNLIKELY(e->waits)) /* CHANNEL-8 */
        return take_arrivals(e);
    if (e->outbox.n_held > 0) {
        status = storm_outbox_retry(&e->outbox);
        if (status < 0)
            return status;
    }
    status = take_arrivals(e);
    lap(e, watch, TIME_SEND_RECV);
    if (status < 0)
        return status;

    fill_batch(e);
    *idle_out = e->n_batch == 0;
    if (e->n_batch > 0) {
        call_physics(e);
        lap(e, watch, TIME_PHYSICS);
        status = e->failed < 0 ? e->failed : settle_batch(e);
    } else {
        status = storm_outbox_flush(&e->outbox);
    }
    lap(e, watch, TIME_SEND_RECV);
    return status;
}

/* A rank that has failed only answers waves. */
static storm_status answer_waves(struct storm_engine *e)
{
    if (storm_patience_over(&e->alone)) {
        storm_log_write(&e->env->log, STORM_LOG_WARN,
                        "rank %d has failed before transport and waits for the "
                        "others: one is in a collective call of a callback, or "
                        "computes",
                        e->env->rank);
        storm_lifeline_fail(e->env->lifeline);
        storm_patience_begin(&e->alone, LATE_AGAIN_S);
    }
    storm_status status = e->channel->ops->progress(e->channel);
    storm_status control_status = control(e); /* works if all else has failed */
    return status < 0 ? status : control_status;
}

/* Have waves failed, too? */
static bool channel_is_broken(storm_status status)
{
    return status == STORM_ERR_FABRIC || status == STORM_ERR_PEER ||
           status == STORM_ERR_LOST;
}

/* Have waves reported it to all ranks? They report success, failure of a step
 * and packets that do not end, not what fails when a step ends. */
static bool reported_by_waves(storm_status verdict)
{
    return verdict >= 0 || verdict == STORM_ERR_PEER ||
           verdict == STORM_ERR_STATE;
}

/* A network may fail because a rank is lost, and notice it first. */
static storm_status find_cause(struct storm_engine *e, storm_status broken)
{
    double until = storm_clock_seconds() + STORM_LIFELINE_S;
    for (uint64_t n = STORM_IDLE_NAPS;
         e->env->lifeline && storm_clock_seconds() < until; n++) {
        storm_status status = storm_lifeline_check(e->env->lifeline);
        if (status < 0)
            return status;
        storm_idle(n);
    }
    return broken;
}

static void show_progress(struct storm_engine *e, uint64_t *waves_shown)
{
    if (!e->params.progress || e->term.waves == *waves_shown)
        return;
    *waves_shown = e->term.waves;
    const struct storm_counts *sums = storm_term_sums(&e->term);
    e->params.progress(e->params.progress_self, sums->finished, sums->created);
}

static void fold_times(struct storm_engine *e, double seconds)
{
    double total = 0;
    for (int i = 0; i < N_TIMES; i++)
        total += (double)e->ticks[i];
    double scale = total > 0 ? seconds / total : 0;
    struct storm_times *t = &e->stats.times;
    t->physics += scale * (double)e->ticks[TIME_PHYSICS];
    t->progress += scale * (double)e->ticks[TIME_PROGRESS];
    t->send_recv += scale * (double)e->ticks[TIME_SEND_RECV];
    t->termination += scale * (double)e->ticks[TIME_TERMINATION];
    t->growth += scale * (double)e->ticks[TIME_GROWTH];
    t->idle += scale * (double)e->ticks[TIME_IDLE];
    e->stats.seconds += seconds;
}

storm_status storm_engine_transport(struct storm_engine *e)
{
    double began = storm_clock_seconds();
    uint64_t allocations = storm_memory_calls(e->env->memory);
    uint64_t waves_shown = e->term.waves;
    storm_status verdict = STORM_OK, broken = STORM_OK;
    e->iterations = e->n_empty = 0;
    storm_pace_hurry(&e->control_pace);
    e->waits = false;
    e->spins_saved = e->env->crowded ? CROWDED_SAVES : 0;
    for (int i = 0; i < N_TIMES; i++)
        e->ticks[i] = 0;
    while (verdict == STORM_OK) {
        struct stopwatch watch = {.on = e->timed &&
                                        e->iterations % SAMPLE_EVERY == 0};
        if (watch.on)
            watch.last = storm_clock_ticks();
        bool idle = true;
        storm_status status = STORM_LIKELY(e->failed >= 0)
                                  ? work(e, &watch, &idle)
                                  : answer_waves(e);
        fail(e, status);
        if (channel_is_broken(status))
            verdict = broken = status;
        else
            verdict = storm_term_poll(&e->term, &e->counts, idle);
        if (STORM_UNLIKELY(broken < 0 || !reported_by_waves(verdict)))
            e->channel->ops->give_up(e->channel);
        show_progress(e, &waves_shown);
        lap(e, &watch, TIME_TERMINATION);
        e->n_empty = idle ? e->n_empty + 1 : 0;
        if (idle && verdict == STORM_OK)
            (void)e->channel->ops->idle(e->channel,
                                        storm_idle_count(e->env->crowded,
                                                         e->n_empty +
                                                             e->spins_saved));
        else if (e->outbox.n_held > 0) /* a receiver needs a core */
            (void)e->channel->ops->idle(e->channel, STORM_IDLE_SPINS);
        lap(e, &watch, TIME_IDLE);
        e->iterations++;
    }
    fold_times(e, storm_clock_seconds() - began);
    e->stats.iterations += e->iterations;
    e->stats.allocations += storm_memory_calls(e->env->memory) - allocations;
    if (broken < 0 && channel_is_broken(e->failed))
        return find_cause(e, broken);
    if (e->failed < 0)
        return e->failed;
    return verdict == STORM_DONE ? STORM_OK : verdict;
}
