/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path.
 *
 *   IBVDATA-1  Puts wait in the connection's chain for what follows them: a
 *              put_word, a get or an atomic posts the whole chain with one
 *              call, so does a full chain, and poll posts what is left.
 *   IBVDATA-2  Whatever a caller may wait for asks for a completion: gets,
 *              atomics, delivered puts, and put_words, each of which may make a
 *              ring busy until it has completed. Puts are followed by one of
 *              them; of puts alone every VERBS_SIGNAL_EVERYth asks.
 *   IBVDATA-3  So does the last put of a chain that poll posts. Hence every
 *              request is behind one that has asked, or is still in the chain.
 *   IBVDATA-4  No more requests are in flight than the completion queue can
 *              hold, even if a broken connection returns every single one.
 *   IBVDATA-5  A broken connection is final for the fabric: poll returns the
 *              error from then on, so that no caller waits for ever. Operations
 *              to other peers still work, to report it.
 *   IBVDATA-6  While a rank idles, a connection with nothing in flight carries
 *              an empty write from time to time, which the remote adapter
 *              answers by itself: so a rank that only waits notices a lost
 *              peer.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"
#include "fabric/ibv/ibv_fabric.h"

enum { N_WC = 64 };
static const double ask_every_s = 1;

/* ---- posting --------------------------------------------------------------*/

/* Marks a connection as broken: everything in flight on it ends with an error.
 * The adapter still returns n_flushed requests, one by one. */
static void break_conn(struct verbs_fabric *f, struct verbs_conn *conn,
                       uint32_t n_flushed)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    f->failed = STORM_ERR_FABRIC; /* IBVDATA-5 */
    conn->state = VERBS_BROKEN;
    (void)f->port.library.modify_qp(conn->qp, &attr, IBV_QP_STATE);
    conn->n_chain = 0;
    conn->n_flushed += n_flushed;
    f->n_flying -= (uint32_t)(conn->accepted - conn->done) - n_flushed;
    for (; conn->done < conn->accepted; conn->done++) {
        struct storm_ticket *ticket =
            conn->entry[conn->done & (f->depth - 1)].ticket;
        if (ticket) {
            ticket->status = STORM_ERR_FABRIC;
            ticket->pending--;
        }
    }
    conn->signalled = conn->accepted;
}

static void hand_over(struct verbs_fabric *f, struct verbs_conn *conn)
{
    struct ibv_send_wr *bad = NULL;
    if (conn->n_chain == 0)
        return;
    if (STORM_UNLIKELY(conn->state == VERBS_BROKEN)) {
        break_conn(f, conn, 0); /* in the middle of a long transfer */
        return;
    }
    for (uint32_t i = 1; i < conn->n_chain; i++)
        conn->chain[i - 1].next = &conn->chain[i];
    conn->chain[conn->n_chain - 1].next = NULL;
    int error = ibv_post_send(conn->qp, conn->chain, &bad);
    if (STORM_UNLIKELY(error != 0)) {
        uint64_t n_refused =
            conn->n_chain - (bad ? (uint64_t)(bad - conn->chain) : 0);
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ibv: the queue pair to rank %d takes no request: %s",
                        conn->peer, strerror(error));
        break_conn(f, conn,
                   (uint32_t)(conn->accepted - conn->done - n_refused));
    }
    conn->n_chain = 0;
}

/* Is there room for n requests, and the empty one (IBVDATA-4, IBVDATA-6)? */
static storm_status room(const struct verbs_fabric *f,
                         const struct verbs_conn *conn, uint64_t n)
{
    if (STORM_UNLIKELY(conn->state != VERBS_UP))
        return conn->state == VERBS_BROKEN ? STORM_ERR_FABRIC : STORM_AGAIN;
    if (conn->accepted - conn->done + n >= f->depth ||
        f->n_flying + n + f->n_conns > f->limit)
        /* More than the queue holds would be STORM_AGAIN for ever. */
        return n < f->depth ? STORM_AGAIN : STORM_ERR_ARG;
    return STORM_OK;
}

/* What one request is about. */
struct request {
    enum ibv_wr_opcode opcode;
    uint64_t address; /* at the target */
    uint32_t rkey;
    void *local;
    uint32_t bytes;
    uint32_t lkey;
    bool wanted; /* ask for its completion */
    struct storm_ticket *ticket;
};

