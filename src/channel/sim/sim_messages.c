/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of MPI between simulated ranks, over the network of base/sim, which
 * one-sided operations share. The linker puts these functions in the place of
 * SMPI's (--wrap, cmake/StormSim.cmake); communicators and all other collective
 * operations are SMPI's own.
 *
 * SMPI's messages take some 20 us of CPU each, and what a successful MPI_Test
 * completes stays in a list of the rank for good (SimGrid 3.32): each further
 * message walks through it. They also do not share adapters with the fabric.
 *
 *   SIMMPI-1  A message is an action at the time of its arrival that matches it
 *             with a receive, or keeps it until there is one. Both lists are in
 *             order, and messages of a rank to a peer arrive in order.
 *   SIMMPI-2  Small messages are copied at once and their sends complete. Large
 *             ones announce themselves, and cross when they are matched: within
 *             a node the receiving rank copies them, between nodes adapters do.
 *             Those in synchronous mode complete when the news of that is back.
 *   SIMMPI-3  What arrives wakes the rank.
 *   SIMMPI-4  Communicators are known by a number that all their ranks compute
 *             alike: from that of the parent, the count of its children, and
 *             the first rank.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/sim/sim_network.h"
#include "base/sim/sim_time.h"
#include "channel/channel_control.h"

/* A communicator, as one rank sees it. */
struct group {
    struct group *next;
    MPI_Comm comm;
    uint64_t id;
    uint64_t n_children;
    int rank, size;
    int *world; /* ranks in MPI_COMM_WORLD; NULL: the same */
};

/* A peer, and when the last message to it arrives. */
struct peer {
    struct peer *next;
    int world;
    struct storm_sim_rank *rank;
    double arrives;
};

/* What MPI_Request points to. */
struct request {
    struct request *next; /* receives that wait */
    struct storm_sim_rank *owner;
    uint64_t comm;
    int source, tag; /* wanted, then found */
    void *buffer;
    size_t bytes;  /* of the buffer, then of the message */
    size_t copies; /* bytes that the receiving rank copies */
    bool receives, done, dropped;
};

struct message {
    struct message *next;
    struct storm_sim_rank *from, *to;
    uint64_t comm;
    int source, tag;
    size_t bytes;
    struct request *send;    /* to be completed; NULL: it is */
    struct request *receive; /* a large message that crosses */
    const void *data;        /* of a large message, at the sender */
    unsigned char copy[];
};

/* Of a rank. */
struct queue {
    struct group *groups;
    struct peer *peers;
    struct request *posted, **posted_end;
    struct message *waiting, **waiting_end;
};

/* Zeroed memory. A simulator without memory cannot go on. */
static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    return memory;
}

static struct queue *queue_of(struct storm_sim_rank *rank)
{
    void **slot = storm_sim_queue(rank);
    if (*slot)
        return *slot;
    struct queue *queue = need(sizeof *queue);
    queue->posted_end = &queue->posted;
    queue->waiting_end = &queue->waiting;
    *slot = queue;
    return queue;
}

/* ---- communicators --------------------------------------------------------*/

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static struct group *group_add(MPI_Comm comm, uint64_t id)
{
    struct queue *queue = queue_of(storm_sim_self());
    struct group *group = need(sizeof *group);
    group->comm = comm;
    group->id = id;
    MPI_Comm_rank(comm, &group->rank);
    MPI_Comm_size(comm, &group->size);
    group->next = queue->groups;
    queue->groups = group;
    return group;
}

/* Ranks of the world, in the order of the communicator. */
static void group_translate(struct group *group)
{
    MPI_Group world, own;
    int *wanted = need(2 * (size_t)group->size * sizeof *wanted);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(group->comm, &own);
    for (int i = 0; i < group->size; i++)
        wanted[group->size + i] = i;
    MPI_Group_translate_ranks(own, group->size, wanted + group->size, world,
                              wanted);
    MPI_Group_free(&world);
    MPI_Group_free(&own);
    group->world = wanted;
}

static struct group *group_of(MPI_Comm comm)
{
    for (struct group *g = queue_of(storm_sim_self())->groups; g; g = g->next)
        if (g->comm == comm)
            return g;
    /* Not made here: of all ranks, or of this one. */
    struct group *group = group_add(comm, 1);
    if (comm != MPI_COMM_WORLD) {
        group_translate(group);
        group->id = mix((uint64_t)group->world[0] + 2);
    }
    return group;
}

