/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric over MPI-3 one-sided communication with passive targets.
 *
 * MPI has two means to learn that an operation is complete: a request, for the
 * origin alone, and MPI_Win_flush, for both sides and all operations to a
 * target at once. Only the second orders anything, and it serves for both, so
 * operations have no requests here: they are issued, and poll flushes every
 * peer that has some and completes them all.
 *
 *   MPIRMA-1  A put_word behind puts that are not flushed is held back. poll
 *             flushes, then issues it: it cannot be seen before them
 *             (FABRIC-7). Words for one peer are issued in their order, and MPI
 *             keeps the order of accumulates to one address.
 *   MPIRMA-2  Everything completes by a flush, so what has completed has
 *             landed: puts, `delivered` or not, and words too.
 *   MPIRMA-3  The words of put_word and of atomics lie in the operation's entry
 *             until then: MPI reads and writes them there.
 *   MPIRMA-4  Words are written by MPI_Accumulate with MPI_REPLACE on
 *             MPI_UINT64_T: MPI promises whole words for accumulates alone
 *             (FABRIC-8).
 *   MPIRMA-5  A flush blocks, and where MPI does one-sided work in software it
 *             does so until the target next calls MPI. So poll first sends a
 *             scout behind the operations, a get of one byte with a request,
 *             and flushes when that is complete: by then the target has served
 *             what came before. MPI does not promise that, and nothing but the
 *             wait depends on it.
 *   MPIRMA-6  MPI serves other ranks only inside its calls, so every poll makes
 *             one, but for a few of them directly behind an operation of this
 *             rank, if they come quickly: the calls of a poll take longer than
 *             a small put. A rank that waits calls idle, or polls with
 *             nothing issued, and is served at once.
 *   MPIRMA-7  A compare-and-swap of this rank on its own memory in the dynamic
 *             window is done by the processor: see swap_here.
 *
 * Two lines of the contract go further than what MPI promises: that the words
 * of a get come whole (FABRIC-8), and that fetch_add and compare_swap on one
 * word are atomic to each other (FABRIC-9; MPI says so of equal operations
 * alone). Both MPIs that storm is tested with keep them: tests/conform,
 * fabric_words and fabric_atomic.
 *
 * What may still wait for the target: a flush, if operations were issued behind
 * the scout; and with Open MPI an atomic or a put_word into the dynamic window,
 * already when it is issued. The target's next poll, collective call or flush
 * ends the wait. A rank that waits there is inside MPI and serves all
 * others, so ranks that wait for each other do not wait for ever.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "base/idle.h"
#include "base/pace.h"
#include "fabric/fabric_ops.h"
#include "fabric/mpirma/mpirma_memory.h"

enum {
    N_OPS = 1024,       /* in flight at a time, to all peers */
    CALL_EVERY = 4,     /* MPIRMA-6 */
    PROBE_TAG = 1,      /* never sent */
    MAX_COUNT = 1 << 30 /* bytes in one MPI call */
};
static const double call_every_s = 5e-5;

/* An operation that has been accepted and has not completed. */
struct mpirma_op {
    struct mpirma_op *next;
    struct storm_ticket *ticket;
    uint64_t *old_out; /* atomics: where `result` goes */
    uint64_t operand, expected, result;
    MPI_Aint at; /* a word held back: where it goes */
    enum mpirma_window window;
};

/* First in, first out. */
struct mpirma_queue {
    struct mpirma_op *first, *last;
};

/* A rank with which this one exchanges data. */
struct mpirma_peer {
    int rank;
    bool listed;                    /* among those that poll visits */
    bool touched[MPIRMA_N_WINDOWS]; /* since the last flush */
    bool puts;                      /* so, and by puts */
    struct mpirma_queue issued;     /* complete with the next flush */
    struct mpirma_queue held;       /* MPIRMA-1 */
    MPI_Request scout; /* MPIRMA-5; MPI_REQUEST_NULL: none in flight */
    unsigned char scout_byte;
    MPI_Aint at; /* where the last operation went: there until the flush */
    enum mpirma_window window;
    struct mpirma_peer *next_listed;
};

