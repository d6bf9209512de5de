/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; backend: shm; timeout: 60 */
/* TEST ranks: 5; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 3; backend: ofi-tcp; timeout: 60; label: long */
/*
 * storm_remap after random cuts: packets follow their cells by index, none
 * walks, none gets to the boundary; the state is that of a run on one rank
 * without cuts. Also ranks without cells, packets on or beyond the faces of
 * their cells, as tracking may leave them (REMAP-2), and packets that were
 * added to another engine on whichever rank, before its first step (REMAP-5).
 */
#include <stdlib.h>

#include <storm/remap.h>

#include "problem.h"
#include "support/cuts.h"
#include "support/dice.h"

enum { STEPS = 5, N_CELLS = 480 };

static struct problem make(bool voronoi)
{
    struct problem p = problem_default();
    for (int wall = 0; wall < STORM_N_WALLS; wall += 2)
        p.streaming_params.walls[wall] = STORM_WALL_REFLECT;
    p.cart.stretch[1] = 0.9;
    if (voronoi) {
        p.set.seed = 5;
        p.set.n_total = N_CELLS;
    }
    return p;
}

static struct storm_change *recut(struct problem *p, uint64_t seed)
{
    uint64_t weight[N_CELLS + 1];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        storm_cell_id tag = storm_mesh_cell_id(p->mesh, i);
        weight[i] = dice_mix(tag + seed) % 100;
        if (seed % 3 == 1) /* nearly all cells on two ranks */
            weight[i] = tag == 100;
    }
    return cut_change(p->mesh, weight);
}

/* Sums over all ranks: of packets, and of their hashes. */
static uint64_t sum_packets(struct problem *p, uint64_t *n_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(p->engine, &n);
    uint64_t sums[2] = {n, 0};
    for (size_t i = 0; i < n; i++)
        sums[1] += storm_packet_hash(packets[i]);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    *n_out = sums[0];
    return sums[1];
}

static void check_places(struct problem *p)
{
    size_t n_local;
    void *const *packets = storm_engine_packets(p->engine, &n_local);
    for (size_t i = 0; i < n_local; i++) {
        const struct storm_packet *packet = packets[i];
        CHECK(packet->cell_idx >= 0 && packet->face == 0);
        CHECK(packet->cell_idx < storm_mesh_n_cells(p->mesh));
        CHECK_EQ(storm_mesh_cell_id(p->mesh, packet->cell_idx), packet->cell);
    }
}

static void check_remap(struct problem *p, uint64_t seed)
{
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    uint64_t n, n_after, hash = sum_packets(p, &n);
    uint64_t generation = storm_mesh_generation(p->mesh);
    struct storm_change *change = recut(p, seed);
    CHECK_OK(storm_remap(p->engine, p->mesh, change, NULL, &stats));
    storm_change_destroy(change);
    CHECK_EQ(sum_packets(p, &n_after), hash);
    CHECK_EQ(n_after, n);
    CHECK_EQ(stats.fixed + stats.moved, n);
    CHECK(stats.walked == 0 && stats.outside == 0 && stats.longest == 0);
    CHECK_EQ(stats.moved > 0, storm_mesh_generation(p->mesh) != generation);
    check_places(p);
}

/* All packets to an engine that has made no step, each on the next rank, with
 * indices that mean nothing: after a cut it continues with the same bits. */
static void restart(struct problem *p)
{
    const size_t bytes = sizeof(struct storm_packet);
    int rank, size, n_in, n_out;
    size_t n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *const *packets = storm_engine_packets(p->engine, &n);
    struct storm_packet *out = calloc(n + 1, bytes), *in;
    CHECK(out != NULL);
    for (size_t i = 0; i < n; i++)
        out[i] = *(const struct storm_packet *)packets[i];
    n_out = (int)n;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv(&n_out, 1, MPI_INT, to, 0, &n_in, 1, MPI_INT, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in = calloc((size_t)n_in + 1, bytes);
    CHECK(in != NULL);
    MPI_Sendrecv(out, n_out * (int)bytes, MPI_BYTE, to, 0, in,
                 n_in * (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    storm_engine_destroy(p->engine);
    const struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_engine_create(p->context, &params, &p->engine));
    CHECK_OK(storm_streaming_attach(p->streaming, p->engine));
    for (int i = 0; i < n_in; i++) {
        in[i].cell_idx = i % 2 == 0 ? -7 : INT32_MAX;
        CHECK_OK(storm_engine_add(p->engine, &in[i]));
    }
    free(out);
    free(in);
}

/* REMAP-5 */
static void check_restart(struct problem *p, uint64_t step)
{
    uint64_t n, n_after, hash = sum_packets(p, &n);
    restart(p);
    storm_engine_set_step(p->engine, step);
    struct storm_change *change = recut(p, 10 * step + 2);
    CHECK_OK(storm_remap(p->engine, p->mesh, change, NULL, NULL));
    storm_change_destroy(change);
    CHECK_EQ(sum_packets(p, &n_after), hash);
    CHECK_EQ(n_after, n);
    check_places(p);
}

/* To a corner of the box around the cell: on its faces, or outside of it. */
static void displace(struct problem *p)
{
    size_t n;
    void *const *packets = storm_engine_packets(p->engine, &n);
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        double lo[3];
        storm_mesh_bounds(p->mesh, packet->cell_idx, lo, packet->position_cm);
    }
}

static void check(bool voronoi)
{
    struct problem all = make(voronoi), alone = make(voronoi);
    problem_open(&all, MPI_COMM_WORLD);
    problem_open(&alone, MPI_COMM_SELF);
    for (uint64_t step = 0; step < STEPS; step++) {
        check_where("voronoi %d, step %d", voronoi, (int)step);
        CHECK_OK(storm_engine_step(all.engine));
        CHECK_OK(storm_engine_step(alone.engine));
        CHECK_EQ(problem_hash(&all), problem_hash(&alone));
        double energy[4], error;
        CHECK_OK(storm_streaming_balance(all.streaming, all.engine, energy,
                                         &error));
        CHECK(error == 0.0);
        check_remap(&all, 10 * step);
        check_remap(&all, 10 * step + 1);
        if (step == STEPS / 2)
            check_restart(&all, step + 1);
    }
    displace(&all);
    check_remap(&all, 7);
    problem_close(&alone);
    problem_close(&all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(false);
    check(true);
    MPI_Finalize();
    return CHECK_PASS;
}
