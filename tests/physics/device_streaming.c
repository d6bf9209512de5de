/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 1; timeout: 60; label: long */
/* TEST ranks: 3; backend: shm p2p ofi-tcp; timeout: 60; label: long */
/*
 * RUN-2: packets and tallies of a run on the emulated device have the bits of
 * one on processors, on all kinds of meshes, with every rank on a device and
 * with the odd ones alone; for kernels that end after few events, too.
 */
#include "physics/streaming.h"
#include "problem.h"
#include "support/sphere.h"

enum {
    STEPS = 3,
    REFLECT = 1,
    PERIODIC = 2,
    VORONOI = 4,
    OCTREE = 8,
    HOST = 16
};

static struct sphere sphere = {.centre_cm = {4, 5, 3}, .radius_cm = 2.7};
static const struct host *host;

static struct problem make(unsigned what)
{
    struct problem p = problem_default();
    for (int d = 0; d < 3; d++) {
        p.cart.periodic[d] = what & PERIODIC;
        if (what & REFLECT)
            p.streaming_params.walls[2 * d] = STORM_WALL_REFLECT;
    }
    p.cart.stretch[0] = 1.2;
    if (what & VORONOI)
        p.set = (struct storm_points_params){
            .size = sizeof(struct storm_points_params),
            .seed = 3,
            .n_total = 480};
    if (what & OCTREE)
        p.octree = (struct storm_octree_params){
            .size = sizeof(struct storm_octree_params),
            .n = {3, 2, 2},
            .refine_levels = 2,
            .refine = sphere_refine,
            .refine_self = &sphere};
    if (what & HOST)
        p.host = host;
    return p;
}

/* Who has a device: all ranks, or every other. `events`: of a packet in a
 * launch; 0: as many as it likes. */
enum who { ALL, ODD };

static void check(unsigned what, enum who who, uint64_t events)
{
    struct problem there = make(what), here = make(what);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    there.emulated = who == ALL || rank % 2 != 0;
    check_where("case %#x, who %d, %d events", what, (int)who, (int)events);
    problem_open(&there, MPI_COMM_WORLD);
    problem_open(&here, MPI_COMM_WORLD);
    if (events > 0)
        there.streaming->run.events = events;
    for (int step = 0; step < STEPS; step++) {
        CHECK_OK(storm_engine_step(there.engine));
        CHECK_OK(storm_engine_step(here.engine));
        CHECK_EQ(problem_hash(&there), problem_hash(&here));
        double energy[4], error;
        CHECK_OK(storm_streaming_balance(there.streaming, there.engine, energy,
                                         &error));
        CHECK(error == 0.0);
    }
    if (there.emulated)
        CHECK(device_launches(there.context) >= STEPS);
    struct storm_stats stats[2] = {STORM_STATS_INIT, STORM_STATS_INIT};
    CHECK_OK(storm_engine_stats(there.engine, &stats[0]));
    CHECK_OK(storm_engine_stats(here.engine, &stats[1]));
    CHECK_EQ(stats[0].events, stats[1].events);
    problem_close(&here);
    problem_close(&there);
}

static void check_host(struct host given)
{
    host = &given;
    check(HOST, ALL, 0);
    check(HOST | REFLECT, ODD, 2);
    host_free(&given);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    static const unsigned kinds[] = {0, OCTREE, VORONOI};
    const double lo[3] = {0, 0, 0}, hi[3] = {10, 8, 6};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        check(kinds[k], ALL, 0);
        check(kinds[k] | REFLECT, ODD, 0);
        check(kinds[k] | PERIODIC, ALL, 2);
    }
    check_host(host_of_bricks(lo, hi));
    check_host(host_of_tetrahedra(3, lo, hi));
    MPI_Finalize();
    return CHECK_PASS;
}
