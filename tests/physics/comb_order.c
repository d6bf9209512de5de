/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/* What the comb does not depend on: the order in which packets arrived. */
#include <stdio.h>

#include "comb_box.h"

enum { CELLS = 40, MAX = 200, ORDERS = 6 };

/* All packets of a problem: cells with 1 to 199 of them. */
static size_t fill(struct storm_packet *packets)
{
    struct dice dice = dice_make(11, 0);
    size_t n = 0;
    for (storm_cell_idx cell = 0; cell < CELLS; cell++) {
        uint64_t count = 1 + dice_roll(&dice, cell % 4 ? 20 : MAX - 1);
        for (uint64_t i = 0; i < count; i++)
            packets[n++] =
                comb_box_packet(cell, i,
                                (double)(1 + dice_word(&dice) % 1000000) / 3.0);
    }
    return n;
}

static uint64_t run(const struct storm_packet *packets, size_t n,
                    uint64_t n_min, uint64_t n_max)
{
    struct comb_box box;
    uint64_t hash = 0;
    comb_box_open(&box, n_min, n_max);
    for (size_t i = 0; i < n; i++)
        CHECK_OK(storm_engine_add(box.engine, &packets[i]));
    for (int step = 0; step < 3; step++) /* the second sees children, too */
        CHECK_OK(storm_engine_step(box.engine));
    size_t n_after;
    void *const *after = storm_engine_packets(box.engine, &n_after);
    for (size_t i = 0; i < n_after; i++)
        hash += storm_packet_hash(after[i]);
    double remainder = storm_ledger_value(&box.remainder);
    uint64_t bits;
    memcpy(&bits, &remainder, sizeof bits);
    comb_box_close(&box);
    return dice_mix(hash) ^ bits;
}

int main(int argc, char **argv)
{
    static struct storm_packet packets[CELLS * MAX];
    static const uint64_t limits[][2] = {{0, 10}, {12, 0}, {15, 15}, {5, 90}};
    MPI_Init(&argc, &argv);
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        struct dice dice = dice_make(12, k);
        size_t n = fill(packets);
        uint64_t right = run(packets, n, limits[k][0], limits[k][1]);
        for (int order = 0; order < ORDERS; order++) {
            for (size_t i = n - 1; i > 0; i--) {
                size_t j = (size_t)dice_roll(&dice, i + 1);
                struct storm_packet swap = packets[i];
                packets[i] = packets[j];
                packets[j] = swap;
            }
            CHECK_EQ(run(packets, n, limits[k][0], limits[k][1]), right);
        }
    }
    MPI_Finalize();
    return CHECK_PASS;
}
