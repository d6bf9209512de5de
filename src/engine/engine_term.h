/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When is the whole machine done? Waves along a binary tree of ranks, after
 * Mattern's four counters.
 *
 * Every rank keeps two counters per step that only grow: C packets created, F
 * packets finished.
 *   T1  C goes up before a packet can be handed over, finish, or be seen by a
 *       wave; pre_step's packets before the rank answers any wave of the step.
 *   T2  F goes up once per packet, at census, removal or escape, after all its
 *       spawns are in C.
 *   T3  Handing over changes neither.
 *   T4  A rank samples C and F together, between callbacks, after it has
 *       received the request of wave k; the root starts wave k + 1 only when
 *       wave k is complete.
 *   T5  Done exactly if F of wave k equals C of wave k + 1: C and F only grow
 *       and C >= F at every instant, so the equality pins an instant between
 *       the two waves at which nothing was alive.
 *   T6  A number (step, wave) of a later step tells a rank that its own step is
 *       done; it answers that wave only when it is in that step.
 *   T7  A rank with an error says so in its answer; the root then tells all
 *       ranks to give up the step.
 */
#ifndef STORM_ENGINE_TERM_H
#define STORM_ENGINE_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/status.h>

#include "channel/channel_ops.h"

/* What a rank, and a sum over ranks, says in a wave. */
struct storm_counts {
    uint64_t created;  /* C */
    uint64_t finished; /* F */
    uint64_t moves;    /* calls that went on with a packet, or their events */
    uint64_t errors;   /* ranks that cannot go on */
};

struct storm_term {
    struct storm_channel *channel;
    const struct storm_env *env;
    int link_rank[STORM_N_LINKS];
    uint64_t max_moves; /* most that one packet may take */

    uint64_t step; /* as in numbers: from 1 */
    uint32_t wave;
    bool collecting;             /* wave `wave` is under way below */
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

/* A new step; T1 holds from here on. Local. */
void storm_term_begin(struct storm_term *term);

/*
 * Answers waves. Local, never blocks. `idle`: this rank has nothing to do.
 *
 * STORM_OK        go on
 * STORM_DONE      nothing is alive anywhere
 * STORM_ERR_PEER  some rank cannot go on
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
