/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; backend: shm p2p; timeout: 60 */
/* TEST ranks: 2; backend: ofi-tcp; timeout: 60; label: slow-asan slow-mpich */
/*
 * TAGS-1, TAGS-2: engines of one context share its communicator and get their
 * own packets alone: two that take steps in turn; one that is created right
 * after another has failed with packets in flight; many, one after another, of
 * which MPI has tags for two at a time.
 */
#include "base/hash.h"
#include "harness.h"

/* The duplicate has tags for 9 blocks: its boot, and two engines of four. */
enum { N_PACKETS = 300, N_HOPS = 10, N_FAILED = 4, N_LATER = 8, FEW = 100 };

static int max_tag; /* 0: that of MPI */

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    if (key != MPI_TAG_UB || max_tag == 0)
        return PMPI_Comm_get_attr(comm, key, value, found);
    *(int **)value = &max_tag;
    *found = 1;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    CHECK(max_tag == 0 || tag < max_tag);
    return PMPI_Isend(bytes, n, type, to, tag, comm, request);
}

struct traveller {
    uint64_t engine, id, hop, pad;
};

struct world {
    struct storm_engine *engine;
    uint64_t number;   /* of the engine, in its packets */
    uint64_t n_visits; /* in this step */
    uint64_t fails_at; /* this visit; 0: never */
    int rank, size;
};

static void travel(void *self, struct storm_step *step, void *packet,
                   struct storm_outcome *outcome)
{
    struct world *world = self;
    struct traveller *t = packet;
    (void)step;
    CHECK_EQ(t->engine, world->number);
    outcome->events = 1;
    outcome->fate = ++t->hop % N_HOPS == 0                 ? STORM_FATE_CENSUS
                    : ++world->n_visits == world->fails_at ? 77
                                                           : STORM_FATE_SEND;
    outcome->rank =
        (int)(storm_hash_fold(t->id, t->hop) % (uint64_t)world->size);
}

static struct storm_engine_params params_of(struct world *world,
                                            const struct storm_physics *physics)
{
    /* Records of another engine have another length. */
    return (struct storm_engine_params){
        .size = sizeof(struct storm_engine_params),
        .record_bytes = sizeof(struct traveller) + 16 * (world->number % 4),
        .physics = physics};
}

static struct storm_physics physics_of(struct world *world)
{
    return (struct storm_physics){
        .size = sizeof(struct storm_physics), .self = world, .step = travel};
}

static void fill(struct world *world)
{
    static unsigned char record[sizeof(struct traveller) + 64];
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct traveller t = {.engine = world->number,
                              .id = (uint64_t)world->rank << 32 | i};
        memcpy(record, &t, sizeof t);
        CHECK_OK(storm_engine_add(world->engine, record));
    }
}

static void create(const struct harness *h, uint64_t number, struct world *at)
{
    *at = (struct world){.number = number, .rank = h->rank, .size = h->size};
    const struct storm_physics physics = physics_of(at);
    const struct storm_engine_params params = params_of(at, &physics);
    CHECK_OK(storm_engine_create(h->context, &params, &at->engine));
    fill(at);
}

static void take_step(struct world *world)
{
    uint64_t all = 0;
    world->n_visits = 0;
    check_where("rank %d, engine %d", world->rank, (int)world->number);
    CHECK_OK(storm_engine_step(world->engine));
    MPI_Allreduce(&world->n_visits, &all, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_EQ(all, (uint64_t)world->size * N_PACKETS * (N_HOPS - 1));
}

/* One rank fails while packets are on their way; the next engine is there as
 * soon as this one is gone. */
static void fail_and_follow(const struct harness *h, uint64_t number)
{
    struct world broken, next;
    create(h, number, &broken);
    broken.fails_at = h->rank == h->size - 1 ? N_PACKETS / 2 : 0;
    storm_status status = storm_engine_step(broken.engine);
    CHECK_EQ(status, broken.fails_at ? STORM_ERR_ARG : STORM_ERR_PEER);
    storm_engine_destroy(broken.engine);
    create(h, number + 1, &next);
    take_step(&next);
    take_step(&next);
    storm_engine_destroy(next.engine);
}

int main(void)
{
    struct harness h;
    struct world first = {.number = 1}, second;
    const struct storm_physics physics = physics_of(&first);
    const struct storm_engine_params params = params_of(&first, &physics);
    MPI_Init(NULL, NULL);

    CHECK_OK(harness_open(&h, &params, NULL));
    first.engine = h.engine;
    first.rank = h.rank;
    first.size = h.size;
    fill(&first);
    create(&h, 2, &second);
    for (int i = 0; i < 5; i++) {
        take_step(&first);
        take_step(&second);
    }
    storm_engine_destroy(second.engine);
    for (uint64_t i = 0; i < N_FAILED; i++)
        fail_and_follow(&h, 3 + 2 * i);
    take_step(&first);
    harness_close(&h);

    max_tag = FEW;
    CHECK_OK(harness_open(&h, &params, NULL));
    first.engine = h.engine;
    fill(&first);
    for (uint64_t i = 0; i < N_LATER; i++) {
        create(&h, 20 + i, &second);
        take_step(&second);
        take_step(&first);
        storm_engine_destroy(second.engine);
    }
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
