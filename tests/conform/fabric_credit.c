/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 60; label: tsan */
/* TEST ranks: 3; args: processes; timeout: 60 */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-10: what the owner has read before it stored a word may be overwritten
 * by whoever has got that word; and a get never returns words older than
 * itself.
 */
#include <stdatomic.h>
#include <string.h>

#include "support/pipe.h"

/* Rings so small that every slot is overwritten as soon as it may be. */
static void no_overwriting(struct conform *c)
{
    for (uint32_t slots = 1; slots <= 3; slots++) {
        struct pipe_params params = {.shift = slots % 2 ? 1 : 2,
                                     .slots = slots,
                                     .max_words = 32,
                                     .rounds = conform_rounds(c, 30000),
                                     .linger = true};
        pipe_run(c, &params);
    }
}

/* Owners store k before the fence, everybody gets at least k after it. */
static void no_old_words(struct conform *c)
{
    struct conform_share share;
    size_t n = (size_t)c->size;
    conform_share_open(c, 64, &share);
    struct storm_region *local = conform_alloc(c, 8 * n);
    for (uint64_t k = 1; k <= conform_rounds(c, 800); k++) {
        atomic_store_explicit(conform_word(share.region, 8), k,
                              memory_order_release);
        conform_fence(c);
        struct storm_ticket ticket = {0};
        for (size_t i = 0; i < n; i++) {
            struct storm_transfer get = {.remote = share.remote[i],
                                         .remote_offset = 8,
                                         .local = local,
                                         .local_offset = 8 * i,
                                         .bytes = 8,
                                         .ticket = &ticket};
            conform_get(c, &get);
        }
        conform_wait(c, &ticket);
        for (size_t i = 0; i < n; i++) {
            uint64_t word;
            memcpy(&word, (unsigned char *)local->base + 8 * i, sizeof word);
            CHECK(word == k || word == k + 1);
        }
    }
    conform_fence(c);
    conform_release(c, local);
    conform_share_close(c, &share);
}

static void credit(struct conform *c)
{
    no_overwriting(c);
    no_old_words(c);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, credit);
}
