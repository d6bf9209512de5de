/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/conform.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/chaos.h"
#include "support/processes.h"
#include "support/threads.h"

enum { CHAOS_SEEDS = 2 };

/* One variant of a test. */
struct conform_case {
    conform_fn test;
    const struct storm_fabric_ops *ops;
    bool chaos;
    struct chaos_params params;
    bool processes;
    bool tried;
};

/* ---- running --------------------------------------------------------------*/

static void run_rank(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    struct conform_case *k = self;
    struct storm_fabric *fabric = NULL;
    storm_status status =
        k->chaos ? chaos_open(k->ops, &k->params, env, boot, &fabric)
                 : k->ops->open(env, boot, &fabric);
    char what[96];
    snprintf(what, sizeof what, "%s%s, seed %llu, %d %s", k->ops->name,
             !k->chaos           ? ""
             : k->params.ordered ? " under ordered chaos"
                                 : " under chaos",
             (unsigned long long)k->params.seed, boot->size,
             k->processes ? "processes" : "threads");
    check_where("%s, rank %d", what, boot->rank);
    if (status == STORM_ERR_NOSUP) {
        if (boot->rank == 0)
            printf("%s: skipped, cannot be opened\n", what);
        return;
    }
    CHECK_OK(status);
    struct conform c = {
        .fabric = fabric,
        .data = fabric->data,
        .boot = boot,
        .rank = boot->rank,
        .size = boot->size,
        .seed = k->params.seed,
        .chaos = k->chaos,
    };
    conform_share_open(&c, 8 * (size_t)c.size, &c.settle);
    k->test(&c);
    conform_fence(&c);
    conform_share_close(&c, &c.settle);
    fabric->ops->close(fabric);
    if (boot->rank == 0) {
        printf("%s: ok\n", what);
        fflush(stdout);
    }
    if (boot->rank == 0 || k->processes) /* threads share it */
        k->tried = true;
}

/* Runs one case on all ranks; was it possible? */
static bool run_case(struct conform_case k, int n_threads)
{
    k.processes = n_threads == 0;
    if (n_threads > 0)
        threads_run(n_threads, run_rank, &k);
    else
        processes_run(run_rank, &k);
    return k.tried;
}

static bool run_fabric(conform_fn test, const struct storm_fabric_ops *ops,
                       int n_threads)
{
    uint64_t seed = chaos_seed();
    struct conform_case k = {.test = test, .ops = ops, .params.seed = seed};
    bool tried = run_case(k, n_threads);
    k.chaos = true;
    for (int i = 0; i < CHAOS_SEEDS; i++) {
        k.params.seed = seed + (uint64_t)i;
        k.params.ordered = false;
        tried |= run_case(k, n_threads);
        k.params.ordered = true;
        tried |= run_case(k, n_threads);
    }
    return tried;
}

/* The fabric of STORM_BACKEND, shm if that is not set. */
static bool run_chosen(conform_fn test, int n_threads)
{
    const struct storm_fabric_ops *fabric = chaos_inner();
    char reason[256] = "";
    fabric->prepare(n_threads);
    if (fabric->probe(reason, sizeof reason) == STORM_OK)
        return run_fabric(test, fabric, n_threads);
    printf("%s: skipped: %s\n", fabric->name, reason);
    return false;
}

int conform_main(int argc, char **argv, conform_fn test)
{
    bool tried = false;
    if (argc == 2 && strcmp(argv[1], "processes") == 0) {
        processes_begin();
        tried = run_chosen(test, 0);
        processes_end();
    } else if (argc > 2 && strcmp(argv[1], "threads") == 0) {
        for (int i = 2; i < argc; i++)
            tried |= run_chosen(test, atoi(argv[i]));
    } else {
        fprintf(stderr, "usage: %s threads N ... | processes\n", argv[0]);
        return CHECK_FAIL;
    }
    return tried ? CHECK_PASS : CHECK_SKIP;
}

/* ---- helpers --------------------------------------------------------------*/

uint64_t conform_rounds(const struct conform *c, uint64_t plain)
{
    uint64_t slowdown = check_slowdown();
    if (c->chaos && slowdown < 256)
        slowdown = 256;
    if (!c->chaos && !c->fabric->caps.direct) /* a network */
        slowdown *= 128;
    uint64_t n = plain / slowdown;
    if (c->size > 2)
        n /= 4; /* ranks wait for each other to get a core */
    uint64_t min = plain < 64 ? plain : 64;
    return n > min ? n : min;
}

void conform_poll(struct conform *c, uint64_t n_empty)
{
    storm_status status = n_empty < 16 ? c->data->poll(c->fabric)
                                       : c->data->idle(c->fabric, n_empty);
    CHECK(status >= 0);
}

