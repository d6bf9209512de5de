/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric_selftest.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/idle.h"

enum {
    TAIL_AT = 0, /* counts slots written by the rank before */
    ADD_AT = 64,
    BLOCK_AT = 128,
    SLOTS_AT = 4096,
    N_SLOTS = 20,
    N_LAPS = 3,
    BLOCK_BYTES = 512
};

#define TIMEOUT_S 30.0 /* timeout of every wait */
#define ASLEEP_S 1.0   /* for data to land while the target sleeps */

/* ---- pieces ---------------------------------------------------------------*/

/* Small and large slots take turns: providers treat them differently. */
static uint64_t slot_bytes(uint64_t i)
{
    static const uint64_t bytes[] = {64, 2048, 16384, 600, 200000};
    return bytes[i % (sizeof bytes / sizeof bytes[0])];
}

static uint64_t slot_at(uint64_t i)
{
    uint64_t at = SLOTS_AT;
    for (uint64_t k = 0; k < i; k++)
        at += slot_bytes(k);
    return at;
}

/* The k-th word of whatever `rank` writes as number `number`. */
static uint64_t pattern(uint64_t rank, uint64_t number, uint64_t k)
{
    uint64_t x = (rank << 40 ^ number << 20 ^ k) + 1;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static void fill(unsigned char *to, uint64_t rank, uint64_t number,
                 uint64_t bytes)
{
    for (uint64_t k = 0; k < bytes / 8; k++) {
        uint64_t word = pattern(rank, number, k);
        memcpy(to + 8 * k, &word, sizeof word);
    }
}

static bool is_filled(const unsigned char *at, uint64_t rank, uint64_t number,
                      uint64_t bytes)
{
    for (uint64_t k = 0; k < bytes / 8; k++) {
        uint64_t word = pattern(rank, number, k);
        if (memcmp(at + 8 * k, &word, sizeof word) != 0)
            return false;
    }
    return true;
}

static uint64_t word_here(const struct storm_selftest *s, uint64_t offset)
{
    /* Pairs with the peer's put_word (FABRIC-8). */
    return atomic_load_explicit(
        (_Atomic uint64_t *)(void *)((unsigned char *)s->mine->base + offset),
        memory_order_acquire);
}

static void record_status(struct storm_selftest *s, storm_status status)
{
    if (s->status == STORM_OK && status < 0)
        s->status = status;
}

static void start_clock(struct storm_selftest *s, double seconds)
{
    s->limit_s = storm_clock_seconds() + seconds;
}

/* One poll; false after an error. */
static bool poll_once(struct storm_selftest *s, uint64_t n_empty)
{
    record_status(s, s->fabric->data->idle(s->fabric, n_empty));
    return s->status == STORM_OK && storm_clock_seconds() < s->limit_s;
}

/* Did all operations complete in time, without an error? */
static bool wait_all(struct storm_selftest *s)
{
    for (uint64_t n = 0; s->ticket.pending > 0; n++)
        if (!poll_once(s, n))
            return false;
    record_status(s, s->ticket.status);
    return s->ticket.status == STORM_OK;
}

/* All ranks are here; polls until then. */
static void fence(struct storm_selftest *s)
{
    storm_status status;
    for (uint64_t n = 0;
         (status = s->fabric->boot.barrier_try(s->fabric->boot.self)) ==
         STORM_AGAIN;
         n++)
        record_status(s, s->fabric->data->idle(s->fabric, n));
    record_status(s, status);
}

/* Repeats on STORM_AGAIN until the timeout. */
#define UNTIL_ACCEPTED(_s, _call)                           \
    for (uint64_t _n = 0;; _n++) {                          \
        storm_status _status = (_call);                     \
        if (_status < 0)                                    \
            record_status((_s), _status);                   \
        if (_status != STORM_AGAIN || !poll_once((_s), _n)) \
            break;                                          \
    }

/* Between `at` of the next rank and `here` of this one. */
static struct storm_transfer transfer(struct storm_selftest *s, uint64_t at,
                                      uint64_t here, uint64_t bytes)
{
    return (struct storm_transfer){.remote = s->next,
                                   .remote_offset = at,
                                   .local = s->from,
                                   .local_offset = here,
                                   .bytes = bytes,
                                   .ticket = &s->ticket};
}

static void put(struct storm_selftest *s, uint64_t at, uint64_t bytes,
                bool delivered)
{
    struct storm_transfer t = transfer(s, at, at, bytes);
    t.delivered = delivered;
    UNTIL_ACCEPTED(s, s->fabric->data->put(&t))
}

static void get(struct storm_selftest *s, uint64_t at, uint64_t to,
                uint64_t bytes)
{
    struct storm_transfer t = transfer(s, at, to, bytes);
    UNTIL_ACCEPTED(s, s->fabric->data->get(&t))
}

static void put_word(struct storm_selftest *s, uint64_t at, uint64_t word)
{
    UNTIL_ACCEPTED(s, s->fabric->data->put_word(s->next, at, word, &s->ticket))
}

static void add(struct storm_selftest *s, uint64_t operand, uint64_t *old_out)
{
    struct storm_atomic a = {.remote = s->next,
                             .remote_offset = ADD_AT,
                             .operand = operand,
                             .old_out = old_out,
                             .ticket = &s->ticket};
    UNTIL_ACCEPTED(s, s->fabric->data->fetch_add(&a))
}

static void selftest_swap(struct storm_selftest *s, uint64_t expected,
                          uint64_t operand, uint64_t *old_out)
{
    struct storm_atomic a = {.remote = s->next,
                             .remote_offset = ADD_AT,
                             .operand = operand,
                             .expected = expected,
                             .old_out = old_out,
                             .ticket = &s->ticket};
    UNTIL_ACCEPTED(s, s->fabric->data->compare_swap(&a))
}

/* ---- stages ---------------------------------------------------------------*/

storm_status storm_selftest_refuse(const struct storm_selftest *s,
                                   const char *what)
{
    storm_log_write(&s->fabric->env->log, STORM_LOG_ERROR,
                    "%s: %s cannot be used: %s (tried with rank %d)",
                    s->fabric->ops->name, s->fabric->provider, what,
                    s->next->peer);
    return STORM_ERR_NOSUP;
}

/* One operation of each kind does what it should. */
static storm_status try_each(struct storm_selftest *s)
{
    uint64_t me = (uint64_t)s->fabric->boot.rank, old[3] = {9, 9, 9};
    unsigned char *from = s->from->base;
    start_clock(s, TIMEOUT_S);
    fill(from + BLOCK_AT, me, 1, BLOCK_BYTES);
    put(s, BLOCK_AT, BLOCK_BYTES, true);
    bool answered = wait_all(s);
    if (answered) {
        get(s, BLOCK_AT, SLOTS_AT, BLOCK_BYTES);
        add(s, 5, &old[0]);
        answered = wait_all(s);
    }
    if (answered) {
        selftest_swap(s, 5, 7, &old[1]);
        answered = wait_all(s);
    }
    if (answered) {
        selftest_swap(s, 5, 8, &old[2]);
        answered = wait_all(s);
    }
    fence(s);
    if (!answered)
        return storm_selftest_refuse(s, "transfers fail or are not answered");
    if (!is_filled(from + SLOTS_AT, me, 1, BLOCK_BYTES) ||
        !is_filled((unsigned char *)s->mine->base + BLOCK_AT, s->before, 1,
                   BLOCK_BYTES))
        return storm_selftest_refuse(s, "data arrive damaged");
    if (old[0] != 0 || old[1] != 5 || old[2] != 7 || word_here(s, ADD_AT) != 7)
        return storm_selftest_refuse(s, "atomics give wrong results");
    return STORM_OK;
}

/* All slots that the tail word announces must be there. */
static bool arrived(struct storm_selftest *s, uint64_t lap, uint64_t *n_seen)
{
    uint64_t tail = word_here(s, TAIL_AT);
    const unsigned char *base = s->mine->base;
    bool good = true;
    if (tail <= lap * N_SLOTS)
        return true; /* nothing of this lap yet */
    for (uint64_t i = *n_seen; i < tail - lap * N_SLOTS && i < N_SLOTS; i++) {
        good &= is_filled(base + slot_at(i), s->before, lap * N_SLOTS + i,
                          slot_bytes(i));
        *n_seen = i + 1;
    }
    return good;
}

/* Slots and tail words as fast as possible: does a word ever overtake? */
bool storm_selftest_order(struct storm_selftest *s)
{
    uint64_t me = (uint64_t)s->fabric->boot.rank;
    bool good = true;
    for (uint64_t lap = 0; lap < N_LAPS; lap++) {
        uint64_t n_seen = 0;
        start_clock(s, TIMEOUT_S);
        for (uint64_t i = 0; i < N_SLOTS; i++)
            fill((unsigned char *)s->from->base + slot_at(i), me,
                 lap * N_SLOTS + i, slot_bytes(i));
        for (uint64_t i = 0; i < N_SLOTS; i++) {
            put(s, slot_at(i), slot_bytes(i), false);
            put_word(s, TAIL_AT, lap * N_SLOTS + i + 1);
            good &= arrived(s, lap, &n_seen);
        }
        for (uint64_t n = 0; good && n_seen < N_SLOTS && poll_once(s, n); n++)
            good &= arrived(s, lap, &n_seen);
        good &= wait_all(s) && n_seen == N_SLOTS;
        fence(s);
    }
    return good;
}

/* Ranks of one parity work while the others wait in a call of the boot: does
 * everything complete? */
bool storm_selftest_asleep(struct storm_selftest *s)
{
    bool good = true;
    uint64_t old;
    for (int turn = 0; turn < 2; turn++) {
        int min;
        if (s->fabric->boot.rank % 2 == turn && s->next->peer % 2 != turn) {
            start_clock(s, ASLEEP_S);
            put(s, BLOCK_AT, BLOCK_BYTES, true);
            get(s, BLOCK_AT, SLOTS_AT, BLOCK_BYTES);
            add(s, 1, &old);
            good &= wait_all(s);
        }
        record_status(s,
                      s->fabric->boot.minimum(s->fabric->boot.self, 0, &min));
        start_clock(s, TIMEOUT_S);
        (void)wait_all(s);
        fence(s);
    }
    return good;
}

bool storm_selftest_agree(struct storm_selftest *s, bool mine)
{
    int min = 0;
    record_status(s, s->fabric->boot.minimum(s->fabric->boot.self, mine, &min));
    return min;
}

/* ---- set-up ---------------------------------------------------------------*/

static storm_status make_memory(struct storm_selftest *s)
{
    struct storm_fabric *fabric = s->fabric;
    const struct storm_boot *boot = &fabric->boot;
    int next = (boot->rank + 1) % boot->size;
    struct storm_region_desc mine, theirs;
    const struct storm_boot_link link = {.to = (int)s->before,
                                         .mine = &mine,
                                         .from = next,
                                         .theirs_out = &theirs};
    storm_status status =
        fabric->ops->alloc(fabric, slot_at(N_SLOTS), &s->mine);
    if (status == STORM_OK)
        status = fabric->ops->alloc(fabric, slot_at(N_SLOTS), &s->from);
    status = storm_boot_agree(boot, status);
    if (status == STORM_OK) {
        fabric->ops->describe(fabric, s->mine, &mine);
        status = boot->exchange(boot->self, &link, 1, sizeof mine);
    }
    if (status == STORM_OK)
        status = fabric->ops->attach(fabric, next, &theirs, &s->next);
    return storm_boot_agree(boot, status);
}

static void free_memory(struct storm_selftest *s)
{
    struct storm_fabric *fabric = s->fabric;
    if (s->next)
        fabric->ops->detach(fabric, s->next);
    if (s->from)
        fabric->ops->release(fabric, s->from);
    if (s->mine)
        fabric->ops->release(fabric, s->mine);
}

storm_status storm_selftest_open(struct storm_fabric *fabric,
                                 struct storm_selftest *s)
{
    const struct storm_boot *boot = &fabric->boot;
    *s = (struct storm_selftest){
        .fabric = fabric,
        .before = (uint64_t)((boot->rank + boot->size - 1) % boot->size),
    };
    storm_status status = make_memory(s);
    return status < 0 ? status : storm_boot_agree(boot, try_each(s));
}

storm_status storm_selftest_close(struct storm_selftest *s, storm_status status)
{
    if (status == STORM_OK && s->status < 0)
        status = storm_selftest_refuse(s, "transfers fail");
    status = storm_boot_agree(&s->fabric->boot, status);
    free_memory(s);
    return status;
}
