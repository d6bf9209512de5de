/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.pml - how ranks that fail take all others out of a step.
 *
 * Modelled: three ranks, ranks 1 and 2 under 0, or with -DCHAIN 2 under 1 under
 * 0, and STEPS steps. Up to FAILS times a rank fails: it cannot begin a step,
 * its host goes to destroy, pre_step, transport or post_step fails, or its
 * fabric breaks, after which none of its waves can be sent. With -DCOLLECTIVE
 * pre_step and post_step end in a collective call of the context, which a rank
 * that fails there never makes. With -DBARRIER a step ends in a barrier (fabrics
 * whose puts need the target's polls). At the end every rank destroys its
 * engine: it leaves, unless the engine is broken, and closes the channel, which
 * waits for all.
 *
 * Rules
 *   STEP-1  All ranks agree to begin before pre_step; a rank in destroy joins
 *           that agreement, too.
 *   STEP-2  All ranks agree on success after the step, however it ended.
 *   STEP-3  A rank that has failed and to which the others do not come reports
 *           itself as lost, which ends all waits; not at the end of a step that
 *           it has left by ABORT, to which all come.
 *   TERM-7  A rank that has failed still answers waves, with its error.
 *   FAIL    A rank whose fabric breaks sends FAIL to its neighbours in the tree
 *           and leaves the step; so does whoever receives one. It is looked for
 *           in transport and in the barrier.
 *
 * Checked: nobody waits for ever; no rank takes a step for a success in which
 * any rank has failed; no collective of one kind meets one of another; no rank
 * reports itself as lost unless callbacks communicate.
 *
 * Abstracted, and why that is sound
 *   - Packets. The root may take any wave without errors for the last, and takes
 *     the NWAVES-th: when C and F meet is in termination.pml. So a rank may fail
 *     after its last answer.
 *   - The n-th collective of a rank on a communicator meets the n-th of the
 *     others, as MPI has it: they are counted, nothing else.
 *   - "The others do not come" is that nothing else can happen (timeout); with
 *     -DHASTY it is any time, as if the limit were too short.
 *   - A message is there as soon as it is sent; the reader may look later.
 *   - Slots of waves are empty when a step begins: STEP-1 and STEP-2 keep steps
 *     apart; without them, fencing.pml does.
 */

#define NR 3
#ifndef STEPS
#define STEPS 2
#endif
#ifndef FAILS
#define FAILS 2
#endif
#ifndef NWAVES
#define NWAVES 2
#endif
#define MANY (3 * STEPS + FAILS + 2) /* collectives on one communicator */

#define ABORT 3 /* in place of a wave, which is 1 or 2 */
#define DONE 4

#ifdef CHAIN
#define CHILD(c) ((c) == r + 1)
#define NEAR(n) ((n) == r + 1 || (n) + 1 == r)
#else
#define CHILD(c) (r == 0 && (c) != 0)
#define NEAR(n) (r == 0 || (n) == 0)
#endif

byte fails = FAILS;   /* that may still happen */
bit  failed[STEPS];   /* in reality: some rank has, in this step */
bit  lost;            /* the lifeline says so, everywhere */
byte closed, ended;

/* Agreements: who has joined, and with what. */
byte joined[MANY];
bit  bad[MANY], leaving[MANY], begins[MANY], ends[MANY];

byte called[2 * STEPS]; /* collective calls of callbacks */
byte barred[STEPS];     /* barriers */

/* Waves: words from the parent, answers to it, and FAIL. */
byte down[NR], up[NR];
bit  up_error[NR], told[NR];

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte success_after_failure, mixed_collectives, needless_loss,
            reached_lost_pre, reached_lost_post, reached_success,
            reached_abort, reached_late, reached_fail;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

#ifdef HASTY
#define NOBODY_COMES true
#else
#define NOBODY_COMES timeout
#endif

/* Where no callback communicates, nobody needs it. */
#ifdef COLLECTIVE
#define LOSE lost = 1
#else
#define LOSE CHECK(false, needless_loss); lost = 1
#endif

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_NO_PATIENCE_PRE
#define ALONE_PRE false
#else
#define ALONE_PRE pre_failed
#endif
#ifdef MUTATE_NO_PATIENCE_END
#define ALONE_END false
#else
#ifdef MUTATE_PATIENCE_POST_ONLY
#define ALONE_END post_failed
#else
#define ALONE_END (error && !aborted)
#endif
#endif
#ifdef MUTATE_BARRIER_DEAF
#define HEARS_IN_BARRIER false
#else
#define HEARS_IN_BARRIER told[r]
#endif

#define FAIL fails--; failed[s] = 1; error = 1

/* FAIL to the neighbours. */
inline give_up()
{
#ifdef REACH_FAIL
    REACHED(told[r], reached_fail);
#endif
#ifdef MUTATE_FAIL_NOT_FORWARDED
    if
    :: told[r]
    :: else ->
#endif
    if
    :: NEAR(0) -> told[0] = 1
    :: else
    fi;
    if
    :: NEAR(1) -> told[1] = 1
    :: else
    fi;
    if
    :: NEAR(2) -> told[2] = 1
    :: else
    fi
#ifdef MUTATE_FAIL_NOT_FORWARDED
    fi
#endif
}

inline send_down(word)
{
    if
    :: CHILD(1) -> down[1] = word
    :: else
    fi;
    if
    :: CHILD(2) -> down[2] = word
    :: else
    fi
}

#define ANSWERED(c) (!CHILD(c) || up[c] == wave)
#define ERRORS \
    (error || (CHILD(1) && up_error[1]) || (CHILD(2) && up_error[2]))

/* A collective call at the end of a callback. */
inline call()
{
#ifdef COLLECTIVE
    called[n_calls]++;
    if
    :: called[n_calls] == NR
    :: lost -> error = 1
    fi;
    n_calls++
#else
    skip
#endif
}

inline barrier()
{
#ifdef BARRIER
#ifdef MUTATE_SHARED_COMMUNICATOR
    joined[g]++;
#define BARRIER_OVER joined[g] == NR
#else
    barred[s]++;
#define BARRIER_OVER barred[s] == NR
#endif
    if
    :: BARRIER_OVER
    :: lost -> error = 1
    :: atomic { HEARS_IN_BARRIER -> give_up(); error = 1; failed[s] = 1 }
    :: atomic { fails > 0 -> FAIL; give_up() }
    fi;
#ifdef MUTATE_SHARED_COMMUNICATOR
    g++
#endif
#else
    skip
#endif
}

#define RUNS (!over && !verdict)

inline transport()
{
    do
    :: over -> break
    :: atomic { RUNS && lost -> error = 1; over = 1 }
    :: atomic { RUNS && !error && fails > 0 -> FAIL }
    :: atomic { RUNS && fails > 0 -> FAIL; give_up(); over = 1 }
    :: atomic { RUNS && told[r] -> give_up(); error = 1; over = 1 }
    :: atomic { RUNS && ALONE_PRE && !lost && NOBODY_COMES -> LOSE }
    :: atomic { /* the root begins a wave */
           RUNS && r == 0 && !collecting ->
           wave = (wave == 1 -> 2 : 1);
           send_down(wave);
           collecting = 1
       }
    :: atomic { /* and ends it */
           RUNS && r == 0 && collecting && ANSWERED(1) && ANSWERED(2) ->
           collecting = 0;
           n_waves++;
           if
           :: ERRORS ->
              send_down(ABORT);
              error = 1;
              aborted = 1;
              verdict = 1
           :: !ERRORS && n_waves < NWAVES
           :: !ERRORS -> send_down(DONE); verdict = 1
           fi
       }
    :: atomic {
           (RUNS && r != 0 && !collecting && down[r] != 0
            && down[r] != wave) ->
           if
           :: down[r] >= ABORT ->
              send_down(down[r]);
              error = error || down[r] == ABORT;
              aborted = down[r] == ABORT;
              verdict = 1
           :: else ->
              wave = down[r];
              send_down(wave);
              collecting = 1
           fi
       }
    :: atomic {
           RUNS && r != 0 && collecting && ANSWERED(1) && ANSWERED(2) ->
           up[r] = wave;
           up_error[r] = ERRORS;
           collecting = 0
       }
    :: verdict && !over ->
#ifdef REACH_ABORT
       REACHED(error && down[2] == ABORT, reached_abort);
#endif
#ifdef REACH_LATE
       REACHED(error && down[2] == DONE, reached_late);
#endif
       barrier();
       verdict = 0;
       over = 1
    od
}

/* Joins the next agreement; false in `good` unless all have joined well. */
inline agree(alone)
{
    if
    :: joined[g] == NR -> good = !bad[g]
    :: lost -> good = 0
    :: atomic { alone && !lost && NOBODY_COMES -> LOSE; good = 0 }
    fi
}

inline begin()
{
    good = 1;
#ifndef MUTATE_NO_BEGIN
    atomic {
        if
        :: skip
        :: fails > 0 -> fails--; bad[g] = 1 /* it has no physics */
        fi;
        joined[g]++;
        begins[g] = 1
    }
    agree(false);
    CHECK(lost || !ends[g], mixed_collectives);
    broken = lost || leaving[g];
    g++
#endif
}

inline end()
{
#ifdef MUTATE_NO_END
    good = !error;
#else
    atomic {
        joined[g]++;
        ends[g] = 1;
        bad[g] = bad[g] || error
    }
    agree(ALONE_END);
    CHECK(lost || (!begins[g] && !leaving[g]), mixed_collectives);
    g++;
#endif
    broken = !good
}

inline forget()
{
    d_step {
        error = 0;
        pre_failed = 0;
        post_failed = 0;
        aborted = 0;
        over = 0;
        verdict = 0;
        collecting = 0;
        wave = 0;
        n_waves = 0;
        down[r] = 0;
        up[r] = 0;
        up_error[r] = 0
    }
}

proctype rank(byte r)
{
    byte g, s, wave, n_waves, n_calls;
    bit error, pre_failed, post_failed, over, verdict, collecting;
    bit good, broken, aborted;

    do
    :: s == STEPS || broken -> break
    :: atomic { s < STEPS && !broken && fails > 0 -> fails-- }; break
    :: s < STEPS && !broken ->
       forget();
       begin();
       if
       :: !good /* the host may try again, if it is not broken */
       :: good ->
          if
          :: atomic { fails > 0 -> FAIL; pre_failed = 1 }
          :: call()
          fi;
#ifdef REACH_LOST_PRE
          REACHED(lost && !pre_failed, reached_lost_pre);
#endif
          transport();
          if
          :: error
          :: !error ->
             if
             :: atomic { fails > 0 -> FAIL; post_failed = 1 }
             :: call()
             fi;
#ifdef REACH_LOST_POST
             REACHED(lost && !post_failed, reached_lost_post)
#endif
          fi;
          end();
          if
          :: good ->
             CHECK(!failed[s], success_after_failure);
             s++;
#ifdef REACH_SUCCESS
             REACHED(s == STEPS && fails < FAILS, reached_success)
#endif
          :: else
          fi
       fi
    od;

    /* destroy */
    if
    :: broken
    :: !broken ->
       atomic {
           joined[g]++;
           bad[g] = 1;
           leaving[g] = 1
       }
       agree(false);
       CHECK(lost || !ends[g], mixed_collectives);
       g++
    fi;
    closed++;
    if
    :: closed == NR
    :: lost
    fi;
    ended++
}

init
{
    atomic { run rank(0); run rank(1); run rank(2) }
}

#ifdef LIVE
ltl ends_all { <> (ended == NR) }
#endif
