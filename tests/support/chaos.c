/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an operation:
 *
 *   accepted -> [completed early, its bytes copied to the stage] -> pieces
 *   issued to the inner fabric, one by one -> landed -> [completed] -> free
 *
 * with a random number of polls between any two of these.
 */
#include "support/chaos.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/dice.h"

/* The fabrics of this build, also where a test has a list of its own. */
#define storm_fabric_list chaos_built
#include "fabric_list.c"
#undef storm_fabric_list

enum {
    MAX_OPS = 64,       /* a power of two */
    MAX_PIECES = 4,     /* of one put or get */
    STAGE_BYTES = 4096, /* larger puts never complete early */
    BEAT_OFFSET = 0,    /* the word that counts this rank's polls */
    SEEN_OFFSET = 64    /* where those of the others are brought, by rank */
};

enum op_kind { OP_NONE, OP_PUT, OP_GET, OP_WORD, OP_ADD, OP_SWAP };

struct chaos_piece {
    uint64_t from, bytes;
    bool issued;
};

struct chaos_remote {
    struct storm_remote remote;
    struct storm_remote *inner;
    int n_ops; /* that have not landed */
    bool detached;
};

struct chaos_op {
    enum op_kind kind;
    uint64_t number; /* in order of acceptance */
    struct chaos_remote *remote;
    struct storm_transfer transfer; /* put, get */
    struct storm_atomic atomic;     /* add, swap; the word of a put_word */
    struct storm_ticket *ticket;    /* NULL once completed */
    struct storm_ticket inner;
    struct chaos_piece piece[MAX_PIECES];
    int n_pieces, n_issued;
    bool lost;  /* fails, and nothing lands */
    bool early; /* completes before it lands */
    bool landed;
    uint64_t due;   /* the poll before which nothing happens to it */
    uint64_t moves; /* of the peer, before which it does not land */
};

/* What is known of a peer's polls. */
struct chaos_peer {
    struct storm_remote *beat;
    struct storm_ticket ticket;
    bool asking;
    uint64_t moves; /* how often its beat was found changed */
    uint64_t last;
};

struct chaos_fabric {
    struct storm_fabric fabric;
    struct storm_fabric_ops table; /* with the name of the inner one */
    char name[32];
    struct storm_fabric *inner;
    struct storm_region *stage, *beats;
    struct chaos_peer *peers;
    struct chaos_params params;
    struct dice dice;
    struct chaos_op ops[MAX_OPS];
    int n_ops;
    uint64_t n_accepted, now;
    bool refusing; /* until the next poll */
};

static struct chaos_fabric *chaos_of(struct storm_fabric *fabric)
{
    return (struct chaos_fabric *)fabric;
}

static struct chaos_fabric *chaos_at(const struct storm_remote *remote)
{
    return chaos_of(remote->fabric);
}

/* Mostly a few polls, sometimes many. */
static uint64_t later(struct chaos_fabric *c)
{
    uint64_t max = dice_roll(&c->dice, 16) == 0 ? 64 : 4;
    return c->now + dice_roll(&c->dice, max);
}

/* ---- issuing --------------------------------------------------------------*/

/* FABRIC-7: has every earlier put and put_word to its peer been issued? */
static bool first_in_line(const struct chaos_fabric *c,
                          const struct chaos_op *op)
{
    for (int i = 0; i < MAX_OPS; i++) {
        const struct chaos_op *other = &c->ops[i];
        if ((other->kind == OP_PUT || other->kind == OP_WORD) &&
            other->number < op->number &&
            other->remote->remote.peer == op->remote->remote.peer &&
            other->n_issued < other->n_pieces)
            return false;
    }
    return true;
}

