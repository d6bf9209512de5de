/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3 5; backend: shm p2p; timeout: 60 */
/* TEST ranks: 2; backend: mpirma; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60; label: slow-mpich */
/* TEST ranks: 3; backend: ofi-shm ofi-sockets; timeout: 60;
 *      label: slow-asan slow-mpich */
/*
 * An error of one rank's callback, whichever it is, becomes an error of all
 * ranks: at once or in their next step, even if the failing rank takes no part
 * in it any more but goes on to destroy.
 */
#include "harness.h"

enum where { PRE, INJECT, POPULATION, POST };

struct failing {
    enum where where;
    int culprit;
};

static storm_status fail_if(void *self, enum where where)
{
    struct failing *f = self;
    return f->culprit && f->where == where ? STORM_ERR_IO : STORM_OK;
}

static storm_status pre(void *self, struct storm_step *step)
{
    (void)step;
    return fail_if(self, PRE);
}

static storm_status inject(void *self, struct storm_step *step)
{
    (void)step;
    return fail_if(self, INJECT);
}

static storm_status population(void *self, struct storm_step *step)
{
    (void)step;
    return fail_if(self, POPULATION);
}

static storm_status post(void *self, struct storm_step *step)
{
    (void)step;
    return fail_if(self, POST);
}

static void step_once(void *self, struct storm_step *step, void *packet,
                      struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    *outcome = (struct storm_outcome){.fate = STORM_FATE_CENSUS, .events = 1};
}

static void run(enum where where, int culprit)
{
    struct failing f = {.where = where};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &f,
                                           .pre_step = pre,
                                           .step = step_once,
                                           .post_step = post},
        .boundary =
            &(struct storm_boundary){.size = sizeof(struct storm_boundary),
                                     .self = &f,
                                     .inject = inject},
        .population =
            &(struct storm_population){.size = sizeof(struct storm_population),
                                       .self = &f,
                                       .control = population},
    };
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    int record[8] = {0};
    CHECK_OK(storm_engine_add(h.engine, record));
    CHECK_OK(storm_engine_step(h.engine)); /* all is well */
    f.culprit = h.rank == culprit % h.size;
    storm_status status = storm_engine_step(h.engine);
    if (f.culprit)
        CHECK(status == STORM_ERR_IO);
    else if (status == STORM_OK && where >= POPULATION)
        CHECK(storm_engine_step(h.engine) == STORM_ERR_PEER);
    else
        CHECK(status == STORM_ERR_PEER);
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int culprit = 0; culprit < 3; culprit++)
        for (int where = PRE; where <= POST; where++)
            run((enum where)where, culprit);
    MPI_Finalize();
    return CHECK_PASS;
}
