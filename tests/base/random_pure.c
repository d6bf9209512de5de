/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* A history is a function of the packet alone: it may be interrupted anywhere,
 * carried elsewhere as bytes, and interleaved with others. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <storm/packet.h>

#include "base/hash.h"
#include "support/check.h"

enum { N_PACKETS = 50, N_EVENTS = 40, N_RANKS = 7 };

static const uint64_t seed = 31337;

static void start(struct storm_packet packets[N_PACKETS])
{
    memset(packets, 0, N_PACKETS * sizeof packets[0]);
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        packets[i].id =
            storm_packet_id_make(STORM_ORIGIN_INITIAL, 0, i / 5, i % 5);
        packets[i].weight_erg = 1.0;
    }
}

/* One event: scatter, and now and then a child. */
static void event(struct storm_packet *packet)
{
    double u[4];
    storm_packet_random(packet, seed, u);
    storm_isotropic(u[0], u[1], packet->direction);
    for (int i = 0; i < 3; i++)
        packet->position_cm[i] += u[2] * packet->direction[i];
    packet->weight_erg *= u[3];
    if (u[3] < 0.1)
        packet->id = storm_packet_id_child(packet->id, packet->spawns++);
}

static uint64_t hash_all(const struct storm_packet packets[N_PACKETS])
{
    uint64_t hash = 0;
    for (int i = 0; i < N_PACKETS; i++)
        hash += storm_packet_hash(&packets[i]);
    return hash;
}

static void test_same_on_any_rank(void)
{
    static struct storm_packet one[N_PACKETS], many[N_RANKS][N_PACKETS];
    start(one);
    for (int i = 0; i < N_PACKETS; i++) {
        for (int e = 0; e < N_EVENTS; e++)
            event(&one[i]);
    }

    /* Event by event in another order, each on another rank's copy. */
    start(many[0]);
    for (int e = 0; e < N_EVENTS; e++) {
        const struct storm_packet *here = many[e % N_RANKS];
        struct storm_packet *there = many[(e + 1) % N_RANKS];
        memcpy(there, here, sizeof many[0]);
        for (int i = N_PACKETS; i-- > 0;) {
            there[i].cell_idx = e;
            there[i].face = (uint32_t)e;
            event(&there[i]);
        }
    }
    CHECK(hash_all(one) == hash_all(many[N_EVENTS % N_RANKS]));
    for (int i = 0; i < N_PACKETS; i++)
        CHECK(one[i].draws == N_EVENTS);
}

static void test_streams_distinct(void)
{
    /* A new stream must be added here; the compiler checks the switch. */
    const storm_stream streams[] = {
        STORM_STREAM_HISTORY, STORM_STREAM_BIRTH, STORM_STREAM_POPULATION,
        STORM_STREAM_MESH,    STORM_STREAM_USER,  STORM_STREAM_TALLY};
    const size_t n = sizeof streams / sizeof streams[0];
    struct storm_packet_id id = {0, 1};
    for (size_t i = 0; i < n; i++) {
        switch (streams[i]) {
        case STORM_STREAM_HISTORY:
        case STORM_STREAM_BIRTH:
        case STORM_STREAM_POPULATION:
        case STORM_STREAM_MESH:
        case STORM_STREAM_USER:
        case STORM_STREAM_TALLY:
            break;
        }
        double u[4], v[4];
        storm_random(seed, streams[i], id, 0, u);
        for (size_t j = 0; j < i; j++) {
            CHECK(streams[i] != streams[j]);
            storm_random(seed, streams[j], id, 0, v);
            CHECK(memcmp(u, v, sizeof u) != 0);
        }
    }
}

/* Seed, stream, both halves of the id and the block all matter. */
static void test_every_argument_counts(void)
{
    struct storm_packet_id id = {5, 6}, hi = {4, 6}, lo = {5, 7};
    double u[4], v[5][4];
    storm_random(1, STORM_STREAM_USER, id, 2, u);
    storm_random(2, STORM_STREAM_USER, id, 2, v[0]);
    storm_random(1, STORM_STREAM_MESH, id, 2, v[1]);
    storm_random(1, STORM_STREAM_USER, hi, 2, v[2]);
    storm_random(1, STORM_STREAM_USER, lo, 2, v[3]);
    storm_random(1, STORM_STREAM_USER, id, 3, v[4]);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 4; i++)
            CHECK(u[i] != v[k][i]);
    }
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_same_on_any_rank();
    test_streams_distinct();
    test_every_argument_counts();
    return 0;
}
