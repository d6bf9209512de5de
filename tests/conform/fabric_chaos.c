/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20; label: tsan */
/*
 * The chaos fabric works: code that relies on more than the contract is
 * found out. Each mistake is made many times; at least once it must show, and
 * the correct code for the same never fails.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/chaos.h"
#include "support/conform.h"
#include "support/threads.h"

enum { N_TRIALS = 400, N_BYTES = 256, WORD_AT = 0, DATA_AT = 64 };

/* One rank with a region that it reaches through the fabric. */
struct bench {
    struct conform *c;
    struct conform_share share;
    struct storm_remote *self;
    struct storm_region *local;
    struct storm_ticket put, word;
    uint64_t number; /* of the trial */
};

static void start_put(struct bench *b, bool delivered)
{
    struct storm_transfer put = {.remote = b->self,
                                 .remote_offset = DATA_AT,
                                 .local = b->local,
                                 .bytes = N_BYTES,
                                 .delivered = delivered,
                                 .ticket = &b->put};
    conform_fill(b->c->seed, b->number, b->local->base, N_BYTES);
    conform_put(b->c, &put);
}

static bool data_there(const struct bench *b)
{
    unsigned char want[N_BYTES];
    conform_fill(b->c->seed, b->number, want, N_BYTES);
    return memcmp((unsigned char *)b->share.region->base + DATA_AT, want,
                  N_BYTES) == 0;
}

static uint64_t word_there(const struct bench *b)
{
    return atomic_load_explicit(conform_word(b->share.region, WORD_AT),
                                memory_order_acquire);
}

/* Polls until the word is there and everything under way has ended. */
static void wait_for_word(struct bench *b)
{
    for (uint64_t n = 0; word_there(b) != b->number; n++)
        conform_poll(b->c, n);
}

static void finish(struct bench *b)
{
    conform_wait(b->c, &b->put);
    conform_wait(b->c, &b->word);
    for (int i = 0; i < 500; i++) /* more than anything is held back */
        conform_poll(b->c, 0);
}

/* ---- one trial of each, true: went well -----------------------------------*/

static bool reuse_at_once(struct bench *b)
{
    start_put(b, true);
    bool fast = b->put.pending == 0;
    memset(b->local->base, 0xff, N_BYTES);
    finish(b);
    return fast || data_there(b);
}

static bool reuse_when_complete(struct bench *b)
{
    start_put(b, b->number % 2 == 0);
    conform_wait(b->c, &b->put);
    memset(b->local->base, 0xff, N_BYTES);
    finish(b);
    return data_there(b);
}

static bool complete_is_landed(struct bench *b)
{
    start_put(b, false);
    conform_wait(b->c, &b->put);
    return data_there(b);
}

static bool delivered_is_landed(struct bench *b)
{
    start_put(b, true);
    conform_wait(b->c, &b->put);
    return data_there(b);
}

static bool word_at_once(struct bench *b)
{
    start_put(b, false);
    conform_put_word(b->c, b->self, WORD_AT, b->number, &b->word);
    wait_for_word(b);
    return data_there(b);
}

static bool word_when_complete(struct bench *b)
{
    start_put(b, false);
    conform_wait(b->c, &b->put);
    conform_put_word(b->c, b->self, WORD_AT, b->number, &b->word);
    wait_for_word(b);
    return data_there(b);
}

static bool word_when_delivered(struct bench *b)
{
    start_put(b, true);
    conform_wait(b->c, &b->put);
    conform_put_word(b->c, b->self, WORD_AT, b->number, &b->word);
    wait_for_word(b);
    return data_there(b);
}

/* FABRIC-7 is about put_word alone. */
static bool add_at_once(struct bench *b)
{
    uint64_t old;
    struct storm_atomic add = {.remote = b->self,
                               .operand = b->number - word_there(b),
                               .old_out = &old,
                               .ticket = &b->word};
    start_put(b, false);
    conform_fetch_add(b->c, &add);
    wait_for_word(b);
    return data_there(b);
}

static bool two_words_at_once(struct bench *b)
{
    conform_put_word(b->c, b->self, WORD_AT, b->number - 1, &b->word);
    conform_put_word(b->c, b->self, WORD_AT, b->number, &b->word);
    finish(b);
    return word_there(b) == b->number;
}

static bool two_words_in_turn(struct bench *b)
{
    conform_put_word(b->c, b->self, WORD_AT, b->number - 1, &b->word);
    conform_wait(b->c, &b->word);
    conform_put_word(b->c, b->self, WORD_AT, b->number, &b->word);
    finish(b);
    return word_there(b) == b->number;
}

static bool get(struct bench *b, bool wait)
{
    struct storm_transfer get = {.remote = b->self,
                                 .remote_offset = DATA_AT,
                                 .local = b->local,
                                 .bytes = N_BYTES,
                                 .ticket = &b->word};
    conform_fill(b->c->seed, b->number,
                 (unsigned char *)b->share.region->base + DATA_AT, N_BYTES);
    conform_get(b->c, &get);
    if (wait)
        conform_wait(b->c, &b->word);
    return memcmp(b->local->base,
                  (unsigned char *)b->share.region->base + DATA_AT,
                  N_BYTES) == 0;
}

static bool get_at_once(struct bench *b)
{
    return get(b, false);
}

