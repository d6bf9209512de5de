/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/engine.h
 * Move packets through a domain split over many ranks until all are done.
 *
 * Callbacks of the application advance packets; the engine stores them, carries
 * them to the rank where they continue, keeps every rank busy and knows when
 * all ranks are done. It never looks into a packet.
 *
 * Lifecycle  create; any number of steps; destroy. One step is, in this
 *            order: pre_step, inject, transport until no packet is alive on any
 *            rank, population control, post_step.
 * Ownership  add and spawn copy the record. Lists of packets are borrowed:
 *            valid until the next call that adds or removes a packet.
 * Progress   inside storm_engine_step alone. A callback should return within
 *            a millisecond or so; other ranks wait for it.
 * Threads    one thread at a time per engine; callbacks run on that thread.
 *            A callback may not call storm_engine_* of its own engine.
 * Memory     grows with packets and peers; three arrays of 4 bytes per rank.
 */
#ifndef STORM_ENGINE_H
#define STORM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_engine;  /* opaque */
struct storm_step;    /* opaque: one time step, lent to the callbacks */

/** What becomes of a packet after a callback. */
typedef enum storm_fate {
    STORM_FATE_CONTINUE = 0, /**< not done: call again */
    STORM_FATE_SEND,         /**< continue on rank `rank` */
    STORM_FATE_BOUNDARY,     /**< at the boundary: call apply */
    STORM_FATE_CENSUS,       /**< end of the time step: stored for the next */
    STORM_FATE_ABSORBED,     /**< ended in the domain */
    STORM_FATE_ESCAPED       /**< ended at the boundary */
} storm_fate;

/** The answer of a callback about one packet. */
struct storm_outcome {
    storm_fate fate;
    int32_t rank;    /**< SEND: the destination, which may be this rank */
    uint64_t events; /**< events of the packet in this call */
};

/**
 * What packets do. `self` is passed to every callback. A negative status or
 * an impossible outcome (an unknown fate, a rank that does not exist) ends
 * the step with an error on all ranks. In a callback that communicates among
 * ranks, every rank should call storm_context_agree with its status before the
 * others can wait for it: if one fails alone, it counts as lost after 5 s, and
 * their calls return STORM_ERR_LOST.
 */
struct storm_physics {
    size_t size; /**< of this struct: STORM_PHYSICS_INIT */
    void *self;
    size_t record_bytes; /**< it works on such records alone; 0: on any */
    /** Before transport, once per step: set up packets from the last step
     *  (storm_step_packets) and create new ones (storm_step_spawn), also in
     *  cells of other ranks: `step` then answers SEND. May communicate among
     *  all ranks. May be NULL. */
    storm_status (*pre_step)(void *self, struct storm_step *step);
    /** Advance one packet, which is aligned to 16 bytes, by one or more events.
     *  May spawn. *outcome_out is zeroed. Required: this or step_batch. */
    void (*step)(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome_out);
    /** Advance @p n packets, each by one or more events, in any order, and
     *  fill outcomes_out[0..n), which are not initialised. Used instead of
     *  `step` if both are set. A packet may lie elsewhere in the next call. */
    void (*step_batch)(void *self, struct storm_step *step,
                       void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out);
    /** After transport and population control: fold tallies, update the
     *  material. May be NULL. May communicate among all ranks. */
    storm_status (*post_step)(void *self, struct storm_step *step);
    /** Where step_batch only begins its batch: has that ended? STORM_OK: yes,
     *  and outcomes are filled; STORM_AGAIN: it is called again soon, and until
     *  it says STORM_OK packets and outcomes of the batch stay as they are for
     *  whoever works on them. NULL: step_batch ends its batch. */
    storm_status (*poll)(void *self, struct storm_step *step);
    /** Max packets per step_batch call that it can use; 0: what the parameters
     *  of the engine say. */
    size_t batch_packets;
};
#define STORM_PHYSICS_INIT STORM_INIT(struct storm_physics)

/** What happens at the boundary of the domain. */
struct storm_boundary {
    size_t size; /**< of this struct: STORM_BOUNDARY_INIT */
    void *self;
    size_t record_bytes; /**< it works on such records alone; 0: on any */
    /** A packet answered STORM_FATE_BOUNDARY: CONTINUE after a reflection,
     *  SEND to re-enter elsewhere, ABSORBED or ESCAPED. NULL: escapes. */
    void (*apply)(void *self, struct storm_step *step, void *packet,
                  struct storm_outcome *outcome_out);
    /** Right after pre_step: create packets that enter from outside with
     *  storm_step_spawn. May be NULL. */
    storm_status (*inject)(void *self, struct storm_step *step);
};
#define STORM_BOUNDARY_INIT STORM_INIT(struct storm_boundary)

