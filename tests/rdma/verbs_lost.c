/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 120 */
/*
 * FABRIC-3 when things go wrong: memory that its owner has released, a peer
 * that no longer answers, and one that no longer answers a rank that only
 * waits. Every operation under way completes, once, its ticket says
 * STORM_ERR_FABRIC, one message names the peer, later operations to it are
 * refused, poll reports that the fabric is broken, and operations to others
 * still go on.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/ibv/ibv_fabric.h"
#include "support/conform.h"
#include "support/threads.h"

enum { N_RANKS = 3, VICTIM = 1, N_BYTES = 256, N_OPS = 40 };

struct ear {
    int n_errors;
    char last[1024];
};

static void listen(void *self, storm_log_level level, int rank,
                   const char *message)
{
    struct ear *ear = self;
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    ear->n_errors++;
    snprintf(ear->last, sizeof ear->last, "%s", message);
}

/* Polls as long as it takes, whatever poll answers. */
static void wait_any(struct conform *c, const struct storm_ticket *ticket)
{
    for (uint64_t n = 0; ticket->pending > 0; n++) {
        CHECK(ticket->pending <= N_OPS);
        (void)c->data->idle(c->fabric, n);
    }
}

static void fence_any(struct conform *c)
{
    storm_status status;
    for (uint64_t n = 0;
         (status = c->boot->barrier_try(c->boot->self)) == STORM_AGAIN; n++)
        (void)c->data->idle(c->fabric, n);
    CHECK_OK(status);
}

/* Many of every kind, as far as they are taken; was one refused? */
static bool pour(struct conform *c, struct storm_remote *to,
                 struct storm_region *local, struct storm_ticket *ticket)
{
    static _Thread_local uint64_t old;
    struct storm_transfer t = {
        .remote = to, .local = local, .bytes = N_BYTES, .ticket = ticket};
    struct storm_atomic a = {.remote = to, .old_out = &old, .ticket = ticket};
    for (int i = 0; i < N_OPS; i++) {
        storm_status status = i % 4 == 0   ? c->data->put(&t)
                              : i % 4 == 1 ? c->data->put_word(to, 0, 1, ticket)
                              : i % 4 == 2 ? c->data->get(&t)
                                           : c->data->fetch_add(&a);
        if (status == STORM_ERR_FABRIC)
            return true;
        CHECK(status == STORM_OK || status == STORM_AGAIN);
    }
    return false;
}

enum loss { NO_MEMORY, NO_ANSWER, ONLY_WAIT, N_LOSSES };
static const char *const loss_name[] = {"no memory", "no answer", "only wait"};

static void at_victim(struct conform *c, struct conform_share *share,
                      enum loss loss)
{
    struct verbs_fabric *f = (struct verbs_fabric *)c->fabric;
    struct verbs_conn *conn = verbs_conn_find(f, 0);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    conn->state = VERBS_BROKEN; /* what it makes of it is of no interest */
    if (loss == NO_MEMORY) {
        conform_release(c, share->region);
        share->region = NULL;
    } else {
        CHECK_EQ(f->port.library.modify_qp(conn->qp, &attr, IBV_QP_STATE), 0);
    }
}

static void at_sender(struct conform *c, struct conform_share *share,
                      struct storm_region *local, enum loss loss)
{
    struct ear ear = {0};
    struct storm_log *log = (struct storm_log *)&c->fabric->env->log;
    struct storm_log before = *log;
    struct storm_ticket ticket = {0}, other = {0};
    log->sink = listen;
    log->self = &ear;
    CHECK_OK(c->data->poll(c->fabric));
    if (loss == ONLY_WAIT) {
        for (uint64_t n = 0; c->data->idle(c->fabric, n) == STORM_OK;)
            n++;
    } else {
        CHECK(!pour(c, share->remote[VICTIM], local, &ticket));
        CHECK(ticket.pending > 0);
        wait_any(c, &ticket);
        CHECK_EQ(ticket.status, STORM_ERR_FABRIC);
    }
    CHECK(pour(c, share->remote[VICTIM], local, &ticket));
    CHECK_EQ(ticket.pending, 0);
    CHECK_EQ(c->data->poll(c->fabric), STORM_ERR_FABRIC);
    printf("%s: %s\n", loss_name[loss], ear.last);
    CHECK_EQ(ear.n_errors, 1);
    CHECK(strstr(ear.last, "rank 1 ") != NULL);
    CHECK(strstr(ear.last, loss == NO_MEMORY ? "access" : "retry") != NULL);
    pour(c, share->remote[2], local, &other);
    CHECK(other.pending > 0);
    wait_any(c, &other);
    CHECK_OK(other.status);
    *log = before;
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    enum loss loss = *(const enum loss *)self;
    struct conform c = {.boot = boot, .rank = boot->rank, .size = boot->size};
    struct conform_share share;
    check_where("%s, rank %d", loss_name[loss], boot->rank);
    CHECK_OK(storm_fabric_ibv.open(env, boot, &c.fabric));
    c.data = c.fabric->data;
    conform_share_open(&c, N_BYTES, &share);
    struct storm_region *local = conform_alloc(&c, N_BYTES);
    struct storm_ticket ticket = {0};
    for (int i = 0; i < N_RANKS; i++)
        conform_put_word(&c, share.remote[i], 8 * (uint64_t)c.rank, 1, &ticket);
    conform_wait(&c, &ticket);
    conform_fence(&c);
    if (c.rank == VICTIM)
        at_victim(&c, &share, loss);
    conform_fence(&c);
    if (c.rank == 0)
        at_sender(&c, &share, local, loss);
    fence_any(&c);
    conform_release(&c, local);
    if (!share.region)
        share.region = conform_alloc(&c, N_BYTES);
    conform_share_close(&c, &share);
    c.fabric->ops->close(c.fabric);
}

int main(void)
{
    char reason[256] = "";
    if (storm_fabric_ibv.probe(reason, sizeof reason) < 0) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    for (int i = 0; i < N_LOSSES; i++) {
        enum loss loss = (enum loss)i;
        threads_run(N_RANKS, rank_main, &loss);
    }
    return CHECK_PASS;
}
