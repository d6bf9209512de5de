/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 20 */
/*
 * PARTITION-1, PARTITION-2 and PARTITION-3: a partition by weight is what one
 * rank that knows all weights computes, from any present partition.
 */
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_partition.h"
#include "support/check.h"
#include "support/dice.h"

enum { N_MAX = 1000, RANKS_MAX = 64 };

__extension__ typedef unsigned __int128 wide;

/* The rule of PARTITION-2, cell by cell. */
static void expect(const uint64_t *weight, uint64_t n, int n_ranks,
                   uint64_t *partition_out)
{
    wide total = 0, sum = 0;
    for (uint64_t i = 0; i < n; i++)
        total += weight[i];
    if (total == 0) {
        storm_partition_equal(n, n_ranks, partition_out);
        return;
    }
    uint64_t counts[RANKS_MAX] = {0};
    for (uint64_t i = 0; i < n; i++) {
        wide share = (2 * sum + weight[i]) * (unsigned)n_ranks;
        unsigned r = 0;
        while (r + 1 < (unsigned)n_ranks && share >= 2 * total * (r + 1))
            r++;
        counts[r]++;
        sum += weight[i];
    }
    partition_out[0] = 0;
    for (int r = 0; r < n_ranks; r++)
        partition_out[r + 1] = partition_out[r] + counts[r];
}

/* A random partition. */
static void shuffle_partition(struct dice *dice, uint64_t n, int n_ranks,
                              uint64_t *partition_out)
{
    partition_out[0] = 0;
    partition_out[n_ranks] = n;
    for (int r = 1; r < n_ranks; r++)
        partition_out[r] = partition_out[r - 1] +
                           dice_roll(dice, n - partition_out[r - 1] + 1);
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

static void check_partition(struct storm_context *context, struct dice *dice,
                            uint64_t n, enum kind kind)
{
    int n_ranks = storm_context_size(context);
    int rank = storm_context_rank(context);
    uint64_t weight[N_MAX], right[RANKS_MAX + 1], partition[RANKS_MAX + 1],
        fresh[RANKS_MAX + 1];
    check_where("%d cells, kind %d", (int)n, (int)kind);
    fill(dice, kind, weight, n);
    expect(weight, n, n_ranks, right);
    for (int i = 0; i < 5; i++) {
        if (i == 0)
            storm_partition_equal(n, n_ranks, partition);
        else
            shuffle_partition(dice, n, n_ranks, partition);
        for (uint64_t id = 0; id < n; id++) {
            int owner = storm_partition_owner(partition, n_ranks, id);
            CHECK(partition[owner] <= id && id < partition[owner + 1]);
        }
        memset(fresh, 0xff, sizeof fresh);
        CHECK_OK(storm_partition_by_weight(context, partition,
                                           weight + partition[rank], fresh));
        for (int r = 0; r <= n_ranks; r++)
            CHECK_EQ(fresh[r], right[r]);
    }
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    CHECK(storm_context_size(context) <= RANKS_MAX);
    struct dice dice = dice_make(1, 0); /* the same on every rank */
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 64, 999, N_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int kind = 0; kind < KINDS; kind++)
            check_partition(context, &dice, sizes[i], (enum kind)kind);

    /* Equal counts differ by one at most. */
    uint64_t partition[RANKS_MAX + 1];
    storm_partition_equal(17, 5, partition);
    for (int r = 0; r < 5; r++)
        CHECK(partition[r + 1] - partition[r] == 3 ||
              partition[r + 1] - partition[r] == 4);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
