/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that stay in the memory of a device: the keeper (engine_keep.h) of a
 * physics with a device_run.
 *
 *   POOL-1  Packets are in slots. Lists of addresses say which are to be
 *           advanced, at census, about to leave, and free. Their order is by
 *           chance; nothing depends on it.
 *   POOL-2  A turn: packets are copied from the store while the kernel of the
 *           physics advances those of the list; then these, if they are few,
 *           else they are for the next turn. All that were advanced are sorted
 *           by what has become of them, those that leave are copied into
 *           pinned memory, record after record, as rings have them, and the
 *           counts of it all follow. The host reads no more.
 *   POOL-3  Packets wake, at the begin of a step, in the order of their cells.
 *   POOL-4  Slots are a matter of memory: what does not fit is advanced where
 *           it is, in the store of the engine. The run logs that once.
 *   POOL-5  A packet that has had the engine's max_events leaves as one that
 *           does not end.
 */
#ifndef STORM_PHYSICS_DEVICE_POOL_H
#define STORM_PHYSICS_DEVICE_POOL_H

#include "engine/engine_keep.h"
#include "physics/device_run.h"

enum {
    POOL_OUT_MAX = 1 << 17,     /* packets that leave in a turn */
    POOL_BUS_THREADS = 1 << 15, /* of one that waits for the bus */
    POOL_BULK = 1 << 14,        /* packets that may come in behind others */
    POOL_THREADS = 1 << 16,     /* of kernels that go through a list */
    POOL_KEYS = 1 << 18,        /* of the order of cells, at most */
    POOL_PARTS = 8,             /* threads that copy a packet together, */
    POOL_PART = 16,             /* and bytes of each */
    POOL_BLOCK = 512,           /* keys that a thread adds up */
    POOL_REPORT_BYTES = 4096    /* a page of its own */
};
_Static_assert(POOL_PARTS *POOL_PART == sizeof(struct storm_packet),
               "all of a packet is copied");

/* On the device; the first four are lengths of lists. */
struct pool_counts {
    uint64_t next, census, leaving, free;
    uint64_t packed; /* of those leaving */
    uint64_t absorbed, events, moves;
    uint64_t largest; /* weight, as bits: they order positive numbers */
};

/* One that leaves, with what has become of it. */
struct pool_leaving {
    struct storm_packet *packet;
    struct storm_outcome outcome;
};

/* Arguments of the kernels in device_packets.c, each of which uses some. */
struct device_pool_job {
    struct storm_packet *slots;
    struct storm_packet **active, **next, **census, **free;
    uint64_t *spent, *next_spent;   /* events in this step: `active`, `next` */
    struct storm_outcome *outcomes; /* of `active` */
    struct pool_leaving *leaving;
    struct pool_counts *counts;
    uint64_t *keys, *blocks; /* of the order of cells */
    uint64_t n, first;       /* what this launch works on */
    uint64_t n_free, n_keys, n_threads, max_events;
    unsigned shift; /* from cells to keys */
    double time_left_s;
    struct storm_packet *const *from;
    const uint64_t *from_spent;
    void *const *host; /* packets in slots of the engine */
    unsigned char *out;
    struct storm_outcome *out_outcomes;
    struct pool_counts *report;
};
_Static_assert(sizeof(struct device_pool_job) <= STORM_DEVICE_ARGS_MAX,
               "they are arguments");

/* Kernels, in the order of their names in device_pool.c. */
enum pool_kernel {
    POOL_ARRIVE,
    POOL_SETTLE,
    POOL_PACK,
    POOL_CLOSE,
    POOL_WAKE,
    POOL_ADD_KEYS,
    POOL_SPREAD_KEYS,
    POOL_SORT,
    POOL_COPY,
    POOL_MOVE,
    POOL_LIST_FREE,
    POOL_KERNELS
};

/* Pinned memory for what leaves in a turn. */
struct pool_out {
    unsigned char *packets;
    struct storm_outcome *outcomes;
};

/* Packets of a turn that stay where they are (POOL-4). */
struct pool_zero {
    void *const *packets;
    const struct storm_outcome *outcomes;
    size_t n;
};

struct device_pool {
    const struct storm_env *env;
    struct device_run *run;
    /* Of the physics: the arguments of its kernel; books a packet that escapes
     * through this wall, and may be NULL. */
    void *job;
    size_t job_bytes;
    void (*escape)(void *self, struct storm_packet *packet, int wall);
    void *escape_self;

    struct storm_keeper keeper;
    const struct storm_device_kernel *kernels[POOL_KERNELS];
    struct storm_step *step; /* of the engine whose packets are kept */
    struct device_image slots, keys, counts;
    struct device_pool_job view; /* addresses */
    size_t n_slots;
    size_t n_active, n_census, n_leaving; /* the rest is free, */
    size_t n_behind;     /* but for packets that have come for the next turn */
    size_t n_bulk;       /* so many may do that */
    bool is_listed;      /* the list of free slots and the counts are right */
    uint64_t generation; /* of the mesh that packets are in */
    uint64_t max_events;

    struct pool_out out[2]; /* of this turn and of the one before */
    int i_out;
    size_t n_out_max; /* packets that leave in a turn */
    struct pool_zero zero;
    struct pool_counts *report;
    storm_device_launch_id launch;
    storm_status status; /* the first error of a launch */
    bool is_logged;      /* that memory does not suffice */
    bool is_off;         /* it has no kernels, or no pinned memory */
};

void device_pool_open(struct device_pool *pool, struct device_run *run,
                      const struct storm_mesh *mesh, void *job,
                      size_t job_bytes);
void device_pool_close(struct device_pool *pool);

/*
 * In pre_step, before storm_census_wake: packets of the last step get dt_s;
 * *largest_inout is raised to their largest weight. If the mesh has changed
 * they are fetched instead, for storm_census_wake to find. Local.
 */
storm_status device_pool_wake(struct device_pool *pool, struct storm_step *step,
                              const struct storm_mesh *mesh, double dt_s,
                              double *largest_inout);

/* At the end of pre_step: packets are kept in this step if its kernel is known
 * and leaves nothing to the host (RUN-5); else they are fetched. Local. */
storm_status device_pool_begin(struct device_pool *pool,
                               struct storm_step *step,
                               const struct storm_mesh *mesh);

#endif /* STORM_PHYSICS_DEVICE_POOL_H */
