/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 5; backend: shm; timeout: 60; label: long */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/*
 * TRACK-2, TRACK-4, CENSUS-2: packets and tallies have the same bits on any
 * number of ranks, for any partition and batch, and energy is conserved
 * exactly. Every rank also runs the problem alone and compares.
 */
#include <stdio.h>

#include "problem.h"
#include "support/cuts.h"
#include "support/sphere.h"

enum {
    STEPS = 5,
    REFLECT_ALL = 0x3f,
    PERIODIC = 0x40,
    COMB = 0x80,
    VORONOI = 0x100,
    OCTREE = 0x200,
    FEW = 0x400, /* three cells */
    ONE = 0x800
};

static struct sphere sphere = {.centre_cm = {4, 5, 3}, .radius_cm = 2.7};

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
    if (what & OCTREE)
        p.octree = (struct storm_octree_params){
            .size = sizeof(struct storm_octree_params),
            .n = {3, 2, 2},
            .refine_levels = 2,
            .refine = sphere_refine,
            .refine_self = &sphere};
    if (what & COMB) {
        p.comb_params.n_min = 2;
        p.comb_params.n_max = 5;
    }
    return p;
}

/* Another partition: as if the work moved through the box. */
static void recut(struct problem *p, uint64_t step)
{
    enum { MAX = 800 };
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

/* A uniform octree is a Cartesian mesh: the same bits. */
static void check_uniform(void)
{
    struct problem p[2] = {problem_default(), problem_default()};
    for (int k = 0; k < 2; k++) {
        p[k].cart.n[0] = p[k].cart.n[1] = p[k].cart.n[2] = 8;
        p[k].cart.periodic[1] = true;
        p[k].streaming_params.walls[0] = STORM_WALL_REFLECT;
    }
    p[1].octree = (struct storm_octree_params){
        .size = sizeof(struct storm_octree_params), .n = {2, 2, 2}, .level = 2};
    for (int k = 0; k < 2; k++)
        problem_open(&p[k], MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        check_where("uniform octree, step %d", step);
        CHECK_OK(storm_engine_step(p[0].engine));
        CHECK_OK(storm_engine_step(p[1].engine));
        CHECK_EQ(problem_hash(&p[0]), problem_hash(&p[1]));
    }
    problem_close(&p[1]);
    problem_close(&p[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_uniform();
    check(0, 0, false);
    check(REFLECT_ALL, 0, false);
    check(REFLECT_ALL, 1, true);
    check(PERIODIC, 7, true);
    check(COMB | 0x15, 0, false);
    check(COMB | PERIODIC, 200, true);
    check(OCTREE, 0, false);
    check(OCTREE | PERIODIC, 7, true);
    check(OCTREE | REFLECT_ALL | COMB, 1, true);
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
