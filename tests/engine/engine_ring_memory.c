/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 12; backend: shm; timeout: 100; label: slow-asan */
/* TEST ranks: 16; backend: mpirma; timeout: 100; label: slow-asan */
/* TEST ranks: 16; backend: ofi-tcp; timeout: 100; label: long */
/* TEST ranks: 20 32; backend: shm; timeout: 100; label: long */
/*
 * Memory in rings follows the number of neighbours that a rank has, not the
 * number of ranks.
 */
#include "channel/channel_ring.h"
#include "harness.h"

enum { N_NEIGHBOURS = 6, N_PACKETS = 60, N_HOPS = 12, N_SLOTS = 64 };

struct traveller {
    uint64_t id, hop, pad[4];
};

/* To the three ranks before this one and the three behind it, in turn. */
static void travel(void *self, struct storm_step *step, void *packet,
                   struct storm_outcome *outcome)
{
    static const int far[N_NEIGHBOURS] = {-3, -2, -1, 1, 2, 3};
    const struct harness *h = self;
    struct traveller *t = packet;
    (void)step;
    outcome->events = 1;
    if (++t->hop % N_HOPS == 0) {
        outcome->fate = STORM_FATE_CENSUS;
        return;
    }
    outcome->fate = STORM_FATE_SEND;
    outcome->rank =
        (h->rank + far[(t->id + t->hop) % N_NEIGHBOURS] + h->size) % h->size;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct harness h;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct traveller),
        .physics = &(struct storm_physics){
            .size = sizeof(struct storm_physics), .self = &h, .step = travel}};
    const char *settings[] = {"transport.ring_slots=64", NULL};
    CHECK_OK(harness_open(&h, &params, settings));
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct traveller t = {.id = i};
        CHECK_OK(storm_engine_add(h.engine, &t));
    }
    for (int i = 0; i < 3; i++)
        CHECK_OK(storm_engine_step(h.engine));
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(h.engine, &stats);
    uint64_t ring =
        RING_SLOTS_OFFSET + N_SLOTS * (uint64_t)sizeof(struct traveller);
    /* A ring that was full may have been replaced by one twice as large. */
    CHECK(stats.ring_bytes_peak >= N_NEIGHBOURS * ring);
    CHECK(stats.ring_bytes_peak <= N_NEIGHBOURS * (3 * ring));
    if (h.rank == 0)
        printf("%d ranks, %d neighbours: %llu bytes in rings, %llu growths\n",
               h.size, N_NEIGHBOURS, (unsigned long long)stats.ring_bytes_peak,
               (unsigned long long)stats.growths);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
