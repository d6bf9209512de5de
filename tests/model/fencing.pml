/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fencing.pml - steps that follow each other without a barrier.
 *
 * Modelled: three ranks and STEPS steps, the four counters of termination.pml,
 * rings between all pairs of ranks, and waves carried by puts into one slot per
 * tree neighbour. A rank that knows the end of step n runs pre_step of
 * n + 1 and sends packets and waves while others are still in n. Tree: ranks 1
 * and 2 under 0, or with -DCHAIN 2 under 1 under 0.
 *
 * Rules
 *   RING-3     The tail word carries the parity of the sender's step. A rank
 *              takes only from rings whose word has the parity of its own step.
 *   CHANNEL-6  A wave request is a word (step, wave) that the parent puts into
 *              its child's slot, over whatever is there. DONE(step) is the
 *              largest word of its step. Words to one slot land in the order in
 *              which they were issued (on an unordered fabric: one word in
 *              flight per slot).
 *   TERM-6     A word of a later step means that the rank's own step is done.
 *   TERM-6     A wave is held until the rank is in its step.
 *   TERM-1     ... and has run pre_step.
 *   CHANNEL-6  A reply is [C, F] first and the word after it, into the slot
 *              that the child has at its parent. The parent reads [C, F] when
 *              the word is the one it has asked for.
 *
 * Checked: a packet is processed in its own step; a wave is answered in its
 * own step; a rank leaves a step when no packet of it is alive; no rank is two
 * steps ahead of another; a ring never holds packets of two steps; words in a
 * slot never go back; nobody waits for ever.
 *
 * Abstracted, and why that is sound
 *   - In each step each rank makes at most one packet, which may be handed
 *     over once; at most M packets in the whole run. Spawning is in
 *     termination.pml.
 *   - A ring is a batch in flight and a batch that has landed (ring.pml has the
 *     details). Steps are kept beside the parity to be checked against it.
 *   - The wave's number is its parity. Within a step the next request follows
 *     the reply to the last one, so that the parity tells them apart.
 *   - "One word in flight per slot" is a special case of "in order".
 */

#define NR 3
#ifndef STEPS
#define STEPS 3
#endif
#ifndef M
#define M 2
#endif
#define DONE 2  /* in place of a wave's parity */
#define NONE 255

#ifdef CHAIN
#define CHILD(r, c) ((c) == (r) + 1)
#else
#define CHILD(r, c) ((r) == 0 && (c) != 0)
#endif
#define RING(from, to) ((from) * NR + (to))

/* Ranks. */
byte step[NR];
bit  ready[NR];           /* pre_step is over */
byte fresh[NR];           /* packets that may still be sent */
byte arrived[NR];         /* packets that may not */
byte C[NR], F[NR];        /* of this step */
byte made;                /* packets so far, at most M */
byte alive[STEPS];        /* in reality: packets of a step that are alive */

/* Rings: a batch in flight, and one that has landed. */
byte fly[NR * NR], fly_step[NR * NR];
byte unread[NR * NR], unread_step[NR * NR];

/* Requests: words in flight to a rank, and its slot. */
chan words[NR] = [2] of {byte, byte};
byte word_step[NR], word_wave[NR];

/* Replies: in flight to the parent, and the slot there. */
byte flyC[NR], flyF[NR], fly_word[NR]; /* fly_word: 0 is none */
bit  fly_counts[NR];                   /* [C, F] has not landed yet */
byte slotC[NR], slotF[NR], slot_word[NR];

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte wrong_step_packet, wrong_step_wave, left_too_early,
            two_steps_ahead, mixed_ring, word_went_back,
            reached_packet_ahead, reached_wave_ahead, reached_overwrite,
            reached_parity;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

/* A reply's word: unlike 0, and unlike its neighbours'. */
#define WORD(s, w) (1 + 2 * (s) + (w))

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_UNFENCED_PACKETS
#define F1_FENCE(q) true
#else
#define F1_FENCE(q) (unread_step[q] % 2 == step[r] % 2) /* no more is known */
#endif
#ifdef MUTATE_DONE_EXACT
#define F3_DONE (word_step[r] == step[r] && word_wave[r] == DONE)
#else
#define F3_DONE \
    (word_step[r] > step[r] \
     || (word_step[r] == step[r] && word_wave[r] == DONE))
