/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/idle.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IDLE_PATH = 4096 }; /* max length of a path */

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
