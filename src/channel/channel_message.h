/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages: their format, and what sends and receives them. */
#ifndef STORM_CHANNEL_MESSAGE_H
#define STORM_CHANNEL_MESSAGE_H

#include <stdint.h>

#include <storm/status.h>

#include "fabric/fabric_ops.h"

enum storm_message_kind {
    STORM_MESSAGE_WAVES = 1, /* where my wave messages land: to tree neighbours,
                                at open */
    STORM_MESSAGE_WANT = 2,  /* sender to receiver: ring `id` is too small */
    STORM_MESSAGE_RING = 3,  /* receiver to sender: ring `id` is ready */
    STORM_MESSAGE_RETIRE = 4, /* sender to receiver: done with ring `id` at T */
    STORM_MESSAGE_FAIL = 5,   /* my fabric has failed: stop, and pass it on */
    STORM_MESSAGE_LATER = 6,  /* receiver to sender: no memory now for a ring
                                 after `id`; do not wait for it */
    STORM_MESSAGE_REPORT = 7  /* a line for the log of rank 0: CONTROL-5 */
};

/* Of a line, with its end. */
enum { STORM_REPORT_BYTES = 384 };

struct storm_message {
    uint32_t kind;
    uint32_t id;       /* of the ring; WANT: of the newest the sender has */
    uint64_t capacity; /* WANT: wanted, RING: given; in records */
    uint64_t last;     /* RETIRE: T, the sender's final tail */
    uint64_t tail_offset;
    struct storm_region_desc ring, tails;
    char text[STORM_REPORT_BYTES]; /* last: sent with REPORT alone */
};

struct storm_tree; /* channel_ops.h */

struct storm_control {
    const struct storm_control_ops *ops;
};

struct storm_control_ops {
    storm_status (*send)(struct storm_control *control, int rank,
                         const struct storm_message *message);
    /* STORM_AGAIN: nothing there. */
    storm_status (*poll)(struct storm_control *control, int *rank_out,
                         struct storm_message *message_out);
    /* CONTROL-5. STORM_AGAIN: call again, unless this rank polls soon. */
    storm_status (*report)(struct storm_control *control, const char *text);
    void (*close)(struct storm_control *control);
};

/* Sends FAIL to the neighbours in the tree. */
void storm_control_fail(struct storm_control *control,
                        const struct storm_tree *tree);

#endif /* STORM_CHANNEL_MESSAGE_H */
