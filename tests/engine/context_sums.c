/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 20 */
/* Sums over all ranks, and over those before: exact, and zero before rank 0;
 * in a context of Fortran's communicator. */
#include <storm/context.h>
#include <storm/version.h>

#include "support/check.h"

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
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
