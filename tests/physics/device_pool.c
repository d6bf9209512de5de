/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: shm p2p ofi-tcp; timeout: 60; label: long */
/*
 * POOL-1 to POOL-5, KEEP-4: packets stay on the emulated device from step to
 * step, and the state is that of a run on processors, whatever happens between
 * steps: nothing; a look at it, which leaves packets where they are; packets
 * are asked for, or added; the mesh moves to other ranks; and whatever is
 * short: memory of the device, events of a launch, room for packets that leave;
 * and if packets come in behind others.
 * A packet that does not end is an error.
 */
#include <storm/change.h>
#include <storm/remap.h>

#include "device/device_ops.h"
#include "engine/engine_internal.h"
#include "physics/streaming.h"
#include "problem.h"
#include "support/cuts.h"

enum { STEPS = 5 };

enum what {
    NOTHING,
    LOOK,
    FETCH,
    ADD,
    REMAP,
    FEW_LEAVE,
    FEW_EVENTS,
    FEW_ARE_MANY,
    LITTLE_MEMORY,
    CASES
};

static size_t n_kept(const struct problem *p)
{
    return p->streaming->pool.n_census;
}

/* The number of packets of this rank, by the engine. */
static uint64_t n_packets(const struct problem *p)
{
    struct storm_stats stats = STORM_STATS_INIT;
    CHECK_OK(storm_engine_stats(p->engine, &stats));
    return stats.census;
}

static struct problem make(bool emulated)
{
    struct problem p = problem_default();
    p.streaming_params.walls[0] = STORM_WALL_REFLECT;
    p.emulated = emulated;
    return p;
}

static void add(struct problem *p, int step, int rank)
{
    struct storm_packet packet = {.direction = {0, 0.6, 0.8},
                                  .weight_erg = 0.25,
                                  .birth_weight_erg = 0.25};
    packet.cell = storm_mesh_cell_id(p->mesh, 0);
    packet.id = storm_packet_id_make(STORM_ORIGIN_USER, (uint64_t)step,
                                     packet.cell, (uint64_t)rank);
    storm_mesh_centre(p->mesh, 0, packet.position_cm);
    CHECK_OK(storm_engine_add(p->engine, &packet));
}

/* Cells go to other ranks, and packets with them. */
static void recut(struct problem *p, int step)
{
    enum { MAX = 480 };
    uint64_t weight[MAX];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++)
        weight[i] = 1 + storm_mesh_cell_id(p->mesh, i) % (2 + (unsigned)step);
    struct storm_change *change = cut_change(p->mesh, weight);
    CHECK_OK(storm_remap(p->engine, p->mesh, change, NULL, NULL));
    storm_change_destroy(change);
}

static void limit(struct problem *p, enum what what)
{
    struct device_pool *pool = &p->streaming->pool;
    struct storm_device *device = p->context->env.device;
    if (what == FEW_LEAVE)
        pool->n_out_max = 3;
    if (what == FEW_ARE_MANY)
        pool->n_bulk = 1;
    if (what == FEW_EVENTS || what == FEW_ARE_MANY)
        p->streaming->run.events = 2;
    if (what == LITTLE_MEMORY) /* beside the mesh */
        device->memory_max = 100000;
}

static void between(struct problem *p, enum what what, int step, int rank)
{
    size_t n;
    switch (what) {
    case LOOK:
        CHECK(problem_hash(p) == problem_hash(p));
        break;
    case FETCH:
        if (step % 2 == 0)
            (void)storm_engine_packets(p->engine, &n);
        if (step == 3)
            CHECK_OK(storm_engine_fetch(p->engine));
        CHECK(n_kept(p) == 0 || step % 2 != 0);
        break;
    case ADD:
        if (step == 2) /* beside copies that were made to be seen */
            (void)problem_hash(p);
        add(p, step, rank);
        break;
    case REMAP:
        if (step + 1 < STEPS)
            recut(p, step);
        break;
    default:
        break;
    }
}

static void check(enum what what)
{
    struct problem there = make(true), here = make(false);
    bool is_short = false;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    problem_open(&there, MPI_COMM_WORLD);
    problem_open(&here, MPI_COMM_WORLD);
    limit(&there, what);
    for (int step = 0; step < STEPS; step++) {
        check_where("case %d, step %d", (int)what, step);
        CHECK_OK(storm_engine_step(there.engine));
        CHECK_OK(storm_engine_step(here.engine));
        CHECK_EQ(n_packets(&there), n_packets(&here));
        is_short |= n_kept(&there) < n_packets(&there);
        if (what != LITTLE_MEMORY)
            CHECK_EQ(n_kept(&there), n_packets(&there));
        CHECK_EQ(n_kept(&here), 0);
        between(&there, what, step, rank);
        between(&here, what, step, rank);
    }
    CHECK_EQ(problem_hash(&there), problem_hash(&here));
    CHECK(what == FETCH || what == REMAP || n_kept(&there) > 0);
    CHECK(is_short == (what == LITTLE_MEMORY));
    CHECK(is_short == there.streaming->pool.is_logged);
    double energy[4], error;
    CHECK_OK(storm_streaming_balance(there.streaming, there.engine, energy,
                                     &error));
    CHECK(what == ADD || error == 0.0); /* what was added is in no account */
    problem_close(&here);
    problem_close(&there);
}

/* A packet that is kept and does not end. */
static void check_endless(void)
{
    struct problem p = make(true);
    check_where("endless");
    problem_open(&p, MPI_COMM_WORLD);
    p.streaming->run.events = 2;
    p.engine->max_events = 3;
    storm_status status = storm_engine_step(p.engine);
    CHECK(status == STORM_ERR_STATE || status == STORM_ERR_PEER);
    problem_close(&p);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (enum what what = NOTHING; what < CASES; what++)
        check(what);
    check_endless();
    MPI_Finalize();
    return CHECK_PASS;
}
