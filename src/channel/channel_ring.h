/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings: the state that the files channel_ring*.c share.
 *
 * A ring has one sender and one receiver. It is in the receiver's memory:
 *
 *   ring region  [ head | tail (paper protocol) | ... ][ slot 0 ][ slot 1 ]...
 *   tail block   tails of 64 pairs side by side (fast protocol), twice: one
 *                word per pair for rings of even id, one for odd
 *
 * head counts records taken, tail records published; both only grow, from 0.
 * Only the receiver moves head, only the sender moves tail. The top bit of the
 * tail word is the parity of the sender's step.
 *
 *   RING-1  The sender writes slots [tail, head + capacity) alone.
 *   RING-2  The tail word is published after the slots before it (FABRIC-7, or
 *           delivered completions).
 *   RING-3  The receiver accepts a tail only if 0 < tail - head <= capacity and
 *           its parity is that of the receiver's step.
 *   RING-4  The receiver stores head (release) after it is done with the slots:
 *           until then they are its own, to read and to write (CHANNEL-4).
 *   RING-5  The head that the sender knows may be outdated, which is safe.
 *   PAPER-1 Paper protocol: the fetch-and-add that moves tail has returned
 *           before the sender's next get of head and tail is issued.
 *
 * Create, grow and shrink are one protocol; nothing is ever moved:
 *
 *   GROW-1  WANT(id): ring id is too small (0: there is none). At most one per
 *           id.
 *   GROW-2  RING(id + 1): as the answer, or on the receiver's own initiative,
 *           but only if the pair has no old ring. A WANT for another id than
 *           the newest is dropped; one that cannot be served yet is kept:
 *           until the old ring is free, until there is memory within the
 *           limit, or, if an allocation has failed, for a while. Requests are
 *           served in the order of their arrival. A first ring is given with
 *           RING_MIN_SLOTS if there is no memory for more; if there is not
 *           even that, the channel fails.
 *   GROW-3  On RING the sender fixes T, its tail in the old ring with what it
 *           has staged there, and uses the new one for all else. When every
 *           operation of its own on the old ring has completed it sends
 *           RETIRE(id, T). While a span is open, RING waits for reserve or
 *           publish; if there is no memory for the sender's end of the new
 *           ring, it is kept and tried again, and the old ring serves on.
 *   GROW-4  The receiver polls both rings and frees the old one exactly when
 *           RETIRE has arrived and head = T.
 *   GROW-5  Synchronous growth (CHANNEL-8): a WANT that memory is too short for
 *           is answered by LATER, once, and kept. Serving never waits.
 *   GROW-6  Trim replaces a ring by one of twice the max number of records that
 *           were in it at a time since the last trim, if that is a quarter of
 *           it or less; one that has carried nothing by the smallest.
 */
#ifndef STORM_CHANNEL_RING_H
#define STORM_CHANNEL_RING_H

#include <stdatomic.h>

#include "channel/channel_message.h"
#include "channel/channel_ops.h"
#include "fabric/fabric_ops.h"

enum {
    RING_HEAD_OFFSET = 0,
    RING_TAIL_OFFSET = 8,
    RING_SLOTS_OFFSET = 128,
    TAIL_BLOCK_PAIRS = 64,
    RING_MIN_SLOTS = 8,
    RING_BUSY = 2
};

#define RING_PARITY ((uint64_t)1 << 63)

/* Where the paper's Algorithm 1 stands between two calls. */
enum paper_phase { PAPER_REST, PAPER_LOOK, PAPER_PUT, PAPER_LAND, PAPER_ADD };

/* A fabric and what is in its memory. */
struct ring_route {
    struct storm_fabric *fabric;
    struct storm_region **tail_block;
    size_t n_tail_blocks, tail_block_capacity;
    size_t n_pairs;                   /* pairs whose tails are there */
    struct storm_region *waves;       /* written by the tree neighbours */
    struct storm_region *waves_local; /* staging for those sent */
};

