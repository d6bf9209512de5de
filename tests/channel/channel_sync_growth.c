/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 2 3 5; label: tsan */
/* TEST ranks: 3; backend: shm networks; args: processes; timeout: 30 */
/*
 * CHANNEL-8, GROW-5: with synchronous growth a rank that has asked for room
 * waits, and every wait ends: in a cycle of ranks that have all asked
 * before one of them has served, and where there is no memory for what was
 * asked. In the second case the ring comes once there is memory.
 */
#include <stdlib.h>
#include <string.h>

#include "channel/channel_control.h"
#include "channel/channel_ring.h"
#include "support/chaos.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/processes.h"
#include "support/threads.h"

enum { RECORD = 32, SLOTS = 16, MANY = 200 };

/* What one rank has open. */
struct end {
    struct storm_channel *channel;
    const struct storm_boot *boot;
    uint32_t peer; /* whom it sends to */
    size_t n_taken;
};

struct plan {
    const struct storm_fabric_ops *fabric;
    struct control_hub *hub; /* NULL: MPI */
};

static storm_status progress(struct end *end)
{
    storm_status status = end->channel->ops->progress(end->channel);
    CHECK(status == STORM_OK || status == STORM_AGAIN);
    return status;
}

static void control(struct end *end)
{
    CHECK_OK(end->channel->ops->control(end->channel));
}

/* All ranks have come here. Nobody has served a request meanwhile. */
static void meet(struct end *end)
{
    uint64_t n = 0;
    while (end->boot->barrier_try(end->boot->self) == STORM_AGAIN) {
        (void)progress(end);
        (void)end->channel->ops->idle(end->channel, n++);
    }
}

/* The same, but everything that others want is served. */
static void meet_serving(struct end *end)
{
    uint64_t n = 0;
    while (end->boot->barrier_try(end->boot->self) == STORM_AGAIN) {
        (void)progress(end);
        control(end);
        (void)end->channel->ops->idle(end->channel, n++);
    }
}

static void take(struct end *end)
{
    struct storm_arrival arrival;
    while (end->channel->data->take(end->channel, &arrival) == STORM_OK) {
        end->n_taken += arrival.n;
        CHECK_OK(end->channel->data->release(end->channel, &arrival));
    }
}

/* Waits for a ring: CHANNEL-8. */
static void wait_for_answer(struct end *end)
{
    for (uint64_t n = 0; progress(end) == STORM_AGAIN; n++) {
        control(end);
        take(end);
        (void)end->channel->ops->idle(end->channel, n);
    }
}

/* Sends one record; false: no room. */
static bool send_one(struct end *end)
{
    const struct storm_channel_data_ops *data = end->channel->data;
    struct storm_span span;
    storm_status status = data->reserve(end->channel, end->peer, &span);
    CHECK(status == STORM_OK || status == STORM_AGAIN);
    if (status == STORM_OK) {
        memset(span.records, 1, RECORD);
        data->commit(end->channel, end->peer, 1);
    }
    CHECK_OK(data->publish(end->channel, end->peer));
    return status == STORM_OK;
}

/* Sends until the ring is full and a larger one has been asked for. */
static size_t fill(struct end *end)
{
    size_t n = 0;
    while (progress(end) == STORM_OK)
        n += send_one(end);
    return n;
}

/* A first ring to that rank, which takes an answer too. */
static void connect_to(struct end *end, int rank)
{
    CHECK_OK(end->channel->data->peer(end->channel, rank, &end->peer));
    CHECK(progress(end) == STORM_AGAIN);
    wait_for_answer(end);
}

/* One turn of a receiver. */
static void serve(struct end *end, uint64_t n_empty)
{
    (void)progress(end);
    control(end);
    take(end);
    (void)end->channel->ops->idle(end->channel, n_empty);
}

