/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as processes of an MPI program. */
#include <mpi.h>

#include "channel/channel_control.h"
#include "support/check.h"
#include "support/processes.h"

void processes_begin(void)
{
    CHECK_EQ(MPI_Init(NULL, NULL), MPI_SUCCESS);
}

void processes_run(rank_fn fn, void *self)
{
    struct storm_boot boot;
    CHECK_OK(storm_boot_mpi_open(MPI_COMM_WORLD, &boot));
    rank_run(&boot, fn, self);
    storm_boot_mpi_close(&boot);
}

void processes_end(void)
{
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
}
