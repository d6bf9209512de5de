/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.pml - one ring: one sender, one receiver, no locks.
 *
 * Modelled: the receiver's slots, head and tail; the sender under both
 * protocols; the network as operations in flight, each of which lands at any
 * later time that the fabric's ordering allows. Records are numbered 1..N and
 * go several times around CAP slots.
 *
 * Protocol (define one)
 *   FAST   the sender caches head and publishes by an 8-byte put of tail
 *   PAPER  get [head, tail]; put; publish by fetch-and-add, old value checked
 *
 * Fabric (define one)
 *   ORDERED    an 8-byte put (or atomic) lands only after all earlier puts of
 *              the sender, to any address. Nothing else is ordered: data puts
 *              land in any order, and may overtake earlier tail puts.
 *   DELIVERED  nothing is ordered; the sender learns of delivery.
 *
 * Rules
 *   RING-1   A record is put only into a slot that is free by the head the
 *            sender knows. That head may be old: this is safe.
 *   RING-2   Data goes before the tail. ORDERED: it is issued before.
 *            DELIVERED: its delivery has been reported before the tail is
 *            issued.
 *   RING-2   DELIVERED: one tail put in flight per ring.
 *   PAPER-1  PAPER: the fetch-and-add has returned before the next get is
 *            issued.
 *   RING-3   The receiver loads tail before it reads the slots (acquire), and
 *            accepts it only if 0 < tail - head <= CAP.
 *   RING-4   The receiver stores head after it is done with the slots
 *            (release). Until then it changes records where they lie, and
 *            reads them again (CHANNEL-4).
 *   RING-5   The sender reads head again when its credit runs out.
 *
 * Abstracted, and why that is sound
 *   - A put of n slots is n writes that land on their own, in any order; real
 *     puts have at most that freedom. So the second put of a batch that wraps
 *     around needs no text of its own. A slot lands in one piece, but the
 *     receiver asserts that no write to the slot it reads is still in flight,
 *     so a torn record is caught as well.
 *   - Counters never overflow (64 bits in the code).
 *   - s_put, s_publish and s_get are one thread in the code. As processes of
 *     their own they have more interleavings, and fairness becomes simple.
 *   - A put carries a copy made when it is issued: the source buffer belongs
 *     to the fabric until completion, which is a line of the fabric contract.
 */

#ifndef CAP
#define CAP 3 /* 2 or 3, see EARLIER */
#endif
#ifndef N
#define N 10
#endif
#define SLOT(k) (((k) - 1) % CAP) /* where record k goes */

#ifdef ORDERED
#define LANDERS 1 /* tails land one after the other */
#else
#define LANDERS 2 /* tails in flight overtake each other */
#endif

/* The receiver's memory. */
byte slot[CAP];
byte head;
byte tail;

/* The network. */
byte data[CAP];                     /* record on its way to a slot, 0: none */
chan tails = [CAP] of {byte, byte}; /* tail (PAPER: increment), and the last
                                       record put before it */
byte n_tails;                       /* tail puts that have not landed */
bit  get_out;                       /* a get has been issued */
bit  get_back;                      /* its answer has reached the sender */
byte get_head, get_tail;

/* The sender. */
byte issued;    /* records put */
byte published; /* FAST: last tail issued */
byte seen_head; /* head as the sender knows it */
bit  fadd_back; /* PAPER: the fetch-and-add has returned ... */
byte fadd_old;  /* ... this */

/* The receiver. */
byte taken;     /* records read from their slots */

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte torn_record, wrong_record, overwritten_slot, double_write,
            wrong_old, changed_slot,
            reached_wrap, reached_full, reached_end, reached_overtake,
            reached_pipeline;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

/* Is a record up to u still in flight? */
#define FLIES(i, u) (data[i] != 0 && data[i] <= (u))
#if CAP == 3
#define EARLIER(u) (FLIES(0, u) || FLIES(1, u) || FLIES(2, u))
#else
#define EARLIER(u) (FLIES(0, u) || FLIES(1, u))
#endif

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_NO_CREDIT
#define CREDIT CAP /* against RING-1 */
#else
#define CREDIT (CAP - (issued - seen_head))
#endif
#if defined(ORDERED) || defined(MUTATE_NO_DELIVERY_WAIT)
#define R2_LANDED(k) true
#else
#define R2_LANDED(k) (!FLIES(SLOT(k), k))
#endif
#if defined(ORDERED) || defined(MUTATE_TWO_TAILS)
#define R3_ALONE true
#else
#define R3_ALONE (n_tails == 0)
#endif
#define ADVANCED(k) (N + (k)) /* record k, as the receiver leaves it */
#ifdef MUTATE_HEAD_EARLY
#define MAY_STOP (taken == t)
#else
#define MAY_STOP (taken > head) /* it may stop anywhere */
#endif

/* Data lands: each write in flight at any time. One process per slot. */
active [CAP] proctype net_data()
{
    byte i = _pid;

end:do
    :: atomic {
           data[i] != 0 ->
#ifdef REACH_OVERTAKE
           REACHED(data[i] > CAP && FLIES(SLOT(data[i] - 1), data[i] - 1),
                   reached_overtake);
#endif
           CHECK(data[i] <= taken + CAP, overwritten_slot);
           slot[i] = data[i];
           data[i] = 0
       }
    od
}

/* The tail lands. */
active [LANDERS] proctype net_tail()
{
    byte t, before;

end:do
    :: tails?t, before;
       atomic {
#ifdef ORDERED
           !EARLIER(before) ->
#endif
#ifdef PAPER
           fadd_old = tail;
           fadd_back = 1;
           tail = tail + t;
#else
           tail = t;
#endif
           n_tails--;
           t = 0;
           before = 0
       }
    od
}