static struct ibv_send_wr *chain_up(struct verbs_fabric *f,
                                    struct verbs_conn *conn,
                                    const struct request *r)
{
    if (conn->n_chain == VERBS_CHAIN)
        hand_over(f, conn);
    bool ask =
        r->wanted || conn->accepted - conn->signalled >= VERBS_SIGNAL_EVERY - 1;
    bool within = r->opcode == IBV_WR_RDMA_WRITE && r->bytes <= f->inline_bytes;
    struct ibv_send_wr *wr = &conn->chain[conn->n_chain];
    struct ibv_sge *sge = &conn->sge[conn->n_chain];
    *sge = (struct ibv_sge){
        .addr = (uintptr_t)r->local, .length = r->bytes, .lkey = r->lkey};
    *wr = (struct ibv_send_wr){
        .wr_id = (uint64_t)conn->index << 32 | (uint32_t)conn->accepted,
        .sg_list = sge,
        .num_sge = r->bytes > 0,
        .opcode = r->opcode,
        .send_flags = (ask ? (unsigned)IBV_SEND_SIGNALED : 0u) |
                      (within ? (unsigned)IBV_SEND_INLINE : 0u),
        .wr.rdma = {.remote_addr = r->address, .rkey = r->rkey},
    };
    conn->entry[conn->accepted & (f->depth - 1)] =
        (struct verbs_entry){.ticket = r->ticket};
    conn->accepted++;
    if (ask)
        conn->signalled = conn->accepted;
    conn->n_chain++;
    f->n_flying++;
    if (r->ticket)
        r->ticket->pending++;
    return wr;
}

static struct verbs_remote *remote_of(struct storm_remote *remote)
{
    return (struct verbs_remote *)remote;
}

/* A put or get, in as many pieces as the port wants. */
static storm_status transfer(const struct storm_transfer *t,
                             enum ibv_wr_opcode opcode)
{
    const struct verbs_remote *remote = remote_of(t->remote);
    const struct verbs_region *local = (const struct verbs_region *)t->local;
    struct verbs_fabric *f = verbs_of(t->remote->fabric);
    struct verbs_conn *conn = remote->conn;
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    if (t->bytes == 0)
        return STORM_OK;
    uint64_t piece = f->port.attr.max_msg_sz;
    bool is_get = opcode == IBV_WR_RDMA_READ;
    bool check = t->delivered && !is_get;
    storm_status status = room(f, conn, (t->bytes + piece - 1) / piece + check);
    if (status != STORM_OK)
        return status;
    struct request r = {
        .opcode = opcode,
        .address = remote->address + t->remote_offset,
        .rkey = remote->rkey,
        .local = (unsigned char *)t->local->base + t->local_offset,
        .lkey = local->memory.mr->lkey,
    };
    for (uint64_t left = t->bytes; left > 0; left -= r.bytes) {
        r.bytes = (uint32_t)(left < piece ? left : piece);
        bool last = left == r.bytes;
        r.wanted = is_get && last;
        r.ticket = last && !check ? t->ticket : NULL;
        chain_up(f, conn, &r);
        r.address += r.bytes;
        r.local = (unsigned char *)r.local + r.bytes;
    }
    if (check) { /* FABRIC-6 */
        r = (struct request){.opcode = IBV_WR_RDMA_READ,
                             .address = r.address - 1,
                             .rkey = r.rkey,
                             .local = f->scrap.base,
                             .bytes = 1,
                             .lkey = f->scrap.mr->lkey,
                             .wanted = true,
                             .ticket = t->ticket};
        chain_up(f, conn, &r);
    }
    if (is_get || check) {
        hand_over(f, conn);
    } else if (!conn->in_chained) {
        conn->in_chained = true;
        conn->next_chained = f->chained;
        f->chained = conn;
    }
    return STORM_OK;
}

static storm_status verbs_put(const struct storm_transfer *t)
{
    return transfer(t, IBV_WR_RDMA_WRITE);
}

static storm_status verbs_get(const struct storm_transfer *t)
{
    return transfer(t, IBV_WR_RDMA_READ);
}

/* The local word of the next request. */
static uint64_t *next_word(const struct verbs_fabric *f,
                           const struct verbs_conn *conn)
{
    return &conn->word[conn->accepted & (f->depth - 1)];
}

static storm_status verbs_put_word(struct storm_remote *to, uint64_t offset,
                                   uint64_t word, struct storm_ticket *ticket)
{
    const struct verbs_remote *remote = remote_of(to);
    struct verbs_fabric *f = verbs_of(to->fabric);
    struct verbs_conn *conn = remote->conn;
    STORM_ASSERT(offset % 8 == 0 && offset + 8 <= to->bytes);
    storm_status status = room(f, conn, 1);
    if (status != STORM_OK)
        return status;
    uint64_t *from = next_word(f, conn);
    *from = word;
    const struct request r = {
        .opcode = IBV_WR_RDMA_WRITE,
        .address = remote->address + offset,
        .rkey = remote->rkey,
        .local = from,
        .bytes = sizeof word,
        .lkey = conn->words.mr->lkey,
        .wanted = true,
        .ticket = ticket,
    };
    chain_up(f, conn, &r);
    hand_over(f, conn);
    return STORM_OK;
}

static storm_status atomic(const struct storm_atomic *a,
                           enum ibv_wr_opcode opcode)
{
    const struct verbs_remote *remote = remote_of(a->remote);
    struct verbs_fabric *f = verbs_of(a->remote->fabric);
    struct verbs_conn *conn = remote->conn;
    STORM_ASSERT(a->remote_offset % 8 == 0 &&
                 a->remote_offset + 8 <= a->remote->bytes);
    storm_status status = room(f, conn, 1);
    if (status != STORM_OK)
        return status;
    uint64_t *to = next_word(f, conn);
    const struct request r = {
        .opcode = opcode,
        .local = to,
        .bytes = sizeof *to,
        .lkey = conn->words.mr->lkey,
        .wanted = true,
        .ticket = a->ticket,
    };
    bool swap = opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    struct ibv_send_wr *wr = chain_up(f, conn, &r);
    wr->wr.atomic.remote_addr = remote->address + a->remote_offset;
    wr->wr.atomic.rkey = remote->rkey;
    wr->wr.atomic.compare_add = swap ? a->expected : a->operand;
    wr->wr.atomic.swap = swap ? a->operand : 0;
    conn->entry[(conn->accepted - 1) & (f->depth - 1)].old_out = a->old_out;
    hand_over(f, conn);
    return STORM_OK;
}

