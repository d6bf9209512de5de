/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records by MPI messages: the classical method, and the baseline of every
 * comparison.
 *
 * A peer has a few send buffers; spans lie in them, so a record is copied once
 * before it is sent. Receives are posted ahead for any source; since they match
 * in the order they were posted, testing the oldest is enough, one MPI_Test per
 * poll. The first words of a message are its step and its number of records. A
 * message of the next step is set aside and another receive posted in its
 * place, so that those of this step are never stuck behind it.
 */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/idle.h"
#include "base/lifeline.h"
#include "channel/channel_control.h"
#include "channel/channel_ops.h"

enum {
    RECORDS_TAG = 0, /* in the share */
    WAVE_TAG = 1,
    N_POSTED = 32,       /* receives for records */
    N_WAVE_RECEIVES = 8, /* receives for wave messages */
    MIN_WINDOW = 4,      /* send buffers per peer */
    HEADER_BYTES = 64
};

struct p2p_header {
    uint64_t step;
    uint64_t n;
};

struct p2p_wave {
    uint64_t words[STORM_WAVE_WORDS];
    uint64_t number;
};

struct send_buffer {
    unsigned char *bytes;
    size_t n;            /* records written */
    MPI_Request request; /* MPI_REQUEST_NULL: free */
    bool used;           /* since the last trim */
};

struct p2p_peer {
    int rank;
    struct send_buffer *buffer; /* used in turn */
    size_t current;             /* the one being filled */
};

struct receive {
    unsigned char *bytes;
    MPI_Request request; /* MPI_REQUEST_NULL: it has arrived */
    int source;
    size_t taken; /* records released already */
};

struct p2p_channel {
    struct storm_channel channel;
    struct storm_channel_params params;
    struct storm_memory *memory;
    struct storm_mpi_share share;
    uint64_t step;
    bool gave_up;         /* and has reported it to its neighbours */
    size_t batch;         /* records per message at most */
    size_t window;        /* send buffers per peer */
    size_t message_bytes; /* of the largest message */

    int32_t *peer_of_rank; /* per rank: number of the peer, or -1 */
    struct p2p_peer *peer;
    size_t n_peers, peer_capacity;

    struct receive posted[N_POSTED]; /* a queue: oldest at next_posted */
    size_t next_posted;
    struct receive *aside; /* messages of the next step */
    size_t n_aside, aside_capacity;
    struct receive *due; /* those set aside in the step before */
    size_t n_due, due_capacity;
    unsigned char **spare; /* receive buffers not in use */
    size_t n_spare, spare_capacity;
    size_t min_spare; /* since the last trim */

    struct p2p_wave wave_in[N_WAVE_RECEIVES];
    MPI_Request wave_request[N_WAVE_RECEIVES];
    size_t next_wave;
    struct p2p_wave wave_newest[STORM_N_LINKS];
    struct p2p_wave wave_out[STORM_N_LINKS];
    MPI_Request wave_sent[STORM_N_LINKS];

    struct storm_channel_stats stats;
};

static struct p2p_channel *p2p_of(struct storm_channel *channel)
{
    return (struct p2p_channel *)channel;
}

static storm_status check(const struct p2p_channel *c, int rc, const char *what)
{
    if (STORM_LIKELY(rc == MPI_SUCCESS))
        return STORM_OK;
    storm_log_write(&c->params.env->log, STORM_LOG_ERROR, "%s failed", what);
    return STORM_ERR_FABRIC;
}

static storm_status test(const struct p2p_channel *c, MPI_Request *request,
                         int *done_out, MPI_Status *status_out)
{
    return check(c, MPI_Test(request, done_out, status_out), "MPI_Test");
}

/* Sending. */

