/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: ofi-tcp ofi-shm; timeout: 60 */
/*
 * While a rank has packets, the loop calls MPI only to look for control
 * messages, once a look: counted through the profiling interface, between the
 * first and the last packet of a step whose rings are there already.
 */
#include "base/hash.h"
#include "harness.h"

enum { N_PACKETS = 2000, N_HOPS = 20, N_STEPS = 8 };

/* ---- counting -------------------------------------------------------------*/

static uint64_t n_calls; /* of MPI, by anybody in this process */

#define COUNTED(_name, _params, _args) \
    int MPI_##_name _params            \
    {                                  \
        n_calls++;                     \
        return PMPI_##_name _args;     \
    }

/* Everything that moves data, waits, or looks whether something is done. */
COUNTED(Test, (MPI_Request * r, int *f, MPI_Status *s), (r, f, s))
COUNTED(Wait, (MPI_Request * r, MPI_Status *s), (r, s))
COUNTED(Cancel, (MPI_Request * r), (r))
COUNTED(Iprobe, (int from, int tag, MPI_Comm c, int *f, MPI_Status *s),
        (from, tag, c, f, s))
COUNTED(Get_count, (const MPI_Status *s, MPI_Datatype t, int *n), (s, t, n))
COUNTED(Irecv,
        (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
         MPI_Request *r),
        (b, n, t, from, tag, c, r))
COUNTED(Isend,
        (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
         MPI_Request *r),
        (b, n, t, to, tag, c, r))
COUNTED(Issend,
        (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
         MPI_Request *r),
        (b, n, t, to, tag, c, r))
COUNTED(Send,
        (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
        (b, n, t, to, tag, c))
COUNTED(Recv,
        (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
         MPI_Status *s),
        (b, n, t, from, tag, c, s))
COUNTED(Barrier, (MPI_Comm c), (c))
COUNTED(Ibarrier, (MPI_Comm c, MPI_Request *r), (c, r))
COUNTED(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),
        (b, n, t, root, c))
COUNTED(Allreduce,
        (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (a, b, n, t, o, c))
COUNTED(Exscan,
        (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (a, b, n, t, o, c))
COUNTED(Allgather,
        (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u,
         MPI_Comm c),
        (a, n, t, b, m, u, c))
COUNTED(Put,
        (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m,
         MPI_Datatype u, MPI_Win w),
        (b, n, t, to, at, m, u, w))
COUNTED(Get,
        (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m,
         MPI_Datatype u, MPI_Win w),
        (b, n, t, to, at, m, u, w))
COUNTED(Rget,
        (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m,
         MPI_Datatype u, MPI_Win w, MPI_Request *r),
        (b, n, t, to, at, m, u, w, r))
COUNTED(Accumulate,
        (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m,
         MPI_Datatype u, MPI_Op o, MPI_Win w),
        (b, n, t, to, at, m, u, o, w))
COUNTED(Fetch_and_op,
        (const void *b, void *out, MPI_Datatype t, int to, MPI_Aint at,
         MPI_Op o, MPI_Win w),
        (b, out, t, to, at, o, w))
COUNTED(Compare_and_swap,
        (const void *b, const void *old, void *out, MPI_Datatype t, int to,
         MPI_Aint at, MPI_Win w),
        (b, old, out, t, to, at, w))
COUNTED(Win_flush, (int to, MPI_Win w), (to, w))
COUNTED(Win_sync, (MPI_Win w), (w))

/* ---- traffic --------------------------------------------------------------*/

struct traveller {
    uint64_t id, hop, pad[4];
};

/* What has been counted so far. */
struct reading {
    uint64_t calls, looks;
};

struct journey {
    struct harness h;
    uint64_t n_visits; /* in this step */
    struct reading first, last;
};

static struct reading read_counts(const struct journey *j)
{
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(j->h.engine, &stats);
    return (struct reading){.calls = n_calls, .looks = stats.control_polls};
}

static void travel(void *self, struct storm_step *step, void *packet,
                   struct storm_outcome *outcome)
{
    struct journey *j = self;
    struct traveller *t = packet;
    (void)step;
    j->last = read_counts(j);
    if (j->n_visits++ == 0)
        j->first = j->last;
    outcome->events = 1;
    if (++t->hop % N_HOPS == 0) {
        outcome->fate = STORM_FATE_CENSUS;
        return;
    }
    outcome->fate = STORM_FATE_SEND;
    outcome->rank =
        (int)(storm_hash_fold(t->id, t->hop % N_HOPS) % (uint64_t)j->h.size);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    struct journey j = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct traveller),
        .physics = &(struct storm_physics){
            .size = sizeof(struct storm_physics), .self = &j, .step = travel}};
    /* Room for everything: no ring grows. */
    const char *settings[] = {"transport.ring_slots=65536", NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    j.h = h;
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct traveller t = {.id = (uint64_t)h.rank << 32 | i};
        CHECK_OK(storm_engine_add(h.engine, &t));
    }
    for (int i = 0; i < N_STEPS; i++) {
        j.n_visits = 0;
        CHECK_OK(storm_engine_step(h.engine));
        if (i < N_STEPS / 2) /* rings are being made */
            continue;
        uint64_t calls = j.last.calls - j.first.calls;
        uint64_t looks = j.last.looks - j.first.looks;
        printf("rank %d, step %d: %llu visits, %llu looks for control "
               "messages, %llu calls of MPI\n",
               h.rank, i, (unsigned long long)j.n_visits,
               (unsigned long long)looks, (unsigned long long)calls);
        CHECK(j.n_visits > N_PACKETS);
        CHECK_EQ(calls, looks);
    }
    CHECK(n_calls > 0); /* the counters are in the way */
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
