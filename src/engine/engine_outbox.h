/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets to be sent: gathered per peer, published in batches, held back
 * while there is no room.
 *
 *   OUTBOX-1  A packet is copied once, straight into the channel's own memory.
 *   OUTBOX-2  What does not fit stays in its slot and is tried again; it delays
 *             nothing else. While a box holds packets it has no room.
 *   OUTBOX-3  A batch is published when it is full, or when the rank runs out
 *             of work. Its size follows the traffic unless the user fixed it.
 */
#ifndef STORM_ENGINE_OUTBOX_H
#define STORM_ENGINE_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/channel_ops.h"
#include "engine/engine_store.h"

struct storm_box {
    unsigned char *next; /* where the next packet goes, */
    size_t room;         /* and how many more until span_end looks */
    size_t lent;         /* room when the span was opened */
    bool span_open;
    bool span_far; /* see storm_span */
    int rank;
    uint32_t peer;
    size_t gathered; /* committed, not yet published */
    size_t batch;    /* publish at so many */
    uint32_t n_full; /* full batches since the last that was not */
    struct storm_list held;
    uint64_t sent;
};

struct storm_outbox {
    const struct storm_env *env;
    struct storm_channel *channel;
    struct storm_store *store;
    int32_t *box_of_rank; /* per rank: number of the box, or -1 */
    struct storm_box *box;
    size_t n_boxes, box_capacity;
    size_t batch_first; /* where batches start, */
    size_t batch_max;   /* and their maximum */
    bool adaptive;      /* they do grow and shrink */
    size_t n_held;      /* packets held back */
};

storm_status storm_outbox_open(struct storm_outbox *outbox,
                               const struct storm_env *env,
                               struct storm_channel *channel,
                               struct storm_store *store);
void storm_outbox_close(struct storm_outbox *outbox);

/* Prepares the route to a rank. */
storm_status storm_outbox_expect(struct storm_outbox *outbox, int rank,
                                 uint32_t *box_out);

/* Takes the packet over; its slot is freed when it has been copied. */
storm_status storm_outbox_send(struct storm_outbox *outbox, int rank,
                               void *packet);

/*
 * Copies packets out, from wherever they are, as long as that is all there is
 * to do: the span to a packet's rank is open and this does not fill it. How
 * many; the next one is for storm_outbox_send. What is held back has had its
 * turn then: there is no room while something is (OUTBOX-2).
 */
size_t storm_outbox_copy(struct storm_outbox *outbox, const int32_t *rank,
                         void *const *packet, size_t n);

/* Tries again with what is held back. */
storm_status storm_outbox_retry(struct storm_outbox *outbox);

/* Publishes all that is gathered. */
storm_status storm_outbox_flush(struct storm_outbox *outbox);

#endif /* STORM_ENGINE_OUTBOX_H */
