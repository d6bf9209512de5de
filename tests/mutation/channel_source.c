/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST label: tsan */
/*
 * FABRIC-5: the memory a put is made from is left alone until the put has
 * completed, even if its records were taken at the other end long before. A
 * fabric that delivers at once and completes late detects it, in both
 * protocols.
 */
#include <string.h>

#include "channel/channel_ops.h"
#include "fabric/fabric_ops.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/threads.h"

enum { RECORD = 32, N_RECORDS = 2000, LATE_POLLS = 50, MAX_PUTS = 64 };
enum { MAX_BYTES = 4096 };

/* A put that has landed and not completed. */
struct late_put {
    struct storm_ticket *ticket;
    const unsigned char *source;
    size_t bytes;
    uint64_t due;
    unsigned char was[MAX_BYTES];
};

/* The one rank of this test. */
static struct late {
    const struct storm_fabric_data_ops *inner;
    struct storm_fabric_data_ops data;
    struct late_put put[MAX_PUTS]; /* a queue */
    uint64_t n_put, n_completed, now;
} late;

static storm_status late_put(const struct storm_transfer *t)
{
    if (late.n_put - late.n_completed == MAX_PUTS)
        return STORM_AGAIN;
    storm_status status = late.inner->put(t);
    struct late_put *put = &late.put[late.n_put++ % MAX_PUTS];
    put->ticket = t->ticket;
    put->source = (unsigned char *)t->local->base + t->local_offset;
    put->bytes = t->bytes;
    put->due = late.now + LATE_POLLS;
    CHECK(t->bytes <= MAX_BYTES);
    memcpy(put->was, put->source, t->bytes);
    t->ticket->pending++;
    return status;
}

static storm_status late_poll(struct storm_fabric *fabric)
{
    late.now++;
    while (late.n_completed < late.n_put) {
        struct late_put *put = &late.put[late.n_completed % MAX_PUTS];
        if (put->due > late.now)
            break;
        CHECK(memcmp(put->was, put->source, put->bytes) == 0);
        put->ticket->pending--;
        late.n_completed++;
    }
    return late.inner->poll(fabric);
}

static storm_status late_open(const struct storm_env *env,
                              const struct storm_boot *boot,
                              struct storm_fabric **fabric_out)
{
    storm_status status = storm_fabric_shm.open(env, boot, fabric_out);
    if (status < 0)
        return status;
    late.inner = (*fabric_out)->data;
    late.data = *late.inner;
    late.data.put = late_put;
    late.data.poll = late_poll;
    (*fabric_out)->data = &late.data;
    (*fabric_out)->caps.direct = false;
    return STORM_OK;
}

static void send_some(struct storm_channel *channel, uint32_t peer,
                      uint64_t *n_sent)
{
    struct storm_span span;
    storm_status status = STORM_OK;
    while (*n_sent < N_RECORDS &&
           (status = channel->data->reserve(channel, peer, &span)) ==
               STORM_OK) {
        memset(span.records, (int)(*n_sent % 251), RECORD);
        channel->data->commit(channel, peer, 1);
        ++*n_sent;
    }
    CHECK(status >= 0);
    CHECK_OK(channel->data->publish(channel, peer));
}

static void take_all(struct storm_channel *channel, uint64_t *n_taken)
{
    struct storm_arrival arrival;
    while (channel->data->take(channel, &arrival) == STORM_OK) {
        for (size_t i = 0; i < arrival.n; i++)
            CHECK_EQ(arrival.records[i * RECORD], (*n_taken + i) % 251);
        *n_taken += arrival.n;
        CHECK_OK(channel->data->release(channel, &arrival));
    }
}

/* One rank sends to itself through a ring that may not grow. */
static void run_rank(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    const bool *paper = self;
    struct storm_fabric_ops ops = storm_fabric_shm;
    ops.open = late_open;
    struct control_hub *hub = control_hub_make(1);
    struct storm_control *control = control_hub_open(hub, 0);
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .control = control,
        .fabric = &ops,
        .record_bytes = RECORD,
        .paper = *paper,
        .slots = 8,
        .batch = 8,
        .memory_cap = 1,
        .growth = 2,
    };
    struct storm_channel *channel;
    uint32_t peer;
    check_where("%s protocol", *paper ? "paper" : "fast");
    CHECK_OK(storm_channel_ring.open(&params, &channel));
    CHECK_OK(channel->ops->begin_step(channel, 1));
    CHECK_OK(channel->data->peer(channel, 0, &peer));
    for (uint64_t n_sent = 0, n_taken = 0; n_taken < N_RECORDS;) {
        send_some(channel, peer, &n_sent);
        CHECK_OK(channel->ops->progress(channel));
        CHECK_OK(channel->ops->control(channel));
        take_all(channel, &n_taken);
    }
    channel->ops->close(channel);
    control->ops->close(control);
    control_hub_free(hub);
}

int main(void)
{
    bool paper = false;
    threads_run(1, run_rank, &paper);
    paper = true;
    threads_run(1, run_rank, &paper);
    return CHECK_PASS;
}
