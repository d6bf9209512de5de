/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI_Init to MPI_Finalize: context, messages, one benchmark, and a
 * common exit status.
 *
 * An error is printed once. Rank 0 prints its messages at once. Another rank
 * stores its first error until the end, when rank 0 prints it if it has none
 * itself; if the end does not come within two seconds, the rank prints it, so
 * that a hanging run shows its reason. An error after which the run goes on was
 * not the one that ends it: the next is printed, too.
 *
 *   SESSION-1  One handler serves all alarms. What it does is in atomics, so
 *              that neither thread can undo what the other wants.
 *   SESSION-2  Once a rank has to end, it does so at that time, whatever else
 *              is printed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/run.h>

#include "tool.h"

enum {
    SESSION_LINE_BYTES = 512,
    SESSION_TIMEOUT_S = 2,
    SESSION_END_S = 10,
    SESSION_LOST_S = 5
};

struct session {
    const struct tool_args *args;
    struct tool_bar bar;
    int rank;
    bool reported; /* this rank has printed an error; the run does not go on */
    bool printed;  /* it has printed one at all */
};

/* What the alarm prints, if session_is_held; there is one session in a
 * process. */
static char session_held[SESSION_LINE_BYTES];
static _Atomic int session_is_held;

/* The status of this rank if it has to be ended, and when: seconds of the
 * monotonic clock, set first. */
static _Atomic long session_end_s;
static _Atomic int session_last_status;

/* A lost rank was reported; errors that follow from it are not. */
static _Atomic int session_reported;

static void session_write(const char *line)
{
    ssize_t n = write(STDERR_FILENO, line, strlen(line));
    (void)n;
}

static long session_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec;
}

static void session_print_held(void)
{
    if (atomic_exchange(&session_is_held, 0))
        session_write(session_held);
}

/* SESSION-1 */
static void session_on_alarm(int signal)
{
    (void)signal;
    session_print_held();
    if (session_last_status == 0)
        return;
    long left_s = session_end_s - session_now_s();
    if (left_s <= 0)
        _exit(session_last_status);
    alarm((unsigned)left_s);
}

/* Ends this rank, unless it ends by itself before. */
static void session_end_in(unsigned seconds, int status)
{
    session_end_s = session_now_s() + (long)seconds;
    session_last_status = status;
    alarm(seconds);
}

/* Of a benchmark: launchers end all ranks when one is lost. Wait a moment: the
 * others report which, and clean up. */
static void session_on_term(int number)
{
    signal(number, SIG_DFL);
    session_end_in(1, 128 + number);
}

/* How to go on; the process that has started the ranks prints it, if there is
 * one, when all have ended. */
static void session_go_on(const struct session *session)
{
    char text[TOOL_PATH_BYTES + 128], line[sizeof text + 16];
    if (tool_was_launched() || session->args->bench != NULL)
        return;
    tool_go_on_text(session->args->out, text, sizeof text);
    snprintf(line, sizeof line, "storm: %s\n", text);
    session_write(line);
}

/* By a thread of the library, at once: the launcher may be about to end all
 * ranks, and this one may sit in a call that waits for the one that is lost. */
static void session_lost(void *self, int rank, const char *reason)
{
    const struct session *session = self;
    char line[SESSION_LINE_BYTES];
    snprintf(line, sizeof line, "%sstorm: error: rank %d is lost: %s\n",
             session->bar.drawn ? "\r\033[K" : "", rank, reason);
    if (session->rank == (rank == 0 ? 1 : 0)) {
        session_write(line);
        session_go_on(session);
    }
    session_reported = 1;
    session_end_in(SESSION_LOST_S,
                   tool_was_launched() ? TOOL_LOST : TOOL_FAILED);
}

static void session_hold(int rank, const char *message)
{
    if (session_is_held)
        return;
    snprintf(session_held, sizeof session_held - 1, "storm: error: rank %d: %s",
             rank, message);
    strcat(session_held, "\n");
    session_is_held = 1;
    alarm(SESSION_TIMEOUT_S); /* an earlier one is set again: SESSION-2 */
}

static void session_log(void *self, storm_log_level level, int rank,
                        const char *message)
{
    static const char *const names[] = {"error: ", "warning: ", "", ""};
    struct session *session = self;
    if (level == STORM_LOG_ERROR && session_reported)
        return;
    if (level == STORM_LOG_ERROR && rank != 0) {
        session_hold(rank, message);
        return;
    }
    if (level == STORM_LOG_ERROR && session->reported)
        return;
    if (session->args->quiet && level > STORM_LOG_ERROR)
        return;
    session->reported = session->reported || level == STORM_LOG_ERROR;
    session->printed = session->printed || session->reported;
    tool_bar_hide(&session->bar);
    fprintf(stderr, "storm: %s%s\n", names[level], message);
}

/* The run goes on: errors so far were not the last. */
static void session_progress(void *self, const char *what, double fraction)
{
    struct session *session = self;
    session->reported = false;
    tool_bar_report(&session->bar, what, fraction);
}

