/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120 */
/*
 * Packets in Voronoi cells: they go in straight lines and end in the cell that
 * is there; the portable kernel and the one for AVX2 give the same bits,
 * however a history is split; packets pass edges and corners of a lattice; and
 * none is lost in millions of crossings of cells of very unequal size.
 */
#include <math.h>
#include <stdio.h>

#include "lone.h"

enum { N = 2000, CROSSINGS = 4000000 / CHECK_SLOWDOWN };

static const struct storm_points_params random_set = {.size = sizeof random_set,
                                                      .seed = 1,
                                                      .n_total = 3000,
                                                      .lo_cm = {-5, -5, -5},
                                                      .hi_cm = {5, 5, 5}};
static const struct storm_points_params clustered_set = {
    .size = sizeof clustered_set,
    .kind = STORM_POINTS_CLUSTERED,
    .seed = 2,
    .n_total = 20000,
    .lo_cm = {0, 0, 0},
    .hi_cm = {3, 2, 1}};
static const struct storm_points_params lattice_set = {
    .size = sizeof lattice_set,
    .kind = STORM_POINTS_LATTICE,
    .n_total = 1000,
    .hi_cm = {8, 8, 8}};

static double folded(double x, double lo, double hi)
{
    double width = hi - lo, y = fmod(x - lo, 2.0 * width);
    y = y < 0.0 ? y + 2.0 * width : y;
    return lo + (y > width ? 2.0 * width - y : y);
}

static void check_flights(const struct storm_points_params *set)
{
    struct lone lone;
    lone_open_voronoi(&lone, set);
    struct dice dice = dice_make(1, 0);
    for (int i = 0; i < 5000; i++) {
        struct storm_packet packet = lone_packet(&lone, &dice);
        struct storm_packet start = packet;
        double time_s = 30.0 * lone_uniform(&dice);
        packet.time_left_s = time_s;
        struct storm_outcome outcome = lone_advance(&lone, &packet);
        CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
        for (int d = 0; d < 3; d++) {
            double x =
                folded(start.position_cm[d] + start.direction[d] * time_s,
                       set->lo_cm[d], set->hi_cm[d]);
            CHECK(fabs(packet.position_cm[d] - x) <=
                  1e-14 * (double)(outcome.events + 10));
        }
        /* on a plane has probability zero */
        CHECK_EQ(packet.cell, lone_locate(&lone, packet.position_cm));
    }
    lone_close(&lone);
}

/* Moves all packets to their end, at most max_events events a call. */
static uint64_t run(struct lone *lone, storm_track_fn *advance,
                    struct storm_packet *packets, size_t batch,
                    uint64_t max_events)
{
    static struct storm_outcome outcomes[N];
    uint64_t events = 0;
    lone->track.max_events = max_events;
    for (size_t i = 0; i < N; i += batch) {
        void *pointers[N];
        size_t n_left = N - i < batch ? N - i : batch;
        for (size_t k = 0; k < n_left; k++)
            pointers[k] = &packets[i + k];
        while (n_left > 0) {
            size_t n_kept = 0;
            advance(&lone->track, pointers, n_left, outcomes);
            for (size_t k = 0; k < n_left; k++) {
                events += outcomes[k].events;
                if (outcomes[k].fate == STORM_FATE_CONTINUE)
                    pointers[n_kept++] = pointers[k];
            }
            n_left = n_kept;
        }
    }
    return events;
}

static void check_bits(const struct storm_points_params *set, double time_s)
{
    static struct storm_packet start[N], once[N], again[N];
    static const size_t batches[] = {N, 1, 7, 64, N};
    static const uint64_t limits[] = {UINT64_MAX, UINT64_MAX, 1, 5, 1};
    struct lone lone;
    lone_open_voronoi(&lone, set);
    size_t bytes = (size_t)storm_mesh_n_cells(lone.mesh) * sizeof(storm_exact);
    storm_exact *tally = malloc(bytes);
    CHECK(tally != NULL);
    struct dice dice = dice_make(2, 0);
    for (size_t i = 0; i < N; i++) {
        start[i] = lone_packet(&lone, &dice);
        start[i].time_left_s = time_s * lone_uniform(&dice);
        if (i % 5 == 0) { /* along an axis, from a generator */
            double sign = i % 10 ? 1.0 : -1.0;
            memcpy(start[i].direction, (double[3]){0, -0.0, sign},
                   sizeof start[i].direction);
        }
    }
    memcpy(once, start, sizeof once);
    uint64_t events =
        run(&lone, storm_track_voronoi.advance, once, N, UINT64_MAX);
    memcpy(tally, lone.track.exact, bytes);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check_where("batch %d, limit %lld", (int)batches[i],
                    (long long)limits[i]);
        memset(lone.track.exact, 0, bytes);
        memcpy(again, start, sizeof again);
        CHECK_EQ(run(&lone, lone.advance, again, batches[i], limits[i]),
                 events);
        CHECK(memcmp(again, once, sizeof once) == 0);
        CHECK(memcmp(tally, lone.track.exact, bytes) == 0);
    }
    printf("%llu events\n", (unsigned long long)events);
    free(tally);
    lone_close(&lone);
}

