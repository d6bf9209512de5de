/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric over a simulated network, for thousands of ranks in one process
 * (docs/scale.md). All ranks see the same addresses, so an operation is an
 * action at the time of its arrival that copies, adds or swaps in the target's
 * memory; it completes when the news of that is back.
 *
 * The network between nodes is that of base/sim/sim_network.h.
 *
 *   SIMFAB-1  From one rank to one peer, operations arrive in their order of
 *             issue (FABRIC-7).
 *   SIMFAB-2  An action changes memory and marks its operation, poll reaps it:
 *             tickets change in calls of their own rank alone.
 *   SIMFAB-3  No action is pending when a fabric is closed: each belongs to an
 *             operation whose completion close waits for.
 */
#include <stdio.h>
#include <string.h>

#include "base/idle.h"
#include "base/sim/sim_network.h"
#include "base/sim/sim_time.h"
#include "fabric/fabric_ops.h"

enum {
    N_OPERATIONS = 128 /* of a rank, in flight */
};

/* Longest wait of a rank to which nothing comes. */
static const double max_wait_s = 20e-6;

/* From this rank to a peer. */
struct sim_link {
    struct sim_link *next;
    int peer;
    double arrives; /* the last operation: SIMFAB-1 */
};

enum sim_kind { SIM_COPY, SIM_WORD, SIM_ADD, SIM_SWAP };

struct sim_operation {
    struct sim_operation *next;
    enum sim_kind kind;
    bool arrived;
    void *to;         /* COPY; the word of others */
    const void *from; /* COPY */
    size_t bytes;
    uint64_t operand, expected, *old_out;
    struct storm_sim_rank *target;
    struct storm_ticket *ticket;
    double done; /* completed from then on, if it has arrived */
};

struct sim_fabric {
    struct storm_fabric fabric;
    struct storm_sim_rank *rank;
    const struct storm_sim_costs *costs;
    struct sim_link *links;
    struct sim_operation *operations, *free, *flying;
};

/* What a descriptor holds. */
struct sim_card {
    unsigned char *base;
    uint64_t bytes;
    struct storm_sim_rank *rank;
};

struct sim_remote {
    struct storm_remote remote;
    struct sim_card card;
    struct sim_link *link;
};

static struct sim_fabric *sim_of(struct storm_fabric *fabric)
{
    return (struct sim_fabric *)fabric;
}

/* ---- time -----------------------------------------------------------------*/

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Sets the dates of an operation that takes `out` bytes there and brings `back`
 * so many. */
static double set_dates(struct sim_fabric *f, struct sim_remote *r,
                        struct sim_operation *op, size_t out, size_t back)
{
    const struct storm_sim_costs *costs = f->costs;
    struct storm_sim_rank *there = r->card.rank;
    double latency = storm_sim_latency(f->rank, there);
    storm_sim_spend(costs->post_s);
    double date = storm_sim_now();
    if (storm_sim_near(f->rank, there)) {
        double takes = (double)(out + back) / costs->near_bandwidth;
        storm_sim_spend(takes);
        date += takes + latency;
        op->done = date + latency;
    } else {
        date = storm_sim_cross(f->rank, there, date, out);
        if (op->kind == SIM_ADD || op->kind == SIM_SWAP)
            date = storm_sim_atomic(there, date);
        op->done = date + latency + (double)back / costs->bandwidth;
    }
    r->link->arrives = later(date, r->link->arrives);
    op->done = later(op->done, r->link->arrives);
    return r->link->arrives;
}

/* ---- operations -----------------------------------------------------------*/

static void arrive(void *data)
{
    struct sim_operation *op = data;
    uint64_t *word = op->to;
    switch (op->kind) {
    case SIM_COPY:
        memcpy(op->to, op->from, op->bytes);
        break;
    case SIM_WORD:
        *word = op->operand;
        break;
    case SIM_ADD:
        *op->old_out = *word;
        *word += op->operand;
        break;
    case SIM_SWAP:
        *op->old_out = *word;
        if (*word == op->expected)
            *word = op->operand;
        break;
    }
    op->arrived = true;
    storm_sim_wake(op->target);
}

/* A free operation, or NULL. */
static struct sim_operation *begin(struct storm_remote *remote,
                                   struct storm_ticket *ticket)
{
    struct sim_fabric *f = sim_of(remote->fabric);
    struct sim_operation *op = f->free;
    if (!op)
        return NULL;
    f->free = op->next;
    *op = (struct sim_operation){.next = f->flying,
                                 .target =
                                     ((struct sim_remote *)remote)->card.rank,
                                 .ticket = ticket};
    f->flying = op;
    ticket->pending++;
    return op;
}