/* Has the target polled since? If it is not known yet, asks. */
static bool target_awake(struct chaos_fabric *c, const struct chaos_op *op)
{
    int rank = op->remote->remote.peer;
    struct chaos_peer *peer = &c->peers[rank];
    if (peer->moves >= op->moves)
        return true;
    struct storm_transfer look = {
        .remote = peer->beat,
        .remote_offset = BEAT_OFFSET,
        .local = c->beats,
        .local_offset = SEEN_OFFSET + 8 * (uint64_t)rank,
        .bytes = 8,
        .ticket = &peer->ticket,
    };
    if (!peer->asking) {
        peer->asking = c->inner->data->get(&look) == STORM_OK;
    } else if (peer->ticket.pending == 0) {
        uint64_t beat;
        memcpy(&beat, (unsigned char *)c->beats->base + look.local_offset,
               sizeof beat);
        peer->moves += beat != peer->last;
        peer->last = beat;
        peer->asking = false;
    }
    return peer->moves >= op->moves;
}

static storm_status issue_part(const struct chaos_fabric *c,
                               struct chaos_op *op,
                               const struct chaos_piece *piece)
{
    struct storm_transfer part = op->transfer;
    part.remote = op->remote->inner;
    part.remote_offset += piece->from;
    part.local_offset += piece->from;
    part.bytes = piece->bytes;
    part.ticket = &op->inner;
    return op->kind == OP_PUT ? c->inner->data->put(&part)
                              : c->inner->data->get(&part);
}

static storm_status issue(const struct chaos_fabric *c, struct chaos_op *op,
                          const struct chaos_piece *piece)
{
    struct storm_atomic atomic = op->atomic;
    atomic.remote = op->remote->inner;
    atomic.ticket = &op->inner;
    switch (op->kind) {
    case OP_PUT:
    case OP_GET:
        return issue_part(c, op, piece);
    case OP_WORD:
        return c->inner->data->put_word(atomic.remote, atomic.remote_offset,
                                        atomic.operand, &op->inner);
    case OP_ADD:
        return c->inner->data->fetch_add(&atomic);
    case OP_SWAP:
        return c->inner->data->compare_swap(&atomic);
    case OP_NONE:
        break;
    }
    return STORM_ERR_STATE;
}

/* Issues one piece, any of those left, if it may go now. */
static void issue_one(struct chaos_fabric *c, struct chaos_op *op)
{
    if (!target_awake(c, op) || (c->fabric.caps.ordered &&
                                 op->kind == OP_WORD && !first_in_line(c, op)))
        return;
    int i = (int)dice_roll(&c->dice, (uint64_t)op->n_pieces);
    while (op->piece[i].issued)
        i = (i + 1) % op->n_pieces;
    storm_status status = issue(c, op, &op->piece[i]);
    if (status == STORM_AGAIN)
        return;
    if (status < 0)
        op->inner.status = status;
    op->piece[i].issued = true;
    op->n_issued++;
}

/* ---- completing -----------------------------------------------------------*/

static void complete(struct chaos_op *op)
{
    if (op->inner.status < 0)
        op->ticket->status = op->inner.status;
    op->ticket->pending--;
    op->ticket = NULL;
}

/* Copies the bytes of a put, so that its memory may be reused (FABRIC-6). */
static void complete_early(struct chaos_fabric *c, struct chaos_op *op)
{
    if (op->kind == OP_PUT) {
        uint64_t at = (uint64_t)(op - c->ops) * STAGE_BYTES;
        memcpy((unsigned char *)c->stage->base + at,
               (unsigned char *)op->transfer.local->base +
                   op->transfer.local_offset,
               op->transfer.bytes);
        op->transfer.local = c->stage;
        op->transfer.local_offset = at;
    }
    op->early = false;
    complete(op);
}

static void remote_free(struct chaos_fabric *c, struct chaos_remote *remote)
{
    c->inner->ops->detach(c->inner, remote->inner);
    storm_free(c->fabric.env->memory, remote);
}

/* Takes one operation one step further, if it is due. */
static void step(struct chaos_fabric *c, struct chaos_op *op)
{
    if (op->kind == OP_NONE || c->now < op->due)
        return;
    if (op->lost) {
        op->inner.status = STORM_ERR_FABRIC;
        op->n_issued = op->n_pieces;
        op->early = false;
        op->landed = true;
    }
    if (op->early) {
        complete_early(c, op);
    } else if (op->n_issued < op->n_pieces) {
        issue_one(c, op);
    } else if (op->inner.pending > 0) {
        return;
    } else if (!op->landed) {
        op->landed = true;
    } else {
        if (op->ticket)
            complete(op);
        if (--op->remote->n_ops == 0 && op->remote->detached)
            remote_free(c, op->remote);
        op->kind = OP_NONE;
        c->n_ops--;
        return;
    }
    op->due = later(c);
}