static storm_status p2p_peer(struct storm_channel *channel, int rank,
                             uint32_t *peer_out)
{
    struct p2p_channel *c = p2p_of(channel);
    if (c->peer_of_rank[rank] < 0) {
        void *list = c->peer;
        storm_status status =
            storm_reserve(c->memory, "p2p peers", sizeof *c->peer,
                          c->n_peers + 1, &list, &c->peer_capacity);
        c->peer = list;
        struct send_buffer *buffer =
            status < 0 ? NULL
                       : storm_alloc(c->memory, "p2p peers",
                                     c->window * sizeof *buffer);
        if (!buffer)
            return STORM_ERR_NOMEM;
        for (size_t i = 0; i < c->window; i++)
            buffer[i].request = MPI_REQUEST_NULL;
        c->peer[c->n_peers] = (struct p2p_peer){.rank = rank, .buffer = buffer};
        c->peer_of_rank[rank] = (int32_t)c->n_peers++;
    }
    *peer_out = (uint32_t)c->peer_of_rank[rank];
    return STORM_OK;
}

static storm_status p2p_publish(struct storm_channel *channel, uint32_t i_peer)
{
    struct p2p_channel *c = p2p_of(channel);
    struct p2p_peer *peer = &c->peer[i_peer];
    struct send_buffer *buffer = &peer->buffer[peer->current];
    if (buffer->n == 0)
        return STORM_OK;
    struct p2p_header header = {.step = c->step, .n = buffer->n};
    memcpy(buffer->bytes, &header, sizeof header);
    size_t bytes = HEADER_BYTES + buffer->n * c->params.record_bytes;
    int rc =
        MPI_Isend(buffer->bytes, (int)bytes, MPI_BYTE, peer->rank,
                  c->share.tag + RECORDS_TAG, c->share.comm, &buffer->request);
    buffer->n = 0;
    buffer->used = true;
    peer->current = (peer->current + 1) % c->window;
    c->stats.batches++;
    return check(c, rc, "MPI_Isend");
}

static storm_status p2p_reserve(struct storm_channel *channel, uint32_t i_peer,
                                struct storm_span *span_out)
{
    struct p2p_channel *c = p2p_of(channel);
    struct p2p_peer *peer = &c->peer[i_peer];
    storm_status status = STORM_OK;
    if (peer->buffer[peer->current].n == c->batch)
        status = p2p_publish(channel, i_peer);
    if (status < 0)
        return status;
    struct send_buffer *buffer = &peer->buffer[peer->current];
    if (!buffer->bytes) {
        buffer->bytes =
            storm_alloc(c->memory, "p2p send buffers", c->message_bytes);
        if (!buffer->bytes)
            return STORM_ERR_NOMEM;
    }
    if (buffer->request != MPI_REQUEST_NULL) {
        int done = 0;
        status = test(c, &buffer->request, &done, MPI_STATUS_IGNORE);
        if (status < 0 || !done)
            return status < 0 ? status : STORM_AGAIN;
    }
    *span_out = (struct storm_span){
        .records =
            buffer->bytes + HEADER_BYTES + buffer->n * c->params.record_bytes,
        .n = c->batch - buffer->n,
    };
    return STORM_OK;
}

static void p2p_commit(struct storm_channel *channel, uint32_t i_peer, size_t n)
{
    struct p2p_peer *peer = &p2p_of(channel)->peer[i_peer];
    peer->buffer[peer->current].n += n;
}

/* Receiving. */

static storm_status post(struct p2p_channel *c, struct receive *receive)
{
    receive->taken = 0;
    int rc = MPI_Irecv(receive->bytes, (int)c->message_bytes, MPI_BYTE,
                       MPI_ANY_SOURCE, c->share.tag + RECORDS_TAG,
                       c->share.comm, &receive->request);
    return check(c, rc, "MPI_Irecv");
}

static unsigned char *receive_buffer(struct p2p_channel *c)
{
    if (c->n_spare > 0) {
        unsigned char *spare = c->spare[--c->n_spare];
        if (c->n_spare < c->min_spare)
            c->min_spare = c->n_spare;
        return spare;
    }
    return storm_alloc(c->memory, "p2p receive buffers", c->message_bytes);
}

static struct p2p_header header_of(const struct receive *receive)
{
    struct p2p_header header;
    memcpy(&header, receive->bytes, sizeof header);
    return header;
}

