/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * growth.pml - creating, growing and shrinking a ring, under traffic.
 *
 * Modelled: one sender, one receiver; rings 1..MAXID one after the other, the
 * first one created lazily; the control messages WANT, RING and RETIRE; the
 * tail words, two per pair, by parity of the ring's id; data puts, tail puts
 * and gets in flight that land at any later time that the fabric allows; a
 * receiver that replaces a ring by a small one on its own initiative whenever
 * it may (not with NO_OWN_INITIATIVE), at most MAXID rings in all. The sender
 * has N records, the receiver must get each of them once. Protocol FAST of
 * ring.pml; fabrics ORDERED and DELIVERED as there (define one).
 *
 * Rules
 *   GROW-1  WANT(id, capacity): at most one per id. Meanwhile the sender goes
 *           on with the ring it has.
 *   GROW-2  RING(id + 1, capacity): the answer, or the receiver's own
 *           initiative. Sent only if the pair has no old ring left.
 *   GROW-2  A WANT whose id is not the newest is dropped. One that cannot be
 *           served now is kept.
 *   GROW-2  The tail word of a new ring is zeroed before RING is sent.
 *   GROW-3  On RING the sender fixes T and issues no more data to the old ring.
 *           T covers all data that has been issued to it; if some of that is
 *           not published yet, its tail still is.
 *   GROW-3  RETIRE(id, T) is sent when the sender's gets on the old ring have
 *           returned.
 *   GROW-3  What a get returns belongs to the ring it was issued for.
 *   GROW-4  The receiver takes from both rings, and frees the old one when
 *           RETIRE has arrived and head = T.
 *
 * Abstracted, and why that is sound
 *   - RETIRE waits for gets alone. Waiting for the completion of puts as well
 *     (the code does) only removes behaviour; the model shows that it is not
 *     what keeps puts out of freed memory: head = T is.
 *   - A batch is several puts of one record with one tail. A record is taken
 *     and head moved in one step; ring.pml looks into that.
 *   - WANT and RETIRE may overtake each other. RINGs stay in order: there are
 *     never two under way.
 *   - Memory beyond the limit is the receiver taking its time. With FAILS an
 *     allocation fails, too, up to FAILS times at either end: that of a first
 *     ring is repeated for a small one, which does not fail (if it does, the run
 *     ends with an error, which is not modelled).
 *   - After the last ring no WANT is served, and that ring carries what is
 *     left: this keeps the model finite.
 *   - PAPER's fetch-and-add is a tail put for which the sender waits: fewer
 *     behaviours than here.
 */

#ifndef N
#define N 5     /* records */
#endif
#ifndef MAXID
#define MAXID 4 /* rings, 3 or 4 */
#endif
#define SMALL 1 /* capacity of a ring made on the receiver's own initiative */
#define LARGE 2 /* capacity of a ring that was asked for */
#define NONE 255

#define PAR(id) ((id) % 2)
#define AT(p, k) ((p) * LARGE + (k)) /* slot k of the ring with parity p */
#define ON(id, k) (((id) - 1) * LARGE + (k)) /* on its way to ring id */

#ifdef ORDERED
#define LANDERS 1
#else
#define LANDERS 2
#endif

/* The receiver's memory, by parity of the ring's id. */
byte live[2];         /* id of the ring that lives here, 0: freed */
byte cap[2];
byte head[2];
byte tailw[2];
byte slot[2 * LARGE]; /* record number, 0: never written */

/* The network. */
byte data[MAXID * LARGE]; /* record on its way, 0: none */
chan tails = [N] of {byte, byte, byte}; /* ring, tail, last data before it */
byte n_tails[2];          /* tail puts that have not landed */
bit  get_out[2], get_back[2];
byte get_id[2], get_head[2];

/* Control messages. */
chan want = [MAXID] of {byte};         /* id */
chan ring = [2] of {byte, byte, byte}; /* id, capacity, first tail */
chan retire = [2] of {byte, byte};     /* id, T */

/* The sender. */
byte next = 1;   /* next record to put */
byte s_id;       /* ring in use, 0: none yet */
byte s_cap, s_tail, s_pub, s_head;
byte s_wanted = NONE; /* last id for which WANT was sent */
byte o_id;       /* old ring with something left to do, 0: none */
byte o_cap, o_T, o_pub, o_head;
bit  o_retired;  /* RETIRE has been sent */

