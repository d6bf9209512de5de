/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_growth.pml - ranks that wait for the ring they have asked for.
 *
 * Modelled: NR ranks, each of which sends N records to the next one, so that
 * they form a cycle; or with TWO_INTO_ONE three ranks, of which 1 and 2 send to
 * 0, whose memory they share, and 0 to 1. A ring starts with room for one
 * record and doubles at each request. The memory for rings into a rank is
 * limited to MEM records. What growth.pml shows of one pair (that nothing lands
 * in freed memory) is taken for granted here; what is looked at is who waits
 * for whom.
 *
 * Rules
 *   CHANNEL-8  A rank whose ring is full asks for a larger one, once per ring,
 *              and sends nothing to anybody until the answer has come.
 *   GROW-5     Serving a request is allocation and a reply that waits for
 *              nobody.
 *   CHANNEL-8  A waiting rank takes arrivals
 *   CHANNEL-8  ... and serves the requests of all others.
 *   GROW-5     A request that cannot be served because memory is short is
 *              answered with LATER, and kept. Its sender then holds what does
 *              not fit and goes on. The ring comes when there is memory for it.
 *   GROW-2     A pair has an old ring until the sender has the new one and the
 *              old one has been read. Before that it is not given a third.
 *
 * RENDEZVOUS is the synchronous protocol as it was published: the one that
 * serves a request meets the one that has asked, and both exchange sizes and
 * keys there; whoever has come first stays until the other comes. While a rank
 * waits for an answer it looks for requests and serves them, the request of the
 * rank that it waits for before all others. That suffices for two ranks, and
 * not for three: each waits at a meeting with the one behind it.
 *
 * Abstracted, and why that is sound
 *   - Puts, tails and completions: growth.pml. A record sent is in the ring.
 *   - A rank that has all its records out goes on taking and serving until all
 *     ranks are done, as the loop of the engine does.
 *   - Messages between two ranks stay in order, as control messages do.
 */

#ifndef NR
#define NR 3
#endif
#ifndef N
#define N 4
#endif
#ifndef MEM
#define MEM 12
#endif
#define NOBODY 255

#define PAIR(from, to) ((from) * NR + (to))
#define NEXT(r, k) (((r) + (k)) % NR)
#ifdef TWO_INTO_ONE
#define LINKED(from, to) ((from) != (to) && ((to) == 0 || (from) + (to) == 1))
#else
#define LINKED(from, to) ((to) == NEXT(from, 1))
#endif

mtype = { RING, LATER };

/* Per pair of ranks. */
byte left[NR * NR];             /* records to be sent */
byte fill[NR * NR];             /* records in the ring in use */
byte room[NR * NR];             /* its size */
byte old_fill[NR * NR], old_room[NR * NR]; /* of the ring before it */
bit  has_old[NR * NR];          /* a larger ring has been given */
bit  adopted[NR * NR];          /* and its sender knows it */
bit  asked[NR * NR];            /* a request was sent for the ring in use */
bit  awaited[NR * NR];          /* and it has not been answered */
bit  want[NR * NR];             /* receiver: a request that is not served */
bit  later[NR * NR];            /* and LATER was sent */
chan requests[NR * NR] = [1] of {bit};
chan answers[NR * NR] = [2] of {mtype};

byte memory[NR];                /* in rings into this rank */
byte n_waits[NR];               /* answers this rank waits for */
byte meets[NR];                 /* RENDEZVOUS: whom it waits for there */
byte unread;                    /* records not taken yet, anywhere */
bit  finished;

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte over_the_limit, third_ring, sent_while_waiting, reached_cycle,
            reached_later, reached_late_ring, reached_old;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_WAITING_TAKES_NOTHING
