/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60;
 *      label: slow-asan slow-mpich */
/*
 * A packet that never ends is found after transport.max_events events and the
 * step fails on all ranks: one that stays where it is, and one that is handed
 * from rank to rank for ever.
 */
#include "harness.h"

struct endless {
    int rank, size;
    int travels;
};

static void endless_step(void *self, struct storm_step *step, void *packet,
                         struct storm_outcome *outcome)
{
    struct endless *e = self;
    const int *ends = packet;
    (void)step;
    outcome->events = 1;
    outcome->fate = *ends ? STORM_FATE_CENSUS : STORM_FATE_CONTINUE;
    if (!*ends && e->travels) {
        outcome->fate = STORM_FATE_SEND;
        outcome->rank = (e->rank + 1) % e->size;
    }
}

static void run(int travels, int culprit)
{
    struct endless e = {.travels = travels};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &e,
                                           .step = endless_step}};
    const char *settings[] = {"transport.max_events=5000", NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    e.rank = h.rank;
    e.size = h.size;
    for (int i = 0; i < 500; i++) {
        int record[8] = {1};
        record[0] = !(i == 250 && h.rank == culprit % h.size);
        CHECK_OK(storm_engine_add(h.engine, record));
    }
    storm_status status = storm_engine_step(h.engine);
    CHECK(status == STORM_ERR_STATE || status == STORM_ERR_PEER);
    CHECK_EQ(harness_count(status == STORM_ERR_STATE), 1);
    CHECK_EQ(harness_count(h.n_errors), 1);
    if (h.n_errors)
        CHECK(strstr(h.error, "end"));
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    run(0, 0);
    run(0, 1);
    run(1, 1);
    MPI_Finalize();
    return CHECK_PASS;
}
