/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * IBVDATA-1 to IBVDATA-3 of ibv_data.c, seen from the adapter: records and the
 * word behind them are posted together, the word inside the request. The word
 * asks for its completion, which a ring waits for; of puts alone one in many
 * does, and the last.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "fabric/ibv/ibv_fabric.h"
#include "rdma/adapter.h"
#include "support/conform.h"

enum { N_PAIRS = 48, N_BYTES = 512 };

/* What the adapter was given, and gave back; only this thread's. */
static _Thread_local struct {
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *,
                     struct ibv_send_wr **);
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
    uint64_t calls, requests, asked, words_inline, completions;
} seen;

static int watch_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                           struct ibv_send_wr **bad)
{
    seen.calls++;
    for (const struct ibv_send_wr *i = wr; i; i = i->next) {
        seen.requests++;
        seen.asked += (i->send_flags & IBV_SEND_SIGNALED) != 0;
        seen.words_inline += i->num_sge == 1 && i->sg_list->length == 8 &&
                             (i->send_flags & IBV_SEND_INLINE) != 0;
    }
    return seen.post_send(qp, wr, bad);
}

static int watch_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    int got = seen.poll_cq(cq, n, wc);
    seen.completions += got > 0 ? (uint64_t)got : 0;
    return got;
}

static struct storm_transfer records(struct conform_share *share,
                                     struct storm_region *local,
                                     struct storm_ticket *ticket)
{
    return (struct storm_transfer){.remote = share->remote[0],
                                   .remote_offset = 64,
                                   .local = local,
                                   .bytes = N_BYTES,
                                   .ticket = ticket};
}

static void pour(struct conform *c, struct conform_share *share,
                 struct storm_region *local)
{
    struct storm_ticket ticket = {0};
    struct storm_transfer t = records(share, local, &ticket);
    for (uint64_t i = 1; i <= N_PAIRS; i++) {
        CHECK_OK(c->data->put(&t));
        CHECK_OK(c->data->put_word(share->remote[0], 0, i, &ticket));
    }
    CHECK_EQ(seen.calls, N_PAIRS); /* IBVDATA-1 */
    CHECK_EQ(seen.requests, 2 * N_PAIRS);
    CHECK_EQ(seen.words_inline, N_PAIRS);
    CHECK_EQ(seen.asked, N_PAIRS); /* IBVDATA-2 */
    CHECK_EQ(ticket.pending, 2 * N_PAIRS);
    conform_wait(c, &ticket);
    CHECK_EQ(seen.completions, N_PAIRS);
    CHECK_EQ(seen.requests, 2 * N_PAIRS); /* none only to ask */
    CHECK_EQ(atomic_load(conform_word(share->region, 0)), N_PAIRS);
}

/* Puts that no word follows. */
static void drip(struct conform *c, struct conform_share *share,
                 struct storm_region *local)
{
    struct storm_ticket ticket = {0};
    struct storm_transfer t = records(share, local, &ticket);
    uint64_t requests = seen.requests, asked = seen.asked;
    for (uint64_t i = 0; i < VERBS_SIGNAL_EVERY + 3; i++)
        CHECK_OK(c->data->put(&t));
    conform_wait(c, &ticket);
    CHECK_EQ(seen.requests - requests, VERBS_SIGNAL_EVERY + 3);
    CHECK_EQ(seen.asked - asked, 2); /* IBVDATA-3 */
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    struct conform c = {.boot = boot, .rank = boot->rank, .size = boot->size};
    struct conform_share share;
    (void)self;
    CHECK_OK(storm_fabric_ibv.open(env, boot, &c.fabric));
    c.data = c.fabric->data;
    struct verbs_fabric *f = (struct verbs_fabric *)c.fabric;
    conform_share_open(&c, 64 + N_BYTES, &share);
    struct storm_region *local = conform_alloc(&c, N_BYTES);
    CHECK(f->inline_bytes >= sizeof(uint64_t));
    CHECK(f->depth > 2 * N_PAIRS);
    for (uint64_t n = 0; f->n_connecting > 0; n++)
        conform_poll(&c, n);
    struct ibv_context_ops *ops = &f->port.context->ops;
    seen.post_send = ops->post_send;
    seen.poll_cq = ops->poll_cq;
    ops->post_send = watch_post_send;
    ops->poll_cq = watch_poll_cq;
    f->ask_s = storm_clock_seconds() + 1000; /* IBVDATA-6 would disturb */
    pour(&c, &share, local);
    drip(&c, &share, local);
    ops->post_send = seen.post_send;
    ops->poll_cq = seen.poll_cq;
    conform_release(&c, local);
    conform_share_close(&c, &share);
    c.fabric->ops->close(c.fabric);
}

int main(void)
{
    return adapter_run(rank_main);
}