struct mpirma_fabric {
    struct storm_fabric fabric;
    struct mpirma_memory memory;
    struct mpirma_peer **peer; /* by rank; NULL: never attached */
    struct mpirma_peer *listed;
    struct mpirma_op *ops, *free;
    bool has_issued;        /* since MPI was last called for progress */
    struct storm_pace pace; /* of calling it then (MPIRMA-6) */
    bool broken;
};

struct mpirma_region {
    struct storm_region region;
    struct mpirma_arena *arena;
    struct storm_extent extent;
};

struct mpirma_remote {
    struct storm_remote remote;
    struct mpirma_peer *peer;
    MPI_Aint at;
    enum mpirma_window window;
};

/* What a descriptor holds. */
struct mpirma_card {
    uint64_t at, bytes, window;
};

static struct mpirma_peer *peer_of(const struct storm_remote *remote)
{
    return ((const struct mpirma_remote *)remote)->peer;
}

static struct mpirma_fabric *mpirma_of(struct storm_fabric *fabric)
{
    return (struct mpirma_fabric *)fabric;
}

/* ---- operations -----------------------------------------------------------*/

static void queue_add(struct mpirma_queue *queue, struct mpirma_op *op)
{
    op->next = NULL;
    if (queue->first)
        queue->last->next = op;
    else
        queue->first = op;
    queue->last = op;
}

/* An entry for an operation, or NULL: STORM_AGAIN. */
static struct mpirma_op *op_take(const struct storm_remote *remote,
                                 uint64_t offset, struct storm_ticket *ticket)
{
    const struct mpirma_remote *to = (const struct mpirma_remote *)remote;
    struct mpirma_fabric *f = mpirma_of(remote->fabric);
    struct mpirma_op *op = f->free;
    f->has_issued = op != NULL; /* if not, poll makes room */
    if (!op)
        return NULL;
    f->free = op->next;
    op->ticket = ticket;
    op->old_out = NULL;
    op->at = to->at + (MPI_Aint)offset;
    op->window = to->window;
    return op;
}

static void op_give(struct mpirma_fabric *f, struct mpirma_op *op)
{
    op->next = f->free;
    f->free = op;
}

/* An operation in flight: poll must visit the peer. */
static void peer_add(struct mpirma_fabric *f, struct mpirma_peer *peer,
                     struct mpirma_op *op)
{
    queue_add(&peer->issued, op);
    peer->touched[op->window] = true;
    peer->window = op->window;
    peer->at = op->at;
    if (peer->listed)
        return;
    peer->listed = true;
    peer->next_listed = f->listed;
    f->listed = peer;
}

/* The result of the MPI call that issued the operation. */
static storm_status op_issued(struct mpirma_fabric *f, struct mpirma_peer *peer,
                              struct mpirma_op *op, const char *what, int rc)
{
    if (STORM_UNLIKELY(rc != MPI_SUCCESS)) {
        op_give(f, op);
        f->broken = true;
        return mpirma_failed(f->fabric.env, what, peer->rank, rc);
    }
    op->ticket->pending++;
    peer_add(f, peer, op);
    return STORM_OK;
}

/* As much of a transfer as one MPI call takes. */
static int count_of(size_t bytes)
{
    return bytes < MAX_COUNT ? (int)bytes : MAX_COUNT;
}

static storm_status mpirma_put(const struct storm_transfer *t)
{
    struct mpirma_fabric *f = mpirma_of(t->remote->fabric);
    struct mpirma_peer *peer = peer_of(t->remote);
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    struct mpirma_op *op = op_take(t->remote, t->remote_offset, t->ticket);
    if (!op)
        return STORM_AGAIN;
    const unsigned char *from =
        (const unsigned char *)t->local->base + t->local_offset;
    int rc = MPI_SUCCESS;
    for (size_t done = 0; done < t->bytes && rc == MPI_SUCCESS;) {
        int n = count_of(t->bytes - done);
        rc = MPI_Put(from + done, n, MPI_BYTE, peer->rank,
                     op->at + (MPI_Aint)done, n, MPI_BYTE,
                     f->memory.window[op->window]);
        done += (size_t)n;
    }
    peer->puts = true;
    return op_issued(f, peer, op, "a put", rc);
}

