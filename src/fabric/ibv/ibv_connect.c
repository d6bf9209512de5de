/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting: how two ranks learn each other's queue pair.
 *
 * Each rank creates exactly one queue pair for a peer. So two that begin at the
 * same time, and datagrams that arrive twice, late or out of order, all end in
 * the same pair:
 *
 *   HELLO   my queue pair is Q. Sent until the peer's is known.
 *   REPLY   the same, and mine is ready for yours. Sent until READY arrives.
 *   READY   I know that you are ready. Only ever an answer to REPLY.
 *
 *   IBVCONNECT-1  Every datagram names the sender's queue pair and address, so
 *                 that ranks that have never heard of it can answer: connect
 *                 ours to it, once.
 *   IBVCONNECT-2  HELLO is answered by REPLY, REPLY by READY, READY by nothing,
 *                 at any time.
 *   IBVCONNECT-3  Operations may start when REPLY or READY has arrived: both
 *                 ends are then ready to receive.
 *   IBVCONNECT-4  Until then a rank repeats its datagram, at growing intervals:
 *                 datagrams may be lost.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/ibv/ibv_fabric.h"

enum {
    N_RECEIVE = 192, /* datagrams that may be queued here */
    N_SEND = 64,
    SLOT_BYTES = 128,
    GRH_BYTES = 40, /* before every datagram received */
    DATAGRAM_KEY = 0x53746f72,
    PSN_MASK = 0xffffff,
    RNR_TIMER = 12, /* never used, nor are its retries: all is RDMA */
    RNR_RETRIES = 7,
    LOOK_EVERY = 16, /* polls between two looks for datagrams */
    MAX_ACK_TIMEOUT = 31,
    RETRIES = 6 /* 7 means endless to Soft-RoCE */
};
static const double first_pause_s = 0.002, last_pause_s = 0.128;
static const double look_every_s = 1e-4;
static const double warn_after_s = 10;

enum hello_kind { HELLO = 1, REPLY, READY };

/* A datagram. All ranks run on the same kind of processor. */
struct hello {
    uint64_t nonce;
    int32_t from;
    uint32_t kind;
    uint32_t qpn, psn;
    struct verbs_card card;
};
_Static_assert(GRH_BYTES + sizeof(struct hello) <= SLOT_BYTES,
               "a datagram fits into its slot");

static const struct storm_log *log_of(const struct verbs_fabric *f)
{
    return &f->fabric.env->log;
}

/* ---- queue pairs ----------------------------------------------------------*/

static struct ibv_ah_attr address_of(const struct verbs_fabric *f,
                                     const struct verbs_card *card)
{
    struct ibv_ah_attr address = {
        .dlid = card->lid,
        .sl = f->port.service_level,
        .is_global = f->port.global,
        .port_num = f->port.number,
    };
    if (f->port.global) {
        memcpy(address.grh.dgid.raw, card->gid, sizeof card->gid);
        address.grh.sgid_index = f->port.gid_index;
        address.grh.hop_limit = 64;
    }
    return address;
}

static struct ibv_qp *try_rc(struct verbs_fabric *f, uint32_t depth,
                             uint32_t inline_bytes)
{
    struct ibv_qp_init_attr want = {
        .send_cq = f->cq,
        .recv_cq = f->cq,
        .cap = {.max_send_wr = depth,
                .max_recv_wr = 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = inline_bytes},
        .qp_type = IBV_QPT_RC,
    };
    return f->port.library.create_qp(f->pd, &want);
}

/* Only creating a queue pair shows what a device grants. */
static storm_status size_queues(struct verbs_fabric *f)
{
    const struct ibv_device_attr *device = &f->port.device;
    for (f->depth = VERBS_QUEUE; f->depth >= 8; f->depth /= 2)
        for (f->inline_bytes = VERBS_INLINE;; f->inline_bytes /= 2) {
            if (f->inline_bytes < sizeof(uint64_t))
                f->inline_bytes = 0;
            struct ibv_qp *qp = (int64_t)f->depth <= device->max_qp_wr
                                    ? try_rc(f, f->depth, f->inline_bytes)
                                    : NULL;
            if (qp) {
                f->port.library.destroy_qp(qp);
                return STORM_OK;
            }
            if (f->inline_bytes == 0)
                break;
        }
    verbs_log_denied(f, errno, "a queue pair of even 8 requests");
    return STORM_ERR_FABRIC;
}

