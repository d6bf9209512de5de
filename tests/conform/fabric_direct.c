/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 60; label: tsan */
/* TEST ranks: 3; args: processes; timeout: 60; label: slow-mpich */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-11: `direct` is the peer's memory itself, or NULL; and FABRIC-7 holds
 * for what is stored through it, also by storm_stream_copy.
 */
#include <string.h>

#include "support/pipe.h"

enum { N_BYTES = 1000 };

/* What the owner has stored is what peers load. */
static void loads(struct conform *c, const struct conform_share *share)
{
    conform_fill(c->seed, (uint64_t)c->rank, share->region->base, N_BYTES);
    conform_fence(c);
    for (int i = 0; i < c->size; i++) {
        const unsigned char *bytes = share->remote[i]->direct;
        for (size_t k = 0; k < N_BYTES; k++)
            CHECK_EQ(bytes[k], conform_byte(c->seed, (uint64_t)i, k));
    }
    conform_fence(c);
}

/* In the smallest ring the receiver waits for every word, and reads what is
 * before it the moment it sees it. */
static void stores(struct conform *c)
{
    /* With more ranks than cores most of them wait for a core instead. */
    uint64_t rounds = c->size > 2 ? 4000 : 400000;
    struct pipe_params tight = {.shift = 1,
                                .slots = 1,
                                .max_words = 40,
                                .rounds = conform_rounds(c, rounds),
                                .direct = true};
    struct pipe_params loose = {.shift = 1,
                                .slots = 8,
                                .max_words = 40,
                                .rounds = conform_rounds(c, rounds / 4),
                                .direct = true};
    pipe_run(c, &tight);
    pipe_run(c, &loose);
}

static void direct(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, N_BYTES, &share);
    for (int i = 0; i < c->size; i++)
        CHECK((share.remote[i]->direct != NULL) == c->fabric->caps.direct);
    if (c->fabric->caps.direct) {
        loads(c, &share);
        stores(c);
    }
    conform_share_close(c, &share);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, direct);
}
