/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm ofi-tcp; timeout: 60 */
/*
 * What is polled for every so many iterations is also polled for every so many
 * milliseconds: between ranks whose physics takes a millisecond per call, the
 * first packet, which needs a ring first, arrives while both still compute. On
 * a busy machine a rank may be without a core for all that time: one of a few
 * tries is enough.
 */
#include "base/clock.h"
#include "harness.h"

enum { N_CALLS = 400, BUSY = 0, TRAVELLER = 1, MAX_TRIES = 20 };

struct body {
    uint64_t kind, n_calls, pad[4];
};

struct world {
    int rank;
    uint64_t n_calls;    /* of the busy packet */
    uint64_t arrived_at; /* that number when the traveller came */
};

static void advance(void *self, struct storm_step *step, void *packet,
                    struct storm_outcome *outcome)
{
    struct world *world = self;
    struct body *body = packet;
    (void)step;
    outcome->events = 1;
    if (body->kind == TRAVELLER) {
        bool home = world->rank == 0;
        if (!home)
            world->arrived_at = world->n_calls;
        outcome->fate = home ? STORM_FATE_SEND : STORM_FATE_ABSORBED;
        outcome->rank = 1;
        return;
    }
    double until = storm_clock_seconds() + 1e-3;
    while (storm_clock_seconds() < until)
        continue;
    world->n_calls = ++body->n_calls;
    outcome->fate =
        body->n_calls < N_CALLS ? STORM_FATE_CONTINUE : STORM_FATE_ABSORBED;
}

/* After how many calls of the other rank the packet has come there. */
static uint64_t travel(void)
{
    struct harness h;
    struct world world = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct body),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &world,
                                           .step = advance}};
    const char *settings[] = {"transport.control_every=1000000",
                              "transport.batch=1", NULL};
    CHECK_OK(harness_open(&h, &params, settings));
    world.rank = h.rank;
    struct body busy = {.kind = BUSY}, traveller = {.kind = TRAVELLER};
    CHECK_OK(storm_engine_add(h.engine, &busy));
    if (h.rank == 0)
        CHECK_OK(storm_engine_add(h.engine, &traveller));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(storm_engine_step(h.engine));
    CHECK_EQ(world.n_calls, N_CALLS);
    MPI_Bcast(&world.arrived_at, 1, MPI_UINT64_T, 1, MPI_COMM_WORLD);
    if (h.rank == 0)
        printf("a packet after %llu calls\n",
               (unsigned long long)world.arrived_at);
    harness_close(&h);
    return world.arrived_at;
}

int main(void)
{
    int n_tries = 0;
    MPI_Init(NULL, NULL);
    while (travel() >= N_CALLS / 2)
        CHECK(++n_tries < MAX_TRIES);
    MPI_Finalize();
    return CHECK_PASS;
}
