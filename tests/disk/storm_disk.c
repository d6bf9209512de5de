/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program storm with a disk that fails: calls that write pass through here
 * (ld --wrap). Environment:
 *
 *   STORM_DISK        directory for what the processes share; must exist
 *   STORM_DISK_UNDER  calls count for files below this path
 *   STORM_DISK_FAULT  CALL N WHAT: at the N-th CALL (write, sync, rename, open,
 *                     close, remove, or any) of all processes together WHAT
 *                     happens: an errno (ENOSPC, EDQUOT, EIO), `half` (writes:
 *                     only half of the bytes are taken, then the disk is full),
 *                     `off`: the call is not made, and all processes are
 *                     killed; or `slow`: this CALL and all later ones take
 *                     0.2 s more
 *
 * In $STORM_DISK: `counts`; `journal`, what has been written and what is on the
 * disk for certain, in order; and links to files that a rename has replaced.
 *
 *   p PID                     a process begins
 *   w PATH OFFSET BYTES PID   before a write
 *   s PATH PID                after the sync of a file, by this process
 *   r FROM TO LINK            before a rename; LINK: what TO was, or -
 *   d PATH                    after the sync of a directory
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DISK_FDS = 1024, DISK_PIDS = 64 };

enum call { WRITE, SYNC, RENAME, OPEN, CLOSE, ANY, REMOVE, N_CALLS };
static const char *const call_names[N_CALLS] = {
    "write", "sync", "rename", "open", "close", "any", "remove"};

/* Shared by all processes, in a file. */
struct disk_shared {
    _Atomic uint64_t counts[N_CALLS];
    _Atomic int n_pids;
    _Atomic int pids[DISK_PIDS];
};

static struct {
    struct disk_shared *shared; /* NULL: nothing is done here */
    const char *under;
    int journal;
    char call[16], what[16];
    uint64_t at;
    bool full;             /* after `half` */
    char *paths[DISK_FDS]; /* of open files that count */
} disk;

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t offset);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset);

static int disk_file(const char *name, int flags)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", getenv("STORM_DISK"), name);
    return __real_open(path, flags | O_CREAT | O_CLOEXEC, 0666);
}

static void disk_note(const char *format, ...)
{
    char line[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (write(disk.journal, line, (size_t)n) != n)
        abort();
}

__attribute__((constructor)) static void disk_begin(void)
{
    const char *fault = getenv("STORM_DISK_FAULT");
    if (getenv("STORM_DISK") == NULL || getenv("STORM_DISK_UNDER") == NULL)
        return;
    disk.under = getenv("STORM_DISK_UNDER");
    disk.journal = disk_file("journal", O_WRONLY | O_APPEND);
    int fd = disk_file("counts", O_RDWR);
    if (disk.journal < 0 || fd < 0 || ftruncate(fd, sizeof *disk.shared) != 0)
        abort();
    void *shared = mmap(NULL, sizeof *disk.shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        abort();
    __real_close(fd);
    if (fault != NULL &&
        sscanf(fault, "%15s %lu %15s", disk.call, &disk.at, disk.what) != 3)
        abort();
    disk.shared = shared;
    int i = atomic_fetch_add(&disk.shared->n_pids, 1);
    if (i < DISK_PIDS)
        atomic_store(&disk.shared->pids[i], getpid());
    disk_note("p %d\n", (int)getpid());
}

static void disk_off(void)
{
    int n = atomic_load(&disk.shared->n_pids);
    for (int i = 0; i < n && i < DISK_PIDS; i++) {
        int pid = atomic_load(&disk.shared->pids[i]);
        if (pid > 0 && pid != getpid())
            kill(pid, SIGKILL);
    }
    kill(getpid(), SIGKILL);
}

/* The errno that this call fails with, 0: none; -1: it does half. */
static int disk_fault(enum call call)
{
    uint64_t mine = 1 + atomic_fetch_add(&disk.shared->counts[call], 1);
    uint64_t any = 1 + atomic_fetch_add(&disk.shared->counts[ANY], 1);
    if (disk.full && call == WRITE)
        return ENOSPC;
    if (strcmp(disk.what, "slow") == 0) {
        if (strcmp(disk.call, call_names[call]) == 0 && mine >= disk.at)
            usleep(200000);
        return 0;
    }
    if (!(strcmp(disk.call, call_names[call]) == 0 && mine == disk.at) &&
        !(strcmp(disk.call, "any") == 0 && any == disk.at))
        return 0;
    if (strcmp(disk.what, "off") == 0)
        disk_off();
    if (strcmp(disk.what, "half") == 0)
        return call == WRITE ? -1 : ENOSPC;
    return strcmp(disk.what, "ENOSPC") == 0   ? ENOSPC
           : strcmp(disk.what, "EDQUOT") == 0 ? EDQUOT
                                              : EIO;
}

static bool disk_counts(const char *path)
{
    return disk.shared != NULL && strstr(path, disk.under) != NULL;
}

static const char *disk_path(int fd)
{
    return disk.shared != NULL && fd >= 0 && fd < DISK_FDS ? disk.paths[fd]
                                                           : NULL;
}

/* ---- the calls ----------------------------------------------------------- */

int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
    }
    if (!disk_counts(path))
        return __real_open(path, flags, mode);
    int error = disk_fault(OPEN);
    if (error != 0) {
        errno = error;
        return -1;
    }
    int fd = __real_open(path, flags, mode);
    if (fd >= 0 && fd < DISK_FDS)
        disk.paths[fd] = strdup(path);
    return fd;
}

int __wrap_close(int fd)
{
    int error = disk_path(fd) != NULL ? disk_fault(CLOSE) : 0;
    if (disk_path(fd) != NULL) {
        free(disk.paths[fd]);
        disk.paths[fd] = NULL;
    }
    int status = __real_close(fd);
    if (error == 0)
        return status;
    errno = error;
    return -1;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    const char *path = disk_path(fd);
    if (path == NULL)
        return __real_pwrite(fd, bytes, n, offset);
    int error = disk_fault(WRITE);
    if (error > 0) {
        errno = error;
        return -1;
    }
    if (error < 0) {
        disk.full = true;
        n = n / 2 + 1;
    }
    disk_note("w %s %ld %zu %d\n", path, (long)offset, n, getpid());
    return __real_pwrite(fd, bytes, n, offset);
}

int __wrap_fsync(int fd)
{
    struct stat info;
    const char *path = disk_path(fd);
    if (path == NULL)
        return __real_fsync(fd);
    int error = disk_fault(SYNC);
    if (error != 0) {
        errno = error;
        return -1;
    }
    int status = __real_fsync(fd);
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        disk_note("d %s\n", path);
    else
        disk_note("s %s %d\n", path, getpid());
    return status;
}

int __wrap_rename(const char *from, const char *to)
{
    char kept[PATH_MAX];
    if (!disk_counts(from))
        return __real_rename(from, to);
    int error = disk_fault(RENAME);
    if (error != 0) {
        errno = error;
        return -1;
    }
    snprintf(kept, sizeof kept, "%s/kept-%lu", getenv("STORM_DISK"),
             (unsigned long)atomic_load(&disk.shared->counts[RENAME]));
    bool had = link(to, kept) == 0;
    disk_note("r %s %s %s\n", from, to, had ? kept : "-");
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    int error = disk_counts(path) ? disk_fault(REMOVE) : 0;
    if (error == 0)
        return __real_unlink(path);
    errno = error;
    return -1;
}
