/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; backend: shm; timeout: 30 */
/*
 * What callbacks see and do to the list of packets, and the counts:
 * created = census + absorbed + escaped, at all times.
 */
#include "harness.h"

struct counter {
    size_t n_pre, n_control, n_post;
    uint64_t spawned;
};

struct thing {
    uint64_t age, pad[3];
};

static storm_status spawn(struct counter *k, struct storm_step *step, size_t n)
{
    struct thing thing = {0};
    for (size_t i = 0; i < n; i++) {
        k->spawned++;
        if (storm_step_spawn(step, &thing) < 0)
            return STORM_ERR_NOMEM;
    }
    return STORM_OK;
}

static storm_status keeper_pre(void *self, struct storm_step *step)
{
    struct counter *k = self;
    void **list = storm_step_packets(step, &k->n_pre);
    for (size_t i = 0; i < k->n_pre; i++)
        CHECK(((struct thing *)list[i])->age > 0);
    for (size_t i = 0; i < k->n_pre; i += 4)
        storm_step_remove(step, i);
    storm_status status = spawn(k, step, 50);
    size_t n;
    storm_step_packets(step, &n);
    CHECK_EQ(n, k->n_pre); /* not those spawned since */
    return status;
}

static void keeper_step(void *self, struct storm_step *step, void *packet,
                        struct storm_outcome *outcome)
{
    struct counter *k = self;
    struct thing *thing = packet;
    size_t n;
    storm_step_packets(step, &n);
    CHECK_EQ(n, 0);
    if (thing->age++ % 8 == 7)
        CHECK_OK(spawn(k, step, 1));
    outcome->events = 1;
    outcome->fate = thing->age % 16 == 15  ? STORM_FATE_ABSORBED
                    : thing->age % 16 == 3 ? STORM_FATE_BOUNDARY
                                           : STORM_FATE_CENSUS;
}

static storm_status keeper_control(void *self, struct storm_step *step)
{
    struct counter *k = self;
    void **list = storm_step_packets(step, &k->n_control);
    for (size_t i = 0; i < k->n_control; i += 10)
        storm_step_remove(step, i);
    for (size_t i = 0; i < k->n_control; i += 10)
        CHECK(list[i] == NULL);
    return spawn(k, step, 7);
}

static storm_status keeper_post(void *self, struct storm_step *step)
{
    struct counter *k = self;
    size_t n;
    void **list = storm_step_packets(step, &n);
    k->n_post = n;
    for (size_t i = 0; i < n; i++)
        if (list[i] && ((struct thing *)list[i])->age == 0)
            ((struct thing *)list[i])->age = 1;
    return STORM_OK;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct counter k = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct thing),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &k,
                                           .pre_step = keeper_pre,
                                           .step = keeper_step,
                                           .post_step = keeper_post},
        .population =
            &(struct storm_population){.size = sizeof(struct storm_population),
                                       .self = &k,
                                       .control = keeper_control},
    };
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    for (int step = 0; step < 40; step++) {
        CHECK_OK(storm_engine_step(h.engine));
        CHECK_EQ(k.n_post, k.n_control + 7);
        struct storm_stats s = STORM_STATS_INIT;
        storm_engine_stats(h.engine, &s);
        size_t n;
        void *const *list = storm_engine_packets(h.engine, &n);
        for (size_t i = 0; i < n; i++)
            CHECK(list[i] != NULL);
        CHECK_EQ(s.census, n);
        CHECK_EQ(s.created, k.spawned);
        CHECK_EQ(s.created, s.census + s.absorbed + s.escaped);
    }
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
