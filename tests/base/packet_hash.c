/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* The hash of a packet sees every field but the local ones. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <storm/packet.h>

#include "support/check.h"

_Static_assert(sizeof(struct storm_packet) == 128, "two cache lines");

/* Flip each bit of the record in turn: all bytes but cell_idx and face. */
static void test_every_bit(void)
{
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
        CHECK((storm_packet_hash(&packet) == hash) == local);
    }
}

/* Equal sums of fields do not mean equal hashes. */
static void test_fields_have_places(void)
{
    struct storm_packet a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    CHECK(storm_packet_hash(&a) == storm_packet_hash(&b));
    a.position_cm[0] = b.position_cm[1] = 1.0;
    CHECK(storm_packet_hash(&a) != storm_packet_hash(&b));
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    a.id.hi = b.id.lo = 1;
    CHECK(storm_packet_hash(&a) != storm_packet_hash(&b));
}

int main(void)
{
    test_every_bit();
    test_fields_have_places();
    return 0;
}
