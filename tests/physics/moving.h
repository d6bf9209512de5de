/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Voronoi meshes that move, in tests: the generators of all ranks, the cell of
 * a position by exact comparison with all of them, and motions that are
 * functions of the tags alone.
 *
 * All coordinates are multiples of 2^-60 below 4: a square of a distance fits
 * in 128 bits.
 */
#ifndef TESTS_PHYSICS_MOVING_H
#define TESTS_PHYSICS_MOVING_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/engine.h>
#include <storm/packet.h>
#include <storm/voronoi.h>

#include "support/check.h"
#include "support/dice.h"

__extension__ typedef __int128 moving_int;

static inline double moving_uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

/* To a multiple of 2^-60. */
static inline double moving_round(double x)
{
    return rint(x * 0x1p60) * 0x1p-60;
}

/* ---- all generators ------------------------------------------------------ */

struct moving_cell {
    storm_cell_id tag;
    double x[3];
};

struct moving_table {
    double period; /* in all directions; 0: none */
    size_t n;
    struct moving_cell *cells; /* of all ranks, in order of the places */
};

/* Collective over `comm`, that of the mesh. Release with free(cells). */
static inline struct moving_table
moving_table_make(struct storm_mesh *mesh, MPI_Comm comm, double period)
{
    struct moving_table table = {.period = period,
                                 .n = (size_t)storm_mesh_n_cells_total(mesh)};
    int rank;
    MPI_Comm_rank(comm, &rank);
    table.cells = calloc(table.n + 1, sizeof *table.cells);
    CHECK(table.cells != NULL);
    struct moving_cell *mine = table.cells + storm_mesh_first_place(mesh, rank);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        mine[i].tag = storm_mesh_cell_id(mesh, i);
        CHECK_OK(storm_mesh_generator(mesh, i, mine[i].x));
    }
    /* Bits of all others are zero. */
    MPI_Allreduce(MPI_IN_PLACE, table.cells,
                  (int)(table.n * sizeof *table.cells / 8), MPI_UINT64_T,
                  MPI_BOR, comm);
    return table;
}

/* The square of the distance to the nearest image, in units of 2^-120. */
static inline moving_int moving_square(const double a[3], const double b[3],
                                       double period)
{
    moving_int round = (moving_int)(period * 0x1p60);
    moving_int sum = 0;
    for (int d = 0; d < 3; d++) {
        moving_int to =
            (moving_int)(a[d] * 0x1p60) - (moving_int)(b[d] * 0x1p60);
        to = to < 0 ? -to : to;
        if (to > round - to && period > 0.0)
            to = round - to;
        sum += to * to;
    }
    return sum;
}

/* The place of the nearest generator; of several the highest. */
static inline size_t moving_nearest(const struct moving_table *table,
                                    const double x[3])
{
    size_t best = 0;
    moving_int least = moving_square(x, table->cells[0].x, table->period);
    for (size_t i = 1; i < table->n; i++) {
        moving_int square = moving_square(x, table->cells[i].x, table->period);
        if (square > least)
            continue;
        best = i;
        least = square;
    }
    return best;
}

/* ---- packets ------------------------------------------------------------- */

/* Of all ranks, of which there must be `n_right`. Collective over `comm`. */
static inline uint64_t moving_hash(struct storm_engine *engine, MPI_Comm comm,
                                   uint64_t n_right)
{
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    uint64_t sums[2] = {n, 0};
    for (size_t i = 0; i < n; i++)
        sums[1] += storm_packet_hash(packets[i]);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, comm);
    CHECK_EQ(sums[0], n_right);
    return sums[1];
}

/* ---- motion -------------------------------------------------------------- */

/* A coordinate, wrapped into [0, length): periodic, so never at a wall that
 * another one is clamped to. */
static inline double moving_wrap(double x, double length)
{
    x = moving_round(x - floor(x / length) * length);
    return x < length ? x : 0.0;
}

/* Each generator by up to `by_cm` in each direction. */
static inline void moving_random(const struct storm_mesh *mesh, double by_cm,
                                 uint64_t seed, double *x_out)
{
    double lo[3], hi[3];
    storm_mesh_box(mesh, lo, hi);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double *x = x_out + 3 * (size_t)i;
        struct dice dice = dice_make(seed, storm_mesh_cell_id(mesh, i));
        CHECK_OK(storm_mesh_generator(mesh, i, x));
        for (int d = 0; d < 3; d++)
            x[d] =
                moving_wrap(x[d] + by_cm * (2.0 * moving_uniform(&dice) - 1.0),
                            hi[d]);
    }
}

#endif /* TESTS_PHYSICS_MOVING_H */