void conform_wait(struct conform *c, struct storm_ticket *ticket)
{
    for (uint64_t n = 0; ticket->pending > 0; n++) {
        CHECK(ticket->pending < UINT32_MAX / 2); /* FABRIC-3: not twice */
        conform_poll(c, n);
    }
    CHECK_OK(ticket->status);
}

void conform_fence(struct conform *c)
{
    storm_status status;
    for (uint64_t n = 0;
         (status = c->boot->barrier_try(c->boot->self)) == STORM_AGAIN; n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

void conform_settle(struct conform *c)
{
    struct storm_ticket ticket = {0};
    uint64_t number = ++c->n_settled;
    for (int i = 0; c->fabric->caps.ordered && i < c->size; i++)
        conform_put_word(c, c->settle.remote[i], 8 * (uint64_t)c->rank, number,
                         &ticket);
    for (int i = 0; c->fabric->caps.ordered && i < c->size; i++) {
        _Atomic uint64_t *word =
            conform_word(c->settle.region, 8 * (uint64_t)i);
        for (uint64_t n = 0;
             atomic_load_explicit(word, memory_order_acquire) < number; n++)
            conform_poll(c, n);
    }
    conform_wait(c, &ticket);
    conform_fence(c);
}

void conform_put(struct conform *c, const struct storm_transfer *transfer)
{
    storm_status status;
    for (uint64_t n = 0; (status = c->data->put(transfer)) == STORM_AGAIN; n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

void conform_get(struct conform *c, const struct storm_transfer *transfer)
{
    storm_status status;
    for (uint64_t n = 0; (status = c->data->get(transfer)) == STORM_AGAIN; n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

void conform_put_word(struct conform *c, struct storm_remote *remote,
                      uint64_t offset, uint64_t word,
                      struct storm_ticket *ticket)
{
    storm_status status;
    for (uint64_t n = 0; (status = c->data->put_word(remote, offset, word,
                                                     ticket)) == STORM_AGAIN;
         n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

void conform_fetch_add(struct conform *c, const struct storm_atomic *atomic)
{
    storm_status status;
    for (uint64_t n = 0; (status = c->data->fetch_add(atomic)) == STORM_AGAIN;
         n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

void conform_compare_swap(struct conform *c, const struct storm_atomic *atomic)
{
    storm_status status;
    for (uint64_t n = 0;
         (status = c->data->compare_swap(atomic)) == STORM_AGAIN; n++)
        conform_poll(c, n);
    CHECK_OK(status);
}

struct storm_region *conform_alloc(struct conform *c, size_t bytes)
{
    struct storm_region *region = NULL;
    CHECK_OK(c->fabric->ops->alloc(c->fabric, bytes, &region));
    CHECK_EQ(region->bytes, bytes);
    return region;
}

void conform_release(struct conform *c, struct storm_region *region)
{
    c->fabric->ops->release(c->fabric, region);
}

void conform_share_open(struct conform *c, size_t bytes,
                        struct conform_share *share_out)
{
    const struct storm_fabric_ops *ops = c->fabric->ops;
    size_t n = (size_t)c->size;
    struct storm_region_desc mine, *all = malloc(n * sizeof *all);
    struct storm_remote **remote = malloc(n * sizeof *remote);
    struct storm_region *region = conform_alloc(c, bytes);
    CHECK(all && remote);
    ops->describe(c->fabric, region, &mine);
    CHECK_OK(storm_boot_allgather(c->boot, &mine, sizeof mine, all));
    for (int i = 0; i < c->size; i++) {
        CHECK_OK(ops->attach(c->fabric, i, &all[i], &remote[i]));
        CHECK_EQ(remote[i]->bytes, bytes);
        CHECK_EQ(remote[i]->peer, i);
        CHECK(remote[i]->fabric == c->fabric);
    }
    free(all);
    *share_out = (struct conform_share){region, remote};
}

void conform_share_close(struct conform *c, struct conform_share *share)
{
    for (int i = 0; i < c->size; i++)
        c->fabric->ops->detach(c->fabric, share->remote[i]);
    conform_release(c, share->region);
    free(share->remote);
}

_Atomic uint64_t *conform_word(const struct storm_region *region,
                               uint64_t offset)
{
    return (_Atomic uint64_t *)(void *)((unsigned char *)region->base + offset);
}

static uint64_t filling(uint64_t seed, uint64_t number, size_t i_word)
{
    /* The low bit of every byte is set: none is zero. */
    return dice_mix(dice_mix(seed ^ number << 20) + i_word) |
           0x0101010101010101u;
}

unsigned char conform_byte(uint64_t seed, uint64_t number, size_t i)
{
    uint64_t word = filling(seed, number, i / 8);
    return ((unsigned char *)&word)[i % 8];
}

void conform_fill(uint64_t seed, uint64_t number, void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = filling(seed, number, i / 8);
        memcpy((unsigned char *)bytes + i, &word, n - i < 8 ? n - i : 8);
    }
}