static void launch(struct storm_remote *remote, struct sim_operation *op,
                   size_t out, size_t back)
{
    struct sim_remote *r = (struct sim_remote *)remote;
    storm_sim_counts()->operations++;
    storm_sim_counts()->bytes += out + back;
    storm_sim_at(set_dates(sim_of(remote->fabric), r, op, out, back), arrive,
                 op);
}

static void *place(const struct storm_remote *remote, uint64_t offset,
                   size_t bytes)
{
    STORM_ASSERT(offset + bytes <= remote->bytes);
    return ((const struct sim_remote *)remote)->card.base + offset;
}

static void *local_place(const struct storm_transfer *t)
{
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    return (unsigned char *)t->local->base + t->local_offset;
}

static storm_status sim_put(const struct storm_transfer *t)
{
    struct sim_operation *op = begin(t->remote, t->ticket);
    if (!op)
        return STORM_AGAIN;
    op->kind = SIM_COPY;
    op->to = place(t->remote, t->remote_offset, t->bytes);
    op->from = local_place(t);
    op->bytes = t->bytes;
    launch(t->remote, op, t->bytes, 0);
    return STORM_OK;
}

static storm_status sim_get(const struct storm_transfer *t)
{
    struct sim_operation *op = begin(t->remote, t->ticket);
    if (!op)
        return STORM_AGAIN;
    op->kind = SIM_COPY;
    op->to = local_place(t);
    op->from = place(t->remote, t->remote_offset, t->bytes);
    op->bytes = t->bytes;
    launch(t->remote, op, 0, t->bytes);
    return STORM_OK;
}

static storm_status sim_put_word(struct storm_remote *remote, uint64_t offset,
                                 uint64_t word, struct storm_ticket *ticket)
{
    struct sim_operation *op = begin(remote, ticket);
    if (!op)
        return STORM_AGAIN;
    op->kind = SIM_WORD;
    op->to = place(remote, offset, sizeof word);
    op->operand = word;
    launch(remote, op, sizeof word, 0);
    return STORM_OK;
}

static storm_status sim_atomic(const struct storm_atomic *a, enum sim_kind kind)
{
    struct sim_operation *op = begin(a->remote, a->ticket);
    if (!op)
        return STORM_AGAIN;
    op->kind = kind;
    op->to = place(a->remote, a->remote_offset, sizeof(uint64_t));
    op->operand = a->operand;
    op->expected = a->expected;
    op->old_out = a->old_out;
    launch(a->remote, op, sizeof(uint64_t), sizeof(uint64_t));
    return STORM_OK;
}

static storm_status sim_add(const struct storm_atomic *a)
{
    return sim_atomic(a, SIM_ADD);
}

static storm_status sim_swap(const struct storm_atomic *a)
{
    return sim_atomic(a, SIM_SWAP);
}

/* ---- progress -------------------------------------------------------------*/

static storm_status sim_poll(struct storm_fabric *fabric)
{
    struct sim_fabric *f = sim_of(fabric);
    storm_sim_spend(f->costs->poll_s);
    double now = storm_sim_now();
    for (struct sim_operation **at = &f->flying; *at;) {
        struct sim_operation *op = *at;
        if (!op->arrived || op->done > now) {
            at = &op->next;
            continue;
        }
        op->ticket->pending--;
        *at = op->next;
        op->next = f->free;
        f->free = op;
    }
    return STORM_OK;
}

/* A rank that polls in a loop sees what comes at once. */
static storm_status sim_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    struct sim_fabric *f = sim_of(fabric);
    double now = storm_sim_now(), until = now + max_wait_s;
    (void)n_empty;
    for (const struct sim_operation *op = f->flying; op; op = op->next)
        if (op->done < until)
            until = op->done;
    if (until > now)
        storm_sim_wait(until - now);
    else if (now > storm_sim_date()) /* what is due has not arrived: let it */
        storm_sim_meet();
    else
        storm_sim_wait(STORM_SIM_MIN_S);
    return sim_poll(fabric);
}

static const struct storm_fabric_data_ops sim_data = {
    .put = sim_put,
    .get = sim_get,
    .put_word = sim_put_word,
    .fetch_add = sim_add,
    .compare_swap = sim_swap,
    .poll = sim_poll,
    .idle = sim_idle,
};

/* ---- life -----------------------------------------------------------------*/

static storm_status sim_probe(char *reason_out, size_t reason_bytes)
{
    (void)reason_out;
    (void)reason_bytes;
    return STORM_OK;
}

static void sim_free(struct sim_fabric *f, struct storm_memory *memory)
{
    while (f && f->links) {
        struct sim_link *next = f->links->next;
        storm_free(memory, f->links);
        f->links = next;
    }
    if (f)
        storm_free(memory, f->operations);
    storm_free(memory, f);
}

