/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * TRACK-2 and LANE-2: a history and the exact tally have the same bits whether
 * packets go in one call, a few at a time or one event after the other, in any
 * order.
 */
#include <stdio.h>

#include "lone.h"

enum { N = 3000 };

static const struct storm_cart_params boxes[] = {
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {-5, -5, -5},
     .hi_cm = {5, 5, 5},
     .n = {11, 9, 10}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, 0, 0},
     .hi_cm = {1, 2, 3},
     .n = {7, 30, 2},
     .stretch = {2.0, 0.9, 0.0},
     .periodic = {true, false, true}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, 0, 0},
     .hi_cm = {3, 1, 1},
     .n = {50, 1, 1},
     .periodic = {false, true, false}},
};

/* Moves all packets to their end, `batch` at a time, at most max_events
 * events a call. Returns the number of events. */
static uint64_t run(struct lone *lone, struct storm_packet *packets,
                    size_t batch, uint64_t max_events)
{
    static void *pointers[N];
    static struct storm_outcome outcomes[N];
    uint64_t events = 0;
    size_t n_left = N;
    lone->track.max_events = max_events;
    for (size_t i = 0; i < N; i++)
        pointers[i] = &packets[i];
    while (n_left > 0) {
        size_t n_kept = 0;
        for (size_t i = 0; i < n_left; i += batch) {
            size_t n = n_left - i < batch ? n_left - i : batch;
            memset(outcomes, 0xff, n * sizeof *outcomes);
            lone->advance(&lone->track, pointers + i, n, outcomes);
            for (size_t k = 0; k < n; k++) {
                CHECK(outcomes[k].events >= 1 &&
                      outcomes[k].events <= max_events);
                events += outcomes[k].events;
                if (outcomes[k].fate == STORM_FATE_CONTINUE)
                    pointers[n_kept++] = pointers[i + k];
                else
                    CHECK(outcomes[k].fate == STORM_FATE_CENSUS ||
                          outcomes[k].fate == STORM_FATE_BOUNDARY);
            }
        }
        n_left = n_kept;
    }
    return events;
}

static void check_box(const struct storm_cart_params *params, unsigned mirrors)
{
    static struct storm_packet start[N], once[N], again[N];
    static storm_exact tally[10000];
    struct lone lone;
    lone_open(&lone, params);
    lone.track.mirror_walls = mirrors;
    size_t n_cells = (size_t)storm_mesh_n_cells(lone.mesh);
    CHECK(n_cells <= sizeof tally / sizeof tally[0]);
    struct dice dice = dice_make(1, mirrors);
    for (size_t i = 0; i < N; i++) {
        start[i] = lone_packet(&lone, &dice);
        start[i].time_left_s = 20.0 * lone_uniform(&dice);
        if (i % 10 == 0) /* also straight along an axis */
            memcpy(start[i].direction, (double[3]){0, i % 20 ? 1 : -1, -0.0},
                   sizeof start[i].direction);
    }
    memcpy(once, start, sizeof once);
    uint64_t events = run(&lone, once, N, UINT64_MAX);
    memcpy(tally, lone.track.exact, n_cells * sizeof *tally);

    static const size_t batches[] = {1, 3, 64, N, 8, 64};
    static const uint64_t limits[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                      1,          1,          7};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check_where("batch %d, limit %lld", (int)batches[i],
                    (long long)limits[i]);
        memset(lone.track.exact, 0, n_cells * sizeof *tally);
        memcpy(again, start, sizeof again);
        CHECK_EQ(run(&lone, again, batches[i], limits[i]), events);
        CHECK(memcmp(again, once, sizeof once) == 0);
        CHECK(memcmp(tally, lone.track.exact, n_cells * sizeof *tally) == 0);
    }
    printf("%llu events\n", (unsigned long long)events);
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        check_box(&boxes[i], 0x3f);
        check_box(&boxes[i], 0x15);
        check_box(&boxes[i], 0);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
