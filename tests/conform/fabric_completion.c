/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 60; label: tsan */
/* TEST ranks: 3; args: processes; timeout: 60 */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-3, FABRIC-4: every accepted operation completes exactly once and has
 * its effect exactly once; one that was answered STORM_AGAIN has none at all.
 *
 * Every attempt, accepted or not, has memory of its own here and at its target.
 */
#include <string.h>

#include "support/conform.h"

enum {
    N_ATTEMPTS = 256,
    N_TICKETS = 5,
    LINE = 32,      /* bytes of one attempt, here and there */
    ADD_OFFSET = 0, /* the word all fetch_adds of a rank go to */
    JUNK = 0x5a
};

enum kind { PUT, GET, PUT_WORD, FETCH_ADD, COMPARE_SWAP, N_KINDS };

struct attempt {
    enum kind kind;
    int peer;
    bool accepted;
    uint64_t old; /* what an atomic found */
};

struct state {
    struct conform *c;
    struct conform_share share;
    struct storm_region *local;
    struct storm_ticket ticket[N_TICKETS];
    struct attempt attempt[N_ATTEMPTS];
};

static uint64_t local_offset(int i)
{
    return (uint64_t)i * LINE;
}

/* Where attempts of this rank go: a block per rank, a word for sums first. */
static uint64_t remote_offset(const struct conform *c, int i)
{
    uint64_t block = (uint64_t)c->rank * (N_ATTEMPTS + 1);
    return (block + 1 + (uint64_t)i) * LINE;
}

static uint64_t add_offset(const struct conform *c)
{
    return (uint64_t)c->rank * (N_ATTEMPTS + 1) * LINE + ADD_OFFSET;
}

static storm_status issue(struct state *s, int i, struct storm_ticket *ticket)
{
    struct conform *c = s->c;
    struct attempt *a = &s->attempt[i];
    struct storm_remote *remote = s->share.remote[a->peer];
    struct storm_transfer t = {.remote = remote,
                               .remote_offset = remote_offset(c, i),
                               .local = s->local,
                               .local_offset = local_offset(i),
                               .bytes = LINE,
                               .delivered = true,
                               .ticket = ticket};
    struct storm_atomic atomic = {.remote = remote,
                                  .remote_offset = remote_offset(c, i),
                                  .operand = (uint64_t)i + 1,
                                  .expected = 0,
                                  .old_out = &a->old,
                                  .ticket = ticket};
    switch (a->kind) {
    case PUT:
        conform_fill(c->seed, (uint64_t)i, /* what it shall look like there */
                     (unsigned char *)s->local->base + local_offset(i), LINE);
        return c->data->put(&t);
    case GET:
        t.delivered = false;
        return c->data->get(&t);
    case PUT_WORD:
        return c->data->put_word(remote, t.remote_offset, (uint64_t)i + 1,
                                 ticket);
    case FETCH_ADD:
        atomic.remote_offset = add_offset(c);
        return c->data->fetch_add(&atomic);
    case COMPARE_SWAP:
        return c->data->compare_swap(&atomic);
    case N_KINDS:
        break;
    }
    return STORM_ERR_ARG;
}

static void try_one(struct state *s, int i, struct dice *dice)
{
    struct attempt *a = &s->attempt[i];
    *a = (struct attempt){.kind = (enum kind)dice_roll(dice, N_KINDS),
                          .peer = (int)dice_roll(dice, (uint64_t)s->c->size),
                          .old = JUNK};
    memset((unsigned char *)s->local->base + local_offset(i), JUNK, LINE);
    struct storm_ticket *ticket = &s->ticket[dice_roll(dice, N_TICKETS)];
    uint32_t before = ticket->pending;
    storm_status status = issue(s, i, ticket);
    CHECK(status == STORM_OK || status == STORM_AGAIN);
    CHECK_OK(ticket->status);
    a->accepted = status == STORM_OK;
    if (a->accepted)
        CHECK(ticket->pending == before || ticket->pending == before + 1);
    else
        CHECK_EQ(ticket->pending, before);
}

