/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * termination.pml - when is a step done?
 *
 * Modelled: NR ranks in a binary tree, rank i under (i - 1) / 2; packets that
 * are created in pre_step or spawned on the fly, wait in aggregation buffers,
 * fly to any other rank and finish anywhere; waves that run down the tree while
 * all of this goes on, with replies that run up. At most K packets in all, and
 * at most H transfers, so that the work is finite.
 *
 * Rules
 *   TERM-1    C is incremented before a packet can be sent, finished or seen by
 *             a wave; pre_step's packets before the rank answers any wave.
 *   TERM-2    F is incremented once, when a packet ends, after all of its
 *             spawns are in C.
 *   TERM-3    Sending changes neither.
 *   TERM-4    A rank samples C and F together, at any time between receiving
 *             the request of wave k and answering it. The root starts wave k +
 *             1 when wave k is complete.
 *   TERM-5    Done exactly if F of wave k equals C of wave k + 1.
 *   OUTBOX-3  A rank without local work sends its partial batches.
 *
 * Safety: when the root reports done, no packet is alive anywhere, and none is
 * created later. Liveness (weak fairness): the root reports done.
 *
 * Abstracted, and why that is sound
 *   - Packets are counted, not told apart, so they arrive in any order: FIFO
 *     channels are a special case.
 *   - A packet in the network is kept by destination alone; it may arrive at
 *     any time.
 *   - Waves need no numbers, because by TERM-4 there is one at a time. How they
 *     are carried, and how steps follow each other, is in fencing.pml.
 *   - Spawning and finishing are steps of their own, between which a wave may
 *     sample. The code samples between callbacks: fewer behaviours.
 *
 * PAPER_SWEEP replaces the four counters by the paper's counter and its
 * verification sweep; in PAPER_SWEEP_TWICE each rank sends its delta before it
 * answers, and the root looks at its counter again. Both get favourable
 * assumptions: the root starts with the true number of packets, a batch lands
 * at once, and the sweep sees what has landed at its destination.
 */

#ifndef NR
#define NR 3
#endif
#ifndef K
#define K 3
#endif
#ifndef H
#define H 2
#endif
#ifndef BATCH
#define BATCH 2 /* records in a full batch */
#endif
#define NONE 255

#if defined(PAPER_SWEEP) || defined(PAPER_SWEEP_TWICE)
#define SWEEP
#endif

/* Packets. */
byte busy[NR];        /* at work on a rank */
byte buffer[NR * NR]; /* from, to: waiting for their batch to be sent */
byte network[NR];     /* on their way to a rank, or in its rings */
bit  ready[NR];       /* pre_step is over */
byte made;            /* packets so far, at most K */
byte hops;            /* transfers so far, at most H */
byte alive;           /* in reality: packets alive */
bit  done;            /* what the root reports */

/* Counters. */
byte C[NR];
byte F[NR];
#ifdef MUTATE_SPAWN_LATE
byte late[NR];       /* spawned, not yet in C */
#endif

/* Waves. */
bit  request[NR];    /* from the parent */
bit  reply[NR];      /* to the parent ... */
byte replyC[NR];     /* ... with the sums of the subtree */
byte replyF[NR];

#ifdef SWEEP
short delta[NR];     /* not yet sent to the parent */
short up[NR];        /* on its way there */
short counter;       /* the root's */
bit   replyE[NR];    /* all of the subtree empty? */
short replyD[NR];    /* its deltas */
#endif

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte done_too_early, created_after_done,
            reached_done, reached_trap;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

