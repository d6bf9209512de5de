/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Termination detection: waves along a tree of ranks, after Mattern's four
 * counters.
 *
 * Every rank keeps two counters per step that only grow: C packets created, F
 * packets finished.
 *   TERM-1  C is incremented before a packet can be sent, finish, or be seen by
 *           a wave; pre_step's packets before the rank answers any wave of the
 *           step.
 *   TERM-2  F is incremented once per packet, at census, removal or escape,
 *           after all its spawns are in C.
 *   TERM-3  Sending changes neither.
 *   TERM-4  A rank samples C and F together, between callbacks, after it has
 *           received the request of wave k; the root starts wave k + 1 only
 *           when wave k is complete.
 *   TERM-5  Done exactly if F of wave k equals C of wave k + 1: C and F only
 *           grow and C >= F at every instant, so the equality pins an instant
 *           between the two waves at which nothing was alive.
 *   TERM-6  A number (step, wave) of a later step means that the rank's own
 *           step is done; it answers that wave only when it is in that step.
 *   TERM-7  A rank with an error reports it in its answer; the root then ends
 *           the step with an error on all ranks.
 *   TERM-8  A number has 40 bits for the wave, so that no wave is taken for an
 *           end of the step: at a wave every microsecond they last 12 days in
 *           one step. The 24 bits for the step wrap around.
 */
#ifndef STORM_ENGINE_TERM_H
#define STORM_ENGINE_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/status.h>

#include "channel/channel_ops.h"

/* The answer of a rank, or the sum over ranks, in a wave. */
struct storm_counts {
    uint64_t created;  /* C */
    uint64_t finished; /* F */
    uint64_t moves;    /* calls that advanced a packet, or their events */
    uint64_t errors;   /* ranks that have failed */
};

struct storm_term {
    struct storm_channel *channel;
    const struct storm_env *env;
    uint64_t max_moves; /* max moves of one packet */

    uint64_t step; /* as in numbers: from 1 */
    uint64_t wave;
    bool aborted;                /* by a word that all ranks get */
    bool collecting;             /* wave `wave` is in flight below */
    uint64_t due[STORM_N_LINKS]; /* number still to be sent; 0: none */
    struct storm_counts answer;  /* to the parent, when due */

    /* Root alone. */
    bool have_last;
    struct storm_counts last; /* sums of the wave before */
    uint64_t moves_at_change; /* when C or F last changed */
    double changed;           /* when C or F last did */
    double wave_began;
    uint64_t waves;
};

void storm_term_open(struct storm_term *term, struct storm_channel *channel,
                     const struct storm_env *env, uint64_t max_moves);

/* A new step; TERM-1 holds from here on. Local. */
void storm_term_begin(struct storm_term *term);

/*
 * Answers waves. Local, never blocks. `idle`: this rank has no work.
 *
 * STORM_OK        continue
 * STORM_DONE      nothing is alive anywhere
 * STORM_ERR_PEER  a rank has failed
 * STORM_ERR_STATE root alone: packets that do not end (logged)
 */
storm_status storm_term_poll(struct storm_term *term,
                             const struct storm_counts *mine, bool idle);

/* Sums over all ranks of the last complete wave. Root alone. */
static inline const struct storm_counts *
storm_term_sums(const struct storm_term *term)
{
    return &term->last;
}

#endif /* STORM_ENGINE_TERM_H */
