/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; backend: shm; timeout: 60 */
/* TEST ranks: 2; backend: p2p; timeout: 60 */
/*
 * BATCH-2: on a crowded node a rank makes no more packets while many wait for
 * room. All ranks share one core here; the last one is slow, and the others
 * make packets for it whenever they are called. What they keep does not grow
 * with what they make in all.
 */
#include <sched.h>
#include <time.h>

#include "harness.h"

enum { N_PACKETS = 40000, PER_CALL = 32, RECORD_WORDS = 16 };

struct parcel {
    uint64_t to_make; /* a maker's; 0: on its way */
    uint64_t pad[RECORD_WORDS - 1];
};

struct office {
    int rank, last;
    uint64_t n_arrived;
};

/* On the first processor that rank 0 may use. */
static void share_core(void)
{
    cpu_set_t all, one;
    size_t first = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

static void make(struct storm_step *step, struct parcel *maker)
{
    for (int i = 0; i < PER_CALL && maker->to_make > 0; i++) {
        struct parcel *parcel = storm_step_new(step);
        CHECK(parcel != NULL);
        *parcel = (struct parcel){0};
        maker->to_make--;
    }
}

static void handle(void *self, struct storm_step *step, void *const *packets,
                   size_t n, struct storm_outcome *outcomes)
{
    struct office *office = self;
    for (size_t i = 0; i < n; i++) {
        struct parcel *parcel = packets[i];
        bool makes = parcel->to_make > 0;
        if (makes)
            make(step, parcel);
        else
            office->n_arrived += office->rank == office->last;
        storm_fate fate = makes && parcel->to_make > 0 ? STORM_FATE_CONTINUE
                          : makes || office->rank == office->last
                              ? STORM_FATE_ABSORBED
                              : STORM_FATE_SEND;
        outcomes[i] =
            (struct storm_outcome){.fate = fate, .rank = office->last};
    }
    const struct timespec slow = {.tv_nsec = 200000};
    if (office->rank == office->last) /* and the core is for the others */
        nanosleep(&slow, NULL);
}

/* Peak memory of a label on this rank. */
static size_t peak_bytes(const struct harness *h, const char *label)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    for (size_t i = 0; storm_context_memory(h->context, i, &entry) == STORM_OK;
         i++)
        if (strcmp(entry.label, label) == 0)
            return entry.peak_bytes;
    return 0;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    share_core();
    struct office office = {0};
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct parcel),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &office,
                                           .step_batch = handle}};
    struct harness h;
    /* Rings must not grow in place of the store. */
    const char *settings[] = {"transport.ring_slots=256",
                              "transport.ring_memory_mb=1", NULL};
    CHECK_OK(harness_open(&h, &params, settings));
    office.rank = h.rank;
    office.last = h.size - 1;
    struct parcel maker = {.to_make = N_PACKETS};
    if (h.rank < office.last)
        CHECK_OK(storm_engine_add(h.engine, &maker));
    CHECK_OK(storm_engine_step(h.engine));
    size_t bytes = peak_bytes(&h, "packets");
    printf("rank %d: %zu bytes of packets\n", h.rank, bytes);
    if (h.rank < office.last)
        CHECK(bytes < N_PACKETS * sizeof maker / 4);
    else
        CHECK_EQ(office.n_arrived, (uint64_t)N_PACKETS * (uint64_t)office.last);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
