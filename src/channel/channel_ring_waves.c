/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wave messages between neighbours in the tree of ranks, by puts: the words
 * first, the number behind them under the same rule as a ring's tail (RING-2).
 *
 *   WAVE-1  load-acquire of the number in ring_waves_read: pairs with its
 *           put_word (FABRIC-7, FABRIC-8); the words are read after it.
 */
#include <string.h>

#include "base/idle.h"
#include "base/lifeline.h"
#include "channel/channel_ring.h"

/* One wave message: its words, then its number in the last word of a cache
 * line. */
enum { WAVE_BYTES = 64, NUMBER_OFFSET = 56 };

_Static_assert(STORM_WAVE_WORDS * 8 <= NUMBER_OFFSET, "wave message too long");

static storm_status attach_link(struct ring_channel *c, int rank,
                                const struct storm_message *message)
{
    for (int i = 0; i < STORM_N_LINKS; i++) {
        struct wave_link *link = &c->link[i];
        if (link->rank != rank)
            continue;
        struct storm_fabric *f = link->route->fabric;
        enum storm_link back =
            i == STORM_LINK_PARENT ? c->channel.tree.back : STORM_LINK_PARENT;
        link->offset = (uint64_t)back * WAVE_BYTES; /* TREE-2 */
        return f->ops->attach(f, ring_peer_at(c, link->route, rank),
                              &message->ring, &link->remote);
    }
    return STORM_OK;
}

static storm_status make_notes(struct ring_route *route)
{
    struct storm_fabric *f = route->fabric;
    size_t bytes = STORM_N_LINKS * WAVE_BYTES;
    storm_status status = f->ops->alloc(f, bytes, &route->waves);
    if (status == STORM_OK)
        status = f->ops->alloc(f, bytes, &route->waves_local);
    return status;
}

/* Sends the neighbours where their wave messages go; counts them. */
static storm_status send_places(struct ring_channel *c, int *n_out)
{
    struct storm_control *control = c->params.control;
    storm_status status = STORM_OK;
    *n_out = 0;
    for (int i = 0; i < STORM_N_LINKS && status >= 0; i++) {
        struct wave_link *link = &c->link[i];
        link->rank = c->channel.tree.rank[i];
        if (link->rank < 0)
            continue;
        link->route = ring_route_to(c, link->rank);
        struct storm_fabric *f = link->route->fabric;
        struct storm_message message = {.kind = STORM_MESSAGE_WAVES};
        f->ops->describe(f, link->route->waves, &message.ring);
        status = control->ops->send(control, link->rank, &message);
        ++*n_out;
    }
    return status;
}

storm_status ring_waves_open(struct ring_channel *c)
{
    const struct storm_boot *boot = c->params.boot;
    struct storm_control *control = c->params.control;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < c->n_routes && status == STORM_OK; i++)
        status = make_notes(&c->route[i]);
    status = storm_boot_agree(boot, status);
    if (status < 0)
        return status;
    int missing;
    status = storm_boot_agree(boot, send_places(c, &missing));
    for (uint64_t n_empty = 0; missing > 0 && status >= 0; n_empty++) {
        int rank;
        struct storm_message message;
        status = storm_lifeline_check(c->params.env->lifeline);
        if (status == STORM_OK)
            status = control->ops->poll(control, &rank, &message);
        if (status == STORM_OK) {
            status = attach_link(c, rank, &message);
            missing--;
            n_empty = 0;
        } else {
            storm_idle(n_empty);
        }
    }
    return storm_boot_agree(boot, status < 0 ? status : STORM_OK);
}

void ring_waves_close(struct ring_channel *c)
{
    for (int i = 0; i < STORM_N_LINKS; i++)
        if (c->link[i].remote) {
            struct storm_fabric *f = c->link[i].route->fabric;
            f->ops->detach(f, c->link[i].remote);
        }
    for (size_t i = 0; i < c->n_routes; i++) {
        struct ring_route *route = &c->route[i];
        if (route->waves_local)
            route->fabric->ops->release(route->fabric, route->waves_local);
        if (route->waves)
            route->fabric->ops->release(route->fabric, route->waves);
    }
}

/* Puts the number as soon as it can no longer overtake the words. */
static storm_status number_pump(struct ring_channel *c, struct wave_link *link)
{
    if (link->words.status < 0 || link->number.status < 0) {
        if (!link->failed)
            storm_log_write(&c->params.env->log, STORM_LOG_ERROR,
                            "sending a wave message to rank %d failed",
                            link->rank);
        link->failed = true;
        return STORM_ERR_FABRIC;
    }
    if (!link->due)
        return STORM_OK;
    struct storm_fabric *f = link->route->fabric;
    if (!f->caps.ordered &&
        (link->words.pending > 0 || link->number.pending > 0))
        return STORM_AGAIN;
    storm_status status =
        f->data->put_word(link->remote, link->offset + NUMBER_OFFSET,
                          link->due_number, &link->number);
    link->due = status == STORM_AGAIN;
    return status;
}

storm_status ring_waves_progress(struct ring_channel *c)
{
    for (int i = 0; i < STORM_N_LINKS; i++) {
        storm_status status = number_pump(c, &c->link[i]);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

storm_status ring_waves_send(struct storm_channel *channel,
                             enum storm_link i_link,
                             const uint64_t words[STORM_WAVE_WORDS],
                             uint64_t number)
{
    struct ring_channel *c = ring_of(channel);
    struct wave_link *link = &c->link[i_link];
    if (link->due || link->words.pending > 0)
        return STORM_AGAIN;
    struct storm_fabric *f = link->route->fabric;
    struct storm_region *local = link->route->waves_local;
    uint64_t at = (uint64_t)i_link * WAVE_BYTES;
    memcpy((unsigned char *)local->base + at, words,
           STORM_WAVE_WORDS * sizeof *words);
    struct storm_transfer put = {
        .remote = link->remote,
        .remote_offset = link->offset,
        .local = local,
        .local_offset = at,
        .bytes = STORM_WAVE_WORDS * sizeof *words,
        .delivered = !f->caps.ordered,
        .ticket = &link->words,
    };
    storm_status status = f->data->put(&put);
    if (status != STORM_OK)
        return status;
    link->due = true;
    link->due_number = number;
    status = number_pump(c, link);
    return status < 0 ? status : STORM_OK;
}

storm_status ring_waves_read(struct storm_channel *channel,
                             enum storm_link i_link,
                             uint64_t words_out[STORM_WAVE_WORDS],
                             uint64_t *number_out)
{
    struct ring_channel *c = ring_of(channel);
    unsigned char *message =
        (unsigned char *)c->link[i_link].route->waves->base +
        (size_t)i_link * WAVE_BYTES;
    *number_out =
        atomic_load_explicit((_Atomic uint64_t *)(void *)(message +
                                                          NUMBER_OFFSET),
                             memory_order_acquire); /* WAVE-1 */
    if (words_out)
        memcpy(words_out, message, STORM_WAVE_WORDS * sizeof *words_out);
    return STORM_OK;
}
