/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 60; label: tsan */
/* TEST ranks: 3; args: processes; timeout: 60 */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100 */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-5, FABRIC-6: after the completion of a put its local memory may be
 * reused; after that of a `delivered` one the data can be read at the target.
 */
#include <string.h>

#include "support/conform.h"

enum { N_SLOTS = 64, MAX_BYTES = 6000 };

static size_t bytes_of(const struct conform *c, uint64_t number)
{
    return 1 + dice_mix(c->seed ^ number) % (number % 2 ? 64 : MAX_BYTES);
}

/* One buffer for all puts, scribbled over as soon as each has completed. */
static void one_buffer(struct conform *c, const struct conform_share *share,
                       struct storm_region *local)
{
    struct storm_remote *to = share->remote[(c->rank + 1) % c->size];
    for (uint64_t i = 0; i < N_SLOTS; i++) {
        struct storm_ticket ticket = {0};
        struct storm_transfer put = {.remote = to,
                                     .remote_offset = i * MAX_BYTES,
                                     .local = local,
                                     .bytes = bytes_of(c, i),
                                     .ticket = &ticket};
        conform_fill(c->seed, i, local->base, put.bytes);
        conform_put(c, &put);
        conform_wait(c, &ticket);
        memset(local->base, 0xff, put.bytes);
    }
}

/* Has slot i landed? What has landed of it must be right. */
static bool landed(struct conform *c, const struct conform_share *share,
                   struct storm_region *local, uint64_t i)
{
    struct storm_ticket ticket = {0};
    struct storm_transfer get = {.remote =
                                     share->remote[(c->rank + 1) % c->size],
                                 .remote_offset = i * MAX_BYTES,
                                 .local = local,
                                 .bytes = bytes_of(c, i),
                                 .ticket = &ticket};
    conform_get(c, &get);
    conform_wait(c, &ticket);
    bool all = true;
    for (size_t k = 0; k < get.bytes; k++) {
        unsigned char byte = ((unsigned char *)local->base)[k];
        CHECK(byte == 0 || byte == conform_byte(c->seed, i, k));
        all &= byte != 0;
    }
    return all;
}

/* Nothing shows when a put that is not `delivered` lands on an unordered
 * fabric; so its origin looks until it has. */
static void local_completion(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, N_SLOTS * MAX_BYTES, &share);
    struct storm_region *local = conform_alloc(c, MAX_BYTES);
    one_buffer(c, &share, local);
    for (uint64_t i = 0; i < N_SLOTS; i++)
        while (!landed(c, &share, local, i))
            conform_poll(c, 0);
    conform_fence(c);
    conform_release(c, local);
    conform_share_close(c, &share);
}

/* Once the origin reports it, by any means, the target reads the data. */
static void delivered_completion(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, MAX_BYTES, &share);
    struct storm_region *local = conform_alloc(c, MAX_BYTES);
    uint64_t before = (uint64_t)((c->rank + c->size - 1) % c->size);
    for (uint64_t i = 0; i < conform_rounds(c, 2000); i++) {
        struct storm_ticket ticket = {0};
        struct storm_transfer put = {.remote =
                                         share.remote[(c->rank + 1) % c->size],
                                     .local = local,
                                     .bytes = bytes_of(c, i),
                                     .delivered = true,
                                     .ticket = &ticket};
        conform_fill(c->seed, i + ((uint64_t)c->rank << 32), local->base,
                     put.bytes);
        conform_put(c, &put);
        conform_wait(c, &ticket);
        memset(local->base, 0xff, put.bytes);
        conform_fence(c);
        for (size_t k = 0; k < put.bytes; k++)
            CHECK_EQ(((unsigned char *)share.region->base)[k],
                     conform_byte(c->seed, i + (before << 32), k));
        conform_fence(c);
    }
    conform_release(c, local);
    conform_share_close(c, &share);
}

static void reuse(struct conform *c)
{
    local_completion(c);
    conform_fence(c);
    delivered_completion(c);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, reuse);
}