/* Sets the oldest receive aside and posts another in its place. */
static storm_status set_aside(struct p2p_channel *c, struct receive *receive)
{
    void *list = c->aside, *due = c->due;
    storm_status status =
        storm_reserve(c->memory, "p2p receive buffers", sizeof *c->aside,
                      c->n_aside + 1, &list, &c->aside_capacity);
    c->aside = list;
    if (status == STORM_OK)
        status = storm_reserve(c->memory, "p2p receive buffers", sizeof *c->due,
                               c->n_aside + 1, &due, &c->due_capacity);
    c->due = due;
    unsigned char *bytes = status < 0 ? NULL : receive_buffer(c);
    if (!bytes)
        return STORM_ERR_NOMEM;
    c->aside[c->n_aside++] = *receive;
    receive->bytes = bytes;
    status = post(c, receive);
    c->next_posted = (c->next_posted + 1) % N_POSTED;
    return status;
}

enum { SLOT_DUE = 0, SLOT_POSTED = 1 };

static void lend(const struct receive *receive, size_t record_bytes,
                 uint32_t slot, struct storm_arrival *arrival_out)
{
    *arrival_out = (struct storm_arrival){
        .records =
            receive->bytes + HEADER_BYTES + receive->taken * record_bytes,
        .n = header_of(receive).n - receive->taken,
        .rank = receive->source,
        .slot = slot,
    };
}

static storm_status p2p_take(struct storm_channel *channel,
                             struct storm_arrival *arrival_out)
{
    struct p2p_channel *c = p2p_of(channel);
    if (c->n_due > 0) {
        lend(&c->due[c->n_due - 1], c->params.record_bytes, SLOT_DUE,
             arrival_out);
        return STORM_OK;
    }
    for (;;) {
        struct receive *oldest = &c->posted[c->next_posted];
        storm_status status;
        if (oldest->request != MPI_REQUEST_NULL) {
            int done = 0;
            MPI_Status from;
            status = test(c, &oldest->request, &done, &from);
            if (status < 0 || !done)
                return status < 0 ? status : STORM_AGAIN;
            oldest->source = from.MPI_SOURCE;
        }
        if (header_of(oldest).step == c->step) {
            lend(oldest, c->params.record_bytes, SLOT_POSTED, arrival_out);
            return STORM_OK;
        }
        status = set_aside(c, oldest);
        if (status < 0)
            return status;
    }
}

static storm_status p2p_release(struct storm_channel *channel,
                                const struct storm_arrival *arrival)
{
    struct p2p_channel *c = p2p_of(channel);
    struct receive *receive = arrival->slot == SLOT_POSTED
                                  ? &c->posted[c->next_posted]
                                  : &c->due[c->n_due - 1];
    receive->taken += arrival->n;
    if (receive->taken < header_of(receive).n)
        return STORM_OK;
    if (arrival->slot == SLOT_POSTED) {
        storm_status status = post(c, &c->posted[c->next_posted]);
        c->next_posted = (c->next_posted + 1) % N_POSTED;
        return status;
    }
    void *list = c->spare;
    storm_status status =
        storm_reserve(c->memory, "p2p receive buffers", sizeof *c->spare,
                      c->n_spare + 1, &list, &c->spare_capacity);
    c->spare = list;
    if (status < 0)
        return status;
    c->spare[c->n_spare++] = c->due[--c->n_due].bytes;
    return STORM_OK;
}

/* Wave messages. */

static storm_status post_wave(struct p2p_channel *c, size_t i)
{
    int rc = MPI_Irecv(&c->wave_in[i], (int)sizeof c->wave_in[i], MPI_BYTE,
                       MPI_ANY_SOURCE, c->share.tag + WAVE_TAG, c->share.comm,
                       &c->wave_request[i]);
    return check(c, rc, "MPI_Irecv");
}