/* One poll: pending counts fall or stay. */
static uint32_t watched_poll(struct state *s, uint64_t n_empty)
{
    uint32_t before[N_TICKETS], pending = 0;
    for (int i = 0; i < N_TICKETS; i++)
        before[i] = s->ticket[i].pending;
    conform_poll(s->c, n_empty);
    for (int i = 0; i < N_TICKETS; i++) {
        CHECK(s->ticket[i].pending <= before[i]);
        CHECK_OK(s->ticket[i].status);
        pending += s->ticket[i].pending;
    }
    return pending;
}

/* What is in the target's memory of attempt i, or in another word there. */
static void look(struct state *s, int peer, uint64_t offset, void *line_out)
{
    struct storm_region *line = conform_alloc(s->c, LINE);
    struct storm_ticket ticket = {0};
    struct storm_transfer get = {.remote = s->share.remote[peer],
                                 .remote_offset = offset,
                                 .local = line,
                                 .bytes = LINE,
                                 .ticket = &ticket};
    conform_get(s->c, &get);
    conform_wait(s->c, &ticket);
    memcpy(line_out, line->base, LINE);
    conform_release(s->c, line);
}

static void check_effect(struct state *s, int i)
{
    const struct attempt *a = &s->attempt[i];
    unsigned char there[LINE], want[LINE] = {0};
    const unsigned char *here =
        (unsigned char *)s->local->base + local_offset(i);
    uint64_t word = (uint64_t)i + 1;
    if (a->accepted && a->kind == PUT)
        conform_fill(s->c->seed, (uint64_t)i, want, LINE);
    if (a->accepted && (a->kind == PUT_WORD || a->kind == COMPARE_SWAP))
        memcpy(want, &word, sizeof word);
    look(s, a->peer, remote_offset(s->c, i), there);
    /* On an ordered fabric a put_word may land after its completion. */
    while (a->kind == PUT_WORD && s->c->fabric->caps.ordered &&
           memcmp(there, "\0\0\0\0\0\0\0", 8) == 0 && a->accepted)
        look(s, a->peer, remote_offset(s->c, i), there);
    CHECK(memcmp(there, want, LINE) == 0);
    if (a->kind == GET)
        CHECK_EQ(here[LINE - 1], a->accepted ? 0 : JUNK);
    if (a->kind == COMPARE_SWAP)
        CHECK_EQ(a->old, a->accepted ? 0 : JUNK);
}

/* The sum at each peer is that of the accepted adds, and the old values are
 * sums of some of them. */
static void check_sums(struct state *s)
{
    for (int peer = 0; peer < s->c->size; peer++) {
        uint64_t line[LINE / 8], sum = 0;
        for (int i = 0; i < N_ATTEMPTS; i++)
            if (s->attempt[i].kind == FETCH_ADD && s->attempt[i].peer == peer &&
                s->attempt[i].accepted)
                sum += (uint64_t)i + 1;
        look(s, peer, add_offset(s->c), line);
        CHECK_EQ(line[0], sum);
    }
    for (int i = 0; i < N_ATTEMPTS; i++)
        if (s->attempt[i].kind == FETCH_ADD && !s->attempt[i].accepted)
            CHECK_EQ(s->attempt[i].old, JUNK);
}

static void round_of(struct conform *c, uint64_t number)
{
    struct state s = {.c = c};
    struct dice dice = dice_make(c->seed + number, (uint64_t)c->rank);
    conform_share_open(c, (size_t)c->size * (N_ATTEMPTS + 1) * LINE, &s.share);
    s.local = conform_alloc(c, N_ATTEMPTS * LINE);
    for (int i = 0; i < N_ATTEMPTS; i++) {
        try_one(&s, i, &dice);
        if (dice_roll(&dice, 4) == 0)
            watched_poll(&s, 0);
    }
    for (uint64_t n = 0; watched_poll(&s, n) > 0; n++)
        continue;
    for (int i = 0; i < 200; i++) /* nothing completes twice */
        CHECK_EQ(watched_poll(&s, 0), 0);
    for (int i = 0; i < N_ATTEMPTS; i++)
        check_effect(&s, i);
    check_sums(&s);
    conform_fence(c);
    conform_release(c, s.local);
    conform_share_close(c, &s.share);
}

static void completion(struct conform *c)
{
    for (uint64_t i = 0; i < 4; i++)
        round_of(c, i);
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, completion);
}
