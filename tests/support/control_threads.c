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

struct queue {
    pthread_mutex_t lock;
    struct entry *first, **last;
};

struct control_hub {
    int n;
    struct queue queue[];
};

struct thread_control {
    struct storm_control control;
    struct control_hub *hub;
    int rank;
};

struct control_hub *control_hub_make(int n_ranks)
{
    struct control_hub *hub =
        calloc(1, sizeof *hub + (size_t)n_ranks * sizeof hub->queue[0]);
    CHECK(hub);
    hub->n = n_ranks;
    for (int i = 0; i < n_ranks; i++) {
        pthread_mutex_init(&hub->queue[i].lock, NULL);
        hub->queue[i].last = &hub->queue[i].first;
    }
    return hub;
}

void control_hub_free(struct control_hub *hub)
{
    for (int i = 0; i < hub->n; i++)
        while (hub->queue[i].first) {
            struct entry *entry = hub->queue[i].first;
            hub->queue[i].first = entry->next;
            free(entry);
        }
    free(hub);
}

static storm_status thread_control_send(struct storm_control *control, int rank,
                                        const struct storm_message *message)
{
    struct thread_control *m = (struct thread_control *)control;
    struct queue *queue = &m->hub->queue[rank];
    struct entry *entry = malloc(sizeof *entry);
    CHECK(entry);
    *entry = (struct entry){.from = m->rank, .message = *message};
    pthread_mutex_lock(&queue->lock);
    *queue->last = entry;
    queue->last = &entry->next;
    pthread_mutex_unlock(&queue->lock);
    return STORM_OK;
}

static storm_status thread_control_poll(struct storm_control *control,
                                        int *rank_out,
                                        struct storm_message *message_out)
{
    struct thread_control *m = (struct thread_control *)control;
    struct queue *queue = &m->hub->queue[m->rank];
    pthread_mutex_lock(&queue->lock);
    struct entry *entry = queue->first;
    if (entry) {
        queue->first = entry->next;
        if (!queue->first)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&queue->lock);
    if (!entry)
        return STORM_AGAIN;
    *rank_out = entry->from;
    *message_out = entry->message;
    free(entry);
    return STORM_OK;
}

static storm_status thread_control_report(struct storm_control *control,
                                          const char *text)
{
    (void)control;
    (void)text;
    return STORM_ERR_NOSUP;
}

static void thread_control_close(struct storm_control *control)
{
    free(control);
}

static const struct storm_control_ops thread_control_ops = {
    .send = thread_control_send,
    .poll = thread_control_poll,
    .report = thread_control_report,
    .close = thread_control_close,
};

struct storm_control *control_hub_open(struct control_hub *hub, int rank)
{
    struct thread_control *m = malloc(sizeof *m);
    CHECK(m);
    *m = (struct thread_control){
        .control.ops = &thread_control_ops, .hub = hub, .rank = rank};
    return &m->control;
}
