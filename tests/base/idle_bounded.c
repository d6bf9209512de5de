/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* IDLE-1, IDLE-2: waiting grows with the number of empty looks and stays short.
 * A busy machine may delay anybody, so the shortest of many calls is judged. */
#include <stddef.h>
#include <stdint.h>

#include <sys/resource.h>

#include "base/clock.h"
#include "base/idle.h"
#include "support/check.h"

static double shortest(uint64_t n_empty, int n_calls)
{
    double best = 1e9;
    for (int i = 0; i < n_calls; i++) {
        double start = storm_clock_seconds();
        storm_idle(n_empty);
        double seconds = storm_clock_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
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
        CHECK(shortest(counts[i], 50) < 200e-6);
}

static void test_grows(void)
{
    CHECK(shortest(0, 200) < 5e-6);
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

int main(void)
{
    test_bounded();
    test_grows();
    test_sleeps();
    return 0;
}
