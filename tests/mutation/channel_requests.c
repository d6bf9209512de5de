/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST label: tsan */
/*
 * RING-4: slots that are lent are not room yet. GROW-2: a WANT for another ring
 * than the newest is dropped, and one that cannot be served yet is kept and
 * served later, also after a failed allocation, in the order of arrival.
 * FABRIC-15: what is tried again is not refused as an error. GROW-3: a ring is
 * adopted on publish, and kept if its sender has no memory for it. GROW-6:
 * trim. Sender and receiver in step with each other, so that things happen in
 * the order meant here; what was given shows in the memory of the receiver's
 * rings.
 */
#include <string.h>

#include "channel/channel_ops.h"
#include "channel/channel_ring.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/threads.h"

enum { RECORD = 32, SLOTS = 16, MANY_SLOTS = 256, RECEIVER = 0, SENDER = 1 };

/* One end of the pair. */
struct end {
    struct storm_channel *channel;
    const struct storm_boot *boot;
    uint32_t peer; /* sender alone */
};

/* How many allocations of so many bytes and more this rank is refused. */
static _Thread_local int n_refusals;
static _Thread_local size_t refused_bytes;
static _Thread_local int n_error_refusals; /* of them, to be logged as errors */

static storm_status refusing_alloc(struct storm_fabric *fabric, size_t n_bytes,
                                   struct storm_region **region_out)
{
    if (n_refusals > 0 && n_bytes >= refused_bytes) {
        n_refusals--;
        n_error_refusals += fabric->refusal_level == STORM_LOG_ERROR;
        return STORM_ERR_NOMEM;
    }
    return storm_fabric_shm.alloc(fabric, n_bytes, region_out);
}

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

/* Sends up to n records; how many? */
static size_t send(struct end *end, size_t n)
{
    const struct storm_channel_data_ops *data = end->channel->data;
    struct storm_span span;
    size_t sent = 0;
    while (sent < n &&
           data->reserve(end->channel, end->peer, &span) == STORM_OK) {
        memset(span.records, 1, RECORD);
        data->commit(end->channel, end->peer, 1);
        sent++;
    }
    CHECK_OK(data->publish(end->channel, end->peer));
    return sent;
}

