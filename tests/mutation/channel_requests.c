/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST label: tsan */
/*
 * RING-4: slots that are lent are not room yet. GROW-2: a WANT for another ring
 * than the newest is dropped, and one that cannot be served yet is kept and
 * served later. One sender and one receiver in step with each other, so that
 * things happen in the order meant here; what was given shows in the memory of
 * the receiver's rings.
 */
#include <string.h>

#include "channel/channel_ops.h"
#include "channel/channel_ring.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/threads.h"

enum { RECORD = 32, SLOTS = 16, RECEIVER = 0, SENDER = 1 };

/* One end of the pair. */
struct end {
    struct storm_channel *channel;
    const struct storm_boot *boot;
    uint32_t peer; /* sender alone */
};

/* Both ends have come here. */
static void meet(struct end *end)
{
    uint64_t n = 0;
    while (end->boot->barrier_try(end->boot->self) == STORM_AGAIN)
        (void)end->channel->ops->idle(end->channel, n++);
}

static void control(struct end *end)
{
    CHECK_OK(end->channel->ops->control(end->channel));
}

/* Sends until the ring is full, which asks for a larger one. */
static void fill(struct end *end, size_t expected)
{
    const struct storm_channel_data_ops *data = end->channel->data;
    struct storm_span span;
    size_t n = 0;
    while (data->reserve(end->channel, end->peer, &span) == STORM_OK) {
        memset(span.records, 1, RECORD);
        data->commit(end->channel, end->peer, 1);
        n++;
    }
    CHECK_EQ(n, expected);
    CHECK_OK(data->publish(end->channel, end->peer));
}

static void take(struct end *end, size_t expected)
{
    struct storm_arrival arrival;
    size_t n = 0;
    while (end->channel->data->take(end->channel, &arrival) == STORM_OK) {
        n += arrival.n;
        CHECK_OK(end->channel->data->release(end->channel, &arrival));
    }
    CHECK_EQ(n, expected);
}

static uint64_t bytes(uint64_t slots)
{
    return RING_SLOTS_OFFSET + slots * RECORD;
}

static void check_rings(const struct end *end, uint64_t ring_bytes,
                        uint64_t growths)
{
    struct storm_channel_stats stats;
    end->channel->ops->stats(end->channel, &stats);
    CHECK_EQ(stats.ring_bytes, ring_bytes);
    CHECK_EQ(stats.growths, growths);
}

/* A first ring of SLOTS, full, and a request for twice as many in flight. */
static void begin(struct end *end)
{
    if (end->boot->rank == SENDER)
        CHECK_OK(end->channel->data->peer(end->channel, RECEIVER, &end->peer));
    meet(end);
    if (end->boot->rank == RECEIVER)
        control(end);
    meet(end);
    if (end->boot->rank == SENDER) {
        control(end);
        fill(end, SLOTS);
    }
    meet(end);
}

/* The sender finds no room while the receiver reads. */
static void lent_is_no_room(struct end *end)
{
    struct storm_arrival arrival;
    begin(end);
    if (end->boot->rank == RECEIVER) {
        CHECK_OK(end->channel->data->take(end->channel, &arrival));
        CHECK_EQ(arrival.n, SLOTS);
    }
    meet(end);
    if (end->boot->rank == SENDER)
        fill(end, 0);
    meet(end);
    if (end->boot->rank == RECEIVER)
        CHECK_OK(end->channel->data->release(end->channel, &arrival));
    meet(end);
    if (end->boot->rank == SENDER)
        fill(end, SLOTS);
    meet(end);
}

/* The receiver has shrunk the ring before it sees the request. */
static void outdated_is_dropped(struct end *end)
{
    begin(end);
    if (end->boot->rank == RECEIVER) {
        CHECK_OK(end->channel->ops->trim(end->channel));
        check_rings(end, bytes(SLOTS) + bytes(RING_MIN_SLOTS), 0);
        control(end);
    }
    meet(end);
    if (end->boot->rank == SENDER) {
        control(end);
        CHECK_OK(end->channel->ops->progress(end->channel));
    }
    meet(end);
    if (end->boot->rank == RECEIVER) {
        control(end);
        take(end, SLOTS);
        check_rings(end, bytes(RING_MIN_SLOTS), 0);
    }
    meet(end);
}

/* The second request comes while the first ring is not free yet. */
static void early_is_kept(struct end *end)
{
    begin(end);
    if (end->boot->rank == RECEIVER)
        control(end);
    meet(end);
    if (end->boot->rank == SENDER) {
        control(end);
        CHECK_OK(end->channel->ops->progress(end->channel));
        fill(end, 2 * SLOTS);
    }
    meet(end);
    if (end->boot->rank == RECEIVER) {
        control(end);
        check_rings(end, bytes(SLOTS) + bytes(2 * SLOTS), 1);
        take(end, 3 * SLOTS);
        check_rings(end, bytes(2 * SLOTS) + bytes(4 * SLOTS), 2);
    }
    meet(end);
    if (end->boot->rank == SENDER)
        control(end);
    meet(end);
}

static void run_rank(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    struct storm_control *control = control_hub_open(self, boot->rank);
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .control = control,
        .fabric = &storm_fabric_shm,
        .record_bytes = RECORD,
        .slots = SLOTS,
        .batch = SLOTS,
        .growth = 2,
    };
    void (*const cases[])(struct end *) = {lent_is_no_room, outdated_is_dropped,
                                           early_is_kept};
    for (int i = 0; i < 3; i++) {
        struct end end = {.boot = boot};
        check_where("case %d, rank %d", i, boot->rank);
        CHECK_OK(storm_channel_ring.open(&params, &end.channel));
        CHECK_OK(end.channel->ops->begin_step(end.channel, 1));
        cases[i](&end);
        end.channel->ops->close(end.channel);
    }
    control->ops->close(control);
}

int main(void)
{
    struct control_hub *hub = control_hub_make(2);
    threads_run(2, run_rank, hub);
    control_hub_free(hub);
    return CHECK_PASS;
}
