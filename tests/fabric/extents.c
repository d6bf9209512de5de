/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * EXTENT-1 to EXTENT-3: extents in use never overlap, the lowest that fits is
 * taken, and after any order of giving back the range is one piece again.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "fabric/fabric_extents.h"
#include "support/check.h"

enum { RANGE = 4096, N_LIVE = 64, N_TURNS = 200000 };

static void check_first_fit(struct storm_memory *memory)
{
    struct storm_extents e;
    struct storm_extent a, b, c, d;
    CHECK_OK(storm_extents_open(&e, memory, "extents", 100));
    CHECK(storm_extents_unused(&e));
    CHECK(storm_extents_take(&e, 40, &a) && a.offset == 0 && a.bytes == 40);
    CHECK(storm_extents_take(&e, 20, &b) && b.offset == 40);
    CHECK(storm_extents_take(&e, 40, &c) && c.offset == 60);
    CHECK(!storm_extents_take(&e, 1, &d));
    storm_extents_give(&e, c);
    storm_extents_give(&e, a);
    CHECK(storm_extents_take(&e, 30, &d) && d.offset == 0); /* lowest */
    CHECK(!storm_extents_take(&e, 50, &a)); /* 10 and 40, but b between */
    storm_extents_give(&e, b);              /* joins both sides */
    CHECK(storm_extents_take(&e, 70, &a) && a.offset == 30);
    storm_extents_give(&e, d);
    storm_extents_give(&e, a);
    CHECK(storm_extents_unused(&e));
    storm_extents_close(&e);
}

/* Random takes and gives against one flag per byte. */
static void check_against_map(struct storm_memory *memory, uint64_t seed)
{
    static unsigned char used[RANGE];
    struct storm_extent live[N_LIVE];
    struct storm_extents e;
    size_t n = 0;
    memset(used, 0, sizeof used);
    CHECK_OK(storm_extents_open(&e, memory, "extents", RANGE));
    for (uint64_t turn = 0; turn < N_TURNS; turn++) {
        uint64_t dice = storm_hash_word(seed + turn);
        if (n < N_LIVE && dice % 2 == 0 &&
            storm_extents_take(&e, 1 + (dice >> 8) % 200, &live[n])) {
            for (uint64_t i = 0; i < live[n].bytes; i++) {
                CHECK(!used[live[n].offset + i]); /* EXTENT-1 */
                used[live[n].offset + i] = 1;
            }
            n++;
        } else if (n > 0) {
            size_t i = (size_t)(dice >> 8) % n;
            memset(used + live[i].offset, 0, live[i].bytes);
            storm_extents_give(&e, live[i]);
            live[i] = live[--n];
        }
    }
    while (n > 0)
        storm_extents_give(&e, live[--n]);
    CHECK(storm_extents_unused(&e)); /* EXTENT-3 */
    storm_extents_close(&e);
}

int main(void)
{
    const uint64_t seed = 20;
    struct storm_memory *memory;
    printf("seed %llu\n", (unsigned long long)seed);
    CHECK_OK(storm_memory_create(&memory));
    check_first_fit(memory);
    check_against_map(memory, seed);
    CHECK_EQ(storm_memory_destroy(memory), 0);
    return CHECK_PASS;
}
