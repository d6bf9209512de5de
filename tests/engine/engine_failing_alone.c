/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: shm; timeout: 90; label: slow-asan slow-mpich */
/*
 * A callback fails on one rank while the others are in a collective call of the
 * context that it never makes (STEP-3): it logs its failure at once, and some
 * seconds later all ranks return from their calls, the step and destroy.
 */
#include "base/clock.h"
#include "harness.h"

enum where { PRE, POST, N_WHERE };

struct alone {
    enum where where;
    bool fails;
    struct storm_context *context;
    storm_status reduced;
};

static storm_status call(struct alone *a, enum where where)
{
    int one = 1;
    if (a->where != where)
        return STORM_OK;
    if (a->fails)
        return STORM_ERR_IO;
    a->reduced = storm_context_reduce(a->context, &one, 1, MPI_INT, MPI_SUM);
    return a->reduced;
}

static storm_status pre(void *self, struct storm_step *step)
{
    (void)step;
    return call(self, PRE);
}

static storm_status post(void *self, struct storm_step *step)
{
    (void)step;
    return call(self, POST);
}

static void step_once(void *self, struct storm_step *step, void *packet,
                      struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    *outcome = (struct storm_outcome){.fate = STORM_FATE_CENSUS, .events = 1};
}

static void run(enum where where, int culprit)
{
    struct alone a = {.where = where};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &a,
                                           .pre_step = pre,
                                           .step = step_once,
                                           .post_step = post},
    };
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    a.context = h.context;
    a.fails = h.rank == culprit;
    double began = storm_clock_seconds();
    storm_status status = storm_engine_step(h.engine);
    CHECK(storm_clock_seconds() - began < 100);
    CHECK(status == (a.fails ? STORM_ERR_IO : STORM_ERR_LOST));
    if (!a.fails)
        CHECK_EQ(a.reduced, STORM_ERR_LOST);
    else
        CHECK(strstr(h.error,
                     where == PRE ? "pre_step failed" : "post_step failed") ||
              strstr(h.error, "is lost"));
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    run(PRE, 2);
    run(POST, 0);
    MPI_Finalize();
    return CHECK_PASS;
}