#endif
#ifdef MUTATE_UNFENCED_WAVES
#define F4_NOW true
#else
#define F4_NOW (word_step[r] == step[r])
#endif
#ifdef MUTATE_WAVE_BEFORE_PRE
#define F5_READY true
#else
#define F5_READY ready[r]
#endif
#ifdef MUTATE_REPLY_WORD_FIRST
#define F6_COUNTS_FIRST(r) true
#else
#define F6_COUNTS_FIRST(r) (!fly_counts[r])
#endif

#ifdef REACH_PACKET_AHEAD
#define BATCH_LANDS(q) \
    REACHED(fly_step[q] > step[(q) % NR] && ready[(q) % NR], \
            reached_packet_ahead)
#else
#define BATCH_LANDS(q) skip
#endif
#define LAND_BATCH(q) \
    :: atomic { \
           fly[q] > 0 -> \
           BATCH_LANDS(q); \
           CHECK(unread[q] == 0 || unread_step[q] == fly_step[q], mixed_ring); \
           unread[q] = unread[q] + fly[q]; \
           unread_step[q] = fly_step[q]; \
           fly[q] = 0; \
           fly_step[q] = 0 \
       }

inline land_word(r)
{
    CHECK(s > word_step[r] || (s == word_step[r] && word_wave[r] != DONE),
          word_went_back);
#ifdef REACH_WAVE_AHEAD
    REACHED(s > step[r] && w != DONE, reached_wave_ahead);
#endif
#ifdef REACH_OVERWRITE
    REACHED(s > step[r] && word_step[r] == step[r] && word_wave[r] == DONE,
            reached_overwrite);
#endif
    word_step[r] = s;
    word_wave[r] = w;
    s = 0;
    w = 0
}

#ifdef MUTATE_UNORDERED_WORDS
#define LAND_WORD(r) \
    :: atomic { words[r]?s, w -> land_word(r) } \
    :: atomic { /* against CHANNEL-6: the second overtakes the first */ \
           len(words[r]) == 2 -> \
           words[r]?s, w; \
           words[r]!s, w; \
           words[r]?s, w; \
           land_word(r) \
       }
#else
#define LAND_WORD(r) \
    :: atomic { words[r]?s, w -> land_word(r) }
#endif

#define LAND_REPLY(r) \
    :: atomic { \
           fly_counts[r] -> \
           slotC[r] = flyC[r]; \
           slotF[r] = flyF[r]; \
           flyC[r] = 0; \
           flyF[r] = 0; \
           fly_counts[r] = 0 \
       } \
    :: atomic { \
           fly_word[r] != 0 && F6_COUNTS_FIRST(r) -> \
           slot_word[r] = fly_word[r]; \
           fly_word[r] = 0 \
       }

active proctype net_rings()
{
end:do
    LAND_BATCH(RING(0, 1)) LAND_BATCH(RING(0, 2)) LAND_BATCH(RING(1, 0))
    LAND_BATCH(RING(1, 2)) LAND_BATCH(RING(2, 0)) LAND_BATCH(RING(2, 1))
    od
}

active proctype net_waves()
{
    byte s, w;

end:do
    LAND_WORD(1) LAND_WORD(2)
    LAND_REPLY(1) LAND_REPLY(2)
    od
}

inline put_word(s, w)
{
    if
    :: CHILD(r, 1) -> words[1]!s, w
    :: else
    fi;
    if
    :: CHILD(r, 2) -> words[2]!s, w
    :: else
    fi
}

inline finish()
{
    F[r]++;
    alive[step[r]]--
}

#define HAND_OVER(d) \
    :: atomic { \
           d != r && fresh[r] > 0 -> \
           CHECK(fly[RING(r, d)] == 0 || fly_step[RING(r, d)] == step[r], \
                 mixed_ring); \
           fresh[r]--; \
           fly[RING(r, d)]++; \
           fly_step[RING(r, d)] = step[r] \
       }