static storm_status mpirma_get(const struct storm_transfer *t)
{
    struct mpirma_fabric *f = mpirma_of(t->remote->fabric);
    struct mpirma_peer *peer = peer_of(t->remote);
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    struct mpirma_op *op = op_take(t->remote, t->remote_offset, t->ticket);
    if (!op)
        return STORM_AGAIN;
    unsigned char *into = (unsigned char *)t->local->base + t->local_offset;
    int rc = MPI_SUCCESS;
    for (size_t done = 0; done < t->bytes && rc == MPI_SUCCESS;) {
        int n = count_of(t->bytes - done);
        rc = MPI_Get(into + done, n, MPI_BYTE, peer->rank,
                     op->at + (MPI_Aint)done, n, MPI_BYTE,
                     f->memory.window[op->window]);
        done += (size_t)n;
    }
    return op_issued(f, peer, op, "a get", rc);
}

/* MPIRMA-4 */
static int word_issue(const struct mpirma_fabric *f,
                      const struct mpirma_peer *peer,
                      const struct mpirma_op *op)
{
    return MPI_Accumulate(&op->operand, 1, MPI_UINT64_T, peer->rank, op->at, 1,
                          MPI_UINT64_T, MPI_REPLACE,
                          f->memory.window[op->window]);
}

static storm_status mpirma_put_word(struct storm_remote *remote,
                                    uint64_t offset, uint64_t word,
                                    struct storm_ticket *ticket)
{
    struct mpirma_fabric *f = mpirma_of(remote->fabric);
    struct mpirma_peer *peer = peer_of(remote);
    STORM_ASSERT(offset % 8 == 0 && offset + 8 <= remote->bytes);
    struct mpirma_op *op = op_take(remote, offset, ticket);
    if (!op)
        return STORM_AGAIN;
    op->operand = word;
    if (!peer->puts)
        return op_issued(f, peer, op, "a word", word_issue(f, peer, op));
    ticket->pending++;
    queue_add(&peer->held, op); /* MPIRMA-1 */
    return STORM_OK;
}

/* The entry of an atomic, or NULL: STORM_AGAIN. */
static struct mpirma_op *atomic_take(const struct storm_atomic *a)
{
    STORM_ASSERT(a->remote_offset % 8 == 0 &&
                 a->remote_offset + 8 <= a->remote->bytes);
    struct mpirma_op *op = op_take(a->remote, a->remote_offset, a->ticket);
    if (op) {
        op->operand = a->operand;
        op->expected = a->expected;
        op->old_out = a->old_out;
    }
    return op;
}

static storm_status mpirma_fetch_add(const struct storm_atomic *a)
{
    struct mpirma_fabric *f = mpirma_of(a->remote->fabric);
    struct mpirma_peer *peer = peer_of(a->remote);
    struct mpirma_op *op = atomic_take(a);
    if (!op)
        return STORM_AGAIN;
    int rc =
        MPI_Fetch_and_op(&op->operand, &op->result, MPI_UINT64_T, peer->rank,
                         op->at, MPI_SUM, f->memory.window[op->window]);
    return op_issued(f, peer, op, "a fetch-and-add", rc);
}

/* Open MPI 4.1 crashes in MPI_Compare_and_swap if the target is the caller and
 * the window dynamic. There atomics are done in software by the process that
 * owns the memory, which is this one: so those of the processor serve. */
static void swap_here(struct mpirma_op *op)
{
    _Atomic uint64_t *word = (_Atomic uint64_t *)(uintptr_t)op->at;
    op->result = op->expected;
    atomic_compare_exchange_strong(word, &op->result, op->operand);
}

static storm_status mpirma_compare_swap(const struct storm_atomic *a)
{
    struct mpirma_fabric *f = mpirma_of(a->remote->fabric);
    struct mpirma_peer *peer = peer_of(a->remote);
    struct mpirma_op *op = atomic_take(a);
    if (!op)
        return STORM_AGAIN;
    int rc = MPI_SUCCESS;
    if (op->window == MPIRMA_DYNAMIC && peer->rank == f->fabric.boot.rank)
        swap_here(op);
    else
        rc = MPI_Compare_and_swap(&op->operand, &op->expected, &op->result,
                                  MPI_UINT64_T, peer->rank, op->at,
                                  f->memory.window[op->window]);
    return op_issued(f, peer, op, "a compare-and-swap", rc);
}