static int rc_to_init(const struct verbs_fabric *f, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .pkey_index = f->port.pkey_index,
        .port_num = f->port.number,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC,
    };
    return f->port.library.modify_qp(qp, &attr,
                                     IBV_QP_STATE | IBV_QP_PKEY_INDEX |
                                         IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static uint8_t min_u8(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* An unanswered request is sent again every 4.096 us * 2^n: the smallest n with
 * which a peer may be silent for so long. (Adapters may wait up to four times
 * as long.) */
static uint8_t ack_timeout(const struct verbs_fabric *f)
{
    double silence_s = (double)storm_options_int(f->fabric.env->options,
                                                 "transport.silence_s");
    double all_s = 4.096e-6 * (RETRIES + 1);
    uint8_t n = 0;
    for (; all_s < silence_s && n < MAX_ACK_TIMEOUT; n++)
        all_s *= 2;
    return n;
}

static int rc_to_ready(const struct verbs_fabric *f,
                       const struct verbs_conn *conn, uint32_t qpn,
                       uint32_t psn)
{
    const struct verbs_card *mine = &f->card, *card = &conn->card;
    int max = f->port.device.max_qp_init_rd_atom;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = (enum ibv_mtu)min_u8(mine->mtu, card->mtu),
        .dest_qp_num = qpn,
        .rq_psn = psn,
        .max_dest_rd_atomic = mine->reads,
        .min_rnr_timer = RNR_TIMER,
        .ah_attr = address_of(f, card),
    };
    int error =
        f->port.library.modify_qp(conn->qp, &attr,
                                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                                      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC |
                                      IBV_QP_MIN_RNR_TIMER);
    if (error != 0)
        return error;
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS,
        .sq_psn = conn->psn,
        .timeout = ack_timeout(f),
        .retry_cnt = RETRIES,
        .rnr_retry = RNR_RETRIES,
        .max_rd_atomic =
            min_u8(card->reads,
                   (uint8_t)(max < VERBS_READS ? max : VERBS_READS)),
    };
    return f->port.library.modify_qp(conn->qp, &attr,
                                     IBV_QP_STATE | IBV_QP_SQ_PSN |
                                         IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                         IBV_QP_RNR_RETRY |
                                         IBV_QP_MAX_QP_RD_ATOMIC);
}

static storm_status conn_failed(struct verbs_fabric *f, struct verbs_conn *conn,
                                int error)
{
    storm_log_write(log_of(f), STORM_LOG_ERROR,
                    "ibv: cannot connect to rank %d: %s", conn->peer,
                    strerror(error));
    if (conn->state == VERBS_CONNECTING)
        f->n_connecting--;
    conn->state = VERBS_BROKEN;
    f->failed = STORM_ERR_FABRIC;
    return STORM_ERR_FABRIC;
}

/* ---- datagrams ------------------------------------------------------------*/

static unsigned char *slot_at(const struct verbs_handshake *handshake,
                              uint32_t i)
{
    return (unsigned char *)handshake->memory.base + (size_t)i * SLOT_BYTES;
}

static int post_receive(struct verbs_fabric *f, uint32_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)slot_at(&f->handshake, i),
                          .length = SLOT_BYTES,
                          .lkey = f->handshake.memory.mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    return ibv_post_recv(f->handshake.qp, &wr, &bad);
}

/* Sends a datagram to a peer. One that cannot be sent counts as lost
 * (IBVCONNECT-4). */
static void send_hello(struct verbs_fabric *f, const struct verbs_conn *conn,
                       enum hello_kind kind)
{
    struct verbs_handshake *handshake = &f->handshake;
    if (handshake->n_sending == N_SEND)
        return;
    unsigned char *slot = slot_at(handshake, N_RECEIVE + handshake->next_send);
    struct hello hello = {
        .nonce = f->nonce,
        .from = f->fabric.boot.rank,
        .kind = kind,
        .qpn = conn->qp->qp_num,
        .psn = conn->psn,
        .card = f->card,
    };
    memcpy(slot, &hello, sizeof hello);
    struct ibv_sge sge = {.addr = (uintptr_t)slot,
                          .length = sizeof hello,
                          .lkey = handshake->memory.mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = N_RECEIVE,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.ud = {.ah = conn->ah,
                  .remote_qpn = conn->card.qpn,
                  .remote_qkey = DATAGRAM_KEY},
    };
    struct ibv_send_wr *bad;
    if (ibv_post_send(handshake->qp, &wr, &bad) == 0) {
        handshake->n_sending++;
        handshake->next_send = (handshake->next_send + 1) % N_SEND;
    }
}

static void is_up(struct verbs_fabric *f, struct verbs_conn *conn)
{
    if (conn->state != VERBS_CONNECTING)
        return;
    conn->state = VERBS_UP;
    f->n_connecting--;
}

