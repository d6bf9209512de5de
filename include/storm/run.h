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

/** Receives progress reports. Called on rank 0 alone. */
struct storm_progress {
    /** May be NULL.
     *  @param what      current activity, such as "step 2, t = 0.1"
     *  @param fraction  part that is done, 0 .. 1, never decreases */
    void (*report)(void *self, const char *what, double fraction);
    void *self;
};

/** The parts of a report. */
typedef enum storm_run_part {
    STORM_RUN_JSON = 0, /**< one JSON object */
    STORM_RUN_TABLE,    /**< text for people */
    STORM_RUN_PICTURE   /**< SVG, where one was asked for */
} storm_run_part;

/** Text of one part; NULL on ranks other than 0 and if there is none. Local;
 *  valid until destroy. */
STORM_API const char *
storm_run_report_text(const struct storm_run_report *report,
                      storm_run_part part);

/** Release. Local. NULL is allowed. */
STORM_API void storm_run_report_destroy(struct storm_run_report *report);

/** Zero in a field means default. */
struct storm_run_params {
    size_t size;             /**< of this struct: STORM_RUN_PARAMS_INIT */
    const char *out_dir;     /**< for results, created if needed; NULL: none */
    const char *restart_dir; /**< restart from the newest good checkpoint there;
                                  NULL: a new run */
    struct storm_progress progress;
};
#define STORM_RUN_PARAMS_INIT STORM_INIT(struct storm_run_params)

/**
 * Can this build run the deck? Local.
 *
 * @param problem       if not, one line with the reason; may be NULL
 * @param problem_size  bytes available there
 * @retval STORM_OK         yes
 * @retval STORM_ERR_NOSUP  no
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run_check(const struct storm_deck *deck, char *problem,
                size_t problem_size);

/**
 * Run @p deck on all ranks of @p context, which has the deck's options
 * (storm_deck_set_options). Collective, blocks until the run ends.
 *
 * Writes deck.yaml (resolved), mesh.h5, profiles, fields and checkpoints into
 * out_dir during the run; docs/output.md describes them. The caller writes the
 * summary. Profiles and fields of an earlier run are removed from out_dir,
 * except by a restart; checkpoints of another run are never overwritten.
 *
 * @param[out] report_out   JSON summary and a table; set only on STORM_OK
 * @retval STORM_ERR_NOSUP  see storm_run_check; the backend asked for does not
 *                          work here; or @p params has fields that this
 *                          library does not know (logged)
 * @retval STORM_ERR_IO     results cannot be written, or there is no good
 *                          checkpoint in restart_dir (logged)
 * @retval STORM_ERR_ARG    @p params does not begin with
 *                          STORM_RUN_PARAMS_INIT, the checkpoint is of another
 *                          mesh or seed, or of other materials, groups or
 *                          constants, or a point of mesh.points_file is outside
 *                          the box or exists twice (logged)
 * @retval STORM_ERR_STATE  energy was lost, a packet did not end within
 *                          transport.max_events, the checkpoint gives another
 *                          state hash, or out_dir has checkpoints of another
 *                          run (logged)
 * @retval STORM_ERR_NOMEM  no memory
 * @retval STORM_ERR_FABRIC MPI or the network reports an error (logged)
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run(struct storm_context *context, const struct storm_deck *deck,
          const struct storm_run_params *params,
          struct storm_run_report **report_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_RUN_H */
