/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 8; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; env: STORM_TEST_SLOWDOWN=4 */
/* TEST ranks: 3; backend: mpirma ofi-tcp; timeout: 60;
 *      env: STORM_TEST_SLOWDOWN=30 */
/* TEST ranks: 3; backend: ofi-shm; timeout: 60;
 *      env: STORM_TEST_SLOWDOWN=30; label: slow-asan slow-mpich */
/* TEST ranks: 5 8; backend: p2p mpirma ofi-tcp ofi-shm ofi-sockets;
 *      timeout: 600; label: long */
/*
 * Every packet, spawned ones included, makes all its visits exactly once, in
 * every step, whatever the sizes of rings and batches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "engine/engine_internal.h"
#include "support/check.h"
#include "walk.h"

#ifndef WALK_LESS /* so many times fewer, where operations are slow */
#define WALK_LESS 1
#endif

enum { N_STEPS = 4, N_WALKERS = 300 / WALK_LESS, MIN_WALKERS = 10 };

static uint64_t n_walkers(void)
{
    uint64_t n = N_WALKERS / check_slowdown();
    return n > MIN_WALKERS ? n : MIN_WALKERS;
}

static int run(const char *slots, const char *batch, const char *protocol,
               const char *growth)
{
    struct storm_options *options;
    struct storm_context *context;
    struct storm_engine *engine;
    if (storm_options_create(&options) < 0 ||
        storm_options_set_from_env(options, NULL, 0) < 0 ||
        storm_options_set(options, "transport.ring_slots", slots, NULL, 0) <
            0 ||
        storm_options_set(options, "transport.protocol", protocol, NULL, 0) <
            0 ||
        storm_options_set(options, "transport.growth", growth, NULL, 0) < 0 ||
        storm_options_set(options, "transport.batch", batch, NULL, 0) < 0)
        return 1;
    struct storm_context_params cp = {.size = sizeof cp, .options = options};
    if (storm_context_create(MPI_COMM_WORLD, &cp, &context) < 0)
        return 1;
    int rank = storm_context_rank(context);
    struct walk walk = {
        .size = storm_context_size(context), .hops = 20, .max_depth = 3};
    struct storm_engine_params ep = {
        .size = sizeof ep,
        .record_bytes = sizeof(struct walker),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &walk,
                                           .step = walk_step},
    };
    if (storm_engine_create(context, &ep, &engine) < 0)
        return 1;
#ifdef WALK_BACKEND /* it is what the test is about */
    if (strcmp(engine->channel->names.backend, WALK_BACKEND) != 0)
        return 1;
#endif
    struct walk expected = {.hops = walk.hops, .max_depth = walk.max_depth};
    const uint64_t n = n_walkers();
    int failed = 0;
    for (int step = 0; step < N_STEPS && !failed; step++) {
        for (uint64_t i = 0; i < n; i++) {
            struct walker w = {.id = (uint64_t)step << 32 | i};
            walk_expect(&expected, w);
            if ((int)(i % (uint64_t)walk.size) == rank &&
                storm_engine_add(engine, &w) < 0)
                failed = 1;
        }
        failed |= storm_engine_step(engine) < 0;
        uint64_t got[2] = {walk.sum, walk.n_ended}, sums[2];
        MPI_Allreduce(got, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (sums[0] != expected.sum || sums[1] != expected.n_ended) {
            printf("rank %d step %d slots %s batch %s %s %s: sum %llx, not "
                   "%llx; ended %llu, not %llu\n",
                   rank, step, slots, batch, protocol, growth,
                   (unsigned long long)sums[0],
                   (unsigned long long)expected.sum,
                   (unsigned long long)sums[1],
                   (unsigned long long)expected.n_ended);
            failed = 1;
        }
    }
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(engine, &stats);
    if (rank == 0)
        printf("slots %s batch %s %s %s: %llu transfers, %llu batches, %llu "
               "growths, %llu waves, %.3f s\n",
               slots, batch, protocol, growth,
               (unsigned long long)stats.transfers,
               (unsigned long long)stats.batches,
               (unsigned long long)stats.growths,
               (unsigned long long)stats.waves, stats.seconds);
    storm_engine_destroy(engine);
    storm_context_destroy(context);
    storm_options_destroy(options);
    return failed;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int failed =
        run("1024", "64", "fast", "async") || run("8", "1", "fast", "async") ||
        run("8", "64", "paper", "async") ||
        run("64", "1000", "paper", "async") ||
        run("4096", "1000", "fast", "async") ||
        run("8", "64", "fast", "sync") || run("8", "1", "paper", "sync");
    MPI_Finalize();
    return failed;
}
