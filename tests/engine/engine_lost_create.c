/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: shm p2p; timeout: 60; label: slow-asan slow-mpich */
/*
 * BOOT-3: a rank that is lost while all create an engine ends the call on the
 * others with STORM_ERR_LOST, whichever of its messages or of MPI's collectives
 * it leaves out.
 * It counts as lost as if it were killed, but stays: launchers would end the
 * others.
 */
#include <unistd.h>

#include "base/lifeline.h"
#include "engine/engine_context.h"
#include "harness.h"

/* The rank is lost in its n-th call from now on; 0: never. */
static int n_left;
static struct storm_context *context;

static bool lost_here(void)
{
    struct storm_lifeline *lifeline;
    if (n_left == 0 || --n_left > 0)
        return false;
    lifeline = storm_context_env(context)->lifeline;
    storm_lifeline_fail(lifeline);
    while (storm_lifeline_check(lifeline) == STORM_OK)
        usleep(100);
    return true;
}

#define JOINED(_name, _params, _args)                            \
    int MPI_##_name _params                                      \
    {                                                            \
        return lost_here() ? MPI_ERR_OTHER : PMPI_##_name _args; \
    }

JOINED(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))
JOINED(Comm_idup, (MPI_Comm c, MPI_Comm *out, MPI_Request *r), (c, out, r))
JOINED(Allreduce,
       (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
       (a, b, n, t, o, c))
JOINED(Iallreduce,
       (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
        MPI_Request *r),
       (a, b, n, t, o, c, r))
JOINED(Isend,
       (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
        MPI_Request *r),
       (b, n, t, to, tag, c, r))
JOINED(Issend,
       (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
        MPI_Request *r),
       (b, n, t, to, tag, c, r))

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_CENSUS;
}

static void ignore(void *self, storm_log_level level, int rank,
                   const char *message)
{
    (void)self, (void)level, (void)rank, (void)message;
}

/* Loses rank 1 in its i-th call; false if it makes fewer. */
static bool lose(int i)
{
    struct storm_context_params own = {.size = sizeof own, .log = ignore};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = 32,
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .step = stay}};
    struct storm_engine *engine = NULL;
    alarm(50); /* a rank that waits for ever fails the test */
    storm_status status = storm_context_create(MPI_COMM_WORLD, &own, &context);
    if (status == STORM_ERR_LOST)
        return true; /* the victim has come through that call and further */
    CHECK_OK(status);
    bool victim = storm_context_rank(context) == 1;
    check_where("rank %d, call %d", storm_context_rank(context), i);
    n_left = victim ? i : 0;
    status = storm_engine_create(context, &params, &engine);
    n_left = 0;
    /* One that has got all it needs notices in the next operation. */
    if (status == STORM_OK)
        status = storm_context_agree(context, STORM_OK);
    bool lost = status < 0;
    if (lost && !victim)
        CHECK_EQ(status, STORM_ERR_LOST);
    storm_engine_destroy(engine);
    storm_context_destroy(context);
    return lost;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    int n = 0;
    while (lose(n + 1))
        n++;
    CHECK(n >= 5); /* what is agreed on, some of it by collectives */
    MPI_Finalize();
    return CHECK_PASS;
}