#define TAKE(q, from) \
    :: atomic { \
           from != r && ready[r] && unread[q] > 0 && F1_FENCE(q) -> \
           CHECK(unread_step[q] == step[r], wrong_step_packet); \
           arrived[r] = arrived[r] + unread[q]; \
           unread[q] = 0; \
           unread_step[q] = 0 \
       }

inline start_wave()
{
    waiting = 1 + 2 * CHILD(r, 1) + 4 * CHILD(r, 2);
    put_word(step[r], last)
}

inline leave_step()
{
#ifdef REACH_PARITY
    REACHED(step[r] == 2 && C[r] > 0 && F[r] > 0, reached_parity);
#endif
    CHECK(alive[step[r]] == 0 && waiting == 0, left_too_early);
    put_word(step[r], DONE);
    step[r]++;
    CHECK(step[r] <= step[0] + 1 && step[r] <= step[1] + 1
          && step[r] <= step[2] + 1, two_steps_ahead);
    ready[r] = 0;
    C[r] = 0;
    F[r] = 0;
    last = NONE;
    lastF = NONE
}

/* The wave is complete on this rank and below. */
inline complete()
{
    if
    :: waiting != 0
    :: waiting == 0 && r != 0 ->
       flyC[r] = sumC;
       flyF[r] = sumF;
       fly_counts[r] = 1;
       fly_word[r] = WORD(step[r], last);
       sumC = 0;
       sumF = 0
    :: waiting == 0 && r == 0 ->
       if
       :: lastF == sumC -> leave_step()
       :: else -> lastF = sumF
       fi;
       sumC = 0;
       sumF = 0
    fi
}

#define GATHER(c, bit_c) \
    :: atomic { \
           (waiting & bit_c) && slot_word[c] == WORD(step[r], last) -> \
           sumC = sumC + slotC[c]; \
           sumF = sumF + slotF[c]; \
           waiting = waiting - bit_c; \
           complete() \
       }

/* Worker and waves of a rank are one thread in the code. */
proctype worker(byte r)
{
    do
    :: step[r] == STEPS -> break
    :: atomic { /* pre_step */
           step[r] < STEPS && !ready[r] ->
           if
           :: made < M -> made++; fresh[r]++; C[r]++; alive[step[r]]++
           :: skip
           fi;
           ready[r] = 1
       }
    :: atomic { fresh[r] > 0 -> fresh[r]--; finish() }
    :: atomic { arrived[r] > 0 -> arrived[r]--; finish() }
    HAND_OVER(0) HAND_OVER(1) HAND_OVER(2)
    TAKE(RING(0, r), 0) TAKE(RING(1, r), 1) TAKE(RING(2, r), 2)
    od
}

proctype waves(byte r)
{
    byte waiting;      /* the wave waits for: 1 self, 2 rank 1, 4 rank 2 */
    byte sumC, sumF;
    byte last = NONE;  /* last wave seen in this step */
    byte lastF = NONE; /* root: F of that wave */

    do
    :: step[r] == STEPS -> break
    :: atomic { /* the root starts a wave when it likes */
           r == 0 && ready[r] && waiting == 0 ->
           last = (last == 0 -> 1 : 0);
           start_wave()
       }
    :: atomic { /* the others when they get DONE */
           (r != 0 && waiting == 0 && F5_READY && F4_NOW
            && word_wave[r] != DONE && word_wave[r] != last) ->
           CHECK(word_step[r] == step[r], wrong_step_wave);
           last = word_wave[r];
           start_wave()
       }
    :: atomic { /* sample */
           waiting & 1 ->
           sumC = sumC + C[r];
           sumF = sumF + F[r];
           waiting = waiting - 1;
           complete()
       }
    GATHER(1, 2) GATHER(2, 4)
    :: atomic { r != 0 && ready[r] && F3_DONE -> leave_step() }
    od
}

init
{
    atomic {
        word_wave[1] = NONE;
        word_wave[2] = NONE;
        run worker(0); run waves(0);
        run worker(1); run waves(1);
        run worker(2); run waves(2)
    }
}

#ifdef LIVE
ltl ends { <> (step[0] == STEPS && step[1] == STEPS && step[2] == STEPS) }
#endif
