/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as threads: a boot made of a pthread barrier and one counter.
 *
 * Pairs of memory orders, by label:
 *   THREADS-1  add-release of `arrived` in threads_barrier_try, pairs with
 *   THREADS-2  load-acquire of `arrived` there, by the others.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/check.h"
#include "support/threads.h"

enum { MAX_THREADS = 64 };

struct thread_rank;

/* What the ranks share. */
struct thread_team {
    int n;
    rank_fn fn;
    void *self;
    pthread_barrier_t barrier;
    const void *given[MAX_THREADS]; /* by each rank, between two barriers */
    atomic_uint_least64_t arrived;  /* at all barriers so far, by all ranks */
};

struct thread_rank {
    struct thread_team *team;
    int rank;
    pthread_t thread;
    bool at_barrier;
    uint64_t n_barriers;
};

/* What rank i gives is there until the next barrier. */
static void threads_give(const struct thread_rank *r, const void *given)
{
    r->team->given[r->rank] = given;
    pthread_barrier_wait(&r->team->barrier);
}

static storm_status threads_broadcast(void *self, void *inout, size_t bytes)
{
    struct thread_rank *r = self;
    threads_give(r, inout);
    if (r->rank != 0)
        memcpy(inout, r->team->given[0], bytes);
    pthread_barrier_wait(&r->team->barrier);
    return STORM_OK;
}

struct links {
    const struct storm_boot_link *link;
    int n;
};

static storm_status threads_exchange(void *self,
                                     const struct storm_boot_link *link,
                                     int n_links, size_t bytes)
{
    struct thread_rank *r = self;
    const struct links mine = {link, n_links};
    CHECK(n_links <= STORM_BOOT_LINKS && bytes <= STORM_BOOT_BYTES);
    threads_give(r, &mine);
    for (int i = 0; i < n_links; i++) {
        if (link[i].from < 0)
            continue;
        const struct links *theirs = r->team->given[link[i].from];
        int found = 0;
        for (int k = 0; k < theirs->n; k++)
            if (theirs->link[k].to == r->rank) {
                memcpy(link[i].theirs_out, theirs->link[k].mine, bytes);
                found++;
            }
        CHECK_EQ(found, 1);
    }
    pthread_barrier_wait(&r->team->barrier);
    return STORM_OK;
}

static storm_status threads_minimum(void *self, int mine, int *min_out)
{
    struct thread_rank *r = self;
    int min = mine;
    threads_give(r, &mine);
    for (int i = 0; i < r->team->n; i++) {
        int theirs;
        memcpy(&theirs, r->team->given[i], sizeof theirs);
        min = theirs < min ? theirs : min;
    }
    pthread_barrier_wait(&r->team->barrier);
    *min_out = min;
    return STORM_OK;
}

static storm_status threads_barrier_try(void *self)
{
    struct thread_rank *r = self;
    struct thread_team *team = r->team;
    if (!r->at_barrier) {
        r->at_barrier = true;
        r->n_barriers++;
        atomic_fetch_add_explicit(&team->arrived, 1,
                                  memory_order_release); /* THREADS-1 */
    }
    uint64_t arrived =
        atomic_load_explicit(&team->arrived,
                             memory_order_acquire); /* THREADS-2 */
    if (arrived < r->n_barriers * (uint64_t)team->n)
        return STORM_AGAIN;
    r->at_barrier = false;
    return STORM_OK;
}

static void *threads_main(void *arg)
{
    struct thread_rank *r = arg;
    struct storm_boot boot = {
        .self = r,
        .rank = r->rank,
        .size = r->team->n,
        .broadcast = threads_broadcast,
        .exchange = threads_exchange,
        .minimum = threads_minimum,
        .barrier_try = threads_barrier_try,
    };
    rank_run(&boot, r->team->fn, r->team->self);
    return NULL;
}

void threads_run(int n, rank_fn fn, void *self)
{
    CHECK(n > 0 && n <= MAX_THREADS);
    struct thread_team team = {.n = n, .fn = fn, .self = self};
    struct thread_rank ranks[MAX_THREADS] = {0};
    CHECK_EQ(pthread_barrier_init(&team.barrier, NULL, (unsigned)n), 0);
    for (int i = 0; i < n; i++) {
        ranks[i].team = &team;
        ranks[i].rank = i;
        CHECK_EQ(pthread_create(&ranks[i].thread, NULL, threads_main,
                                &ranks[i]),
                 0);
    }
    for (int i = 0; i < n; i++)
        CHECK_EQ(pthread_join(ranks[i].thread, NULL), 0);
    pthread_barrier_destroy(&team.barrier);
}