static void take_hello(struct verbs_fabric *f, const struct hello *hello)
{
    if (hello->nonce != f->nonce || hello->from < 0 ||
        hello->from >= f->fabric.boot.size)
        return; /* of another fabric */
    struct verbs_conn *conn;
    storm_status status = verbs_conn_make(f, hello->from, &hello->card, &conn);
    if (status < 0) {
        f->failed = STORM_ERR_FABRIC; /* no caller gets the status */
        return;
    }
    if (conn->state == VERBS_BROKEN)
        return;
    if (!conn->knows_peer) { /* IBVCONNECT-1 */
        int error = rc_to_ready(f, conn, hello->qpn, hello->psn);
        if (error != 0) {
            conn_failed(f, conn, error);
            return;
        }
        conn->knows_peer = true;
    }
    if (hello->kind == HELLO) /* IBVCONNECT-2 */
        send_hello(f, conn, REPLY);
    if (hello->kind == REPLY)
        send_hello(f, conn, READY);
    if (hello->kind == REPLY || hello->kind == READY) /* IBVCONNECT-3 */
        is_up(f, conn);
}

static void read_handshakes(struct verbs_fabric *f)
{
    struct ibv_wc wc[8];
    int n = ibv_poll_cq(f->handshake.cq, 8, wc);
    if (n < 0)
        verbs_fail(f, "datagrams cannot be read", errno);
    for (int i = 0; i < n; i++) {
        if (wc[i].wr_id == N_RECEIVE) {
            f->handshake.n_sending--;
            continue;
        }
        uint32_t slot = (uint32_t)wc[i].wr_id;
        struct hello hello;
        memcpy(&hello, slot_at(&f->handshake, slot) + GRH_BYTES, sizeof hello);
        bool whole = wc[i].status == IBV_WC_SUCCESS &&
                     wc[i].byte_len == GRH_BYTES + sizeof hello;
        int error = post_receive(f, slot);
        if (error != 0)
            verbs_fail(f, "datagrams cannot be received", error);
        if (whole)
            take_hello(f, &hello);
    }
}

static void repeat_hello(struct verbs_fabric *f, struct verbs_conn *conn,
                         double now_s)
{
    send_hello(f, conn, conn->knows_peer ? REPLY : HELLO); /* IBVCONNECT-4 */
    conn->hello_s = now_s + conn->pause_s;
    if (conn->pause_s < last_pause_s)
        conn->pause_s *= 2;
    if (now_s - conn->since_s > warn_after_s && !conn->warned) {
        conn->warned = true;
        storm_log_write(log_of(f), STORM_LOG_WARN,
                        "ibv: rank %d has not answered for %.0f s; still "
                        "trying",
                        conn->peer, warn_after_s);
    }
}

void verbs_connect_poll(struct verbs_fabric *f)
{
    read_handshakes(f);
    if (f->n_connecting == 0)
        return;
    double now_s = storm_clock_seconds();
    for (size_t i = 0; i < f->n_conns; i++)
        if (f->conns[i]->state == VERBS_CONNECTING &&
            now_s >= f->conns[i]->hello_s)
            repeat_hello(f, f->conns[i], now_s);
}

static int ud_to_ready(const struct verbs_fabric *f, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .pkey_index = f->port.pkey_index,
        .port_num = f->port.number,
        .qkey = DATAGRAM_KEY,
    };
    int error = f->port.library.modify_qp(qp, &attr,
                                          IBV_QP_STATE | IBV_QP_PKEY_INDEX |
                                              IBV_QP_PORT | IBV_QP_QKEY);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR};
    if (error == 0)
        error = f->port.library.modify_qp(qp, &attr, IBV_QP_STATE);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS};
    if (error == 0)
        error =
            f->port.library.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    return error;
}

