/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 30 */
/* TEST ranks: 3; backend: p2p; timeout: 30; label: slow-asan */
/*
 * Free streaming on a Voronoi mesh that turns once in a closed box, in a vortex
 * that follows the walls: after every motion each packet is in the cell that
 * has its position, on its rank; numbers and energy are exact to the last bit;
 * hashes are those of one rank alone. Then the box contracts: what it leaves
 * behind is counted as escaped.
 */
#include <math.h>

#include <storm/change.h>
#include <storm/remap.h>

#include "problem.h"

enum { CELLS = 300, TURN = 12 };

static const double pi = 3.14159265358979323846;

/* Velocity at a point, from the middle of the box: along z a turn, no
 * divergence, along the walls at the walls. */
static void flow(const double half[3], const double x[3], double v_out[3])
{
    double s = x[0] / half[0], t = x[1] / half[1];
    v_out[0] = -half[0] * t * (1.0 - s * s);
    v_out[1] = half[1] * s * (1.0 - t * t);
    v_out[2] = 0.0;
}

/* By the midpoint rule, in parts. */
static void turn(const double half[3], double angle, double x[3])
{
    enum { PARTS = 32 };
    for (int i = 0; i < PARTS; i++) {
        double v[3], y[3];
        flow(half, x, v);
        for (int d = 0; d < 3; d++)
            y[d] = x[d] + 0.5 * angle / PARTS * v[d];
        flow(half, y, v);
        for (int d = 0; d < 3; d++)
            x[d] += angle / PARTS * v[d];
    }
}

/* Around the middle of the box, and then all of it by `factor`. */
static struct storm_change *move(struct problem *p, double angle, double factor)
{
    static double x[CELLS][3];
    struct storm_mesh_box box;
    struct storm_change *change;
    double half[3];
    storm_mesh_box(p->mesh, box.lo_cm, box.hi_cm);
    for (int d = 0; d < 3; d++)
        half[d] = 0.5 * box.hi_cm[d];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        CHECK_OK(storm_mesh_generator(p->mesh, i, x[i]));
        for (int d = 0; d < 3; d++)
            x[i][d] -= half[d];
        turn(half, angle, x[i]);
        for (int d = 0; d < 3; d++)
            x[i][d] = factor * (x[i][d] + half[d]);
    }
    for (int d = 0; d < 3; d++)
        box.hi_cm[d] *= factor;
    CHECK_OK(storm_mesh_move(p->mesh, &x[0][0], factor < 1.0 ? &box : NULL,
                             &change));
    return change;
}

static uint64_t check_packets(const struct problem *p)
{
    size_t n;
    void *const *packets = storm_engine_packets(p->engine, &n);
    uint64_t total = n;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_locate(p->mesh, packet->position_cm, &where));
        CHECK_EQ(where.rank, storm_context_rank(p->context));
        CHECK_EQ(where.idx, packet->cell_idx);
        CHECK_EQ(storm_mesh_cell_id(p->mesh, where.idx), packet->cell);
    }
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM,
                  storm_context_comm(p->context));
    return total;
}

/* Takes the change over. */
static struct storm_remap_stats remap(struct problem *p,
                                      struct storm_change *change)
{
    const struct storm_boundary boundary = {.size = sizeof boundary,
                                            .self = p->streaming,
                                            .apply = storm_streaming_escape};
    const struct storm_remap_params params = {.size = sizeof params,
                                              .boundary = &boundary};
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    CHECK_OK(storm_remap(p->engine, p->mesh, change, &params, &stats));
    storm_change_destroy(change);
    return stats;
}

/* Created, absorbed, escaped, at census; they add up to the last bit. */
static void step(struct problem *p, double energy_erg[4])
{
    double error;
    CHECK_OK(storm_engine_step(p->engine));
    CHECK_OK(storm_streaming_balance(p->streaming, p->engine, energy_erg,
                                     &error));
    CHECK(error == 0.0);
}

static void problem_make(struct problem *p, MPI_Comm comm)
{
    *p = problem_default();
    p->set.n_total = CELLS;
    p->streaming_params.dt_s = 0.5;
    p->streaming_params.emit_per_cell = 1;
    for (int w = 0; w < STORM_N_WALLS; w++)
        p->streaming_params.walls[w] = STORM_WALL_REFLECT;
    problem_open(p, comm);
}

static void check_turn(struct problem p[2])
{
    uint64_t n = 0, walked = 0;
    for (int i = 0; i < TURN; i++) {
        check_where("step %d", i);
        for (int k = 0; k < 2; k++) {
            double energy[4];
            step(&p[k], energy);
            CHECK(energy[0] == energy[3] && energy[2] == 0.0);
            n = CELLS * (uint64_t)(i + 1);
            struct storm_remap_stats stats =
                remap(&p[k], move(&p[k], 2.0 * pi / TURN, 1.0));
            CHECK_EQ(stats.fixed + stats.walked + stats.moved, n);
            CHECK_EQ(stats.outside, 0);
            walked += stats.walked + stats.moved;
            CHECK_EQ(check_packets(&p[k]), n);
        }
    }
    CHECK(walked > n); /* a turn is more than a cell */
}

static void check_contraction(struct problem p[2])
{
    check_where("contraction");
    for (int k = 0; k < 2; k++) {
        double energy[4];
        uint64_t n = CELLS * TURN;
        struct storm_remap_stats stats = remap(&p[k], move(&p[k], 0.0, 0.9));
        CHECK(stats.outside > 0);
        CHECK_EQ(check_packets(&p[k]), n - stats.outside);
        step(&p[k], energy);
        CHECK(energy[2] > 0.0 && energy[2] < energy[0]);
    }
}

int main(int argc, char **argv)
{
    struct problem p[2];
    MPI_Init(&argc, &argv);
    problem_make(&p[0], MPI_COMM_WORLD);
    problem_make(&p[1], MPI_COMM_SELF);
    check_turn(p);
    check_contraction(p);
    CHECK_EQ(problem_hash(&p[0]), problem_hash(&p[1]));
    for (int k = 0; k < 2; k++)
        problem_close(&p[k]);
    MPI_Finalize();
    return CHECK_PASS;
}