/* A get reads head and tail, each at its own time, in either order. */
active proctype net_get()
{
end:do
    :: get_out ->
#ifdef FAST
       get_head = head;
#else
       if
       :: get_head = head; get_tail = tail
       :: get_tail = tail; get_head = head
       fi;
#endif
       atomic { get_out = 0; get_back = 1 }
    od
}

/* How many records go into the next batch: anything that fits. */
inline choose_batch(n)
{
    select(n : 1 .. CAP);
    if
    :: n <= CREDIT && issued + n <= N
    :: else -> n = 1
    fi
}

inline put(n)
{
#ifdef REACH_WRAP
    REACHED(issued > CAP && SLOT(issued + n) < SLOT(issued + 1), reached_wrap);
#endif
    do
    :: n > 0 ->
        issued++;
        CHECK(data[SLOT(issued)] == 0, double_write);
        data[SLOT(issued)] = issued;
        n--
    :: else -> break
    od
}

inline publish(t, before)
{
    n_tails++;
#ifdef REACH_PIPELINE
    REACHED(n_tails == CAP, reached_pipeline);
#endif
    tails!t, before
}

#ifdef FAST

active proctype s_put()
{
    byte n;

    do
    :: issued == N -> break
    :: atomic {
           issued < N && CREDIT > 0 -> /* RING-1 */
           choose_batch(n);
#ifdef MUTATE_TAIL_FIRST
           publish(issued + n, issued); /* against RING-2 */
           published = issued + n
       }
       atomic {
#endif
           put(n)
       }
    od
}

active proctype s_publish()
{
    byte k;

    do
    :: published == N -> break
    :: atomic {
           published < issued && R2_LANDED(published + 1) && R3_ALONE ->
           k = published + 1;
           do
           :: k < issued && R2_LANDED(k + 1) -> k++
           :: break
           od;
           publish(k, issued);
           published = k;
           k = 0
       }
    od
}

#ifndef MUTATE_NO_REREAD
active proctype s_get()
{
    do
    :: issued == N && !get_out && !get_back -> break
    :: atomic {
           issued < N && CREDIT < CAP && !get_out && !get_back -> /* RING-5 */
           get_out = 1
       }
    :: atomic {
           get_back ->
           get_back = 0;
           seen_head = get_head;
           get_head = 0
       }
    od
}
#endif

#endif /* FAST */

#ifdef PAPER

active proctype sender()
{
    byte n, k;

    do
    :: issued == N -> break
    :: else ->
       get_out = 1;
       atomic {
           get_back ->
           get_back = 0;
           seen_head = get_head;
           issued = get_tail;
           get_head = 0;
           get_tail = 0;
           if
           :: issued < N && CREDIT > 0 -> choose_batch(n) /* RING-1 */
           :: else
           fi;
           k = n
       }
       if
       :: n == 0
       :: n > 0 ->
#ifdef MUTATE_TAIL_FIRST
          atomic { publish(k, issued) } /* against RING-2 */
#endif
          atomic { put(n) }
#if defined(DELIVERED) && !defined(MUTATE_NO_DELIVERY_WAIT)
          !EARLIER(issued); /* RING-2 */
#endif
#ifndef MUTATE_TAIL_FIRST
          atomic { publish(k, issued) }
#endif
#ifndef MUTATE_FADD_NOT_AWAITED
          atomic {
              fadd_back -> /* PAPER-1 */
              CHECK(fadd_old == issued - k, wrong_old)
          }
#endif
          atomic { fadd_back = 0; fadd_old = 0; k = 0 }
       fi
    od
}

#endif /* PAPER */

active proctype receiver()
{
    byte t, from;
#ifdef MUTATE_NO_ACQUIRE
    byte early[CAP];
#define READ(k) early[SLOT(k)]
#else
#define READ(k) slot[SLOT(k)]
#endif

    do
    :: taken == N -> break
    :: taken < N ->
#ifdef MUTATE_NO_ACQUIRE
       atomic { /* against RING-3 */
           t = 0;
           do
           :: t < CAP -> early[t] = slot[t]; t++
           :: else -> break
           od
       }
#endif
       atomic { 0 < tail - head && tail - head <= CAP -> t = tail } /* RING-3 */
#ifdef REACH_FULL
       REACHED(head > 0 && t - head == CAP, reached_full);
#endif
       from = head;
#ifdef MUTATE_HEAD_EARLY
       head = t; /* against RING-4 */
#endif
       do
       :: taken < t ->
          atomic {
              CHECK(!FLIES(SLOT(taken + 1), N), torn_record);
              CHECK(READ(taken + 1) == taken + 1, wrong_record);
              slot[SLOT(taken + 1)] = ADVANCED(taken + 1);
              taken++
          }
       :: MAY_STOP -> break
       od;
#ifdef MUTATE_HEAD_BEFORE_DONE
       head = taken; /* against RING-4 */
#endif
#ifndef MUTATE_HEAD_EARLY
       atomic {
           do
           :: from < taken ->
               CHECK(slot[SLOT(from + 1)] == ADVANCED(from + 1), changed_slot);
               from++
           :: else -> break
           od
       }
       head = taken; /* RING-4 */
#endif
       atomic { t = 0; from = 0 }
    od;
#ifdef REACH_END
    REACHED(true, reached_end)
#endif
}

#ifdef LIVE
ltl delivered { <> (taken == N) }
#endif
