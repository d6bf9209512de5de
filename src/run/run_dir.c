/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of a run's results: may it be written to, and its state. */
#include <stdio.h>

#include <storm/context.h>

#include "base/clock.h"
#include "io/io_checkpoint.h"
#include "io/io_rundir.h"
#include "run/run.h"

/* Seconds between two records of the step; each is synced to the disk. */
static const double run_record_every_s = 10.0;

bool run_is_in_place(const struct run *run)
{
    return run->restart_dir != NULL && run->out_dir != NULL &&
           io_same_directory(run->restart_dir, run->out_dir);
}

/* ---- may the run write there? -------------------------------------------- */

/* Why not; empty if it may. */
static void run_why_refused(const struct storm_run_params *params,
                            char *text_out, size_t bytes)
{
    const char *dir = params->out_dir;
    struct io_run_status status = io_status_read(dir);
    bool in_place = params->restart_dir != NULL &&
                    io_same_directory(params->restart_dir, dir);
    text_out[0] = '\0';
    if (io_status_is_alive(&status))
        snprintf(text_out, bytes,
                 "process %lld is running in %s: wait until it ends, or set "
                 "another --out",
                 (long long)status.pid, dir);
    else if (!in_place && !params->overwrite && io_rundir_holds_run(dir))
        snprintf(text_out, bytes,
                 "%s holds a run: --overwrite replaces it, --restart %s goes "
                 "on with it, another --out keeps it",
                 dir, dir);
}

storm_status storm_run_check_out(const struct storm_run_params *params,
                                 char *problem, size_t problem_size)
{
    char why[IO_PATH_BYTES + 256] = "";
    if (params->out_dir != NULL)
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

static storm_status run_take_directory(struct run *run)
{
    const struct storm_run_params params = {.size = sizeof params,
                                            .out_dir = run->out_dir,
                                            .restart_dir = run->restart_dir,
                                            .overwrite = run->overwrite};
    char problem[IO_PATH_BYTES + 256];
    storm_status status = io_make_directory(run->context, run->out_dir);
    if (status < 0)
        return status;
    status = storm_run_check_out(&params, problem, sizeof problem);
    if (status < 0) {
        storm_context_log(run->context, STORM_LOG_ERROR, "%s", problem);
        return status;
    }
    status = run_is_in_place(run)
                 ? io_rundir_clear_after(run->context, run->out_dir, run->step)
                 : run_claim(run);
    run->began = status == STORM_OK;
    if (status == STORM_OK)
        status = run_record(run, IO_RUN_RUNNING, "");
    return status < 0 ? status
                      : io_write_text(run->context, run->out_dir, "deck.yaml",
                                      storm_deck_text(run->deck));
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

storm_status run_record(struct run *run, io_run_state state, const char *reason)
{
    struct io_run_status status = {
        .state = state, .step = run->step, .time_s = run->time_s};
    if (!run->began)
        return STORM_OK;
    snprintf(status.reason, sizeof status.reason, "%s", reason);
    run->recorded_s = storm_clock_seconds();
    return io_status_write(run->context, run->out_dir, &status);
}

void run_record_step(struct run *run, bool has_written)
{
    if (has_written || run->step == run->from_step + 1 ||
        storm_clock_seconds() - run->recorded_s >= run_record_every_s)
        (void)run_record(run, IO_RUN_RUNNING, "");
}
