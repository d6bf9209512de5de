/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mesh on one rank and packets in it, for tests of the tracking kernel
 * without an engine.
 */
#ifndef TESTS_PHYSICS_LONE_H
#define TESTS_PHYSICS_LONE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/octree.h>
#include <storm/voronoi.h>

#include "mesh/mesh_ops.h"
#include "physics/track.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/dice.h"

struct lone {
    struct storm_context *context;
    struct storm_mesh *mesh;
    storm_track_fn *advance;
    struct storm_track track; /* speed 1 cm/s, exact tally, all mirrors */
};

/* With an existing context and mesh. */
static inline void lone_begin(struct lone *lone)
{
    lone->advance = storm_track_for(lone->mesh);
    CHECK(lone->advance != NULL);
    size_t n = (size_t)storm_mesh_n_cells(lone->mesh);
    lone->track = (struct storm_track){
        .mesh = lone->mesh,
        .speed_cm_s = 1.0,
        .max_events = UINT64_MAX,
        .mirror_walls = (1u << STORM_N_WALLS) - 1u,
        .unit = storm_exact_unit(1e3),
        .exact = storm_alloc(lone->mesh->env->memory, "test",
                             n * sizeof(storm_exact)),
    };
    CHECK(lone->track.exact != NULL);
}

static inline void lone_open(struct lone *lone,
                             const struct storm_cart_params *params)
{
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &lone->context));
    CHECK_OK(storm_mesh_create_cart(lone->context, params, &lone->mesh));
    lone_begin(lone);
}

static inline void lone_open_voronoi(struct lone *lone,
                                     const struct storm_points_params *set)
{
    struct storm_voronoi_params params = {.size = sizeof params, .lloyd = 0};
    memcpy(params.lo_cm, set->lo_cm, sizeof params.lo_cm);
    memcpy(params.hi_cm, set->hi_cm, sizeof params.hi_cm);
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &lone->context));
    CHECK_OK(run_points_mesh(lone->context, set, &params, &lone->mesh));
    lone_begin(lone);
}

static inline void lone_open_octree(struct lone *lone,
                                    const struct storm_octree_params *params)
{
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &lone->context));
    CHECK_OK(storm_mesh_create_octree(lone->context, params, &lone->mesh));
    lone_begin(lone);
}

static inline void lone_close(struct lone *lone)
{
    storm_free(lone->mesh->env->memory, lone->track.exact);
    storm_mesh_destroy(lone->mesh);
    storm_context_destroy(lone->context);
}

static inline double lone_uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

/* The cell of a point: its index, and its tag. */
static inline storm_cell_idx lone_locate(const struct lone *lone,
                                         const double x_cm[3])
{
    struct storm_cell_ref where;
    CHECK_OK(storm_mesh_locate(lone->mesh, x_cm, &where));
    CHECK_EQ(where.rank, 0);
    CHECK_EQ(storm_mesh_cell_id(lone->mesh, where.idx), where.idx);
    return where.idx;
}

/* Into the cell of its position. */
static inline void lone_settle(const struct lone *lone,
                               struct storm_packet *packet)
{
    packet->cell_idx = lone_locate(lone, packet->position_cm);
    packet->cell = (storm_cell_id)packet->cell_idx;
}

/* A packet at a random point of a random cell. */
static inline struct storm_packet lone_packet(const struct lone *lone,
                                              struct dice *dice)
{
    struct storm_packet packet = {.weight_erg = lone_uniform(dice)};
    packet.cell_idx =
        (storm_cell_idx)dice_roll(dice,
                                  (uint64_t)storm_mesh_n_cells(lone->mesh));
    packet.cell = (storm_cell_id)packet.cell_idx;
    double u[5]; /* one by one: arguments are evaluated in no fixed order */
    for (int i = 0; i < 5; i++)
        u[i] = lone_uniform(dice);
    storm_mesh_sample(lone->mesh, packet.cell_idx, u, packet.position_cm);
    storm_isotropic(u[3], u[4], packet.direction);
    return packet;
}

/* One packet through one call. */
static inline struct storm_outcome lone_advance(const struct lone *lone,
                                                struct storm_packet *packet)
{
    void *pointer = packet;
    struct storm_outcome outcome = {.fate = (storm_fate)-1};
    lone->advance(&lone->track, &pointer, 1, &outcome);
    return outcome;
}

/* Where a line that starts at 0 or above is in a box of mirrors, or a periodic
 * one. */
static inline double lone_folded(double x, double width, bool periodic)
{
    double y = fmod(x, periodic ? width : 2.0 * width);
    if (y < 0.0)
        y += periodic ? width : 2.0 * width;
    return !periodic && y > width ? 2.0 * width - y : y;
}

/* n random flights of up to max_s in a box from 0 to hi_cm: they end where the
 * line does, and in the cell that is there. A crossing costs a rounding or two
 * of the position. */
static inline void lone_check_flights(const struct lone *lone,
                                      const double hi_cm[3], bool periodic,
                                      int n, double max_s)
{
    struct dice dice = dice_make(1, periodic);
    for (int i = 0; i < n; i++) {
        struct storm_packet packet = lone_packet(lone, &dice);
        struct storm_packet start = packet;
        double time_s = max_s * lone_uniform(&dice);
        packet.time_left_s = time_s;
        struct storm_outcome outcome = lone_advance(lone, &packet);
        CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
        CHECK(packet.time_left_s == 0.0);
        for (int d = 0; d < 3; d++) {
            double x =
                lone_folded(start.position_cm[d] + start.direction[d] * time_s,
                            hi_cm[d], periodic);
            double off = fabs(packet.position_cm[d] - x);
            if (periodic) /* two coordinates of the same wall */
                off = fmin(off, hi_cm[d] - off);
            CHECK(off <= 1e-14 * (double)(outcome.events + 10));
            CHECK(fabs(packet.direction[d]) == fabs(start.direction[d]));
        }
        storm_cell_idx there = lone_locate(lone, packet.position_cm);
        CHECK_EQ(packet.cell, there); /* on a plane has probability zero */
        CHECK_EQ(packet.cell_idx, there);
    }
}

#endif /* TESTS_PHYSICS_LONE_H */