/* The receiver. */
byte r_new, r_old; /* ids, 0: none */
bit  r_want;     /* a WANT for the newest ring waits */
bit  r_retired;  /* RETIRE for the old ring has arrived ... */
byte r_T;        /* ... with this T */
#ifdef FAILS
byte r_fails, s_fails; /* allocations refused so far */
bit  r_owes;     /* a WANT for the newest ring has come: GROW-2 */
#endif
bit  got[N + 1];
byte n_got;
bit  finished;

/* Always 0: they only give a failing assertion a name (see cases.txt). */
hidden byte put_into_freed, tail_into_freed, get_from_freed, torn_record,
            garbage_record, double_record, double_write, third_ring,
            reached_grow, reached_cross, reached_keep, reached_late,
            reached_both, reached_reuse, reached_late_get, reached_offer,
            want_forgotten;
#define CHECK(cond, name) assert((cond) || name)
#define REACHED(cond, name) assert(!(cond) || name)

#define FLIES(i, u) (data[i] != 0 && data[i] <= (u))
#define FLY(id, u) (FLIES(ON(id, 0), u) || FLIES(ON(id, 1), u))
#if MAXID == 4
#define EARLIER(u) (FLY(1, u) || FLY(2, u) || FLY(3, u) || FLY(4, u))
#else
#define EARLIER(u) (FLY(1, u) || FLY(2, u) || FLY(3, u))
#endif

#define CREDIT (s_cap - (s_tail - s_head))

/* May the tail after record number k of a ring be issued (RING-2)? */
#ifdef ORDERED
#define MAY_PUBLISH(id, c, k) true
#else
#define MAY_PUBLISH(id, c, k) \
    (data[ON(id, (k) % (c))] == 0 && n_tails[PAR(id)] == 0)
#endif

/* The rules that are conditions. Each mutation voids one. */
#ifdef MUTATE_THIRD_RING
#define G2_NO_OLD true
#else
#define G2_NO_OLD (r_old == 0)
#endif
#ifdef MUTATE_RETIRE_BEFORE_GETS
#define G6_NO_GETS true
#else
#define G6_NO_GETS (!get_out[PAR(o_id)] && !get_back[PAR(o_id)])
#endif
#ifdef MUTATE_STALE_GET
#define G7_SAME_RING true
#else
#define G7_SAME_RING (get_id[p] == s_id)
#endif
#if defined(MUTATE_FREE_BEFORE_RETIRE)
#define G8_FREE (head[PAR(r_old)] == tailw[PAR(r_old)]) /* looks empty */
#elif defined(MUTATE_FREE_BEFORE_T)
#define G8_FREE (r_retired)
#else
#define G8_FREE (r_retired && head[PAR(r_old)] == r_T)
#endif

/* Data lands. */
#define LAND(id, k) \
    :: atomic { \
           data[ON(id, k)] != 0 -> \
           CHECK(live[PAR(id)] == id, put_into_freed); \
           slot[AT(PAR(id), k)] = data[ON(id, k)]; \
           data[ON(id, k)] = 0 \
       }

active proctype net_data()
{
end:do
    LAND(1, 0) LAND(1, 1) LAND(2, 0) LAND(2, 1) LAND(3, 0) LAND(3, 1)
#if MAXID == 4
    LAND(4, 0) LAND(4, 1)
#endif
    od
}

active [LANDERS] proctype net_tail()
{
    byte id, t, before;

end:do
    :: tails?id, t, before;
       atomic {
#ifdef ORDERED
           !EARLIER(before) ->
#endif
           CHECK(live[PAR(id)] == id, tail_into_freed);
           tailw[PAR(id)] = t;
           n_tails[PAR(id)]--;
           id = 0;
           t = 0;
           before = 0
       }
    od
}

active [2] proctype net_get()
{
    byte p = _pid - 1 - LANDERS;

end:do
    :: atomic {
           get_out[p] ->
           CHECK(live[p] == get_id[p], get_from_freed);
           get_head[p] = head[p];
           get_out[p] = 0;
           get_back[p] = 1
       }
    od
}

/* The sender's gets: read head again when credit runs out. */
active [2] proctype s_get()
{
    byte p = _pid - 3 - LANDERS;

    do
    :: finished -> break
    :: atomic {
           (s_id != 0 && PAR(s_id) == p && CREDIT == 0 && next <= N
            && !get_out[p] && !get_back[p]) ->
           get_id[p] = s_id;
           get_out[p] = 1
       }
    :: atomic {
           get_back[p] ->
#ifdef REACH_LATE_GET
           REACHED(get_id[p] != s_id, reached_late_get);
#endif
           if
           :: G7_SAME_RING -> s_head = get_head[p]
           :: else
           fi;
           get_back[p] = 0;
           get_head[p] = 0;
           get_id[p] = 0
       }
    od
}