/* Every rank has asked the next one, and none has served: all wait. */
static void cycle(struct end *end)
{
    const struct storm_boot *boot = end->boot;
    connect_to(end, (boot->rank + 1) % boot->size);
    meet_serving(end);
    size_t n = fill(end);
    CHECK_EQ(n, SLOTS);
    meet(end);
    CHECK(progress(end) == STORM_AGAIN);
    meet(end);
    wait_for_answer(end);
    while (n < MANY) {
        n += send_one(end);
        wait_for_answer(end);
        control(end);
        take(end);
    }
    for (uint64_t k = 0; end->n_taken < MANY; k++)
        serve(end, k);
    meet_serving(end);
    CHECK_EQ(end->n_taken, MANY);
}

/* Ranks 1 and up send to 0, where rings of these sizes are all that fits. */
static size_t short_memory(int n_ranks)
{
    size_t slots = SLOTS + 2 * SLOTS + (size_t)(n_ranks - 2) * RING_MIN_SLOTS;
    return (size_t)n_ranks * RING_SLOTS_OFFSET + slots * RECORD;
}

static uint64_t growths(const struct end *end)
{
    struct storm_channel_stats stats;
    end->channel->ops->stats(end->channel, &stats);
    return stats.growths;
}

/* Rank 0 makes the rings smaller that have carried nothing. */
static void make_room(struct end *end)
{
    for (uint64_t n = 0; end->n_taken < SLOTS; n++)
        serve(end, n);
    CHECK_EQ(growths(end), 0);
    CHECK_OK(end->channel->ops->trim(end->channel));
    for (uint64_t n = 0; growths(end) == 0; n++)
        serve(end, n);
}

/* No memory for what rank 1 asks: it gets LATER, continues, and gets its ring
 * when there is some. */
static void later(struct end *end)
{
    int rank = end->boot->rank;
    if (rank > 0)
        connect_to(end, 0);
    meet_serving(end);
    if (rank == 1) {
        CHECK_EQ(fill(end), SLOTS);
        wait_for_answer(end);
    }
    meet_serving(end);
    if (rank == 0)
        make_room(end);
    meet_serving(end);
    size_t n = 0;
    while (rank == 1 && n < 2 * SLOTS) { /* without another wait */
        n += send_one(end);
        CHECK(progress(end) == STORM_OK);
        control(end);
    }
    meet_serving(end);
}

static void run_case(const struct plan *plan, const struct storm_env *env,
                     const struct storm_boot *boot, size_t cap,
                     void (*what)(struct end *))
{
    struct storm_control *control = NULL;
    if (plan->hub)
        control = control_hub_open(plan->hub, boot->rank);
    else
        CHECK_OK(storm_control_mpi_open(boot, env, &control));
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .control = control,
        .fabric = plan->fabric,
        .record_bytes = RECORD,
        .slots = SLOTS,
        .batch = SLOTS,
        .memory_cap = cap,
        .growth = 2,
        .sync_growth = true,
    };
    struct end end = {.boot = boot};
    CHECK_OK(storm_channel_ring.open(&params, &end.channel));
    CHECK_OK(end.channel->ops->begin_step(end.channel, 1));
    what(&end);
    end.channel->ops->close(end.channel);
    control->ops->close(control);
}

static void run_rank(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    check_where("a cycle, rank %d", boot->rank);
    run_case(self, env, boot, 0, cycle);
    if (boot->size < 3)
        return;
    check_where("no memory, rank %d", boot->rank);
    run_case(self, env, boot, short_memory(boot->size), later);
}

int main(int argc, char **argv)
{
    struct plan plan = {.fabric = chaos_inner()};
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        processes_begin();
        processes_run(run_rank, &plan);
        processes_end();
        return CHECK_PASS;
    }
    for (int i = 2; i < argc; i++) {
        int n = atoi(argv[i]);
        plan.hub = control_hub_make(n);
        threads_run(n, run_rank, &plan);
        control_hub_free(plan.hub);
    }
    return argc > 2 ? CHECK_PASS : CHECK_FAIL;
}