static storm_status chaos_poll(struct storm_fabric *fabric)
{
    struct chaos_fabric *c = chaos_of(fabric);
    c->now++;
    c->refusing = false;
    atomic_store_explicit((_Atomic uint64_t *)c->beats->base, c->now,
                          memory_order_relaxed); /* it orders nothing */
    storm_status status = c->inner->data->poll(c->inner);
    if (c->n_ops == 0)
        return status;
    uint64_t start = dice_word(&c->dice), stride = start >> 32 | 1;
    for (uint64_t i = 0; i < MAX_OPS; i++)
        step(c, &c->ops[(start + i * stride) % MAX_OPS]);
    return status;
}

static storm_status chaos_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    struct chaos_fabric *c = chaos_of(fabric);
    storm_status status = chaos_poll(fabric);
    if (status < 0)
        return status;
    if (c->n_ops == 0)
        return c->inner->data->idle(c->inner, n_empty);
    sched_yield(); /* time passes by polls: sleep would make it crawl */
    return status;
}

/* ---- accepting ------------------------------------------------------------*/

/* Room for an operation, or NULL: STORM_AGAIN. */
static struct chaos_op *accept_op(struct storm_remote *remote,
                                  enum op_kind kind,
                                  struct storm_ticket *ticket)
{
    struct chaos_fabric *c = chaos_at(remote);
    if (c->refusing || c->n_ops == MAX_OPS || dice_roll(&c->dice, 8) == 0) {
        c->refusing = true;
        return NULL;
    }
    struct chaos_op *op = c->ops;
    while (op->kind != OP_NONE)
        op++;
    uint64_t rank = (uint64_t)remote->peer;
    *op = (struct chaos_op){
        .kind = kind,
        .number = c->n_accepted++,
        .remote = (struct chaos_remote *)remote,
        .ticket = ticket,
        .n_pieces = 1,
        .due = later(c),
    };
    op->lost = c->params.lost_after > 0 &&
               remote->peer == c->params.lost_peer &&
               op->number >= c->params.lost_after;
    /* Two moves: the first may be of a poll before this moment. */
    if (dice_roll(&c->dice, 2) == 0)
        op->moves = c->peers[rank].moves + 2;
    c->n_ops++;
    op->remote->n_ops++;
    ticket->pending++;
    return op;
}

/* Now and then something is done at once; the rest waits for poll. */
static storm_status accepted(struct chaos_fabric *c, struct chaos_op *op)
{
    if (dice_roll(&c->dice, 8) == 0)
        for (int i = 0; i < MAX_PIECES + 3; i++) {
            op->due = c->now;
            step(c, op);
        }
    return STORM_OK;
}

/* Cuts [0, bytes) at random places; those of a get between words (FABRIC-8). */
static void cut(struct chaos_fabric *c, struct chaos_op *op)
{
    uint64_t bytes = op->transfer.bytes, from = 0;
    uint64_t n = 1 + dice_roll(&c->dice, MAX_PIECES);
    op->n_pieces = 0;
    for (uint64_t i = 1; i < n && from < bytes; i++) {
        uint64_t upto = from + 1 + dice_roll(&c->dice, bytes - from);
        if (op->kind == OP_GET)
            upto -= (op->transfer.remote_offset + upto) % 8;
        if (upto <= from || upto >= bytes)
            continue;
        op->piece[op->n_pieces++] =
            (struct chaos_piece){.from = from, .bytes = upto - from};
        from = upto;
    }
    op->piece[op->n_pieces++] =
        (struct chaos_piece){.from = from, .bytes = bytes - from};
}

