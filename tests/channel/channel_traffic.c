/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 100; label: tsan */
/* TEST ranks: 3; args: processes; timeout: 100 */
/*
 * CHANNEL-1, CHANNEL-3, CHANNEL-4, CHANNEL-5: every record to every rank
 * arrives exactly once and whole, in the step it was published in, over rings
 * of both protocols on every fabric, plain and under chaos, and over messages;
 * while rings grow from almost nothing, shrink in mid-traffic and their sizes
 * are capped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/channel_control.h"
#include "channel/channel_ops.h"
#include "support/chaos.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/dice.h"
#include "support/processes.h"
#include "support/threads.h"

enum { WORDS = 10, N_STEPS = 5, MAX_RANKS = 8 };

struct record {
    uint64_t word[WORDS];
};

/* One case: what carries the records. */
struct traffic {
    const struct storm_channel_ops *ops;
    const struct storm_fabric_ops *fabric;
    bool paper;
    size_t slots, batch, cap;
    uint64_t n; /* records from each rank, per step */
    struct control_hub *hub;
};

/* Where record k of `rank` in `step` goes. */
static int where(uint64_t step, int rank, uint64_t k, int size)
{
    struct dice dice = dice_make(step << 32 | (uint64_t)rank, k);
    return (int)dice_roll(&dice, (uint64_t)size);
}

static void write_record(struct record *record, uint64_t step, int rank,
                         uint64_t k)
{
    record->word[0] = step;
    record->word[1] = (uint64_t)rank;
    record->word[2] = k;
    for (int i = 3; i < WORDS; i++)
        record->word[i] = dice_mix(step * 1000003 + k * 64 + (uint64_t)i);
}

/* What this rank waits for in one step. */
struct ledger {
    unsigned char *seen[MAX_RANKS];
    uint64_t missing;
};

static void expect_step(struct ledger *ledger, const struct traffic *t,
                        uint64_t step, int rank, int size)
{
    ledger->missing = 0;
    for (int from = 0; from < size; from++) {
        memset(ledger->seen[from], 0, t->n);
        for (uint64_t k = 0; k < t->n; k++)
            ledger->missing += where(step, from, k, size) == rank;
    }
}

static void check_record(struct ledger *ledger, const struct record *record,
                         const struct storm_arrival *arrival, uint64_t step)
{
    struct record expected;
    write_record(&expected, step, arrival->rank, record->word[2]);
    CHECK_EQ(record->word[0], step); /* CHANNEL-5 */
    CHECK(memcmp(record, &expected, sizeof expected) == 0);
    unsigned char *seen = &ledger->seen[arrival->rank][record->word[2]];
    CHECK_EQ(*seen, 0);
    *seen = 1;
    ledger->missing--;
}

static void take_all(struct storm_channel *channel, struct ledger *ledger,
                     uint64_t step, struct dice *dice)
{
    struct storm_arrival arrival;
    storm_status status;
    while ((status = channel->data->take(channel, &arrival)) == STORM_OK) {
        /* Not always all of it: the rest must come again. */
        if (arrival.n > 1 && dice_roll(dice, 4) == 0)
            arrival.n = 1 + dice_roll(dice, arrival.n);
        for (size_t i = 0; i < arrival.n; i++) {
            struct record record;
            memcpy(&record, arrival.records + i * sizeof record, sizeof record);
            check_record(ledger, &record, &arrival, step);
        }
        CHECK_OK(channel->data->release(channel, &arrival));
        if (dice_roll(dice, 3) == 0)
            return;
    }
    CHECK(status == STORM_AGAIN);
}

/* Sends record k if there is room. */
static bool send_one(struct storm_channel *channel, uint64_t step, int rank,
                     uint64_t k, int size, struct dice *dice)
{
    uint32_t peer;
    CHECK_OK(channel->data->peer(channel, where(step, rank, k, size), &peer));
    struct storm_span span;
    storm_status status = channel->data->reserve(channel, peer, &span);
    if (status == STORM_OK) {
        struct record record;
        write_record(&record, step, rank, k);
        memcpy(span.records, &record, sizeof record);
        /* A ring may be given while the span is open. */
        if (dice_roll(dice, 16) == 0)
            CHECK_OK(channel->ops->control(channel));
        channel->data->commit(channel, peer, 1);
    }
    CHECK(status == STORM_OK || status == STORM_AGAIN);
    if (status == STORM_AGAIN || dice_roll(dice, 5) == 0)
        CHECK_OK(channel->data->publish(channel, peer));
    return status == STORM_OK;
}

static void flush(struct storm_channel *channel, int size)
{
    for (int to = 0; to < size; to++) {
        uint32_t peer;
        CHECK_OK(channel->data->peer(channel, to, &peer));
        CHECK_OK(channel->data->publish(channel, peer));
    }
}

