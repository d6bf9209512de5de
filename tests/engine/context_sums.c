/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 20 */
/* Sums over all ranks, and over those before: exact, and zero before rank 0;
 * extremes of unsigned numbers beyond the largest signed one; in a context of
 * Fortran's communicator. */
#include <string.h>

#include <storm/context.h>
#include <storm/version.h>

#include "support/check.h"

static void check_extremes(const struct storm_context *context, uint64_t rank,
                           uint64_t size)
{
    uint64_t first[2] = {UINT64_MAX - rank, rank}, last[2];
    uint32_t small = UINT32_MAX - (uint32_t)rank;
    memcpy(last, first, sizeof last);
    CHECK_OK(storm_context_reduce(context, first, 2, MPI_UINT64_T, MPI_MIN));
    CHECK_OK(storm_context_reduce(context, last, 2, MPI_UINT64_T, MPI_MAX));
    CHECK_OK(storm_context_reduce(context, &small, 1, MPI_UINT32_T, MPI_MAX));
    CHECK_EQ(first[0], UINT64_MAX - (size - 1));
    CHECK_EQ(first[1], 0);
    CHECK_EQ(last[0], UINT64_MAX);
    CHECK_EQ(last[1], size - 1);
    CHECK_EQ(small, UINT32_MAX);
    /* of both signs, if they had one */
    uint64_t mixed = rank == 0 ? UINT64_MAX : rank;
    CHECK_OK(storm_context_reduce(context, &mixed, 1, MPI_UINT64_T, MPI_MAX));
    CHECK_EQ(mixed, UINT64_MAX);
}

int main(void)
{
    enum { N = 300 };
    struct storm_context *context;
    uint64_t all[N], before[N];
    MPI_Init(NULL, NULL);
    CHECK_EQ(storm_version_number(), STORM_VERSION_NUMBER);
    CHECK_OK(storm_context_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), NULL,
                                    &context));
    const uint64_t rank = (uint64_t)storm_context_rank(context);
    const uint64_t size = (uint64_t)storm_context_size(context);
    /* Rank r has i + r 2^40: r (r - 1) / 2 of the latter before it. */
    for (uint64_t i = 0; i < N; i++)
        all[i] = before[i] = i + (rank << 40);
    CHECK_OK(storm_context_exscan(context, before, N));
    CHECK_OK(storm_context_reduce(context, all, N, MPI_UINT64_T, MPI_SUM));
    for (uint64_t i = 0; i < N; i++) {
        CHECK_EQ(before[i], rank * i + ((rank * (rank - 1) / 2) << 40));
        CHECK_EQ(all[i], size * i + ((size * (size - 1) / 2) << 40));
    }
    CHECK_OK(storm_context_exscan(context, before, 0));
    check_extremes(context, rank, size);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
