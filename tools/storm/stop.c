/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to stop.
 *
 *   STOP-1  The first SIGINT, SIGTERM or SIGUSR1 asks a rank of a run to stop
 *           after the step. SIGUSR1 never does more: it may come again.
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
#include <time.h>

#include <storm/run.h>

#include "tool.h"

/* ---- signals ------------------------------------------------------------- */

static volatile sig_atomic_t stop_asked;
static struct timespec stop_when; /* written once, before stop_asked */

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
    } else if (number != SIGUSR1 && stop_since(&stop_when) >= 1.0) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void tool_stop_catch(void)
{
    struct sigaction action = {.sa_handler = stop_on_signal,
                               .sa_flags = SA_RESTART};
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
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
    uint64_t step = storm_run_newest_checkpoint(dir);
    stop_quote(dir, quoted, sizeof quoted);
    if (step > 0)
        snprintf(text_out, bytes, "go on: storm run --restart %s", quoted);
    else
        snprintf(text_out, bytes,
                 "there is no checkpoint in %s to go on from; "
                 "output.checkpoint.every writes them",
                 dir);
}
