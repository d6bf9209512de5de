/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: packets that stay there (device_pool.h). Those that go
 * through a list have fewer threads than it has packets: each adds up what it
 * finds, and asks for places in lists once. */
#include "physics/on_device.h"

#include "physics/device_pool.h"

/* ---- copies -------------------------------------------------------------- */

static inline void pool_copy_part(void *to, const void *from, uint64_t part)
{
    on_pair *t = to;
    const on_pair *f = from;
    t[part] = f[part];
}

/* Packets from the store into slots, and behind `first` others in the list.
 * Few threads, each for many parts: they wait for the bus, beside the threads
 * of a kernel that computes. */
static inline void pool_arrive(const struct device_pool_job *job,
                               uint64_t thread)
{
    uint64_t part = thread % POOL_PARTS;
    for (uint64_t k = thread / POOL_PARTS; k < job->n;
         k += job->n_threads / POOL_PARTS) {
        struct storm_packet *slot = job->free[job->n_free - 1 - k];
        pool_copy_part(slot, job->host[k], part);
        if (part != 0)
            continue;
        job->active[job->first + k] = slot;
        job->spent[job->first + k] = 0;
    }
    if (thread == 0)
        (void)storm_thread_add(&job->counts->free, 0 - job->n);
}

/* Packets of a list into slots of the engine. */
static inline void pool_copy(const struct device_pool_job *job, uint64_t i)
{
    uint64_t k = i / POOL_PARTS, part = i % POOL_PARTS;
    pool_copy_part(job->host[k], job->from[job->first + k], part);
}

/* Packets of a list into the slots from `first` on, and the list of them. */
static inline void pool_move(const struct device_pool_job *job, uint64_t i)
{
    uint64_t k = i / POOL_PARTS, part = i % POOL_PARTS;
    struct storm_packet *slot = job->slots + job->first + k;
    pool_copy_part(slot, job->from[k], part);
    if (part != 0)
        return;
    job->next[k] = slot;
    job->next_spent[k] = job->from_spent[k];
}

static inline void pool_list_free(const struct device_pool_job *job, uint64_t i)
{
    job->free[i] = job->slots + job->first + i;
}

/* ---- what has become of packets ------------------------------------------ */

enum pool_end { POOL_GOES_ON, POOL_RESTS, POOL_IS_GONE, POOL_LEAVES };

static inline enum pool_end pool_end_of(const struct device_pool_job *job,
                                        uint64_t i)
{
    const struct storm_outcome *outcome = &job->outcomes[i];
    storm_fate fate = outcome->fate;
    if (fate == STORM_FATE_CENSUS)
        return POOL_RESTS;
    if (fate == STORM_FATE_ABSORBED)
        return POOL_IS_GONE;
    if (fate != STORM_FATE_CONTINUE ||
        job->spent[i] + outcome->events > job->max_events)
        return POOL_LEAVES;
    return POOL_GOES_ON;
}

static inline uint64_t pool_place(uint64_t *length, uint64_t n)
{
    return n > 0 ? storm_thread_add(length, n) : 0;
}

static inline void pool_settle(const struct device_pool_job *job,
                               uint64_t thread)
{
    uint64_t go_on = 0, rest = 0, gone = 0, leave = 0, events = 0, moves = 0;
    for (uint64_t i = thread; i < job->n; i += job->n_threads) {
        enum pool_end end = pool_end_of(job, i);
        uint64_t n = job->outcomes[i].events;
        go_on += end == POOL_GOES_ON;
        rest += end == POOL_RESTS;
        gone += end == POOL_IS_GONE;
        leave += end == POOL_LEAVES;
        events += end == POOL_LEAVES ? 0 : n;
        moves += end == POOL_LEAVES ? 0 : n + (n == 0);
    }
    struct pool_counts *counts = job->counts;
    go_on = pool_place(&counts->next, go_on);
    rest = pool_place(&counts->census, rest);
    (void)pool_place(&counts->absorbed, gone);
    gone = pool_place(&counts->free, gone);
    leave = pool_place(&counts->leaving, leave);
    (void)pool_place(&counts->events, events);
    (void)pool_place(&counts->moves, moves);
    for (uint64_t i = thread; i < job->n; i += job->n_threads) {
        struct storm_packet *packet = job->active[i];
        switch (pool_end_of(job, i)) {
        case POOL_GOES_ON:
            job->next_spent[go_on] = job->spent[i] + job->outcomes[i].events;
            job->next[go_on++] = packet;
            break;
        case POOL_RESTS:
            job->census[rest++] = packet;
            break;
        case POOL_IS_GONE:
            job->free[gone++] = packet;
            break;
        case POOL_LEAVES:
            job->leaving[leave].outcome.fate = job->outcomes[i].fate;
            job->leaving[leave].outcome.rank = job->outcomes[i].rank;
            job->leaving[leave].outcome.events = job->outcomes[i].events;
            if (job->outcomes[i].fate == STORM_FATE_CONTINUE) /* POOL-5 */
                job->leaving[leave].outcome.events += job->spent[i];
            job->leaving[leave++].packet = packet;
            break;
        }
    }
}