static bool get_when_complete(struct bench *b)
{
    return get(b, true);
}

static bool accepted_without_poll(struct bench *b)
{
    storm_status status;
    for (int i = 0; i < 100; i++) {
        status = b->c->data->put_word(b->self, WORD_AT, 1, &b->word);
        if (status == STORM_OK)
            return true;
    }
    CHECK_EQ(status, STORM_AGAIN);
    return false;
}

/* ---- all of them ----------------------------------------------------------*/

struct habit {
    const char *name;
    bool (*trial)(struct bench *b);
    bool good_unordered, good_ordered;
};

static const struct habit habits[] = {
    {"reuse at once", reuse_at_once, false, false},
    {"reuse when complete", reuse_when_complete, true, true},
    {"complete is landed", complete_is_landed, false, false},
    {"delivered is landed", delivered_is_landed, true, true},
    {"word at once", word_at_once, false, true},
    {"word when complete", word_when_complete, false, true},
    {"word when delivered", word_when_delivered, true, true},
    {"add at once", add_at_once, false, false},
    {"two words at once", two_words_at_once, false, true},
    {"two words in turn", two_words_in_turn, true, true},
    {"get at once", get_at_once, false, false},
    {"get when complete", get_when_complete, true, true},
    {"accepted without poll", accepted_without_poll, false, false},
};

static void try_habits(struct conform *c)
{
    struct bench b = {.c = c};
    conform_share_open(c, DATA_AT + N_BYTES, &b.share);
    b.self = b.share.remote[c->rank];
    b.local = conform_alloc(c, N_BYTES);
    for (size_t k = 0; k < sizeof habits / sizeof habits[0]; k++) {
        const struct habit *h = &habits[k];
        bool good =
            c->fabric->caps.ordered ? h->good_ordered : h->good_unordered;
        int n_bad = 0;
        for (int i = 0; i < N_TRIALS; i++) {
            b.number += 2;
            n_bad += !h->trial(&b);
            finish(&b);
        }
        printf("%-9s %-22s went wrong %3d of %d times\n",
               c->fabric->caps.ordered ? "ordered" : "unordered", h->name,
               n_bad, N_TRIALS);
        CHECK(good == (n_bad == 0));
    }
    conform_release(c, b.local);
    conform_share_close(c, &b.share);
}

/* A peer that does not poll holds up at least some of many operations. */
static void sleeping_target(struct conform *c)
{
    struct conform_share share;
    struct storm_ticket ticket = {0};
    int lowest;
    conform_share_open(c, 8, &share);
    if (c->rank == 0) {
        for (int i = 0; i < 32; i++)
            conform_put_word(c, share.remote[1], 0, 1, &ticket);
        for (int i = 0; i < 1000; i++)
            conform_poll(c, 0);
        CHECK(ticket.pending > 0);
    }
    CHECK_OK(c->boot->minimum(c->boot->self, 0, &lowest));
    conform_wait(c, &ticket);
    conform_fence(c);
    conform_share_close(c, &share);
}

/* Everything chaos does, as one number. */
static uint64_t trace(struct conform *c)
{
    struct conform_share share;
    struct storm_ticket ticket = {0};
    uint64_t hash = 0;
    conform_share_open(c, 8, &share);
    for (int i = 0; i < 1000; i++) {
        storm_status status =
            c->data->put_word(share.remote[0], 0, (uint64_t)i, &ticket);
        conform_poll(c, 0);
        hash = dice_mix(hash + (uint64_t)status);
        hash = dice_mix(hash + ticket.pending);
        hash = dice_mix(hash + atomic_load(conform_word(share.region, 0)));
    }
    conform_wait(c, &ticket);
    conform_share_close(c, &share);
    return hash;
}

struct rank_job {
    struct chaos_params params;
    void (*run)(struct conform *c); /* NULL: trace */
    uint64_t trace;
};

static void run_job(void *self, const struct storm_env *env,
                    const struct storm_boot *boot)
{
    struct rank_job *job = self;
    struct storm_fabric *fabric;
    CHECK_OK(chaos_open(&storm_fabric_shm, &job->params, env, boot, &fabric));
    struct conform c = {.fabric = fabric,
                        .data = fabric->data,
                        .boot = boot,
                        .rank = boot->rank,
                        .size = boot->size,
                        .seed = job->params.seed,
                        .chaos = true};
    check_where("seed %llu, rank %d", (unsigned long long)job->params.seed,
                boot->rank);
    if (job->run)
        job->run(&c);
    else
        job->trace = trace(&c);
    fabric->ops->close(fabric);
}

static uint64_t trace_of(uint64_t seed)
{
    struct rank_job job = {.params = {.seed = seed}};
    threads_run(1, run_job, &job);
    return job.trace;
}

int main(void)
{
    uint64_t seed = chaos_seed();
    printf("seed %llu\n", (unsigned long long)seed);
    struct rank_job job = {.params = {.seed = seed}, .run = try_habits};
    threads_run(1, run_job, &job);
    job.params.ordered = true;
    threads_run(1, run_job, &job);
    job.run = sleeping_target;
    job.params.ordered = false;
    threads_run(2, run_job, &job);
    CHECK_EQ(trace_of(seed), trace_of(seed));
    CHECK(trace_of(seed) != trace_of(seed + 1));
    return CHECK_PASS;
}
