/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the fabric over libfabric. Nothing here allocates. */
#include <stdatomic.h>
#include <string.h>

#include "base/idle.h"
#include "fabric/ofi/ofi_internal.h"

enum { LOGGED_ERRORS = 8 }; /* failed operations that are named in the log */

static struct ofi_op *take_op(struct ofi_fabric *f)
{
    struct ofi_op *op = f->free_ops;
    if (STORM_LIKELY(op != NULL))
        f->free_ops = op->next;
    else
        f->has_posted = false; /* poll makes room */
    return op;
}

static void give_back(struct ofi_fabric *f, struct ofi_op *op)
{
    op->next = f->free_ops;
    f->free_ops = op;
}

static struct ofi_words *words_of(const struct ofi_fabric *f,
                                  const struct ofi_op *op)
{
    return (struct ofi_words *)f->words->base + (op - f->ops);
}

static void *words_desc(const struct ofi_fabric *f)
{
    return ((const struct ofi_region *)f->words)->desc;
}

/* Logs that an operation failed, unless too many did. */
static void complain(struct ofi_fabric *f, int peer, const char *what,
                     const char *detail)
{
    if (f->n_errors++ < LOGGED_ERRORS)
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ofi (%s): a transfer to rank %d failed: %s%s%s",
                        f->name, peer, what, detail[0] ? ": " : "", detail);
}

/* The result of a call that failed to post an operation. */
static storm_status not_posted(struct ofi_fabric *f, int peer, ssize_t rc)
{
    f->has_posted = false; /* poll makes room */
    if (STORM_LIKELY(rc == -FI_EAGAIN))
        return STORM_AGAIN;
    complain(f, peer, f->library.strerror((int)-rc), "");
    return STORM_ERR_FABRIC;
}

static storm_status posted(struct ofi_fabric *f, struct ofi_op *op,
                           struct storm_ticket *ticket, ssize_t rc)
{
    if (STORM_UNLIKELY(rc != 0)) {
        give_back(f, op);
        return not_posted(f, op->peer, rc);
    }
    op->ticket = ticket;
    ticket->pending++;
    f->has_posted = f->stream;
    return STORM_OK;
}

/* ---- put ------------------------------------------------------------------*/