static storm_status p2p_note_send(struct storm_channel *channel,
                                  enum storm_link link,
                                  const uint64_t words[STORM_WAVE_WORDS],
                                  uint64_t number)
{
    struct p2p_channel *c = p2p_of(channel);
    int done = 1;
    if (c->wave_sent[link] != MPI_REQUEST_NULL) {
        storm_status status =
            test(c, &c->wave_sent[link], &done, MPI_STATUS_IGNORE);
        if (status < 0)
            return status;
    }
    if (!done)
        return STORM_AGAIN;
    memcpy(c->wave_out[link].words, words, sizeof c->wave_out[link].words);
    c->wave_out[link].number = number;
    int rank = c->channel.tree.rank[link];
    int rc = MPI_Isend(&c->wave_out[link], (int)sizeof c->wave_out[link],
                       MPI_BYTE, rank, c->share.tag + WAVE_TAG, c->share.comm,
                       &c->wave_sent[link]);
    return check(c, rc, "MPI_Isend");
}

static storm_status fetch_waves(struct p2p_channel *c)
{
    for (;;) {
        int done = 0;
        MPI_Status from;
        storm_status status =
            test(c, &c->wave_request[c->next_wave], &done, &from);
        if (status < 0 || !done)
            return status;
        for (int i = 0; i < STORM_N_LINKS; i++)
            if (c->channel.tree.rank[i] == from.MPI_SOURCE)
                c->wave_newest[i] = c->wave_in[c->next_wave];
        status = post_wave(c, c->next_wave);
        if (status < 0)
            return status;
        c->next_wave = (c->next_wave + 1) % N_WAVE_RECEIVES;
    }
}

static storm_status p2p_note_read(struct storm_channel *channel,
                                  enum storm_link link,
                                  uint64_t words_out[STORM_WAVE_WORDS],
                                  uint64_t *number_out)
{
    const struct p2p_wave *message = &p2p_of(channel)->wave_newest[link];
    if (words_out)
        memcpy(words_out, message->words, sizeof message->words);
    *number_out = message->number;
    return STORM_OK;
}

/* Life, steps and progress. */

static storm_status p2p_begin_step(struct storm_channel *channel, uint64_t step)
{
    struct p2p_channel *c = p2p_of(channel);
    c->step = step;
    STORM_ASSERT(c->n_due == 0);
    struct receive *list = c->due;
    size_t capacity = c->due_capacity;
    c->due = c->aside;
    c->due_capacity = c->aside_capacity;
    c->n_due = c->n_aside;
    c->aside = list;
    c->aside_capacity = capacity;
    c->n_aside = 0;
    return STORM_OK;
}

static storm_status p2p_end_step(struct storm_channel *channel)
{
    struct p2p_channel *c = p2p_of(channel);
    int done = 1;
    for (int i = 0; i < STORM_N_LINKS && done; i++)
        if (c->wave_sent[i] != MPI_REQUEST_NULL) {
            storm_status status =
                test(c, &c->wave_sent[i], &done, MPI_STATUS_IGNORE);
            if (status < 0)
                return status;
        }
    return done ? STORM_OK : STORM_AGAIN;
}

static void p2p_give_up(struct storm_channel *channel)
{
    struct p2p_channel *c = p2p_of(channel);
    if (!c->gave_up && c->params.control)
        storm_control_fail(c->params.control, &c->channel.tree);
    c->gave_up = true;
}

static storm_status p2p_progress(struct storm_channel *channel)
{
    return fetch_waves(p2p_of(channel)); /* any MPI call drives all */
}

static storm_status p2p_control(struct storm_channel *channel)
{
    struct p2p_channel *c = p2p_of(channel);
    struct storm_control *control = c->params.control;
    int rank;
    struct storm_message message;
    storm_status status = STORM_AGAIN;
    if (control)
        status = control->ops->poll(control, &rank, &message);
    if (status != STORM_OK)
        return status < 0 ? status : STORM_OK;
    p2p_give_up(channel); /* FAIL is the only message there is */
    return STORM_ERR_PEER;
}

static storm_status p2p_idle(struct storm_channel *channel, uint64_t n_empty)
{
    (void)channel;
    storm_idle(n_empty);
    return STORM_OK;
}