storm_status verbs_handshake_open(struct verbs_fabric *f)
{
    struct verbs_handshake *handshake = &f->handshake;
    storm_status status = size_queues(f);
    storm_pace_begin(&handshake->pace, LOOK_EVERY, look_every_s);
    if (status == STORM_OK)
        status = verbs_memory_make(f, (size_t)(N_RECEIVE + N_SEND) * SLOT_BYTES,
                                   &handshake->memory);
    if (status < 0)
        return status;
    errno = 0;
    handshake->cq =
        f->port.library.create_cq(f->port.context, N_RECEIVE + N_SEND, NULL,
                                  NULL, 0);
    struct ibv_qp_init_attr want = {
        .send_cq = handshake->cq,
        .recv_cq = handshake->cq,
        .cap = {.max_send_wr = N_SEND,
                .max_recv_wr = N_RECEIVE,
                .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    handshake->qp =
        handshake->cq ? f->port.library.create_qp(f->pd, &want) : NULL;
    int error = handshake->qp ? ud_to_ready(f, handshake->qp) : errno;
    for (uint32_t i = 0; error == 0 && i < N_RECEIVE; i++)
        error = post_receive(f, i);
    if (error != 0) {
        verbs_log_denied(f, error, "a queue pair for datagrams");
        return STORM_ERR_FABRIC;
    }
    return STORM_OK;
}

void verbs_handshake_close(struct verbs_fabric *f)
{
    if (f->handshake.qp)
        f->port.library.destroy_qp(f->handshake.qp);
    if (f->handshake.cq)
        f->port.library.destroy_cq(f->handshake.cq);
    verbs_memory_free(f, &f->handshake.memory);
}

/* ---- connections ----------------------------------------------------------*/

/* Memory, queue pair and address of a connection. */
static storm_status fill_conn(struct verbs_fabric *f, struct verbs_conn *conn)
{
    struct storm_memory *memory = f->fabric.env->memory;
    conn->entry =
        storm_alloc(memory, "ibv connections", f->depth * sizeof *conn->entry);
    if (!conn->entry)
        return STORM_ERR_NOMEM;
    storm_status status =
        verbs_memory_make(f, f->depth * sizeof *conn->word, &conn->words);
    if (status < 0)
        return status;
    conn->word = conn->words.base;
    struct ibv_ah_attr address = address_of(f, &conn->card);
    errno = 0;
    conn->ah = f->port.library.create_ah(f->pd, &address);
    conn->qp = conn->ah ? try_rc(f, f->depth, f->inline_bytes) : NULL;
    int error = conn->qp ? rc_to_init(f, conn->qp) : errno;
    if (error != 0) {
        verbs_log_denied(f, error,
                         "a queue pair for rank %d, number %zu of this rank "
                         "(the device has %d)",
                         conn->peer, f->n_conns + 1, f->port.device.max_qp);
        return STORM_ERR_FABRIC;
    }
    return STORM_OK;
}

static storm_status begin(struct verbs_fabric *f, struct verbs_conn *conn)
{
    if (conn->peer == f->fabric.boot.rank) { /* FABRIC-13: a pair with itself */
        int error = rc_to_ready(f, conn, conn->qp->qp_num, conn->psn);
        if (error != 0)
            return conn_failed(f, conn, error);
        conn->knows_peer = true;
        is_up(f, conn);
        return STORM_OK;
    }
    double now_s = storm_clock_seconds();
    conn->since_s = now_s;
    conn->pause_s = first_pause_s;
    conn->hello_s = now_s; /* at the next poll */
    return STORM_OK;
}

struct verbs_conn *verbs_conn_find(const struct verbs_fabric *f, int peer)
{
    for (size_t i = 0; i < f->n_conns; i++)
        if (f->conns[i]->peer == peer)
            return f->conns[i];
    return NULL;
}

storm_status verbs_conn_make(struct verbs_fabric *f, int peer,
                             const struct verbs_card *card,
                             struct verbs_conn **conn_out)
{
    struct verbs_conn *known = verbs_conn_find(f, peer);
    if (known) {
        *conn_out = known;
        return STORM_OK;
    }
    struct storm_memory *memory = f->fabric.env->memory;
    void *list = f->conns;
    storm_status status =
        storm_reserve(memory, "ibv connections", sizeof *f->conns,
                      f->n_conns + 1, &list, &f->conns_capacity);
    if (status < 0)
        return status;
    f->conns = list;
    struct verbs_conn *conn =
        storm_alloc(memory, "ibv connections", sizeof *conn);
    if (!conn)
        return STORM_ERR_NOMEM;
    conn->peer = peer;
    conn->card = *card;
    conn->index = (uint32_t)f->n_conns;
    status = fill_conn(f, conn);
    if (status < 0) {
        verbs_conn_free(f, conn);
        return status;
    }
    /* Any number, but not that of an earlier pair. */
    conn->psn = (conn->qp->qp_num * 7919u + (uint32_t)f->nonce) & PSN_MASK;
    f->conns[f->n_conns++] = conn;
    f->n_connecting++;
    status = begin(f, conn);
    if (status == STORM_OK)
        *conn_out = conn;
    return status;
}

void verbs_conn_free(struct verbs_fabric *f, struct verbs_conn *conn)
{
    if (conn->qp)
        f->port.library.destroy_qp(conn->qp);
    if (conn->ah)
        f->port.library.destroy_ah(conn->ah);
    verbs_memory_free(f, &conn->words);
    storm_free(f->fabric.env->memory, conn->entry);
    storm_free(f->fabric.env->memory, conn);
}
