/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 120 */
/*
 * F3 when things go wrong: memory that its owner has released, and a peer that
 * no longer answers. Every operation under way completes, once, its ticket says
 * STORM_ERR_FABRIC, one message names the peer, later operations to it are
 * refused, and those to others go on.
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

static void wait_any(struct conform *c, const struct storm_ticket *ticket)
{
    for (uint64_t n = 0; ticket->pending > 0; n++) {
        CHECK(ticket->pending <= N_OPS);
        conform_poll(c, n);
    }
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

static void at_victim(struct conform *c, struct conform_share *share,
                      bool silent)
{
    if (silent) {
        struct verbs_fabric *f = (struct verbs_fabric *)c->fabric;
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
        CHECK_EQ(ibv_modify_qp(f->conn_of_rank[0]->qp, &attr, IBV_QP_STATE), 0);
    } else {
        conform_release(c, share->region);
        share->region = NULL;
    }
}

static void at_sender(struct conform *c, struct conform_share *share,
                      struct storm_region *local, bool silent)
{
    struct ear ear = {0};
    struct storm_log *log = (struct storm_log *)&c->fabric->env->log;
    struct storm_log before = *log;
    struct storm_ticket ticket = {0}, other = {0};
    log->sink = listen;
    log->self = &ear;
    CHECK(!pour(c, share->remote[VICTIM], local, &ticket));
    CHECK(ticket.pending > 0);
    wait_any(c, &ticket);
    CHECK_EQ(ticket.status, STORM_ERR_FABRIC);
    CHECK(pour(c, share->remote[VICTIM], local, &ticket));
    CHECK_EQ(ticket.pending, 0);
    printf("%s: %s\n", silent ? "no answer" : "no memory", ear.last);
    CHECK_EQ(ear.n_errors, 1);
    CHECK(strstr(ear.last, "rank 1 ") != NULL);
    CHECK(strstr(ear.last, silent ? "retry" : "access") != NULL);
    pour(c, share->remote[2], local, &other);
    conform_wait(c, &other);
    *log = before;
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    bool silent = *(const bool *)self;
    struct conform c = {.boot = boot, .rank = boot->rank, .size = boot->size};
    struct conform_share share;
    check_where("%s, rank %d", silent ? "no answer" : "no memory", boot->rank);
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
        at_victim(&c, &share, silent);
    conform_fence(&c);
    if (c.rank == 0)
        at_sender(&c, &share, local, silent);
    conform_fence(&c);
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
    for (int silent = 0; silent < 2; silent++) {
        bool is_silent = silent;
        threads_run(N_RANKS, rank_main, &is_silent);
    }
    return CHECK_PASS;
}
