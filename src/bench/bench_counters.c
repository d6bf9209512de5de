/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/bench_measure.h"

enum { N = STORM_BENCH_N_COUNTERS };

static const char *const counter_names[N] = {"instructions", "cycles"};

/* As read with PERF_FORMAT_GROUP and both times. */
struct counter_reading {
    uint64_t n, enabled, running;
    uint64_t value[N];
};

static const char *why(int error)
{
    switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return "this machine has no hardware counters";
    case EACCES:
    case EPERM:
        return "the kernel does not allow them (kernel.perf_event_paranoid)";
    default:
        return "the kernel has no perf_event_open";
    }
}

static int open_counter(uint32_t type, uint64_t config, int leader)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                       PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader,
                        PERF_FLAG_FD_CLOEXEC);
}

/* Counts so far; false: the counters have not run yet, or cannot be read. */
static bool read_counters(const struct storm_bench_counters *c, double out[N])
{
    struct counter_reading now;
    if (read(c->fd[0], &now, sizeof now) != (ssize_t)sizeof now || now.n != N ||
        now.running == 0)
        return false;
    double scale = (double)now.enabled / (double)now.running;
    for (int i = 0; i < N; i++)
        out[i] = scale * (double)now.value[i];
    return true;
}

void storm_bench_counters_open_events(struct storm_bench_counters *counters,
                                      uint32_t type, const uint64_t config[N])
{
    *counters = (struct storm_bench_counters){.fd = {-1, -1}};
    for (int i = 0; i < N && !counters->missing; i++) {
        counters->fd[i] = open_counter(type, config[i], counters->fd[0]);
        if (counters->fd[i] < 0)
            counters->missing = why(errno);
    }
    if (!counters->missing && !read_counters(counters, counters->begun))
        counters->missing = "all hardware counters are in use";
}

void storm_bench_counters_open(struct storm_bench_counters *counters)
{
    static const uint64_t config[N] = {PERF_COUNT_HW_INSTRUCTIONS,
                                       PERF_COUNT_HW_CPU_CYCLES};
    storm_bench_counters_open_events(counters, PERF_TYPE_HARDWARE, config);
}

void storm_bench_counters_close(struct storm_bench_counters *counters)
{
    for (int i = N; i-- > 0;) {
        if (counters->fd[i] >= 0)
            close(counters->fd[i]);
        counters->fd[i] = -1;
    }
}

void storm_bench_counters_begin(struct storm_bench_counters *counters)
{
    if (!counters->missing && !read_counters(counters, counters->begun))
        counters->missing = "they cannot be read";
}

void storm_bench_counters_end(struct storm_bench_counters *counters)
{
    double now[N];
    if (counters->missing)
        return;
    if (!read_counters(counters, now)) {
        counters->missing = "they cannot be read";
        return;
    }
    for (int i = 0; i < N; i++)
        counters->count[i] += now[i] - counters->begun[i];
}

storm_status storm_bench_counters_reduce(struct storm_context *context,
                                         struct storm_bench_counters *counters)
{
    double missing = counters->missing != NULL;
    storm_status status = storm_bench_sum(context, &missing);
    for (int i = 0; i < N && status >= 0; i++)
        status = storm_bench_sum(context, &counters->count[i]);
    if (missing > 0 && !counters->missing)
        counters->missing = "another rank has no hardware counters";
    return status;
}

void storm_bench_json_counters(struct storm_json *json,
                               const struct storm_bench_counters *counters,
                               const char *unit, double n)
{
    for (int i = 0; i < N; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_per_%s", counter_names[i], unit);
        if (counters->missing)
            storm_json_null(json, key);
        else
            storm_json_real(json, key, counters->count[i] / n);
    }
}

void storm_bench_table_counters(struct storm_page *page,
                                const struct storm_bench_counters *counters,
                                const char *unit, double n)
{
    if (counters->missing)
        storm_page_add(page, "  counters    none: %s\n", counters->missing);
    else
        storm_page_add(page,
                       "  counters    %.1f instructions and %.1f cycles per "
                       "%s\n",
                       counters->count[0] / n, counters->count[1] / n, unit);
}
