/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages over MPI.
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
    N_POSTED = 8,
    MAX_TESTS = 4 /* of messages sent, in one poll */
};

/* Tags, in the share. */
enum { MESSAGE_TAG = 0, CLOSE_TAG = 1 };

/* One message in flight. */
struct outgoing {
    struct storm_message message;
    MPI_Request request;
};

struct mpi_control {
    struct storm_control control;
    const struct storm_env *env;
    const struct storm_boot *boot;
    struct storm_mpi_share share;
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
                       MPI_ANY_SOURCE, c->share.tag + MESSAGE_TAG,
                       c->share.comm, &c->requests[i]);
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
    if (MPI_Issend(&out->message, (int)bytes, MPI_BYTE, rank,
                   c->share.tag + MESSAGE_TAG, c->share.comm,
                   &out->request) != MPI_SUCCESS) {
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
    struct storm_mpi_barrier all;
    storm_mpi_barrier_open(&all, c->share.comm, c->share.tag + CLOSE_TAG);
    c->reported = true;
    while (storm_mpi_barrier_try(&all) == STORM_AGAIN && all_here(c)) {
        (void)drain(c);
        storm_idle(n_empty++);
    }
    if (!all_here(c))
        return; /* MPI may still use its buffers: they are not freed */
    for (int i = 0; i < N_POSTED; i++) {
        MPI_Cancel(&c->requests[i]);
        MPI_Wait(&c->requests[i], MPI_STATUS_IGNORE);
    }
    storm_boot_mpi_return(c->boot, &c->share);
    storm_free(c->env->memory, c->out);
    storm_free(c->env->memory, c);
}

static const struct storm_control_ops mpi_control_ops = {
    .send = mpi_send,
    .poll = mpi_poll,
    .report = mpi_report,
    .close = mpi_close,
};

/* ---- opening of control messages ------------------------------------------*/

storm_status storm_control_mpi_open(const struct storm_boot *boot,
                                    const struct storm_env *env,
                                    struct storm_control **control_out)
{
    struct mpi_control *c =
        storm_alloc(env->memory, "control messages", sizeof *c);
    struct storm_mpi_share share;
    storm_status status =
        storm_boot_mpi_share(boot, c ? STORM_OK : STORM_ERR_NOMEM, &share);
    if (status < 0) {
        storm_free(env->memory, c);
        return status;
    }
    c->boot = boot;
    c->share = share;
    c->control.ops = &mpi_control_ops;
    c->env = env;
    for (int i = 0; i < N_POSTED; i++)
        if (post(c, i) < 0)
            return STORM_ERR_FABRIC;
    *control_out = &c->control;
    return STORM_OK;
}
