/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * The comb conserves the weight of every cell: exactly, with the remainder, and
 * to one rounding without it; it makes the requested number of packets, with
 * distinct ids; and it allocates nothing after the first step.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "comb_box.h"

enum { CELLS = 50, N_MIN = 4, N_MAX = 9 };

static uint64_t count_in(uint64_t cell)
{
    return cell % 25; /* none, few, some, many */
}

static uint64_t count_after(uint64_t n)
{
    return n == 0 ? 0 : n < N_MIN ? N_MIN : n > N_MAX ? N_MAX : n;
}

/* Weights from 1e-200 to 1e200, or all equal, or zero. */
static double weight_of(struct dice *dice, uint64_t kind)
{
    double x = ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
    return kind == 0   ? x
           : kind == 1 ? ldexp(x, (int)dice_roll(dice, 1300) - 650)
           : kind == 2 ? 1.0 / 3.0
                       : 0.0;
}

static int compare_ids(const void *a, const void *b)
{
    return storm_packet_id_compare(*(const struct storm_packet_id *)a,
                                   *(const struct storm_packet_id *)b);
}

static void check_ids(void *const *packets, size_t n)
{
    static struct storm_packet_id ids[CELLS * 100];
    CHECK(n <= sizeof ids / sizeof ids[0]);
    for (size_t i = 0; i < n; i++)
        ids[i] = ((const struct storm_packet *)packets[i])->id;
    qsort(ids, n, sizeof ids[0], compare_ids);
    for (size_t i = 1; i < n; i++)
        CHECK(storm_packet_id_compare(ids[i - 1], ids[i]) < 0);
}

static void check_kind(uint64_t kind)
{
    struct comb_box box;
    struct dice dice = dice_make(3, kind);
    struct storm_ledger before[CELLS];
    memset(before, 0, sizeof before);
    comb_box_open(&box, N_MIN, N_MAX);
    check_where("weights of kind %d", (int)kind);
    for (uint64_t cell = 0; cell < CELLS; cell++)
        for (uint64_t i = 0; i < count_in(cell); i++) {
            struct storm_packet packet =
                comb_box_packet((storm_cell_idx)cell, i,
                                weight_of(&dice, kind));
            storm_ledger_add(&before[cell], packet.weight_erg);
            CHECK_OK(storm_engine_add(box.engine, &packet));
        }
    CHECK_OK(storm_engine_step(box.engine));

    uint64_t count[CELLS] = {0};
    struct storm_ledger after[CELLS], sum;
    memset(after, 0, sizeof after);
    memset(&sum, 0, sizeof sum);
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        count[packet->cell_idx]++;
        storm_ledger_add(&after[packet->cell_idx], packet->weight_erg);
    }
    check_ids(packets, n);
    for (uint64_t cell = 0; cell < CELLS; cell++) {
        if (kind != 3) /* without weight the number is not defined */
            CHECK_EQ(count[cell], count_after(count_in(cell)));
        /* one rounding, and for a split none */
        CHECK(storm_ledger_value(&after[cell]) ==
              storm_ledger_value(&before[cell]));
        storm_ledger_merge(&sum, &before[cell], 1);
        storm_ledger_merge(&sum, &after[cell], -1);
    }
    storm_ledger_merge(&sum, &box.remainder, -1);
    CHECK(storm_ledger_is_zero(&sum));
    comb_box_close(&box);
}

static void check_steady_state(void)
{
    struct comb_box box;
    comb_box_open(&box, N_MIN, N_MAX);
    struct storm_memory *memory = storm_context_env(box.context)->memory;
    uint64_t calls = 0;
    for (int step = 0; step < 10; step++) {
        for (uint64_t cell = 0; cell < CELLS; cell++)
            for (uint64_t i = 0; i < 12; i++) {
                struct storm_packet packet =
                    comb_box_packet((storm_cell_idx)cell,
                                    100 * (uint64_t)step + i, 1.0);
                CHECK_OK(storm_engine_add(box.engine, &packet));
            }
        CHECK_OK(storm_engine_step(box.engine));
        if (step == 2)
            calls = storm_memory_calls(memory);
    }
    CHECK_EQ(storm_memory_calls(memory), calls);
    comb_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (uint64_t kind = 0; kind < 4; kind++)
        check_kind(kind);
    check_steady_state();
    MPI_Finalize();
    return CHECK_PASS;
}
