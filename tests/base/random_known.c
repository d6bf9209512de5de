/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* The generator is Philox4x64-10: the published known answers of Random123
 * (kat_vectors), and storm_random is that with the documented key. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <storm/packet.h>

#include "base/random.h"
#include "support/check.h"

static const struct {
    uint64_t counter[4], key[2], bits[4];
} known[] = {
    {
        {0, 0, 0, 0},
        {0, 0},
        {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
         0x7e68b68aec7ba23b},
    },
    {
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX},
        {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6,
         0xa09caebf594f0ba0},
    },
    {
        {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
         0x082efa98ec4e6c89},
        {0x452821e638d01377, 0xbe5466cf34e90c6c},
        {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5,
         0x57bd43b5e52b7fe6},
    },
};

static void test_known_answers(void)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint64_t bits[4];
        storm_random_bits(known[i].key, known[i].counter, bits);
        CHECK(memcmp(bits, known[i].bits, sizeof bits) == 0);
    }
}

static void test_random_is_philox(void)
{
    const uint64_t key[2] = {99, STORM_STREAM_BIRTH};
    const uint64_t counter[4] = {0x123456789abcdef0, 42, 7, 0};
    struct storm_packet_id id = {.hi = counter[0], .lo = counter[1]};
    uint64_t bits[4];
    double uniform[4];
    storm_random_bits(key, counter, bits);
    storm_random(99, STORM_STREAM_BIRTH, id, 7, uniform);
    for (int i = 0; i < 4; i++)
        CHECK(uniform[i] == storm_random_uniform(bits[i]));
}

/* Numbers of old runs must stay what they were: bits, key, mapping. */
static void test_frozen(void)
{
    struct storm_packet_id id =
        storm_packet_id_make(STORM_ORIGIN_EMISSION, 3, 1000, 17);
    double u[4];
    storm_random(1, STORM_STREAM_HISTORY, id, 0, u);
    struct storm_packet_id child = storm_packet_id_child(id, 0);
    printf("%a %a %a %a, child %016llx %016llx\n", u[0], u[1], u[2], u[3],
           (unsigned long long)child.hi, (unsigned long long)child.lo);
    CHECK(u[0] == 0x1.c5678067aba2bp-1);
    CHECK(u[1] == 0x1.21fb3214c3432p-2);
    CHECK(u[2] == 0x1.b8edc0b996304p-3);
    CHECK(u[3] == 0x1.77e4735d42d78p-4);
    CHECK(child.hi == 0x833d0fc511379d2e);
    CHECK(child.lo == 0x208c72593662d2d9);
}

static void test_open_interval(void)
{
    CHECK(storm_random_uniform(0) == 0x1p-53);
    CHECK(storm_random_uniform(UINT64_MAX) == 1.0 - 0x1p-53);
}

int main(void)
{
    test_known_answers();
    test_random_is_philox();
    test_frozen();
    test_open_interval();
    return 0;
}
