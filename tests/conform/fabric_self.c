/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 3; label: tsan */
/* TEST ranks: 1 3; args: processes */
/* TEST ranks: 1; args: processes; backend: networks; timeout: 100 */
/* TEST ranks: 1; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-13: operations to this rank itself work like those to any other. (The
 * other tests count this rank among the peers as well.)
 */
#include <stdatomic.h>
#include <string.h>

#include "support/conform.h"

enum { HALF = 1024, N_BYTES = 2 * HALF };

/* From one half of a region to the other half of the same one. */
static void within_a_region(struct conform *c,
                            const struct conform_share *share)
{
    struct storm_remote *self = share->remote[c->rank];
    unsigned char *bytes = share->region->base;
    for (uint64_t i = 0; i < conform_rounds(c, 3200); i++) {
        struct storm_ticket ticket = {0};
        struct storm_transfer t = {.remote = self,
                                   .remote_offset = HALF,
                                   .local = share->region,
                                   .bytes = HALF,
                                   .delivered = true,
                                   .ticket = &ticket};
        conform_fill(c->seed, i, bytes, HALF);
        conform_put(c, &t);
        conform_wait(c, &ticket);
        memset(bytes, 0xff, HALF);
        t.delivered = false;
        conform_get(c, &t);
        conform_wait(c, &ticket);
        CHECK(memcmp(bytes, bytes + HALF, HALF) == 0);
        CHECK_EQ(bytes[i % HALF], conform_byte(c->seed, i, i % HALF));
    }
}

static void words(struct conform *c, const struct conform_share *share)
{
    struct storm_remote *self = share->remote[c->rank];
    _Atomic uint64_t *word = conform_word(share->region, 0);
    for (uint64_t i = 1; i <= conform_rounds(c, 3200); i++) {
        uint64_t old = 0;
        struct storm_ticket ticket = {0};
        struct storm_atomic atomic = {.remote = self,
                                      .operand = 1,
                                      .expected = 3 * i + 1,
                                      .old_out = &old,
                                      .ticket = &ticket};
        conform_put_word(c, self, 0, 3 * i, &ticket);
        for (uint64_t n = 0;
             atomic_load_explicit(word, memory_order_acquire) != 3 * i; n++)
            conform_poll(c, n);
        conform_wait(c, &ticket);
        conform_fetch_add(c, &atomic);
        conform_wait(c, &ticket);
        CHECK_EQ(old, 3 * i);
        atomic.operand = 2;
        conform_compare_swap(c, &atomic);
        conform_wait(c, &ticket);
        CHECK_EQ(old, 3 * i + 1);
        CHECK_EQ(atomic_load(word), 2);
    }
}

static void self_peer(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, N_BYTES, &share);
    within_a_region(c, &share);
    words(c, &share);
    conform_fence(c);
    conform_share_close(c, &share);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, self_peer);
}