/** Population control: limits on the number of packets. */
struct storm_population {
    size_t size; /**< of this struct: STORM_POPULATION_INIT */
    void *self;
    size_t record_bytes; /**< it works on such records alone; 0: on any */
    /** After transport: look at storm_step_packets (all at census), remove
     *  with storm_step_remove, add with storm_step_spawn. NULL: none. */
    storm_status (*control)(void *self, struct storm_step *step);
};
#define STORM_POPULATION_INIT STORM_INIT(struct storm_population)

/** Zero in a field means "choose for me". Copied by create. */
struct storm_engine_params {
    size_t size;         /**< of this struct: STORM_ENGINE_PARAMS_INIT */
    size_t record_bytes; /**< required: 32 .. 4096, a multiple of 16 */
    const struct storm_physics *physics; /**< copied, as are the next two; NULL:
                                              call storm_engine_use later */
    const struct storm_boundary *boundary;     /**< NULL: all packets escape */
    const struct storm_population *population; /**< NULL: no control */
    /** Called on rank 0 from time to time during transport with the sums over
     *  all ranks: packets finished and created in this step so far. */
    void (*progress)(void *self, uint64_t finished, uint64_t created);
    void *progress_self;
    size_t batch_packets; /**< max packets per step_batch call; 0: 512 */
};
#define STORM_ENGINE_PARAMS_INIT STORM_INIT(struct storm_engine_params)

/**
 * Build an engine over all ranks of @p context, with its transport.* options.
 * Collective: same params (except the callbacks) on every rank; an error of one
 * is an error of all. @p context must outlive the engine.
 *
 * @param[out] engine_out    set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG     a field is out of range, a struct was not begun
 *                           with its _INIT or works on other records, or there
 *                           is neither step nor step_batch (logged)
 * @retval STORM_ERR_NOSUP   the backend asked for cannot work here, or a struct
 *                           has fields set that this library lacks (logged)
 * @retval STORM_ERR_NOMEM   on this rank
 * @retval STORM_ERR_FABRIC  MPI or the network failed
 * @retval STORM_ERR_PEER    only other ranks have an error
 * @retval STORM_ERR_LOST    a rank is lost (logged). With the backend mpirma
 *                           the call may not return then: MPI creates windows
 *                           by calls that nothing interrupts. End the program
 *                           from the context's `lost`.
 */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_create(struct storm_context *context,
                    const struct storm_engine_params *params,
                    struct storm_engine **engine_out);

/** Release everything, packets included. Collective: waits for all ranks; a
 *  rank that is still in a step gets an error from it. NULL is allowed. */
STORM_API void storm_engine_destroy(struct storm_engine *engine);

/**
 * Set other callbacks. Local, never blocks; between steps, the same kind on
 * every rank; agree on the status (storm_context_agree) before the next step.
 * The structs are copied; NULL: no change. storm_imc_attach and others do this.
 *
 * @retval STORM_ERR_ARG    a bad struct, as for create (logged)
 * @retval STORM_ERR_NOSUP  a field is set that this library lacks (logged)
 * @retval STORM_ERR_STATE  called from a callback
 */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_use(struct storm_engine *engine,
                 const struct storm_physics *physics,
                 const struct storm_boundary *boundary,
                 const struct storm_population *population);

/**
 * Run one time step. Collective, blocks until all ranks are done; it succeeds
 * or fails on all ranks together. No rank calls pre_step before all are in this
 * call. After a failure only destroy is allowed (if a rank had no physics, or
 * its processor was set to flush subnormal numbers to zero or not to round to
 * nearest, the step did not begin, and may be tried again).
 *
 * @retval STORM_ERR_ARG    a callback gave an impossible outcome (logged)
 * @retval STORM_ERR_STATE  a packet did not end within transport.max_events
 *                          events, the engine has no physics or has failed
 *                          before, the processor's floating-point mode is not
 *                          that of IEEE 754, or called from a callback (logged)
 * @retval STORM_ERR_PEER   another rank failed (it logs why) or is in destroy
 * @retval STORM_ERR_NOMEM  on this rank
 * @retval STORM_ERR_FABRIC MPI or the network failed (logged)
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 * @return any negative status of a callback, on its rank (logged with its name)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_step(struct storm_engine *engine);

/** Add a copy of @p record to this rank's packets between steps. Local.
 *  STORM_ERR_NOMEM; STORM_ERR_STATE: called from a callback. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_add(struct storm_engine *engine, const void *record);

/** Number the next step, the same on every rank. Local; between steps. */
STORM_API void storm_engine_set_step(struct storm_engine *engine,
                                     uint64_t number);

/** Bytes of a record, as created. Local. */
STORM_API size_t storm_engine_record_bytes(const struct storm_engine *engine);

