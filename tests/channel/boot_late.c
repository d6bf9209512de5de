/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 20 */
/* STEP-3: a rank with an error that finds all others there is not lost. BOOT-3:
 * messages that arrive after an operation was given up because a rank
 * is lost leave the caller's memory alone. A lifeline of the test's own reports
 * the loss. */
#include <string.h>

#include <mpi.h>

#include "base/lifeline.h"
#include "channel/channel_control.h"
#include "support/check.h"

enum { BYTES = 512, POLLS = 1000 };

struct storm_lifeline {
    int n_checks, lost_after;
};

storm_status storm_lifeline_check(struct storm_lifeline *lifeline)
{
    if (!lifeline || lifeline->n_checks++ < lifeline->lost_after)
        return STORM_OK;
    return STORM_ERR_LOST;
}

/* No operation here brings an error of its own. */
void storm_lifeline_fail(struct storm_lifeline *lifeline)
{
    (void)lifeline;
    CHECK(false);
}

typedef enum operation { EXCHANGE, BROADCAST } operation;

static storm_status call(const struct storm_boot *boot, operation what,
                         unsigned char *theirs)
{
    static const unsigned char mine[BYTES] = {1};
    const struct storm_boot_link link = {1 - boot->rank, mine, 1 - boot->rank,
                                         theirs};
    return what == EXCHANGE ? boot->exchange(boot->self, &link, 1, BYTES)
                            : boot->broadcast(boot->self, theirs, BYTES);
}

/* Rank 0 is late; rank 1 does not wait for it. */
static void give_up(operation what)
{
    unsigned char theirs[BYTES], old[BYTES];
    struct storm_boot boot;
    struct storm_lifeline lifeline = {.lost_after = POLLS};
    int rank, min = 5;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(theirs, 7, sizeof theirs);
    memset(old, 7, sizeof old);
    CHECK_OK(storm_boot_mpi_open(MPI_COMM_WORLD, &boot));
    if (rank == 1) {
        storm_boot_mpi_watch(&boot, &lifeline);
        CHECK_EQ(call(&boot, what, theirs), STORM_ERR_LOST);
        CHECK_EQ(boot.minimum(boot.self, 1, &min), STORM_ERR_LOST);
        CHECK_EQ(min, 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_OK(call(&boot, what, theirs));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank == 0 || memcmp(theirs, old, BYTES) == 0);
    if (rank == 1)
        storm_boot_mpi_close(&boot); /* leaves all to MPI */
}

/* However short the limit. */
static void agree_alone(void)
{
    struct storm_log log = {.sink = storm_log_to_stderr};
    struct storm_boot boot;
    CHECK_OK(storm_boot_mpi_open(MPI_COMM_SELF, &boot));
    CHECK_EQ(storm_boot_mpi_agree(&boot, STORM_ERR_IO, 1e-9, &log),
             STORM_ERR_IO);
    storm_boot_mpi_close(&boot);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    agree_alone();
    give_up(EXCHANGE);
    give_up(BROADCAST);
    MPI_Finalize();
    return CHECK_PASS;
}
