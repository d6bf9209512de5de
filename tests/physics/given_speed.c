/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120; label: long */
/*
 * The bare tracking kernel on a Voronoi mesh of ours that is given back,
 * against that on the native one: the same packets and events. Times are those
 * of the processor, the least of several passes in turn, so that other programs
 * on the machine matter little. Also printed: the same mesh with planes that
 * are read, as those of any other mesh of a host.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "bench/bench_kernel.h"
#include "mesh/given/given_mesh.h"
#include "problem.h"
#include "tolerances.h"

enum { CELLS = 20000, PASSES = 15 };

static struct problem make(void)
{
    struct problem p = problem_default();
    p.set.n_total = CELLS;
    p.set.seed = 3;
    p.streaming_params.dt_s = 3.2; /* about 15 crossings */
    p.streaming_params.emit_per_cell = 5;
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.streaming_params.walls[wall] = STORM_WALL_REFLECT;
    return p;
}

static double processor_seconds(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One pass over all packets. */
static double pass(struct problem *p)
{
    double rate, start = processor_seconds();
    CHECK_OK(storm_bench_kernel(p->streaming, p->engine, 0.0, &rate));
    return processor_seconds() - start;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"native", "given back", "planes read"};
    struct problem native = make(), given = make();
    double least[3] = {INFINITY, INFINITY, INFINITY};
    MPI_Init(&argc, &argv);
    problem_open(&native, MPI_COMM_SELF);
    struct host host = host_of_voronoi(native.mesh);
    given.host = &host;
    problem_open(&given, MPI_COMM_SELF);
    host_free(&host);
    CHECK_OK(storm_engine_step(native.engine));
    CHECK_OK(storm_engine_step(given.engine));
    CHECK_EQ(problem_hash(&native), problem_hash(&given));
    CHECK(given_part_of(given.mesh)->bisects);
    for (int i = 0; i < 3 * PASSES; i++) {
        given_part_of(given.mesh)->bisects = i % 3 != 2;
        least[i % 3] = fmin(least[i % 3], pass(i % 3 == 0 ? &native : &given));
    }
    for (int i = 0; i < 3; i++)
        printf("%-11s %.4f s, speed %.3f of the native kernel\n", names[i],
               least[i], least[0] / least[i]);
    CHECK(least[0] / least[1] >= given_speed_ratio);
    problem_close(&given);
    problem_close(&native);
    MPI_Finalize();
    return CHECK_PASS;
}
