/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60 */
/* TEST ranks: 3; backend: ofi-shm ofi-sockets; timeout: 60; label: long */
/*
 * An error of one rank's callback, whichever it is, becomes an error of the
 * step on all ranks (STEP-2), and is logged once, with its name. A rank that
 * cannot begin a step, or goes to destroy, lets no other into its pre_step,
 * which would wait there for it (STEP-1).
 */
#include "harness.h"

enum where { PRE, INJECT, POPULATION, POST };

static const char *const name[] = {"pre_step", "inject", "population control",
                                   "post_step"};

struct failing {
    enum where where;
    int culprit;
    struct storm_context *reduces; /* in pre_step, with all ranks; NULL: no */
};

static storm_status fail_if(void *self, enum where where)
{
    struct failing *f = self;
    return f->culprit && f->where == where ? STORM_ERR_IO : STORM_OK;
}

static storm_status pre(void *self, struct storm_step *step)
{
    struct failing *f = self;
    int one = 1;
    (void)step;
    if (f->reduces)
        CHECK_OK(storm_context_reduce(f->reduces, &one, 1, MPI_INT, MPI_SUM));
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

/* An engine whose first step succeeds. */
static void begin(struct harness *h, struct failing *f)
{
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = f,
                                           .pre_step = pre,
                                           .step = step_once,
                                           .post_step = post},
        .boundary =
            &(struct storm_boundary){.size = sizeof(struct storm_boundary),
                                     .self = f,
                                     .inject = inject},
        .population =
            &(struct storm_population){.size = sizeof(struct storm_population),
                                       .self = f,
                                       .control = population},
    };
    CHECK_OK(harness_open(h, &params, NULL));
    int record[8] = {0};
    CHECK_OK(storm_engine_add(h->engine, record));
    CHECK_OK(storm_engine_step(h->engine));
}

static void run(enum where where, int culprit)
{
    struct failing f = {.where = where};
    struct harness h;
    begin(&h, &f);
    f.culprit = h.rank == culprit % h.size;
    CHECK_EQ(storm_engine_step(h.engine),
             f.culprit ? STORM_ERR_IO : STORM_ERR_PEER);
    CHECK_EQ(h.n_errors, f.culprit);
    char wanted[80];
    snprintf(wanted, sizeof wanted,
             "%s failed in step 1 on rank %d: ", name[where], h.rank);
    if (f.culprit)
        CHECK(strstr(h.error, wanted));
    CHECK_EQ(storm_engine_step(h.engine), STORM_ERR_STATE);
    harness_close(&h);
}

/* One rank has no physics; the others keep theirs, and may go on later. */
static void refuses(int culprit)
{
    struct failing f = {.where = PRE};
    struct storm_engine_params params = {.size = sizeof params,
                                         .record_bytes = 32};
    struct storm_physics physics = {
        .size = sizeof physics, .self = &f, .pre_step = pre, .step = step_once};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    f.reduces = h.context;
    bool mine = h.rank == culprit % h.size;
    if (!mine)
        CHECK_OK(storm_engine_use(h.engine, &physics, NULL, NULL));
    CHECK_EQ(storm_engine_step(h.engine),
             mine ? STORM_ERR_STATE : STORM_ERR_PEER);
    if (mine)
        CHECK_OK(storm_engine_use(h.engine, &physics, NULL, NULL));
    CHECK_OK(storm_engine_step(h.engine));
    harness_close(&h);
}

/* One rank has enough after the first step. */
static void leaves(int culprit)
{
    struct failing f = {.where = PRE};
    struct harness h;
    begin(&h, &f);
    f.reduces = h.context;
    if (h.rank != culprit % h.size)
        CHECK_EQ(storm_engine_step(h.engine), STORM_ERR_PEER);
    harness_close(&h);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int culprit = 0; culprit < 3; culprit++)
        for (int where = PRE; where <= POST; where++)
            run((enum where)where, culprit);
    for (int culprit = 0; culprit < 2; culprit++) {
        refuses(culprit);
        leaves(culprit);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
