/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 60; label: tsan */
/* TEST ranks: 3 5; args: processes; timeout: 60 */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100 */
/* TEST ranks: 3; args: processes; backend: ofi-shm; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-9: fetch_add and compare_swap are atomic with respect to each other,
 * from all ranks on the same word.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/conform.h"

static uint64_t add(struct conform *c, struct storm_remote *remote,
                    uint64_t offset, uint64_t operand)
{
    uint64_t old = 0;
    struct storm_ticket ticket = {0};
    struct storm_atomic atomic = {.remote = remote,
                                  .remote_offset = offset,
                                  .operand = operand,
                                  .old_out = &old,
                                  .ticket = &ticket};
    conform_fetch_add(c, &atomic);
    conform_wait(c, &ticket);
    return old;
}

static uint64_t swap(struct conform *c, struct storm_remote *remote,
                     uint64_t expected, uint64_t operand)
{
    uint64_t old = 0;
    struct storm_ticket ticket = {0};
    struct storm_atomic atomic = {.remote = remote,
                                  .operand = operand,
                                  .expected = expected,
                                  .old_out = &old,
                                  .ticket = &ticket};
    conform_compare_swap(c, &atomic);
    conform_wait(c, &ticket);
    return old;
}

/* Moves the word on by one, in one of the two ways; what was there before? */
static uint64_t advance(struct conform *c, struct storm_remote *remote,
                        bool by_swap, uint64_t *guess)
{
    if (!by_swap)
        return add(c, remote, 0, 1);
    for (;;) {
        uint64_t old = swap(c, remote, *guess, *guess + 1);
        if (old == *guess)
            return old;
        CHECK(old > *guess); /* it only grows */
        *guess = old;
    }
}

/* Every rank moves every rank's word `rounds` times: each value is taken from
 * it exactly once. */
static void tickets(struct conform *c)
{
    uint64_t rounds = conform_rounds(c, 16000);
    size_t n_values = (size_t)rounds * (size_t)c->size;
    struct conform_share share, marks;
    struct dice dice = dice_make(c->seed, (uint64_t)c->rank);
    conform_share_open(c, 8, &share);
    conform_share_open(c, 8 * n_values, &marks);
    uint64_t *guess = calloc((size_t)c->size, sizeof *guess);
    CHECK(guess);
    for (uint64_t i = 0; i < rounds; i++)
        for (int peer = 0; peer < c->size; peer++) {
            uint64_t value = advance(c, share.remote[peer],
                                     dice_roll(&dice, 2) == 0, &guess[peer]);
            CHECK(value >= guess[peer] && value < n_values);
            guess[peer] = value + 1;
            /* The first to mark this value; there must be no second. */
            CHECK_EQ(add(c, marks.remote[peer], 8 * value, 1), 0);
        }
    conform_fence(c);
    CHECK_EQ(atomic_load(conform_word(share.region, 0)), n_values);
    for (size_t i = 0; i < n_values; i++)
        CHECK_EQ(atomic_load(conform_word(marks.region, 8 * i)), 1);
    free(guess);
    conform_share_close(c, &marks);
    conform_share_close(c, &share);
}

/* All ranks at one word, as fast as they can. */
static void hammer(struct conform *c)
{
    uint64_t rounds = c->chaos ? 200 : conform_rounds(c, 400000);
    struct conform_share share;
    conform_share_open(c, 8, &share);
    for (uint64_t i = 0; i < rounds; i++)
        add(c, share.remote[0], 0, 1);
    conform_fence(c);
    if (c->rank == 0)
        CHECK_EQ(atomic_load(conform_word(share.region, 0)),
                 rounds * (uint64_t)c->size);
    conform_share_close(c, &share);
}

/* A swap that finds something else changes nothing. */
static void refused_swap(struct conform *c)
{
    struct conform_share share;
    conform_fence(c);
    conform_share_open(c, 8, &share);
    atomic_store(conform_word(share.region, 0), 7);
    conform_fence(c);
    for (int peer = 0; peer < c->size; peer++)
        CHECK_EQ(swap(c, share.remote[peer], 8, 9), 7);
    conform_fence(c);
    CHECK_EQ(atomic_load(conform_word(share.region, 0)), 7);
    conform_share_close(c, &share);
}

static void atomics(struct conform *c)
{
    tickets(c);
    conform_fence(c);
    hammer(c);
    refused_swap(c);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, atomics);
}