/* The sender's end of one ring. */
struct out_ring {
    struct storm_fabric *fabric;
    uint32_t id;
    uint64_t capacity; /* a power of two */
    struct storm_remote *remote;
    struct storm_remote *tails;
    uint64_t tail_offset;
    /* Two words where gets land; behind them, unless slots are written
     * directly, a copy of the ring from which puts are made. */
    struct storm_region *local;
    unsigned char *slots; /* what spans point into */
    bool direct;

    uint64_t committed; /* records written into slots */
    uint64_t goal;      /* of them, to be published */
    uint64_t posted;    /* of them, put */
    uint64_t published; /* of them, in the tail word */
    uint64_t head;      /* RING-5 */
    bool looking;       /* a get of head is in flight */
    bool looked_full;   /* it was issued when no room was left */
    uint64_t looked;    /* `committed` when it was issued */

    /* Puts out of the lower and the upper half of the copy: a half is written
     * again only when its puts have completed (FABRIC-5). */
    struct storm_ticket half[2];
    struct storm_ticket word, look;

    uint64_t upto; /* end of the batch in flight */

    enum paper_phase phase;
    uint64_t tail_word; /* as this side last made it */
    uint64_t next_word; /* as it will be after the add in flight */
    uint64_t old_word;  /* as that add found it */
};

/* A rank this one sends to. */
struct out_peer {
    int rank;
    struct out_ring *ring; /* NULL: none yet */
    struct out_ring *old;  /* in retirement */
    struct out_ring *next; /* given, but a span is open in `ring` */
    bool span_open;
    bool in_waiting;
    bool failed;   /* and that is logged */
    int64_t asked; /* id of the ring a WANT was sent for; -1: none */
    bool awaited;  /* CHANNEL-8: and there is no answer yet */
    /* A RING for which there was no memory (GROW-3). */
    bool has_offer;
    struct storm_message offer;
};

/* The receiver's end of one ring. */
struct in_ring {
    struct storm_fabric *fabric;
    uint32_t id;
    uint64_t capacity;
    struct storm_region *region;
    unsigned char *slots;
    _Atomic uint64_t *head_word;
    const _Atomic uint64_t *tail_word;
    uint64_t head;
    uint64_t max_fill; /* records in it at a time, since the last trim */
    bool retired;      /* RETIRE has arrived */
    uint64_t last;     /* T, once retired */
};

/* A rank this one receives from. */
struct in_pair {
    int rank;
    struct ring_route *route;
    uint32_t place; /* among the tails there */
    struct in_ring *ring, *old;
    uint32_t newest;      /* id of the newest ring; 0: none yet */
    uint64_t want;        /* capacity asked for and not given yet; 0: nothing */
    uint64_t want_number; /* in the order of arrival */
    bool later_sent;      /* GROW-5 */
};

/* What take polls: one per ring, small and contiguous. */
struct in_slot {
    const _Atomic uint64_t *tail_word;
    uint64_t seen; /* value of the tail word without anything new */
    struct in_ring *ring;
    uint32_t pair;
};

/* One end of an edge of the tree. */
struct wave_link {
    int rank; /* -1: no such neighbour */
    struct ring_route *route;
    struct storm_remote *remote;
    uint64_t offset; /* of my messages in the neighbour's region */
    struct storm_ticket words, number;
    bool due;    /* number still to be put */
    bool failed; /* and that is logged */
    uint64_t due_number;
};

struct ring_channel {
    struct storm_channel channel;
    struct storm_channel_params params;
    /* The first reaches all ranks; the second, if any, those of this node, and
     * is used for them. */
    struct ring_route route[2];
    size_t n_routes;
    struct storm_memory *memory;
    uint64_t parity; /* RING_PARITY or 0 */
    bool gave_up;    /* and has reported it to its neighbours */

