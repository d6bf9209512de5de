/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/control_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "support/check.h"

/* A message in the queue of its receiver. */
struct entry {
    struct entry *next;
    int from;
    struct storm_message message;
};

struct box {
    pthread_mutex_t lock;
    struct entry *first, **last;
};

struct control_hub {
    int n;
    struct box box[];
};

struct mailbox {
    struct storm_control control;
    struct control_hub *hub;
    int rank;
};

struct control_hub *control_hub_make(int n_ranks)
{
    struct control_hub *hub =
        calloc(1, sizeof *hub + (size_t)n_ranks * sizeof hub->box[0]);
    CHECK(hub);
    hub->n = n_ranks;
    for (int i = 0; i < n_ranks; i++) {
        pthread_mutex_init(&hub->box[i].lock, NULL);
        hub->box[i].last = &hub->box[i].first;
    }
    return hub;
}

void control_hub_free(struct control_hub *hub)
{
    for (int i = 0; i < hub->n; i++)
        while (hub->box[i].first) {
            struct entry *entry = hub->box[i].first;
            hub->box[i].first = entry->next;
            free(entry);
        }
    free(hub);
}

static storm_status mailbox_send(struct storm_control *control, int rank,
                                 const struct storm_message *message)
{
    struct mailbox *m = (struct mailbox *)control;
    struct box *box = &m->hub->box[rank];
    struct entry *entry = malloc(sizeof *entry);
    CHECK(entry);
    *entry = (struct entry){.from = m->rank, .message = *message};
    pthread_mutex_lock(&box->lock);
    *box->last = entry;
    box->last = &entry->next;
    pthread_mutex_unlock(&box->lock);
    return STORM_OK;
}

static storm_status mailbox_poll(struct storm_control *control, int *rank_out,
                                 struct storm_message *message_out)
{
    struct mailbox *m = (struct mailbox *)control;
    struct box *box = &m->hub->box[m->rank];
    pthread_mutex_lock(&box->lock);
    struct entry *entry = box->first;
    if (entry) {
        box->first = entry->next;
        if (!box->first)
            box->last = &box->first;
    }
    pthread_mutex_unlock(&box->lock);
    if (!entry)
        return STORM_AGAIN;
    *rank_out = entry->from;
    *message_out = entry->message;
    free(entry);
    return STORM_OK;
}

static void mailbox_close(struct storm_control *control)
{
    free(control);
}

static const struct storm_control_ops mailbox_ops = {
    .send = mailbox_send,
    .poll = mailbox_poll,
    .close = mailbox_close,
};

struct storm_control *control_hub_open(struct control_hub *hub, int rank)
{
    struct mailbox *m = malloc(sizeof *m);
    CHECK(m);
    *m =
        (struct mailbox){.control.ops = &mailbox_ops, .hub = hub, .rank = rank};
    return &m->control;
}
