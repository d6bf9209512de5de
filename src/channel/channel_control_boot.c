/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boot over MPI messages.
 *
 * A context, its engines and their channels have one duplicate of the caller's
 * communicator for all that they send, because each duplicate takes memory on
 * every rank for all ranks. Tags keep their messages apart: each user has a
 * block of them. Collective operations are messages as well: those of MPI on
 * one communicator must be in the same order on all ranks, and an operation
 * that a rank has begun and given up would be taken for the next.
 *
 *   TAGS-1  Blocks are taken one after another, from the beginning again when
 *           the tags of MPI end, and leaving out those in use. What an engine
 *           that has failed may leave in flight, so meets no receive. They are
 *           taken and returned in the same order on all ranks, which so agree
 *           without asking.
 *   TAGS-2  Operations with the same tag are collective and in order, and one
 *           of them sends a rank at most one message: MPI does not let messages
 *           between two ranks overtake each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/idle.h"
#include "base/lifeline.h"
#include "base/patience.h"
#include "channel/channel_control.h"

enum {
    FIRST_TAG = 64, /* fabrics may use those below */
    LATE_AGAIN_S = 10
};

/* Tags of a boot, in its block. */
enum { BLOCKING_TAG = 0, BARRIER_TAG = 1 };

/* A block of tags in use. */
struct tag_block {
    struct tag_block *next;
    int first;
};

/* The duplicate. */
struct mpi_line {
    MPI_Comm comm;
    struct tag_block *used;
    int next_tag;
};

/* What MPI works on is here: after a loss messages may still arrive, and it is
 * not freed then (BOOT-3). */
struct mpi_boot {
    struct mpi_line *line;
    bool owns_line;
    int tag, rank, size;
    struct storm_mpi_barrier barrier;
    struct storm_lifeline *lifeline;
    unsigned char out[STORM_BOOT_LINKS][STORM_BOOT_BYTES];
    unsigned char in[STORM_BOOT_LINKS][STORM_BOOT_BYTES];
    struct storm_patience patience; /* of a wait */
    const struct storm_log *log;    /* of waits without */
    bool awake;                     /* IDLE-3 */
};

/* ---- barrier --------------------------------------------------------------*/

/* Begins the round at the present distance. */
static int barrier_send(struct storm_mpi_barrier *b)
{
    int from = (b->rank + b->size - b->distance) % b->size;
    int to = (b->rank + b->distance) % b->size;
    int rc =
        MPI_Irecv(NULL, 0, MPI_BYTE, from, b->tag, b->comm, &b->request[0]);
    return rc == MPI_SUCCESS ? MPI_Isend(NULL, 0, MPI_BYTE, to, b->tag, b->comm,
                                         &b->request[1])
                             : rc;
}

storm_status storm_mpi_barrier_try(struct storm_mpi_barrier *b)
{
    int rc = MPI_SUCCESS;
    if (b->distance == 0) {
        b->distance = 1;
        rc = b->size > 1 ? barrier_send(b) : MPI_SUCCESS;
    }
    while (rc == MPI_SUCCESS && b->distance < b->size) {
        int done = 0;
        rc = MPI_Testall(2, b->request, &done, MPI_STATUSES_IGNORE);
        if (rc == MPI_SUCCESS && !done)
            return STORM_AGAIN;
        b->distance *= 2;
        if (rc == MPI_SUCCESS && b->distance < b->size)
            rc = barrier_send(b);
    }
    b->distance = 0;
    return rc == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
}

void storm_mpi_barrier_open(struct storm_mpi_barrier *b, MPI_Comm comm, int tag)
{
    *b = (struct storm_mpi_barrier){.comm = comm, .tag = tag};
    b->request[0] = b->request[1] = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &b->rank);
    MPI_Comm_size(comm, &b->size);
}

void storm_mpi_barrier_close(struct storm_mpi_barrier *b)
{
    if (b->request[0] != MPI_REQUEST_NULL) {
        MPI_Cancel(&b->request[0]);
        MPI_Request_free(&b->request[0]);
    }
    if (b->request[1] != MPI_REQUEST_NULL)
        MPI_Request_free(&b->request[1]);
}

