/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an engine, shared by the files engine*.c. */
#ifndef STORM_ENGINE_INTERNAL_H
#define STORM_ENGINE_INTERNAL_H

#include <stdbool.h>

#include <storm/engine.h>

#include "base/pace.h"
#include "base/patience.h"
#include "engine/engine_context.h"
#include "engine/engine_keep.h"
#include "engine/engine_outbox.h"
#include "engine/engine_store.h"
#include "engine/engine_term.h"

/* Where in a step an engine is: what callbacks may do depends on it. */
enum engine_phase {
    ENGINE_BETWEEN,   /* no step is open */
    ENGINE_PRE,       /* pre_step, inject: spawns join `todo` */
    ENGINE_TRANSPORT, /* spawns join `fresh` */
    ENGINE_POST       /* population, post_step: spawns join `census` */
};

/* The six categories of time, in ticks of sampled iterations. */
enum engine_time {
    TIME_PHYSICS,
    TIME_PROGRESS,
    TIME_SEND_RECV,
    TIME_TERMINATION,
    TIME_GROWTH,
    TIME_IDLE,
    N_TIMES
};

/* Passed to callbacks as the step they are in. */
struct storm_step {
    struct storm_engine *engine;
};

struct storm_engine {
    struct storm_step step; /* passed to callbacks */
    struct storm_context *context;
    const struct storm_env *env;
    struct storm_engine_params params;
    struct storm_physics physics;
    struct storm_boundary boundary;
    struct storm_population population;
    struct storm_control *control;
    /* For ends of steps alone: a failed one may leave a barrier that never
     * completes. */
    struct storm_boot step_boot;
    struct storm_boot gate; /* for agreements alone, whatever others call */
    struct storm_channel *channel;

    struct storm_store store;
    struct storm_list census; /* at rest */
    struct storm_list todo;   /* this step's, in order; entries may be NULL */
    struct storm_list fresh;  /* arrived or spawned, last first */
    size_t next_todo;
    size_t counted_fresh; /* those of fresh that are in counts.created */
    size_t new_above; /* storm_step_new: with more free slots than that there is
                         nothing to look at */
    size_t n_listed;  /* what storm_step_packets shows of its list */

    struct storm_outbox outbox;
    struct storm_term term;
    struct storm_counts counts; /* of this step */

    /* Packets that the physics advances. */
    size_t batch_max, n_batch;
    void **batch;
    struct storm_outcome *outcome;
    uint64_t *batch_events;
    struct storm_arrival lent; /* n packets of the batch are in the channel, */
    size_t first_lent;         /* from this one on (BATCH-1) */
    struct storm_device *batch_device; /* batch and outcome are pinned */
    struct engine_away {               /* BATCH-4; no arrays without poll */
        void **batch;
        struct storm_outcome *outcome;
        uint64_t *batch_events;
        size_t n;
    } away;
    struct engine_keep {
        const struct storm_keeper *keeper; /* NULL: none */
        size_t n_active, n_taken;          /* the latter of `away` */
        size_t n_view;                     /* copies behind the census */
        bool is_on;                        /* a turn is under way */
        storm_status failed;               /* packets could not be fetched */
    } keep;

    enum engine_phase phase;
    storm_status failed;         /* first error of this rank in this step */
    struct storm_patience alone; /* after pre_step or inject has failed */
    bool broken;                 /* a step has failed, on all ranks */
    uint64_t n_steps;            /* begun */
    uint64_t first_step;         /* number of the first, modulo 2^64 */
    uint64_t max_events;
    uint64_t mark;                  /* see engine_side.h */
    struct storm_pace control_pace; /* of polls for control messages */
    bool timed;                     /* transport.statistics */

    struct storm_stats stats;
    uint64_t iterations;  /* of this step */
    bool waits;           /* for a ring: synchronous growth */
    uint64_t n_empty;     /* iterations in a row without work */
    uint64_t spins_saved; /* of those that only spin */
    uint64_t ticks[N_TIMES];
};

/* So long a rank whose callback has failed waits for the others before it
 * reports itself as lost: they may be in a collective call of theirs. */
enum { STORM_FAILED_S = 5 };

/* engine_keep.c: packets that are kept now; copies of them are given up; all
 * come into the store (KEEP-4); they are lost; a step has ended (KEEP-6). */
size_t engine_keep_count(const struct storm_engine *engine);
void engine_keep_unview(struct storm_engine *engine);
storm_status engine_keep_fetch(struct storm_engine *engine);
void engine_keep_drop(struct storm_engine *engine);
void engine_keep_end(struct storm_engine *engine);

/* engine_loop.c: from pre_step's end until all ranks are done. */
storm_status storm_engine_transport(struct storm_engine *engine);

/* engine_settle.c: what becomes of the batch. Packets that stay are the first
 * of the next one. */
storm_status storm_engine_settle(struct storm_engine *engine);

/* Counts the packets that a callback has created in transport: right after it,
 * before any of them can be sent and their parent can finish (TERM-1, TERM-2).
 */
static inline void storm_engine_count_new(struct storm_engine *engine)
{
    size_t n = engine->fresh.n - engine->counted_fresh;
    engine->counted_fresh = engine->fresh.n;
    engine->stats.created += n;
    engine->counts.created += n;
}

#endif /* STORM_ENGINE_INTERNAL_H */
