/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring benchmark from inside: one measurement between two ranks. Rank 0
 * sends, rank 1 receives; both copy every record, as the engine does.
 */
#ifndef STORM_RUN_BENCH_RING_H
#define STORM_RUN_BENCH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine_context.h"
#include "fabric/fabric_ops.h"
#include "run/bench_report.h"

enum { STORM_BENCH_RING_RECORD = 128 };

/* From so many records on a batch is written around the cache, as the engine
 * does, by the ring and by its limit. */
enum { STORM_BENCH_RING_STREAM = 8 };

struct storm_bench_ring_case {
    struct storm_context *context;
    const struct storm_fabric_ops *fabric; /* NULL: p2p */
    bool paper;
    uint32_t batch; /* records */
    uint32_t slots; /* room in the ring */
    double seconds; /* to spend on each number */
};

/* The same on both ranks. */
struct storm_bench_ring_times {
    double batch_ns;           /* one way, a batch after the other */
    double latency_ns;         /* half a round trip of a batch */
    uint64_t batches, records; /* sent in the stream */
};

/* Stream, then ping-pong, through a channel. Collective. */
storm_status storm_bench_ring_channel(const struct storm_bench_ring_case *that,
                                      struct storm_bench_ring_times *times_out);

/*
 * The limit, in nanoseconds for a batch. Collective.
 *
 * Memory that both can reach: rank 0 copies batches in, rank 1 the same bytes
 * out, in turns; the slower of the two, since a ring lets them overlap.
 * Messages: bare messages of the same size, written anew each time.
 */
storm_status storm_bench_ring_limit(const struct storm_bench_ring_case *that,
                                    double *batch_ns_out);

#endif /* STORM_RUN_BENCH_RING_H */
