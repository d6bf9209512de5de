/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * Counters of benchmarks: events of the kernel that every machine has are
 * counted between begin and end alone; those of the processor are plausible,
 * or it is said why there are none; JSON has both keys in any case.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench_counters.h"
#include "support/check.h"

enum { N_PAGES = 1000, PAGE = 4096, N_TURNS = 1000000 };

/* Touches pages of its own; each is a fault. */
static void touch(void)
{
    unsigned char *pages =
        mmap(NULL, (size_t)N_PAGES * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(madvise(pages, (size_t)N_PAGES * PAGE, MADV_NOHUGEPAGE), 0);
    for (size_t i = 0; i < N_PAGES; i++)
        *(volatile unsigned char *)(pages + i * PAGE) = 1;
    munmap(pages, (size_t)N_PAGES * PAGE);
}

static void count_faults(void)
{
    static const uint64_t config[] = {PERF_COUNT_SW_PAGE_FAULTS,
                                      PERF_COUNT_SW_CPU_CLOCK};
    struct storm_bench_counters c;
    storm_bench_counters_open_events(&c, PERF_TYPE_SOFTWARE, config);
    if (c.missing) {
        printf("events of the kernel: none: %s\n", c.missing);
    } else {
        for (int i = 0; i < 3; i++) {
            touch(); /* is not counted */
            storm_bench_counters_begin(&c);
            touch();
            storm_bench_counters_end(&c);
        }
        printf("%g faults, %g ns\n", c.count[0], c.count[1]);
        CHECK(!c.missing);
        CHECK(c.count[0] >= 3 * N_PAGES && c.count[0] < 3 * N_PAGES + 100);
        CHECK(c.count[1] > 0);
    }
    storm_bench_counters_close(&c);
}

static void count_instructions(void)
{
    struct storm_bench_counters c;
    struct storm_json json;
    storm_bench_counters_open(&c);
    storm_bench_counters_begin(&c);
    for (volatile int i = 0; i < N_TURNS;)
        i++;
    storm_bench_counters_end(&c);
    storm_bench_counters_close(&c);
    storm_json_begin(&json, false);
    storm_json_open(&json, NULL, '{');
    storm_bench_json_counters(&json, &c, "turn", N_TURNS);
    storm_json_close(&json, '}');
    char *text = storm_json_end(&json);
    CHECK(text != NULL);
    printf("%s %s\n", text, c.missing ? c.missing : "");
    bool null = strstr(text, "\"instructions_per_turn\":null") != NULL ||
                strstr(text, "\"instructions_per_turn\": null") != NULL;
    CHECK_EQ(null, c.missing != NULL);
    CHECK(strstr(text, "\"cycles_per_turn\"") != NULL);
    if (!c.missing) {
        CHECK(c.count[0] > 2.0 * N_TURNS && c.count[0] < 50.0 * N_TURNS);
        CHECK(c.count[1] > 0.1 * N_TURNS);
    }
    free(text);
}

int main(void)
{
    count_faults();
    count_instructions();
    return CHECK_PASS;
}