#define LEFT(r) (2 * (r) + 1)
#define RIGHT(r) (2 * (r) + 2)
#define SELF 1 /* whom a wave still waits for */
#define LEFT_BIT 2
#define RIGHT_BIT 4

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_WAVE_BEFORE_PRE
#define T1_READY true
#else
#define T1_READY ready[r]
#endif
#ifdef MUTATE_EARLY_WAVE
#define T4_ASK (r != 0 || lastF == NONE) /* later ones were asked early */
#else
#define T4_ASK true
#endif
#ifdef SWEEP
#define MAY_START (counter == 0 && ready[0] && ready[1] && ready[2]) /* NR 3 */
#else
#define MAY_START true
#endif
#if defined(PAPER_SWEEP)
#define DONE empty_
#elif defined(PAPER_SWEEP_TWICE)
#define DONE (empty_ && counter == 0)
#elif defined(MUTATE_ONE_WAVE)
#define DONE (sumC == sumF)
#else
#define DONE (lastF == sumC) /* TERM-5 */
#endif
#ifdef MUTATE_NO_FLUSH
#define T6_IDLE false
#else
#define T6_IDLE (busy[r] == 0)
#endif

inline create()
{
    CHECK(!done, created_after_done);
    made++;
    alive++;
    C[r]++;
    busy[r]++
}

/* The child is made; it is counted at once, or late. */
inline spawn()
{
#ifdef MUTATE_SPAWN_LATE
    made++;
    alive++;
    late[r]++; /* against TERM-1 */
    busy[r]++;
#else
    create();
#endif
#ifdef SWEEP
    delta[r]++;
#endif
    skip
}

inline finish()
{
    F[r]++;
    busy[r]--;
    alive--;
#ifdef SWEEP
    delta[r]--;
#endif
    skip
}

inline hand_over(d)
{
    hops++;
    busy[r]--;
#ifdef MUTATE_COUNT_HANDOVER
    F[r]++; /* against TERM-3 */
#endif
    buffer[r * NR + d]++
}

inline flush(d)
{
    network[d] = network[d] + buffer[r * NR + d];
    buffer[r * NR + d] = 0
}

#define PEER(d) \
    :: atomic { d != r && busy[r] > 0 && hops < H -> hand_over(d) } \
    :: atomic { \
           d != r && buffer[r * NR + d] > 0 \
           && (T6_IDLE || buffer[r * NR + d] >= BATCH) -> flush(d) \
       }

#ifdef SWEEP
#define ADD(c) \
    :: atomic { \
           c < NR && up[c] != 0 -> \
           delta[r] = delta[r] + up[c]; \
           up[c] = 0 \
       }
#define BUFFERS_EMPTY \
    (buffer[r * NR] == 0 && buffer[r * NR + 1] == 0 && buffer[r * NR + 2] == 0)
#endif

proctype worker(byte r)
{
    atomic { /* pre_step */
        if
        :: made < K -> create()
        :: skip
        fi;
#ifdef SWEEP
        counter = counter + C[r];
#endif
        ready[r] = 1
    }
end:do
    :: atomic { busy[r] > 0 -> finish() }
    :: atomic { busy[r] > 0 && made < K -> spawn() }
    :: atomic { /* one callback that spawns and ends its packet */
           busy[r] > 0 && made < K ->
#ifdef MUTATE_PARENT_FIRST
           made++;
           F[r]++ /* against TERM-2; the child takes the parent's place */
       }
       atomic {
           C[r]++
       }
#else
           spawn()
       }
       atomic {
           finish()
       }
#endif
    :: atomic { /* arrivals */
           network[r] > 0 ->
           busy[r] = busy[r] + network[r];
#ifdef MUTATE_COUNT_HANDOVER
           C[r] = C[r] + network[r];
#endif
           network[r] = 0
       }
    PEER(0) PEER(1) PEER(2)
#if NR == 4
    PEER(3)
#endif
#ifdef MUTATE_SPAWN_LATE
    :: atomic { late[r] > 0 -> C[r] = C[r] + late[r]; late[r] = 0 }
#endif
#ifdef SWEEP
    :: atomic { /* now and then the delta goes to the parent */
           r != 0 && delta[r] != 0 && up[r] == 0 ->
           up[r] = delta[r];
           delta[r] = 0
       }
    :: atomic {
           r == 0 && delta[0] != 0 ->
           counter = counter + delta[0];
           delta[0] = 0
       }
    ADD(LEFT(r)) ADD(RIGHT(r))
