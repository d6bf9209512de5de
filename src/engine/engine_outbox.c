/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_outbox.h"

enum {
    BATCH_LEAST = 16,
    BATCH_MAX = 512,
    FULL_TO_GROW = 8,
    BATCH_TO_STREAM = 8
};

storm_status storm_outbox_open(struct storm_outbox *outbox,
                               const struct storm_env *env,
                               struct storm_channel *channel,
                               struct storm_store *store)
{
    *outbox =
        (struct storm_outbox){.env = env, .channel = channel, .store = store};
    outbox->batch_first =
        (size_t)storm_options_int(env->options, "transport.batch");
    outbox->adaptive = !storm_options_is_set(env->options, "transport.batch");
    outbox->batch_max = outbox->adaptive ? BATCH_MAX : outbox->batch_first;
    size_t size = (size_t)env->size;
    outbox->box_of_rank =
        storm_alloc(env->memory, "outbox by rank", size * sizeof(int32_t));
    if (!outbox->box_of_rank)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < size; i++)
        outbox->box_of_rank[i] = -1;
    return STORM_OK;
}

void storm_outbox_close(struct storm_outbox *outbox)
{
    for (size_t i = 0; i < outbox->n_boxes; i++)
        storm_list_free(&outbox->box[i].held, outbox->env->memory);
    if (outbox->env) {
        storm_free(outbox->env->memory, outbox->box);
        storm_free(outbox->env->memory, outbox->box_of_rank);
    }
}

storm_status storm_outbox_expect(struct storm_outbox *outbox, int rank,
                                 uint32_t *box_out)
{
    uint32_t peer;
    storm_status status =
        outbox->channel->data->peer(outbox->channel, rank, &peer);
    if (status < 0)
        return status;
    if (outbox->box_of_rank[rank] < 0) {
        void *list = outbox->box;
        status =
            storm_reserve(outbox->env->memory, "outbox", sizeof *outbox->box,
                          outbox->n_boxes + 1, &list, &outbox->box_capacity);
        outbox->box = list;
        if (status < 0)
            return status;
        outbox->box[outbox->n_boxes] = (struct storm_box){
            .rank = rank, .peer = peer, .batch = outbox->batch_first};
        outbox->box_of_rank[rank] = (int32_t)outbox->n_boxes++;
    }
    *box_out = (uint32_t)outbox->box_of_rank[rank];
    return STORM_OK;
}

static void close_span(struct storm_outbox *outbox, struct storm_box *box)
{
    if (!box->span_open)
        return;
    size_t written = box->lent - box->room;
    outbox->channel->data->commit(outbox->channel, box->peer, written);
    box->gathered += written;
    box->sent += written;
    box->span_open = false;
    box->room = box->lent = 0;
}

static storm_status publish(struct storm_outbox *outbox, struct storm_box *box)
{
    box->gathered = 0;
    return outbox->channel->data->publish(outbox->channel, box->peer);
}

/* Opens the next span; STORM_AGAIN: no room, and what is gathered has been
 * published so that the receiver can make some. */
static storm_status open_span(struct storm_outbox *outbox,
                              struct storm_box *box)
{
    struct storm_span span;
    storm_status status =
        outbox->channel->data->reserve(outbox->channel, box->peer, &span);
    if (status == STORM_AGAIN && box->gathered > 0) {
        status = publish(outbox, box);
        return status < 0 ? status : STORM_AGAIN;
    }
    if (status != STORM_OK)
        return status;
    size_t wanted = box->batch - box->gathered;
    box->span_open = true;
    /* A fence per publication is worth it only for more than a few; and on a
     * crowded node the reader often is the next to run on this very core. */
    box->span_far =
        span.far && box->batch >= BATCH_TO_STREAM && !outbox->env->crowded;
    box->next = span.records;
    box->room = box->lent = span.n < wanted ? span.n : wanted;
    return STORM_OK;
}

/* The span is full: publishes if the batch is, too. */
static storm_status span_end(struct storm_outbox *outbox, struct storm_box *box)
{
    close_span(outbox, box);
    if (box->gathered < box->batch)
        return STORM_OK;
    if (++box->n_full >= FULL_TO_GROW && box->batch * 2 <= outbox->batch_max) {
        box->batch *= 2;
        box->n_full = 0;
    }
    return publish(outbox, box);
}

