/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * The comb is unbiased: the mean weight of a packet is conserved.
 *
 * Sample: 20,000 cells with the same 16 weights, merged to 5, or split to 23;
 * the offset differs from cell to cell. Standard errors from the sample.
 */
#include <math.h>
#include <stdio.h>

#include "comb_box.h"
#include "tolerances.h"

enum { CELLS = 20000, N = 16 };

static double weight_of(uint64_t i)
{
    return i % 5 == 0 ? 3.0 : 0.1 + 0.05 * (double)i;
}

static void check_fair(uint64_t n_min, uint64_t n_max)
{
    struct comb_box box;
    static double after[CELLS][N];
    memset(after, 0, sizeof after);
    comb_box_open(&box, n_min, n_max);
    for (storm_cell_idx cell = 0; cell < CELLS; cell++)
        for (uint64_t i = 0; i < N; i++) {
            struct storm_packet packet = comb_box_packet(cell, i, weight_of(i));
            CHECK_OK(storm_engine_add(box.engine, &packet));
        }
    CHECK_OK(storm_engine_step(box.engine));
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    CHECK_EQ(n, CELLS * (n_min > 0 ? n_min : n_max));
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        after[packet->cell_idx][packet->group] += packet->weight_erg;
    }
    for (uint64_t i = 0; i < N; i++) {
        double sum = 0.0, square = 0.0, right = weight_of(i);
        for (int cell = 0; cell < CELLS; cell++) {
            double off = after[cell][i] - right;
            sum += off;
            square += off * off;
        }
        double error = sqrt(square) + 1e-12 * CELLS;
        printf("packet %d: %.4f, off by %.2f standard errors\n", (int)i,
               right + sum / CELLS, sum / error);
        CHECK(fabs(sum) <= comb_unbiased_k * error);
    }
    comb_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_fair(0, 5);
    check_fair(23, 0);
    MPI_Finalize();
    return CHECK_PASS;
}
