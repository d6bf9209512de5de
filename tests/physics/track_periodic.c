/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60 */
/*
 * Flights in Voronoi meshes that are periodic in some directions, with very few
 * cells, with many and in lattices: a packet goes on in a straight line through
 * the walls, ends in the box and in the cell whose generator or image is
 * nearest, the tally has the whole length of its path, and no bit depends on
 * how often it was interrupted.
 */
#include <math.h>
#include <stdio.h>

#include "lone.h"

enum { N = 400, STEPS = 5 };

struct flight {
    double lo_cm[3], hi_cm[3];
    bool periodic[3];
    uint64_t n;
    storm_points_kind kind;
};

static const struct flight list[] = {
    {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 1, STORM_POINTS_RANDOM},
    {{0, 0, 0}, {1, 3, 0.3}, {1, 1, 1}, 2, STORM_POINTS_RANDOM},
    {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 3, STORM_POINTS_RANDOM},
    {{-1, 2, -7}, {3, 3, -6}, {1, 1, 1}, 300, STORM_POINTS_RANDOM},
    {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 64, STORM_POINTS_LATTICE},
    {{0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 125, STORM_POINTS_LATTICE},
    {{0.1, 0.2, 0.3}, {1.1, 0.7, 1.3}, {1, 0, 0}, 200, STORM_POINTS_RANDOM},
    {{0, 0, 0}, {1, 2, 1}, {0, 1, 1}, 1, STORM_POINTS_RANDOM},
    {{0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 500, STORM_POINTS_CLUSTERED},
};

static void open_flight(struct lone *lone, const struct flight *f)
{
    struct storm_points_params set = {
        .size = sizeof set, .kind = f->kind, .seed = 5, .n_total = f->n};
    struct storm_voronoi_params params = {.size = sizeof params};
    for (int d = 0; d < 3; d++) {
        set.lo_cm[d] = params.lo_cm[d] = f->lo_cm[d];
        set.hi_cm[d] = params.hi_cm[d] = f->hi_cm[d];
        params.periodic[d] = f->periodic[d];
    }
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &lone->context));
    CHECK_OK(run_points_mesh(lone->context, &set, &params, &lone->mesh));
    lone_begin(lone);
}

/* The distance to the nearest image of a generator. */
static double distance(const struct lone *lone, const struct flight *f,
                       storm_cell_idx cell, const double x[3])
{
    double g[3], sum = 0.0;
    CHECK_OK(storm_mesh_generator(lone->mesh, cell, g));
    for (int d = 0; d < 3; d++) {
        double period = f->hi_cm[d] - f->lo_cm[d], y = fabs(x[d] - g[d]);
        if (f->periodic[d])
            y = fmin(y, fabs(period - y));
        sum += y * y;
    }
    return sqrt(sum);
}

/* In the box, and in its cell but for roundings. */
static void check_place(const struct lone *lone, const struct flight *f,
                        const struct storm_packet *packet)
{
    const double *x = packet->position_cm;
    double size = 0.0, nearest = INFINITY;
    for (int d = 0; d < 3; d++) {
        size += fabs(f->lo_cm[d]) + fabs(f->hi_cm[d]);
        CHECK(x[d] >= f->lo_cm[d]);
        CHECK(f->periodic[d] ? x[d] < f->hi_cm[d] : x[d] <= f->hi_cm[d]);
    }
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(lone->mesh); i++)
        nearest = fmin(nearest, distance(lone, f, i, x));
    CHECK(distance(lone, f, packet->cell_idx, x) <= nearest + 0x1p-47 * size);
}

/* Where a straight line with mirrors and periods ends. */
static double folded(const struct flight *f, int d, double x)
{
    double width = f->hi_cm[d] - f->lo_cm[d], y = x - f->lo_cm[d];
    double turn = f->periodic[d] ? width : 2.0 * width;
    y -= turn * floor(y / turn);
    return f->lo_cm[d] + (y > width ? turn - y : y);
}

static void check_line(const struct flight *f, const struct storm_packet *from,
                       const struct storm_packet *to, double seconds)
{
    for (int d = 0; d < 3; d++) {
        double right =
            folded(f, d, from->position_cm[d] + seconds * from->direction[d]);
        double off = fabs(right - to->position_cm[d]);
        if (f->periodic[d]) /* two coordinates of the same wall */
            off = fmin(off, fabs(f->hi_cm[d] - f->lo_cm[d] - off));
        CHECK(off <= 1e-12 * (seconds + fabs(f->lo_cm[d]) + 10.0));
    }
}

/* To the end of the step, so many events a call. */
static uint64_t fly(struct lone *lone, struct storm_packet *packet,
                    uint64_t max_events)
{
    struct storm_outcome outcome;
    uint64_t events = 0;
    lone->track.max_events = max_events;
    do {
        outcome = lone_advance(lone, packet);
        events += outcome.events;
    } while (outcome.fate == STORM_FATE_CONTINUE);
    CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
    return events;
}

static void set_out(struct lone *lone, const struct flight *f, int i,
                    struct dice *dice, struct storm_packet *packet)
{
    *packet = lone_packet(lone, dice);
    if (i % 4 == 0) /* along an axis, through all ties of a lattice */
        memcpy(packet->direction, (double[3]){i % 8 ? 1 : -1, 0, -0.0},
               sizeof packet->direction);
    if (i % 8 == 1) { /* along a diagonal, from a generator */
        const double along = 1.0 / sqrt(3.0);
        memcpy(packet->direction, (double[3]){along, -along, along},
               sizeof packet->direction);
        CHECK_OK(storm_mesh_generator(lone->mesh, packet->cell_idx,
                                      packet->position_cm));
    }
    check_place(lone, f, packet);
}

static void check_flight(const struct flight *f)
{
    struct lone lone;
    struct dice dice = dice_make(11, f->n);
    static const uint64_t limits[] = {UINT64_MAX, 1, 3};
    double path[3] = {0.0}, width = INFINITY;
    uint64_t events[3] = {0};
    open_flight(&lone, f);
    for (int d = 0; d < 3; d++)
        width = fmin(width, f->hi_cm[d] - f->lo_cm[d]);
    for (int i = 0; i < N; i++) {
        struct storm_packet start, end[3];
        set_out(&lone, f, i, &dice, &start);
        start.time_left_s = 0.0;
        for (int k = 0; k < 3; k++)
            end[k] = start;
        for (int step = 0; step < STEPS; step++) {
            double seconds = 4.0 * width * lone_uniform(&dice);
            struct storm_packet before = end[0];
            for (int k = 0; k < 3; k++) {
                end[k].time_left_s = seconds;
                events[k] += fly(&lone, &end[k], limits[k]);
                path[k] += seconds * end[k].weight_erg;
                CHECK(memcmp(&end[k], &end[0], sizeof end[0]) == 0);
            }
            check_place(&lone, f, &end[0]);
            check_line(f, &before, &end[0], seconds);
        }
    }
    CHECK_EQ(events[0], events[1]);
    CHECK_EQ(events[0], events[2]);
    double tally = 0.0, right = path[0] + path[1] + path[2];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(lone.mesh); i++)
        tally += storm_exact_value(lone.track.exact[i], lone.track.unit);
    printf("%llu cells, %llu events\n", (unsigned long long)f->n,
           (unsigned long long)events[0]);
    CHECK(fabs(tally - right) <= 1e-12 * right);
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        check_where("flight %d", (int)i);
        check_flight(&list[i]);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
