/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60; label: slow-asan */
/* TEST ranks: 3; backend: ofi-shm; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 3; backend: ofi-sockets; timeout: 60; label: long */
/*
 * A step is not over while a packet is alive, however few there are and
 * wherever they hide. Two kinds, for thousands of generations, in engines that
 * are new, so that packets wait for their first rings while waves go round:
 *
 *   relay   visits a rank, spawns its successor, which is sent elsewhere, and
 *           ends: at most one packet is alive and it is nearly always new
 *   mother  goes from rank to rank and leaves a child behind at each, which is
 *           sent elsewhere and ends there at once
 */
#include "base/hash.h"
#include "harness.h"

enum { N_ENGINES = 20, N_STEPS = 4, N_GENERATIONS = 100 };

enum kind { RELAY, MOTHER, CHILD };

struct runner {
    uint64_t id, kind, generation;
    uint64_t arrived; /* 0: to be sent before its first visit */
    uint64_t pad[2];
};

struct relay {
    int rank, size;
    uint64_t visits;
};

static int where(const struct relay *relay, const struct runner *r)
{
    uint64_t key = storm_hash_fold(r->id, r->kind);
    return (int)(storm_hash_fold(key, r->generation) % (uint64_t)relay->size);
}

static void send(const struct relay *relay, struct runner *r,
                 struct storm_outcome *outcome)
{
    r->arrived = 1;
    outcome->fate = STORM_FATE_SEND;
    outcome->rank = where(relay, r);
}

static void visit(void *self, struct storm_step *step, void *packet,
                  struct storm_outcome *outcome)
{
    struct relay *relay = self;
    struct runner *r = packet;
    outcome->events = 1;
    if (!r->arrived) {
        send(relay, r, outcome);
        return;
    }
    relay->visits++;
    struct runner next = {.id = r->id, .kind = r->kind};
    outcome->fate = STORM_FATE_ABSORBED;
    if (r->kind == RELAY && r->generation + 1 < N_GENERATIONS) {
        next.generation = r->generation + 1;
        CHECK_OK(storm_step_spawn(step, &next));
    } else if (r->kind == MOTHER) {
        next.kind = CHILD;
        next.generation = r->generation;
        CHECK_OK(storm_step_spawn(step, &next));
        if (++r->generation < N_GENERATIONS)
            send(relay, r, outcome);
    }
}

/* How many of each kind begin in a step; returns the visits to expect. */
static uint64_t mix(uint64_t step, uint64_t n_out[2])
{
    static const uint64_t mixes[][2] = {{1, 0}, {0, 1}, {2, 0}, {1, 1}};
    n_out[RELAY] = mixes[step % 4][RELAY];
    n_out[MOTHER] = mixes[step % 4][MOTHER];
    return N_GENERATIONS * (n_out[RELAY] + 2 * n_out[MOTHER]);
}

static void run_step(struct harness *h, struct relay *relay, uint64_t step)
{
    uint64_t n[2], expected = mix(step, n), all = 0;
    for (uint64_t kind = RELAY; kind <= MOTHER; kind++)
        for (uint64_t i = 0; i < n[kind]; i++) {
            struct runner first = {
                .id = step << 8 | i, .kind = kind, .arrived = 1};
            if (where(relay, &first) == h->rank)
                CHECK_OK(storm_engine_add(h->engine, &first));
        }
    relay->visits = 0;
    CHECK_OK(storm_engine_step(h->engine));
    MPI_Allreduce(&relay->visits, &all, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    CHECK_EQ(all, expected);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (uint64_t i = 0; i < N_ENGINES; i++) {
        struct relay relay = {0};
        struct storm_engine_params params = {
            .size = sizeof params,
            .record_bytes = sizeof(struct runner),
            .physics =
                &(struct storm_physics){.size = sizeof(struct storm_physics),
                                        .self = &relay,
                                        .step = visit}};
        /* Rings come late. */
        const char *settings[] = {"transport.control_every=1000000", NULL};
        struct harness h;
        CHECK_OK(harness_open(&h, &params, settings));
        relay.rank = h.rank;
        relay.size = h.size;
        for (uint64_t step = 0; step < N_STEPS; step++) {
            check_where("rank %d, engine %d, step %d", h.rank, (int)i,
                        (int)step);
            run_step(&h, &relay, i + step);
        }
        harness_close(&h);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