static storm_status chaos_put(const struct storm_transfer *t)
{
    struct chaos_fabric *c = chaos_at(t->remote);
    struct chaos_op *op = accept_op(t->remote, OP_PUT, t->ticket);
    if (!op)
        return STORM_AGAIN;
    op->transfer = *t;
    op->early =
        !t->delivered && t->bytes <= STAGE_BYTES && dice_roll(&c->dice, 2) == 0;
    cut(c, op);
    return accepted(c, op);
}

static storm_status chaos_get(const struct storm_transfer *t)
{
    struct chaos_fabric *c = chaos_at(t->remote);
    struct chaos_op *op = accept_op(t->remote, OP_GET, t->ticket);
    if (!op)
        return STORM_AGAIN;
    op->transfer = *t;
    op->transfer.delivered = false;
    memset((unsigned char *)t->local->base + t->local_offset,
           (int)(dice_word(&c->dice) & 0xff), t->bytes);
    cut(c, op);
    return accepted(c, op);
}

static storm_status chaos_put_word(struct storm_remote *remote, uint64_t offset,
                                   uint64_t word, struct storm_ticket *ticket)
{
    struct chaos_fabric *c = chaos_at(remote);
    struct chaos_op *op = accept_op(remote, OP_WORD, ticket);
    if (!op)
        return STORM_AGAIN;
    op->atomic.remote_offset = offset;
    op->atomic.operand = word;
    op->early = c->fabric.caps.ordered && dice_roll(&c->dice, 2) == 0;
    return accepted(c, op);
}

static storm_status accept_atomic(const struct storm_atomic *a,
                                  enum op_kind kind)
{
    struct chaos_fabric *c = chaos_at(a->remote);
    struct chaos_op *op = accept_op(a->remote, kind, a->ticket);
    if (!op)
        return STORM_AGAIN;
    op->atomic = *a;
    *a->old_out = dice_word(&c->dice);
    return accepted(c, op);
}

static storm_status chaos_fetch_add(const struct storm_atomic *a)
{
    return accept_atomic(a, OP_ADD);
}

static storm_status chaos_compare_swap(const struct storm_atomic *a)
{
    return accept_atomic(a, OP_SWAP);
}

/* ---- memory ---------------------------------------------------------------*/

static storm_status chaos_alloc(struct storm_fabric *fabric, size_t bytes,
                                struct storm_region **region_out)
{
    struct storm_fabric *inner = chaos_of(fabric)->inner;
    inner->refusal_level = fabric->refusal_level;
    return inner->ops->alloc(inner, bytes, region_out);
}

static void chaos_release(struct storm_fabric *fabric,
                          struct storm_region *region)
{
    struct storm_fabric *inner = chaos_of(fabric)->inner;
    inner->ops->release(inner, region);
}

static void chaos_describe(const struct storm_fabric *fabric,
                           const struct storm_region *region,
                           struct storm_region_desc *desc_out)
{
    const struct storm_fabric *inner =
        ((const struct chaos_fabric *)fabric)->inner;
    inner->ops->describe(inner, region, desc_out);
}

static storm_status chaos_attach(struct storm_fabric *fabric, int peer,
                                 const struct storm_region_desc *desc,
                                 struct storm_remote **remote_out)
{
    struct chaos_fabric *c = chaos_of(fabric);
    struct chaos_remote *remote =
        storm_alloc(fabric->env->memory, "chaos", sizeof *remote);
    if (!remote)
        return STORM_ERR_NOMEM;
    c->inner->refusal_level = fabric->refusal_level;
    storm_status status =
        c->inner->ops->attach(c->inner, peer, desc, &remote->inner);
    if (status < 0) {
        storm_free(fabric->env->memory, remote);
        return status;
    }
    remote->remote = (struct storm_remote){
        .fabric = fabric, .peer = peer, .bytes = remote->inner->bytes};
    *remote_out = &remote->remote;
    return STORM_OK;
}

static void chaos_detach(struct storm_fabric *fabric,
                         struct storm_remote *remote)
{
    struct chaos_remote *own = (struct chaos_remote *)remote;
    own->detached = true;
    if (own->n_ops == 0)
        remote_free(chaos_of(fabric), own);
}

/* ---- life -----------------------------------------------------------------*/

