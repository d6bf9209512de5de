/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; label: tsan */
/* TEST ranks: 3; args: processes */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-2: a descriptor is plain bytes, which may travel by any means; attach
 * is local and does not need the owner's help.
 */
#include <stdlib.h>
#include <string.h>

#include "support/conform.h"

enum { BYTES = 1000, DESC_OFFSET = 3 }; /* nothing need be aligned */

static void put_to(struct conform *c, struct storm_remote *remote,
                   uint64_t number)
{
    struct storm_region *local = conform_alloc(c, BYTES);
    struct storm_ticket ticket = {0};
    conform_fill(c->seed, number, local->base, BYTES);
    struct storm_transfer put = {.remote = remote,
                                 .local = local,
                                 .bytes = BYTES,
                                 .delivered = true,
                                 .ticket = &ticket};
    conform_put(c, &put);
    conform_wait(c, &ticket);
    conform_release(c, local);
}

static void check_is(const struct conform *c, const struct storm_region *region,
                     uint64_t number)
{
    for (size_t i = 0; i < BYTES; i++)
        CHECK_EQ(((unsigned char *)region->base)[i],
                 conform_byte(c->seed, number, i));
}

/* Puts the descriptor of `region` into the inbox of the rank before this one.
 * */
static void send_desc(struct conform *c, const struct conform_share *inbox,
                      const struct storm_region *region)
{
    struct storm_region_desc desc;
    struct storm_region *local = conform_alloc(c, sizeof desc);
    struct storm_ticket ticket = {0};
    c->fabric->ops->describe(c->fabric, region, &desc);
    memcpy(local->base, &desc, sizeof desc);
    struct storm_transfer put = {
        .remote = inbox->remote[(c->rank + c->size - 1) % c->size],
        .remote_offset = DESC_OFFSET,
        .local = local,
        .bytes = sizeof desc,
        .delivered = true,
        .ticket = &ticket,
    };
    conform_put(c, &put);
    conform_wait(c, &ticket);
    conform_release(c, local);
}

/* A descriptor that came through the fabric is as good as any, twice over. */
static void travels_as_bytes(struct conform *c)
{
    const struct storm_fabric_ops *ops = c->fabric->ops;
    int next = (c->rank + 1) % c->size;
    uint64_t before = (uint64_t)((c->rank + c->size - 1) % c->size);
    struct conform_share inbox;
    conform_share_open(c, DESC_OFFSET + STORM_DESC_BYTES, &inbox);
    struct storm_region *region = conform_alloc(c, BYTES);
    send_desc(c, &inbox, region);
    conform_fence(c);

    struct storm_region_desc desc;
    struct storm_remote *first, *second;
    memcpy(&desc, (unsigned char *)inbox.region->base + DESC_OFFSET,
           sizeof desc);
    CHECK_OK(ops->attach(c->fabric, next, &desc, &first));
    CHECK_OK(ops->attach(c->fabric, next, &desc, &second));
    CHECK_EQ(first->bytes, BYTES);
    put_to(c, first, (uint64_t)c->rank);
    conform_fence(c);
    check_is(c, region, before);
    conform_fence(c);
    ops->detach(c->fabric, first); /* does not concern the other */
    put_to(c, second, (uint64_t)c->rank + 100);
    conform_fence(c);
    check_is(c, region, before + 100);
    ops->detach(c->fabric, second);
    conform_release(c, region);
    conform_share_close(c, &inbox);
    conform_fence(c);
}

/* The owner sits in a call that does not return before all have attached. */
static void attach_alone(struct conform *c)
{
    const struct storm_fabric_ops *ops = c->fabric->ops;
    struct storm_region *region = conform_alloc(c, BYTES);
    struct storm_region_desc mine;
    struct storm_region_desc *all = malloc((size_t)c->size * sizeof *all);
    CHECK(all);
    ops->describe(c->fabric, region, &mine);
    CHECK_OK(storm_boot_allgather(c->boot, &mine, sizeof mine, all));
    for (int owner = 0; owner < c->size; owner++) {
        struct storm_remote *remote = NULL;
        int lowest;
        if (c->rank != owner)
            CHECK_OK(ops->attach(c->fabric, owner, &all[owner], &remote));
        CHECK_OK(c->boot->minimum(c->boot->self, 0, &lowest));
        if (remote)
            ops->detach(c->fabric, remote);
    }
    free(all);
    conform_release(c, region);
}

static void descriptor(struct conform *c)
{
    travels_as_bytes(c);
    attach_alone(c);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, descriptor);
}
