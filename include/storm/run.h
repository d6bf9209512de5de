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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** The step after which the run was stopped; 0: it is done. Local. */
STORM_API uint64_t
storm_run_report_stopped(const struct storm_run_report *report);

/** Release. Local. NULL is allowed. */
STORM_API void storm_run_report_destroy(struct storm_run_report *report);

/** Zero in a field means default. */
struct storm_run_params {
    size_t size;             /**< of this struct: STORM_RUN_PARAMS_INIT */
    const char *out_dir;     /**< for results, created if needed; NULL: none */
    const char *restart_dir; /**< restart from the newest good checkpoint there;
                                  NULL: a new run */
    struct storm_progress progress;
    /** Called on every rank at the end of each step; if true on any rank, all
     *  stop. May be NULL. The library installs no signal handlers: a program
     *  sets a flag in its own, and returns it here. */
    bool (*stop)(void *self);
    void *stop_self;
    double time_limit_s; /**< stop in good time, seconds from this call on rank
                              0: when another step and a checkpoint might not
                              fit any more; 0: no limit */
    bool overwrite;      /**< remove an earlier run's files from out_dir */
    uint64_t replicas;   /**< run the deck so many times, with seeds seed,
                              seed + 1, ..., and write means and standard
                              errors; with restart_dir 0: as many as the job
                              there has, more: further ones. At most
                              STORM_RUN_MAX_REPLICAS; 0: once, without errors */
};
enum { STORM_RUN_MAX_REPLICAS = 100000 };
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
 * Can the files be read that the deck names, and are they what it expects: a
 * mesh that has the boundaries of the deck, points, tables with its groups,
 * fields? Can cells begin with the state that the deck gives, as far as that is
 * known without the mesh? Local, blocks; no MPI.
 *
 * @param problem       after an error, one line with the reason
 * @param problem_size  bytes available there, at least 1
 * @retval STORM_ERR_IO     no
 * @retval STORM_ERR_ARG    no: a table has other groups; or it, the deck or a
 *                          field has values out of range
 * @retval STORM_ERR_NOMEM  no memory
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run_check_files(const struct storm_deck *deck, char *problem,
                      size_t problem_size);

/**
 * Is there something in a valid deck that does nothing, which is probably not
 * meant? Local; storm_run logs it as warnings.
 *
 * @param text  a line for each, without the last new line; empty if there is
 *              nothing; as many whole lines as fit
 * @param size  bytes available there, at least 1
 */
STORM_API void storm_run_doubts(const struct storm_deck *deck, char *text,
                                size_t size);

/**
 * May a run write to out_dir? Not if it holds another run, unless overwrite is
 * set or the run is restarted there, and not while one is running there. Local;
 * storm_run does the same on rank 0.
 *
 * @param problem       if not, one line with the reason and what to do; may be
 *                      NULL
 * @param problem_size  bytes available there
 * @retval STORM_OK         yes
 * @retval STORM_ERR_STATE  no
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run_check_out(const struct storm_run_params *params, char *problem,
                    size_t problem_size);

/** What a run will need: estimates. */
struct storm_run_needs {
    size_t size;        /**< of this struct: STORM_RUN_NEEDS_INIT */
    uint64_t cells;     /**< in total */
    uint64_t packets;   /**< in total, max of a step */
    double rank_bytes;  /**< memory of one rank */
    double total_bytes; /**< of all ranks */
    double step_s;      /**< time of the first step; the number of events of a
                             packet is a guess: within a factor of ten */
    double max_step_s;  /**< time of the longest step that the run comes to,
                             likewise */
    bool is_min;        /**< octree with mesh.refine_levels: cells are those of
                             mesh.level, all numbers are for these */
};
#define STORM_RUN_NEEDS_INIT STORM_INIT(struct storm_run_needs)

/**
 * Estimate what a run of a deck needs. Local.
 *
 * @param ranks         ranks of the run, at least 1
 * @param cores         cores that they share, at least 1
 * @retval STORM_ERR_ARG    no ranks or cores; or @p needs_out does not begin
 *                          with STORM_RUN_NEEDS_INIT
 * @retval STORM_ERR_NOSUP  the cells are in a file (mesh.points_file, or
 *                          mesh.kind file), or this build does not have that
 *                          kind of mesh
 */
STORM_API STORM_MUST_CHECK storm_status
storm_run_estimate(const struct storm_deck *deck, uint64_t ranks,
                   uint64_t cores, struct storm_run_needs *needs_out);

/** The step of the newest checkpoint in a directory; 0: there is none. Local;
 *  looks at names: restart checks the contents. */
STORM_API uint64_t storm_run_newest_checkpoint(const char *dir);

/** Is there something to go on from: a checkpoint, or a job with replicas,
 *  which goes on with the next one? Local; looks at names. */
STORM_API bool storm_run_can_restart(const char *dir);

/** States of a run. */
typedef enum storm_run_state {
    STORM_RUN_NO_STATE = 0, /**< no run, or of a version without states */
    STORM_RUN_RUNNING,      /**< or killed: the text says what is known */
    STORM_RUN_STOPPED,      /**< on request, with a checkpoint */
    STORM_RUN_FAILED,
    STORM_RUN_DONE
} storm_run_state;

/**
 * The state of the run in a directory. Local.
 *
 * @param text  one line about a run that is not done, such as "stopped at step
 *              20"; else empty. May be NULL
 * @param size  bytes available there
 */
STORM_API storm_run_state storm_run_read_state(const char *dir, char *text,
                                               size_t size);

/**
 * Run @p deck on all ranks of @p context, which has the deck's options
 * (storm_deck_set_options). Collective, blocks until the run ends.
 *
 * Writes status.json, deck.yaml (resolved), mesh.h5, profiles, fields,
 * checkpoints and in the end summary.json into out_dir; docs/output.md
 * describes them. A restart in the same directory removes what was written
 * there after the checkpoint's step.
 *
 * If the run is asked to stop (stop, time_limit_s) it ends after the current
 * step with a checkpoint in out_dir, whatever the deck says about checkpoints;
 * the status is STORM_OK and storm_run_report_stopped tells.
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
 *                          state hash, or storm_run_check_out says no (logged)
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
