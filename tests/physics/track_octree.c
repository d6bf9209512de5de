/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120 */
/*
 * Packets in an octree: they go in straight lines through cells of all sizes
 * and end in the cell that is there; the length of their path in each cell is
 * that of the line in its box; on middle planes, edges and corners of sides
 * with four neighbours the upper cell has them; at walls they stop on the face
 * they name; a history has the same bits however it is split; and none is lost.
 */
#include <math.h>
#include <stdio.h>

#include "lone.h"
#include "support/sphere.h"

enum { N = 2000, CROSSINGS = 4000000 / CHECK_SLOWDOWN };

static struct sphere sphere = {.centre_cm = {2.9, 2.2, 0.7}, .radius_cm = 1.3};
static const struct storm_octree_params octree = {.size = sizeof octree,
                                                  .hi_cm = {8, 4, 4},
                                                  .n = {2, 1, 1},
                                                  .level = 1,
                                                  .refine_levels = 4,
                                                  .refine = sphere_refine,
                                                  .refine_self = &sphere};

static void check_flights(bool periodic)
{
    struct storm_octree_params params = octree;
    struct lone lone;
    for (int d = 0; d < 3; d++)
        params.periodic[d] = periodic;
    lone_open_octree(&lone, &params);
    lone_check_flights(&lone, params.hi_cm, periodic, 10000, 30.0);
    lone_close(&lone);
}

/* The length of a line from x to its end, in a cell. */
static double length_in(const struct lone *lone, storm_cell_idx cell,
                        const struct storm_packet *start, double length)
{
    double lo[3], hi[3], from = 0.0, to = length;
    storm_mesh_bounds(lone->mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++) {
        double v = start->direction[d], x = start->position_cm[d];
        double near = ((v > 0.0 ? lo[d] : hi[d]) - x) / v;
        double far = ((v > 0.0 ? hi[d] : lo[d]) - x) / v;
        from = fmax(from, near);
        to = fmin(to, far);
    }
    return fmax(0.0, to - from);
}

static void check_paths(void)
{
    struct lone lone;
    lone_open_octree(&lone, &octree);
    lone.track.mirror_walls = 0;
    size_t n = (size_t)storm_mesh_n_cells(lone.mesh);
    struct dice dice = dice_make(2, 0);
    for (int i = 0; i < 200; i++) {
        struct storm_packet packet = lone_packet(&lone, &dice);
        packet.weight_erg = 1.0;
        packet.time_left_s = 100.0;
        struct storm_packet start = packet;
        memset(lone.track.exact, 0, n * sizeof *lone.track.exact);
        CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_BOUNDARY);
        for (size_t k = 0; k < n; k++) {
            double found =
                storm_exact_value(lone.track.exact[k], lone.track.unit);
            double right = length_in(&lone, (storm_cell_idx)k, &start,
                                     100.0 - packet.time_left_s);
            CHECK(fabs(found - right) <= 1e-12);
        }
    }
    lone_close(&lone);
}

/* One root whose lower half in x is one level coarser than the upper. */
static bool upper_half(void *self, const double lo_cm[3], const double hi_cm[3],
                       int level)
{
    (void)self;
    (void)hi_cm;
    (void)level;
    return lo_cm[0] >= 4.0;
}

static const struct storm_octree_params halves = {.size = sizeof halves,
                                                  .hi_cm = {8, 8, 8},
                                                  .level = 1,
                                                  .refine_levels = 1,
                                                  .refine = upper_half};

/* Into the smaller cells at, above and below the middle of the side: numbers
 * are so short that nothing is rounded. */
static void check_middle(void)
{
    static const double steps[] = {-0x1p-40, 0.0, 0x1p-40};
    struct lone lone;
    lone_open_octree(&lone, &halves);
    for (int k = 0; k < 9; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct storm_packet packet = {.position_cm = {4.0 - sign,
                                                          2.0 + steps[k % 3],
                                                          6.0 + steps[k / 3]},
                                          .direction = {sign},
                                          .time_left_s = 1.5};
            lone_settle(&lone, &packet);
            struct storm_outcome outcome = lone_advance(&lone, &packet);
            CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
            CHECK_EQ(outcome.events, 2);
            CHECK(packet.position_cm[0] == 4.0 + 0.5 * sign);
            CHECK_EQ(packet.cell_idx, lone_locate(&lone, packet.position_cm));
        }
    lone_close(&lone);
}

/* Along the diagonal of the box and back, through corners of cells: three
 * planes at a point, and at the middle of the box the cells become smaller. */