/* A write whose completion means that the data can be read at the target. */
static ssize_t write_delivered(struct ofi_fabric *f, const struct iovec *from,
                               void *desc, const struct ofi_remote *remote,
                               uint64_t offset, void *context)
{
    struct fi_rma_iov to = {.addr = remote->base + offset,
                            .len = from->iov_len,
                            .key = remote->key};
    struct fi_msg_rma message = {.msg_iov = from,
                                 .desc = &desc,
                                 .iov_count = 1,
                                 .addr = remote->addr,
                                 .rma_iov = &to,
                                 .rma_iov_count = 1,
                                 .context = context};
    return fi_writemsg(f->ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
}

static storm_status ofi_put(const struct storm_transfer *t)
{
    struct ofi_fabric *f = ofi_of(t->remote->fabric);
    const struct ofi_remote *remote = (const struct ofi_remote *)t->remote;
    void *desc = ((const struct ofi_region *)t->local)->desc;
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    if (STORM_UNLIKELY(t->bytes == 0))
        return STORM_OK;
    struct ofi_op *op = take_op(f);
    if (STORM_UNLIKELY(!op))
        return STORM_AGAIN;
    struct iovec from = {(unsigned char *)t->local->base + t->local_offset,
                         t->bytes};
    op->kind = OFI_PUT;
    op->peer = t->remote->peer;
    ssize_t rc =
        t->delivered
            ? write_delivered(f, &from, desc, remote, t->remote_offset, op)
            : fi_write(f->ep, from.iov_base, from.iov_len, desc, remote->addr,
                       remote->base + t->remote_offset, remote->key, op);
    return posted(f, op, t->ticket, rc);
}

/* ---- put_word -------------------------------------------------------------*/

/* As one atomic write of the word at `from`. */
static ssize_t atomic_word(struct ofi_fabric *f,
                           const struct ofi_remote *remote, uint64_t at,
                           uint64_t *from, void *context)
{
    void *desc = words_desc(f);
    struct fi_ioc one = {.addr = from, .count = 1};
    struct fi_rma_ioc to = {.addr = at, .count = 1, .key = remote->key};
    struct fi_msg_atomic message = {.msg_iov = &one,
                                    .desc = &desc,
                                    .iov_count = 1,
                                    .addr = remote->addr,
                                    .rma_iov = &to,
                                    .rma_iov_count = 1,
                                    .datatype = FI_UINT64,
                                    .op = FI_ATOMIC_WRITE,
                                    .context = context};
    return fi_atomicmsg(f->ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
}

/* By a method that takes an operation. */
static ssize_t post_word(struct ofi_fabric *f, struct ofi_op *op,
                         const struct ofi_remote *remote, uint64_t offset,
                         uint64_t word)
{
    struct ofi_words *words = words_of(f, op);
    words->operand = word;
    struct iovec from = {&words->operand, sizeof words->operand};
    switch (f->word_method) {
    case OFI_WORD_MESSAGE:
        words->message = (struct ofi_word_message){remote->id, offset, word};
        return fi_send(f->ep, &words->message, sizeof words->message,
                       words_desc(f), remote->addr, op);
    case OFI_WORD_ATOMIC:
        return atomic_word(f, remote, remote->base + offset, &words->operand,
                           op);
    case OFI_WORD_WRITE:
    case OFI_WORD_INJECT:
        break;
    }
    return write_delivered(f, &from, words_desc(f), remote, offset, op);
}

static storm_status ofi_put_word(struct storm_remote *remote, uint64_t offset,
                                 uint64_t word, struct storm_ticket *ticket)
{
    struct ofi_fabric *f = ofi_of(remote->fabric);
    const struct ofi_remote *own = (const struct ofi_remote *)remote;
    STORM_ASSERT(offset % 8 == 0 && offset + 8 <= remote->bytes);
    if (f->word_method == OFI_WORD_INJECT) {
        ssize_t rc = fi_inject_write(f->ep, &word, sizeof word, own->addr,
                                     own->base + offset, own->key);
        return STORM_LIKELY(rc == 0) ? STORM_OK
                                     : not_posted(f, remote->peer, rc);
    }
    struct ofi_op *op = take_op(f);
    if (STORM_UNLIKELY(!op))
        return STORM_AGAIN;
    op->kind = OFI_WORD;
    op->peer = remote->peer;
    return posted(f, op, ticket, post_word(f, op, own, offset, word));
}

/* ---- get ------------------------------------------------------------------*/

/* Posts the next piece of a get; all of it but on a byte stream. */
static ssize_t post_piece(struct ofi_fabric *f, struct ofi_op *op)
{
    const struct storm_transfer *t = &op->get;
    const struct ofi_remote *remote = (const struct ofi_remote *)t->remote;
    void *desc = ((const struct ofi_region *)t->local)->desc;
    unsigned char *to =
        (unsigned char *)t->local->base + t->local_offset + op->done;
    uint64_t offset = t->remote_offset + op->done;
    uint64_t at = remote->base + offset;
    uint64_t left = t->bytes - op->done;
    if (!f->stream) {
        op->piece = left;
    } else if (offset % 8 == 0 && left >= 8) {
        size_t n = left / 8 < f->read_words ? left / 8 : f->read_words;
        op->piece = 8 * n;
        return fi_fetch_atomic(f->ep, NULL, n, NULL, to, desc, remote->addr, at,
                               remote->key, FI_UINT64, FI_ATOMIC_READ, op);
    } else { /* up to the next word */
        uint64_t n = 8 - offset % 8;
        op->piece = left < n ? left : n;
    }
    return fi_read(f->ep, to, op->piece, desc, remote->addr, at, remote->key,
                   op);
}

static storm_status ofi_get(const struct storm_transfer *t)
{
    struct ofi_fabric *f = ofi_of(t->remote->fabric);
    STORM_ASSERT(t->remote_offset + t->bytes <= t->remote->bytes);
    STORM_ASSERT(t->local_offset + t->bytes <= t->local->bytes);
    if (STORM_UNLIKELY(t->bytes == 0))
        return STORM_OK;
    struct ofi_op *op = take_op(f);
    if (STORM_UNLIKELY(!op))
        return STORM_AGAIN;
    op->kind = OFI_GET;
    op->peer = t->remote->peer;
    op->get = *t;
    op->done = 0;
    return posted(f, op, t->ticket, post_piece(f, op));
}

/* ---- atomics --------------------------------------------------------------*/

static storm_status post_atomic(const struct storm_atomic *a, bool compare)
{
    struct ofi_fabric *f = ofi_of(a->remote->fabric);
    const struct ofi_remote *remote = (const struct ofi_remote *)a->remote;
    STORM_ASSERT(a->remote_offset % 8 == 0 &&
                 a->remote_offset + 8 <= a->remote->bytes);
    struct ofi_op *op = take_op(f);
    if (STORM_UNLIKELY(!op))
        return STORM_AGAIN;
    struct ofi_words *words = words_of(f, op);
    void *desc = words_desc(f);
    uint64_t at = remote->base + a->remote_offset;
    words->operand = a->operand;
    words->expected = a->expected;
    op->kind = OFI_ATOMIC;
    op->peer = a->remote->peer;
    op->old_out = a->old_out;
    ssize_t rc = compare
                     ? fi_compare_atomic(f->ep, &words->operand, 1, desc,
                                         &words->expected, desc, &words->old,
                                         desc, remote->addr, at, remote->key,
                                         FI_UINT64, FI_CSWAP, op)
                     : fi_fetch_atomic(f->ep, &words->operand, 1, desc,
                                       &words->old, desc, remote->addr, at,
                                       remote->key, FI_UINT64, FI_SUM, op);
    return posted(f, op, a->ticket, rc);
}

static storm_status ofi_fetch_add(const struct storm_atomic *a)
{
    return post_atomic(a, false);
}

static storm_status ofi_compare_swap(const struct storm_atomic *a)
{
    return post_atomic(a, true);
}

/* ---- completions ----------------------------------------------------------*/

static void finish(struct ofi_fabric *f, struct ofi_op *op, storm_status status)
{
    if (STORM_UNLIKELY(status < 0))
        op->ticket->status = status;
    else if (op->kind == OFI_ATOMIC)
        *op->old_out = words_of(f, op)->old;
    op->ticket->pending--;
    give_back(f, op);
}

/* Continues a get that has pieces left. */
static void next_piece(struct ofi_fabric *f, struct ofi_op *op)
{
    ssize_t rc = post_piece(f, op);
    if (rc == 0)
        return;
    if (rc == -FI_EAGAIN) {
        op->next = f->stalled;
        f->stalled = op;
        return;
    }
    finish(f, op, not_posted(f, op->peer, rc));
}

/* ---- words that arrive ----------------------------------------------------*/

int ofi_post_arrivals(struct ofi_fabric *f)
{
    struct ofi_word_message *messages = f->inbox->base;
    void *desc = ((const struct ofi_region *)f->inbox)->desc;
    while (f->unposted) {
        struct ofi_op *op = f->unposted;
        ssize_t rc = fi_recv(f->ep, &messages[op - f->arrivals],
                             sizeof *messages, desc, FI_ADDR_UNSPEC, op);
        if (rc != 0)
            return rc == -FI_EAGAIN ? 0 : (int)rc;
        f->unposted = op->next;
    }
    return 0;
}

/* Stores the word, unless its region was released, as with any late put. */
static void store_arrival(struct ofi_fabric *f, struct ofi_op *op)
{
    const struct ofi_word_message *message =
        (const struct ofi_word_message *)f->inbox->base + (op - f->arrivals);
    size_t place = message->region & UINT32_MAX;
    const struct ofi_region *region =
        place < f->n_regions ? f->region[place] : NULL;
    if (STORM_LIKELY(region && region->id == message->region &&
                     message->offset % 8 == 0 &&
                     message->offset < region->region.bytes)) {
        unsigned char *at =
            (unsigned char *)region->region.base + message->offset;
        /* FABRIC-8; what was put before is in place, by this same thread. */
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, message->word,
                              memory_order_release);
    }
    op->next = f->unposted;
    f->unposted = op;
}

static void complete(struct ofi_fabric *f, struct ofi_op *op)
{
    if (op->kind == OFI_ARRIVAL) {
        store_arrival(f, op);
        return;
    }
    if (op->kind == OFI_GET) {
        op->done += op->piece;
        if (STORM_UNLIKELY(op->done < op->get.bytes)) {
            next_piece(f, op);
            return;
        }
    }
    finish(f, op, STORM_OK);
}

static void retry_stalled(struct ofi_fabric *f)
{
    struct ofi_op *op = f->stalled;
    f->stalled = NULL;
    while (op) {
        struct ofi_op *next = op->next;
        next_piece(f, op);
        op = next;
    }
}

/* The queue holds an error, or is one. */
static void read_error(struct ofi_fabric *f, ssize_t rc)
{
    char room[256] = "";
    struct fi_cq_err_entry error = {0};
    if (rc == -FI_EAVAIL)
        rc = fi_cq_readerr(f->cq, &error, 0);
    if (rc == -FI_EAGAIN)
        return;
    if (rc < 0) {
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ofi (%s): the completion queue failed: %s", f->name,
                        f->library.strerror((int)-rc));
        f->broken = STORM_ERR_FABRIC;
        return;
    }
    const char *detail = error.prov_errno
                             ? fi_cq_strerror(f->cq, error.prov_errno,
                                              error.err_data, room, sizeof room)
                             : NULL;
    struct ofi_op *op = error.op_context;
    if (!op || op->kind == OFI_ARRIVAL) { /* it has no ticket */
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ofi (%s): receiving a word failed: %s", f->name,
                        f->library.strerror(error.err));
        f->broken = STORM_ERR_FABRIC;
        return;
    }
    complain(f, op->peer, f->library.strerror(error.err), detail ? detail : "");
    finish(f, op, STORM_ERR_FABRIC);
}