/* Waits until all ranks are here; false if they do not come. */
static bool session_wait(MPI_Request *request)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < SESSION_END_S * 1000; i++) {
        int done = 0;
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* A rank is lost: a collective would wait for ever. Ranks with a message get a
 * moment to print it. */
static void session_abort(void)
{
    struct timespec pause = {.tv_sec = 1};
    session_print_held();
    nanosleep(&pause, NULL);
    MPI_Abort(MPI_COMM_WORLD, tool_was_launched() ? TOOL_LOST : TOOL_FAILED);
}

/* A failure: rank 0 prints the reason, unless it was printed. */
static void session_failed(struct session *session, storm_status status)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* The lowest rank with a message. */
    int mine = session_is_held ? rank : size, first = size;
    MPI_Request request;
    MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD,
                   &request);
    if (!session_wait(&request))
        session_abort();
    char line[SESSION_LINE_BYTES] = "";
    if (rank == first && rank != 0)
        MPI_Send(session_held, SESSION_LINE_BYTES, MPI_CHAR, 0, 0,
                 MPI_COMM_WORLD);
    session_is_held = 0; /* the alarm may come and finds nothing to print */
    if (rank != 0)
        return;
    if (first < size)
        MPI_Recv(line, SESSION_LINE_BYTES, MPI_CHAR, first, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (session->reported)
        return;
    if (line[0] != '\0')
        fputs(line, stderr);
    else if (!session->printed)
        fprintf(stderr, "storm: error: %s\n", storm_status_name(status));
}

/* Results of what has ended well, on rank 0. A run that was stopped is so, and
 * says it, also if the summary cannot be written to another place as well. */
static int session_results(const struct tool_args *args,
                           const struct storm_run_report *report)
{
    struct tool_args mine = *args;
    bool stopped =
        args->bench == NULL &&
        storm_run_read_state(args->out, NULL, 0) == STORM_RUN_STOPPED;
    if (stopped && storm_run_report_stopped(report) == 0)
        mine.quiet = true; /* before the first step: nothing to tell */
    /* Launchers pass on two streams in no order: the last line is to be below
     * the summary. Our own process prints it when the ranks have ended. */
    bool prints = stopped && !tool_was_launched();
    int status = tool_output(&mine, report, prints);
    if (prints)
        tool_print_stopped(args->out);
    return stopped ? TOOL_STOPPED : status;
}

static int session_output(const struct tool_args *args, int rank,
                          const struct storm_run_report *report)
{
    int status = TOOL_OK;
    if (rank == 0)
        status = session_results(args, report);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

/* May the run write to its directory, and are the files of its deck good? Under
 * a launcher of the user's no process has asked before; only one may, as the
 * first answer changes when a run begins. */
static int session_check_out(const struct session *session)
{
    int status = TOOL_OK;
    if (session->args->bench == NULL && session->rank == 0)
        status = tool_check_out(session->args);
    if (status == TOOL_OK && session->rank == 0)
        status = tool_check_json(session->args);
    if (status == TOOL_OK && session->rank == 0 && !tool_was_launched() &&
        session->args->loaded != NULL)
        status = tool_check_files(session->args->loaded);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

/* The exit status after a failure. One who comes second to a directory, of two
 * that begin at the same time, is refused as if he had come later. A deck whose
 * state cannot be set up is a wrong deck: its run has not begun. */
static int session_verdict(const struct session *session,
                           const struct tool_mark *before, storm_status status)
{
    const struct tool_args *args = session->args;
    int verdict = TOOL_FAILED, is_wrong = status == STORM_ERR_ARG;
    /* The ranks that have not found it know of a peer's error alone. */
    MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (session->rank == 0 && args->bench == NULL &&
        ((status == STORM_ERR_STATE && tool_is_refused(args)) ||
         (is_wrong && args->restart == NULL &&
          !tool_mark_changed(args->out, before))))
        verdict = TOOL_USAGE;
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return verdict;
}

static storm_status session_bench(struct session *session, int *exit_out)
{
    const struct tool_args *args = session->args;
    struct storm_context *context = NULL;
    struct storm_run_report *report = NULL;
    struct storm_context_params params = {
        .size = sizeof params,
        .options = args->options,
        .log = session_log,
        .log_self = session,
        .log_level = args->verbose ? STORM_LOG_DEBUG : STORM_LOG_INFO,
        .lost = session_lost,
        .lost_self = session,
    };
    struct storm_progress progress = {.report = session_progress,
                                      .self = session};
    storm_status status =
        storm_context_create(MPI_COMM_WORLD, &params, &context);
    if (status < 0)
        return status;
    status = args->bench != NULL
                 ? args->bench->run(context, args, &progress, &report)
                 : tool_run_deck(context, args, &progress, &report);
    tool_bar_hide(&session->bar);
    if (status >= 0)
        *exit_out = session_output(args, session->rank, report);
    storm_run_report_destroy(report);
    storm_context_destroy(context);
    return status;
}

int tool_session(const struct tool_args *args)
{
    int exit_status;
    struct session session = {.args = args};
    signal(SIGALRM, session_on_alarm);
    if (args->bench == NULL)
        tool_stop_catch(args->quiet);
    else
        signal(SIGTERM, session_on_term);
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
        fprintf(stderr, "storm: error: MPI does not start\n");
        return TOOL_FAILED;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &session.rank);
    tool_bar_begin(&session.bar, args);
    struct tool_mark before = tool_mark(args->out);
    exit_status = session_check_out(&session);
    storm_status status = STORM_OK;
    if (exit_status == TOOL_OK)
        status = session_bench(&session, &exit_status);
    if (status == STORM_ERR_LOST)
        session_abort();
    if (status < 0) {
        session_failed(&session, status);
        exit_status = session_verdict(&session, &before, status);
        if (exit_status == TOOL_FAILED && session.rank == 0 &&
            args->bench == NULL && !tool_was_launched())
            tool_print_go_on(args->out, &before);
    }
    MPI_Finalize();
    if (exit_status == TOOL_FAILED && tool_was_launched())
        exit_status = TOOL_REPORTED;
    return exit_status;
}
