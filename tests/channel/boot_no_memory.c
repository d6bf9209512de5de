/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; timeout: 30; label: slow-asan slow-mpich */
/* A rank without memory takes part in an allgather all the same: to stay away
 * would leave the others waiting in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mpi.h>

#include "channel/channel_control.h"
#include "support/check.h"

enum { BYTES = 16 << 20 };

/* Address space in use, in bytes. */
static size_t used_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* True if large blocks are refused from now on. */
static bool limit_memory(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = used_bytes() + BYTES;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    void *block = malloc((size_t)2 * BYTES);
    free(block);
    return block == NULL;
}

int main(int argc, char **argv)
{
    struct storm_boot boot;
    int rank, size, limited = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_OK(storm_boot_mpi_open(MPI_COMM_WORLD, &boot));
    char *mine = malloc(BYTES), *all = malloc((size_t)size * BYTES);
    CHECK(mine != NULL && all != NULL);
    memset(mine, 'a' + rank, BYTES);
    /* MPI takes what it needs for such messages now. */
    CHECK_OK(boot.allgather(boot.self, mine, BYTES, all));
    memset(all, 0, (size_t)size * BYTES);

    if (rank == 1)
        limited = limit_memory();
    MPI_Bcast(&limited, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (!limited) {
        MPI_Finalize();
        return CHECK_SKIP;
    }
    CHECK_OK(boot.allgather(boot.self, mine, BYTES, all));
    for (int r = 0; r < size; r++)
        CHECK(all[(size_t)r * BYTES] == 'a' + r &&
              all[(size_t)(r + 1) * BYTES - 1] == 'a' + r);
    storm_boot_mpi_close(&boot);
    free(mine);
    free(all);
    MPI_Finalize();
    return CHECK_PASS;
}
