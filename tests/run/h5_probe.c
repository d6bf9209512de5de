/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * H5-9: the child process that tries a file does not keep the streams of a
 * rank that is killed meanwhile: its neighbours see their end at once (LIFE-1).
 * Files that are not there, or not HDF5, are refused; a good one is not.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hdf5.h>

#include "io/io_h5.h"
#include "support/check.h"

enum { START_MS = 500, SOON_MS = 5000 };

/* Nobody writes to a FIFO: whoever opens it waits. */
static void check_streams(const char *fifo)
{
    const struct timespec pause = {.tv_nsec = START_MS * 1000000};
    int ends[2];
    CHECK_EQ(mkfifo(fifo, 0600), 0);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t rank = fork();
    CHECK(rank >= 0);
    if (rank == 0) {
        close(ends[0]);
        _exit(io_h5_opens(fifo) ? 1 : 0);
    }
    close(ends[1]);
    nanosleep(&pause, NULL);
    CHECK_EQ(waitpid(rank, NULL, WNOHANG), 0); /* it still tries */
    CHECK_EQ(kill(rank, SIGKILL), 0);
    CHECK_EQ(waitpid(rank, NULL, 0), rank);
    struct pollfd stream = {.fd = ends[0], .events = POLLIN};
    CHECK_EQ(poll(&stream, 1, SOON_MS), 1);
    CHECK((stream.revents & POLLHUP) != 0);
    close(ends[0]);
    CHECK_EQ(unlink(fifo), 0);
}

static void check_files(const char *path)
{
    CHECK(!io_h5_opens(path));
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs("not HDF5\n", file) >= 0);
    CHECK_EQ(fclose(file), 0);
    CHECK(!io_h5_opens(path));
    hid_t good = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(good >= 0 && H5Fclose(good) >= 0);
    CHECK(io_h5_opens(path));
    CHECK_EQ(unlink(path), 0);
}

int main(void)
{
    char dir[] = "/tmp/storm-probe-XXXXXX", path[64];
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/file", dir);
    check_streams(path);
    check_files(path);
    CHECK_EQ(rmdir(dir), 0);
    return CHECK_PASS;
}
