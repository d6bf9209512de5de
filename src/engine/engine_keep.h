/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that a physics keeps elsewhere: in the memory of a device, from step
 * to step. The engine knows how many there are, and asks for them when somebody
 * wants to see them.
 *
 *   KEEP-1  What is kept is alive from the begin of a step until a turn reports
 *           it at census (TERM-1, TERM-2). While packets are to be advanced, or
 *           a turn is under way, a rank is not idle.
 *   KEEP-2  A turn takes packets of the batch over and advances all that are
 *           kept, by a limited number of events. Meanwhile the rank serves its
 *           rings and answers waves.
 *   KEEP-3  Packets that leave - for another rank, through the boundary, or
 *           because they do not end - come out of a turn with their outcomes,
 *           in memory of the keeper, and are settled like a batch.
 *   KEEP-4  Whoever asks for the packets of a step or an engine gets all of
 *           them: they are fetched into slots of the store first, and are kept
 *           no longer. Readers inside of storm may take a view instead: copies,
 *           which last until packets are added, fetched or advanced.
 *   KEEP-5  A step with another physics begins with all packets in the store.
 *   KEEP-6  Between steps the engine knows a keeper only as long as that keeps
 *           packets. Either may end before the other: one that ends while it
 *           keeps some leaves, and an engine that does, or that has failed,
 *           drops them.
 */
#ifndef STORM_ENGINE_ENGINE_KEEP_H
#define STORM_ENGINE_ENGINE_KEEP_H

#include <storm/engine.h>

/* What has become of packets in a turn. */
struct storm_turn {
    size_t n_census, n_absorbed;
    uint64_t events, moves; /* of all but those that leave */
    size_t n_active;        /* to be advanced by the next turn */
    /* Those that leave; lent until the turn after the next one begins. */
    size_t n;
    unsigned char *packets; /* records, one after the other */
    struct storm_outcome *outcomes;
};

/* Between begin and end nothing else is called. */
struct storm_keeper {
    void *self;
    /* Begins a turn: takes n_taken packets over and works on the others where
     * they are; their outcomes are filled when it ends. All stay as they are
     * until then. At most n_max leave. */
    storm_status (*begin)(void *self, struct storm_step *step,
                          void *const *packets, size_t n, size_t n_max,
                          struct storm_outcome *outcomes_out,
                          size_t *n_taken_out);
    /* STORM_AGAIN: the turn has not ended; it is called again soon. */
    storm_status (*end)(void *self, struct storm_turn *turn_out);
    /* In pre_step: begins to take the first packets over; how many. What it
     * began before has ended when it returns. */
    storm_status (*take)(void *self, void *const *packets, size_t n,
                         size_t *n_taken_out);
    /* How many are kept; between turns. */
    size_t (*count)(const void *self);
    /* Copies some of them into slots, in an order that stays the same until a
     * turn begins. */
    storm_status (*copy)(void *self, size_t first, void *const *slots,
                         size_t n);
    /* They are kept no longer. */
    void (*drop)(void *self);
};

/* For the end of pre_step: who keeps packets in this step, beginning with those
 * that wait in the store, but for a boundary that injects: it may ask which
 * they are. NULL: nobody, and what was kept has been fetched. `keeper` outlives
 * the packets it keeps. Local. STORM_ERR_DEVICE. */
storm_status storm_step_keep(struct storm_step *step,
                             const struct storm_keeper *keeper);

/* For pre_step: brings what is kept into the store. Local. STORM_ERR_NOMEM;
 * STORM_ERR_DEVICE (logged). */
storm_status storm_step_fetch(struct storm_step *step);

/* KEEP-6: the keeper of packets ends, between steps; they come into the store.
 * Local. Those for which there is no memory are lost: the next step fails. */
void storm_step_leave(struct storm_step *step);

/* For pre_step: as storm_step_packets, without those that are kept. */
void **storm_step_packets_here(struct storm_step *step, size_t *n_out);

/* For pre_step: packets in the store that wait for transport. Local. */
size_t storm_step_n_waiting(const struct storm_step *step);

/* KEEP-4: all packets between steps, to read them. Local. Not STORM_OK: as
 * storm_engine_fetch. */
storm_status storm_engine_view(struct storm_engine *engine,
                               const void *const **packets_out, size_t *n_out);

#endif /* STORM_ENGINE_ENGINE_KEEP_H */
