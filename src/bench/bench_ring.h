/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the ring benchmark: one measurement between two ranks. Rank 0 sends,
 * rank 1 receives; both copy every record, as the engine does.
 */
#ifndef STORM_BENCH_RING_H
#define STORM_BENCH_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/bench.h"
#include "bench/bench_measure.h"
#include "engine/engine_context.h"
#include "fabric/fabric_ops.h"
#include "run/run_summary.h"

enum { STORM_BENCH_RING_RECORD = 128 };

/* Batches of at least so many records are written around the cache, as in the
 * engine, by the ring and by its limit. */
enum { STORM_BENCH_RING_STREAM = 8 };

/* A result is the median over so many windows of time, after one to warm up. A
 * short window would measure queueing, not transport: it lasts at least 2 ms,
 * and until the ring has been filled so many times (paper: the sender waits for
 * every batch, nothing is queued). */
enum { STORM_BENCH_RING_WINDOWS = 40, STORM_BENCH_RING_FILLS = 8 };
#define STORM_BENCH_RING_WINDOW_S 2e-3

struct storm_bench_ring_case {
    struct storm_context *context;
    const struct storm_fabric_ops *fabric; /* NULL: p2p */
    bool paper;
    uint32_t batch; /* records */
    uint32_t slots; /* capacity of the ring */
    double seconds; /* per result */
};

/* The same on both ranks. */
struct storm_bench_ring_times {
    double batch_ns;           /* one-way stream */
    double best_batch_ns;      /* in the best window */
    double latency_ns;         /* half a round trip of a batch */
    uint64_t batches, records; /* sent in the stream */
};

enum { STORM_BENCH_RING_PROVIDER = 64 };

struct storm_bench_ring_limits {
    double batch_ns, best_batch_ns;           /* as in storm_bench_ring_times */
    char provider[STORM_BENCH_RING_PROVIDER]; /* "": none */
};

/* Batches between two readings of the clock. */
static inline uint64_t
storm_bench_ring_poll_interval(const struct storm_bench_ring_case *that)
{
    return that->batch < 64 && !that->paper ? 256 : 16;
}

/* Is a window of this length and number of batches complete? */
static inline bool
storm_bench_ring_enough(const struct storm_bench_ring_case *that,
                        double seconds, uint64_t batches)
{
    return seconds >= STORM_BENCH_RING_WINDOW_S &&
           seconds * STORM_BENCH_RING_WINDOWS >= that->seconds &&
           (that->paper || batches * that->batch >=
                               (uint64_t)that->slots * STORM_BENCH_RING_FILLS);
}

/* ---- bench_ring_channel.c ------------------------------------------------ */

/* Stream, then ping-pong, through a channel. Collective. */
storm_status storm_bench_ring_channel(const struct storm_bench_ring_case *that,
                                      struct storm_bench_ring_times *times_out);

/* Sends a failure to the other rank, which may wait for this one. */
void storm_bench_ring_send_failure(struct storm_context *context);

/* STORM_ERR_PEER: the other rank has sent a failure. Local. */
storm_status storm_bench_ring_peer_status(struct storm_context *context);

/* ---- bench_ring_limit.c -------------------------------------------------- */

/*
 * The limit, the same on both ranks. Collective.
 *
 * Shared memory: rank 0 copies batches in, rank 1 the same bytes out, in turns;
 * the slower of the two, since a ring lets them overlap.
 * A network: storm_bench_ring_puts.
 * Messages: bare messages of the same size, with new data each time.
 */
storm_status storm_bench_ring_limit(const struct storm_bench_ring_case *that,
                                    struct storm_bench_ring_limits *limits_out);

/* ---- bench_ring_puts.c --------------------------------------------------- */

/* Memory of both ranks, each as large as a ring. */
struct storm_bench_ring_memory {
    struct storm_fabric *fabric;
    struct storm_region *region; /* of this rank */
    struct storm_remote *remote; /* of the other rank */
};

/*
 * Nanoseconds per put of one batch if rank 0 puts one after the other, as many
 * at a time as the fabric accepts. Rank 1 polls and copies out: if a put is a
 * copy between processes, bytes that are never read would stay in the sender's
 * cache. A window ends when its last put is delivered; one more put at the end
 * is read back. Collective.
 */
storm_status storm_bench_ring_puts(const struct storm_bench_ring_case *that,
                                   const struct storm_bench_ring_memory *memory,
                                   struct storm_bench_ring_limits *limits_out);

#endif /* STORM_BENCH_RING_H */
