/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; label: tsan */
/* TEST ranks: 3; args: processes */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-12: the data path allocates and prints nothing, and needs no help of
 * the target but its polls; with caps.async not even those.
 */
#include <string.h>

#include "support/conform.h"

enum { N_BYTES = 512 };

/* One operation of each kind to one peer, all under way together. */
static void one_of_each(struct conform *c, struct storm_remote *remote,
                        struct storm_region *local)
{
    uint64_t old[2];
    struct storm_ticket ticket = {0};
    uint64_t mine = 64 + 8 * (uint64_t)c->rank;
    struct storm_transfer put = {.remote = remote,
                                 .remote_offset =
                                     N_BYTES + 8 * (uint64_t)c->rank,
                                 .local = local,
                                 .bytes = 8,
                                 .delivered = true,
                                 .ticket = &ticket};
    struct storm_transfer get = {.remote = remote,
                                 .remote_offset = 64,
                                 .local = local,
                                 .local_offset = 64,
                                 .bytes = N_BYTES - 64,
                                 .ticket = &ticket};
    struct storm_atomic add = {.remote = remote,
                               .remote_offset = mine,
                               .operand = 1,
                               .old_out = &old[0],
                               .ticket = &ticket};
    struct storm_atomic swap = {.remote = remote,
                                .remote_offset = mine,
                                .operand = 1,
                                .old_out = &old[1],
                                .ticket = &ticket};
    conform_put(c, &put);
    conform_get(c, &get);
    conform_put_word(c, remote, mine, 5, &ticket);
    conform_fetch_add(c, &add);
    conform_compare_swap(c, &swap);
    conform_wait(c, &ticket);
}

/* Counts what the log is handed. */
static void count_line(void *self, storm_log_level level, int rank,
                       const char *message)
{
    (void)level, (void)rank, (void)message;
    ++*(int *)self;
}

static void no_allocation(struct conform *c, const struct conform_share *share,
                          struct storm_region *local)
{
    /* The environment is this test's own to listen to. */
    struct storm_log *log = (struct storm_log *)&c->fabric->env->log;
    struct storm_log before = *log;
    int n_lines = 0;
    log->sink = count_line;
    log->self = &n_lines;
    log->level = STORM_LOG_DEBUG;
    uint64_t calls = storm_memory_calls(c->fabric->env->memory);
    for (uint64_t i = 0; i < conform_rounds(c, 20000); i++)
        one_of_each(c, share->remote[i % (uint64_t)c->size], local);
    CHECK_EQ(storm_memory_calls(c->fabric->env->memory), calls);
    CHECK_EQ(n_lines, 0);
    *log = before;
}

/* The target sits in a call that does not return before the others are done,
 * or, if it must, does nothing but poll. */
static void no_help(struct conform *c, const struct conform_share *share,
                    struct storm_region *local)
{
    for (int target = 0; target < c->size; target++) {
        if (c->rank != target)
            one_of_each(c, share->remote[target], local);
        int lowest;
        if (!c->fabric->caps.async)
            conform_fence(c);
        CHECK_OK(c->boot->minimum(c->boot->self, 0, &lowest));
    }
}

static void quiet(struct conform *c)
{
    struct conform_share share;
    conform_share_open(c, N_BYTES + 8 * (size_t)c->size, &share);
    struct storm_region *local = conform_alloc(c, N_BYTES);
    no_allocation(c, &share, local);
    conform_settle(c);
    no_help(c, &share, local);
    conform_settle(c);
    conform_release(c, local);
    conform_share_close(c, &share);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, quiet);
}