/* Drives what has not landed to its end, and everybody else's too. */
static void drain(struct chaos_fabric *c)
{
    storm_status status = STORM_OK;
    for (uint64_t n = 0; status >= 0 && c->n_ops > 0; n++)
        status = chaos_idle(&c->fabric, n);
    for (uint64_t n = 0;
         c->fabric.boot.barrier_try(c->fabric.boot.self) == STORM_AGAIN; n++)
        if (status >= 0)
            status = chaos_idle(&c->fabric, n);
}

static void free_all(struct chaos_fabric *c)
{
    struct storm_fabric *inner = c->inner;
    for (int i = 0; c->peers && i < c->fabric.boot.size; i++)
        if (c->peers[i].beat)
            inner->ops->detach(inner, c->peers[i].beat);
    if (c->beats)
        inner->ops->release(inner, c->beats);
    if (c->stage)
        inner->ops->release(inner, c->stage);
    if (inner)
        inner->ops->close(inner);
    storm_free(c->fabric.env->memory, c->peers);
    storm_free(c->fabric.env->memory, c);
}

static void chaos_close(struct storm_fabric *fabric)
{
    struct chaos_fabric *c = chaos_of(fabric);
    drain(c);
    /* A beat asked for and not arrived would land in released memory. */
    for (int i = 0; i < c->fabric.boot.size; i++)
        while (c->peers[i].ticket.pending > 0 &&
               c->inner->data->poll(c->inner) >= 0)
            continue;
    free_all(c);
}

static const struct storm_fabric_data_ops chaos_data = {
    .put = chaos_put,
    .get = chaos_get,
    .put_word = chaos_put_word,
    .fetch_add = chaos_fetch_add,
    .compare_swap = chaos_compare_swap,
    .poll = chaos_poll,
    .idle = chaos_idle,
};

/* Regions of its own, and access to every peer's beat. */
static storm_status make_memory(struct chaos_fabric *c)
{
    const struct storm_boot *boot = &c->fabric.boot;
    struct storm_memory *memory = c->fabric.env->memory;
    struct storm_fabric *inner = c->inner;
    size_t n = (size_t)boot->size;
    struct storm_region_desc mine = {{0}};
    struct storm_region_desc *all =
        storm_alloc(memory, "chaos", n * sizeof *all);
    c->peers = storm_alloc(memory, "chaos", n * sizeof *c->peers);
    storm_status status = all && c->peers ? STORM_OK : STORM_ERR_NOMEM;
    if (status == STORM_OK)
        status =
            inner->ops->alloc(inner, (size_t)MAX_OPS * STAGE_BYTES, &c->stage);
    if (status == STORM_OK)
        status = inner->ops->alloc(inner, SEEN_OFFSET + 8 * n, &c->beats);
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK) {
        inner->ops->describe(inner, c->beats, &mine);
        status = storm_boot_allgather(boot, &mine, sizeof mine, all);
        for (int i = 0; status == STORM_OK && i < boot->size; i++)
            status = inner->ops->attach(inner, i, &all[i], &c->peers[i].beat);
        status = storm_boot_agree(boot, status);
    }
    storm_free(memory, all);
    return status;
}

static const struct storm_fabric_ops *table_of(bool ordered)
{
    return ordered ? &chaos_shm_ordered : &chaos_shm;
}

storm_status chaos_open(const struct storm_fabric_ops *inner,
                        const struct chaos_params *params,
                        const struct storm_env *env,
                        const struct storm_boot *boot,
                        struct storm_fabric **fabric_out)
{
    struct chaos_fabric *c = storm_alloc(env->memory, "chaos", sizeof *c);
    storm_status status =
        storm_boot_agree(boot, c ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(env->memory, c);
        return status;
    }
    snprintf(c->name, sizeof c->name, "chaos %s", inner->name);
    c->table = *table_of(params->ordered);
    c->table.name = c->name;
    c->fabric = (struct storm_fabric){
        .ops = &c->table,
        .data = &chaos_data,
        .caps = {.ordered = params->ordered},
        .env = env,
        .boot = *boot,
    };
    c->params = *params;
    c->dice = dice_make(params->seed, (uint64_t)boot->rank);
    status = inner->open(env, boot, &c->inner);
    if (status == STORM_OK && params->ordered && !c->inner->caps.ordered)
        status = STORM_ERR_NOSUP;
    if (status == STORM_OK)
        status = make_memory(c);
    if (status < 0) {
        free_all(c);
        return status;
    }
    *fabric_out = &c->fabric;
    return STORM_OK;
}