static storm_status verbs_fetch_add(const struct storm_atomic *a)
{
    return atomic(a, IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static storm_status verbs_compare_swap(const struct storm_atomic *a)
{
    return atomic(a, IBV_WR_ATOMIC_CMP_AND_SWP);
}

/* ---- polling --------------------------------------------------------------*/

/* Ends the oldest n requests of a connection. */
static void complete(struct verbs_fabric *f, struct verbs_conn *conn,
                     uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, conn->done++) {
        uint64_t slot = conn->done & (f->depth - 1);
        const struct verbs_entry *entry = &conn->entry[slot];
        if (entry->old_out)
            *entry->old_out = conn->word[slot];
        if (entry->ticket)
            entry->ticket->pending--;
    }
    f->n_flying -= n;
}

static void log_lost(const struct verbs_fabric *f,
                     const struct verbs_conn *conn, const struct ibv_wc *wc)
{
    const char *hint = "";
    if (wc->status == IBV_WC_RETRY_EXC_ERR)
        hint = "; it does not answer: has the rank ended?";
    else if (wc->status == IBV_WC_REM_ACCESS_ERR)
        hint = "; that memory no longer exists: has the rank ended?";
    storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                    "ibv: a transfer to rank %d failed: %s (%s, vendor code "
                    "%#x)%s",
                    conn->peer, f->port.library.wc_status_str(wc->status),
                    f->port.name, wc->vendor_err, hint);
}

static void take_completion(struct verbs_fabric *f, const struct ibv_wc *wc)
{
    struct verbs_conn *conn = f->conns[wc->wr_id >> 32];
    uint32_t number = (uint32_t)wc->wr_id;
    if (STORM_UNLIKELY(conn->state == VERBS_BROKEN)) {
        if (conn->n_flushed > 0) {
            conn->n_flushed--;
            f->n_flying--;
        }
    } else if (STORM_UNLIKELY(wc->status != IBV_WC_SUCCESS)) {
        log_lost(f, conn, wc);
        break_conn(f, conn,
                   (uint32_t)conn->accepted - conn->n_chain - number - 1);
    } else {
        complete(f, conn, number - (uint32_t)conn->done + 1);
    }
}

/* IBVDATA-1, IBVDATA-3 */
static void hand_over_all(struct verbs_fabric *f)
{
    while (f->chained) {
        struct verbs_conn *conn = f->chained;
        f->chained = conn->next_chained;
        conn->in_chained = false;
        if (conn->n_chain == 0)
            continue;
        conn->chain[conn->n_chain - 1].send_flags |= IBV_SEND_SIGNALED;
        conn->signalled = conn->accepted;
        hand_over(f, conn);
    }
}

/* IBVDATA-6 */
static void ask_all(struct verbs_fabric *f)
{
    const struct request empty = {.opcode = IBV_WR_RDMA_WRITE, .wanted = true};
    double now_s = storm_clock_seconds();
    if (now_s < f->ask_s)
        return;
    f->ask_s = now_s + ask_every_s;
    for (size_t i = 0; i < f->n_conns; i++) {
        struct verbs_conn *conn = f->conns[i];
        if (conn->state != VERBS_UP || conn->accepted != conn->done)
            continue;
        chain_up(f, conn, &empty);
        hand_over(f, conn);
    }
}

static storm_status verbs_poll(struct storm_fabric *fabric)
{
    struct verbs_fabric *f = verbs_of(fabric);
    struct ibv_wc wc[N_WC];
    int n = ibv_poll_cq(f->cq, N_WC, wc);
    if (STORM_UNLIKELY(n < 0))
        return verbs_fail(f, "the completion queue cannot be read", errno);
    for (int i = 0; i < n; i++)
        take_completion(f, &wc[i]);
    if (f->chained)
        hand_over_all(f);
    if (f->n_connecting > 0 || storm_pace_due(&f->handshake.pace))
        verbs_connect_poll(f);
    return f->failed;
}

static storm_status verbs_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    struct verbs_fabric *f = verbs_of(fabric);
    storm_status status = verbs_poll(fabric);
    ask_all(f);
    storm_idle(n_empty);
    return status;
}

const struct storm_fabric_data_ops verbs_data_ops = {
    .put = verbs_put,
    .get = verbs_get,
    .put_word = verbs_put_word,
    .fetch_add = verbs_fetch_add,
    .compare_swap = verbs_compare_swap,
    .poll = verbs_poll,
    .idle = verbs_idle,
};