inline put(id, c, k)
{
    CHECK(data[ON(id, (k) % (c))] == 0, double_write);
    data[ON(id, (k) % (c))] = next;
    next++
}

/* Nothing is left to do for the old ring. */
inline forget_old()
{
    if
    :: o_retired && o_pub >= o_T ->
       o_id = 0;
       o_cap = 0;
       o_T = 0;
       o_pub = 0;
       o_head = 0;
       o_retired = 0
    :: else
    fi
}

active proctype sender()
{
    byte id, c, t;

    do
    :: finished -> break
    :: atomic { /* a record */
           s_id != 0 && next <= N && CREDIT > 0 ->
           put(s_id, s_cap, s_tail);
           s_tail++
       }
    :: atomic { /* the tail */
           s_id != 0 && s_pub < s_tail && MAY_PUBLISH(s_id, s_cap, s_pub) ->
           s_pub++;
           do
           :: s_pub < s_tail && MAY_PUBLISH(s_id, s_cap, s_pub) -> s_pub++
           :: break
           od;
           n_tails[PAR(s_id)]++;
           tails!s_id, s_pub, next - 1
       }
    :: atomic { /* GROW-1 */
           next <= N && (s_id == 0 || CREDIT == 0) && s_wanted != s_id ->
           s_wanted = s_id;
           want!s_id
       }
    :: atomic { /* GROW-3 */
           o_id == 0 && nempty(ring) ->
           ring?id, c, t;
#ifndef MUTATE_COPY
           o_id = s_id;
           o_cap = s_cap;
           o_T = s_tail;
           o_pub = s_pub;
#ifdef MUTATE_ISSUE_AFTER_RING
           o_head = s_head;
#endif
#ifdef MUTATE_T_UNPUBLISHED
           next = next - (s_tail - s_pub); /* put them into the new ring */
           o_T = s_pub;
#endif
#endif
           s_id = id;
           s_cap = c;
           s_tail = t;
           s_pub = t;
           s_head = 0;
           id = 0;
           c = 0;
           t = 0
       }
#ifdef FAILS
    :: atomic { /* GROW-3: no memory for its end; RING is kept */
           o_id == 0 && s_id != 0 && nempty(ring) && s_fails < FAILS ->
           s_fails++;
#ifdef REACH_OFFER
           REACHED(s_pub < s_tail, reached_offer);
#endif
#ifdef MUTATE_OFFER_LOST
           ring?id, c, t;
           id = 0;
           c = 0
#endif
       }
#endif
    :: atomic { /* GROW-3: what was put is published */
           o_id != 0 && o_pub < o_T && MAY_PUBLISH(o_id, o_cap, o_pub) ->
           o_pub++;
           do
           :: o_pub < o_T && MAY_PUBLISH(o_id, o_cap, o_pub) -> o_pub++
           :: break
           od;
           n_tails[PAR(o_id)]++;
           tails!o_id, o_pub, next - 1;
           forget_old()
       }
#ifdef MUTATE_ISSUE_AFTER_RING
    :: atomic { /* against GROW-3: one more record into the old ring */
           (o_id != 0 && !o_retired && o_pub == o_T && next <= N
            && o_T - o_head < o_cap) ->
           put(o_id, o_cap, o_T);
           o_pub++;
           n_tails[PAR(o_id)]++;
           tails!o_id, o_pub, next - 1
       }
#endif
    :: atomic { /* GROW-3 */
           o_id != 0 && !o_retired && G6_NO_GETS ->
           retire!o_id, o_T;
           o_retired = 1;
           forget_old()
       }
    od
}

/* The receiver creates ring r_new + 1 and sends RING. */
inline make_ring(c)
{
    CHECK(live[PAR(r_new + 1)] == 0, third_ring);
#ifndef MUTATE_COPY
    r_old = r_new;
#endif
    r_new++;
    live[PAR(r_new)] = r_new;
    cap[PAR(r_new)] = c;
    head[PAR(r_new)] = 0;
#ifndef MUTATE_NO_ZERO
    tailw[PAR(r_new)] = 0; /* GROW-2 */
#endif
    r_want = 0;
#ifdef FAILS
    r_owes = 0;
#endif
#ifdef MUTATE_COPY
    copy_and_release();
    ring!r_new, c, tailw[PAR(r_new)]
#else
    ring!r_new, c, 0
#endif
}