/* SIMMPI-4 */
static void group_child(MPI_Comm parent, MPI_Comm comm, bool same)
{
    if (comm == MPI_COMM_NULL)
        return;
    struct group *above = group_of(parent);
    struct group *group = group_add(comm, 0);
    if (!same)
        group_translate(group);
    else if (above->world) {
        size_t bytes = (size_t)group->size * sizeof *group->world;
        group->world = need(bytes);
        memcpy(group->world, above->world, bytes);
    }
    int first = group->world ? group->world[0] : 0;
    group->id =
        mix(above->id + mix(++above->n_children)) + mix((uint64_t)first + 7);
}

/* ---- messages -------------------------------------------------------------*/

static struct peer *peer_of(struct queue *queue, const struct group *group,
                            int rank)
{
    int world = group->world ? group->world[rank] : rank;
    for (struct peer **at = &queue->peers; *at; at = &(*at)->next)
        if ((*at)->world == world) {
            struct peer *peer = *at; /* the first next time */
            *at = peer->next;
            peer->next = queue->peers;
            queue->peers = peer;
            return peer;
        }
    struct peer *peer = need(sizeof *peer);
    *peer = (struct peer){queue->peers, world, storm_sim_rank_at(world), 0};
    queue->peers = peer;
    return peer;
}

static bool fits(const struct request *receive, const struct message *message)
{
    return receive->comm == message->comm &&
           (receive->source == MPI_ANY_SOURCE ||
            receive->source == message->source) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

static void complete(struct request *request)
{
    request->done = true;
    if (request->dropped)
        free(request);
    else
        storm_sim_wake(request->owner);
}

static void found(struct request *receive, const struct message *message,
                  const void *data)
{
    if (message->bytes > receive->bytes)
        abort(); /* MPI_ERR_TRUNCATE: the caller's mistake */
    if (message->bytes > 0)
        memcpy(receive->buffer, data, message->bytes);
    receive->source = message->source;
    receive->tag = message->tag;
    receive->bytes = message->bytes;
    complete(receive);
}

static void message_free(struct message *message)
{
    storm_sim_release(message->from);
    storm_sim_release(message->to);
    free(message);
}

static void finish_send(void *data)
{
    complete(data);
}

/* The data of a large message are there. */
static void finish_large(void *data)
{
    struct message *message = data;
    found(message->receive, message, message->data);
    complete(message->send);
    message_free(message);
}

static void cross_large(struct request *receive, struct message *message,
                        double date)
{
    message->receive = receive;
    storm_sim_at(storm_sim_cross(message->from, message->to, date,
                                 message->bytes),
                 finish_large, message);
}

/* A receive meets its message. */
static void match(struct request *receive, struct message *message, double date)
{
    const struct storm_sim_costs *costs = storm_sim_costs_of(message->to);
    double back = date + storm_sim_latency(message->to, message->from);
    if (message->data && !storm_sim_near(message->from, message->to)) {
        cross_large(receive, message, back);
        return;
    }
    receive->copies = message->bytes;
    if (message->data)
        back += (double)message->bytes / costs->copy_bandwidth;
    found(receive, message, message->data ? message->data : message->copy);
    if (message->send)
        storm_sim_at(back, finish_send, message->send);
    message_free(message);
}

/* SIMMPI-1 */
static void arrive(void *data)
{
    struct message *message = data;
    struct queue *queue = queue_of(message->to);
    for (struct request **at = &queue->posted; *at; at = &(*at)->next)
        if (fits(*at, message)) {
            struct request *receive = *at;
            *at = receive->next;
            if (!*at)
                queue->posted_end = at;
            match(receive, message, storm_sim_date());
            return;
        }
    *queue->waiting_end = message;
    queue->waiting_end = &message->next;
    storm_sim_wake(message->to);
}

static size_t bytes_of(int n, MPI_Datatype type)
{
    int each = 0;
    MPI_Type_size(type, &each);
    return (size_t)n * (size_t)each;
}

static struct request *request_new(void)
{
    struct request *request = need(sizeof *request);
    request->owner = storm_sim_self();
    return request;
}

static int send(const void *buffer, size_t bytes, int to, int tag,
                MPI_Comm comm, bool synchronous, MPI_Request *request_out)
{
    struct request *request = request_new();
    struct storm_sim_rank *self = request->owner;
    const struct storm_sim_costs *costs = storm_sim_costs_of(self);
    struct group *group = group_of(comm);
    struct peer *peer = peer_of(queue_of(self), group, to);
    bool large = (double)bytes > costs->eager_bytes;
    storm_sim_counts()->messages++;
    storm_sim_counts()->bytes += bytes;
    storm_sim_spend(costs->send_s +
                    (large ? 0 : (double)bytes / costs->copy_bandwidth));
    struct message *message = need(sizeof *message + (large ? 0 : bytes));
    message->from = self;
    message->to = peer->rank;
    storm_sim_hold(message->from);
    storm_sim_hold(message->to);
    message->comm = group->id;
    message->source = group->rank;
    message->tag = tag;
    message->bytes = bytes;
    if (large)
        message->data = buffer;
    else if (bytes > 0)
        memcpy(message->copy, buffer, bytes);
    if (large || synchronous)
        message->send = request;
    else
        request->done = true;
    double date =
        storm_sim_cross(self, peer->rank, storm_sim_now(), large ? 0 : bytes);
    if (date > peer->arrives)
        peer->arrives = date;
    storm_sim_at(peer->arrives, arrive, message);
    *request_out = (MPI_Request)request;
    return MPI_SUCCESS;
}

static int receive(void *buffer, size_t bytes, int from, int tag, MPI_Comm comm,
                   MPI_Request *request_out)
{
    struct request *request = request_new();
    struct queue *queue = queue_of(request->owner);
    request->comm = group_of(comm)->id;
    request->source = from;
    request->tag = tag;
    request->buffer = buffer;
    request->bytes = bytes;
    request->receives = true;
    *request_out = (MPI_Request)request;
    for (struct message **at = &queue->waiting; *at; at = &(*at)->next)
        if (fits(request, *at)) {
            struct message *message = *at;
            *at = message->next;
            if (!*at)
                queue->waiting_end = at;
            match(request, message, storm_sim_now());
            return MPI_SUCCESS;
        }
    *queue->posted_end = request;
    queue->posted_end = &request->next;
    return MPI_SUCCESS;
}

/* ---- requests -------------------------------------------------------------*/

/* Ends a request that is done. */
static void end(MPI_Request *handle, MPI_Status *status)
{
    struct request *request = (struct request *)*handle;
    if (request->receives) {
        const struct storm_sim_costs *costs = storm_sim_costs();
        storm_sim_spend(costs->receive_s +
                        (double)request->copies / costs->copy_bandwidth);
    }
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = request->source;
        status->MPI_TAG = request->tag;
        status->MPI_ERROR = MPI_SUCCESS;
        status->count = (int)request->bytes;
    }
    free(request);
    *handle = MPI_REQUEST_NULL;
}

