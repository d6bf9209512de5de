/* SPDX-License-Identifier: BSD-3-Clause */
/* Limit of the ring benchmark on networks: puts without protocol. */
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"
#include "bench/bench_ring.h"

enum {
    RECORD = STORM_BENCH_RING_RECORD,
    WINDOWS = STORM_BENCH_RING_WINDOWS,
    CHECK_EVERY = 4096, /* polls between two checks of the other rank */
    WORD_OFFSET = 0,    /* in own memory, of the word that is read back */
    SLOTS_OFFSET = 128
};

struct puts {
    const struct storm_bench_ring_case *that;
    const struct storm_bench_ring_memory *memory;
    struct storm_ticket ticket;
    uint64_t n;         /* puts so far */
    uint64_t n_places;  /* batches that fit into the memory */
    unsigned char *own; /* a batch */
};

static uint64_t puts_place(const struct puts *p)
{
    return SLOTS_OFFSET +
           p->n % p->n_places * (uint64_t)p->that->batch * RECORD;
}

/* One poll while there is nothing else to do. */
static storm_status puts_wait(const struct puts *p, uint64_t n_empty)
{
    struct storm_fabric *fabric = p->memory->fabric;
    storm_status status = n_empty < STORM_IDLE_SPINS
                              ? fabric->data->poll(fabric)
                              : fabric->data->idle(fabric, n_empty);
    if (status >= 0 && n_empty % CHECK_EVERY == CHECK_EVERY - 1)
        status = storm_bench_ring_peer_status(p->that->context);
    return status;
}

/* Waits until all accepted operations have completed. */
static storm_status puts_drain(const struct puts *p)
{
    storm_status status = STORM_OK;
    for (uint64_t n = 0; p->ticket.pending > 0 && status >= 0; n++)
        status = puts_wait(p, n);
    return status < 0 ? status : p->ticket.status;
}

/* Puts the next batch, as soon as the fabric accepts it. */
static storm_status puts_next(struct puts *p, bool delivered)
{
    uint64_t place = puts_place(p);
    struct storm_transfer put = {
        .remote = p->memory->remote,
        .remote_offset = place,
        .local = p->memory->region,
        .local_offset = place,
        .bytes = (size_t)p->that->batch * RECORD,
        .delivered = delivered,
        .ticket = &p->ticket,
    };
    const struct storm_fabric_data_ops *data = p->memory->fabric->data;
    storm_status status = data->put(&put);
    for (uint64_t n = 0; status == STORM_AGAIN; n++) {
        status = puts_wait(p, n);
        if (status >= 0)
            status = data->put(&put);
    }
    p->n++;
    return status;
}

/* Polls as often as the sender of a ring: after every batch. */
static storm_status puts_window(struct puts *p, double *ns_out)
{
    struct storm_fabric *fabric = p->memory->fabric;
    double start = storm_clock_seconds(), now;
    uint64_t look = storm_bench_ring_poll_interval(p->that), before = p->n;
    storm_status status;
    do {
        for (uint64_t i = 0; i < look; i++) {
            status = puts_next(p, false);
            if (status >= 0)
                status = fabric->data->poll(fabric);
            if (status < 0)
                return status;
        }
        now = storm_clock_seconds();
    } while (!storm_bench_ring_enough(p->that, now - start, p->n - before));
    status = puts_next(p, true);
    if (status >= 0)
        status = puts_drain(p);
    now = storm_clock_seconds();
    *ns_out = 1e9 * (now - start) / (double)(p->n - before);
    return status;
}

/* Puts one more batch with a unique word in its last record, and reads it
 * back. */
static storm_status puts_read_back(struct puts *p)
{
    const uint64_t mark = 0x5354524d00000000 + p->n;
    uint64_t found;
    struct storm_region *own = p->memory->region;
    uint64_t at =
        puts_place(p) + (uint64_t)(p->that->batch - 1) * RECORD + RECORD - 8;
    memcpy((unsigned char *)own->base + at, &mark, sizeof mark);
    storm_status status = puts_next(p, true);
    if (status >= 0)
        status = puts_drain(p);
    struct storm_transfer get = {
        .remote = p->memory->remote,
        .remote_offset = at,
        .local = own,
        .local_offset = WORD_OFFSET,
        .bytes = sizeof found,
        .ticket = &p->ticket,
    };
    for (uint64_t n = 0; status >= 0; n++) {
        status = p->memory->fabric->data->get(&get);
        if (status != STORM_AGAIN)
            break;
        status = puts_wait(p, n);
    }
    if (status >= 0)
        status = puts_drain(p);
    if (status < 0)
        return status;
    memcpy(&found, (unsigned char *)own->base + WORD_OFFSET, sizeof found);
    if (found == mark)
        return STORM_OK;
    storm_context_log(p->that->context, STORM_LOG_ERROR,
                      "wrong result: the last put has not landed");
    return STORM_ERR_FABRIC;
}

static storm_status puts_send(struct puts *p,
                              struct storm_bench_ring_limits *limits_out)
{
    double ns[WINDOWS], warm;
    storm_status status = puts_window(p, &warm);
    for (int window = 0; window < WINDOWS && status >= 0; window++)
        status = puts_window(p, &ns[window]);
    if (status >= 0)
        status = puts_read_back(p);
    if (status >= 0) {
        limits_out->batch_ns = storm_bench_median(ns, WINDOWS);
        limits_out->best_batch_ns = ns[0]; /* they are sorted now */
    }
    return status;
}

/* The minimum that a receiver must do: copy the bytes out. */
static void puts_copy_out(const struct puts *p, uint64_t n)
{
    size_t bytes = (size_t)p->that->batch * RECORD;
    memcpy(p->own,
           (const unsigned char *)p->memory->region->base + SLOTS_OFFSET +
               n % p->n_places * bytes,
           bytes);
    __asm__ volatile("" : : "r"(p->own) : "memory"); /* keep every copy */
}

/* Polls until both ranks are here: the other may need it. */
static storm_status puts_leave(const struct puts *p)
{
    bool receives = storm_context_rank(p->that->context) == 1;
    const struct storm_boot *boot = &p->that->context->boot;
    struct storm_fabric *fabric = p->memory->fabric;
    storm_status status = STORM_OK, there = STORM_AGAIN;
    for (uint64_t n = 1; status >= 0 && there == STORM_AGAIN; n++) {
        status = fabric->data->poll(fabric);
        if (receives)
            puts_copy_out(p, n);
        if (n % STORM_IDLE_SPINS == 0)
            there = boot->barrier_try(boot->self);
        if (status >= 0 && n % CHECK_EVERY == 0)
            status = storm_bench_ring_peer_status(p->that->context);
    }
    return status < 0 ? status : there;
}

storm_status storm_bench_ring_puts(const struct storm_bench_ring_case *that,
                                   const struct storm_bench_ring_memory *memory,
                                   struct storm_bench_ring_limits *limits_out)
{
    struct puts p = {
        .that = that, .memory = memory, .n_places = that->slots / that->batch};
    p.own = storm_bench_alloc(that->context, that->batch, RECORD);
    storm_status status =
        storm_context_agree(that->context,
                            p.own != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_bench_free(that->context, p.own);
        return status;
    }
    if (storm_context_rank(that->context) == 0)
        status = puts_send(&p, limits_out);
    if (status >= 0)
        status = puts_leave(&p);
    if (status < 0 && status != STORM_ERR_PEER)
        storm_bench_ring_send_failure(that->context);
    storm_bench_free(that->context, p.own);
    return storm_context_agree(that->context, status);
}
