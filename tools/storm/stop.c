/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to stop.
 *
 *   STOP-1  The first SIGINT, SIGTERM, SIGHUP or SIGUSR1 asks a rank of a run
 *           to stop after the step. SIGUSR1 and SIGHUP never do more: they may
 *           come again. A SIGHUP that is ignored (nohup) stays so.
 *   STOP-2  A SIGINT or SIGTERM at least a second after the request ends the
 *           rank at once. One that comes sooner is the same request by another
 *           route: batch systems signal launcher and ranks.
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <storm/run.h>

#include "tool.h"

const char tool_stop_answer[] =
    "storm: stopping after this step, or before the first; once more kills "
    "it\n";

/* ---- signals ------------------------------------------------------------- */

static volatile sig_atomic_t stop_asked;
static struct timespec stop_when;          /* written once, before stop_asked */
static volatile sig_atomic_t stop_answers; /* this rank does */

static double stop_since(const struct timespec *from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - from->tv_sec) +
           1e-9 * (double)(now.tv_nsec - from->tv_nsec);
}

static void stop_on_signal(int number)
{
    if (!stop_asked) {
        clock_gettime(CLOCK_MONOTONIC, &stop_when);
        stop_asked = 1;
        if (stop_answers && write(STDERR_FILENO, tool_stop_answer,
                                  strlen(tool_stop_answer)) < 0)
            stop_answers = 0;
    } else if ((number == SIGINT || number == SIGTERM) &&
               stop_since(&stop_when) >= 1.0) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

bool tool_ignores(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void tool_stop_catch(bool quiet)
{
    struct sigaction action = {.sa_handler = stop_on_signal,
                               .sa_flags = SA_RESTART};
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    stop_answers = !quiet && !tool_was_launched() && tool_launcher().rank == 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i] != SIGHUP || !tool_ignores(SIGHUP))
            sigaction(signals[i], &action, NULL);
}

bool tool_stop_asked(void *self)
{
    (void)self;
    return stop_asked != 0;
}

/* ---- the time limit ------------------------------------------------------ */

/* Slurm sets when the job will be ended, in seconds since 1970. */
static double stop_slurm_s(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    char *end;
    if (text == NULL || !isdigit((unsigned char)*text))
        return 0.0;
    double left = strtod(text, &end) - (double)time(NULL);
    /* Passed already: stop after the first step. */
    return *end != '\0' ? 0.0 : left > 1.0 ? left : 1.0;
}

double tool_time_limit_s(const struct tool_args *args)
{
    double slurm = stop_slurm_s(), own = args->time_limit_s;
    return own > 0.0 && slurm > 0.0 ? (own < slurm ? own : slurm)
           : own > 0.0              ? own
                                    : slurm;
}

/* ---- going on ------------------------------------------------------------ */

/* The path for a shell: in quotes if it has more than plain characters. */
static void stop_quote(const char *path, char *text_out, size_t bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%";
    if (path[strspn(path, plain)] == '\0') {
        snprintf(text_out, bytes, "%s", path);
        return;
    }
    size_t n = 0;
    if (n + 6 < bytes)
        text_out[n++] = '\'';
    for (; *path != '\0' && n + 6 < bytes; path++) {
        if (*path == '\'')
            n += (size_t)snprintf(text_out + n, bytes - n, "'\\''");
        else
            text_out[n++] = *path;
    }
    snprintf(text_out + n, bytes - n, "'");
}

void tool_go_on_text(const char *dir, char *text_out, size_t bytes)
{
    char quoted[TOOL_PATH_BYTES];
    stop_quote(dir, quoted, sizeof quoted);
    if (storm_run_can_restart(dir))
        snprintf(text_out, bytes, "go on: storm run --restart %s", quoted);
    else
        snprintf(text_out, bytes,
                 "there is no checkpoint in %s to go on from; "
                 "output.checkpoint.every writes them",
                 dir);
}

void tool_print_stopped(const char *dir)
{
    char state[512], text[TOOL_PATH_BYTES + 128];
    unsigned long long step = 0, replica = 0;
    (void)storm_run_read_state(dir, state, sizeof state);
    (void)sscanf(state, "stopped at step %llu of replica %llu", &step,
                 &replica);
    tool_go_on_text(dir, text, sizeof text);
    if (step > 0 || replica > 1) /* without the reason */
        fprintf(stderr, "storm: %.*s; %s\n", (int)strcspn(state, ":"), state,
                text);
    else
        fprintf(stderr, "storm: stopped before the first step: nothing was "
                        "computed; start again with --overwrite\n");
}

struct tool_mark tool_mark(const char *dir)
{
    char path[TOOL_PATH_BYTES];
    struct stat info;
    struct tool_mark none = {.file = 0};
    if (dir == NULL ||
        snprintf(path, sizeof path, "%s/status.json", dir) >=
            (int)sizeof path ||
        stat(path, &info) != 0)
        return none;
    return (struct tool_mark){.file = info.st_ino, .when = info.st_mtim};
}

bool tool_mark_changed(const char *dir, const struct tool_mark *before)
{
    struct tool_mark now = tool_mark(dir);
    return now.file != before->file || now.when.tv_sec != before->when.tv_sec ||
           now.when.tv_nsec != before->when.tv_nsec;
}

void tool_print_go_on(const char *dir, const struct tool_mark *before)
{
    char text[TOOL_PATH_BYTES + 128];
    if (!tool_mark_changed(dir, before) || !storm_run_can_restart(dir))
        return;
    tool_go_on_text(dir, text, sizeof text);
    fprintf(stderr, "storm: %s\n", text);
}