/* Through generators, edges and corners of a lattice, where every plane that
 * is near is met at once. */
static void check_corners(void)
{
    static const int directions[][3] = {{1, 1, 1}, {1, -1, 0}, {0, 1, 1},
                                        {1, 0, 0}, {2, 1, 0},  {-1, 1, -1}};
    struct lone lone;
    lone_open_voronoi(&lone, &lattice_set);
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        for (storm_cell_idx cell = 0; cell < 1000; cell++) {
            struct storm_packet packet = {.cell_idx = cell,
                                          .cell = (storm_cell_id)cell,
                                          .time_left_s = 100.0};
            storm_mesh_centre(lone.mesh, cell, packet.position_cm);
            double norm = 0.0;
            for (int d = 0; d < 3; d++)
                norm += directions[i][d] * directions[i][d];
            for (int d = 0; d < 3; d++)
                packet.direction[d] = directions[i][d] / sqrt(norm);
            struct storm_outcome outcome = lone_advance(&lone, &packet);
            CHECK_EQ(outcome.fate, STORM_FATE_CENSUS);
            CHECK(outcome.events < 2000);
        }
    lone_close(&lone);
}

/* In its cell, to a few roundings of the coordinates. */
static void check_place(const struct lone *lone,
                        const struct storm_packet *packet)
{
    double inside[3], here = 0.0, there = 0.0;
    if (lone_locate(lone, packet->position_cm) == packet->cell_idx)
        return;
    /* then at its surface: a point slightly towards the centroid is in the
     * cell */
    storm_mesh_centre(lone->mesh, packet->cell_idx, inside);
    for (int d = 0; d < 3; d++) {
        double step = inside[d] - packet->position_cm[d];
        here += step * step;
        there += packet->position_cm[d] * packet->position_cm[d];
    }
    double part = 0x1p-40 * sqrt(there) / sqrt(here);
    CHECK(part < 1.0);
    for (int d = 0; d < 3; d++)
        inside[d] = packet->position_cm[d] +
                    part * (inside[d] - packet->position_cm[d]);
    CHECK_EQ(lone_locate(lone, inside), packet->cell);
}

static void check_never_lost(void)
{
    static struct storm_packet packets[N];
    struct lone lone;
    lone_open_voronoi(&lone, &clustered_set);
    struct dice dice = dice_make(3, 0);
    uint64_t events = 0;
    double path_cm = 0.0, tally_cm = 0.0;
    for (int i = 0; i < N; i++)
        packets[i] = lone_packet(&lone, &dice);
    while (events < CROSSINGS) {
        for (int i = 0; i < N; i++) {
            packets[i].time_left_s = 1.0;
            path_cm += packets[i].weight_erg;
        }
        events += run(&lone, lone.advance, packets, N, UINT64_MAX);
        for (int i = 0; i < N; i++) {
            CHECK(packets[i].time_left_s == 0.0);
            check_place(&lone, &packets[i]);
        }
    }
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(lone.mesh); i++)
        tally_cm += storm_exact_value(lone.track.exact[i], lone.track.unit);
    printf("%llu events, path %.17g, tally %.17g\n", (unsigned long long)events,
           path_cm, tally_cm);
    CHECK(fabs(tally_cm - path_cm) <= 1e-12 * path_cm);
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_flights(&random_set);
    check_flights(&clustered_set);
    check_bits(&random_set, 20.0);
    check_bits(&clustered_set, 2.0);
    check_bits(&lattice_set, 20.0);
    check_corners();
    check_never_lost();
    MPI_Finalize();
    return CHECK_PASS;
}
