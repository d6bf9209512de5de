/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 7; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60;
 *      label: slow-asan slow-mpich */
/*
 * A rank that is a step ahead does not mix its packets or waves with those of
 * a rank that is still in the step before: packets carry the number of their
 * step. Many tiny steps, so that ranks overtake each other all the time.
 * The engine's agreements before and after a step would keep them together
 * (STEP-1): here they are answered at once, so that the fence stands alone.
 */
#include "base/hash.h"
#include "harness.h"

#ifndef FENCE_LESS /* so many times fewer, where operations are slow */
#define FENCE_LESS 1
#endif

enum { N_STEPS = 1500 / FENCE_LESS, N_HOPS = 4 };

static bool agree_at_once;

int MPI_Iallreduce(const void *mine, void *all, int n, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    if (!agree_at_once)
        return PMPI_Iallreduce(mine, all, n, type, op, comm, request);
    CHECK(n == 1 && type == MPI_INT);
    memcpy(all, mine, sizeof(int));
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

struct fenced {
    uint64_t step, id, hop, pad[3];
};

struct fence {
    int rank, size;
    uint64_t step; /* which this rank is in */
    uint64_t visits;
};

static storm_status begin(void *self, struct storm_step *step)
{
    struct fence *f = self;
    f->step = storm_step_number(step);
    /* Ranks create different numbers of packets, at times none. */
    uint64_t n = storm_hash_fold(f->step, (uint64_t)f->rank) % 4;
    for (uint64_t i = 0; i < n; i++) {
        struct fenced packet = {.step = f->step,
                                .id = (uint64_t)f->rank << 32 | i};
        CHECK_OK(storm_step_spawn(step, &packet));
    }
    return STORM_OK;
}

static void hop(void *self, struct storm_step *step, void *packet,
                struct storm_outcome *outcome)
{
    struct fence *f = self;
    struct fenced *p = packet;
    CHECK_EQ(p->step, f->step);
    CHECK_EQ(storm_step_number(step), f->step);
    f->visits++;
    outcome->events = 1;
    outcome->fate = ++p->hop == N_HOPS ? STORM_FATE_ABSORBED : STORM_FATE_SEND;
    outcome->rank =
        (int)(storm_hash_fold(p->id + p->step, p->hop) % (uint64_t)f->size);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct fence f = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct fenced),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &f,
                                           .pre_step = begin,
                                           .step = hop}};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    f.rank = h.rank;
    f.size = h.size;
    agree_at_once = true;
    for (int i = 0; i < N_STEPS; i++)
        CHECK_OK(storm_engine_step(h.engine));
    agree_at_once = false;
    uint64_t expected = 0, all = 0;
    for (uint64_t step = 0; step < N_STEPS; step++)
        for (int r = 0; r < h.size; r++)
            expected += N_HOPS * (storm_hash_fold(step, (uint64_t)r) % 4);
    MPI_Allreduce(&f.visits, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, expected);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
