/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 20 */
/*
 * GATHER-1 and GATHER-2: rows come in order of the ranks, in pieces, none
 * twice, none missing; if rank 0 cannot take them all ranks learn of it.
 */
#include <string.h>

#include <storm/context.h>

#include "io/io_gather.h"
#include "support/check.h"

enum { ROW_WORDS = 3 };

/* Row i of rank r is r, i, r ^ i. */
static void fill(void *self, size_t first, size_t n, void *rows_out)
{
    uint64_t rank = *(const uint64_t *)self, *row = rows_out;
    for (size_t i = first; i < first + n; i++, row += ROW_WORDS) {
        row[0] = rank;
        row[1] = i;
        row[2] = rank ^ i;
    }
}

struct taken {
    size_t (*rows_of)(uint64_t rank);
    uint64_t rank, i, n;
    uint64_t fail_at, n_calls; /* call that fails; 0: none */
};

static storm_status take(void *self, const void *rows, size_t n)
{
    struct taken *taken = self;
    if (++taken->n_calls == taken->fail_at)
        return STORM_ERR_IO;
    CHECK(taken->fail_at == 0 || taken->n_calls < taken->fail_at);
    CHECK(n * ROW_WORDS * sizeof(uint64_t) <=
          IO_GATHER_BYTES + ROW_WORDS * sizeof(uint64_t));
    const uint64_t *row = rows;
    for (size_t k = 0; k < n; k++, row += ROW_WORDS) {
        while (taken->i == taken->rows_of(taken->rank)) {
            taken->rank++;
            taken->i = 0;
        }
        CHECK_EQ(row[0], taken->rank);
        CHECK_EQ(row[1], taken->i);
        CHECK_EQ(row[2], taken->rank ^ taken->i);
        taken->i++;
        taken->n++;
    }
    return STORM_OK;
}

static size_t none(uint64_t rank)
{
    (void)rank;
    return 0;
}

static size_t few(uint64_t rank)
{
    return rank % 2 == 0 ? 0 : 5;
}

static size_t many(uint64_t rank)
{
    return 100000 + 17 * (size_t)rank;
}

static void check_rows(struct storm_context *context,
                       size_t (*rows_of)(uint64_t), uint64_t fail_at)
{
    uint64_t rank = (uint64_t)storm_context_rank(context), total = 0;
    struct taken taken = {.rows_of = rows_of, .fail_at = fail_at};
    struct io_gather_rows rows = {.n = rows_of(rank),
                                  .row_bytes = ROW_WORDS * sizeof(uint64_t),
                                  .self = &rank,
                                  .fill = fill};
    storm_status status = io_gather(context, &rows, take, &taken);
    for (int r = 0; r < storm_context_size(context); r++)
        total += rows_of((uint64_t)r);
    if (fail_at > 0)
        CHECK(status == (rank == 0 ? STORM_ERR_IO : STORM_ERR_PEER));
    else
        CHECK_OK(status);
    if (rank == 0 && fail_at == 0)
        CHECK_EQ(taken.n, total);
    if (rank != 0)
        CHECK_EQ(taken.n_calls, 0);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    check_rows(context, none, 0);
    check_rows(context, few, 0);
    check_rows(context, many, 0);
    check_rows(context, many, 2);
    if (storm_context_size(context) > 1)
        check_rows(context, many, 4); /* with rows of rank 1 */
    check_rows(context, many, 0);     /* nothing is left over */
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