/* Copies one packet out, if there is room. */
static inline storm_status put_out(struct storm_outbox *outbox,
                                   struct storm_box *box, void *packet)
{
    if (STORM_UNLIKELY(box->room == 0)) {
        storm_status status = open_span(outbox, box);
        if (status != STORM_OK)
            return status;
    }
    size_t bytes = outbox->store->record_bytes;
    if (box->span_far)
        storm_stream_copy(box->next, packet, bytes);
    else
        storm_record_copy(box->next, packet, bytes);
    storm_store_put(outbox->store, packet);
    box->next += bytes;
    return --box->room == 0 ? span_end(outbox, box) : STORM_OK;
}

/* One text for each size of a record that the compiler is to know. */
static inline size_t copy_out(struct storm_outbox *outbox, const int32_t *rank,
                              void *const *packet, size_t n, size_t bytes)
{
    const int32_t *const box_of_rank = outbox->box_of_rank;
    struct storm_box *const boxes = outbox->box;
    size_t i = 0;
    for (; i < n; i++) {
        const int32_t i_box = box_of_rank[rank[i]];
        if (STORM_UNLIKELY(i_box < 0))
            break;
        struct storm_box *box = &boxes[i_box];
        const size_t room = box->room;
        unsigned char *const to = box->next;
        if (STORM_UNLIKELY(room < 2))
            break;
        box->next = to + bytes;
        box->room = room - 1;
        if (box->span_far)
            storm_stream_copy(to, packet[i], bytes);
        else
            storm_record_copy(to, packet[i], bytes);
    }
    return i;
}

size_t storm_outbox_copy(struct storm_outbox *outbox, const int32_t *rank,
                         void *const *packet, size_t n)
{
    size_t bytes = outbox->store->record_bytes;
    return bytes == 128 ? copy_out(outbox, rank, packet, n, 128)
                        : copy_out(outbox, rank, packet, n, bytes);
}

static storm_status hold(struct storm_outbox *outbox, struct storm_box *box,
                         void *packet)
{
    storm_status status = storm_list_reserve(&box->held, outbox->env->memory,
                                             "outbox held", box->held.n + 1);
    if (status < 0)
        return status;
    storm_list_push(&box->held, packet);
    outbox->n_held++;
    return STORM_OK;
}

storm_status storm_outbox_send(struct storm_outbox *outbox, int rank,
                               void *packet)
{
    uint32_t i_box = (uint32_t)outbox->box_of_rank[rank];
    if (STORM_UNLIKELY(outbox->box_of_rank[rank] < 0)) {
        storm_status status = storm_outbox_expect(outbox, rank, &i_box);
        if (status < 0)
            return status;
    }
    struct storm_box *box = &outbox->box[i_box];
    if (STORM_LIKELY(box->held.n == 0)) {
        storm_status status = put_out(outbox, box, packet);
        if (status != STORM_AGAIN)
            return status;
    }
    return hold(outbox, box, packet);
}

storm_status storm_outbox_retry(struct storm_outbox *outbox)
{
    for (size_t i = 0; i < outbox->n_boxes && outbox->n_held > 0; i++) {
        struct storm_box *box = &outbox->box[i];
        while (box->held.n > 0) {
            storm_status status =
                put_out(outbox, box, box->held.item[box->held.n - 1]);
            if (status < 0)
                return status;
            if (status == STORM_AGAIN)
                break;
            box->held.n--;
            outbox->n_held--;
        }
    }
    return STORM_OK;
}

storm_status storm_outbox_flush(struct storm_outbox *outbox)
{
    for (size_t i = 0; i < outbox->n_boxes; i++) {
        struct storm_box *box = &outbox->box[i];
        close_span(outbox, box);
        if (box->gathered == 0)
            continue;
        if (box->gathered < box->batch / 4 && box->batch > BATCH_LEAST &&
            outbox->adaptive)
            box->batch /= 2;
        box->n_full = 0;
        storm_status status = publish(outbox, box);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}
