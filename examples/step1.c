/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Step 1: the smallest program. Packets walk round a circle of 60 stations
 * that is split over the ranks, and every station counts its visitors.
 *
 *   cc step1.c $(pkg-config --cflags --libs storm) && mpiexec -n 2 ./a.out
 *
 * What to see: a packet is a struct of our own; `step` defines what it does
 * next; to cross to another rank, it returns STORM_FATE_SEND; storm_engine_step
 * returns when no packet is under way on any rank.
 */
#include <stdio.h>

#include <storm/context.h>
#include <storm/engine.h>

enum { N_STATIONS = 60, N_PACKETS = 20 /* from each station */, N_HOPS = 100 };

/* At least 32 bytes, a multiple of 16. */
struct packet {
    long station;
    long hops_left;
    long unused[2];
};

struct circle {
    int rank, size;
    long visits[N_STATIONS]; /* of this rank: first .. last */
};

static int owner(const struct circle *circle, long station)
{
    return (int)(station * circle->size / N_STATIONS);
}

/* Before transport: make packets at the stations of this rank. */
static storm_status pre_step(void *self, struct storm_step *step)
{
    struct circle *circle = self;
    storm_status status = STORM_OK;
    for (long station = 0; station < N_STATIONS; station++)
        for (int i = 0; i < N_PACKETS && status >= 0; i++)
            if (owner(circle, station) == circle->rank) {
                struct packet packet = {.station = station,
                                        .hops_left = N_HOPS};
                status = storm_step_spawn(step, &packet);
            }
    return status;
}

/* One hop. The packet is on the rank that owns its station. */
static void step_packet(void *self, struct storm_step *step, void *record,
                        struct storm_outcome *outcome_out)
{
    struct circle *circle = self;
    struct packet *packet = record;
    (void)step;
    circle->visits[packet->station]++;
    outcome_out->events = 1;
    if (packet->hops_left-- == 0) {
        outcome_out->fate = STORM_FATE_ABSORBED;
        return;
    }
    packet->station = (packet->station + 1) % N_STATIONS;
    int rank = owner(circle, packet->station);
    outcome_out->fate =
        rank == circle->rank ? STORM_FATE_CONTINUE : STORM_FATE_SEND;
    outcome_out->rank = rank;
}

/* Add up the visits of all ranks; every station must have the same number. */
static int result(const struct circle *circle, MPI_Comm comm)
{
    const long expected = (long)N_PACKETS * (N_HOPS + 1);
    long visits[N_STATIONS], n_wrong = 0;
    MPI_Allreduce(circle->visits, visits, N_STATIONS, MPI_LONG, MPI_SUM, comm);
    for (long station = 0; station < N_STATIONS; station++)
        n_wrong += visits[station] != expected;
    if (circle->rank == 0)
        printf("step1: %d stations, %ld visitors each, %ld wrong\n", N_STATIONS,
               expected, n_wrong);
    return n_wrong > 0;
}

int main(int argc, char **argv)
{
    struct circle circle = {0};
    struct storm_context *context = NULL;
    struct storm_engine *engine = NULL;
    MPI_Init(&argc, &argv);

    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    if (status >= 0) {
        circle.rank = storm_context_rank(context);
        circle.size = storm_context_size(context);
        struct storm_physics physics = STORM_PHYSICS_INIT;
        physics.self = &circle;
        physics.pre_step = pre_step;
        physics.step = step_packet;
        struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
        params.record_bytes = sizeof(struct packet);
        params.physics = &physics;
        status = storm_engine_create(context, &params, &engine);
    }
    if (status >= 0)
        status = storm_engine_step(engine);

    if (context) /* what follows is collective: all ranks or none */
        status = storm_context_agree(context, status);
    int failed = status < 0 || result(&circle, MPI_COMM_WORLD);
    storm_engine_destroy(engine);
    storm_context_destroy(context);
    MPI_Finalize();
    return failed;
}
