/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3 5; timeout: 20 */
/*
 * P1 .. P3 of mesh/mesh_partition.h: a cut by weight is what one rank that
 * knows all weights would compute, from whichever cut the weights are given.
 */
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_partition.h"
#include "support/check.h"
#include "support/dice.h"

enum { N_MOST = 1000, RANKS_MOST = 64 };

__extension__ typedef unsigned __int128 wide;

/* The rule of P2, cell by cell. */
static void expect(const uint64_t *weight, uint64_t n, int n_ranks,
                   uint64_t *cut_out)
{
    wide total = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        total += weight[i];
    if (total == 0) {
        storm_partition_equal(n, n_ranks, cut_out);
        return;
    }
    uint64_t counts[RANKS_MOST] = {0};
    for (uint64_t i = 0; i < n; i++) {
        wide share = (2 * sum + weight[i]) * (unsigned)n_ranks;
        unsigned r = 0;
        while (r + 1 < (unsigned)n_ranks && share >= 2 * total * (r + 1))
            r++;
        counts[r]++;
        sum += weight[i];
    }
    cut_out[0] = 0;
    for (int r = 0; r < n_ranks; r++)
        cut_out[r + 1] = cut_out[r] + counts[r];
}

/* Some cut at random. */
static void shuffle_cut(struct dice *dice, uint64_t n, int n_ranks,
                        uint64_t *cut_out)
{
    cut_out[0] = 0;
    cut_out[n_ranks] = n;
    for (int r = 1; r < n_ranks; r++)
        cut_out[r] = cut_out[r - 1] + dice_roll(dice, n - cut_out[r - 1] + 1);
}

enum kind { ZERO, ONE, SMALL, HUGE, SPIKE, FIRST, LAST, KINDS };

static void fill(struct dice *dice, enum kind kind, uint64_t *weight,
                 uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t word = dice_word(dice);
        weight[i] = kind == ONE                  ? 1
                    : kind == SMALL              ? word % 10
                    : kind == HUGE               ? word
                    : kind == SPIKE              ? word % 3
                    : kind == FIRST && i == 0    ? 7
                    : kind == LAST && i == n - 1 ? 7
                                                 : 0;
    }
    if (kind == SPIKE)
        weight[dice_roll(dice, n)] = UINT64_MAX;
}

static void check_cut(struct storm_context *context, struct dice *dice,
                      uint64_t n, enum kind kind)
{
    int n_ranks = storm_context_size(context);
    int rank = storm_context_rank(context);
    uint64_t weight[N_MOST], right[RANKS_MOST + 1], cut[RANKS_MOST + 1],
        fresh[RANKS_MOST + 1];
    check_where("%d cells, kind %d", (int)n, (int)kind);
    fill(dice, kind, weight, n);
    expect(weight, n, n_ranks, right);
    for (int i = 0; i < 5; i++) {
        if (i == 0)
            storm_partition_equal(n, n_ranks, cut);
        else
            shuffle_cut(dice, n, n_ranks, cut);
        for (uint64_t id = 0; id < n; id++) {
            int owner = storm_partition_owner(cut, n_ranks, id);
            CHECK(cut[owner] <= id && id < cut[owner + 1]);
        }
        memset(fresh, 0xff, sizeof fresh);
        CHECK_OK(storm_partition_by_weight(context, cut, weight + cut[rank],
                                           fresh));
        for (int r = 0; r <= n_ranks; r++)
            CHECK_EQ(fresh[r], right[r]);
    }
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    CHECK(storm_context_size(context) <= RANKS_MOST);
    struct dice dice = dice_make(1, 0); /* the same on every rank */
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 64, 999, N_MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int kind = 0; kind < KINDS; kind++)
            check_cut(context, &dice, sizes[i], (enum kind)kind);

    /* Equal counts differ by one at most. */
    uint64_t cut[RANKS_MOST + 1];
    storm_partition_equal(17, 5, cut);
    for (int r = 0; r < 5; r++)
        CHECK(cut[r + 1] - cut[r] == 3 || cut[r + 1] - cut[r] == 4);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
