/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting: how two ranks come to know each other's queue pair.
 *
 * Each rank makes exactly one queue pair for a peer, for whatever reason it
 * does so first, and never another. So two that begin at the same time, and
 * datagrams that come twice, late or out of order, all end in the same pair:
 *
 *   HELLO   my queue pair is Q. Sent until the other's is known.
 *   REPLY   the same, and mine is ready for yours. Sent until READY comes.
 *   READY   I know that you are ready. Only ever an answer to REPLY.
 *
 *   U1  Whatever comes names the sender's queue pair: connect ours to it,
 *       once.
 *   U2  HELLO is answered by REPLY, REPLY by READY, READY by nothing, at any
 *       time.
 *   U3  Operations may start when REPLY or READY has come: both ends are then
 *       ready to receive.
 *   U4  Until then a rank repeats what it has to say, at growing intervals:
 *       datagrams may be lost.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/ibv/ibv_fabric.h"

enum {
    N_RECEIVE = 192, /* datagrams that may wait for us */
    N_SEND = 64,
    SLOT_BYTES = 64,
    GRH_BYTES = 40, /* in front of every datagram that comes */
    MAIL_KEY = 0x53746f72,
    PSN_MASK = 0xffffff,
    PORT_KEY = 0,   /* index of the default partition */
    RNR_TIMER = 12, /* never used, nor are its retries: all is RDMA */
    RNR_RETRIES = 7,
    ACK_TIMEOUT = 17, /* 4.096 us * 2^17 = 0.54 s */
    RETRIES = 6       /* 3.8 s in all; Soft-RoCE takes 7 for endless */
};
static const double first_pause_s = 0.002, last_pause_s = 0.128;
static const double warn_after_s = 10;

enum hello_kind { HELLO = 1, REPLY, READY };

/* A datagram. All ranks run on the same kind of processor. */
struct hello {
    uint64_t nonce;
    int32_t from;
    uint32_t kind;
    uint32_t qpn, psn;
};
_Static_assert(GRH_BYTES + sizeof(struct hello) <= SLOT_BYTES,
               "a datagram fits into its slot");

static const struct storm_log *log_of(const struct verbs_fabric *f)
{
    return &f->fabric.env->log;
}

/* ---- queue pairs ----------------------------------------------------------*/

static struct ibv_ah_attr way_to(const struct verbs_fabric *f, int peer)
{
    const struct verbs_card *card = &f->cards[peer];
    struct ibv_ah_attr way = {
        .dlid = card->lid,
        .is_global = f->port.global,
        .port_num = f->port.number,
    };
    if (f->port.global) {
        memcpy(way.grh.dgid.raw, card->gid, sizeof card->gid);
        way.grh.sgid_index = f->port.gid_index;
        way.grh.hop_limit = 64;
    }
    return way;
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

/* A device says what it grants only when it is asked for a queue pair. */
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
    verbs_say_denied(f, errno, "a queue pair of even 8 requests");
    return STORM_ERR_FABRIC;
}

