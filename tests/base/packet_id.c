/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Ids are distinct: made ones by construction, children by 127 hashed bits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <storm/packet.h>

#include "support/check.h"

enum { N_CHILDREN = 1000000, N_PER_PARENT = 1000 };

static int compare(const void *a, const void *b)
{
    return storm_packet_id_compare(*(const struct storm_packet_id *)a,
                                   *(const struct storm_packet_id *)b);
}

static void check_distinct(struct storm_packet_id *ids, size_t n)
{
    qsort(ids, n, sizeof *ids, compare);
    for (size_t i = 1; i < n; i++)
        CHECK(storm_packet_id_compare(ids[i - 1], ids[i]) < 0);
}

/* Each field can be read back: nothing overlaps. */
static void test_fields(void)
{
    const uint64_t cycles[] = {0, 1, 0x89abcdef, UINT32_MAX};
    const uint64_t cells[] = {
        0, 1, 0xffffff, 0x1000000, 0x123456789abc, (UINT64_C(1) << 48) - 1};
    const uint64_t indices[] = {0, 1, 0x123456789a, (UINT64_C(1) << 40) - 1};
    const int origins[] = {STORM_ORIGIN_USER, STORM_ORIGIN_BOUNDARY, 127};
    static struct storm_packet_id all[4 * 6 * 4 * 3];
    size_t n = 0;
    for (size_t a = 0; a < 4; a++) {
        for (size_t b = 0; b < 6; b++) {
            for (size_t c = 0; c < 4; c++) {
                for (size_t d = 0; d < 3; d++) {
                    struct storm_packet_id id =
                        storm_packet_id_make((storm_origin)origins[d],
                                             cycles[a], cells[b], indices[c]);
                    CHECK(id.hi >> 56 == (uint64_t)origins[d]);
                    CHECK((id.hi >> 24 & UINT32_MAX) == cycles[a]);
                    CHECK(((id.hi & 0xffffff) << 24 | id.lo >> 40) == cells[b]);
                    CHECK((id.lo & 0xffffffffff) == indices[c]);
                    all[n++] = id;
                }
            }
        }
    }
    check_distinct(all, n);
}

/* Made ids sort by origin, cycle, cell, index; children come after all. */
static void test_order(void)
{
    const struct storm_packet_id rising[] = {
        storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, 0),
        storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, 1),
        storm_packet_id_make(STORM_ORIGIN_USER, 0, 1, 0),
        storm_packet_id_make(STORM_ORIGIN_USER, 0, 1 << 24, 0),
        storm_packet_id_make(STORM_ORIGIN_USER, 1, 0, 0),
        storm_packet_id_make(STORM_ORIGIN_INITIAL, 0, 0, 0),
        storm_packet_id_make((storm_origin)127, UINT32_MAX,
                             (UINT64_C(1) << 48) - 1, (UINT64_C(1) << 40) - 1),
        storm_packet_id_child((struct storm_packet_id){0, 0}, 0),
    };
    for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
        for (size_t j = 0; j < sizeof rising / sizeof rising[0]; j++) {
            int order = storm_packet_id_compare(rising[i], rising[j]);
            CHECK((order < 0) == (i < j) && (order > 0) == (i > j));
        }
    }
}

/* Children of children, and of parents whose ids differ in one bit. */
static void test_children(void)
{
    struct storm_packet_id *ids = calloc(N_CHILDREN, sizeof *ids);
    CHECK(ids != NULL);
    struct storm_packet_id parent =
        storm_packet_id_make(STORM_ORIGIN_SOURCE, 0, 0, 0);
    size_t n = 0;
    for (uint64_t p = 0; n < N_CHILDREN; p++) {
        for (uint64_t i = 0; i < N_PER_PARENT; i++) {
            ids[n] = storm_packet_id_child(parent, i);
            CHECK(ids[n].hi >> 63 == 1);
            n++;
        }
        if (p % 2 == 0)
            parent = ids[n - 1];
        else
            parent = storm_packet_id_make(STORM_ORIGIN_SOURCE, 0, p, 0);
    }
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        any |= ids[i].lo;
        all &= ids[i].lo;
    }
    CHECK(any == UINT64_MAX && all == 0);
    check_distinct(ids, n);
    free(ids);
}

/* 20 more bits than 10^6 draws need: no two share even 60 of the 127 bits. */
static void test_child_halves(void)
{
    enum { N = 100000 };
    struct storm_packet_id *ids = calloc(N, sizeof *ids);
    CHECK(ids != NULL);
    struct storm_packet_id parent = {1, 2};
    for (uint64_t i = 0; i < N; i++) {
        ids[i] = storm_packet_id_child(parent, i);
        ids[i].lo = 0;
    }
    check_distinct(ids, N);
    for (uint64_t i = 0; i < N; i++) {
        ids[i] = storm_packet_id_child(parent, i);
        ids[i].hi = 0;
    }
    check_distinct(ids, N);
    free(ids);
}

int main(void)
{
    test_fields();
    test_order();
    test_children();
    test_child_halves();
    return 0;
}
