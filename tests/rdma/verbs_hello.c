/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 120 */
/*
 * IBVCONNECT-1 to IBVCONNECT-4 of ibv_connect.c: whoever begins, and though
 * most datagrams are lost and others come twice, every two ranks that want to
 * end up with one queue pair each, and ranks that do not want to with none,
 * unless the self-test of open has connected them.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "fabric/ibv/ibv_fabric.h"
#include "support/conform.h"
#include "support/threads.h"

enum { N_RANKS = 5, N_ROUNDS = 6, WRONG_KEY = 1 };

static int (*post_send)(struct ibv_qp *, struct ibv_send_wr *,
                        struct ibv_send_wr **);
static atomic_uint_least64_t n_lost, n_doubled;
static _Thread_local struct dice dice;

/* Datagrams with a wrong key are dropped where they arrive. */
static int lossy_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                           struct ibv_send_wr **bad)
{
    if (qp->qp_type == IBV_QPT_UD) {
        struct ibv_send_wr twin = *wr;
        uint64_t fate = dice_roll(&dice, 4);
        twin.send_flags = 0;
        if (fate == 0) {
            atomic_fetch_add(&n_doubled, 1);
            CHECK_EQ(post_send(qp, &twin, bad), 0);
        } else if (fate < 3) {
            atomic_fetch_add(&n_lost, 1);
            wr->wr.ud.remote_qkey = WRONG_KEY;
        }
    }
    return post_send(qp, wr, bad);
}

/* Does `rank` write to `peer` in this round? */
static bool wants(uint64_t seed, int rank, int peer)
{
    return dice_mix(seed * 64 + (uint64_t)(rank * N_RANKS + peer)) % 2 == 0;
}

/* The self-test writes to the next rank. */
static bool tested(int rank, int peer)
{
    return (rank + 1) % N_RANKS == peer || (peer + 1) % N_RANKS == rank;
}

static void one_round(struct conform *c)
{
    const struct storm_fabric_ops *ops = c->fabric->ops;
    struct verbs_fabric *f = (struct verbs_fabric *)c->fabric;
    struct storm_region *region = conform_alloc(c, 8 * N_RANKS);
    struct storm_region_desc mine, all[N_RANKS];
    struct storm_remote *remote[N_RANKS] = {NULL};
    struct storm_ticket ticket = {0};
    ops->describe(c->fabric, region, &mine);
    CHECK_OK(storm_boot_allgather(c->boot, &mine, sizeof mine, all));
    for (uint64_t n = dice_roll(&dice, 400); n > 0; n--)
        conform_poll(c, n);
    for (int i = 0; i < N_RANKS; i++)
        if (wants(c->seed, c->rank, i)) {
            CHECK_OK(ops->attach(c->fabric, i, &all[i], &remote[i]));
            conform_put_word(c, remote[i], 8 * (uint64_t)c->rank, c->seed,
                             &ticket);
        }
    conform_wait(c, &ticket);
    conform_fence(c);

    size_t n_peers = 0;
    for (int i = 0; i < N_RANKS; i++) {
        bool in = wants(c->seed, i, c->rank), out = wants(c->seed, c->rank, i);
        CHECK_EQ(atomic_load(conform_word(region, 8 * (uint64_t)i)),
                 in ? c->seed : 0);
        bool wanted = in || out || tested(c->rank, i);
        CHECK((verbs_conn_find(f, i) != NULL) == wanted);
        CHECK(!out || verbs_conn_find(f, i)->state == VERBS_UP);
        n_peers += wanted;
        if (remote[i])
            ops->detach(c->fabric, remote[i]);
    }
    CHECK_EQ(f->n_conns, n_peers);
    conform_release(c, region);
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    struct conform c = {.boot = boot, .rank = boot->rank, .size = boot->size};
    (void)self;
    for (c.seed = 1; c.seed <= N_ROUNDS; c.seed++) {
        dice = dice_make(c.seed, (uint64_t)boot->rank);
        check_where("round %d, rank %d", (int)c.seed, boot->rank);
        CHECK_OK(storm_fabric_ibv.open(env, boot, &c.fabric));
        c.data = c.fabric->data;
        struct verbs_fabric *f = (struct verbs_fabric *)c.fabric;
        if (boot->rank == 0)
            post_send = f->port.context->ops.post_send;
        conform_fence(&c);
        f->port.context->ops.post_send = lossy_post_send;
        one_round(&c);
        c.fabric->ops->close(c.fabric);
    }
}

int main(void)
{
    char reason[256] = "";
    if (storm_fabric_ibv.probe(reason, sizeof reason) < 0) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    threads_run(N_RANKS, rank_main, NULL);
    printf("%llu datagrams lost, %llu doubled\n",
           (unsigned long long)atomic_load(&n_lost),
           (unsigned long long)atomic_load(&n_doubled));
    CHECK(atomic_load(&n_lost) > 0 && atomic_load(&n_doubled) > 0);
    return CHECK_PASS;
}