/* The last of those that leave, at most n. */
static inline void pool_pack(const struct device_pool_job *job, uint64_t i)
{
    uint64_t k = i / POOL_PARTS, part = i % POOL_PARTS;
    uint64_t n = job->counts->leaving;
    if (k >= n)
        return;
    const struct pool_leaving *leaving = &job->leaving[n - 1 - k];
    pool_copy_part(job->out + k * sizeof(struct storm_packet), leaving->packet,
                   part);
    if (part != 0)
        return;
    job->out_outcomes[k].fate = leaving->outcome.fate;
    job->out_outcomes[k].rank = leaving->outcome.rank;
    job->out_outcomes[k].events = leaving->outcome.events;
    job->free[storm_thread_add(&job->counts->free, 1)] = leaving->packet;
    (void)storm_thread_add(&job->counts->packed, 1);
}

/* One thread: the counts go to the host. */
static inline void pool_close(const struct device_pool_job *job, uint64_t i)
{
    struct pool_counts *c = job->counts, *report = job->report;
    (void)i;
    c->leaving -= c->packed;
    report->next = c->next;
    report->census = c->census;
    report->leaving = c->leaving;
    report->free = c->free;
    report->packed = c->packed;
    report->absorbed = c->absorbed;
    report->events = c->events;
    report->moves = c->moves;
    report->largest = c->largest;
    c->next = c->packed = c->absorbed = c->events = c->moves = 0;
}

/* ---- packets wake -------------------------------------------------------- */

static inline uint64_t pool_key(const struct device_pool_job *job,
                                const struct storm_packet *packet)
{
    return (uint64_t)(uint32_t)packet->cell_idx >> job->shift;
}

/* Packets at census get their time; how many are there by key? */
static inline void pool_wake(const struct device_pool_job *job, uint64_t thread)
{
    uint64_t largest = 0;
    for (uint64_t i = thread; i < job->n; i += job->n_threads) {
        struct storm_packet *packet = job->census[i];
        uint64_t weight;
        memcpy(&weight, &packet->weight_erg, sizeof weight);
        largest = weight > largest ? weight : largest;
        packet->time_left_s = job->time_left_s;
        (void)storm_thread_add(&job->keys[pool_key(job, packet)], 1);
    }
    storm_thread_max(&job->counts->largest, largest);
    if (thread == 0)
        job->counts->census = 0;
}

/* The sum of a block of keys; then where each key's packets begin. */
static inline void pool_add_keys(const struct device_pool_job *job, uint64_t b)
{
    uint64_t sum = 0;
    for (uint64_t k = b * POOL_BLOCK;
         k < (b + 1) * POOL_BLOCK && k < job->n_keys; k++)
        sum += job->keys[k];
    job->blocks[b] = sum;
}

static inline void pool_spread_keys(const struct device_pool_job *job,
                                    uint64_t b)
{
    uint64_t sum = 0;
    for (uint64_t k = 0; k < b; k++)
        sum += job->blocks[k];
    for (uint64_t k = b * POOL_BLOCK;
         k < (b + 1) * POOL_BLOCK && k < job->n_keys; k++) {
        uint64_t n = job->keys[k];
        job->keys[k] = sum;
        sum += n;
    }
}

static inline void pool_sort(const struct device_pool_job *job, uint64_t i)
{
    struct storm_packet *packet = job->census[i];
    uint64_t k = storm_thread_add(&job->keys[pool_key(job, packet)], 1);
    job->active[k] = packet;
    job->spent[k] = 0;
}

STORM_KERNEL(storm_pool_arrive, device_pool_job, pool_arrive)
STORM_KERNEL(storm_pool_settle, device_pool_job, pool_settle)
STORM_KERNEL(storm_pool_pack, device_pool_job, pool_pack)
STORM_KERNEL(storm_pool_close, device_pool_job, pool_close)
STORM_KERNEL(storm_pool_wake, device_pool_job, pool_wake)
STORM_KERNEL(storm_pool_add_keys, device_pool_job, pool_add_keys)
STORM_KERNEL(storm_pool_spread_keys, device_pool_job, pool_spread_keys)
STORM_KERNEL(storm_pool_sort, device_pool_job, pool_sort)
STORM_KERNEL(storm_pool_copy, device_pool_job, pool_copy)
STORM_KERNEL(storm_pool_move, device_pool_job, pool_move)
STORM_KERNEL(storm_pool_list_free, device_pool_job, pool_list_free)

STORM_GPU_INLINE_END
