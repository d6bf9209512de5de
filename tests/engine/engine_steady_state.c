/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60; label: slow-mpich */
/* TEST ranks: 3; backend: ofi-shm ofi-sockets; timeout: 60; label: long */
/*
 * Once rings and lists have their size, a step allocates nothing, on any rank:
 * asserted by counting, for steps that all carry the same traffic. (A core that
 * is given to another process can make a queue longer than ever before; hence a
 * run of quiet steps, not a fixed number of warm ones.)
 */
#include "base/hash.h"
#include "harness.h"

enum { N_PACKETS = 2000, N_HOPS = 20, N_QUIET = 25, MAX_STEPS = 1000 };

struct traveller {
    uint64_t id, hop, pad[4];
};

static void travel(void *self, struct storm_step *step, void *packet,
                   struct storm_outcome *outcome)
{
    const int *size = self;
    struct traveller *t = packet;
    (void)step;
    outcome->events = 1;
    if (++t->hop % N_HOPS == 0) {
        outcome->fate = STORM_FATE_CENSUS;
        return;
    }
    /* The same path in every step. */
    outcome->fate = STORM_FATE_SEND;
    outcome->rank =
        (int)(storm_hash_fold(t->id, t->hop % N_HOPS) % (uint64_t)*size);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    int size;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct traveller),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &size,
                                           .step = travel}};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    size = h.size;
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct traveller t = {.id = (uint64_t)h.rank << 32 | i};
        CHECK_OK(storm_engine_add(h.engine, &t));
    }
    int quiet = 0, n_steps = 0;
    for (; quiet < N_QUIET && n_steps < MAX_STEPS; n_steps++) {
        struct storm_stats stats = STORM_STATS_INIT;
        storm_engine_reset_stats(h.engine);
        CHECK_OK(storm_engine_step(h.engine));
        storm_engine_stats(h.engine, &stats);
        quiet = harness_count(stats.allocations > 0) == 0 ? quiet + 1 : 0;
    }
    if (h.rank == 0)
        printf("%d steps without an allocation on any rank, after %d\n", quiet,
               n_steps - quiet);
    CHECK_EQ(quiet, N_QUIET);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