    int32_t *out_of_rank; /* per rank: number of the out_peer, or -1 */
    int32_t *in_of_rank;  /* per rank: number of the in_pair, or -1 */

    struct out_peer *out;
    size_t n_out, out_capacity;
    uint32_t *waiting; /* peers whose rings need more than one call */
    size_t n_waiting, waiting_capacity;
    size_t n_awaited; /* peers whose answer is awaited */

    struct in_pair *in;
    size_t n_in, in_capacity;
    struct in_slot *slot;
    size_t n_slots, slot_capacity;
    size_t next_slot;
    size_t n_wants;       /* pairs whose `want` is not zero */
    uint64_t want_number; /* of the last */

    /* What an allocation has failed for, wants and offers, is tried again. */
    bool short_of_memory;
    bool warned;             /* of it */
    double retry_s, pause_s; /* pause_s 0: nothing */

    struct wave_link link[STORM_N_LINKS];

    struct storm_channel_stats stats;
};

static inline struct ring_channel *ring_of(struct storm_channel *channel)
{
    return (struct ring_channel *)channel;
}

/* channel_ring.c */
void ring_give_up(struct storm_channel *channel);
struct ring_route *ring_route_to(struct ring_channel *c, int rank);
/* The number of `rank` in the fabric of that route. */
int ring_peer_at(const struct ring_channel *c, const struct ring_route *route,
                 int rank);

/* channel_ring_out.c: the sender */
storm_status ring_out_make(struct ring_channel *c, int rank,
                           const struct storm_message *message,
                           struct out_ring **ring_out);
void ring_out_free(struct ring_channel *c, struct out_ring *ring);
storm_status ring_out_peer(struct storm_channel *channel, int rank,
                           uint32_t *peer_out);
storm_status ring_out_reserve(struct storm_channel *channel, uint32_t peer,
                              struct storm_span *span_out);
void ring_out_commit(struct storm_channel *channel, uint32_t peer, size_t n);
storm_status ring_out_publish(struct storm_channel *channel, uint32_t peer);
/* Continues what waits. */
storm_status ring_out_progress(struct ring_channel *c);
/* Switches to the ring that was given, if no span is open. */
storm_status ring_out_adopt(struct ring_channel *c, uint32_t peer);

/* channel_ring_in.c: the receiver */
size_t ring_in_bytes(const struct ring_channel *c, uint64_t capacity);
storm_status ring_in_pair(struct ring_channel *c, int rank, uint32_t *pair_out);
storm_status ring_in_make(struct ring_channel *c, uint32_t pair,
                          uint64_t capacity, struct storm_message *message_out);
void ring_in_free(struct ring_channel *c, struct in_ring *ring);
storm_status ring_in_take(struct storm_channel *channel,
                          struct storm_arrival *arrival_out);
storm_status ring_in_release(struct storm_channel *channel,
                             const struct storm_arrival *arrival);

/* channel_ring_growth.c: the control messages between the two */
storm_status ring_growth_want(struct ring_channel *c, struct out_peer *peer);
storm_status ring_growth_retire(struct ring_channel *c, struct out_peer *peer);
storm_status ring_growth_free_old(struct ring_channel *c, uint32_t pair);
storm_status ring_growth_control(struct storm_channel *channel);
storm_status ring_growth_trim(struct storm_channel *channel);

/* channel_ring_waves.c */
storm_status ring_waves_open(struct ring_channel *c);
void ring_waves_close(struct ring_channel *c);
storm_status ring_waves_progress(struct ring_channel *c);
storm_status ring_waves_send(struct storm_channel *channel,
                             enum storm_link link,
                             const uint64_t words[STORM_WAVE_WORDS],
                             uint64_t number);
storm_status ring_waves_read(struct storm_channel *channel,
                             enum storm_link link,
                             uint64_t words_out[STORM_WAVE_WORDS],
                             uint64_t *number_out);

#endif /* STORM_CHANNEL_RING_H */
