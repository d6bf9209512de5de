/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of a run's results: may it be written to, and its state. */
#include <stdio.h>

#include <storm/context.h>

#include "base/clock.h"
#include "io/io_checkpoint.h"
#include "io/io_rundir.h"
#include "run/run.h"

enum { RUN_REFUSED_BYTES = 2 * IO_PATH_BYTES + 512 };

/* Seconds between two records of the step; each is synced to the disk. */
static const double run_record_every_s = 10.0;

bool run_is_in_place(const struct run *run)
{
    return run->restart_dir != NULL && run->out_dir != NULL &&
           io_same_directory(run->restart_dir, run->out_dir);
}

/* ---- may the run write there? -------------------------------------------- */

static void run_in_use(const char *holder, const char *dir, char *text_out,
                       size_t bytes)
{
    snprintf(text_out, bytes,
             "%s is running in %s: wait until it ends, or set another --out",
             holder, dir);
}

/* Why not, if nobody has the lock; empty if it may. */
static void run_why_refused(const struct storm_run_params *params,
                            char *text_out, size_t bytes)
{
    const char *dir = params->out_dir;
    struct io_run_status status = io_status_read(dir);
    bool in_place = params->restart_dir != NULL &&
                    io_same_directory(params->restart_dir, dir);
    char holder[2 * IO_STATUS_TEXT];
    int64_t age_s;
    snprintf(holder, sizeof holder, "process %lld on %s", (long long)status.pid,
             status.host);
    text_out[0] = '\0';
    if (io_status_is_alive(&status))
        run_in_use(holder, dir, text_out, bytes);
    else if (io_status_is_recent(&status, &age_s))
        snprintf(text_out, bytes,
                 "%s was running in %s %lld s ago: wait until it ends; if it "
                 "is dead, remove %s/status.json or try again in a minute",
                 holder, dir, (long long)age_s, dir);
    else if (!in_place && !params->overwrite && io_rundir_holds_run(dir))
        snprintf(text_out, bytes,
                 "%s holds a run: --overwrite replaces it, --restart %s goes "
                 "on with it, another --out keeps it",
                 dir, dir);
}

storm_status storm_run_check_out(const struct storm_run_params *params,
                                 char *problem, size_t problem_size)
{
    char why[RUN_REFUSED_BYTES] = "", holder[2 * IO_STATUS_TEXT];
    if (params->out_dir != NULL &&
        io_rundir_is_locked(params->out_dir, holder, sizeof holder))
        run_in_use(holder, params->out_dir, why, sizeof why);
    else if (params->out_dir != NULL)
        run_why_refused(params, why, sizeof why);
    if (problem != NULL)
        snprintf(problem, problem_size, "%s", why);
    return why[0] == '\0' ? STORM_OK : STORM_ERR_STATE;
}

uint64_t storm_run_newest_checkpoint(const char *dir)
{
    size_t n;
    return io_checkpoint_newest(dir, UINT64_MAX, &n);
}

bool storm_run_can_restart(const char *dir)
{
    return storm_run_newest_checkpoint(dir) > 0 || io_rundir_has_job(dir);
}

storm_run_state storm_run_read_state(const char *dir, char *text, size_t size)
{
    static const storm_run_state states[] = {
        [IO_RUN_NONE] = STORM_RUN_NO_STATE,
        [IO_RUN_RUNNING] = STORM_RUN_RUNNING,
        [IO_RUN_STOPPED] = STORM_RUN_STOPPED,
        [IO_RUN_FAILED] = STORM_RUN_FAILED,
        [IO_RUN_DONE] = STORM_RUN_DONE,
    };
    struct io_run_status status = io_status_read(dir);
    uint64_t written = storm_run_newest_checkpoint(dir);
    if (status.state == IO_RUN_RUNNING && written > status.step)
        status.step = written; /* killed before it was recorded */
    if (text != NULL)
        io_status_text(&status, text, size);
    return states[status.state];
}

/* ---- taking it ----------------------------------------------------------- */

