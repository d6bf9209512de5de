/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport loop: take what was made here and what has arrived, let the
 * physics advance a batch, send on what must go elsewhere, answer waves, until
 * nothing is alive on any rank.
 *
 *   BATCH-1  Many packets that arrive together join the batch where they are,
 *            in the channel; only those that stay get a slot. They are given
 *            back after the batch. Few that arrive together get slots at once,
 *            so that one batch has packets of several peers.
 *   BATCH-2  On a crowded node a rank for whose packets there is no room does
 *            not make more of them, which bounds its memory: it takes arrivals
 *            and yields its core to those who can make room. All ranks do take
 *            arrivals, so that room there will be.
 *   BATCH-3  A physics with `poll` gets no such packets: they are not in the
 *            store, where a device can reach them; and they would keep the
 *            channel waiting.
 *   BATCH-4  It works on one batch while this rank settles the one before and
 *            fills the next.
 *   BATCH-5  So does one that keeps packets (KEEP-1 to KEEP-3): packets that
 *            leave it are settled as if they were in the channel, with what
 *            has become of the batch.
 */
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"
#include "base/lifeline.h"
#include "channel/channel_message.h"
#include "engine/engine_internal.h"
#include "engine/engine_report.h"

enum {
    TAKE_MAX = 256,      /* records taken per iteration, to stay in the cache */
    LEND_MIN = 16,       /* BATCH-1 */
    HELD_MAX = 2048,     /* BATCH-2 */
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
static void *new_packet(struct storm_engine *e)
{
    if (e->phase != ENGINE_TRANSPORT &&
        !room_for_one(e, e->phase == ENGINE_PRE ? &e->todo : &e->census))
        return NULL;
    void *slot = storm_store_get(&e->store);
    if (STORM_UNLIKELY(!slot))
        return NULL;
    if (e->phase == ENGINE_TRANSPORT) { /* counted after the callback */
        storm_list_push(&e->fresh, slot);
        return slot;
    }
    e->stats.created++;
    e->counts.created += e->phase == ENGINE_PRE;
    storm_list_push(e->phase == ENGINE_PRE ? &e->todo : &e->census, slot);
    return slot;
}

static STORM_APART void *new_or_fail(struct storm_engine *e)
{
    void *slot = new_packet(e);
    if (STORM_UNLIKELY(!slot))
        fail(e, STORM_ERR_NOMEM);
    return slot;
}

void *storm_step_new(struct storm_step *step)
{
    struct storm_engine *e = step->engine;
    if (STORM_UNLIKELY(e->store.free.n <= e->new_above))
        return new_or_fail(e);
    void *slot = e->store.free.item[--e->store.free.n];
    storm_list_push(&e->fresh, slot); /* counted after the callback */
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
    engine_keep_unview(engine);
    void *slot = new_packet(engine);
    if (!slot)
        return STORM_ERR_NOMEM;
    storm_record_copy(slot, record, engine->store.record_bytes);
    return STORM_OK;
}

/* Arrivals into slots. */
static storm_status copy_in(struct storm_engine *e,
                            const struct storm_arrival *arrival)
{
    const size_t bytes = e->store.record_bytes, n = arrival->n;
    storm_status status = storm_store_have(&e->store, n);
    if (status < 0)
        return status;
    void **const slots = e->store.free.item + (e->store.free.n -= n);
    void **const fresh = e->fresh.item + e->fresh.n;
    for (size_t i = 0; i < n; i++) {
        void *slot = slots[n - 1 - i];
        storm_record_copy(slot, arrival->records + i * bytes, bytes);
        fresh[i] = slot;
    }
    e->fresh.n += n;
    e->counted_fresh += n;
    return STORM_OK;
}

/* Arrivals into the batch, as many as it has room for. The physics comes to
 * them when they are on their way from memory or from another core. */
static void lend(struct storm_engine *e, const struct storm_arrival *arrival)
{
    const size_t bytes = e->store.record_bytes;
    size_t n = e->batch_max - e->n_batch;
    e->lent = *arrival;
    if (e->lent.n > n)
        e->lent.n = n;
    e->first_lent = e->n_batch;
    for (size_t i = 0; i < e->lent.n; i++) {
        e->batch[e->n_batch] = e->lent.records + i * bytes;
        STORM_PREFETCH(e->batch[e->n_batch]);
        e->batch_events[e->n_batch++] = 0;
    }
}

/* BATCH-1, if they may join the batch. */
static storm_status take_arrivals(struct storm_engine *e, bool may_lend)
{
    for (size_t taken = 0; taken < TAKE_MAX;) {
        struct storm_arrival arrival;
        storm_status status = e->channel->data->take(e->channel, &arrival);
        if (status != STORM_OK)
            return status < 0 ? status : STORM_OK;
        if (may_lend && arrival.n >= LEND_MIN && e->n_batch < e->batch_max) {
            lend(e, &arrival);
            return STORM_OK;
        }
        status = copy_in(e, &arrival);
        if (status < 0)
            return status;
        taken += arrival.n;
        status = e->channel->data->release(e->channel, &arrival);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

static storm_status give_back(struct storm_engine *e)
{
    size_t n = e->lent.n;
    e->lent.n = 0;
    return n > 0 && e->lent.records
               ? e->channel->data->release(e->channel,
                                           &(struct storm_arrival){
                                               e->lent.records, n, e->lent.rank,
                                               e->lent.slot})
               : STORM_OK;
}

/* Arrivals and spawns first, then the packets of the step in their order. */
static void fill_batch(struct storm_engine *e)
{
    void **const batch = e->batch;
    size_t n = e->n_batch, old = n, n_fresh = e->batch_max - n;
    if (n_fresh > e->fresh.n)
        n_fresh = e->fresh.n;
    e->counted_fresh = e->fresh.n -= n_fresh;
    if (n_fresh > 0)
        memcpy(batch + n, e->fresh.item + e->fresh.n, n_fresh * sizeof *batch);
    n += n_fresh;
    while (n < e->batch_max && e->next_todo < e->todo.n) {
        size_t i = e->next_todo++;
        if (i + PREFETCH_AHEAD < e->todo.n)
            STORM_PREFETCH_WRITE(e->todo.item[i + PREFETCH_AHEAD]);
        batch[n] = e->todo.item[i];
        n += batch[n] != NULL;
    }
    memset(e->batch_events + old, 0, (n - old) * sizeof *e->batch_events);
    e->n_batch = n;
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

/* What becomes of the batch; then the channel gets back what it has lent. */
static storm_status settle(struct storm_engine *e)
{
    storm_status status = e->failed < 0 ? e->failed : storm_engine_settle(e);
    return status < 0 ? status : give_back(e);
}

static storm_status advance(struct storm_engine *e, struct stopwatch *watch)
{
    call_physics(e);
    storm_engine_count_new(e);
    lap(e, watch, TIME_PHYSICS);
    return settle(e);
}

/* The batch goes away, and the one that was away comes back. */
static void swap_away(struct storm_engine *e)
{
    const struct engine_away back = e->away;
    e->away =
        (struct engine_away){e->batch, e->outcome, e->batch_events, e->n_batch};
    e->batch = back.batch;
    e->outcome = back.outcome;
    e->batch_events = back.batch_events;
    e->n_batch = back.n;
}

/* What has come back of a batch whose first packets have been taken over, and
 * those that leave, as one batch. */
static void join_turn(struct storm_engine *e, size_t n_taken,
                      const struct storm_turn *turn)
{
    size_t rest = e->n_batch - n_taken;
    for (size_t i = 0; i < n_taken; i++)
        storm_store_put(&e->store, e->batch[i]);
    memmove(e->batch, e->batch + n_taken, rest * sizeof *e->batch);
    memmove(e->outcome, e->outcome + n_taken, rest * sizeof *e->outcome);
    memmove(e->batch_events, e->batch_events + n_taken,
            rest * sizeof *e->batch_events);
    for (size_t i = 0; i < turn->n; i++) {
        e->batch[rest + i] = turn->packets + i * e->store.record_bytes;
        e->outcome[rest + i] = turn->outcomes[i];
        e->batch_events[rest + i] = 0;
    }
    e->n_batch = rest + turn->n;
    e->first_lent = rest;
    e->lent = (struct storm_arrival){.records = NULL, .n = turn->n};
    e->counts.finished += turn->n_census + turn->n_absorbed;
    e->counts.moves += turn->moves;
    e->stats.absorbed += turn->n_absorbed;
    e->stats.events += turn->events;
}

/* BATCH-5 */
static STORM_APART storm_status advance_kept(struct storm_engine *e,
                                             struct stopwatch *watch)
{
    struct engine_keep *keep = &e->keep;
    const struct storm_keeper *keeper = keep->keeper;
    struct storm_turn turn = {.n = 0};
    storm_status status = STORM_OK;
    if (keep->is_on)
        status = keeper->end(keeper->self, &turn);
    lap(e, watch, TIME_PHYSICS);
    if (status < 0)
        return status;
    if (status == STORM_AGAIN)
        return storm_outbox_flush(&e->outbox); /* what others wait for */
    if (keep->is_on)
        keep->n_active = turn.n_active;
    size_t n_taken = keep->n_taken;
    keep->n_taken = 0;
    swap_away(e);
    keep->is_on = e->away.n > 0 || keep->n_active > 0;
    if (keep->is_on)
        status = keeper->begin(keeper->self, &e->step, e->away.batch, e->away.n,
                               e->batch_max, e->away.outcome, &keep->n_taken);
    storm_engine_count_new(e);
    lap(e, watch, TIME_PHYSICS);
    if (status < 0 || e->failed < 0)
        return status < 0 ? status : e->failed;
    join_turn(e, n_taken, &turn);
    return settle(e);
}

/* BATCH-4 */
static STORM_APART storm_status advance_away(struct storm_engine *e,
                                             struct stopwatch *watch)
{
    const struct storm_physics *physics = &e->physics;
    storm_status status = STORM_OK;
    if (e->keep.keeper)
        return advance_kept(e, watch);
    if (e->away.n > 0)
        status = physics->poll(physics->self, &e->step);
    storm_engine_count_new(e);
    lap(e, watch, TIME_PHYSICS);
    if (status < 0)
        return status;
    if (status == STORM_AGAIN)
        return storm_outbox_flush(&e->outbox); /* what others wait for */
    swap_away(e);
    if (e->away.n > 0)
        physics->step_batch(physics->self, &e->step, e->away.batch, e->away.n,
                            e->away.outcome);
    storm_engine_count_new(e);
    lap(e, watch, TIME_PHYSICS);
    return settle(e);
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
        return take_arrivals(e, false);
    if (e->outbox.n_held > 0) {
        status = storm_outbox_retry(&e->outbox);
        if (status < 0)
            return status;
    }
    bool rests = e->env->crowded && e->outbox.n_held >= HELD_MAX;
    status = take_arrivals(e, !rests && !e->physics.poll);
    lap(e, watch, TIME_SEND_RECV);
    if (STORM_UNLIKELY(status < 0 || rests)) { /* BATCH-2 */
        *idle_out = false;
        return status;
    }
    fill_batch(e);
    *idle_out = e->n_batch == 0 && e->away.n == 0 && e->keep.n_active == 0 &&
                !e->keep.is_on;
    if (*idle_out)
        status = storm_outbox_flush(&e->outbox);
    else
        status = STORM_UNLIKELY(e->physics.poll != NULL)
                     ? advance_away(e, watch)
                     : advance(e, watch);
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

/* After an error: what is under way ends before memory is freed. */
static void end_away(struct storm_engine *e)
{
    const struct storm_keeper *keeper = e->keep.keeper;
    struct storm_turn turn;
    while (e->keep.is_on && keeper->end(keeper->self, &turn) == STORM_AGAIN)
        continue;
    while (!keeper && e->away.n > 0 &&
           e->physics.poll(e->physics.self, &e->step) == STORM_AGAIN)
        continue;
    e->away.n = 0;
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
    e->counted_fresh = e->fresh.n;
    e->new_above = 0;
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
    e->new_above = SIZE_MAX;
    end_away(e);
    fold_times(e, storm_clock_seconds() - began);
    e->stats.iterations += e->iterations;
    e->stats.allocations += storm_memory_calls(e->env->memory) - allocations;
    if (broken < 0 && channel_is_broken(e->failed))
        return find_cause(e, broken);
    if (e->failed < 0)
        return e->failed;
    return verdict == STORM_DONE ? STORM_OK : verdict;
}