static bool is_done(MPI_Request request)
{
    return request == MPI_REQUEST_NULL || ((struct request *)request)->done;
}

/* ---- what the linker calls ------------------------------------------------*/

#define STORM_SIM_WRAP(_name, ...)       \
    int __real_MPI_##_name(__VA_ARGS__); \
    int __wrap_MPI_##_name(__VA_ARGS__)

STORM_SIM_WRAP(Init, int *, char ***);
STORM_SIM_WRAP(Isend, const void *, int, MPI_Datatype, int, int, MPI_Comm,
               MPI_Request *);
STORM_SIM_WRAP(Issend, const void *, int, MPI_Datatype, int, int, MPI_Comm,
               MPI_Request *);
STORM_SIM_WRAP(Irecv, void *, int, MPI_Datatype, int, int, MPI_Comm,
               MPI_Request *);
STORM_SIM_WRAP(Test, MPI_Request *, int *, MPI_Status *);
STORM_SIM_WRAP(Testall, int, MPI_Request *, int *, MPI_Status *);
STORM_SIM_WRAP(Wait, MPI_Request *, MPI_Status *);
STORM_SIM_WRAP(Cancel, MPI_Request *);
STORM_SIM_WRAP(Request_free, MPI_Request *);
STORM_SIM_WRAP(Comm_dup, MPI_Comm, MPI_Comm *);
STORM_SIM_WRAP(Comm_split, MPI_Comm, int, int, MPI_Comm *);
STORM_SIM_WRAP(Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm *);
STORM_SIM_WRAP(Comm_free, MPI_Comm *);
STORM_SIM_WRAP(Allreduce, const void *, void *, int, MPI_Datatype, MPI_Op,
               MPI_Comm);
STORM_SIM_WRAP(Ialltoall, const void *, int, MPI_Datatype, void *, int,
               MPI_Datatype, MPI_Comm, MPI_Request *);
STORM_SIM_WRAP(Iallgather, const void *, int, MPI_Datatype, void *, int,
               MPI_Datatype, MPI_Comm, MPI_Request *);

/* All ranks are known before any of them sends. */
int __wrap_MPI_Init(int *argc, char ***argv)
{
    int rc = __real_MPI_Init(argc, argv);
    (void)queue_of(storm_sim_self());
    return rc;
}