#define S3_TAKES(r) (n_waits[r] == 0)
#else
#define S3_TAKES(r) true
#endif
#ifdef MUTATE_WAITING_SERVES_NOBODY
#define S4_SERVES(r) (n_waits[r] == 0)
#else
#define S4_SERVES(r) true
#endif
#ifdef RENDEZVOUS
#define FREE(r) (meets[r] == NOBODY)
#define MAY_ASK(r) (n_waits[r] == 0)
/* Rank x, for which r waits, has asked r: before that nobody else is served. */
#define BEFORE(r, s, x) \
    ((x) != (s) && awaited[PAIR(r, x)] && len(requests[PAIR(x, r)]) > 0)
#define ITS_TURN(r, s) \
    (!BEFORE(r, s, NEXT(r, 1)) && !BEFORE(r, s, NEXT(r, NR - 1)))
#else
#define FREE(r) true
#define MAY_ASK(r) true /* in a batch that is under way */
#endif
#ifdef MUTATE_NO_LATER
#define S5_SAYS_LATER false
#else
#define S5_SAYS_LATER true
#endif

#define FITS(p, r) (memory[r] + 2 * room[p] <= MEM)

inline send(p)
{
    CHECK(n_waits[r] == 0, sent_while_waiting);
    left[p]--;
    fill[p]++
}

inline ask(p)
{
    asked[p] = 1;
    awaited[p] = 1;
    n_waits[r]++;
    requests[p]!1;
#ifdef REACH_CYCLE
    REACHED(n_waits[0] > 0 && n_waits[1] > 0 && n_waits[2] > 0
            && len(requests[PAIR(0, 1)]) > 0 && len(requests[PAIR(1, 2)]) > 0
            && len(requests[PAIR(2, 0)]) > 0, reached_cycle);
#endif
}

inline answered(p)
{
    if
    :: awaited[p] -> awaited[p] = 0; n_waits[r]--
    :: else
    fi
}

/* The sender has the new ring. */
inline adopt(p)
{
#ifdef REACH_LATE_RING
    REACHED(asked[p] && !awaited[p], reached_late_ring);
#endif
    answered(p);
    old_fill[p] = fill[p];
    old_room[p] = room[p];
    fill[p] = 0;
    room[p] = 2 * room[p];
    asked[p] = 0;
    adopted[p] = 1
}

/* GROW-5 */
inline give(p)
{
    CHECK(!has_old[p], third_ring);
    want[p] = 0;
    later[p] = 0;
    has_old[p] = 1;
    memory[r] = memory[r] + 2 * room[p];
    CHECK(memory[r] <= MEM, over_the_limit);
    answers[p]!RING
}

/* What a rank does towards rank s that it sends to. */
#define OUT(s) \
    :: atomic { \
           FREE(r) && LINKED(r, s) && n_waits[r] == 0 \
           && left[PAIR(r, s)] > 0 && fill[PAIR(r, s)] < room[PAIR(r, s)] -> \
           send(PAIR(r, s)) \
       } \
    :: atomic { /* CHANNEL-8 */ \
           FREE(r) && LINKED(r, s) && MAY_ASK(r) \
           && left[PAIR(r, s)] > 0 && fill[PAIR(r, s)] == room[PAIR(r, s)] \
           && !asked[PAIR(r, s)] -> \
           ask(PAIR(r, s)) \
       } \
    :: atomic { \
           FREE(r) && LINKED(r, s) && answers[PAIR(r, s)]?[RING] -> \
           answers[PAIR(r, s)]?RING; \
           adopt(PAIR(r, s)) \
       } \
    :: atomic { /* GROW-5 */ \
           FREE(r) && LINKED(r, s) && answers[PAIR(r, s)]?[LATER] -> \
           answers[PAIR(r, s)]?LATER; \
           answered(PAIR(r, s)) \
       }