/* Sends until the ring is full, which asks for a larger one. */
static void fill(struct end *end, size_t expected)
{
    CHECK_EQ(send(end, SIZE_MAX), expected);
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

/* A first ring from every other rank. */
static void connect(struct end *end)
{
    bool sends = end->boot->rank != RECEIVER;
    if (sends)
        CHECK_OK(end->channel->data->peer(end->channel, RECEIVER, &end->peer));
    meet(end);
    if (!sends)
        control(end);
    meet(end);
    if (sends)
        control(end);
    meet(end);
}

/* A first ring of SLOTS, full, and a request for twice as many in flight. */
static void begin(struct end *end)
{
    connect(end);
    if (end->boot->rank == SENDER)
        fill(end, SLOTS);
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

/* The sender takes the ring it was given, and fills it. */
static void adopt(struct end *end, uint64_t slots)
{
    if (end->boot->rank == SENDER) {
        control(end);
        CHECK_OK(end->channel->ops->progress(end->channel));
        fill(end, slots);
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
    adopt(end, 2 * SLOTS);
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

/* Calls control until n allocations have been refused and one has not. */
static void control_refused(struct end *end, int n)
{
    n_refusals = n;
    for (uint64_t k = 0; n_refusals > 0 || ring_of(end->channel)->pause_s > 0;
         k++) {
        control(end);
        (void)end->channel->ops->idle(end->channel, k);
    }
    CHECK_EQ(n_refusals, 0);
}

/* The receiver has no memory for the larger ring at first. */
static void refused_is_kept(struct end *end)
{
    begin(end);
    if (end->boot->rank == RECEIVER) {
        n_refusals = 1000;
        control(end);
        CHECK(n_refusals < 1000);
        check_rings(end, bytes(SLOTS), 0);
        control_refused(end, 3);
        check_rings(end, bytes(SLOTS) + bytes(2 * SLOTS), 1);
        CHECK_EQ(n_error_refusals, 0);
        CHECK(ring_of(end->channel)->warned);
    }
    meet(end);
    adopt(end, 2 * SLOTS);
}

/* The sender has none for its end of it: it continues with the old one. */
static void offer_is_kept(struct end *end)
{
    begin(end);
    if (end->boot->rank == RECEIVER)
        control(end);
    meet(end);
    if (end->boot->rank == SENDER) {
        const struct out_peer *peer = &ring_of(end->channel)->out[end->peer];
        n_refusals = 1;
        control(end);
        CHECK_EQ(n_refusals, 0);
        CHECK_EQ(peer->ring->capacity, SLOTS);
        control_refused(end, 2);
        CHECK_EQ(n_error_refusals, 0);
        CHECK_EQ(peer->ring->capacity, 2 * SLOTS);
        CHECK_OK(end->channel->ops->progress(end->channel));
    }
    meet(end);
    if (end->boot->rank == RECEIVER) {
        control(end);
        take(end, SLOTS);
        check_rings(end, bytes(2 * SLOTS), 1);
    }
    meet(end);
}

/* No memory for a large first ring: a small one. */
static void first_is_small(struct end *end)
{
    if (end->boot->rank == SENDER)
        CHECK_OK(end->channel->data->peer(end->channel, RECEIVER, &end->peer));
    meet(end);
    if (end->boot->rank == RECEIVER) {
        n_refusals = 1;
        refused_bytes = bytes(MANY_SLOTS);
        control(end);
        check_rings(end, bytes(RING_MIN_SLOTS), 0);
        CHECK_EQ(n_error_refusals, 0);
    }
    meet(end);
    if (end->boot->rank == SENDER) {
        control(end);
        fill(end, RING_MIN_SLOTS);
    }
    meet(end);
}

/* A ring comes while a span is open, and nothing is sent after that. */
static void adopted_on_publish(struct end *end)
{
    const struct storm_channel_data_ops *data = end->channel->data;
    struct storm_span span;
    connect(end);
    if (end->boot->rank == RECEIVER)
        CHECK_OK(end->channel->ops->trim(end->channel));
    meet(end);
    if (end->boot->rank == SENDER) {
        CHECK_OK(data->reserve(end->channel, end->peer, &span));
        memset(span.records, 1, RECORD);
        control(end);
        data->commit(end->channel, end->peer, 1);
        CHECK_OK(data->publish(end->channel, end->peer));
        CHECK_OK(end->channel->ops->progress(end->channel));
    }
    meet(end);
    if (end->boot->rank == RECEIVER) {
        control(end);
        take(end, 1);
        check_rings(end, bytes(RING_MIN_SLOTS), 0);
    }
    meet(end);
}

/* Sends n records, takes them, trims; rings of `slots` are then left. */
static void use_and_trim(struct end *end, size_t n, uint64_t slots)
{
    if (end->boot->rank == SENDER)
        CHECK_EQ(send(end, n), n);
    meet(end);
    if (end->boot->rank == RECEIVER) {
        take(end, n);
        CHECK_OK(end->channel->ops->trim(end->channel));
    }
    meet(end);
    if (end->boot->rank == SENDER) {
        control(end);
        CHECK_OK(end->channel->ops->progress(end->channel));
    }
    meet(end);
    if (end->boot->rank == RECEIVER) {
        control(end);
        check_rings(end, bytes(slots), 0);
    }
    meet(end);
}

static void trimmed_to_use(struct end *end)
{
    connect(end);
    use_and_trim(end, MANY_SLOTS / 4, MANY_SLOTS); /* in proper use */
    use_and_trim(end, MANY_SLOTS / 10, MANY_SLOTS / 4);
    use_and_trim(end, MANY_SLOTS / 10, MANY_SLOTS / 4);
    use_and_trim(end, 0, RING_MIN_SLOTS);
}

/* The capacity of the ring from that rank. */
static uint64_t slots_from(const struct end *end, int rank)
{
    const struct ring_channel *c = ring_of(end->channel);
    return c->in[c->in_of_rank[rank]].ring->capacity;
}

/* Ranks 1 and 2 have asked, 2 first; then there is memory for one. */
static void in_order_of_arrival(struct end *end)
{
    int rank = end->boot->rank;
    connect(end);
    for (int i = 2; i > 0; i--) {
        if (rank == i)
            fill(end, SLOTS);
        meet(end);
    }
    if (rank == RECEIVER) {
        n_refusals = 1;
        control(end);
        CHECK_EQ(n_refusals, 0);
        CHECK_EQ(slots_from(end, 1), SLOTS);
        control_refused(end, 0);
        CHECK_EQ(slots_from(end, 1), SLOTS);
        CHECK_EQ(slots_from(end, 2), 2 * SLOTS);
    }
    meet(end);
    if (rank == 2) {
        control(end);
        CHECK_OK(end->channel->ops->progress(end->channel));
    }
    meet(end);
}

/* The next channel must not take this one's messages for its own. */
static void drop_messages(struct end *end, struct storm_control *control)
{
    int rank;
    struct storm_message message;
    meet(end);
    while (control->ops->poll(control, &rank, &message) == STORM_OK)
        continue;
    meet(end);
}

/* What all cases of a number of ranks begin with. */
struct plan {
    void (*run)(struct end *);
    size_t slots, cap;
};

static void run_case(const struct plan *plan, struct storm_control *control,
                     const struct storm_env *env, const struct storm_boot *boot)
{
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .control = control,
        .fabric = &storm_fabric_shm,
        .record_bytes = RECORD,
        .slots = plan->slots,
        .batch = SLOTS,
        .memory_cap = plan->cap,
        .growth = 2,
    };
    struct storm_fabric_ops refusing = storm_fabric_shm;
    refusing.alloc = refusing_alloc;
    struct end end = {.boot = boot};
    CHECK_OK(storm_channel_ring.open(&params, &end.channel));
    struct storm_fabric *fabric = ring_of(end.channel)->route[0].fabric;
    fabric->ops = &refusing;
    n_refusals = 0;
    refused_bytes = 0;
    CHECK_OK(end.channel->ops->begin_step(end.channel, 1));
    plan->run(&end);
    drop_messages(&end, control);
    fabric->ops = &storm_fabric_shm;
    end.channel->ops->close(end.channel);
}

static void run_rank(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    const struct plan pair[] = {
        {lent_is_no_room, SLOTS, 0},    {outdated_is_dropped, SLOTS, 0},
        {early_is_kept, SLOTS, 0},      {refused_is_kept, SLOTS, 0},
        {offer_is_kept, SLOTS, 0},      {first_is_small, MANY_SLOTS, 0},
        {adopted_on_publish, SLOTS, 0}, {trimmed_to_use, MANY_SLOTS, 0},
    };
    const struct plan three = {in_order_of_arrival, SLOTS,
                               2 * bytes(SLOTS) + bytes(2 * SLOTS)};
    struct storm_control *control = control_hub_open(self, boot->rank);
    int n = boot->size == 2 ? sizeof pair / sizeof pair[0] : 1;
    for (int i = 0; i < n; i++) {
        check_where("case %d of %d, rank %d", i, n, boot->rank);
        run_case(boot->size == 2 ? &pair[i] : &three, control, env, boot);
    }
    control->ops->close(control);
}

int main(void)
{
    for (int n = 2; n <= 3; n++) {
        struct control_hub *hub = control_hub_make(n);
        threads_run(n, run_rank, hub);
        control_hub_free(hub);
    }
    return CHECK_PASS;
}
