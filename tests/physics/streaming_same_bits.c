/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60 */
/*
 * TRACK-2, TRACK-4, CENSUS-2: packets and tallies have the same bits on any
 * number of ranks, for any partition and batch, and energy is conserved
 * exactly. Every rank also runs the problem alone and compares.
 */
#include <stdio.h>

#include "problem.h"
#include "support/cuts.h"

enum {
    STEPS = 5,
    REFLECT_ALL = 0x3f,
    PERIODIC = 0x40,
    COMB = 0x80,
    VORONOI = 0x100,
    FEW = 0x200, /* three cells */
    ONE = 0x400
};

static struct problem make(unsigned what)
{
    struct problem p = problem_default();
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        if (what >> wall & 1u)
            p.streaming_params.walls[wall] = STORM_WALL_REFLECT;
    for (int d = 0; d < 3; d++)
        p.cart.periodic[d] = what & PERIODIC;
    p.cart.stretch[0] = 1.2;
    if (what & VORONOI)
        p.set = (struct storm_points_params){
            .size = sizeof(struct storm_points_params),
            .seed = 3,
            .n_total = what & ONE   ? 1
                       : what & FEW ? 3
                                    : 480};
    if (what & COMB) {
        p.comb_params.n_min = 2;
        p.comb_params.n_max = 5;
    }
    return p;
}

/* Another partition: as if the work moved through the box. */
static void recut(struct problem *p, uint64_t step)
{
    enum { MAX = 480 };
    uint64_t weight[MAX];
    storm_cell_idx n = storm_mesh_n_cells(p->mesh);
    CHECK(n <= MAX);
    for (storm_cell_idx i = 0; i < n; i++) {
        uint64_t id = storm_mesh_cell_id(p->mesh, i);
        weight[i] = (id + 97 * step) % 480;
    }
    cut_mesh(p->mesh, weight);
}

static void check(unsigned what, size_t batch, bool cut)
{
    struct problem all = make(what), alone = make(what);
    all.engine_params.batch_packets = batch;
    problem_open(&all, MPI_COMM_WORLD);
    problem_open(&alone, MPI_COMM_SELF);
    for (uint64_t step = 0; step < STEPS; step++) {
        check_where("case %#x, batch %d, step %d", what, (int)batch, (int)step);
        CHECK_OK(storm_engine_step(all.engine));
        CHECK_OK(storm_engine_step(alone.engine));
        CHECK_EQ(problem_hash(&all), problem_hash(&alone));
        double energy[4], alike[4], error;
        CHECK_OK(storm_streaming_balance(all.streaming, all.engine, energy,
                                         &error));
        CHECK(error == 0.0);
        CHECK_OK(storm_streaming_balance(alone.streaming, alone.engine, alike,
                                         &error));
        CHECK(error == 0.0);
        for (int i = 0; i < 4; i++)
            CHECK(energy[i] == alike[i]);
        CHECK(energy[0] > 0.0 && energy[3] > 0.0);
        CHECK((what & (REFLECT_ALL | PERIODIC)) != 0 || energy[2] > 0.0);
        if (cut)
            recut(&all, step);
    }
    problem_close(&alone);
    problem_close(&all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(0, 0, false);
    check(REFLECT_ALL, 0, false);
    check(REFLECT_ALL, 1, true);
    check(PERIODIC, 7, true);
    check(COMB | 0x15, 0, false);
    check(COMB | PERIODIC, 200, true);
    check(VORONOI, 0, false);
    check(VORONOI | REFLECT_ALL, 0, false);
    check(VORONOI | REFLECT_ALL | COMB, 1, true);
    check(VORONOI | PERIODIC, 0, false);
    check(VORONOI | PERIODIC | COMB, 7, true);
    check(VORONOI | PERIODIC | FEW, 1, true);
    check(VORONOI | PERIODIC | ONE, 0, false);
    MPI_Finalize();
    return CHECK_PASS;
}
