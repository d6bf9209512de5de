/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm; timeout: 60 */
/* TEST ranks: 5; backend: p2p; timeout: 60; label: slow-asan */
/*
 * GIVEN-3, GIVEN-4: a Voronoi mesh of ours that is given back, in a random
 * partition, has the same state as before, bit for bit, after each step.
 */
#include <stdio.h>

#include "problem.h"
#include "support/host.h"

enum { STEPS = 4 };

static struct problem make(storm_wall_kind wall, bool comb)
{
    struct problem p = problem_default();
    p.set = (struct storm_points_params){
        .size = sizeof(struct storm_points_params), .seed = 3, .n_total = 480};
    for (int k = 0; k < STORM_N_WALLS; k++)
        p.streaming_params.walls[k] = wall;
    if (comb) {
        p.comb_params.n_min = 2;
        p.comb_params.n_max = 5;
    }
    return p;
}

static void check(storm_wall_kind wall, bool comb, uint64_t salt)
{
    struct problem native = make(wall, comb), given = make(wall, comb);
    problem_open(&native, MPI_COMM_SELF);
    struct host host = host_of_voronoi(native.mesh);
    given.host = &host;
    given.salt = salt;
    problem_open(&given, MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        check_where("wall %d, comb %d, step %d", (int)wall, comb, step);
        CHECK_OK(storm_engine_step(native.engine));
        CHECK_OK(storm_engine_step(given.engine));
        CHECK_EQ(problem_hash(&given), problem_hash(&native));
        double energy[4], error;
        CHECK_OK(storm_streaming_balance(given.streaming, given.engine, energy,
                                         &error));
        CHECK(error == 0.0);
        CHECK(energy[0] > 0.0 && energy[3] > 0.0);
    }
    problem_close(&given);
    problem_close(&native);
    host_free(&host);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(STORM_WALL_VACUUM, false, 1);
    check(STORM_WALL_REFLECT, false, 2);
    check(STORM_WALL_REFLECT, true, 3);
    MPI_Finalize();
    return CHECK_PASS;
}
