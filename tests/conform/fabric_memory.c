/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; label: tsan */
/* TEST ranks: 3; args: processes */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100 */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-1: memory is zeroed, also when it was used before; aligned; of its
 * own; and any peer can reach it until it is released.
 */
#include <stdint.h>
#include <string.h>

#include "support/conform.h"

enum { N_REGIONS = 24, ALIGNMENT = 64, SLOT_BYTES = 256 };

struct own {
    struct storm_region *region;
    uint64_t number; /* of its filling */
};

static size_t some_size(struct dice *dice)
{
    static const size_t sizes[] = {1,    7,    8,     64,      100,
                                   4095, 4096, 70001, 1 << 18, (1 << 20) + 1};
    return sizes[dice_roll(dice, sizeof sizes / sizeof sizes[0])];
}

static void check_fresh(const struct storm_region *region)
{
    CHECK_EQ((uintptr_t)region->base % ALIGNMENT, 0);
    const unsigned char *bytes = region->base;
    CHECK_EQ(bytes[0], 0); /* and each is equal to the one before it */
    CHECK(memcmp(bytes, bytes + 1, region->bytes - 1) == 0);
}

static void check_filled(const struct conform *c, const struct own *own)
{
    const unsigned char *bytes = own->region->base;
    for (size_t i = 0; i < own->region->bytes; i += i < 4096 ? 1 : 977)
        CHECK_EQ(bytes[i], conform_byte(c->seed, own->number, i));
}

/* Regions come and go in any order; none changes under its owner's hands. */
static void come_and_go(struct conform *c)
{
    struct own own[N_REGIONS] = {{0}};
    struct dice dice = dice_make(c->seed, (uint64_t)c->rank);
    uint64_t rounds = 1 + conform_rounds(c, 200);
    for (uint64_t number = 1; number < rounds; number++) {
        struct own *o = &own[dice_roll(&dice, N_REGIONS)];
        if (o->region) {
            check_filled(c, o);
            conform_release(c, o->region);
            o->region = NULL;
        } else {
            o->number = number;
            o->region = conform_alloc(c, some_size(&dice));
            check_fresh(o->region);
            conform_fill(c->seed, number, o->region->base, o->region->bytes);
        }
    }
    for (int i = 0; i < N_REGIONS; i++)
        if (own[i].region) {
            check_filled(c, &own[i]);
            conform_release(c, own[i].region);
        }
}

/* Every rank writes into its slot of everybody's region. */
static void write_all(struct conform *c, const struct conform_share *share,
                      struct storm_region *local)
{
    struct storm_ticket ticket = {0};
    conform_fill(c->seed, (uint64_t)c->rank, local->base, SLOT_BYTES);
    for (int i = 0; i < c->size; i++) {
        struct storm_transfer put = {
            .remote = share->remote[i],
            .remote_offset = (uint64_t)c->rank * SLOT_BYTES,
            .local = local,
            .bytes = SLOT_BYTES,
            .delivered = true,
            .ticket = &ticket,
        };
        conform_put(c, &put);
    }
    conform_wait(c, &ticket);
}

/* What peers wrote into memory of ours that others used before is there, and
 * is zeroed when the memory is allocated again. */
static void reached_by_all(struct conform *c)
{
    size_t bytes = (size_t)c->size * SLOT_BYTES;
    struct storm_region *local = conform_alloc(c, SLOT_BYTES);
    for (int round = 0; round < 3; round++) {
        struct conform_share share;
        conform_share_open(c, bytes, &share);
        check_fresh(share.region);
        conform_fence(c); /* all have looked */
        write_all(c, &share, local);
        conform_fence(c); /* all have written */
        for (int i = 0; i < c->size; i++)
            for (size_t k = 0; k < SLOT_BYTES; k++)
                CHECK_EQ(((unsigned char *)
                              share.region->base)[(size_t)i * SLOT_BYTES + k],
                         conform_byte(c->seed, (uint64_t)i, k));
        conform_share_close(c, &share);
        conform_fence(c);
    }
    conform_release(c, local);
}

static void memory(struct conform *c)
{
    come_and_go(c);
    conform_fence(c);
    reached_by_all(c);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, memory);
}
