/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/control_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "support/check.h"

/* A letter, in a queue of the rank it is for. */
struct letter {
    struct letter *next;
    int from;
    struct storm_message message;
};

struct box {
    pthread_mutex_t lock;
    struct letter *first, **last;
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
            struct letter *letter = hub->box[i].first;
            hub->box[i].first = letter->next;
            free(letter);
        }
    free(hub);
}

static storm_status mailbox_send(struct storm_control *control, int rank,
                                 const struct storm_message *message)
{
    struct mailbox *m = (struct mailbox *)control;
    struct box *box = &m->hub->box[rank];
    struct letter *letter = malloc(sizeof *letter);
    CHECK(letter);
    *letter = (struct letter){.from = m->rank, .message = *message};
    pthread_mutex_lock(&box->lock);
    *box->last = letter;
    box->last = &letter->next;
    pthread_mutex_unlock(&box->lock);
    return STORM_OK;
}

static storm_status mailbox_poll(struct storm_control *control, int *rank_out,
                                 struct storm_message *message_out)
{
    struct mailbox *m = (struct mailbox *)control;
    struct box *box = &m->hub->box[m->rank];
    pthread_mutex_lock(&box->lock);
    struct letter *letter = box->first;
    if (letter) {
        box->first = letter->next;
        if (!box->first)
            box->last = &box->first;
    }
    pthread_mutex_unlock(&box->lock);
    if (!letter)
        return STORM_AGAIN;
    *rank_out = letter->from;
    *message_out = letter->message;
    free(letter);
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
