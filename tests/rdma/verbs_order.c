/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * SELFTEST-2: a device whose words overtake the data that were put before them
 * is refused, in words that say so; one that keeps order is not.
 */
#include <string.h>

#include "fabric/ibv/ibv_fabric.h"
#include "rdma/adapter.h"

/* Requests held back until the next poll; only this thread's. */
static _Thread_local struct {
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *,
                     struct ibv_send_wr **);
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    struct ibv_qp *qp;
    struct ibv_send_wr wr[VERBS_QUEUE];
    struct ibv_sge sge[VERBS_QUEUE];
    int n;
} held;

/* Only the last request of a chain goes at once. */
static int post_last_first(struct ibv_qp *qp, struct ibv_send_wr *wr,
                           struct ibv_send_wr **bad)
{
    for (; wr->next; wr = wr->next) {
        held.sge[held.n] = *wr->sg_list;
        held.wr[held.n] = *wr;
        held.wr[held.n].sg_list = &held.sge[held.n];
        held.wr[held.n].next = NULL;
        held.wr[held.n++].send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
    }
    held.qp = qp;
    return held.post_send(qp, wr, bad);
}

static int poll_and_post(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    struct ibv_send_wr *bad;
    for (int i = 0; i < held.n; i++)
        CHECK_EQ(held.post_send(held.qp, &held.wr[i], &bad), 0);
    held.n = 0;
    return held.poll_cq(cq, n, wc);
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    struct storm_log *log = (struct storm_log *)&env->log;
    struct storm_log before = *log;
    struct storm_fabric *fabric;
    char line[ADAPTER_LINE] = "";
    (void)self;
    CHECK_OK(storm_fabric_ibv.open(env, boot, &fabric));
    struct verbs_fabric *f = (struct verbs_fabric *)fabric;
    CHECK_OK(verbs_selftest(f));
    struct ibv_context_ops *ops = &f->port.context->ops;
    held.post_send = ops->post_send;
    held.poll_cq = ops->poll_cq;
    ops->post_send = post_last_first;
    ops->poll_cq = poll_and_post;
    log->sink = adapter_keep_line;
    log->self = line;
    CHECK_EQ(verbs_selftest(f), STORM_ERR_NOSUP);
    *log = before;
    ops->post_send = held.post_send;
    ops->poll_cq = held.poll_cq;
    CHECK(strstr(line, "a word arrives before the data") != NULL);
    fabric->ops->close(fabric);
}

int main(void)
{
    return adapter_run(rank_main);
}
