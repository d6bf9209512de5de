/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 30 */
/*
 * CONTROL-1, CONTROL-4: a poll makes a few MPI calls, however many messages are
 * under way to a rank that does not receive; all arrive in order when it does.
 */
#include <mpi.h>

#include "base/idle.h"
#include "channel/channel_control.h"
#include "support/check.h"
#include "support/processes.h"

enum { N_MESSAGES = 200, N_POLLS = 50, MAX_CALLS = 6 };

static uint64_t n_tests;

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    n_tests++;
    return PMPI_Test(request, flag, status);
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    struct storm_control *control;
    struct storm_message message = {.kind = STORM_MESSAGE_WANT};
    int rank;
    (void)self;
    CHECK_OK(storm_control_mpi_open(boot, env, &control));
    if (boot->rank == 0) {
        for (message.id = 0; message.id < N_MESSAGES; message.id++)
            CHECK_OK(control->ops->send(control, 1, &message));
        uint64_t before = n_tests;
        for (int i = 0; i < N_POLLS; i++)
            CHECK_EQ(control->ops->poll(control, &rank, &message), STORM_AGAIN);
        CHECK(n_tests - before <= N_POLLS * MAX_CALLS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (uint32_t n = 0; boot->rank == 1 && n < N_MESSAGES;) {
        storm_status status = control->ops->poll(control, &rank, &message);
        CHECK(status == STORM_AGAIN || message.id == n);
        n += status == STORM_OK;
    }
    control->ops->close(control);
}

int main(void)
{
    processes_begin();
    processes_run(rank_main, NULL);
    processes_end();
    return CHECK_PASS;
}