/* The paper's growth: unread records move to the new ring, the old one goes. */
inline copy_and_release()
{
    do
    :: r_new > 1 && head[PAR(r_new - 1)] < tailw[PAR(r_new - 1)] ->
       slot[AT(PAR(r_new), tailw[PAR(r_new)])] =
           slot[AT(PAR(r_new - 1), head[PAR(r_new - 1)] % cap[PAR(r_new - 1)])];
       tailw[PAR(r_new)]++;
       head[PAR(r_new - 1)]++
    :: else -> break
    od;
    live[PAR(r_new - 1)] = 0
}

inline free_old()
{
    live[PAR(r_old)] = 0;
    cap[PAR(r_old)] = 0;
    head[PAR(r_old)] = 0;
    slot[AT(PAR(r_old), 0)] = 0;
    slot[AT(PAR(r_old), 1)] = 0;
    r_old = 0;
    r_retired = 0;
    r_T = 0
}

#define ARRIVED(p) \
    (0 < tailw[p] - head[p] && tailw[p] - head[p] <= cap[p])

inline take(p)
{
#ifdef REACH_BOTH
    REACHED(r_old != 0 && ARRIVED(0) && ARRIVED(1), reached_both);
#endif
#ifdef REACH_REUSE
    REACHED(live[p] > 2 && tailw[p] == LARGE, reached_reuse);
#endif
    i = AT(p, head[p] % cap[p]);
    CHECK(data[ON(live[p], head[p] % cap[p])] == 0, torn_record);
    CHECK(slot[i] != 0, garbage_record);
    CHECK(!got[slot[i]], double_record);
    got[slot[i]] = 1;
    n_got++;
    head[p]++;
    i = 0
}

active proctype receiver()
{
    byte i, id, t;

    do
    :: atomic { r_new != 0 && ARRIVED(PAR(r_new)) -> take(PAR(r_new)) }
    :: atomic { r_old != 0 && ARRIVED(PAR(r_old)) -> take(PAR(r_old)) }
    :: atomic { /* GROW-2 */
           want?id ->
#ifdef REACH_CROSS
           REACHED(id != r_new, reached_cross);
#endif
#ifdef REACH_KEEP
           REACHED(id == r_new && r_old != 0, reached_keep);
#endif
           if
           :: id == r_new ->
              r_want = 1;
#ifdef FAILS
              r_owes = 1
#endif
           :: else
           fi;
#ifdef MUTATE_WANT_LOST
           if
           :: r_want = 0 /* against GROW-2: no memory now, so drop it */
           :: skip
           fi;
#endif
           id = 0
       }
    :: atomic {
           r_want && r_new < MAXID && G2_NO_OLD ->
#ifdef REACH_GROW
           REACHED(r_new > 0 && cap[PAR(r_new)] < LARGE
                   && ARRIVED(PAR(r_new)), reached_grow);
#endif
           make_ring(LARGE)
       }
#ifdef FAILS
    :: atomic { /* GROW-2: no memory; the WANT is kept */
           (r_want && 0 < r_new && r_new < MAXID && G2_NO_OLD
            && r_fails < FAILS) ->
           r_fails++;
#ifdef MUTATE_REFUSED_LOST
           r_want = 0
#endif
       }
    :: atomic { /* a first ring */
           r_want && r_new == 0 && r_fails < FAILS ->
           r_fails++;
           make_ring(SMALL)
       }
#endif
#ifndef NO_OWN_INITIATIVE
    :: atomic { r_new < MAXID && G2_NO_OLD -> make_ring(SMALL) }
#endif
    :: atomic {
           retire?id, t ->
#ifdef REACH_LATE
           REACHED(tailw[PAR(id)] != t, reached_late);
#endif
           if
           :: id == r_old -> r_retired = 1; r_T = t
           :: else
           fi;
           id = 0;
           t = 0
       }
    :: atomic { r_old != 0 && G8_FREE -> free_old() }
    :: atomic {
           n_got == N && r_old == 0 && empty(ring) ->
#ifdef FAILS
           CHECK(r_want == r_owes, want_forgotten);
#endif
           finished = 1;
           break
       }
    od
}

#ifdef LIVE
ltl delivered { <> finished }
#endif
