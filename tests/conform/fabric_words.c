/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; label: tsan */
/* TEST ranks: 3; args: processes */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-8: words are never torn. Whoever writes a word makes its halves equal;
 * a reader, by any operation, finds them equal.
 */
#include <stdatomic.h>
#include <string.h>

#include "support/conform.h"

enum {
    N_WORDS = 40, /* of each sort */
    PUT_AT = 0,   /* words that other ranks put */
    STORED_AT = N_WORDS * 8,
    ADDED_AT = 2 * N_WORDS * 8,
    N_BYTES = 3 * N_WORDS * 8
};

static uint64_t twice(uint64_t half)
{
    return half << 32 | half;
}

static void check_whole(uint64_t word)
{
    CHECK_EQ(word >> 32, word & 0xffffffff);
}

/* Writes one word of each sort, the last two somewhere else. */
static void write_words(struct conform *c, const struct conform_share *share,
                        struct dice *dice, struct storm_ticket *ticket)
{
    uint64_t half = dice_word(dice) >> 33;
    uint64_t at = 8 * dice_roll(dice, N_WORDS);
    int peer = (int)dice_roll(dice, (uint64_t)c->size);
    atomic_store_explicit(conform_word(share->region, STORED_AT + at),
                          twice(half), memory_order_release);
    conform_put_word(c, share->remote[peer], PUT_AT + at, twice(half), ticket);
}

static void add_word(struct conform *c, const struct conform_share *share,
                     struct dice *dice)
{
    uint64_t old = 0;
    struct storm_ticket ticket = {0};
    struct storm_atomic add = {
        .remote = share->remote[dice_roll(dice, (uint64_t)c->size)],
        .remote_offset = ADDED_AT + 8 * dice_roll(dice, N_WORDS),
        .operand = twice(1),
        .old_out = &old,
        .ticket = &ticket};
    conform_fetch_add(c, &add);
    conform_wait(c, &ticket);
    check_whole(old);
}

/* A get of many words, from a random one on. */
static void get_words(struct conform *c, const struct conform_share *share,
                      struct dice *dice, struct storm_region *local)
{
    struct storm_ticket ticket = {0};
    uint64_t first = dice_roll(dice, N_BYTES / 8);
    struct storm_transfer get = {
        .remote = share->remote[dice_roll(dice, (uint64_t)c->size)],
        .remote_offset = 8 * first,
        .local = local,
        .bytes = 8 * (1 + dice_roll(dice, N_BYTES / 8 - first)),
        .ticket = &ticket};
    conform_get(c, &get);
    conform_wait(c, &ticket);
    for (uint64_t i = 0; i < get.bytes; i += 8) {
        uint64_t word;
        memcpy(&word, (unsigned char *)local->base + i, sizeof word);
        check_whole(word);
    }
}

static void words(struct conform *c)
{
    struct conform_share share;
    struct dice dice = dice_make(c->seed, (uint64_t)c->rank);
    struct storm_ticket ticket = {0};
    conform_share_open(c, N_BYTES, &share);
    struct storm_region *local = conform_alloc(c, N_BYTES);
    for (uint64_t i = 0; i < conform_rounds(c, 100000); i++) {
        write_words(c, &share, &dice, &ticket);
        if (i % 8 == 0)
            add_word(c, &share, &dice);
        if (i % 8 == 4)
            get_words(c, &share, &dice, local);
        for (uint64_t at = 0; at < N_BYTES; at += 8)
            check_whole(atomic_load_explicit(conform_word(share.region, at),
                                             memory_order_acquire));
    }
    conform_wait(c, &ticket);
    conform_settle(c);
    conform_release(c, local);
    conform_share_close(c, &share);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, words);
}