int __wrap_MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to,
                     int tag, MPI_Comm comm, MPI_Request *request)
{
    return send(buffer, bytes_of(n, type), to, tag, comm, false, request);
}

int __wrap_MPI_Issend(const void *buffer, int n, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    return send(buffer, bytes_of(n, type), to, tag, comm, true, request);
}

int __wrap_MPI_Irecv(void *buffer, int n, MPI_Datatype type, int from, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return receive(buffer, bytes_of(n, type), from, tag, comm, request);
}

int __wrap_MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    storm_sim_spend(storm_sim_costs()->test_s);
    *done = is_done(*request);
    if (*done && *request != MPI_REQUEST_NULL)
        end(request, status);
    return MPI_SUCCESS;
}

int __wrap_MPI_Testall(int n, MPI_Request *request, int *done,
                       MPI_Status *status)
{
    storm_sim_spend(storm_sim_costs()->test_s);
    *done = true;
    for (int i = 0; i < n && *done; i++)
        *done = is_done(request[i]);
    for (int i = 0; i < n && *done; i++)
        if (request[i] != MPI_REQUEST_NULL)
            end(&request[i],
                status == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &status[i]);
    return MPI_SUCCESS;
}

int __wrap_MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    while (!is_done(*request))
        storm_sim_wait(1e-3);
    if (*request != MPI_REQUEST_NULL)
        end(request, status);
    return MPI_SUCCESS;
}

/* A receive alone, that has met no message. */
int __wrap_MPI_Cancel(MPI_Request *handle)
{
    struct request *request = (struct request *)*handle;
    struct queue *queue = queue_of(storm_sim_self());
    for (struct request **at = &queue->posted; *at; at = &(*at)->next)
        if (*at == request) {
            *at = request->next;
            if (!*at)
                queue->posted_end = at;
            request->done = true;
            break;
        }
    return MPI_SUCCESS;
}

int __wrap_MPI_Request_free(MPI_Request *handle)
{
    struct request *request = (struct request *)*handle;
    if (request->done)
        free(request);
    else
        request->dropped = true;
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* SMPI's duplicate copies the list of ranks, 12.5 bytes of each, on every rank:
 * this one shares it. Attributes are not copied; none is set. */
int __wrap_MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Group all;
    storm_sim_counts()->collectives++;
    MPI_Comm_group(comm, &all);
    int rc = MPI_Comm_create(comm, all, copy);
    MPI_Group_free(&all);
    group_child(comm, *copy, true);
    return rc;
}

int __wrap_MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *part)
{
    storm_sim_counts()->collectives++;
    int rc = __real_MPI_Comm_split(comm, colour, key, part);
    group_child(comm, *part, false);
    return rc;
}

int __wrap_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                               MPI_Comm *part)
{
    storm_sim_counts()->collectives++;
    int rc = __real_MPI_Comm_split_type(comm, type, key, info, part);
    group_child(comm, *part, false);
    return rc;
}

int __wrap_MPI_Comm_free(MPI_Comm *comm)
{
    struct queue *queue = queue_of(storm_sim_self());
    for (struct group **at = &queue->groups; *at; at = &(*at)->next)
        if ((*at)->comm == *comm) {
            struct group *group = *at;
            *at = group->next;
            free(group->world);
            free(group);
            break;
        }
    return __real_MPI_Comm_free(comm);
}

/* ---- collective operations ------------------------------------------------*/

/* Waits for the others in simulated time first. */
int __wrap_MPI_Allreduce(const void *mine, void *all, int n, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm)
{
    storm_sim_counts()->collectives++;
    storm_sim_meet();
    return __real_MPI_Allreduce(mine, all, n, type, op, comm);
}

/* SMPI's, not blocking, cost the square of the number of ranks. */
int __wrap_MPI_Ialltoall(const void *mine, int n, MPI_Datatype type, void *all,
                         int n_each, MPI_Datatype type_each, MPI_Comm comm,
                         MPI_Request *request)
{
    storm_sim_counts()->collectives++;
    storm_sim_meet();
    *request = MPI_REQUEST_NULL;
    return MPI_Alltoall(mine, n, type, all, n_each, type_each, comm);
}

int __wrap_MPI_Iallgather(const void *mine, int n, MPI_Datatype type, void *all,
                          int n_each, MPI_Datatype type_each, MPI_Comm comm,
                          MPI_Request *request)
{
    storm_sim_counts()->collectives++;
    storm_sim_meet();
    *request = MPI_REQUEST_NULL;
    return MPI_Allgather(mine, n, type, all, n_each, type_each, comm);
}