/* ---- operations -----------------------------------------------------------*/

/* The others do not come: they wait elsewhere. If no lifeline tells them, only
 * its log does. */
static void boot_late(struct mpi_boot *b)
{
    storm_log_write(b->log, STORM_LOG_WARN,
                    "rank %d has failed in a step and waits for the others to "
                    "end it: one is in a collective call of a callback, or "
                    "computes",
                    b->rank);
    storm_lifeline_fail(b->lifeline);
    storm_patience_begin(&b->patience, LATE_AGAIN_S);
}

/* Waits for a request as long as no rank is lost. */
static storm_status boot_wait(struct mpi_boot *b, int rc, MPI_Request *request)
{
    int done = *request == MPI_REQUEST_NULL;
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
                           b->tag + BLOCKING_TAG, b->line->comm, &in[i]);
    for (int i = 0; i < n_links && rc == MPI_SUCCESS; i++)
        if (link[i].to >= 0) {
            memcpy(b->out[i], link[i].mine, bytes);
            rc = MPI_Isend(b->out[i], (int)bytes, MPI_BYTE, link[i].to,
                           b->tag + BLOCKING_TAG, b->line->comm, &out[i]);
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

/* Down a tree: the parent of a rank is that rank without its lowest bit. */
static storm_status boot_broadcast(void *self, void *inout, size_t bytes)
{
    struct mpi_boot *b = self;
    storm_status status = storm_lifeline_check(b->lifeline);
    int bit = 1;
    while (bit < b->size && !(b->rank & bit))
        bit *= 2;
    struct storm_boot_link link = {
        .to = -1, .from = b->rank - bit, .theirs_out = inout};
    if (status == STORM_OK && b->rank > 0)
        status = boot_exchange(b, &link, 1, bytes);
    link = (struct storm_boot_link){.from = -1, .mine = inout};
    for (bit /= 2; bit > 0 && status == STORM_OK; bit /= 2) {
        link.to = b->rank + bit;
        if (link.to < b->size)
            status = boot_exchange(b, &link, 1, bytes);
    }
    return status;
}

/* After the round at distance d a rank has the minimum of 2 d ranks. */
static storm_status boot_minimum(void *self, int mine, int *min_out)
{
    struct mpi_boot *b = self;
    storm_status status = storm_lifeline_check(b->lifeline);
    for (int d = 1; d < b->size && status == STORM_OK; d *= 2) {
        int theirs = mine;
        struct storm_boot_link link = {.to = (b->rank + d) % b->size,
                                       .mine = &mine,
                                       .from =
                                           (b->rank + b->size - d) % b->size,
                                       .theirs_out = &theirs};
        status = boot_exchange(b, &link, 1, sizeof mine);
        mine = theirs < mine ? theirs : mine;
    }
    if (status == STORM_OK)
        *min_out = mine;
    return status;
}

static storm_status boot_barrier_try(void *self)
{
    struct mpi_boot *b = self;
    storm_status status = storm_lifeline_check(b->lifeline);
    return status < 0 ? status : storm_mpi_barrier_try(&b->barrier);
}

/* ---- tags -----------------------------------------------------------------*/

/* The largest that MPI has. */
static int last_tag(MPI_Comm comm)
{
    enum { ALWAYS_THERE = 32767 };
    int *max = NULL, found = 0;
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &max, &found);
    return found ? *max : ALWAYS_THERE;
}

static bool tag_is_used(const struct mpi_line *line, int tag)
{
    const struct tag_block *block = line->used;
    while (block && block->first != tag)
        block = block->next;
    return block != NULL;
}

/* The next free block. Without memory for it (NULL) the next is another, too:
 * all ranks must agree. */
static struct tag_block *take_block(struct mpi_line *line)
{
    int last = last_tag(line->comm);
    do {
        line->next_tag += STORM_MPI_TAGS;
        if (line->next_tag < FIRST_TAG ||
            line->next_tag > last - STORM_MPI_TAGS)
            line->next_tag = FIRST_TAG;
    } while (tag_is_used(line, line->next_tag));
    struct tag_block *block = malloc(sizeof *block);
    if (block) {
        *block = (struct tag_block){line->used, line->next_tag};
        line->used = block;
    }
    return block;
}