static storm_status read_queue(struct ofi_fabric *f)
{
    struct fi_cq_entry entry[OFI_CQ_BATCH];
    if (STORM_UNLIKELY(f->broken < 0))
        return f->broken;
    f->has_posted = false;
    if (f->stream)
        storm_pace_restart(&f->pace, storm_clock_ticks());
    ssize_t n = fi_cq_read(f->cq, entry, OFI_CQ_BATCH);
    for (ssize_t i = 0; i < n; i++)
        complete(f, entry[i].op_context);
    if (STORM_UNLIKELY(n < 0 && n != -FI_EAGAIN))
        read_error(f, n);
    if (f->unposted) {
        int rc = ofi_post_arrivals(f);
        if (STORM_UNLIKELY(rc != 0))
            read_error(f, rc);
    }
    if (STORM_UNLIKELY(f->stalled != NULL))
        retry_stalled(f);
    return f->broken;
}

/* On a byte stream reading the queue takes some system calls, each about as
 * expensive as a small put. A rank that sends reads it less often; one that
 * waits, or got STORM_AGAIN, at once. */
static storm_status ofi_poll(struct storm_fabric *fabric)
{
    struct ofi_fabric *f = ofi_of(fabric);
    if (f->has_posted && !storm_pace_due(&f->pace))
        return f->broken;
    return read_queue(f);
}

static storm_status ofi_idle(struct storm_fabric *fabric, uint64_t n_empty)
{
    storm_status status = read_queue(ofi_of(fabric));
    storm_idle(n_empty);
    return status;
}

const struct storm_fabric_data_ops ofi_data = {
    .put = ofi_put,
    .get = ofi_get,
    .put_word = ofi_put_word,
    .fetch_add = ofi_fetch_add,
    .compare_swap = ofi_compare_swap,
    .poll = ofi_poll,
    .idle = ofi_idle,
};
