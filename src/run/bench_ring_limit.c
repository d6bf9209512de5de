/* SPDX-License-Identifier: BSD-3-Clause */
/* What two ranks could do at best: copies, or messages, without protocol. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"
#include "run/bench_ring.h"

enum {
    RECORD = STORM_BENCH_RING_RECORD,
    MOST_ROUNDS = 4096,
    TURN_OFFSET = 0,
    SLOTS_OFFSET = 128,
    MESSAGES = 256 /* between two looks at the clock */
};

/* Memory of rank 1 that both reach. */
struct limit_memory {
    struct storm_fabric *fabric;
    struct storm_region *region; /* rank 1 */
    struct storm_remote *remote; /* rank 0 */
    unsigned char *base;
};

static storm_status limit_open(const struct storm_bench_ring_case *that,
                               struct limit_memory *memory)
{
    struct storm_context *context = that->context;
    const struct storm_fabric_ops *ops = that->fabric;
    struct storm_region_desc desc[2], mine;
    memset(&mine, 0, sizeof mine);
    storm_status status =
        ops->open(&context->env, &context->boot, &memory->fabric);
    if (status < 0)
        return status;
    if (storm_context_rank(context) == 1) {
        status = ops->alloc(memory->fabric,
                            SLOTS_OFFSET + (size_t)that->slots * RECORD,
                            &memory->region);
        if (status >= 0) {
            ops->describe(memory->fabric, memory->region, &mine);
            memory->base = memory->region->base;
        }
    }
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = context->boot.allgather(context->boot.self, &mine, sizeof mine,
                                         desc);
    if (status >= 0 && storm_context_rank(context) == 0) {
        status = ops->attach(memory->fabric, 1, &desc[1], &memory->remote);
        if (status >= 0)
            memory->base = memory->remote->direct;
        if (status >= 0 && memory->base == NULL)
            status = STORM_ERR_NOSUP;
    }
    return storm_context_agree(context, status);
}

static void limit_close(const struct storm_bench_ring_case *that,
                        struct limit_memory *memory)
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

/* Rank 0 copies in on even turns, rank 1 out on odd ones; rank 0 ends it by
 * the highest bit. Returns the median time of this rank's turn. */
static double limit_turns(const struct storm_bench_ring_case *that,
                          unsigned char *base, unsigned char *own,
                          double *seconds)
{
    const uint64_t last = (uint64_t)1 << 63;
    _Atomic uint64_t *turn = (_Atomic uint64_t *)(base + TURN_OFFSET);
    uint64_t mine = storm_context_rank(that->context) == 0 ? 0 : 1;
    double end = storm_clock_seconds() + that->seconds;
    size_t n = 0;
    for (uint64_t now = 0; n < MOST_ROUNDS && !(now & last);) {
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
        if (mine == 0 && (stop >= end || n == MOST_ROUNDS))
            now |= last;
        atomic_store_explicit(turn, now + 1, memory_order_release);
    }
    return storm_bench_median(seconds, n);
}

static storm_status limit_of_copies(const struct storm_bench_ring_case *that,
                                    unsigned char *own, double *seconds,
                                    double *batch_ns_out)
{
    struct limit_memory memory = {0};
    storm_status status = limit_open(that, &memory);
    if (status >= 0) {
        double turn = limit_turns(that, memory.base, own, seconds);
        uint32_t n_batches = that->slots / that->batch;
        *batch_ns_out = 1e9 * turn / n_batches;
        status = storm_bench_max(that->context, batch_ns_out);
    }
    limit_close(that, &memory);
    return status;
}

/* Bare messages, each with a batch of new data; an empty one ends it. */
static storm_status limit_of_messages(const struct storm_bench_ring_case *that,
                                      unsigned char *own, double *batch_ns_out)
{
    MPI_Comm comm = storm_context_comm(that->context);
    int bytes = (int)that->batch * RECORD, error = MPI_SUCCESS, got = 1;
    double start = storm_clock_seconds(), ns = 0.0;
    uint64_t n = 0;
    if (storm_context_rank(that->context) == 0) {
        while (error == MPI_SUCCESS &&
               (n % MESSAGES != 0 || n == 0 ||
                storm_clock_seconds() - start < that->seconds)) {
            memset(own, (int)(n++ & 127), (size_t)bytes); /* new data */
            error = MPI_Send(own, bytes, MPI_BYTE, 1, 0, comm);
        }
        if (error == MPI_SUCCESS)
            error = MPI_Send(own, 0, MPI_BYTE, 1, 0, comm);
        if (error == MPI_SUCCESS)
            error = MPI_Recv(own, 0, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        ns = 1e9 * (storm_clock_seconds() - start) / (double)n;
    } else {
        while (error == MPI_SUCCESS && got > 0) {
            MPI_Status status;
            error = MPI_Recv(own, bytes, MPI_BYTE, 0, 0, comm, &status);
            if (error == MPI_SUCCESS)
                error = MPI_Get_count(&status, MPI_BYTE, &got);
        }
        if (error == MPI_SUCCESS)
            error = MPI_Send(own, 0, MPI_BYTE, 0, 0, comm);
    }
    storm_status status =
        storm_context_agree(that->context,
                            error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC);
    *batch_ns_out = ns;
    return status < 0 ? status : storm_bench_max(that->context, batch_ns_out);
}

storm_status storm_bench_ring_limit(const struct storm_bench_ring_case *that,
                                    double *batch_ns_out)
{
    unsigned char *own = calloc(that->batch, RECORD);
    double *seconds = calloc(MOST_ROUNDS, sizeof *seconds);
    storm_status status =
        storm_context_agree(that->context, own != NULL && seconds != NULL
                                               ? STORM_OK
                                               : STORM_ERR_NOMEM);
    if (status >= 0)
        status = that->fabric != NULL
                     ? limit_of_copies(that, own, seconds, batch_ns_out)
                     : limit_of_messages(that, own, batch_ns_out);
    free(seconds);
    free(own);
    return status;
}
