/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: auto; timeout: 60 */
/*
 * The network loses a rank in the middle of a step: the step fails on every
 * rank, a rank logs which one it was, and the engine can be destroyed.
 */
#include "harness.h"
#include "support/chaos.h"
#include "walk.h"

/* Found before the library's own list. */
const struct storm_fabric_ops *const storm_fabric_list[] = {&chaos_shm_losing,
                                                            NULL};

enum { N_WALKERS = 200, MAX_STEPS = 50 };

int main(void)
{
    MPI_Init(NULL, NULL);
    struct walk walk = {.hops = 20, .max_depth = 2};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct walker),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &walk,
                                           .step = walk_step}};
    const char *settings[] = {"transport.ring_slots=16", "transport.batch=4",
                              NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    walk.size = h.size;
    storm_status status = STORM_OK;
    int n_steps = 0;
    for (; status >= 0 && n_steps < MAX_STEPS; n_steps++) {
        for (uint64_t i = 0; i < N_WALKERS; i++) {
            struct walker w = {.id = (uint64_t)n_steps << 32 |
                                     (uint64_t)h.rank << 16 | i};
            CHECK_OK(storm_engine_add(h.engine, &w));
        }
        status = storm_engine_step(h.engine);
    }
    CHECK(status < 0);
    CHECK_EQ(harness_count(status < 0), h.size);
    CHECK(harness_count(strstr(h.error, "to rank 1 failed") != NULL) > 0);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