/* What it does for rank s that sends to it. */
#define TAKE(s) \
    :: atomic { \
           FREE(r) && LINKED(s, r) && S3_TAKES(r) && fill[PAIR(s, r)] > 0 -> \
           fill[PAIR(s, r)]--; \
           unread-- \
       } \
    :: atomic { \
           FREE(r) && LINKED(s, r) && S3_TAKES(r) \
           && old_fill[PAIR(s, r)] > 0 -> \
           old_fill[PAIR(s, r)]--; \
           unread-- \
       } \
    :: atomic { /* GROW-2 */ \
           adopted[PAIR(s, r)] && old_fill[PAIR(s, r)] == 0 -> \
           memory[r] = memory[r] - old_room[PAIR(s, r)]; \
           old_room[PAIR(s, r)] = 0; \
           adopted[PAIR(s, r)] = 0; \
           has_old[PAIR(s, r)] = 0 \
       }

#ifndef RENDEZVOUS
#define SERVE(s) \
    :: atomic { \
           LINKED(s, r) && S4_SERVES(r) && requests[PAIR(s, r)]?[1] -> \
           requests[PAIR(s, r)]?1; \
           want[PAIR(s, r)] = 1; \
           reach_old(PAIR(s, r)) \
       } \
    :: atomic { \
           want[PAIR(s, r)] && !has_old[PAIR(s, r)] \
           && FITS(PAIR(s, r), r) -> \
           give(PAIR(s, r)) \
       } \
    :: atomic { /* GROW-5 */ \
           want[PAIR(s, r)] && !has_old[PAIR(s, r)] && !later[PAIR(s, r)] \
           && !FITS(PAIR(s, r), r) && S5_SAYS_LATER -> \
           later[PAIR(s, r)] = 1; \
           reach_later(); \
           answers[PAIR(s, r)]!LATER \
       }
#else
#define SERVE(s) \
    :: atomic { /* meets the one that has asked */ \
           FREE(r) && LINKED(s, r) && ITS_TURN(r, s) \
           && requests[PAIR(s, r)]?[1] -> \
           requests[PAIR(s, r)]?1; \
           meets[r] = s \
       } \
    :: atomic { /* is met by the one it has asked */ \
           FREE(r) && LINKED(r, s) && awaited[PAIR(r, s)] \
           && meets[s] == r -> \
           meets[r] = s \
       } \
    :: atomic { /* both are there: what was asked between them is done */ \
           meets[r] == s && meets[s] == r -> \
           meet(PAIR(r, s), r); \
           meet(PAIR(s, r), s); \
           meets[r] = NOBODY; \
           meets[s] = NOBODY \
       }
#endif

inline reach_old(p)
{
#ifdef REACH_OLD
    REACHED(has_old[p], reached_old);
#endif
    skip
}

inline reach_later()
{
#ifdef REACH_LATER
    REACHED(true, reached_later);
#endif
    skip
}

/* The published form copies what is in the ring; nothing is left behind. */
inline meet(p, from)
{
    if
    :: awaited[p] ->
       awaited[p] = 0;
       asked[p] = 0;
       n_waits[from]--;
       room[p] = 2 * room[p];
       if
       :: requests[p]?[1] -> requests[p]?1
       :: else
       fi
    :: else
    fi
}

proctype rank(byte r)
{
    do
    OUT(NEXT(r, 1))
    TAKE(NEXT(r, NR - 1))
    SERVE(NEXT(r, NR - 1))
#if NR == 3 && defined(TWO_INTO_ONE)
    OUT(NEXT(r, 2))
    TAKE(NEXT(r, 1))
#endif
#if NR == 3 && (defined(TWO_INTO_ONE) || defined(RENDEZVOUS))
    SERVE(NEXT(r, 1))
#endif
    :: atomic { unread == 0 -> finished = 1; break }
    od
}

init
{
    byte i, k;
    atomic {
        for (i : 0 .. NR - 1) {
            meets[i] = NOBODY;
            for (k : 0 .. NR - 1) {
                if
                :: LINKED(i, k) ->
                   left[PAIR(i, k)] = N;
                   unread = unread + N;
                   room[PAIR(i, k)] = 1;
                   memory[k]++
                :: else
                fi
            }
        }
        i = 0;
        k = 0;
        for (i : 0 .. NR - 1) {
            run rank(i)
        }
    }
}

#ifdef LIVE
ltl delivered { <> finished }
#endif
