/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages and boot over MPI.
 *
 * Messages are sent in synchronous mode, so that a completed send has been
 * received: that is how close knows when no message is in flight.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idle.h"
#include "base/lifeline.h"
#include "base/patience.h"
#include "channel/channel_control.h"

enum {
    MESSAGE_TAG = 7,
    EXCHANGE_TAG = 8,
    N_POSTED = 8,
    MAX_TESTS = 4, /* of messages sent, in one poll */
    LATE_AGAIN_S = 10
};

/* One message in flight. */
struct outgoing {
    struct storm_message message;
    MPI_Request request;
};

struct mpi_control {
    struct storm_control control;
    const struct storm_env *env;
    MPI_Comm comm;
    struct storm_message posted[N_POSTED];
    MPI_Request requests[N_POSTED];
    int next; /* receives complete in the order they were posted */
    struct outgoing **out;
    size_t n_out, out_capacity;
    size_t next_out; /* to be tested */
    bool reported;   /* passed on its one report: CONTROL-5 */
};

static storm_status post(struct mpi_control *c, int i)
{
    int rc = MPI_Irecv(&c->posted[i], (int)sizeof c->posted[i], MPI_BYTE,
                       MPI_ANY_SOURCE, MESSAGE_TAG, c->comm, &c->requests[i]);
    return rc == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
}

/* Frees messages that have been received: looks at a few, in turn (CONTROL-4).
 */
