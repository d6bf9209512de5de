/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_term.h"

#include "base/clock.h"
#include "base/lifeline.h"

/* Waves of a step are 1, 2, ...; these two end it (TERM-8). */
enum { WAVE_BITS = 40 };
#define WAVE_DONE (((uint64_t)1 << WAVE_BITS) - 1)
#define WAVE_ABORT (WAVE_DONE - 1)

/* A root that has work starts waves only this often, for progress and errors of
 * other ranks. */
static const double busy_wave_s = 1e-3;

/* One without work starts the next wave at once; while nothing changes less and
 * less often: after this part of the time since the last change. On a crowded
 * node the pauses leave the cores to others; else idle ranks are awake, and
 * only those that work are spared. */
static const double quiet_share = 1.0 / 64;
static const double max_quiet_s = 50e-6;
static const double max_quiet_awake_s = 1e-6;

static uint64_t number(uint64_t step, uint64_t wave)
{
    return step << WAVE_BITS | wave;
}

/* Is number a later than b? They wrap around with the step, and are never far
 * apart: a neighbour is at most one step away. */
static bool later(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) > 0;
}

void storm_term_open(struct storm_term *term, struct storm_channel *channel,
                     const struct storm_env *env, uint64_t max_moves)
{
    *term = (struct storm_term){
        .channel = channel, .env = env, .max_moves = max_moves};
}

void storm_term_begin(struct storm_term *term)
{
    term->step++;
    term->wave = 0;
    term->collecting = false;
    term->have_last = false;
    term->aborted = false;
    term->last = (struct storm_counts){0};
    term->moves_at_change = 0;
    term->wave_began = term->changed = storm_clock_seconds();
}

/* Sends what is due, as far as the channel takes it. */
static storm_status send_due(struct storm_term *term)
{
    for (int i = 0; i < STORM_N_LINKS; i++) {
        if (STORM_LIKELY(term->due[i] == 0))
            continue;
        const uint64_t words[STORM_WAVE_WORDS] = {
            term->answer.created, term->answer.finished, term->answer.moves,
            term->answer.errors};
        storm_status status =
            term->channel->wave->send(term->channel, (enum storm_link)i, words,
                                      term->due[i]);
        if (status < 0)
            return status;
        if (status == STORM_OK)
            term->due[i] = 0;
    }
    return STORM_OK;
}

static void send_children(struct storm_term *term, uint64_t wave)
{
    for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++)
        if (term->channel->tree.rank[i] >= 0)
            term->due[i] = number(term->step, wave);
}

static bool children_sent(const struct storm_term *term)
{
    for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++)
        if (term->due[i] != 0)
            return false;
    return true;
}

/* Passes the verdict on before this rank leaves the step: poll is not called
 * between steps. */
static storm_status end_step(struct storm_term *term, uint64_t wave)
{
    struct storm_channel *channel = term->channel;
    send_children(term, wave);
    storm_status status = STORM_AGAIN;
    for (uint64_t n_empty = 0; status == STORM_AGAIN; n_empty++) {
        status = send_due(term);
        if (status >= 0)
            status = children_sent(term) ? channel->ops->end_step(channel)
                                         : STORM_AGAIN;
        if (status != STORM_AGAIN)
            break;
        status = storm_lifeline_check(term->env->lifeline);
        if (status >= 0)
            status = channel->ops->progress(channel);
        if (status >= 0)
            status = channel->ops->idle(channel, n_empty);
        status = status < 0 ? status : STORM_AGAIN;
    }
    if (status < 0)
        return status;
    term->aborted = wave == WAVE_ABORT; /* and passed on */
    return wave == WAVE_DONE ? STORM_DONE : STORM_ERR_PEER;
}

/* Starts wave k + 1 from above (root) or because the parent asked. */
static void begin_wave(struct storm_term *term, uint64_t wave)
{
    term->wave = wave;
    term->collecting = true;
    send_children(term, wave);
}

/* Adds up the children's answers; false while one is missing. */
static storm_status collect(struct storm_term *term, struct storm_counts *sums,
                            bool *complete_out)
{
    *complete_out = false;
    for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++) {
        if (term->channel->tree.rank[i] < 0)
            continue;
        uint64_t words[STORM_WAVE_WORDS], from;
        storm_status status =
            term->channel->wave->read(term->channel, (enum storm_link)i, NULL,
                                      &from);
        if (status < 0 || from != number(term->step, term->wave))
            return status;
        /* The child sends no other before it is asked again. */
        status = term->channel->wave->read(term->channel, (enum storm_link)i,
                                           words, &from);
        if (status < 0)
            return status;
        sums->created += words[0];
        sums->finished += words[1];
        sums->moves += words[2];
        sums->errors += words[3];
    }
    *complete_out = true;
    return STORM_OK;
}

