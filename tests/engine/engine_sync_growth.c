/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60 */
/* TEST ranks: 5; backend: shm; timeout: 60; label: slow-asan */
/*
 * Synchronous growth in the engine: every rank hands a burst to the next one
 * through a ring of 8 slots, so that all ranks of the cycle wait for each
 * other's rings again and again. All packets arrive, rings have grown, the time
 * of waiting is counted as growth; also with so little memory that rings cannot
 * grow as they should; and a rank that fails releases those that wait.
 */
#include <stdlib.h>
#include <time.h>

#include "harness.h"

enum {
    N_PACKETS = 3000,
    N_STEPS = 3,
    CULPRIT = 1,
    LATE_MS = 300,
    MAX_TRIES = 8
};

struct burst {
    int rank, size;
    uint64_t n_seen;
    bool fails;
};

/* Packets know whether they have travelled. */
struct packet {
    uint64_t travelled;
    uint64_t rest[3];
};

static storm_status create(void *self, struct storm_step *step)
{
    const struct burst *burst = self;
    const struct timespec nap = {.tv_nsec = LATE_MS * 1000000};
    if (burst->rank == CULPRIT && storm_step_number(step) == 0)
        nanosleep(&nap, NULL); /* whoever asks it for a ring waits so long */
    static const unsigned char blank[4096];
    for (int i = 0; i < N_PACKETS; i++)
        CHECK_OK(storm_step_spawn(step, blank));
    return STORM_OK;
}

static void hand_on(void *self, struct storm_step *step, void *record,
                    struct storm_outcome *outcome)
{
    struct burst *burst = self;
    struct packet *packet = record;
    (void)step;
    outcome->events = 1;
    if (packet->travelled) {
        burst->n_seen++;
        outcome->fate = burst->fails ? 77 : STORM_FATE_ABSORBED;
        return;
    }
    packet->travelled = 1;
    outcome->fate = STORM_FATE_SEND;
    outcome->rank = (burst->rank + 1) % burst->size;
}

/* Seconds that rank 0 has spent in growth, on all ranks. */
static double run(size_t record_bytes, const char *memory)
{
    struct burst burst = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = record_bytes,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &burst,
                                           .pre_step = create,
                                           .step = hand_on},
    };
    const char *settings[] = {"transport.growth=sync", "transport.ring_slots=8",
                              memory, NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    burst.rank = h.rank;
    burst.size = h.size;
    for (int i = 0; i < N_STEPS; i++)
        CHECK_OK(storm_engine_step(h.engine));
    CHECK_EQ(burst.n_seen, N_STEPS * N_PACKETS);
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(h.engine, &stats);
    /* Over a network the receiver may be done with 8 records before the sender
     * has looked. */
    const char *backend = getenv("STORM_BACKEND");
    int n_grown = harness_count(stats.growths > 0);
    CHECK(n_grown > 0 || !backend || strcmp(backend, "shm") != 0);
    if (h.rank == 0)
        printf("%zu bytes, %s: %llu growths, %.6f s in growth, %.6f s in all\n",
               record_bytes, memory, (unsigned long long)stats.growths,
               stats.times.growth, stats.seconds);
    double growth_s = stats.times.growth;
    MPI_Bcast(&growth_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    harness_close(&h);
    return growth_s;
}

/* The culprit fails when others have packets for it and wait. */
static void fail_in_mid_wait(void)
{
    struct burst burst = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct packet),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &burst,
                                           .pre_step = create,
                                           .step = hand_on},
    };
    const char *settings[] = {"transport.growth=sync", "transport.ring_slots=8",
                              NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    burst.rank = h.rank;
    burst.size = h.size;
    burst.fails = h.rank == CULPRIT;
    storm_status status = storm_engine_step(h.engine);
    CHECK(status == (h.rank == CULPRIT ? STORM_ERR_ARG : STORM_ERR_PEER));
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    /* Only every so many turns are timed: on a busy machine that may miss. */
    double growth_s = 0;
    for (int i = 0; i < MAX_TRIES && growth_s < 0.5e-3 * LATE_MS; i++)
        growth_s = run(sizeof(struct packet), "transport.ring_memory_mb=0");
    CHECK(growth_s >= 0.5e-3 * LATE_MS);
    /* 1 MiB has room for 128 records of 4 KiB beside the 64 that were there. */
    (void)run(4096, "transport.ring_memory_mb=1");
    fail_in_mid_wait();
    MPI_Finalize();
    return CHECK_PASS;
}
