/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; label: tsan */
/* TEST ranks: 1 2 3 5; args: processes */
/*
 * F11: `direct` is the peer's memory itself, or NULL; and F7 holds for what is
 * stored through it.
 */
#include <stdatomic.h>
#include <string.h>

#include "support/conform.h"

enum { N_WORDS = 16, READY_AT = 0, READ_AT = 64, WORDS_AT = 128 };

static uint64_t value_of(const struct conform *c, int writer, uint64_t round,
                         uint64_t i)
{
    return dice_mix(c->seed ^ (uint64_t)writer << 48 ^ round << 8 ^ i);
}

/* Stores into the next rank's memory, then says so with a put_word. */
static void write_round(struct conform *c, struct storm_remote *to,
                        uint64_t round)
{
    struct storm_ticket ticket = {0};
    unsigned char *direct = to->direct;
    for (uint64_t i = 0; i < N_WORDS; i++) {
        uint64_t word = value_of(c, c->rank, round, i);
        memcpy(direct + WORDS_AT + 8 * i, &word, sizeof word);
    }
    conform_put_word(c, to, READY_AT, round, &ticket);
    conform_wait(c, &ticket);
}

static void read_round(struct conform *c, const struct storm_region *mine,
                       uint64_t round)
{
    int writer = (c->rank + c->size - 1) % c->size;
    for (uint64_t n = 0; atomic_load_explicit(conform_word(mine, READY_AT),
                                              memory_order_acquire) != round;
         n++)
        conform_poll(c, n);
    for (uint64_t i = 0; i < N_WORDS; i++) {
        uint64_t word;
        memcpy(&word, (unsigned char *)mine->base + WORDS_AT + 8 * i,
               sizeof word);
        CHECK_EQ(word, value_of(c, writer, round, i));
    }
    atomic_store_explicit(conform_word(mine, READ_AT), round,
                          memory_order_release);
}

static void stores_and_loads(struct conform *c,
                             const struct conform_share *share)
{
    struct storm_remote *to = share->remote[(c->rank + 1) % c->size];
    _Atomic uint64_t *read =
        (_Atomic uint64_t *)(void *)((unsigned char *)to->direct + READ_AT);
    for (uint64_t round = 1; round <= conform_rounds(c, 20000); round++) {
        write_round(c, to, round);
        read_round(c, share->region, round);
        for (uint64_t n = 0;
             atomic_load_explicit(read, memory_order_acquire) != round; n++)
            conform_poll(c, n);
    }
}

static void direct(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, WORDS_AT + 8 * N_WORDS, &share);
    for (int i = 0; i < c->size; i++)
        CHECK((share.remote[i]->direct != NULL) == c->fabric->caps.direct);
    if (c->fabric->caps.direct)
        stores_and_loads(c, &share);
    conform_settle(c);
    conform_share_close(c, &share);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, direct);
}