/** Bring packets that a device keeps between steps into the engine. Calls that
 *  show packets do that, too, but have no status: then the next step fails.
 *  Local. STORM_ERR_NOMEM; STORM_ERR_DEVICE (logged); STORM_ERR_STATE: during
 *  transport. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_fetch(struct storm_engine *engine);

/** This rank's packets between steps, in no particular order. Local. */
STORM_API void *const *storm_engine_packets(struct storm_engine *engine,
                                            size_t *n_out);

/** Prepare the route to @p rank before the first packet. Local, never blocks.
 *  STORM_ERR_ARG: no such rank; STORM_ERR_NOMEM; STORM_ERR_FABRIC. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_expect(struct storm_engine *engine, int rank);

/** Shrink rings and message buffers to what was needed since the last call.
 *  Local, never blocks; between steps. STORM_ERR_NOMEM; STORM_ERR_FABRIC. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_trim(struct storm_engine *engine);

/** @name For callbacks, with the step passed to them. All local. */
/** @{ */

/** Create a packet on this rank, a copy of @p record. STORM_ERR_NOMEM: the step
 *  then ends with an error, whatever the callback answers. */
STORM_API storm_status storm_step_spawn(struct storm_step *step,
                                        const void *record);

/** The same without a copy: returns memory, not initialised, for the packet.
 *  Fill it before the callback returns. NULL: no memory. */
STORM_API void *storm_step_new(struct storm_step *step);

/** This rank's packets: in pre_step those of the last step (not those spawned
 *  since), in control and post_step those at census. NULL: a removed one. */
STORM_API void **storm_step_packets(struct storm_step *step, size_t *n_out);

/** Remove entry @p i of storm_step_packets; only in pre_step, population
 *  control and post_step. Counted as absorbed. */
STORM_API void storm_step_remove(struct storm_step *step, size_t i);

/** Number of the step: from 0, unless set by storm_engine_set_step. */
STORM_API uint64_t storm_step_number(const struct storm_step *step);

/** transport.max_events: a callback must return a packet after at most this
 *  many events, with CONTINUE if it is not done. */
STORM_API uint64_t storm_step_max_events(const struct storm_step *step);

/** Does the engine have population control? */
STORM_API bool storm_step_is_controlled(const struct storm_step *step);

/** As storm_engine_expect and storm_engine_trim, but for pre_step. */
STORM_API STORM_MUST_CHECK storm_status
storm_step_expect(struct storm_step *step, int rank);
STORM_API STORM_MUST_CHECK storm_status
storm_step_trim(struct storm_step *step);
/** @} */

/** Where the time goes, in seconds of this rank: six parts. */
struct storm_times {
    double physics;     /**< in step, step_batch and apply */
    double progress;    /**< driving the fabric and the message layer */
    double send_recv;   /**< packing, publishing and taking packets */
    double termination; /**< waves */
    double growth;      /**< creating and growing rings */
    double idle;        /**< no work */
};

/** Counts since create, or since storm_engine_reset_stats. */
struct storm_stats {
    size_t size;        /**< of this struct: STORM_STATS_INIT */
    uint64_t steps;     /**< time steps */
    uint64_t created;   /**< packets added or spawned */
    uint64_t census;    /**< packets here now */
    uint64_t absorbed;  /**< packets, those removed included */
    uint64_t escaped;   /**< packets */
    uint64_t events;    /**< as reported by the physics */
    uint64_t transfers; /**< packets sent to other ranks */
    uint64_t bytes_sent;
    uint64_t batches;           /**< publications */
    uint64_t growths;           /**< rings made larger, as receiver */
    uint64_t waves;             /**< of the termination detector */
    uint64_t iterations;        /**< of the transport loop */
    uint64_t control_polls;     /**< polls for control messages */
    uint64_t allocations;       /**< calls of the allocator in transport */
    uint64_t ring_bytes_peak;   /**< max memory in rings into this rank */
    uint64_t pinned_bytes_peak; /**< max memory locked for a network */
    double seconds; /**< in transport: from pre_step's end to done */
    struct storm_times times;
};
#define STORM_STATS_INIT STORM_INIT(struct storm_stats)

/** This rank's statistics. Local. STORM_ERR_ARG: not begun with its _INIT. */
STORM_API storm_status storm_engine_stats(const struct storm_engine *engine,
                                          struct storm_stats *stats_out);

/** Set counts and times to zero, except `census`. Local, between steps. */
STORM_API void storm_engine_reset_stats(struct storm_engine *engine);

/** One row of the traffic matrix: packets sent to the i-th peer this rank has
 *  ever sent to or expected. Local. STORM_DONE: there are no more. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_traffic(const struct storm_engine *engine, size_t i, int *rank_out,
                     uint64_t *packets_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_ENGINE_H */
