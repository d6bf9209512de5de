/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 20 */
/* storm/exact.h: terms of very different size, dealt out to the ranks in turn
 * and added in another order on each, give the sum that integers give, and so
 * do sums that are merged; what is above the bound is refused and changes
 * nothing; other bounds on another rank are an error of all. */
#include <math.h>

#include <storm/context.h>
#include <storm/exact.h>

#include "support/check.h"

enum { N_TERMS = 3000, N_SUMS = 3 };

/* Whole multiples of 2^-60, of either sign; their sum is known in integers. */
static double term_of(uint64_t i, int64_t *integer_out)
{
    *integer_out = (int64_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 11;
    *integer_out >>= i % 50;
    return (double)*integer_out * 0x1p-60;
}

static void check_sums(struct storm_context *context, int rank, int size)
{
    struct storm_sum sums[N_SUMS];
    int64_t all = 0;
    for (int s = 0; s < N_SUMS; s++)
        CHECK_OK(storm_sum_begin(&sums[s], 0x1p-7));
    for (uint64_t k = 0; k < N_TERMS; k++) {
        uint64_t i = rank % 2 == 0 ? k : N_TERMS - 1 - k;
        int64_t integer;
        double term = term_of(i, &integer);
        all += integer / 4096;
        if (i % (uint64_t)size != (uint64_t)rank)
            continue;
        for (int s = 0; s < N_SUMS; s++)
            CHECK_OK(storm_sum_add(&sums[s], s == 1 ? -term : term));
    }
    CHECK_OK(storm_sum_reduce(context, sums, N_SUMS));
    CHECK(storm_sum_value(&sums[0]) == -storm_sum_value(&sums[1]));
    CHECK_EQ(sums[0].words[0], sums[2].words[0]);
    /* `all` lacks less than one per term: no sum of doubles is compared. */
    double error = storm_sum_value(&sums[0]) * 0x1p60 / 4096 - (double)all;
    CHECK(error > -N_TERMS && error < N_TERMS);
    uint64_t mine[2] = {sums[0].words[0], sums[0].words[1]};
    uint64_t first[2] = {mine[0], mine[1]};
    MPI_Bcast(first, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    CHECK_EQ(first[0], mine[0]);
    CHECK_EQ(first[1], mine[1]);
}

/* The bits of a sum that one rank makes alone. */
static void check_alone(struct storm_context *context, int rank, int size)
{
    struct storm_sum alone, divided;
    CHECK_OK(storm_sum_begin(&alone, 1.0));
    CHECK_OK(storm_sum_begin(&divided, 1.0));
    for (uint64_t i = 0; i < N_TERMS; i++) {
        double term = 1.0 / (double)(i + 3);
        CHECK_OK(storm_sum_add(&alone, term));
        if (i % (uint64_t)size == (uint64_t)rank)
            CHECK_OK(storm_sum_add(&divided, term));
    }
    CHECK_OK(storm_sum_reduce(context, &divided, 1));
    CHECK_EQ(alone.words[0], divided.words[0]);
    CHECK_EQ(alone.words[1], divided.words[1]);
    struct storm_sum halves[2];
    for (int h = 0; h < 2; h++)
        CHECK_OK(storm_sum_begin(&halves[h], 1.0));
    for (uint64_t i = N_TERMS; i-- > 0;)
        CHECK_OK(storm_sum_add(&halves[i % 2], 1.0 / (double)(i + 3)));
    CHECK_OK(storm_sum_merge(&halves[0], &halves[1]));
    CHECK_EQ(alone.words[0], halves[0].words[0]);
    CHECK_EQ(alone.words[1], halves[0].words[1]);
    CHECK(storm_sum_value(&divided) > 6.5 && storm_sum_value(&divided) < 7.5);
}

static void check_refused(struct storm_context *context, int rank, int size)
{
    struct storm_sum sum;
    CHECK_EQ(storm_sum_begin(&sum, -1.0), STORM_ERR_ARG);
    CHECK_EQ(storm_sum_begin(&sum, (double)INFINITY), STORM_ERR_ARG);
    CHECK_OK(storm_sum_begin(&sum, 1.0));
    CHECK_OK(storm_sum_add(&sum, 1.0));
    CHECK_EQ(storm_sum_add(&sum, 2.0), STORM_ERR_ARG);
    CHECK_EQ(storm_sum_add(&sum, (double)NAN), STORM_ERR_ARG);
    CHECK(storm_sum_value(&sum) == 1.0);
    struct storm_sum other;
    CHECK_OK(storm_sum_begin(&other, 100.0));
    CHECK_OK(storm_sum_add(&other, 3.0));
    CHECK_EQ(storm_sum_merge(&sum, &other), STORM_ERR_ARG);
    CHECK(storm_sum_value(&sum) == 1.0);
    CHECK_OK(storm_sum_begin(&sum, rank == size - 1 ? 4.0 : 1.0));
    CHECK_EQ(storm_sum_reduce(context, &sum, 1),
             size > 1 ? STORM_ERR_ARG : STORM_OK);
}

int main(void)
{
    struct storm_context *context;
    MPI_Init(NULL, NULL);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    int rank = storm_context_rank(context);
    int size = storm_context_size(context);
    check_sums(context, rank, size);
    check_alone(context, rank, size);
    check_refused(context, rank, size);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