static void check_corners(void)
{
    struct lone lone;
    lone_open_octree(&lone, &halves);
    for (int sign = -1; sign <= 1; sign += 2) {
        double start = sign > 0 ? 0.0 : 8.0;
        struct storm_packet packet = {.position_cm = {start, start, start},
                                      .time_left_s = 13.0};
        for (int d = 0; d < 3; d++)
            packet.direction[d] = sign * sqrt(1.0 / 3.0);
        lone_settle(&lone, &packet);
        struct storm_outcome outcome = lone_advance(&lone, &packet);
        CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
        CHECK_EQ(outcome.events, 3 * 2 + 1); /* corners at 4 and 6 */
        double end = start + sign * 13.0 * sqrt(1.0 / 3.0);
        for (int d = 0; d < 3; d++)
            CHECK(fabs(packet.position_cm[d] - end) < 1e-14);
        CHECK_EQ(packet.cell_idx, lone_locate(&lone, packet.position_cm));
    }
    lone_close(&lone);
}

/* The face a packet names at a wall is one of its cell, also after sides with
 * four faces. */
static void check_walls(void)
{
    struct lone lone;
    lone_open_octree(&lone, &halves);
    lone.track.mirror_walls = 0;
    int n_larger = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(lone.mesh); i++)
        for (int wall = 0; wall < STORM_N_WALLS; wall++) {
            struct storm_packet packet = {
                .cell_idx = i, .cell = (storm_cell_id)i, .time_left_s = 100.0};
            storm_mesh_centre(lone.mesh, i, packet.position_cm);
            packet.direction[wall / 2] = wall % 2 ? 1.0 : -1.0;
            CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_BOUNDARY);
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(lone.mesh, packet.cell_idx, (int)packet.face,
                            &face);
            CHECK_EQ(face.wall, wall);
            n_larger += packet.face >= STORM_N_WALLS;
        }
    CHECK(n_larger > 0);
    lone_close(&lone);
}

/* Back at once from a mirror, in a cell that has smaller ones behind it. */
static void check_mirror(void)
{
    struct lone lone;
    lone_open_octree(&lone, &halves);
    struct storm_packet packet = {.position_cm = {1, 3, 5},
                                  .direction = {-1, 0, -0.0},
                                  .time_left_s = 7.5};
    lone_settle(&lone, &packet);
    CHECK_EQ(lone_advance(&lone, &packet).events, 4); /* 0, 4, 6, the end */
    CHECK(packet.position_cm[0] == 6.5 && packet.position_cm[1] == 3.0);
    CHECK_EQ(packet.cell_idx, lone_locate(&lone, packet.position_cm));
    lone_close(&lone);
}

/* Many crossings, in one call or with one event each: the same bits, and the
 * tally has the whole length of the paths. */
static void check_bits(void)
{
    static struct storm_packet packets[2][N];
    static storm_exact tally[20000];
    struct storm_octree_params params = octree;
    struct lone lone;
    params.periodic[2] = true;
    lone_open_octree(&lone, &params);
    size_t n = (size_t)storm_mesh_n_cells(lone.mesh);
    CHECK(n <= sizeof tally / sizeof tally[0]);
    struct dice dice = dice_make(3, 0);
    uint64_t events[2] = {0, 0};
    double path_cm = 0.0, sum_cm = 0.0;
    double step_s = 0.25 * CROSSINGS / N;
    for (int i = 0; i < N; i++) {
        packets[0][i] = lone_packet(&lone, &dice);
        packets[0][i].time_left_s = step_s;
        path_cm += packets[0][i].weight_erg * step_s;
    }
    memcpy(packets[1], packets[0], sizeof packets[1]);
    for (int k = 0; k < 2; k++) {
        lone.track.max_events = k == 0 ? UINT64_MAX : 3;
        memset(lone.track.exact, 0, n * sizeof *tally);
        for (int i = 0; i < N; i++) {
            struct storm_outcome outcome = {.fate = STORM_FATE_CONTINUE};
            while (outcome.fate == STORM_FATE_CONTINUE) {
                outcome = lone_advance(&lone, &packets[k][i]);
                events[k] += outcome.events;
            }
            CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
            CHECK_EQ(packets[k][i].cell_idx,
                     lone_locate(&lone, packets[k][i].position_cm));
        }
        if (k == 0)
            memcpy(tally, lone.track.exact, n * sizeof *tally);
    }
    CHECK_EQ(events[0], events[1]);
    CHECK(memcmp(packets[0], packets[1], sizeof packets[0]) == 0);
    CHECK(memcmp(tally, lone.track.exact, n * sizeof *tally) == 0);
    for (size_t i = 0; i < n; i++)
        sum_cm += storm_exact_value(tally[i], lone.track.unit);
    printf("%llu events in %d cells\n", (unsigned long long)events[0], (int)n);
    CHECK(fabs(sum_cm - path_cm) <= 1e-12 * path_cm);
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_flights(false);
    check_flights(true);
    check_paths();
    check_middle();
    check_corners();
    check_walls();
    check_mirror();
    check_bits();
    MPI_Finalize();
    return CHECK_PASS;
}