#endif
    od
}

/* TERM-4: C and F together. */
inline sample()
{
    sumC = sumC + C[r];
    sumF = sumF + F[r];
#ifdef SWEEP
    empty_ = empty_ && busy[r] == 0 && network[r] == 0 && BUFFERS_EMPTY;
#ifdef PAPER_SWEEP_TWICE
    sumD = sumD + delta[r];
    delta[r] = 0;
#endif
#endif
    waiting = waiting & ~SELF
}

inline ask(c, bit_c)
{
    if
    :: c < NR ->
       if
       :: T4_ASK -> request[c] = 1
       :: else
       fi;
       waiting = waiting | bit_c
    :: else
    fi
}

inline gather(c, bit_c)
{
    sumC = sumC + replyC[c];
    sumF = sumF + replyF[c];
    replyC[c] = 0;
    replyF[c] = 0;
#ifdef SWEEP
    empty_ = empty_ && replyE[c];
#ifdef PAPER_SWEEP_TWICE
    sumD = sumD + replyD[c] + up[c]; /* what was sent before comes before */
    up[c] = 0;
#endif
    replyE[c] = 0;
    replyD[c] = 0;
#endif
    reply[c] = 0;
#ifdef MUTATE_EARLY_WAVE
    if
    :: r == 0 -> request[c] = 1 /* against TERM-4 */
    :: else
    fi;
#endif
    waiting = waiting & ~bit_c
}

/* Only the root: is the step done? */
inline judge()
{
#ifdef REACH_TRAP
    REACHED(sumC == sumF && alive > 0, reached_trap);
#endif
#ifdef PAPER_SWEEP_TWICE
    counter = counter + sumD + delta[0];
    delta[0] = 0;
#endif
    if
    :: DONE ->
       CHECK(alive == 0, done_too_early);
#ifdef REACH_DONE
       REACHED(made == K && hops == H, reached_done);
#endif
       done = 1
    :: else -> lastF = sumF
    fi
}

/* The wave is complete on this rank and below. */
inline complete()
{
    if
    :: waiting != 0
    :: waiting == 0 ->
       if
       :: r == 0 -> judge()
       :: else ->
          replyC[r] = sumC;
          replyF[r] = sumF;
#ifdef SWEEP
          replyE[r] = empty_;
          replyD[r] = sumD;
#endif
          reply[r] = 1
       fi;
       sumC = 0;
       sumF = 0;
#ifdef SWEEP
       empty_ = 1;
       sumD = 0;
#endif
       goto end_idle
    fi
}

proctype wave(byte r)
{
    byte waiting;
    byte sumC, sumF;
    byte lastF = NONE;
#ifdef SWEEP
    bit empty_ = 1;
    short sumD;
#endif

end_idle:
    do
    :: atomic {
           !done && ((r == 0 && MAY_START) || request[r]) ->
           request[r] = 0;
           waiting = SELF;
           ask(LEFT(r), LEFT_BIT);
           ask(RIGHT(r), RIGHT_BIT)
       }
       do
       :: atomic {
              (waiting & SELF) && T1_READY ->
              sample();
              complete()
          }
       :: atomic {
              (waiting & LEFT_BIT) && reply[LEFT(r)] ->
              gather(LEFT(r), LEFT_BIT);
              complete()
          }
       :: atomic {
              (waiting & RIGHT_BIT) && reply[RIGHT(r)] ->
              gather(RIGHT(r), RIGHT_BIT);
              complete()
          }
       od
    od
}

init
{
    atomic {
        run worker(0); run wave(0);
        run worker(1); run wave(1);
        run worker(2); run wave(2);
#if NR == 4
        run worker(3); run wave(3);
#endif
        skip
    }
}

#ifdef LIVE
ltl ends { <> done }
#endif