/* ---- progress -------------------------------------------------------------*/

/* STORM_AGAIN: a flush might have to wait (MPIRMA-5). */
static storm_status peer_scout(struct mpirma_fabric *f,
                               struct mpirma_peer *peer)
{
    int rc = MPI_SUCCESS, back = 0;
    if (peer->scout == MPI_REQUEST_NULL)
        rc = MPI_Rget(&peer->scout_byte, 1, MPI_BYTE, peer->rank, peer->at, 1,
                      MPI_BYTE, f->memory.window[peer->window], &peer->scout);
    if (rc == MPI_SUCCESS)
        rc = MPI_Test(&peer->scout, &back, MPI_STATUS_IGNORE);
    if (STORM_UNLIKELY(rc != MPI_SUCCESS))
        return mpirma_failed(f->fabric.env, "a get", peer->rank, rc);
    return back ? STORM_OK : STORM_AGAIN;
}

static storm_status peer_flush(struct mpirma_fabric *f,
                               struct mpirma_peer *peer)
{
    for (int i = 0; i < MPIRMA_N_WINDOWS; i++) {
        if (!peer->touched[i])
            continue;
        int rc = MPI_Win_flush(peer->rank, f->memory.window[i]);
        if (STORM_UNLIKELY(rc != MPI_SUCCESS))
            return mpirma_failed(f->fabric.env, "a flush", peer->rank, rc);
        peer->touched[i] = false;
    }
    peer->puts = false;
    return STORM_OK;
}

static void queue_complete(struct mpirma_fabric *f, struct mpirma_queue *queue,
                           storm_status status)
{
    struct mpirma_op *op = queue->first;
    queue->first = NULL;
    while (op) {
        struct mpirma_op *next = op->next;
        if (op->old_out && status == STORM_OK)
            *op->old_out = op->result;
        if (status < 0)
            op->ticket->status = status;
        op->ticket->pending--;
        op_give(f, op);
        op = next;
    }
}

/* Issues the words that waited for a flush (MPIRMA-1). */
static storm_status words_release(struct mpirma_fabric *f,
                                  struct mpirma_peer *peer)
{
    struct mpirma_op *op;
    while ((op = peer->held.first) != NULL) {
        int rc = word_issue(f, peer, op);
        if (STORM_UNLIKELY(rc != MPI_SUCCESS))
            return mpirma_failed(f->fabric.env, "a word", peer->rank, rc);
        peer->held.first = op->next;
        peer_add(f, peer, op);
    }
    return STORM_OK;
}

/* One peer of the list, which it leaves if nothing is left to be done. */
static storm_status peer_poll(struct mpirma_fabric *f, struct mpirma_peer *peer)
{
    storm_status status = peer_scout(f, peer);
    if (status == STORM_AGAIN) {
        peer->next_listed = f->listed;
        f->listed = peer;
        return STORM_OK;
    }
    peer->listed = false;
    if (status == STORM_OK)
        status = peer_flush(f, peer);
    queue_complete(f, &peer->issued, status);
    if (status == STORM_OK)
        status = words_release(f, peer);
    if (status < 0)
        queue_complete(f, &peer->held, status);
    return status;
}

/* Lets MPI serve other ranks (MPIRMA-6), and makes what they have done visible
 * here. */
static storm_status serve(struct mpirma_fabric *f)
{
    int found = 0;
    MPI_Comm comm = *(const MPI_Comm *)f->fabric.boot.mpi_comm;
    int rc =
        MPI_Iprobe(MPI_ANY_SOURCE, PROBE_TAG, comm, &found, MPI_STATUS_IGNORE);
    for (int i = 0; i < MPIRMA_N_WINDOWS && rc == MPI_SUCCESS; i++)
        if (mpirma_memory_has(&f->memory, (enum mpirma_window)i))
            rc = MPI_Win_sync(f->memory.window[i]);
    return rc == MPI_SUCCESS ? STORM_OK
                             : mpirma_failed(f->fabric.env, "progress", -1, rc);
}

