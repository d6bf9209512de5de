/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * TRACK-3, LANE-3: packets go in straight lines: they end at start + direction
 * * time, in the cell that is there, through planes, edges and corners; at
 * walls they stop, reflect or enter on the other side.
 */
#include <math.h>
#include <stdio.h>

#include "lone.h"

static const struct storm_cart_params box = {
    .size = sizeof box, .lo_cm = {0, 0, 0}, .hi_cm = {8, 4, 2}, .n = {8, 8, 8}};

static void check_flights(bool periodic)
{
    struct storm_cart_params params = box;
    struct lone lone;
    for (int d = 0; d < 3; d++)
        params.periodic[d] = periodic;
    params.stretch[1] = 1.4;
    lone_open(&lone, &params);
    lone_check_flights(&lone, params.hi_cm, periodic, 20000, 40.0);
    lone_close(&lone);
}

/* Along the axes, with numbers short enough that nothing is rounded. */
static void check_axes(void)
{
    struct lone lone;
    lone_open(&lone, &box);
    for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct storm_packet packet = {.position_cm = {4.5, 2.25, 1.125},
                                          .time_left_s = 0.6875};
            double x = packet.position_cm[axis];
            lone_settle(&lone, &packet);
            packet.direction[axis] = sign;
            packet.direction[(axis + 1) % 3] = sign < 0 ? -0.0 : 0.0;
            CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_CENSUS);
            CHECK(packet.position_cm[axis] == x + 0.6875 * sign);
            CHECK_EQ(packet.cell, lone_locate(&lone, packet.position_cm));
        }
    lone_close(&lone);
}

/* Along a diagonal through corners of cells, with rounding that is the same
 * in all three directions: crosses three planes at one point. */
static void check_corners(void)
{
    const struct storm_cart_params cube = {
        .size = sizeof cube, .hi_cm = {8, 8, 8}, .n = {8, 8, 8}};
    struct lone lone;
    lone_open(&lone, &cube);
    struct storm_packet packet = {.position_cm = {0, 0, 0},
                                  .time_left_s = 13.0};
    for (int d = 0; d < 3; d++)
        packet.direction[d] = sqrt(1.0 / 3.0);
    lone_settle(&lone, &packet);
    struct storm_outcome outcome = lone_advance(&lone, &packet);
    CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
    CHECK_EQ(outcome.events, 3 * 7 + 1); /* 7 corners, and the end */
    CHECK(packet.position_cm[0] == packet.position_cm[1] &&
          packet.position_cm[1] == packet.position_cm[2]);
    CHECK(fabs(packet.position_cm[0] - 13.0 * sqrt(1.0 / 3.0)) < 1e-14);
    CHECK_EQ(packet.cell, lone_locate(&lone, packet.position_cm));
    lone_close(&lone);
}

/* To a wall that does not reflect, and what lies behind the cell's faces. */
static void check_walls(void)
{
    struct lone lone;
    lone_open(&lone, &box);
    lone.track.mirror_walls = 0;
    for (int wall = 0; wall < STORM_N_WALLS; wall++) {
        struct storm_packet packet = {.position_cm = {4.5, 2.25, 1.125},
                                      .time_left_s = 100.0};
        lone_settle(&lone, &packet);
        packet.direction[wall / 2] = wall % 2 ? 1.0 : -1.0;
        double x = packet.position_cm[wall / 2];
        double end = wall % 2 ? box.hi_cm[wall / 2] : 0.0;
        CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_BOUNDARY);
        CHECK_EQ(packet.face, wall);
        CHECK(packet.position_cm[wall / 2] == end);
        CHECK(packet.time_left_s == 100.0 - fabs(end - x));
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(lone.mesh, packet.cell_idx, (int)packet.face, &face);
        CHECK_EQ(face.wall, wall);
    }
    lone_close(&lone);
}

/* A packet that is beyond a face, as rounding may put it, crosses it at once:
 * it takes no time and adds nothing to the tally. One that does not move
 * stays. */
static void check_beyond(void)
{
    struct lone lone;
    lone_open(&lone, &box);
    struct storm_packet packet = {
        .direction = {1, 0, 0}, .time_left_s = 0.5, .weight_erg = 1.0};
    packet.position_cm[0] = 1.0 + 0x1p-50;
    packet.position_cm[1] = packet.position_cm[2] = 0.1;
    double inside[3] = {0.5, 0.1, 0.1};
    storm_cell_idx cell = lone_locate(&lone, inside);
    packet.cell_idx = cell;
    packet.cell = (storm_cell_id)cell;
    lone.track.max_events = 1;
    CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_CONTINUE);
    CHECK(packet.time_left_s == 0.5);
    CHECK(lone.track.exact[cell] == 0);
    CHECK_EQ(packet.cell, lone_locate(&lone, packet.position_cm));
    CHECK(packet.cell_idx != cell);

    packet.direction[0] = 0.0;
    packet.time_left_s = 1.0;
    struct storm_packet still = packet;
    CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_CENSUS);
    CHECK(memcmp(packet.position_cm, still.position_cm,
                 sizeof still.position_cm) == 0);
    lone_close(&lone);
}

/* After a crossing a packet is on the plane exactly, not nearly. */
static void check_planes(void)
{
    struct lone lone;
    lone_open(&lone, &box);
    lone.track.max_events = 1;
    struct dice dice = dice_make(2, 0);
    for (int i = 0; i < 20000; i++) {
        struct storm_packet packet = lone_packet(&lone, &dice);
        packet.time_left_s = 10.0;
        CHECK_EQ(lone_advance(&lone, &packet).fate, STORM_FATE_CONTINUE);
        bool on_plane = false;
        for (int d = 0; d < 3; d++) { /* widths are 1, 1/2 and 1/4 */
            double index = ldexp(packet.position_cm[d], d);
            on_plane = on_plane || index == floor(index);
        }
        CHECK(on_plane);
    }
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_flights(false);
    check_flights(true);
    check_axes();
    check_corners();
    check_walls();
    check_beyond();
    check_planes();
    MPI_Finalize();
    return CHECK_PASS;
}