/* Frees a buffer that no message has used since the last trim. */
static storm_status trim_buffer(const struct p2p_channel *c,
                                struct send_buffer *buffer)
{
    int done = 1;
    bool used = buffer->used || buffer->n > 0;
    buffer->used = false;
    if (used || !buffer->bytes)
        return STORM_OK;
    storm_status status = STORM_OK;
    if (buffer->request != MPI_REQUEST_NULL)
        status = test(c, &buffer->request, &done, MPI_STATUS_IGNORE);
    if (status < 0 || !done)
        return status;
    storm_free(c->memory, buffer->bytes);
    buffer->bytes = NULL;
    return STORM_OK;
}

/* Also frees receive buffers that were spare all the time since then. */
static storm_status p2p_trim(struct storm_channel *channel)
{
    struct p2p_channel *c = p2p_of(channel);
    storm_status status = STORM_OK;
    for (size_t i = 0; i < c->n_peers && status >= 0; i++)
        for (size_t k = 0; k < c->window && status >= 0; k++)
            status = trim_buffer(c, &c->peer[i].buffer[k]);
    for (; c->min_spare > 0; c->min_spare--)
        storm_free(c->memory, c->spare[--c->n_spare]);
    c->min_spare = c->n_spare;
    return status;
}

static void p2p_stats(const struct storm_channel *channel,
                      struct storm_channel_stats *stats_out)
{
    *stats_out = ((const struct p2p_channel *)channel)->stats;
}

/* Drops what still arrives, of any step. */
static void drain(struct p2p_channel *c)
{
    int done = 1;
    while (done) {
        struct receive *oldest = &c->posted[c->next_posted];
        if (test(c, &oldest->request, &done, MPI_STATUS_IGNORE) < 0)
            return;
        if (done && post(c, oldest) < 0)
            return;
        c->next_posted = (c->next_posted + (size_t)done) % N_POSTED;
    }
    (void)fetch_waves(c);
}

static bool all_sent(struct p2p_channel *c)
{
    int done = 1;
    for (size_t i = 0; i < c->n_peers && done; i++)
        for (size_t k = 0; k < c->window && done; k++)
            if (c->peer[i].buffer[k].request != MPI_REQUEST_NULL)
                MPI_Test(&c->peer[i].buffer[k].request, &done,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < STORM_N_LINKS && done; i++)
        if (c->wave_sent[i] != MPI_REQUEST_NULL)
            MPI_Test(&c->wave_sent[i], &done, MPI_STATUS_IGNORE);
    return done;
}

static void p2p_free(struct p2p_channel *c)
{
    for (size_t i = 0; i < c->n_peers; i++) {
        for (size_t k = 0; k < c->window; k++)
            storm_free(c->memory, c->peer[i].buffer[k].bytes);
        storm_free(c->memory, c->peer[i].buffer);
    }
    for (int i = 0; i < N_POSTED; i++)
        storm_free(c->memory, c->posted[i].bytes);
    for (size_t i = 0; i < c->n_spare; i++)
        storm_free(c->memory, c->spare[i]);
    storm_free(c->memory, c->spare);
    storm_free(c->memory, c->aside);
    storm_free(c->memory, c->due);
    storm_free(c->memory, c->peer);
    storm_free(c->memory, c->peer_of_rank);
    storm_free(c->memory, c);
}

