/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: shm; timeout: 60 */
/* TEST ranks: 2 3; backend: mpirma; timeout: 60 */
/* TEST ranks: 2; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: ofi-tcp; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 3; backend: ofi-shm ofi-sockets; timeout: 60; label: long */
/*
 * storm_engine_trim gives back rings that carry nothing, they grow again when
 * they do, storm_engine_expect prepares the route before, and the traffic
 * matrix adds up to the transfers.
 */
#include "harness.h"

struct shuttle {
    uint64_t hops_left, pad[7];
};

struct line {
    int rank, size;
};

static void fly(void *self, struct storm_step *step, void *packet,
                struct storm_outcome *outcome)
{
    struct line *line = self;
    struct shuttle *s = packet;
    (void)step;
    outcome->events = 1;
    outcome->fate = s->hops_left == 0 ? STORM_FATE_ABSORBED : STORM_FATE_SEND;
    outcome->rank = (line->rank + 1) % line->size;
    s->hops_left -= s->hops_left > 0;
}

/* Bytes in rings into this rank, or in send buffers, now. */
static size_t ring_bytes(const struct harness *h)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    for (size_t i = 0; storm_context_memory(h->context, i, &entry) == STORM_OK;
         i++)
        if (strcmp(entry.label, "rings, receiver") == 0 ||
            strcmp(entry.label, "p2p send buffers") == 0)
            return entry.bytes;
    return 0;
}

static void run_step(struct harness *h, int n_packets)
{
    struct shuttle s = {.hops_left = 9};
    for (int i = 0; i < n_packets; i++)
        CHECK_OK(storm_engine_add(h->engine, &s));
    CHECK_OK(storm_engine_step(h->engine));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct line line;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct shuttle),
        .physics = &(struct storm_physics){
            .size = sizeof(struct storm_physics), .self = &line, .step = fly}};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    line = (struct line){h.rank, h.size};
    CHECK_OK(storm_engine_expect(h.engine, (h.rank + 1) % h.size));
    run_step(&h, 5000);
    size_t busy = ring_bytes(&h);
    CHECK(busy >= 1024 * sizeof(struct shuttle));
    for (int i = 0; i < 20; i++) { /* one packet keeps the ring in use */
        CHECK_OK(storm_engine_trim(h.engine));
        run_step(&h, 0);
        run_step(&h, i < 10);
    }
    CHECK(ring_bytes(&h) < busy / 2);
    for (int i = 0; i < 2; i++) /* nothing at all */
        CHECK_OK(storm_engine_trim(h.engine));
    run_step(&h, 0);
    CHECK(ring_bytes(&h) < busy / 8);
    run_step(&h, 5000);
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(h.engine, &stats);
    uint64_t sent = 0, packets;
    int rank;
    for (size_t i = 0;
         storm_engine_traffic(h.engine, i, &rank, &packets) == STORM_OK; i++) {
        CHECK_EQ(rank, (h.rank + 1) % h.size);
        sent += packets;
    }
    CHECK_EQ(sent, stats.transfers);
    uint64_t all = 0;
    MPI_Allreduce(&stats.absorbed, &all, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_EQ(all, 10010 * (uint64_t)h.size);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
