/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * H5-9: a child process does to a file what its parent is about to do. HDF5
 * trusts the structure of a file as it trusts its chunks: with a few bytes
 * changed H5Fopen and H5Dopen2 crash, run for ever or lose memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/io_h5.h"

enum { PROBE_LIMIT_S = 20, PROBE_WORDS = 8192, PROBE_MEMORY_BYTES = 1 << 30 };

/* Chunks are decoded by HDF5: read all of them. */
static bool probe_chunks(const struct io_h5_array *array)
{
    uint64_t words[PROBE_WORDS];
    uint64_t columns = array->shape[1];
    if (columns == 0 || columns > PROBE_WORDS)
        return columns == 0;
    uint64_t each = PROBE_WORDS / columns;
    for (uint64_t at = 0, n; at < array->shape[0]; at += n) {
        uint64_t left = array->shape[0] - at;
        n = left < each ? left : each;
        if (io_h5_array_rows(array, IO_H5_INTEGER, at, n, words) < 0)
            break; /* which is no harm */
    }
    return true;
}

static bool probe_array(void *self, const char *name)
{
    struct io_h5_array array;
    const io_h5_file *file = self;
    io_h5_sort sort = io_h5_sort_of(*file, name);
    if (sort != IO_H5_ARRAY)
        return sort == IO_H5_OTHER;
    if (!io_h5_array_open(*file, name, &array))
        return false;
    char units[64];
    (void)io_h5_array_text(&array, "units", units, sizeof units);
    bool good = (!array.checked || array.sums >= 0) &&
                (array.plain || !array.numbers || probe_chunks(&array));
    io_h5_array_close(&array);
    return good;
}

/* The memory that a damaged file may ask for, beyond what the rank has. */
static void probe_limit_memory(void)
{
    unsigned long skip, data;
    FILE *file = fopen("/proc/self/statm", "r");
    int n = file == NULL ? 0
                         : fscanf(file, "%lu %lu %lu %lu %lu %lu", &skip, &skip,
                                  &skip, &skip, &skip, &data);
    if (file != NULL)
        fclose(file);
    if (n != 6)
        return;
    rlim_t bytes =
        (rlim_t)data * (rlim_t)sysconf(_SC_PAGESIZE) + PROBE_MEMORY_BYTES;
    const struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
}

/* The child ends with its parent, and keeps none of its streams open: others
 * wait for their end to notice that a rank is lost (LIFE-1). */
static void probe_detach(pid_t parent, int result)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    close_range(STDERR_FILENO + 1, (unsigned)result - 1, 0);
    close_range((unsigned)result + 1, ~0U, 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && null >= 0; fd++)
        dup2(null, fd);
}

/* The child ends here, one way or another, without a trace: no handlers, no
 * core, no words of the C library. */
static _Noreturn void probe_child(const char *path, pid_t parent, int result)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT,
                                 SIGFPE,  SIGILL, SIGALRM};
    const struct rlimit none = {0};
    sigset_t nothing;
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    probe_detach(parent, result);
    probe_limit_memory();
    alarm(PROBE_LIMIT_S);
    io_h5_file file = io_h5_open(path);
    bool good = file >= 0 && io_h5_visit_names(file, probe_array, &file);
    io_h5_close(file);
    ssize_t n = good ? write(result, "+", 1) : 0;
    (void)n;
    _exit(0);
}

bool io_h5_opens(const char *path)
{
    int ends[2];
    char answer = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return true; /* it cannot be tried */
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        probe_child(path, parent, ends[1]);
    close(ends[1]);
    ssize_t n = 0;
    while (child > 0 && (n = read(ends[0], &answer, 1)) < 0 && errno == EINTR)
        continue;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return child < 0 || n == 1;
}
