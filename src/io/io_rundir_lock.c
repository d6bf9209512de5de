/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock on the directory of a run (RUNDIR-3). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <storm/context.h>

#include "io/io_files.h"
#include "io/io_rundir.h"

enum { LOCK_LINE = IO_STATUS_TEXT + 64 };

static bool lock_path(const char *dir, char path_out[IO_PATH_BYTES])
{
    int n = snprintf(path_out, IO_PATH_BYTES, "%s/.lock", dir);
    return n > 0 && n < IO_PATH_BYTES;
}

static storm_status lock_fail(const struct storm_context *context,
                              const char *path, int error)
{
    char problem[IO_PATH_BYTES + 256];
    io_files_problem(path, error, problem, sizeof problem);
    storm_context_log(context, STORM_LOG_ERROR, "%s", problem);
    return STORM_ERR_IO;
}

/* For those who are refused. 0, or an errno. */
static int lock_sign(int lock)
{
    char host[IO_STATUS_TEXT] = "", line[LOCK_LINE];
    (void)gethostname(host, sizeof host - 1);
    int n = snprintf(line, sizeof line, "process %lld on %s\n",
                     (long long)getpid(), host);
    if (ftruncate(lock, 0) != 0)
        return errno;
    ssize_t done = pwrite(lock, line, (size_t)n, 0);
    return done == n ? 0 : done < 0 ? errno : EIO;
}

/* The lock is of this open file, not of the process: another run in the same
 * process is refused, and closing another descriptor does not end it. */
storm_status io_rundir_lock(const struct storm_context *context,
                            const char *dir, int *lock_out)
{
    char path[IO_PATH_BYTES];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *lock_out = -1;
    if (!lock_path(dir, path))
        return lock_fail(context, dir, ENAMETOOLONG);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return lock_fail(context, path, errno);
    int locked;
    do {
        locked = fcntl(fd, F_OFD_SETLK, &lock);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0) {
        int error = errno;
        close(fd);
        /* Other errors: this file system has no locks. */
        return error == EAGAIN || error == EACCES ? STORM_ERR_STATE : STORM_OK;
    }
    *lock_out = fd;
    int error = lock_sign(fd);
    return error == 0 ? STORM_OK : lock_fail(context, path, error);
}

void io_rundir_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* Is it held, and what does it say? */
static bool lock_read(const char *path, char line_out[LOCK_LINE])
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool is_held =
        fcntl(fileno(file), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    size_t n = fread(line_out, 1, LOCK_LINE - 1, file);
    fclose(file);
    line_out[n] = '\0';
    line_out[strcspn(line_out, "\n")] = '\0';
    return is_held;
}

bool io_rundir_is_locked(const char *dir, char *holder_out, size_t bytes)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    char path[IO_PATH_BYTES], line[LOCK_LINE] = "";
    bool is_held = lock_path(dir, path) && lock_read(path, line);
    for (int i = 0; i < 50 && is_held && line[0] == '\0'; i++) {
        nanosleep(&pause, NULL); /* it is about to sign */
        is_held = lock_read(path, line);
    }
    snprintf(holder_out, bytes, "%s", line[0] != '\0' ? line : "another run");
    return is_held;
}
