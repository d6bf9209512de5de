/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 8; backend: ofi-tcp mpirma; timeout: 700; label: long */
/*
 * Ten minutes (STORM_SOAK_SECONDS) of steps over rings of 8 slots: every visit
 * of every packet is counted exactly once, by its id, in every step; and memory
 * is steady: after the first tenth it grows by less than a tenth.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "harness.h"
#include "walk.h"

enum { N_WALKERS = 40 };

static double resident_mb(void)
{
    long pages = 0, unused;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &unused, &pages) == 2);
    fclose(file);
    return 4096e-6 * (double)pages;
}

/* One step with new walkers; have all visits been made? */
static void step(struct harness *h, struct walk *walk, struct walk *expected,
                 uint64_t i_step)
{
    for (uint64_t i = 0; i < N_WALKERS; i++) {
        struct walker w = {.id = i_step << 32 | i};
        walk_expect(expected, w);
        if ((int)(i % (uint64_t)h->size) == h->rank)
            CHECK_OK(storm_engine_add(h->engine, &w));
    }
    CHECK_OK(storm_engine_step(h->engine));
    uint64_t sums[2] = {walk->sum, walk->n_ended};
    CHECK_OK(storm_context_reduce(h->context, sums, 2, MPI_UINT64_T, MPI_SUM));
    check_where("step %llu", (unsigned long long)i_step);
    CHECK_EQ(sums[0], expected->sum);
    CHECK_EQ(sums[1], expected->n_ended);
}

/* All ranks take the time of the slowest clock. */
static double agreed_seconds(const struct harness *h, double began)
{
    double seconds = storm_clock_seconds() - began;
    CHECK_OK(storm_context_reduce(h->context, &seconds, 1, MPI_DOUBLE,
                                  MPI_MIN));
    return seconds;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    const char *text = getenv("STORM_SOAK_SECONDS");
    double max_s = text ? atof(text) : 600, next = 0, early_mb = 0;
    struct walk walk = {.hops = 20, .max_depth = 3}, expected = walk;
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct walker),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &walk,
                                           .step = walk_step}};
    const char *settings[] = {"transport.ring_slots=8", "transport.batch=3",
                              NULL};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, settings));
    walk.size = h.size;
    double began = storm_clock_seconds(), seconds = 0;
    uint64_t i_step = 0;
    for (; seconds < max_s; i_step++) {
        step(&h, &walk, &expected, i_step);
        if (i_step % 64 == 63) /* rings start small again */
            CHECK_OK(storm_engine_trim(h.engine));
        seconds = agreed_seconds(&h, began);
        if (early_mb <= 0 && seconds > max_s / 10)
            early_mb = resident_mb();
        if (h.rank == 0 && seconds >= next) {
            struct storm_stats stats = STORM_STATS_INIT;
            storm_engine_stats(h.engine, &stats);
            printf(
                "%5.0f s: %llu steps, %llu packets ended, %llu transfers and "
                "%llu growths of rank 0, %.1f MB resident\n",
                seconds, (unsigned long long)i_step + 1,
                (unsigned long long)expected.n_ended,
                (unsigned long long)stats.transfers,
                (unsigned long long)stats.growths, resident_mb());
            fflush(stdout);
            next = seconds + max_s / 10;
        }
    }
    double late_mb = resident_mb();
    check_where("%.1f MB after a tenth of the time, %.1f MB at the end",
                early_mb, late_mb);
    CHECK(late_mb < 1.1 * early_mb + 1);
    if (h.rank == 0)
        printf("%.0f s, %llu steps, %llu packets, each visit exactly once; "
               "rank 0 %.1f MB, then %.1f MB\n",
               seconds, (unsigned long long)i_step,
               (unsigned long long)expected.n_ended, early_mb, late_mb);
    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
