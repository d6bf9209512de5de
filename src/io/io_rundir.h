/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of a run: which of its files are the run's, and in what state
 * the run is (status.json). Local, without MPI.
 *
 *   RUNDIR-1  Files of a run are known by their names; no others are removed.
 *   RUNDIR-2  status.json is there before the other files of a run, and is
 *             replaced as a whole: running, then stopped, failed or done.
 *   RUNDIR-3  Rank 0 holds a lock on the file .lock, which is never renamed or
 *             removed, from before it removes or writes anything until the run
 *             ends, however it ends: of two runs in one directory, new ones,
 *             overwriting ones or restarts, one is refused.
 *   RUNDIR-4  Of an earlier run the deck is removed first: what an interrupted
 *             removal leaves cannot be restarted.
 *   RUNDIR-5  Where the file system has no locks, or none between hosts,
 *             status.json keeps runs apart as far as it can: a new run creates
 *             it itself; one that says running is refused while its process
 *             exists on this host, or was recorded less than IO_STATUS_RECENT_S
 *             ago on another.
 */
#ifndef STORM_IO_RUNDIR_H
#define STORM_IO_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/log.h>
#include <storm/status.h>

enum { IO_STATUS_TEXT = 128, IO_STATUS_RECENT_S = 60 };

struct storm_context;

typedef enum io_run_state {
    IO_RUN_NONE = 0, /* there is no status.json */
    IO_RUN_RUNNING,
    IO_RUN_STOPPED, /* on request, with a checkpoint */
    IO_RUN_FAILED,
    IO_RUN_DONE
} io_run_state;

/* What status.json says. */
struct io_run_status {
    io_run_state state;
    uint64_t step;
    uint64_t replica; /* that is under way, from 1; 0: the run has none */
    double time_s;
    char reason[IO_STATUS_TEXT]; /* stopped or failed: why */
    char host[IO_STATUS_TEXT];   /* of rank 0 */
    int64_t pid, pid_start;      /* of rank 0; the start tells it from a later
                                    process with the same number */
    int64_t written_s;           /* since 1970 */
};

/* "running" and so on, as in status.json and summary.json. */
const char *io_run_state_name(io_run_state state);

/* ---- the state ----------------------------------------------------------- */

/* Fills in host, process and time, and writes. STORM_ERR_IO (logged so). */
storm_status io_status_write(const struct storm_context *context,
                             const char *dir, struct io_run_status *status,
                             storm_log_level level);

/* Creates an empty status.json. STORM_ERR_STATE: there is one (RUNDIR-5),
 * STORM_ERR_IO (logged). */
storm_status io_status_claim(const struct storm_context *context,
                             const char *dir);

/* State NONE if there is no file; RUNNING, by nobody, if it is damaged. */
struct io_run_status io_status_read(const char *dir);

/* Is the run's rank 0 a process of this machine that still exists? */
bool io_status_is_alive(const struct io_run_status *status);

/* RUNDIR-5: does a run on another host say that it is running, and how many
 * seconds ago? */
bool io_status_is_recent(const struct io_run_status *status,
                         int64_t *age_s_out);

/* One line about a run that is not done, such as "stopped at step 20"; empty
 * if it is done or of a version without states. */
void io_status_text(const struct io_run_status *status, char *text_out,
                    size_t bytes);

/* ---- the lock (io_rundir_lock.c) ----------------------------------------- */

/* RUNDIR-3. STORM_ERR_STATE: another run has it; STORM_ERR_IO (logged).
 * *lock_out is always set, -1: not held; STORM_OK with -1: the file system has
 * no locks. */
storm_status io_rundir_lock(const struct storm_context *context,
                            const char *dir, int *lock_out);

/* -1 is allowed. */
void io_rundir_unlock(int lock);

/* Does any run hold it? Who: "process 12 on host". Blocks for a second at most,
 * while a run that has just begun does not say who it is. */
bool io_rundir_is_locked(const char *dir, char *holder_out, size_t bytes);

/* ---- the files ----------------------------------------------------------- */

/* Is there a file of a run? */
bool io_rundir_holds_run(const char *dir);

/* Is there the list of replicas of a job? */
bool io_rundir_has_job(const char *dir);

/* Removes all files of a run but status.json. STORM_ERR_IO (logged). */
storm_status io_rundir_clear(const struct storm_context *context,
                             const char *dir);

/* Removes what a run has written after `step`, its summary and unfinished
 * files included, but no checkpoints. STORM_ERR_IO (logged). */
storm_status io_rundir_clear_after(const struct storm_context *context,
                                   const char *dir, uint64_t step);

#endif /* STORM_IO_RUNDIR_H */
