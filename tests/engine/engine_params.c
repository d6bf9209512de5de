/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; backend: auto; env: STORM_RANKS_PER_NODE=1; timeout: 30 */
/* What create refuses, with which status, logged once. */
#include "harness.h"

static void ends(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_ABSORBED;
}

static void refuse(struct storm_engine_params params, const char *setting,
                   storm_status expected, const char *message)
{
    const char *settings[] = {setting, NULL};
    struct harness h;
    CHECK(harness_open(&h, &params, settings) == expected);
    CHECK_EQ(harness_count(h.n_errors), 1);
    if (h.n_errors)
        CHECK(strstr(h.error, message));
    harness_close(&h);
}

/* An engine may get its physics later, but not never. */
static void attach_later(struct storm_engine_params params)
{
    struct harness h;
    struct storm_physics physics = STORM_PHYSICS_INIT;
    char record[4096] = {0};
    params.physics = NULL;
    CHECK_OK(harness_open(&h, &params, NULL));
    CHECK(storm_engine_step(h.engine) == STORM_ERR_STATE);
    CHECK(strstr(h.error, "no physics"));
    CHECK(storm_engine_use(h.engine, &physics, NULL, NULL) == STORM_ERR_ARG);
    physics.step = ends;
    physics.record_bytes = params.record_bytes + 16;
    CHECK(storm_engine_use(h.engine, &physics, NULL, NULL) == STORM_ERR_ARG);
    if (h.rank == 0)
        CHECK(strstr(h.error, "works on records"));
    struct storm_boundary boundary = STORM_BOUNDARY_INIT;
    struct storm_population population = STORM_POPULATION_INIT;
    boundary.record_bytes = population.record_bytes = physics.record_bytes;
    CHECK(storm_engine_use(h.engine, NULL, &boundary, NULL) == STORM_ERR_ARG);
    CHECK(storm_engine_use(h.engine, NULL, NULL, &population) == STORM_ERR_ARG);
    physics.record_bytes = params.record_bytes;
    CHECK_OK(storm_engine_use(h.engine, &physics, NULL, NULL));
    CHECK_OK(storm_engine_add(h.engine, record));
    CHECK_OK(storm_engine_step(h.engine));
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    static const size_t bad[] = {0, 16, 20, 31, 33, 40, 4112, 8192};
    struct storm_physics physics = STORM_PHYSICS_INIT;
    physics.step = ends;
    struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
    params.physics = &physics;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        params.record_bytes = bad[i];
        refuse(params, NULL, STORM_ERR_ARG, "multiple of 16 from 32 to 4096");
    }
    params.record_bytes = 48;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1)
        refuse(params, "transport.backend=shm", STORM_ERR_NOSUP,
               "on several nodes");
    physics.step = NULL;
    refuse(params, NULL, STORM_ERR_ARG, "neither step nor step_batch");
    physics.step = ends;
    physics.record_bytes = 64;
    refuse(params, NULL, STORM_ERR_ARG, "works on records of 64");
    physics.record_bytes = 0;
    params.size = 0;
    refuse(params, NULL, STORM_ERR_ARG, "STORM_..._INIT");
    params.size = sizeof params;
    static const size_t good[] = {32, 48, 4096};
    for (size_t i = 0; i < 3; i++) {
        struct harness h;
        params.record_bytes = good[i];
        CHECK_OK(harness_open(&h, &params, NULL));
        char record[4096] = {0};
        CHECK_OK(storm_engine_add(h.engine, record));
        CHECK_OK(storm_engine_step(h.engine));
        CHECK(storm_engine_expect(h.engine, h.size) == STORM_ERR_ARG);
        harness_close(&h);
    }
    attach_later(params);
    MPI_Finalize();
    return CHECK_PASS;
}
