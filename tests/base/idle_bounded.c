/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 90 */
/*
 * IDLE-1, IDLE-2: waiting grows with the number of empty looks and stays short.
 * A busy machine may delay anybody, so the shortest of many calls is judged.
 * IDLE-3: on a node that is not crowded nobody sleeps for long. IDLE-4: cores
 * are those of the affinity and of the control groups.
 */
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/idle.h"
#include "support/check.h"

static double duration(uint64_t n_empty)
{
    double start = storm_clock_seconds();
    storm_idle(n_empty);
    return storm_clock_seconds() - start;
}

static double shortest(uint64_t n_empty, int n_calls)
{
    double best = 1e9;
    for (int i = 0; i < n_calls; i++) {
        double seconds = duration(n_empty);
        best = seconds < best ? seconds : best;
    }
    return best;
}

/* On a full machine every yield may cost the time slices of others: one call in
 * time is enough, and it has seconds to come. */
static bool is_ever_within(uint64_t n_empty, double bound)
{
    double end = storm_clock_seconds() + 5;
    while (storm_clock_seconds() < end) {
        if (duration(n_empty) < bound)
            return true;
    }
    return false;
}

static void test_bounded(void)
{
    const uint64_t counts[] = {0,
                               1,
                               63,
                               64,
                               500,
                               1087,
                               1088,
                               1500,
                               10000,
                               1u << 31,
                               UINT64_C(1) << 40,
                               UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        CHECK(is_ever_within(counts[i], 200e-6));
}

static void test_grows(void)
{
    CHECK(is_ever_within(0, 5e-6));
    CHECK(shortest(UINT64_MAX, 20) >= 50e-6);
}

/* A rank that waits long leaves the core to others. */
static void test_sleeps(void)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double start = storm_clock_seconds();
    while (storm_clock_seconds() - start < 0.2)
        storm_idle(UINT64_MAX);
    getrusage(RUSAGE_SELF, &after);
    double cpu =
        (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec +
                 after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
        1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                        after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    CHECK(cpu < 0.1);
}

static void test_awake(void)
{
    for (uint64_t n = 0; n < STORM_IDLE_AWAKE; n++) {
        CHECK(storm_idle_count(false, n) < STORM_IDLE_NAPS);
        CHECK_EQ(storm_idle_count(true, n), n);
    }
    CHECK_EQ(storm_idle_count(false, STORM_IDLE_AWAKE), STORM_IDLE_AWAKE);
}

static void test_affinity(void)
{
    uint64_t set[STORM_IDLE_WORDS];
    cpu_set_t all, one;
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    storm_idle_affinity(set);
    int quota = storm_idle_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    int cores = CPU_COUNT(&all);
    CHECK_EQ(storm_idle_cores(set), cores < quota ? cores : quota);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)last, &all))
        last--;
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    storm_idle_affinity(set);
    CHECK_EQ(storm_idle_cores(set), 1);
    CHECK_EQ(set[last / 64], (uint64_t)1 << (last % 64));
    CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
}

/* Files as the kernel has them, of both versions. */
static void test_quota(void)
{
    char folder[] = "/tmp/storm_idle_XXXXXX";
    CHECK(mkdtemp(folder));
    CHECK_EQ(chdir(folder), 0);
    CHECK_EQ(mkdir("a", 0700) | mkdir("a/b", 0700) | mkdir("cpu", 0700), 0);
    CHECK_EQ(mkdir("cpu/job", 0700), 0);
    write_file("v2", "0::/a/b\n");
    write_file("v1", "3:memory:/other\n2:cpu,cpuacct:/job\n0::/\n");
    CHECK_EQ(storm_idle_quota("v2", "."), INT_MAX);
    CHECK_EQ(storm_idle_quota("no such file", "."), INT_MAX);
    write_file("a/b/cpu.max", "max 100000\n");
    CHECK_EQ(storm_idle_quota("v2", "."), INT_MAX);
    write_file("a/cpu.max", "250000 100000\n"); /* of the group above */
    CHECK_EQ(storm_idle_quota("v2", "."), 3);
    write_file("a/b/cpu.max", "150000 100000\n");
    CHECK_EQ(storm_idle_quota("v2", "."), 2);
    write_file("cpu/job/cpu.cfs_quota_us", "-1\n");
    write_file("cpu/job/cpu.cfs_period_us", "100000\n");
    CHECK_EQ(storm_idle_quota("v1", "."), INT_MAX);
    write_file("cpu/job/cpu.cfs_quota_us", "400000\n");
    CHECK_EQ(storm_idle_quota("v1", "."), 4);
    static const char *const made[] = {"a/b/cpu.max",
                                       "a/cpu.max",
                                       "cpu/job/cpu.cfs_quota_us",
                                       "cpu/job/cpu.cfs_period_us",
                                       "v1",
                                       "v2",
                                       "a/b",
                                       "a",
                                       "cpu/job",
                                       "cpu"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        CHECK_EQ(remove(made[i]), 0);
    CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
    test_bounded();
    test_grows();
    test_sleeps();
    test_awake();
    test_affinity();
    test_quota();
    return 0;
}