static storm_status sim_open(const struct storm_env *env,
                             const struct storm_boot *boot,
                             struct storm_fabric **fabric_out)
{
    struct sim_fabric *f = storm_alloc(env->memory, "sim fabric", sizeof *f);
    if (f) {
        f->operations = storm_alloc(env->memory, "sim fabric",
                                    N_OPERATIONS * sizeof *f->operations);
    }
    bool made = f && f->operations;
    storm_status status =
        storm_boot_agree(boot, made ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        sim_free(f, env->memory);
        return status;
    }
    f->fabric = (struct storm_fabric){
        .ops = &storm_fabric_sim,
        .data = &sim_data,
        .caps = {.ordered = true, .async = true},
        .env = env,
        .boot = *boot,
    };
    f->rank = storm_sim_self();
    f->costs = storm_sim_costs();
    for (int i = 0; i < N_OPERATIONS; i++) {
        f->operations[i].next = f->free;
        f->free = &f->operations[i];
    }
    *fabric_out = &f->fabric;
    return STORM_OK;
}

static void sim_close(struct storm_fabric *fabric)
{
    struct sim_fabric *f = sim_of(fabric);
    while (f->flying) /* SIMFAB-3 */
        (void)sim_idle(fabric, 0);
    if (storm_boot_barrier(&fabric->boot) < 0)
        storm_log_write(&fabric->env->log, STORM_LOG_DEBUG,
                        "sim: closed without waiting for the other ranks");
    sim_free(f, fabric->env->memory);
}

static storm_status sim_alloc(struct storm_fabric *fabric, size_t bytes,
                              struct storm_region **region_out)
{
    struct storm_memory *memory = fabric->env->memory;
    struct storm_region *region =
        storm_alloc(memory, "sim regions", sizeof *region);
    if (!region)
        return STORM_ERR_NOMEM;
    *region = (struct storm_region){
        .base = storm_alloc(memory, "sim regions", bytes), .bytes = bytes};
    if (!region->base) {
        storm_free(memory, region);
        return STORM_ERR_NOMEM;
    }
    *region_out = region;
    return STORM_OK;
}

static void sim_release(struct storm_fabric *fabric,
                        struct storm_region *region)
{
    storm_free(fabric->env->memory, region->base);
    storm_free(fabric->env->memory, region);
}

static void sim_describe(const struct storm_fabric *fabric,
                         const struct storm_region *region,
                         struct storm_region_desc *desc_out)
{
    const struct sim_fabric *f = (const struct sim_fabric *)fabric;
    struct sim_card card = {
        .base = region->base,
        .bytes = region->bytes,
        .rank = f->rank,
    };
    _Static_assert(sizeof card <= STORM_DESC_BYTES, "descriptor too small");
    memset(desc_out, 0, sizeof *desc_out);
    memcpy(desc_out->bytes, &card, sizeof card);
}

/* The link to a peer, made when it is first needed. */
static struct sim_link *link_to(struct sim_fabric *f, int peer)
{
    for (struct sim_link *link = f->links; link; link = link->next)
        if (link->peer == peer)
            return link;
    struct sim_link *link =
        storm_alloc(f->fabric.env->memory, "sim remotes", sizeof *link);
    if (link) {
        *link = (struct sim_link){.next = f->links, .peer = peer};
        f->links = link;
    }
    return link;
}

static storm_status sim_attach(struct storm_fabric *fabric, int peer,
                               const struct storm_region_desc *desc,
                               struct storm_remote **remote_out)
{
    struct sim_fabric *f = sim_of(fabric);
    struct sim_link *link = link_to(f, peer);
    struct sim_remote *r =
        link ? storm_alloc(fabric->env->memory, "sim remotes", sizeof *r)
             : NULL;
    if (!r)
        return STORM_ERR_NOMEM;
    memcpy(&r->card, desc->bytes, sizeof r->card);
    r->link = link;
    r->remote = (struct storm_remote){
        .fabric = fabric, .peer = peer, .bytes = r->card.bytes};
    *remote_out = &r->remote;
    return STORM_OK;
}

static void sim_detach(struct storm_fabric *fabric, struct storm_remote *remote)
{
    storm_free(fabric->env->memory, remote);
}

const struct storm_fabric_ops storm_fabric_sim = {
    .name = "sim",
    .prepare = storm_no_prepare,
    .probe = sim_probe,
    .offloads = storm_no_offloads,
    .survey = storm_no_survey,
    .open = sim_open,
    .close = sim_close,
    .alloc = sim_alloc,
    .release = sim_release,
    .describe = sim_describe,
    .attach = sim_attach,
    .detach = sim_detach,
};