uint64_t chaos_seed(void)
{
    const char *text = getenv("STORM_CHAOS_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

/* A table: chaos around what _probe and _open are for. */
#define CHAOS_OPS(_name, _probe, _open)                                       \
    {                                                                         \
        .name = _name, .prepare = storm_no_prepare, .probe = _probe,          \
        .offloads = chaos_offloads, .survey = storm_no_survey, .open = _open, \
        .close = chaos_close, .alloc = chaos_alloc, .release = chaos_release, \
        .describe = chaos_describe, .attach = chaos_attach,                   \
        .detach = chaos_detach                                                \
    }

/* Whoever lists chaos wants auto to take it. */
static bool chaos_offloads(void)
{
    return true;
}

static storm_status probe_shm(char *reason_out, size_t reason_bytes)
{
    return storm_fabric_shm.probe(reason_out, reason_bytes);
}

static storm_status open_shm(const struct storm_env *env,
                             const struct storm_boot *boot,
                             struct storm_fabric **fabric_out)
{
    struct chaos_params params = {.seed = chaos_seed()};
    return chaos_open(&storm_fabric_shm, &params, env, boot, fabric_out);
}

static storm_status open_shm_ordered(const struct storm_env *env,
                                     const struct storm_boot *boot,
                                     struct storm_fabric **fabric_out)
{
    struct chaos_params params = {.seed = chaos_seed(), .ordered = true};
    return chaos_open(&storm_fabric_shm, &params, env, boot, fabric_out);
}

static storm_status open_shm_losing(const struct storm_env *env,
                                    const struct storm_boot *boot,
                                    struct storm_fabric **fabric_out)
{
    struct chaos_params params = {
        .seed = chaos_seed(), .lost_after = 200, .lost_peer = 1};
    return chaos_open(&storm_fabric_shm, &params, env, boot, fabric_out);
}

const struct storm_fabric_ops chaos_shm =
    CHAOS_OPS("chaos shm", probe_shm, open_shm);

const struct storm_fabric_ops chaos_shm_ordered =
    CHAOS_OPS("chaos shm ordered", probe_shm, open_shm_ordered);

const struct storm_fabric_ops chaos_shm_losing =
    CHAOS_OPS("chaos shm losing", probe_shm, open_shm_losing);

const struct storm_fabric_ops *chaos_inner(void)
{
    const char *name = getenv("STORM_BACKEND");
    for (size_t i = 0; name && chaos_built[i]; i++)
        if (strcmp(name, chaos_built[i]->name) == 0)
            return chaos_built[i];
    return &storm_fabric_shm;
}

static storm_status probe_any(char *reason_out, size_t reason_bytes)
{
    return chaos_inner()->probe(reason_out, reason_bytes);
}

static storm_status open_any(const struct storm_env *env,
                             const struct storm_boot *boot,
                             struct storm_fabric **fabric_out)
{
    struct chaos_params params = {.seed = chaos_seed()};
    return chaos_open(chaos_inner(), &params, env, boot, fabric_out);
}

static storm_status open_any_ordered(const struct storm_env *env,
                                     const struct storm_boot *boot,
                                     struct storm_fabric **fabric_out)
{
    struct chaos_params params = {.seed = chaos_seed(), .ordered = true};
    return chaos_open(chaos_inner(), &params, env, boot, fabric_out);
}

const struct storm_fabric_ops chaos_any =
    CHAOS_OPS("chaos any", probe_any, open_any);

const struct storm_fabric_ops chaos_any_ordered =
    CHAOS_OPS("chaos any ordered", probe_any, open_any_ordered);

const struct storm_fabric_ops chaos_as_ofi =
    CHAOS_OPS("ofi", probe_any, open_any);