static void return_block(struct mpi_line *line, int tag)
{
    for (struct tag_block **at = &line->used; *at; at = &(*at)->next)
        if ((*at)->first == tag) {
            struct tag_block *block = *at;
            *at = block->next;
            free(block);
            return;
        }
}

storm_status storm_boot_mpi_share(const struct storm_boot *boot,
                                  storm_status mine,
                                  struct storm_mpi_share *share_out)
{
    struct mpi_line *line = ((struct mpi_boot *)boot->self)->line;
    struct tag_block *block = take_block(line);
    if (mine >= 0 && !block)
        mine = STORM_ERR_NOMEM;
    storm_status status = storm_boot_agree(boot, mine);
    if (status >= 0)
        *share_out =
            (struct storm_mpi_share){.comm = line->comm, .tag = block->first};
    else if (block)
        return_block(line, block->first);
    return status;
}

void storm_boot_mpi_return(const struct storm_boot *boot,
                           const struct storm_mpi_share *share)
{
    return_block(((struct mpi_boot *)boot->self)->line, share->tag);
}

/* ---- life -----------------------------------------------------------------*/

static void boot_fill(struct mpi_boot *b, struct mpi_line *line, int tag,
                      struct storm_boot *boot_out)
{
    b->line = line;
    b->tag = tag;
    storm_mpi_barrier_open(&b->barrier, line->comm, tag + BARRIER_TAG);
    b->rank = b->barrier.rank;
    b->size = b->barrier.size;
    *boot_out = (struct storm_boot){
        .self = b,
        .rank = b->rank,
        .size = b->size,
        .mpi_comm = &line->comm,
        .broadcast = boot_broadcast,
        .exchange = boot_exchange,
        .minimum = boot_minimum,
        .barrier_try = boot_barrier_try,
    };
}

static void line_free(struct mpi_line *line)
{
    while (line && line->used)
        return_block(line, line->used->first);
    free(line);
}

storm_status storm_boot_mpi_open(MPI_Comm comm, struct storm_boot *boot_out)
{
    struct mpi_boot *b = calloc(1, sizeof *b);
    struct mpi_line *line = calloc(1, sizeof *line);
    if (line)
        line->comm = comm; /* whose tags are those of its duplicate */
    struct tag_block *block = line ? take_block(line) : NULL;
    int mine = b && block ? 0 : STORM_ERR_NOMEM, worst = 0;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, comm);
    if (worst == 0 && MPI_Comm_dup(comm, &line->comm) != MPI_SUCCESS)
        mine = worst = STORM_ERR_FABRIC;
    if (worst < 0) {
        line_free(line);
        free(b);
        return mine < 0 ? (storm_status)mine : STORM_ERR_PEER;
    }
    /* Errors there return, also to a fabric that uses the communicator. */
    MPI_Comm_set_errhandler(line->comm, MPI_ERRORS_RETURN);
    b->owns_line = true;
    boot_fill(b, line, block->first, boot_out);
    return STORM_OK;
}

storm_status storm_boot_mpi_copy(const struct storm_boot *boot,
                                 struct storm_boot *boot_out)
{
    const struct mpi_boot *from = boot->self;
    struct mpi_boot *b = calloc(1, sizeof *b);
    struct storm_mpi_share share;
    storm_status status =
        storm_boot_mpi_share(boot, b ? STORM_OK : STORM_ERR_NOMEM, &share);
    if (status < 0) {
        free(b);
        return status;
    }
    b->lifeline = from->lifeline;
    boot_fill(b, from->line, share.tag, boot_out);
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
    storm_mpi_barrier_close(&b->barrier);
    return_block(b->line, b->tag);
    if (b->owns_line) {
        MPI_Comm_free(&b->line->comm);
        line_free(b->line);
    }
    free(b);
}
