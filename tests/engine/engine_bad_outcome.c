/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60; label: slow-asan */
/*
 * A callback that answers nonsense on one rank ends the step with an error on
 * all ranks, logged once, and no rank hangs. A later step is refused.
 */
#include "harness.h"

struct bad {
    int rank, bad_rank;
    struct storm_outcome answer;
};

static void bad_step(void *self, struct storm_step *step, void *packet,
                     struct storm_outcome *outcome)
{
    struct bad *bad = self;
    int *hops = packet;
    (void)step;
    outcome->events = 1;
    outcome->fate = --*hops > 0 ? STORM_FATE_CONTINUE : STORM_FATE_ABSORBED;
    if (bad->rank == bad->bad_rank)
        *outcome = bad->answer;
}

static void bad_apply(void *self, struct storm_step *step, void *packet,
                      struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_BOUNDARY;
}

static void run(struct storm_outcome answer, const char *message)
{
    struct bad bad = {.answer = answer};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &bad,
                                           .step = bad_step},
        .boundary =
            &(struct storm_boundary){.size = sizeof(struct storm_boundary),
                                     .apply = bad_apply},
    };
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    bad.rank = h.rank;
    bad.bad_rank = h.size / 2;
    int record[8] = {1000};
    for (int i = 0; i < 100; i++)
        CHECK_OK(storm_engine_add(h.engine, record));
    storm_status status = storm_engine_step(h.engine);
    CHECK(status == (h.rank == bad.bad_rank ? STORM_ERR_ARG : STORM_ERR_PEER));
    CHECK_EQ(h.n_errors, h.rank == bad.bad_rank);
    if (h.n_errors)
        CHECK(strstr(h.error, message));
    CHECK(storm_engine_step(h.engine) == STORM_ERR_STATE);
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    run((struct storm_outcome){.fate = STORM_FATE_SEND, .rank = size},
        "sends a packet to rank");
    run((struct storm_outcome){.fate = STORM_FATE_SEND, .rank = -1},
        "sends a packet to rank -1");
    run((struct storm_outcome){.fate = 99}, "unknown fate 99");
    run((struct storm_outcome){.fate = (storm_fate)-1}, "unknown fate -1");
    run((struct storm_outcome){.fate = STORM_FATE_BOUNDARY}, "the boundary");
    MPI_Finalize();
    return CHECK_PASS;
}
