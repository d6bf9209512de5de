/* SPDX-License-Identifier: BSD-3-Clause */
/* Limit of the ring benchmark: copies or messages without protocol. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"
#include "bench/bench_ring.h"

enum {
    RECORD = STORM_BENCH_RING_RECORD,
    WINDOWS = STORM_BENCH_RING_WINDOWS,
    MAX_ROUNDS = 4096,
    MIN_ROUNDS = 16,
    TURN_OFFSET = 0,
    SLOTS_OFFSET = 128
};

/* Collective. */
static storm_status limit_open(const struct storm_bench_ring_case *that,
                               struct storm_bench_ring_memory *memory)
{
    struct storm_context *context = that->context;
    const struct storm_fabric_ops *ops = that->fabric;
    struct storm_region_desc desc[2], mine;
    memset(&mine, 0, sizeof mine);
    storm_status status =
        ops->open(&context->env, &context->boot, &memory->fabric);
    if (status < 0)
        return status;
    status =
        ops->alloc(memory->fabric, SLOTS_OFFSET + (size_t)that->slots * RECORD,
                   &memory->region);
    if (status >= 0)
        ops->describe(memory->fabric, memory->region, &mine);
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = storm_boot_allgather(&context->boot, &mine, sizeof mine, desc);
    int peer = 1 - storm_context_rank(context);
    if (status >= 0)
        status =
            ops->attach(memory->fabric, peer, &desc[peer], &memory->remote);
    return storm_context_agree(context, status);
}

static void limit_close(const struct storm_bench_ring_case *that,
                        struct storm_bench_ring_memory *memory)
{
    const struct storm_fabric_ops *ops = that->fabric;
    if (memory->fabric == NULL)
        return;
    if (memory->remote != NULL)
        ops->detach(memory->fabric, memory->remote);
    if (memory->region != NULL)
        ops->release(memory->fabric, memory->region);
    ops->close(memory->fabric);
}

/* All slots, a batch at a time. */
static void limit_copy(unsigned char *slots, unsigned char *own, bool in,
                       const struct storm_bench_ring_case *that)
{
    size_t bytes = (size_t)that->batch * RECORD;
    for (uint32_t i = 0; i + that->batch <= that->slots; i += that->batch) {
        unsigned char *slot = slots + (size_t)i * RECORD;
        if (in && that->batch >= STORM_BENCH_RING_STREAM)
            storm_stream_copy(slot, own, bytes);
        else if (in)
            memcpy(slot, own, bytes);
        else
            memcpy(own, slot, bytes);
        __asm__ volatile("" : : "r"(own) : "memory"); /* keep every copy */
        storm_stream_fence();
    }
}

/* Rank 0 copies in on even turns, rank 1 out on odd ones; rank 0 ends it with
 * the highest bit. Returns the number of turns of this rank. */
static size_t limit_turns(const struct storm_bench_ring_case *that,
                          unsigned char *base, unsigned char *own,
                          double *seconds)
{
    const uint64_t last = (uint64_t)1 << 63;
    _Atomic uint64_t *turn = (_Atomic uint64_t *)(base + TURN_OFFSET);
    uint64_t mine = storm_context_rank(that->context) == 0 ? 0 : 1;
    double end = storm_clock_seconds() + that->seconds;
    size_t n = 0;
    for (uint64_t now = 0; n < MAX_ROUNDS && !(now & last);) {
        uint64_t n_empty = 0;
        while ((now = atomic_load_explicit(turn, memory_order_acquire)) % 2 !=
                   mine &&
               !(now & last)) /* pairs with the release below */
            storm_idle(++n_empty);
        if (now & last)
            break;
        double start = storm_clock_seconds();
        limit_copy(base + SLOTS_OFFSET, own, mine == 0, that);
        double stop = storm_clock_seconds();
        seconds[n++] = stop - start;
        if (mine == 0 && ((stop >= end && n >= MIN_ROUNDS) || n == MAX_ROUNDS))
            now |= last;
        atomic_store_explicit(turn, now + 1, memory_order_release);
    }
    return n;
}