static storm_status progress(struct mpirma_fabric *f)
{
    storm_pace_restart(&f->pace, storm_clock_ticks());
    f->has_issued = false;
    if (STORM_UNLIKELY(serve(f) < 0))
        f->broken = true;
    struct mpirma_peer *peer = f->listed;
    f->listed = NULL;
    while (peer) {
        struct mpirma_peer *next = peer->next_listed;
        if (STORM_UNLIKELY(peer_poll(f, peer) < 0))
            f->broken = true;
        peer = next;
    }
    return STORM_UNLIKELY(f->broken) ? STORM_ERR_FABRIC : STORM_OK;
}

/* MPIRMA-6 */
static storm_status mpirma_poll(struct storm_fabric *fabric)
{
    struct mpirma_fabric *f = mpirma_of(fabric);
    if (f->has_issued && !f->broken && !storm_pace_due(&f->pace))
        return STORM_OK;
    return progress(f);
}

static storm_status mpirma_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    /* No sleep: others may wait for our next call (MPIRMA-5). */
    storm_idle(n_empty < STORM_IDLE_SPINS ? n_empty : STORM_IDLE_SPINS);
    return progress(mpirma_of(fabric));
}

static const struct storm_fabric_data_ops mpirma_data = {
    .put = mpirma_put,
    .get = mpirma_get,
    .put_word = mpirma_put_word,
    .fetch_add = mpirma_fetch_add,
    .compare_swap = mpirma_compare_swap,
    .poll = mpirma_poll,
    .idle = mpirma_idle,
};

/* ---- memory ---------------------------------------------------------------*/

static void count_pinned(struct mpirma_fabric *f)
{
    /* MPI may register windows with a network, without a report. */
    f->fabric.pinned_bytes = f->memory.bytes;
    if (f->fabric.pinned_bytes_peak < f->memory.bytes)
        f->fabric.pinned_bytes_peak = f->memory.bytes;
}

static storm_status mpirma_alloc(struct storm_fabric *fabric, size_t bytes,
                                 struct storm_region **region_out)
{
    struct mpirma_fabric *f = mpirma_of(fabric);
    struct mpirma_region *region =
        storm_alloc(fabric->env->memory, "mpirma regions", sizeof *region);
    if (!region)
        return STORM_ERR_NOMEM;
    storm_status status =
        mpirma_memory_carve(&f->memory, bytes, fabric->refusal_level,
                            &region->arena, &region->extent);
    if (status < 0) {
        storm_free(fabric->env->memory, region);
        return status;
    }
    count_pinned(f);
    region->region = (struct storm_region){
        .base = region->arena->base + region->extent.offset, .bytes = bytes};
    *region_out = &region->region;
    return STORM_OK;
}

static void mpirma_release(struct storm_fabric *fabric,
                           struct storm_region *region)
{
    struct mpirma_fabric *f = mpirma_of(fabric);
    struct mpirma_region *own = (struct mpirma_region *)region;
    mpirma_memory_return(&f->memory, own->arena, own->extent);
    count_pinned(f);
    storm_free(fabric->env->memory, own);
}

static void mpirma_describe(const struct storm_fabric *fabric,
                            const struct storm_region *region,
                            struct storm_region_desc *desc_out)
{
    (void)fabric;
    const struct mpirma_region *own = (const struct mpirma_region *)region;
    struct mpirma_card card = {
        .at = (uint64_t)own->arena->at + own->extent.offset,
        .bytes = region->bytes,
        .window = own->arena->window,
    };
    _Static_assert(sizeof card <= STORM_DESC_BYTES, "descriptor too small");
    memset(desc_out, 0, sizeof *desc_out);
    memcpy(desc_out->bytes, &card, sizeof card);
}

static storm_status mpirma_attach(struct storm_fabric *fabric, int peer,
                                  const struct storm_region_desc *desc,
                                  struct storm_remote **remote_out)
{
    struct mpirma_fabric *f = mpirma_of(fabric);
    struct storm_memory *memory = fabric->env->memory;
    struct mpirma_card card;
    memcpy(&card, desc->bytes, sizeof card);
    struct mpirma_remote *remote =
        storm_alloc(memory, "mpirma remotes", sizeof *remote);
    if (remote && !f->peer[peer]) {
        f->peer[peer] = storm_alloc(memory, "mpirma peers", sizeof **f->peer);
        if (f->peer[peer])
            *f->peer[peer] =
                (struct mpirma_peer){.rank = peer, .scout = MPI_REQUEST_NULL};
    }
    if (!remote || !f->peer[peer]) {
        storm_free(memory, remote);
        return STORM_ERR_NOMEM;
    }
    *remote = (struct mpirma_remote){
        .remote = {.fabric = fabric, .peer = peer, .bytes = card.bytes},
        .peer = f->peer[peer],
        .at = (MPI_Aint)card.at,
        .window = (enum mpirma_window)card.window,
    };
    *remote_out = &remote->remote;
    return STORM_OK;
}

