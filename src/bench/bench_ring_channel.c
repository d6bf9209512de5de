/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream and ping-pong of records through a channel. */
#include <string.h>

#include "base/clock.h"
#include "bench/bench_ring.h"
#include "channel/channel_control.h"
#include "channel/channel_ops.h"

enum {
    WINDOWS = STORM_BENCH_RING_WINDOWS,
    POLL_INTERVAL = 64, /* batches between two polls for control messages */
    FAILURE_TAG = 7,
    RECORD = STORM_BENCH_RING_RECORD
};

/* The first 8 bytes of a record: 1; in the last one, this bit and the number of
 * records before it. Records may arrive in any order. */
#define RING_LAST ((uint64_t)1 << 63)

struct ring_record {
    uint64_t word;
    uint64_t body[RECORD / 8 - 1];
};

/* One end of the channel. */
struct ring_end {
    const struct storm_bench_ring_case *that;
    struct storm_channel *channel;
    struct storm_control *control;
    uint32_t peer;
    struct ring_record *source, *sink; /* a batch each */
    uint64_t n_calls, n_empty;
    uint64_t received; /* records, except the last one of a stream */
    uint64_t expected; /* the same; 0: not known yet */
};

static storm_status ring_end_open(struct ring_end *end,
                                  const struct storm_bench_ring_case *that)
{
    struct storm_context *context = that->context;
    *end = (struct ring_end){.that = that};
    end->source = storm_bench_alloc(that->context, that->batch, RECORD);
    end->sink = storm_bench_alloc(that->context, that->batch, RECORD);
    bool memory = end->source != NULL && end->sink != NULL;
    for (uint32_t i = 0; memory && i < that->batch; i++)
        end->source[i].word = 1;
    storm_status status =
        storm_context_agree(context, memory ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_control_mpi_open(&context->boot, &context->env,
                                        &end->control);
    if (status < 0)
        return status;
    struct storm_channel_params params = {
        .env = &context->env,
        .boot = &context->boot,
        .control = end->control,
        .fabric = that->fabric,
        .record_bytes = RECORD,
        .paper = that->paper,
        .slots = that->slots,
        .batch = that->batch,
        .memory_cap = (size_t)that->slots * RECORD * 3 / 2 + 4096, /* no more */
        .growth = 2.0,
    };
    const struct storm_channel_ops *ops =
        that->fabric != NULL ? &storm_channel_ring : &storm_channel_p2p;
    status = ops->open(&params, &end->channel);
    if (status >= 0)
        status = ops->begin_step(end->channel, 1);
    if (status >= 0)
        status = end->channel->data->peer(end->channel,
                                          1 - storm_context_rank(context),
                                          &end->peer);
    return status;
}

static void ring_end_close(struct ring_end *end)
{
    if (end->channel != NULL)
        end->channel->ops->close(end->channel);
    if (end->control != NULL)
        end->control->ops->close(end->control);
    storm_bench_free(end->that->context, end->source);
    storm_bench_free(end->that->context, end->sink);
}

void storm_bench_ring_send_failure(struct storm_context *context)
{
    MPI_Send(NULL, 0, MPI_BYTE, 1 - storm_context_rank(context), FAILURE_TAG,
             storm_context_comm(context));
}

storm_status storm_bench_ring_peer_status(struct storm_context *context)
{
    int failed = 0;
    MPI_Iprobe(1 - storm_context_rank(context), FAILURE_TAG,
               storm_context_comm(context), &failed, MPI_STATUS_IGNORE);
    return failed ? STORM_ERR_PEER : STORM_OK;
}

/* Drives the channel; yields the core if nothing has happened. */
static storm_status ring_drive(struct ring_end *end, bool empty)
{
    const struct storm_channel_ops *ops = end->channel->ops;
    storm_status status = ops->progress(end->channel);
    if (status >= 0 && (empty || ++end->n_calls % POLL_INTERVAL == 0))
        status = ops->control(end->channel);
    end->n_empty = empty ? end->n_empty + 1 : 0;
    if (status >= 0 && empty)
        status = ops->idle(end->channel, end->n_empty);
    if (status >= 0 && end->n_empty % 4096 == 4095)
        status = storm_bench_ring_peer_status(end->that->context);
    return status;
}

/* Drives until both ranks are here: records of the other may need it. */
static storm_status ring_leave(struct ring_end *end)
{
    const struct storm_boot *boot = &end->that->context->boot;
    storm_status status = STORM_OK, there;
    while (status >= 0 && (there = boot->barrier_try(boot->self)) != STORM_OK)
        status = there < 0 ? there : ring_drive(end, true);
    return status;
}

/* Copies n records of the source in and publishes them. */
static storm_status ring_send(struct ring_end *end, size_t n)
{
    const struct storm_channel_data_ops *data = end->channel->data;
    storm_status status = STORM_OK;
    for (size_t done = 0; done < n && status >= 0;) {
        struct storm_span span;
        status = data->reserve(end->channel, end->peer, &span);
        if (status == STORM_OK) {
            size_t k = span.n < n - done ? span.n : n - done;
            if (span.far && n >= STORM_BENCH_RING_STREAM)
                storm_stream_copy(span.records, &end->source[done], k * RECORD);
            else
                memcpy(span.records, &end->source[done], k * RECORD);
            data->commit(end->channel, end->peer, k);
            done += k;
        } else if (status == STORM_AGAIN) { /* full: send what is committed */
            status = data->publish(end->channel, end->peer);
            if (status >= 0)
                status = ring_drive(end, true);
        }
    }
    if (status >= 0)
        status = data->publish(end->channel, end->peer);
    return status < 0 ? status : ring_drive(end, false);
}

static uint64_t ring_published(const struct ring_end *end)
{
    struct storm_channel_stats stats;
    end->channel->ops->stats(end->channel, &stats);
    return stats.batches;
}

/* One batch of a stream. With the paper's algorithm, waits until it is sent:
 * else one round would send several batches. */
static storm_status ring_send_batch(struct ring_end *end)
{
    uint64_t before = ring_published(end);
    storm_status status = ring_send(end, end->that->batch);
    while (status >= 0 && end->that->paper && ring_published(end) == before)
        status = ring_drive(end, true);
    return status;
}

/* Takes records that have arrived and copies them; STORM_AGAIN: none. */
static storm_status ring_receive(struct ring_end *end)
{
    struct storm_arrival arrival;
    storm_status status = end->channel->data->take(end->channel, &arrival);
    if (status != STORM_OK) {
        storm_status driven = ring_drive(end, true);
        return driven < 0 ? driven : status;
    }
    size_t batch = end->that->batch;
    for (size_t done = 0; done < arrival.n;) {
        size_t k = arrival.n - done < batch ? arrival.n - done : batch;
        memcpy(end->sink, arrival.records + done * RECORD, k * RECORD);
        for (size_t i = 0; i < k; i++) {
            uint64_t word = end->sink[i].word;
            if (STORM_LIKELY(word == 1))
                end->received++;
            else
                end->expected = word & ~RING_LAST;
        }
        done += k;
    }
    status = end->channel->data->release(end->channel, &arrival);
    return status < 0 ? status : ring_drive(end, false);
}

/* Until n records have arrived since the count was last set to zero. */
static storm_status ring_receive_batch(struct ring_end *end, uint64_t n)
{
    storm_status status = STORM_OK;
    while (status >= 0 && end->received < n && end->expected == 0)
        status = ring_receive(end);
    end->received -= end->received < n ? end->received : n;
    return status;
}

static storm_status ring_send_last(struct ring_end *end, uint64_t n_before)
{
    end->source[0].word = RING_LAST | n_before;
    storm_status status = ring_send(end, 1);
    end->source[0].word = 1;
    return status;
}

/* Rank 0 sends for some windows of time, then waits for an answer. */
static storm_status ring_stream_out(struct ring_end *end,
                                    struct storm_bench_ring_times *times_out)
{
    const struct storm_bench_ring_case *that = end->that;
    double ns[WINDOWS];
    uint64_t look = storm_bench_ring_poll_interval(that), batches = 0;
    for (int window = -1; window < WINDOWS; window++) { /* one to warm up */
        double start = storm_clock_seconds(), now;
        uint64_t before = batches;
        do {
            for (uint64_t i = 0; i < look; i++) {
                storm_status status = ring_send_batch(end);
                if (status < 0)
                    return status;
            }
            batches += look;
            now = storm_clock_seconds();
        } while (!storm_bench_ring_enough(that, now - start, batches - before));
        if (window >= 0)
            ns[window] = 1e9 * (now - start) / (double)(batches - before);
    }
    times_out->batch_ns = storm_bench_median(ns, WINDOWS);
    times_out->best_batch_ns = ns[0]; /* they are sorted now */
    times_out->batches = batches;
    times_out->records = batches * that->batch;
    storm_status status = ring_send_last(end, times_out->records);
    return status < 0 ? status : ring_receive_batch(end, 1);
}

static storm_status ring_stream_in(struct ring_end *end)
{
    storm_status status = STORM_OK;
    while (status >= 0 && (end->expected == 0 || end->received < end->expected))
        status = ring_receive(end);
    if (status < 0)
        return status;
    if (end->received != end->expected) {
        storm_context_log(end->that->context, STORM_LOG_ERROR,
                          "wrong result: %llu records sent, %llu arrived",
                          (unsigned long long)end->expected,
                          (unsigned long long)end->received);
        return STORM_ERR_STATE;
    }
    end->received = end->expected = 0;
    return ring_send(end, 1);
}

/* Rank 0 sends a batch and waits for it to come back. */
static storm_status ring_ping(struct ring_end *end,
                              struct storm_bench_ring_times *times_out)
{
    const struct storm_bench_ring_case *that = end->that;
    double ns[WINDOWS];
    for (int window = -1; window < WINDOWS; window++) {
        double start = storm_clock_seconds(), now;
        uint64_t trips = 0;
        do {
            for (int i = 0; i < 16; i++, trips++) {
                storm_status status = ring_send(end, that->batch);
                if (status >= 0)
                    status = ring_receive_batch(end, that->batch);
                if (status < 0)
                    return status;
            }
            now = storm_clock_seconds();
        } while (now - start < that->seconds / WINDOWS);
        if (window >= 0)
            ns[window] = 0.5e9 * (now - start) / (double)trips;
    }
    times_out->latency_ns = storm_bench_median(ns, WINDOWS);
    return ring_send_last(end, 1);
}

static storm_status ring_pong(struct ring_end *end)
{
    for (;;) {
        storm_status status = ring_receive_batch(end, end->that->batch);
        if (status < 0 || end->expected != 0)
            return status;
        status = ring_send(end, end->that->batch);
        if (status < 0)
            return status;
    }
}

storm_status storm_bench_ring_channel(const struct storm_bench_ring_case *that,
                                      struct storm_bench_ring_times *times_out)
{
    struct ring_end end;
    struct storm_bench_ring_times times = {0};
    bool sends = storm_context_rank(that->context) == 0;
    storm_status status = ring_end_open(&end, that);
    if (status >= 0)
        status = sends ? ring_stream_out(&end, &times) : ring_stream_in(&end);
    if (status >= 0)
        status = sends ? ring_ping(&end, &times) : ring_pong(&end);
    if (status >= 0)
        status = ring_leave(&end);
    else if (status != STORM_ERR_PEER && end.channel != NULL)
        storm_bench_ring_send_failure(that->context);
    ring_end_close(&end);
    status = storm_context_agree(that->context, status);
    if (status < 0)
        return status;
    MPI_Bcast(&times, (int)sizeof times, MPI_BYTE, 0,
              storm_context_comm(that->context));
    *times_out = times;
    return STORM_OK;
}