static storm_status reap(struct mpi_control *c)
{
    for (int i = 0; i < MAX_TESTS && c->n_out > 0; i++) {
        int done = 0;
        if (c->next_out >= c->n_out)
            c->next_out = 0;
        struct outgoing **at = &c->out[c->next_out];
        if (MPI_Test(&(*at)->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return STORM_ERR_FABRIC;
        if (done) {
            storm_free(c->env->memory, *at);
            *at = c->out[--c->n_out];
        } else {
            c->next_out++;
        }
    }
    return STORM_OK;
}

static storm_status mpi_send(struct storm_control *control, int rank,
                             const struct storm_message *message)
{
    struct mpi_control *c = (struct mpi_control *)control;
    void *list = c->out;
    storm_status status =
        storm_reserve(c->env->memory, "control messages", sizeof *c->out,
                      c->n_out + 1, &list, &c->out_capacity);
    c->out = list;
    struct outgoing *out =
        status < 0
            ? NULL
            : storm_alloc(c->env->memory, "control messages", sizeof *out);
    if (!out)
        return STORM_ERR_NOMEM;
    out->message = *message;
    size_t bytes = message->kind == STORM_MESSAGE_REPORT
                       ? sizeof *message
                       : offsetof(struct storm_message, text);
    if (MPI_Issend(&out->message, (int)bytes, MPI_BYTE, rank, MESSAGE_TAG,
                   c->comm, &out->request) != MPI_SUCCESS) {
        storm_free(c->env->memory, out);
        return STORM_ERR_FABRIC;
    }
    c->out[c->n_out++] = out;
    return STORM_OK;
}

static storm_status pass_on(struct mpi_control *c,
                            const struct storm_message *report)
{
    int rank = c->env->rank;
    if (c->reported)
        return STORM_OK;
    c->reported = true;
    if (rank > 0)
        return mpi_send(&c->control, (rank - 1) / 2, report);
    storm_log_write(&c->env->log, STORM_LOG_WARN, "%s", report->text);
    return STORM_OK;
}

static storm_status mpi_report(struct storm_control *control, const char *text)
{
    struct mpi_control *c = (struct mpi_control *)control;
    struct storm_message message = {.kind = STORM_MESSAGE_REPORT};
    snprintf(message.text, sizeof message.text, "%s", text);
    storm_status status = pass_on(c, &message);
    if (status == STORM_OK)
        status = reap(c); /* MPI may need calls to send it */
    return status < 0 || c->n_out == 0 ? status : STORM_AGAIN;
}

static storm_status receive(struct mpi_control *c, int *rank_out,
                            struct storm_message *message_out)
{
    if (c->n_out > 0 && reap(c) < 0)
        return STORM_ERR_FABRIC;
    int done = 0;
    MPI_Status from;
    if (MPI_Test(&c->requests[c->next], &done, &from) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    if (!done)
        return STORM_AGAIN;
    *rank_out = from.MPI_SOURCE;
    *message_out = c->posted[c->next];
    storm_status status = post(c, c->next);
    c->next = (c->next + 1) % N_POSTED;
    return status;
}

static storm_status mpi_poll(struct storm_control *control, int *rank_out,
                             struct storm_message *message_out)
{
    struct mpi_control *c = (struct mpi_control *)control;
    for (;;) {
        storm_status status = receive(c, rank_out, message_out);
        if (status != STORM_OK || message_out->kind != STORM_MESSAGE_REPORT)
            return status;
        (void)pass_on(c, message_out); /* without memory it is lost, no more */
    }
}

/* Receives and drops what has arrived. */
static storm_status drain(struct mpi_control *c)
{
    int rank;
    struct storm_message message;
    storm_status status;
    while ((status = mpi_poll(&c->control, &rank, &message)) == STORM_OK)
        continue;
    return status;
}

static bool all_here(const struct mpi_control *c)
{
    return storm_lifeline_check(c->env->lifeline) == STORM_OK;
}

static void mpi_close(struct storm_control *control)
{
    struct mpi_control *c = (struct mpi_control *)control;
    uint64_t n_empty = 0;
    while (c->n_out > 0 && all_here(c) && drain(c) >= 0)
        storm_idle(n_empty++);
    /* Our messages are received; when this holds on all ranks, none is left, so
     * from here on no report is passed on. */
    MPI_Request all;
    c->reported = true;
    MPI_Ibarrier(c->comm, &all);
    for (int done = 0; !done && all_here(c);) {
        (void)drain(c);
        MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (!done)
            storm_idle(n_empty++);
    }
    if (!all_here(c))
        return; /* MPI may still use its buffers: they are not freed */
    for (int i = 0; i < N_POSTED; i++) {
        MPI_Cancel(&c->requests[i]);
        MPI_Wait(&c->requests[i], MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&c->comm);
    storm_free(c->env->memory, c->out);
    storm_free(c->env->memory, c);
}

static const struct storm_control_ops mpi_control_ops = {
    .send = mpi_send,
    .poll = mpi_poll,
    .report = mpi_report,
    .close = mpi_close,
};

/* ---- boot -----------------------------------------------------------------*/

/* What MPI works on is here: after a loss messages may still arrive, and it is
 * not freed then (BOOT-3). */
struct mpi_boot {
    MPI_Comm comm;
    MPI_Comm copy; /* in the making */
    MPI_Request barrier;
    struct storm_lifeline *lifeline;
    int mine, min; /* of a minimum in flight */
    unsigned char root[STORM_BOOT_BYTES];
    unsigned char out[STORM_BOOT_LINKS][STORM_BOOT_BYTES];
    unsigned char in[STORM_BOOT_LINKS][STORM_BOOT_BYTES];
    struct storm_patience patience; /* of a wait */
    const struct storm_log *log;    /* of waits without */
    bool awake;                     /* IDLE-3 */
};

/* The others do not come: they wait elsewhere. If no lifeline tells them, only
 * its log does. */
static void boot_late(struct mpi_boot *b)
{
    int rank = 0;
    MPI_Comm_rank(b->comm, &rank);
    storm_log_write(b->log, STORM_LOG_WARN,
                    "rank %d has failed in a step and waits for the others to "
                    "end it: one is in a collective call of a callback, or "
                    "computes",
                    rank);
    storm_lifeline_fail(b->lifeline);
    storm_patience_begin(&b->patience, LATE_AGAIN_S);
}

/* Waits for a request as long as no rank is lost. */
static storm_status boot_wait(struct mpi_boot *b, int rc, MPI_Request *request)
{
    int done = 0;
    for (uint64_t n_empty = 0; rc == MPI_SUCCESS && !done; n_empty++) {
        storm_status status = storm_lifeline_check(b->lifeline);
        if (status < 0)
            return status;
        rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            storm_idle(storm_idle_count(!b->awake, n_empty));
        if (!done && storm_patience_over(&b->patience))
            boot_late(b);
    }
    return rc == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
}

static storm_status boot_broadcast(void *self, void *inout, size_t bytes)
{
    struct mpi_boot *b = self;
    MPI_Request request;
    storm_status status = storm_lifeline_check(b->lifeline);
    if (status < 0)
        return status;
    STORM_ASSERT(bytes <= STORM_BOOT_BYTES);
    memcpy(b->root, inout, bytes); /* of use on rank 0 alone */
    int rc = MPI_Ibcast(b->root, (int)bytes, MPI_BYTE, 0, b->comm, &request);
    status = boot_wait(b, rc, &request);
    if (status == STORM_OK)
        memcpy(inout, b->root, bytes);
    return status;
}

static storm_status boot_exchange(void *self,
                                  const struct storm_boot_link *link,
                                  int n_links, size_t bytes)
{
    struct mpi_boot *b = self;
    MPI_Request in[STORM_BOOT_LINKS], out[STORM_BOOT_LINKS];
    storm_status status = storm_lifeline_check(b->lifeline);
    if (status < 0)
        return status;
    STORM_ASSERT(n_links <= STORM_BOOT_LINKS && bytes <= STORM_BOOT_BYTES);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < n_links; i++)
        in[i] = out[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < n_links && rc == MPI_SUCCESS; i++)
        if (link[i].from >= 0)
            rc = MPI_Irecv(b->in[i], (int)bytes, MPI_BYTE, link[i].from,
                           EXCHANGE_TAG, b->comm, &in[i]);
    for (int i = 0; i < n_links && rc == MPI_SUCCESS; i++)
        if (link[i].to >= 0) {
            memcpy(b->out[i], link[i].mine, bytes);
            rc = MPI_Isend(b->out[i], (int)bytes, MPI_BYTE, link[i].to,
                           EXCHANGE_TAG, b->comm, &out[i]);
        }
    for (int i = 0; i < n_links && status == STORM_OK; i++) {
        status = boot_wait(b, rc, &in[i]);
        if (status == STORM_OK)
            status = boot_wait(b, rc, &out[i]);
        if (status == STORM_OK && link[i].from >= 0)
            memcpy(link[i].theirs_out, b->in[i], bytes);
    }
    return status;
}

static storm_status boot_minimum(void *self, int mine, int *min_out)
{
    struct mpi_boot *b = self;
    MPI_Request request;
    storm_status status = storm_lifeline_check(b->lifeline);
    if (status < 0)
        return status;
    b->mine = mine;
    int rc = MPI_Iallreduce(&b->mine, &b->min, 1, MPI_INT, MPI_MIN, b->comm,
                            &request);
    status = boot_wait(b, rc, &request);
    if (status == STORM_OK)
        *min_out = b->min;
    return status;
}

static storm_status boot_barrier_try(void *self)
{
    struct mpi_boot *b = self;
    int done = 0;
    storm_status status = storm_lifeline_check(b->lifeline);
    if (status < 0)
        return status;
    if (b->barrier == MPI_REQUEST_NULL &&
        MPI_Ibarrier(b->comm, &b->barrier) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    if (MPI_Test(&b->barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    return done ? STORM_OK : STORM_AGAIN;
}

/* Fills what a boot over b->comm consists of. Errors there return, also to a
 * fabric that uses the communicator. */
static void boot_fill(struct mpi_boot *b, struct storm_boot *boot_out)
{
    MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN);
    *boot_out = (struct storm_boot){
        .self = b,
        .mpi_comm = &b->comm,
        .broadcast = boot_broadcast,
        .exchange = boot_exchange,
        .minimum = boot_minimum,
        .barrier_try = boot_barrier_try,
    };
    MPI_Comm_rank(b->comm, &boot_out->rank);
    MPI_Comm_size(b->comm, &boot_out->size);
}

storm_status storm_boot_mpi_open(MPI_Comm comm, struct storm_boot *boot_out)
{
    struct mpi_boot *b = malloc(sizeof *b);
    int mine = b ? 0 : STORM_ERR_NOMEM, worst = 0;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, comm);
    if (worst < 0) {
        free(b);
        return mine < 0 ? STORM_ERR_NOMEM : STORM_ERR_PEER;
    }
    *b = (struct mpi_boot){.barrier = MPI_REQUEST_NULL};
    if (MPI_Comm_dup(comm, &b->comm) != MPI_SUCCESS) {
        free(b);
        return STORM_ERR_FABRIC;
    }
    boot_fill(b, boot_out);
    return STORM_OK;
}

storm_status storm_boot_mpi_dup(const struct storm_boot *boot,
                                MPI_Comm *comm_out)
{
    struct mpi_boot *b = boot->self;
    MPI_Request request;
    storm_status status = storm_lifeline_check(b->lifeline);
    if (status < 0)
        return status;
    int rc = MPI_Comm_idup(b->comm, &b->copy, &request);
    status = boot_wait(b, rc, &request);
    if (status == STORM_OK)
        *comm_out = b->copy;
    return status;
}

storm_status storm_boot_mpi_copy(const struct storm_boot *boot,
                                 struct storm_boot *boot_out)
{
    const struct mpi_boot *from = boot->self;
    struct mpi_boot *b = malloc(sizeof *b);
    storm_status status =
        storm_boot_agree(boot, b ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        *b = (struct mpi_boot){.barrier = MPI_REQUEST_NULL,
                               .lifeline = from->lifeline};
        status = storm_boot_mpi_dup(boot, &b->comm);
    }
    if (status < 0) {
        free(b);
        return status;
    }
    boot_fill(b, boot_out);
    return STORM_OK;
}

void storm_boot_mpi_watch(struct storm_boot *boot,
                          struct storm_lifeline *lifeline)
{
    ((struct mpi_boot *)boot->self)->lifeline = lifeline;
}

void storm_boot_mpi_awake(struct storm_boot *boot, bool awake)
{
    ((struct mpi_boot *)boot->self)->awake = awake;
}

storm_status storm_boot_mpi_agree(const struct storm_boot *boot,
                                  storm_status mine, double patience_s,
                                  const struct storm_log *log)
{
    struct mpi_boot *b = boot->self;
    b->log = log;
    storm_patience_begin(&b->patience, mine < 0 ? patience_s : 0);
    storm_status status = storm_boot_agree(boot, mine);
    storm_patience_begin(&b->patience, 0);
    return status;
}

storm_status storm_boot_mpi_wait(const struct storm_boot *boot,
                                 MPI_Request *request)
{
    return boot_wait(boot->self, MPI_SUCCESS, request);
}

void storm_boot_mpi_close(struct storm_boot *boot)
{
    struct mpi_boot *b = boot->self;
    boot->self = NULL;
    if (storm_lifeline_check(b->lifeline) < 0)
        return;
    MPI_Comm_free(&b->comm);
    free(b);
}

/* ---- opening of control messages ------------------------------------------*/

storm_status storm_control_mpi_open(const struct storm_boot *boot,
                                    const struct storm_env *env,
                                    struct storm_control **control_out)
{
    struct mpi_control *c =
        storm_alloc(env->memory, "control messages", sizeof *c);
    storm_status status =
        storm_boot_agree(boot, c ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_boot_mpi_dup(boot, &c->comm);
    if (status < 0) {
        storm_free(env->memory, c);
        return status;
    }
    c->control.ops = &mpi_control_ops;
    c->env = env;
    for (int i = 0; i < N_POSTED; i++)
        if (post(c, i) < 0)
            return STORM_ERR_FABRIC;
    *control_out = &c->control;
    return STORM_OK;
}
