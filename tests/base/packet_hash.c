/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* The hash of a packet sees every field but the local ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <storm/packet.h>

_Static_assert(sizeof(struct storm_packet) == 128, "two cache lines");

/* Flip each bit of the record in turn: all bytes but cell_idx and face. */
static void test_every_bit(void **state)
{
    (void)state;
    unsigned char bytes[sizeof(struct storm_packet)];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(17 * i + 3);
    struct storm_packet packet;
    memcpy(&packet, bytes, sizeof packet);
    uint64_t hash = storm_packet_hash(&packet);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        size_t i = bit / 8;
        bytes[i] ^= (unsigned char)(1u << bit % 8);
        memcpy(&packet, bytes, sizeof packet);
        bytes[i] ^= (unsigned char)(1u << bit % 8);
        int local = (i >= offsetof(struct storm_packet, cell_idx) &&
                     i < offsetof(struct storm_packet, group)) ||
                    i >= offsetof(struct storm_packet, face);
        assert_true((storm_packet_hash(&packet) == hash) == local);
    }
}

/* Equal sums of fields do not mean equal hashes. */
static void test_fields_have_places(void **state)
{
    (void)state;
    struct storm_packet a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    assert_true(storm_packet_hash(&a) == storm_packet_hash(&b));
    a.position[0] = b.position[1] = 1.0;
    assert_true(storm_packet_hash(&a) != storm_packet_hash(&b));
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    a.id.hi = b.id.lo = 1;
    assert_true(storm_packet_hash(&a) != storm_packet_hash(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_fields_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
