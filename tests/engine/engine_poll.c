/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; backend: shm; timeout: 60;
   env: ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 */
/* TEST ranks: 2; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 5; backend: shm p2p ofi-tcp; timeout: 60; label: long */
/*
 * A physics with `poll` (storm/engine.h): it gets the next batch when it has
 * said that the last one is done, no packet of which has moved or changed
 * meanwhile; batches have at most as many packets as it can use; every packet
 * makes all of its hops, however long poll takes. An error of poll ends the
 * step on all ranks. A physics whose batch is too large for any memory is
 * refused, and the one before it goes on.
 */
#include "base/hash.h"
#include "harness.h"

enum { N_STEPS = 3, N_PACKETS = 700, N_HOPS = 20, MAX_BATCH = 300 };

struct hopper {
    uint64_t id, hops, pad[2];
};

struct worker {
    int rank, size;
    uint64_t visits, polls;
    int delay;       /* polls until a batch is done */
    int fails_after; /* polls; 0: never */
    /* The batch under way. */
    void *const *packets;
    size_t n;
    struct storm_outcome *outcomes;
    uint64_t sum;
    int left;
};

static uint64_t sum_of(void *const *packets, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hopper *h = packets[i];
        sum = storm_hash_fold(sum, (uintptr_t)h);
        sum = storm_hash_fold(sum, storm_hash_fold(h->id, h->hops));
    }
    return sum;
}

static void begin(void *self, struct storm_step *step, void *const *packets,
                  size_t n, struct storm_outcome *outcomes)
{
    struct worker *w = self;
    (void)step;
    CHECK(w->packets == NULL);
    CHECK(n > 0 && n <= MAX_BATCH);
    w->packets = packets;
    w->n = n;
    w->outcomes = outcomes;
    w->sum = sum_of(packets, n);
    w->left = w->delay;
}

/* Every third visit is repeated here, else the next rank is random. */
static void hop(const struct worker *w, struct hopper *h,
                struct storm_outcome *outcome)
{
    *outcome = (struct storm_outcome){.fate = STORM_FATE_CENSUS, .events = 1};
    if (--h->hops == 0)
        return;
    outcome->fate = h->hops % 3 == 0 ? STORM_FATE_CONTINUE : STORM_FATE_SEND;
    outcome->rank = (int)(storm_hash_fold(h->id, h->hops) % (uint64_t)w->size);
}

static storm_status poll_batch(void *self, struct storm_step *step)
{
    struct worker *w = self;
    (void)step;
    CHECK(w->packets != NULL);
    w->polls++;
    if (w->fails_after > 0 && w->polls > (uint64_t)w->fails_after)
        return STORM_ERR_DEVICE;
    CHECK_EQ(sum_of(w->packets, w->n), w->sum);
    if (w->left-- > 0)
        return STORM_AGAIN;
    for (size_t i = 0; i < w->n; i++)
        hop(w, w->packets[i], &w->outcomes[i]);
    w->visits += w->n;
    w->packets = NULL;
    return STORM_OK;
}

static storm_status restart(void *self, struct storm_step *step)
{
    size_t n;
    void **packets = storm_step_packets(step, &n);
    (void)self;
    for (size_t i = 0; i < n; i++)
        ((struct hopper *)packets[i])->hops = N_HOPS;
    return STORM_OK;
}

static void run(int delay, int fails_after)
{
    struct worker w = {.delay = delay};
    const struct storm_physics physics = {.size = sizeof physics,
                                          .self = &w,
                                          .pre_step = restart,
                                          .step_batch = begin,
                                          .poll = poll_batch,
                                          .batch_packets = MAX_BATCH};
    struct storm_engine_params params = {.size = sizeof params,
                                         .record_bytes = sizeof(struct hopper),
                                         .batch_packets = 16};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    CHECK_OK(storm_engine_use(h.engine, &physics, NULL, NULL));
    struct storm_physics greedy = physics;
    greedy.batch_packets = (size_t)1 << 50;
    CHECK_EQ(storm_engine_use(h.engine, &greedy, NULL, NULL), STORM_ERR_NOMEM);
    w.rank = h.rank;
    w.size = h.size;
    w.fails_after = h.rank == h.size - 1 ? fails_after : 0;
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        const struct hopper packet = {.id = (uint64_t)h.rank << 32 | i};
        CHECK_OK(storm_engine_add(h.engine, &packet));
    }
    for (int step = 0; step < N_STEPS; step++) {
        uint64_t all = 0;
        check_where("delay %d, step %d", delay, step);
        w.visits = 0;
        storm_status status = storm_engine_step(h.engine);
        if (fails_after > 0) {
            CHECK(status < 0);
            break;
        }
        CHECK_OK(status);
        CHECK(w.packets == NULL);
        MPI_Allreduce(&w.visits, &all, 1, MPI_UINT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        CHECK_EQ(all, (uint64_t)h.size * N_PACKETS * N_HOPS);
    }
    harness_close(&h);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    run(0, 0);
    run(1, 0);
    run(40, 0);
    run(2, 30);
    MPI_Finalize();
    return CHECK_PASS;
}