static void p2p_close(struct storm_channel *channel)
{
    struct p2p_channel *c = p2p_of(channel);
    uint64_t n_empty = 0;
    /* What was set aside is dropped with its buffers. */
    for (size_t i = 0; i < c->n_aside; i++)
        storm_free(c->memory, c->aside[i].bytes);
    for (size_t i = 0; i < c->n_due; i++)
        storm_free(c->memory, c->due[i].bytes);
    c->n_aside = c->n_due = 0;
    struct storm_lifeline *lifeline = c->params.env->lifeline;
    while (!all_sent(c) && storm_lifeline_check(lifeline) == STORM_OK) {
        drain(c);
        storm_idle(n_empty++);
    }
    while (c->params.boot->barrier_try(c->params.boot->self) == STORM_AGAIN) {
        drain(c);
        storm_idle(n_empty++);
    }
    if (storm_lifeline_check(lifeline) < 0) {
        /* MPI may still use its buffers: they are not freed. */
        return;
    }
    for (int i = 0; i < N_POSTED; i++) {
        MPI_Cancel(&c->posted[i].request);
        MPI_Wait(&c->posted[i].request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N_WAVE_RECEIVES; i++) {
        MPI_Cancel(&c->wave_request[i]);
        MPI_Wait(&c->wave_request[i], MPI_STATUS_IGNORE);
    }
    storm_boot_mpi_return(c->params.boot, &c->share);
    p2p_free(c);
}

static const struct storm_channel_data_ops p2p_data = {
    .peer = p2p_peer,
    .reserve = p2p_reserve,
    .commit = p2p_commit,
    .publish = p2p_publish,
    .take = p2p_take,
    .release = p2p_release,
};

static const struct storm_channel_wave_ops p2p_waves = {
    .send = p2p_note_send,
    .read = p2p_note_read,
};

/* Sizes from the options, and memory that does not depend on peers. */
static storm_status prepare(struct p2p_channel *c)
{
    size_t record = c->params.record_bytes;
    size_t max = ((size_t)1 << 20) / record; /* a message is at most 1 MiB */
    c->batch = c->params.batch < max ? c->params.batch : max;
    c->window = c->params.slots / c->batch;
    if (c->window < MIN_WINDOW)
        c->window = MIN_WINDOW;
    c->message_bytes = HEADER_BYTES + c->batch * record;
    size_t size = (size_t)c->params.boot->size;
    c->peer_of_rank =
        storm_alloc(c->memory, "p2p peers by rank", size * sizeof(int32_t));
    if (!c->peer_of_rank)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < size; i++)
        c->peer_of_rank[i] = -1;
    for (int i = 0; i < N_POSTED; i++)
        if (!(c->posted[i].bytes = receive_buffer(c)))
            return STORM_ERR_NOMEM;
    for (int i = 0; i < STORM_N_LINKS; i++)
        c->wave_sent[i] = MPI_REQUEST_NULL;
    return STORM_OK;
}

static storm_status p2p_open(const struct storm_channel_params *params,
                             struct storm_channel **channel_out)
{
    struct p2p_channel *c =
        storm_alloc(params->env->memory, "p2p channel", sizeof *c);
    storm_status status = STORM_ERR_NOMEM;
    if (c) {
        c->channel = (struct storm_channel){
            .ops = &storm_channel_p2p,
            .data = &p2p_data,
            .wave = &p2p_waves,
            .names = {.backend = "p2p",
                      .provider = "",
                      .near = "",
                      .protocol = "none"},
            .tree = storm_tree_given(params),
        };
        c->params = *params;
        c->memory = params->env->memory;
        status = prepare(c);
    }
    struct storm_mpi_share share;
    status = storm_boot_mpi_share(params->boot, status, &share);
    if (status < 0) {
        if (c)
            p2p_free(c);
        return status;
    }
    c->share = share;
    for (size_t i = 0; i < N_POSTED && status == STORM_OK; i++)
        status = post(c, &c->posted[i]);
    for (size_t i = 0; i < N_WAVE_RECEIVES && status == STORM_OK; i++)
        status = post_wave(c, i);
    if (status < 0)
        return status; /* MPI has failed; nothing can be freed */
    *channel_out = &c->channel;
    return STORM_OK;
}

const struct storm_channel_ops storm_channel_p2p = {
    .name = "p2p",
    .open = p2p_open,
    .close = p2p_close,
    .begin_step = p2p_begin_step,
    .end_step = p2p_end_step,
    .give_up = p2p_give_up,
    .progress = p2p_progress,
    .control = p2p_control,
    .idle = p2p_idle,
    .trim = p2p_trim,
    .stats = p2p_stats,
};
