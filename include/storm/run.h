/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/run.h
 * Run a deck: mesh, physics, time steps, results.
 *
 * Lifecycle  read a deck (storm/deck.h), make a context with its options, run,
 *            read the report, destroy all three.
 * Ownership  deck and params are borrowed during the call; the report is the
 *            caller's (storm_run_report_destroy).
 * Threads    as for the context.
 */
#ifndef STORM_RUN_H
#define STORM_RUN_H

#include <stddef.h>

#include <storm/deck.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context;    /* opaque, storm/context.h */
struct storm_run_report; /* opaque */

/** Receives how far a run is. Called on rank 0 alone. */
struct storm_progress {
    /** @param what      what it is doing, such as "step 2 of 5"
     *  @param fraction  of the whole that is done, 0 .. 1, never falling
     *  May be NULL. */
    void (*report)(void *self, const char *what, double fraction);
    void *self;
};

/** The parts of a report. */
typedef enum storm_run_part {
    STORM_RUN_JSON = 0, /**< one JSON object */
    STORM_RUN_TABLE,    /**< some lines for people */
    STORM_RUN_PICTURE   /**< SVG, of a benchmark that was asked for it */
} storm_run_part;

/** Text of one part; NULL on ranks other than 0 and where there is none.
 *  Local; valid until destroy. */
STORM_API const char *
storm_run_report_text(const struct storm_run_report *report,
                      storm_run_part part);

/** Release. Local. NULL is allowed. */
STORM_API void storm_run_report_destroy(struct storm_run_report *report);

/** Zero in a field means "choose for me". */
struct storm_run_params {
    size_t size;         /**< of this struct: STORM_RUN_PARAMS_INIT */
    const char *out_dir; /**< where results go, made if need be; NULL: none */
    const char *restart_dir; /**< go on from the newest good checkpoint there;
                                  NULL: start */
    struct storm_progress progress;
};
#define STORM_RUN_PARAMS_INIT STORM_INIT(struct storm_run_params)

/**
 * Can this build run the deck? Local.
 *
 * @param problem       if not, one line that says why; may be NULL
 * @param problem_size  bytes available there
 * @retval STORM_ERR_NOSUP  no
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run_check(const struct storm_deck *deck, char *problem,
                size_t problem_size);

/**
 * Run @p deck over all ranks of @p context, whose options the deck has been
 * given (storm_deck_set_options). Collective, blocks until the run is over.
 *
 * Writes deck.yaml (resolved), mesh.h5, profiles, fields and checkpoints into
 * out_dir as it goes; docs/output.md describes them. The summary is the
 * caller's to write. Profiles and fields of an earlier run that are there are
 * removed, unless this one goes on; checkpoints of another run are not written
 * over.
 *
 * @param[out] report_out   JSON summary and a table; set only on STORM_OK
 * @retval STORM_ERR_NOSUP  see storm_run_check (logged)
 * @retval STORM_ERR_IO     results cannot be written, or there is no good
 *                          checkpoint in restart_dir (logged)
 * @retval STORM_ERR_ARG    the checkpoint is of another mesh or seed, or of
 *                          other materials, groups or constants (logged)
 * @retval STORM_ERR_STATE  energy was lost, or out_dir has checkpoints of
 *                          another run (logged)
 * @return any other error of mesh, engine or physics
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run(struct storm_context *context, const struct storm_deck *deck,
          const struct storm_run_params *params,
          struct storm_run_report **report_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_RUN_H */