static storm_status
limit_of_copies(const struct storm_bench_ring_case *that,
                const struct storm_bench_ring_memory *memory,
                struct storm_bench_ring_limits *limits_out)
{
    unsigned char *own = storm_bench_alloc(that->context, that->batch, RECORD);
    double *seconds =
        storm_bench_alloc(that->context, MAX_ROUNDS, sizeof *seconds);
    storm_status status =
        storm_context_agree(that->context, own != NULL && seconds != NULL
                                               ? STORM_OK
                                               : STORM_ERR_NOMEM);
    if (status >= 0) {
        bool sends = storm_context_rank(that->context) == 0;
        size_t n =
            limit_turns(that,
                        sends ? memory->remote->direct : memory->region->base,
                        own, seconds);
        double batches = that->slots / that->batch;
        limits_out->batch_ns = 1e9 * storm_bench_median(seconds, n) / batches;
        limits_out->best_batch_ns = 1e9 * seconds[0] / batches; /* sorted */
        status = storm_bench_max(that->context, &limits_out->batch_ns);
    }
    if (status >= 0)
        status = storm_bench_max(that->context, &limits_out->best_batch_ns);
    storm_bench_free(that->context, seconds);
    storm_bench_free(that->context, own);
    return status;
}

static storm_status limit_of_fabric(const struct storm_bench_ring_case *that,
                                    struct storm_bench_ring_limits *limits_out)
{
    struct storm_bench_ring_memory memory = {0};
    storm_status status = limit_open(that, &memory);
    if (status >= 0) {
        const char *provider = memory.fabric->provider;
        snprintf(limits_out->provider, sizeof limits_out->provider, "%s",
                 provider != NULL ? provider : "");
        status = memory.fabric->caps.direct
                     ? limit_of_copies(that, &memory, limits_out)
                     : storm_bench_ring_puts(that, &memory, limits_out);
    }
    limit_close(that, &memory);
    return status;
}

/* Sends messages for one window, each a batch of new data; then an empty one,
 * which is answered. */
static int limit_send(const struct storm_bench_ring_case *that,
                      unsigned char *own, double *ns_out)
{
    MPI_Comm comm = storm_context_comm(that->context);
    int bytes = (int)that->batch * RECORD, error = MPI_SUCCESS;
    double start = storm_clock_seconds();
    uint64_t n = 0;
    while (error == MPI_SUCCESS &&
           (n % storm_bench_ring_poll_interval(that) != 0 ||
            !storm_bench_ring_enough(that, storm_clock_seconds() - start, n))) {
        memset(own, (int)(n++ & 127), (size_t)bytes); /* new data */
        error = MPI_Send(own, bytes, MPI_BYTE, 1, 0, comm);
    }
    if (error == MPI_SUCCESS)
        error = MPI_Send(own, 0, MPI_BYTE, 1, 0, comm);
    if (error == MPI_SUCCESS)
        error = MPI_Recv(own, 0, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
    *ns_out = 1e9 * (storm_clock_seconds() - start) / (double)n;
    return error;
}

static int limit_receive(const struct storm_bench_ring_case *that,
                         unsigned char *own)
{
    MPI_Comm comm = storm_context_comm(that->context);
    int bytes = (int)that->batch * RECORD, error = MPI_SUCCESS, got = 1;
    while (error == MPI_SUCCESS && got > 0) {
        MPI_Status status;
        error = MPI_Recv(own, bytes, MPI_BYTE, 0, 0, comm, &status);
        if (error == MPI_SUCCESS)
            error = MPI_Get_count(&status, MPI_BYTE, &got);
    }
    return error == MPI_SUCCESS ? MPI_Send(own, 0, MPI_BYTE, 0, 0, comm)
                                : error;
}

static storm_status
limit_of_messages(const struct storm_bench_ring_case *that,
                  struct storm_bench_ring_limits *limits_out)
{
    unsigned char *own = storm_bench_alloc(that->context, that->batch, RECORD);
    double ns[WINDOWS + 1] = {0.0};
    int error = MPI_SUCCESS;
    storm_status status =
        storm_context_agree(that->context,
                            own != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (int i = 0; i <= WINDOWS && status >= 0 && error == MPI_SUCCESS; i++)
        error = storm_context_rank(that->context) == 0
                    ? limit_send(that, own, &ns[i])
                    : limit_receive(that, own);
    storm_bench_free(that->context, own);
    if (status < 0)
        return status;
    status =
        storm_context_agree(that->context,
                            error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC);
    limits_out->batch_ns = storm_bench_median(ns + 1, WINDOWS);
    limits_out->best_batch_ns = ns[1]; /* sorted; [0] was to warm up */
    return status;
}

storm_status storm_bench_ring_limit(const struct storm_bench_ring_case *that,
                                    struct storm_bench_ring_limits *limits_out)
{
    struct storm_bench_ring_limits limits = {0};
    storm_status status = that->fabric != NULL
                              ? limit_of_fabric(that, &limits)
                              : limit_of_messages(that, &limits);
    if (status < 0)
        return status;
    MPI_Bcast(&limits, (int)sizeof limits, MPI_BYTE, 0,
              storm_context_comm(that->context));
    *limits_out = limits;
    return STORM_OK;
}
