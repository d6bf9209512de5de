/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/idle.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/port.h"

/* About 1 us of spinning, then about half a millisecond of yielding on a free
 * core; on a shared one the first yield already switches to another rank. The
 * kernel adds some 50 us to every sleep, so the longest is 150 us. */
enum { IDLE_MIN_US = 10, IDLE_MAX_US = 100 };

enum { IDLE_PATH = 4096 }; /* max length of a path */

void storm_idle(uint64_t n_empty)
{
    if (n_empty < STORM_IDLE_SPINS) {
        storm_pause();
    } else if (n_empty < STORM_IDLE_NAPS) {
        sched_yield();
    } else {
        uint64_t us = IDLE_MIN_US + (n_empty - STORM_IDLE_NAPS) / 4;
        us = us < IDLE_MAX_US ? us : IDLE_MAX_US;
        struct timespec nap = {.tv_sec = 0, .tv_nsec = (long)us * 1000};
        nanosleep(&nap,
                  NULL); /* a signal may end it early, which is harmless */
    }
}

/* ---- cores ----------------------------------------------------------------*/

void storm_idle_affinity(uint64_t set_out[STORM_IDLE_WORDS])
{
    cpu_set_t *set = (cpu_set_t *)(void *)set_out;
    size_t bytes = STORM_IDLE_WORDS * sizeof *set_out;
    memset(set_out, 0, bytes);
    if (sched_getaffinity(0, bytes, set) == 0)
        return;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    memset(set_out, 0, bytes);
    for (long i = 0; i < (n > 0 ? n : 1) && i < 64 * STORM_IDLE_WORDS; i++)
        set_out[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Reads the numbers of a file; how many. "max" is none. */
static int read_numbers(const char *folder, const char *name, double *a,
                        double *b)
{
    char path[IDLE_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int n = fscanf(file, "%lf %lf", a, b);
    fclose(file);
    return n;
}

/* Of one group: version 2 has both numbers in a file, version 1 one each. */
static double group_cores(const char *folder)
{
    double quota = -1, period = -1, unused;
    if (read_numbers(folder, "cpu.max", &quota, &period) != 2 &&
        (read_numbers(folder, "cpu.cfs_quota_us", &quota, &unused) != 1 ||
         read_numbers(folder, "cpu.cfs_period_us", &period, &unused) != 1))
        return INT_MAX;
    return quota > 0 && period > 0 ? quota / period : INT_MAX;
}

/* Of a group and those above it, up to the folder of its kind. */
static double path_cores(const char *root, const char *kind, const char *group)
{
    char folder[IDLE_PATH];
    int n = snprintf(folder, sizeof folder, "%s%s%s", root, kind, group);
    size_t shortest = strlen(root) + strlen(kind);
    double min = INT_MAX;
    if (n < 0 || (size_t)n >= sizeof folder)
        return min;
    for (;;) {
        double cores = group_cores(folder);
        min = cores < min ? cores : min;
        char *end = strrchr(folder + shortest, '/');
        if (!end)
            return min;
        *end = '\0';
    }
}

/* A line is NUMBER:KINDS:GROUP; without kinds it is of version 2. */
static double line_cores(const char *root, char *line)
{
    char *kinds = strchr(line, ':');
    char *group = kinds ? strchr(kinds + 1, ':') : NULL;
    if (!group)
        return INT_MAX;
    *kinds++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (*kinds == '\0')
        return path_cores(root, "", group);
    bool cpu = strncmp(kinds, "cpu,", 4) == 0 || strcmp(kinds, "cpu") == 0 ||
               strstr(kinds, ",cpu,") || strcmp(kinds, "cpuacct,cpu") == 0;
    return cpu ? path_cores(root, "/cpu", group) : INT_MAX;
}

int storm_idle_quota(const char *groups, const char *root)
{
    char line[IDLE_PATH];
    double min = INT_MAX;
    FILE *file = fopen(groups, "re");
    while (file && fgets(line, sizeof line, file)) {
        double cores = line_cores(root, line);
        min = cores < min ? cores : min;
    }
    if (file)
        fclose(file);
    return min < INT_MAX ? (int)ceil(min) : INT_MAX;
}

int storm_idle_cores(const uint64_t set[STORM_IDLE_WORDS])
{
    int n = 0;
    for (int i = 0; i < STORM_IDLE_WORDS; i++)
        n += __builtin_popcountll(set[i]);
    int quota = storm_idle_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    n = quota < n ? quota : n;
    return n > 0 ? n : 1;
}