static void mpirma_detach(struct storm_fabric *fabric,
                          struct storm_remote *remote)
{
    storm_free(fabric->env->memory, remote);
}

/* ---- life -----------------------------------------------------------------*/

static storm_status mpirma_probe(char *reason_out, size_t reason_bytes)
{
    int version = 0, minor = 0;
    if (MPI_Get_version(&version, &minor) == MPI_SUCCESS && version >= 3)
        return STORM_OK;
    snprintf(reason_out, reason_bytes,
             "this MPI is of version %d.%d, and one-sided communication "
             "without epochs came with 3.0",
             version, minor);
    return STORM_ERR_NOSUP;
}

static void free_all(struct mpirma_fabric *f)
{
    struct storm_memory *memory = f->fabric.env->memory;
    if (f->memory.env)
        mpirma_memory_close(&f->memory);
    for (int i = 0; f->peer && i < f->fabric.boot.size; i++)
        storm_free(memory, f->peer[i]);
    storm_free(memory, f->peer);
    storm_free(memory, f->ops);
    storm_free(memory, f);
}

/* What needs no other rank. */
static struct mpirma_fabric *make(const struct storm_env *env,
                                  const struct storm_boot *boot)
{
    struct mpirma_fabric *f =
        storm_alloc(env->memory, "mpirma fabric", sizeof *f);
    if (!f)
        return NULL;
    f->fabric = (struct storm_fabric){
        .ops = &storm_fabric_mpirma,
        .data = &mpirma_data,
        .caps = {.ordered = true}, /* MPIRMA-1 */
        .env = env,
        .boot = *boot,
    };
    storm_pace_begin(&f->pace, CALL_EVERY, call_every_s);
    f->peer = storm_alloc(env->memory, "mpirma peers by rank",
                          (size_t)boot->size * sizeof(struct mpirma_peer *));
    f->ops =
        storm_alloc(env->memory, "mpirma operations", N_OPS * sizeof *f->ops);
    if (!f->peer || !f->ops) {
        free_all(f);
        return NULL;
    }
    for (int i = 0; i < N_OPS; i++)
        op_give(f, &f->ops[i]);
    return f;
}

static storm_status mpirma_open(const struct storm_env *env,
                                const struct storm_boot *boot,
                                struct storm_fabric **fabric_out)
{
    if (!boot->mpi_comm) {
        if (boot->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "mpirma: these ranks have no MPI communicator");
        return STORM_ERR_NOSUP;
    }
    struct mpirma_fabric *f = make(env, boot);
    storm_status status =
        storm_boot_agree(boot, f ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = mpirma_memory_open(&f->memory, env, boot);
    if (status < 0) {
        if (f && status != STORM_ERR_LOST) /* see mpirma_close */
            free_all(f);
        return status;
    }
    count_pinned(f);
    *fabric_out = &f->fabric;
    return STORM_OK;
}

static void mpirma_close(struct storm_fabric *fabric)
{
    struct mpirma_fabric *f = mpirma_of(fabric);
    /* A peer may still wait for us in a flush. */
    if (storm_boot_barrier(&fabric->boot) == STORM_OK)
        free_all(f);
    /* Freeing a window would wait for a lost rank. */
}

const struct storm_fabric_ops storm_fabric_mpirma = {
    .name = "mpirma",
    .prepare = storm_no_prepare,
    .probe = mpirma_probe,
    .offloads = storm_no_offloads,
    .survey = storm_no_survey,
    .open = mpirma_open,
    .close = mpirma_close,
    .alloc = mpirma_alloc,
    .release = mpirma_release,
    .describe = mpirma_describe,
    .attach = mpirma_attach,
    .detach = mpirma_detach,
};