/* Makes the directory this run's own. */
static storm_status run_claim(struct run *run)
{
    char path[IO_PATH_BYTES];
    if (run->overwrite && io_status_read(run->out_dir).state != IO_RUN_NONE &&
        snprintf(path, sizeof path, "%s/status.json", run->out_dir) <
            (int)sizeof path)
        io_remove_file(run->context, path);
    storm_status status = io_status_claim(run->context, run->out_dir);
    if (status == STORM_ERR_STATE)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "another run has just begun in %s: set another --out",
                          run->out_dir);
    return status < 0 ? status : io_rundir_clear(run->context, run->out_dir);
}

/* Locks the directory, until run_close, and then looks into it. */
static storm_status run_lock(struct run *run)
{
    const struct storm_run_params params = {.size = sizeof params,
                                            .out_dir = run->out_dir,
                                            .restart_dir = run->restart_dir,
                                            .overwrite = run->overwrite};
    char why[RUN_REFUSED_BYTES] = "", holder[2 * IO_STATUS_TEXT];
    if (run->is_locked)
        return STORM_OK;
    storm_status status = io_make_directory(run->context, run->out_dir);
    if (status == STORM_OK)
        status = io_rundir_lock(run->context, run->out_dir, &run->lock);
    if (status == STORM_ERR_STATE) {
        (void)io_rundir_is_locked(run->out_dir, holder, sizeof holder);
        run_in_use(holder, run->out_dir, why, sizeof why);
    } else if (status == STORM_OK) {
        run_why_refused(&params, why, sizeof why);
    }
    run->is_locked = status == STORM_OK && why[0] == '\0';
    if (why[0] == '\0')
        return status;
    storm_context_log(run->context, STORM_LOG_ERROR, "%s", why);
    return STORM_ERR_STATE;
}

static storm_status run_take_directory(struct run *run)
{
    storm_status status = run_lock(run);
    if (status < 0)
        return status;
    /* Dumps that an earlier replica has written stay (JOB-3). */
    uint64_t last = run->job.n_done > 0 ? UINT64_MAX : run->step;
    status = run_is_in_place(run)
                 ? io_rundir_clear_after(run->context, run->out_dir, last)
                 : run_claim(run);
    run->began = status == STORM_OK;
    if (status == STORM_OK)
        status = run_record(run, IO_RUN_RUNNING, "");
    if (status == STORM_OK)
        status = run_job_write(run);
    return status < 0 ? status
                      : io_write_text(run->context, run->out_dir, "deck.yaml",
                                      storm_deck_text(run->deck));
}

storm_status run_lock_output(struct run *run)
{
    storm_status status = STORM_OK;
    if (run->out_dir == NULL)
        return STORM_OK;
    if (storm_context_rank(run->context) == 0 &&
        (run_is_in_place(run) ||
         (run->restart_dir == NULL && io_rundir_holds_run(run->out_dir))))
        status = run_lock(run);
    return storm_context_agree(run->context, status);
}

storm_status run_begin_output(struct run *run)
{
    storm_status status = STORM_OK;
    if (run->out_dir == NULL)
        return STORM_OK;
    if (storm_context_rank(run->context) == 0)
        status = run_take_directory(run);
    return storm_context_agree(run->context, status);
}

/* ---- the state ----------------------------------------------------------- */

static storm_status record_at(struct run *run, io_run_state state,
                              const char *reason, storm_log_level level)
{
    struct io_run_status status = {.state = state,
                                   .step = run->step,
                                   .replica = run_job_replica(run),
                                   .time_s = run->time_s};
    if (!run->began)
        return STORM_OK;
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    run->recorded_s = storm_clock_seconds();
    return io_status_write(run->context, run->out_dir, &status, level);
}

/* Of a run that has failed the reason is logged already. */
storm_status run_record(struct run *run, io_run_state state, const char *reason)
{
    return record_at(run, state, reason,
                     state == IO_RUN_FAILED ? STORM_LOG_DEBUG
                                            : STORM_LOG_ERROR);
}

void run_record_step(struct run *run, bool has_written)
{
    if (!has_written && run->step > run->from_step + 1 &&
        storm_clock_seconds() - run->recorded_s < run_record_every_s)
        return;
    (void)record_at(run, IO_RUN_RUNNING, "", STORM_LOG_WARN);
    if (!has_written)
        run_history_try(run);
}