/* One step: send everything, take everything, wait for all ranks. */
static void run_step(struct storm_channel *channel, const struct traffic *t,
                     const struct storm_boot *boot, struct ledger *ledger,
                     uint64_t step)
{
    struct dice dice = dice_make(step, (uint64_t)boot->rank);
    expect_step(ledger, t, step, boot->rank, boot->size);
    CHECK_OK(channel->ops->begin_step(channel, step));
    uint64_t k = 0, n_empty = 0;
    while (k < t->n || ledger->missing > 0) {
        uint64_t before = k + ledger->missing;
        for (int burst = 0; burst < 40 && k < t->n; burst++)
            if (send_one(channel, step, boot->rank, k, boot->size, &dice))
                k++;
            else
                break;
        if (k == t->n)
            flush(channel, boot->size);
        CHECK_OK(channel->ops->progress(channel));
        if (dice_roll(&dice, 8) == 0 || k == t->n)
            CHECK_OK(channel->ops->control(channel));
        take_all(channel, ledger, step, &dice);
        if (dice_roll(&dice, 256) == 0)
            CHECK_OK(channel->ops->trim(channel));
        n_empty = before == k + ledger->missing ? n_empty + 1 : 0;
        if (n_empty > 0)
            (void)channel->ops->idle(channel, n_empty);
    }
    /* The caller's promise of CHANNEL-5: all ranks have everything. */
    n_empty = 0;
    while (boot->barrier_try(boot->self) == STORM_AGAIN) {
        CHECK_OK(channel->ops->progress(channel));
        CHECK_OK(channel->ops->control(channel));
        (void)channel->ops->idle(channel, n_empty++);
    }
}

static void traffic_rank(void *self, const struct storm_env *env,
                         const struct storm_boot *boot)
{
    struct traffic *t = self;
    struct storm_control *control = NULL;
    if (t->hub)
        control = control_hub_open(t->hub, boot->rank);
    else
        CHECK_OK(storm_control_mpi_open(boot, env, &control));
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .control = control,
        .fabric = t->fabric,
        .record_bytes = sizeof(struct record),
        .paper = t->paper,
        .slots = t->slots,
        .batch = t->batch,
        .memory_cap = t->cap,
        .growth = 2,
    };
    struct storm_channel *channel;
    storm_status status = t->ops->open(&params, &channel);
    if (status == STORM_ERR_NOSUP) { /* order, around what has none */
        control->ops->close(control);
        return;
    }
    CHECK_OK(status);
    struct ledger ledger = {0};
    for (int i = 0; i < boot->size; i++)
        CHECK(ledger.seen[i] = malloc(t->n + 1));
    for (uint64_t step = 1; step <= N_STEPS; step++)
        run_step(channel, t, boot, &ledger, step);
    struct storm_channel_stats stats;
    channel->ops->stats(channel, &stats);
    if (boot->rank == 0)
        printf("%s %s%s slots %zu batch %zu cap %zu: %llu batches, %llu "
               "growths, %llu bytes at most\n",
               t->ops->name, t->fabric ? t->fabric->name : "",
               t->paper ? " paper" : "", t->slots, t->batch, t->cap,
               (unsigned long long)stats.batches,
               (unsigned long long)stats.growths,
               (unsigned long long)stats.ring_bytes_peak);
    for (int i = 0; i < boot->size; i++)
        free(ledger.seen[i]);
    channel->ops->close(channel);
    control->ops->close(control);
}

static void run_case(struct traffic t, int n_threads)
{
    check_where("%s %s paper %d slots %zu", t.ops->name,
                t.fabric ? t.fabric->name : "", t.paper, t.slots);
    if (n_threads > 0) {
        t.hub = control_hub_make(n_threads);
        threads_run(n_threads, traffic_rank, &t);
        control_hub_free(t.hub);
    } else {
        processes_run(traffic_rank, &t);
    }
}

static void run_all(int n_threads)
{
    const struct storm_fabric_ops *fabrics[] = {chaos_inner(), &chaos_any,
                                                &chaos_any_ordered};
    for (int i = 0; i < 3; i++)
        for (int paper = 0; paper < 2; paper++) {
            uint64_t n = (i == 0 ? 10000 : 1000) / check_slowdown();
            struct traffic t = {.ops = &storm_channel_ring,
                                .fabric = fabrics[i],
                                .paper = paper,
                                .slots = 1,
                                .batch = 64,
                                .n = n};
            run_case(t, n_threads);
            t.slots = 256;
            t.cap = 64 * 1024;
            run_case(t, n_threads);
        }
    struct traffic t = {
        .ops = &storm_channel_p2p, .slots = 16, .batch = 8, .n = 5000};
    if (n_threads == 0) {
        run_case(t, 0);
        t.batch = 1000;
        run_case(t, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        processes_begin();
        run_all(0);
        processes_end();
        return CHECK_PASS;
    }
    for (int i = 2; i < argc; i++)
        run_all(atoi(argv[i]));
    return argc > 2 ? CHECK_PASS : CHECK_FAIL;
}
