/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60 */
/*
 * TRACK-1 and TRACK-5: after ten million crossings of cells of very unequal
 * size, packets are still in the cells that they name, to a few roundings, and
 * the tally has the whole length of their paths.
 */
#include <math.h>
#include <stdio.h>

#include "lone.h"

enum { N = 2000, CROSSINGS = 10000000 / CHECK_SLOWDOWN };

static const struct storm_cart_params params = {
    .size = sizeof params,
    .lo_cm = {-1e3, 1e-3, 0.0},
    .hi_cm = {1e3, 1e-3 + 1e-1, 7.0},
    .n = {25, 20, 19},
    .stretch = {1.0, 1.9, 0.5},
};

/* Is the packet within the faces of its cell, but for roundings? */
static void check_place(const struct lone *lone,
                        const struct storm_packet *packet)
{
    double lo[3], hi[3];
    const double low[3] = {0x1p-60, 0x1p-60, 0x1p-60};
    const double high[3] = {1.0 - 0x1p-53, 1.0 - 0x1p-53, 1.0 - 0x1p-53};
    storm_mesh_sample(lone->mesh, packet->cell_idx, low, lo);
    storm_mesh_sample(lone->mesh, packet->cell_idx, high, hi);
    for (int d = 0; d < 3; d++) {
        double ulp =
            0x1p-50 * fmax(fabs(params.lo_cm[d]), fabs(params.hi_cm[d]));
        CHECK(packet->position_cm[d] >= lo[d] - ulp &&
              packet->position_cm[d] <= hi[d] + ulp);
    }
    CHECK_EQ(packet->cell, (storm_cell_id)packet->cell_idx);
}

int main(int argc, char **argv)
{
    static struct storm_packet packets[N];
    static void *pointers[N];
    static struct storm_outcome outcomes[N];
    struct lone lone;
    MPI_Init(&argc, &argv);
    lone_open(&lone, &params);
    struct dice dice = dice_make(1, 0);
    for (int i = 0; i < N; i++) {
        packets[i] = lone_packet(&lone, &dice);
        pointers[i] = &packets[i];
    }
    const double step_s = 1.0;
    uint64_t events = 0;
    double path_cm = 0.0;
    while (events < CROSSINGS) {
        for (int i = 0; i < N; i++) {
            packets[i].time_left_s = step_s;
            path_cm += packets[i].weight_erg * step_s;
        }
        lone.advance(&lone.track, pointers, N, outcomes);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(outcomes[i].fate, STORM_FATE_CENSUS);
            events += outcomes[i].events;
            check_place(&lone, &packets[i]);
        }
    }
    double tally = 0.0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(lone.mesh); i++)
        tally += storm_exact_value(lone.track.exact[i], lone.track.unit);
    printf("%llu events, path %.17g, tally %.17g\n", (unsigned long long)events,
           path_cm, tally);
    CHECK(fabs(tally - path_cm) <= 1e-12 * path_cm);
    lone_close(&lone);
    MPI_Finalize();
    return CHECK_PASS;
}