static int rc_to_init(const struct verbs_fabric *f, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .pkey_index = PORT_KEY,
        .port_num = f->port.number,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC,
    };
    return f->port.library.modify_qp(qp, &attr,
                                     IBV_QP_STATE | IBV_QP_PKEY_INDEX |
                                         IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static uint8_t least(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static int rc_to_ready(const struct verbs_fabric *f,
                       const struct verbs_conn *conn, uint32_t qpn,
                       uint32_t psn)
{
    const struct verbs_card *mine = &f->cards[f->fabric.boot.rank];
    const struct verbs_card *card = &f->cards[conn->peer];
    int most = f->port.device.max_qp_init_rd_atom;
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = (enum ibv_mtu)least(mine->mtu, card->mtu),
        .dest_qp_num = qpn,
        .rq_psn = psn,
        .max_dest_rd_atomic = mine->reads,
        .min_rnr_timer = RNR_TIMER,
        .ah_attr = way_to(f, conn->peer),
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
        .timeout = ACK_TIMEOUT,
        .retry_cnt = RETRIES,
        .rnr_retry = RNR_RETRIES,
        .max_rd_atomic =
            least(card->reads,
                  (uint8_t)(most < VERBS_READS ? most : VERBS_READS)),
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

static unsigned char *slot_at(const struct verbs_mail *mail, uint32_t i)
{
    return (unsigned char *)mail->memory.base + (size_t)i * SLOT_BYTES;
}

static int post_receive(struct verbs_fabric *f, uint32_t i)
{
    struct ibv_sge sge = {.addr = (uintptr_t)slot_at(&f->mail, i),
                          .length = SLOT_BYTES,
                          .lkey = f->mail.memory.mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    return ibv_post_recv(f->mail.qp, &wr, &bad);
}

/* Says what there is to say to a peer. One that does not get away is as good
 * as lost (U4). */
static void send_hello(struct verbs_fabric *f, const struct verbs_conn *conn,
                       enum hello_kind kind)
{
    struct verbs_mail *mail = &f->mail;
    if (mail->n_sending == N_SEND)
        return;
    unsigned char *slot = slot_at(mail, N_RECEIVE + mail->next_send);
    struct hello hello = {
        .nonce = f->cards[0].nonce,
        .from = f->fabric.boot.rank,
        .kind = kind,
        .qpn = conn->qp->qp_num,
        .psn = conn->psn,
    };
    memcpy(slot, &hello, sizeof hello);
    struct ibv_sge sge = {.addr = (uintptr_t)slot,
                          .length = sizeof hello,
                          .lkey = mail->memory.mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = N_RECEIVE,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
        .wr.ud = {.ah = conn->ah,
                  .remote_qpn = f->cards[conn->peer].qpn,
                  .remote_qkey = MAIL_KEY},
    };
    struct ibv_send_wr *bad;
    if (ibv_post_send(mail->qp, &wr, &bad) == 0) {
        mail->n_sending++;
        mail->next_send = (mail->next_send + 1) % N_SEND;
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
    if (hello->nonce != f->cards[0].nonce || hello->from < 0 ||
        hello->from >= f->fabric.boot.size)
        return; /* somebody else's */
    struct verbs_conn *conn;
    storm_status status = verbs_conn_make(f, hello->from, &conn);
    if (status < 0) {
        f->failed = STORM_ERR_FABRIC; /* nobody else asks for it */
        return;
    }
    if (conn->state == VERBS_BROKEN)
        return;
    if (!conn->knows_peer) { /* U1 */
        int error = rc_to_ready(f, conn, hello->qpn, hello->psn);
        if (error != 0) {
            conn_failed(f, conn, error);
            return;
        }
        conn->knows_peer = true;
    }
    if (hello->kind == HELLO) /* U2 */
        send_hello(f, conn, REPLY);
    if (hello->kind == REPLY)
        send_hello(f, conn, READY);
    if (hello->kind == REPLY || hello->kind == READY) /* U3 */
        is_up(f, conn);
}

static void read_mail(struct verbs_fabric *f)
{
    struct ibv_wc wc[8];
    int n = ibv_poll_cq(f->mail.cq, 8, wc);
    if (n < 0)
        verbs_fail(f, "datagrams cannot be read", errno);
    for (int i = 0; i < n; i++) {
        if (wc[i].wr_id == N_RECEIVE) {
            f->mail.n_sending--;
            continue;
        }
        uint32_t slot = (uint32_t)wc[i].wr_id;
        struct hello hello;
        memcpy(&hello, slot_at(&f->mail, slot) + GRH_BYTES, sizeof hello);
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
    send_hello(f, conn, conn->knows_peer ? REPLY : HELLO); /* U4 */
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
    read_mail(f);
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
        .pkey_index = PORT_KEY,
        .port_num = f->port.number,
        .qkey = MAIL_KEY,
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

storm_status verbs_mail_open(struct verbs_fabric *f)
{
    struct verbs_mail *mail = &f->mail;
    storm_status status = size_queues(f);
    if (status == STORM_OK)
        status = verbs_memory_make(f, (size_t)(N_RECEIVE + N_SEND) * SLOT_BYTES,
                                   &mail->memory);
    if (status < 0)
        return status;
    errno = 0;
    mail->cq = f->port.library.create_cq(f->port.context, N_RECEIVE + N_SEND,
                                         NULL, NULL, 0);
    struct ibv_qp_init_attr want = {
        .send_cq = mail->cq,
        .recv_cq = mail->cq,
        .cap = {.max_send_wr = N_SEND,
                .max_recv_wr = N_RECEIVE,
                .max_send_sge = 1,
                .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    mail->qp = mail->cq ? f->port.library.create_qp(f->pd, &want) : NULL;
    int error = mail->qp ? ud_to_ready(f, mail->qp) : errno;
    for (uint32_t i = 0; error == 0 && i < N_RECEIVE; i++)
        error = post_receive(f, i);
    if (error != 0) {
        verbs_say_denied(f, error, "a queue pair for datagrams");
        return STORM_ERR_FABRIC;
    }
    return STORM_OK;
}

void verbs_mail_close(struct verbs_fabric *f)
{
    if (f->mail.qp)
        f->port.library.destroy_qp(f->mail.qp);
    if (f->mail.cq)
        f->port.library.destroy_cq(f->mail.cq);
    verbs_memory_free(f, &f->mail.memory);
}

/* ---- connections ----------------------------------------------------------*/

/* Everything of a connection that the library and the device give. */
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
    struct ibv_ah_attr way = way_to(f, conn->peer);
    errno = 0;
    conn->ah = f->port.library.create_ah(f->pd, &way);
    conn->qp = conn->ah ? try_rc(f, f->depth, f->inline_bytes) : NULL;
    int error = conn->qp ? rc_to_init(f, conn->qp) : errno;
    if (error != 0) {
        verbs_say_denied(f, error,
                         "a queue pair for rank %d, number %zu of this rank "
                         "(it has %d for all)",
                         conn->peer, f->n_conns + 1, f->port.device.max_qp);
        return STORM_ERR_FABRIC;
    }
    return STORM_OK;
}

static storm_status begin(struct verbs_fabric *f, struct verbs_conn *conn)
{
    if (conn->peer == f->fabric.boot.rank) { /* F13: a pair with itself */
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

storm_status verbs_conn_make(struct verbs_fabric *f, int peer,
                             struct verbs_conn **conn_out)
{
    if (f->conn_of_rank[peer]) {
        *conn_out = f->conn_of_rank[peer];
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
    conn->index = (uint32_t)f->n_conns;
    status = fill_conn(f, conn);
    if (status < 0) {
        verbs_conn_free(f, conn);
        return status;
    }
    /* Any number will do, but not that of a pair which was here before. */
    conn->psn =
        (conn->qp->qp_num * 7919u + (uint32_t)f->cards[0].nonce) & PSN_MASK;
    f->conns[f->n_conns++] = conn;
    f->conn_of_rank[peer] = conn;
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
