/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm; timeout: 60 */
/*
 * KEEP-5, KEEP-6, POOL-4: packets that a device keeps are neither lost nor
 * found twice when callbacks ask for them before transport, when memory of the
 * device is short from the first step or runs out, when another physics with a
 * device of its own has a step, and when physics or engine end while packets
 * are kept. The state is that of a run on processors.
 */
#include "device/device_ops.h"
#include "engine/engine_internal.h"
#include "physics/streaming.h"
#include "problem.h"

enum { STEPS = 5 };

enum what {
    NOTHING,
    ASK,        /* before transport */
    NO_SLOTS,   /* there is no memory for any */
    NO_MEMORY,  /* that is left after the first step */
    OTHER,      /* steps of another physics */
    NEW_ENGINE, /* in place of the one before */
    TWO_ENGINES,
    NEW_PHYSICS,
    CASES
};

static struct device_pool *pool_of(const struct problem *p)
{
    return &p->streaming->pool;
}

static struct problem make(bool emulated)
{
    struct problem p = problem_default();
    p.streaming_params.walls[0] = STORM_WALL_REFLECT;
    p.emulated = emulated;
    return p;
}

/* ---- callbacks ----------------------------------------------------------- */

static storm_status ask(void *self, struct storm_step *step)
{
    size_t n, *n_asked = self;
    (void)storm_step_packets(step, &n);
    *n_asked += n;
    return STORM_OK;
}

static void ask_always(struct problem *p, size_t *n_asked)
{
    const struct storm_boundary boundary = {
        .size = sizeof boundary, .self = n_asked, .inject = ask};
    CHECK_OK(storm_engine_use(p->engine, NULL, &boundary, NULL));
}

/* Another physics: it counts packets, and leaves them as they are. */
static void rest(void *self, struct storm_step *step, void *const *packets,
                 size_t n, struct storm_outcome *outcomes)
{
    uint64_t *n_seen = self;
    (void)step;
    (void)packets;
    for (size_t i = 0; i < n; i++)
        outcomes[i] = (struct storm_outcome){.fate = STORM_FATE_CENSUS};
    *n_seen += n;
}

static storm_status has_rested(void *self, struct storm_step *step)
{
    (void)self;
    (void)step;
    return STORM_OK;
}

static uint64_t n_packets(const struct problem *p)
{
    struct storm_stats stats = STORM_STATS_INIT;
    CHECK_OK(storm_engine_stats(p->engine, &stats));
    return stats.census;
}

static void step_other(struct problem *p)
{
    uint64_t n_seen = 0, n = n_packets(p);
    const struct storm_physics physics = {.size = sizeof physics,
                                          .self = &n_seen,
                                          .step_batch = rest,
                                          .poll = has_rested};
    CHECK_OK(storm_engine_use(p->engine, &physics, NULL, NULL));
    CHECK_OK(storm_engine_step(p->engine));
    CHECK_EQ(n_seen, n);
    CHECK_EQ(n_packets(p), n);
    CHECK_OK(storm_streaming_attach(p->streaming, p->engine));
}

/* ---- who ends first ------------------------------------------------------ */

/* Packets are gone with the engine they were in. */
static void renew_engine(struct problem *p)
{
    storm_engine_destroy(p->engine);
    CHECK_OK(storm_engine_create(p->context, &p->engine_params, &p->engine));
    CHECK_OK(storm_streaming_attach(p->streaming, p->engine));
}

/* A step of another engine with the same physics. */
static void step_beside(struct problem *p)
{
    struct storm_engine *beside;
    uint64_t n = n_packets(p);
    CHECK_OK(storm_engine_create(p->context, &p->engine_params, &beside));
    CHECK_OK(storm_streaming_attach(p->streaming, beside));
    CHECK_OK(storm_engine_step(beside));
    CHECK_EQ(n_packets(p), n);
    storm_engine_destroy(beside);
}

/* Packets stay in the engine. */
static void renew_physics(struct problem *p)
{
    uint64_t n = n_packets(p);
    storm_streaming_destroy(p->streaming);
    CHECK_EQ(n_packets(p), n);
    CHECK_OK(storm_streaming_create(p->context, p->mesh, &p->streaming_params,
                                    &p->streaming));
    CHECK_OK(storm_streaming_attach(p->streaming, p->engine));
}

/* ---- cases --------------------------------------------------------------- */

/* Bytes of the device after a step, but for packets. */
static size_t bytes_without_packets(void)
{
    struct problem p = make(true);
    problem_open(&p, MPI_COMM_WORLD);
    CHECK_OK(storm_engine_step(p.engine));
    CHECK_OK(storm_engine_fetch(p.engine));
    device_image_free(&pool_of(&p)->slots);
    size_t bytes = p.context->env.device->counts.memory_bytes;
    problem_close(&p);
    return bytes;
}

static void between(struct problem *p, enum what what, int step)
{
    struct storm_device *device = p->context->env.device;
    if (what == NO_MEMORY && step == 0 && device != NULL)
        device->memory_max = device->counts.memory_bytes;
    if (what == OTHER && step % 2 == 1)
        step_other(p);
    if (what == NEW_ENGINE && step == 1)
        renew_engine(p);
    if (what == TWO_ENGINES && step % 2 == 1)
        step_beside(p);
    if (what == NEW_PHYSICS && step % 2 == 1)
        renew_physics(p);
}

static void check(enum what what)
{
    struct problem there = make(true), here = make(false);
    size_t n_there = 0, n_here = 0;
    size_t limit = what == NO_SLOTS ? bytes_without_packets() : 0;
    problem_open(&there, MPI_COMM_WORLD);
    problem_open(&here, MPI_COMM_WORLD);
    there.context->env.device->memory_max = limit;
    if (what == ASK) {
        ask_always(&there, &n_there);
        ask_always(&here, &n_here);
    }
    for (int step = 0; step < STEPS; step++) {
        check_where("case %d, step %d", (int)what, step);
        CHECK_OK(storm_engine_step(there.engine));
        CHECK_OK(storm_engine_step(here.engine));
        CHECK_EQ(n_packets(&there), n_packets(&here));
        CHECK((pool_of(&there)->n_census > 0) == (what != NO_SLOTS));
        between(&there, what, step);
        between(&here, what, step);
    }
    CHECK(n_there == n_here);
    CHECK_EQ(problem_hash(&there), problem_hash(&here));
    problem_close(&here);
    problem_close(&there);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (enum what what = NOTHING; what < CASES; what++)
        check(what);
    MPI_Finalize();
    return CHECK_PASS;
}