/* Nothing was created or finished while so many moves were made that, shared
 * out over all packets alive, one must have taken too many. */
static bool stuck(struct storm_term *term, const struct storm_counts *sums)
{
    if (!term->have_last || sums->created != term->last.created ||
        sums->finished != term->last.finished) {
        term->moves_at_change = sums->moves;
        term->changed = storm_clock_seconds();
        return false;
    }
    double alive = (double)(sums->created - sums->finished);
    double moves = (double)(sums->moves - term->moves_at_change);
    return alive > 0 && moves > alive * (double)term->max_moves;
}

/* The root's judgement on a complete wave. */
static storm_status judge(struct storm_term *term,
                          const struct storm_counts *sums)
{
    bool done = term->have_last && term->last.finished == sums->created;
    bool is_stuck = stuck(term, sums);
    term->last = *sums;
    term->have_last = true;
    term->waves++;
    if (sums->errors > 0)
        return end_step(term, WAVE_ABORT);
    if (done)
        return end_step(term, WAVE_DONE); /* TERM-5 */
    if (is_stuck) {
        storm_log_write(&term->env->log, STORM_LOG_ERROR,
                        "%llu packets do not end: more than "
                        "transport.max_events = %llu events each, sent from "
                        "rank to rank",
                        (unsigned long long)(sums->created - sums->finished),
                        (unsigned long long)term->max_moves);
        storm_status status = end_step(term, WAVE_ABORT);
        return status == STORM_ERR_PEER ? STORM_ERR_STATE : status;
    }
    return STORM_OK;
}

static storm_status poll_root(struct storm_term *term,
                              const struct storm_counts *mine, bool idle)
{
    if (!term->collecting) {
        double now = storm_clock_seconds();
        double pause = quiet_share * (now - term->changed);
        double max = term->env->crowded ? max_quiet_s : max_quiet_awake_s;
        if (!idle)
            pause = busy_wave_s;
        else if (pause > max)
            pause = max;
        if (mine->errors == 0 && now - term->wave_began < pause)
            return STORM_OK;
        term->wave_began = now;
        begin_wave(term, term->wave + 1);
        storm_status status = send_due(term);
        if (status < 0)
            return status;
    }
    struct storm_counts sums = {0};
    bool complete;
    storm_status status = collect(term, &sums, &complete);
    if (status < 0 || !complete)
        return status;
    /* TERM-4: sampled after the request, which is the root's own. */
    sums.created += mine->created;
    sums.finished += mine->finished;
    sums.moves += mine->moves;
    sums.errors += mine->errors;
    term->collecting = false;
    return judge(term, &sums);
}

static storm_status poll_node(struct storm_term *term,
                              const struct storm_counts *mine)
{
    storm_status status;
    if (!term->collecting) {
        uint64_t from;
        status = term->channel->wave->read(term->channel, STORM_LINK_PARENT,
                                           NULL, &from);
        if (status < 0 || !later(from, number(term->step, term->wave)))
            return status;
        uint64_t wave = from & WAVE_DONE;
        if (later(from, number(term->step, WAVE_DONE)) || wave == WAVE_DONE)
            return end_step(term, WAVE_DONE); /* TERM-6 */
        if (wave == WAVE_ABORT)
            return end_step(term, WAVE_ABORT);
        begin_wave(term, wave);
        status = send_due(term);
        if (status < 0)
            return status;
    }
    struct storm_counts sums = {0};
    bool complete;
    status = collect(term, &sums, &complete);
    if (status < 0 || !complete)
        return status;
    term->answer = (struct storm_counts){
        .created = sums.created + mine->created,
        .finished = sums.finished + mine->finished,
        .moves = sums.moves + mine->moves,
        .errors = sums.errors + mine->errors,
    };
    term->due[STORM_LINK_PARENT] = number(term->step, term->wave);
    term->collecting = false;
    return send_due(term);
}

storm_status storm_term_poll(struct storm_term *term,
                             const struct storm_counts *mine, bool idle)
{
    storm_status status = send_due(term);
    if (status < 0)
        return status;
    return term->env->rank == 0 ? poll_root(term, mine, idle)
                                : poll_node(term, mine);
}
