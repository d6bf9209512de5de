/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60 */
/*
 * CHECKPOINT-5: every rank writes its own cells and packets into a checkpoint,
 * in pieces: what one call writes does not grow with the file, and rank 0
 * writes no more than twice what the others do.
 */
#include <sys/syscall.h>

#include "case.h"

static size_t bytes_written, max_piece;

static bool is_checkpoint(int fd)
{
    char link[64], path[CASE_PATH];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return strstr(path, "/checkpoint-") != NULL;
}

/* In place of the C library's. */
ssize_t pwrite(int fd, const void *from, size_t n, off_t offset)
{
    if (is_checkpoint(fd)) {
        bytes_written += n;
        max_piece = n > max_piece ? n : max_piece;
    }
    return syscall(SYS_pwrite64, fd, from, n, offset);
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"mesh.cells=[30,30,30]",
                                       "time.steps=1",
                                       "packets.max_per_cell=10",
                                       "packets.emit_per_cell=10",
                                       "output.checkpoint={every: 1, keep: 1}",
                                       NULL};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct case_run run = case_open("equilibrium", 1, sets);
    unsigned long long mine = bytes_written, sum = mine, min = mine;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &min, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN,
                  MPI_COMM_WORLD);
    printf("rank %d: %llu of %llu bytes, up to %zu in a call\n", rank, mine,
           sum, max_piece);
    CHECK(sum > 10 << 20);
    CHECK(2 * (unsigned long long)size * min > sum);
    CHECK(mine < 2 * min);
    CHECK(max_piece <= 4 << 20);
    case_close(&run);
    MPI_Finalize();
    return CHECK_PASS;
}
