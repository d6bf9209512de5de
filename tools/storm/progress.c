/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress on standard error: a bar, or some lines. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

static const double bar_every_s = 0.1, line_every_s = 10.0;
enum { BAR_WIDTH = 30, BAR_MIN_WIDTH = 5, BAR_FRAME = 4 };

static double bar_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tool_bar_begin(struct tool_bar *bar, const struct tool_args *args)
{
    *bar = (struct tool_bar){.mode = args->progress, .shown = bar_now()};
    if (args->quiet)
        bar->mode = TOOL_PROGRESS_NEVER;
    else if (bar->mode == TOOL_PROGRESS_AUTO && tool_stderr_is_screen())
        bar->mode = TOOL_PROGRESS_ALWAYS;
    else if (bar->mode == TOOL_PROGRESS_ALWAYS && tool_is_dumb())
        bar->mode = TOOL_PROGRESS_AUTO; /* lines */
    bar->columns = tool_columns();
}

/* "0:42 left", or nothing while it is too early to tell. */
static void bar_left(const struct tool_bar *bar, char *text_out,
                     size_t text_bytes)
{
    const double too_long_s = 360000.0;
    double left_s = eta_left_s(&bar->eta);
    text_out[0] = '\0';
    if (left_s < 0.0 || left_s >= too_long_s)
        return;
    int left = (int)(left_s + 0.5);
    snprintf(text_out, text_bytes, "%d:%02d left", left / 60, left % 60);
}

/* In one line: a longer one would scroll at each update. The last column stays
 * free, as terminals differ in what they do after it. */
static void bar_draw(struct tool_bar *bar, double fraction, const char *text)
{
    char full[BAR_WIDTH + 1], empty[BAR_WIDTH + 1];
    int room = bar->columns > 0 ? bar->columns - 1 : INT_MAX;
    int width = room - (int)strlen(text) - BAR_FRAME;
    width = width > BAR_WIDTH ? BAR_WIDTH : width;
    if (width >= BAR_MIN_WIDTH) {
        int n = (int)(fraction * width);
        n = n < 0 ? 0 : n > width ? width : n;
        memset(full, '#', sizeof full);
        memset(empty, '.', sizeof empty);
        fprintf(stderr, "\r  [%.*s%.*s]%s\033[K", n, full, width - n, empty,
                text);
    } else {
        fprintf(stderr, "\r%.*s\033[K", room, text);
    }
    fflush(stderr);
    bar->drawn = true;
}

void tool_bar_report(void *self, const char *what, double fraction)
{
    struct tool_bar *bar = self;
    double now = bar_now();
    bool lines = bar->mode == TOOL_PROGRESS_AUTO;
    eta_add(&bar->eta, now, fraction);
    if (bar->mode == TOOL_PROGRESS_NEVER ||
        now - bar->shown < (lines ? line_every_s : bar_every_s))
        return;
    bar->shown = now;
    char left[32];
    bar_left(bar, left, sizeof left);
    if (lines) {
        fprintf(stderr, "storm: %s, %.0f %% done%s%s\n", what, 100.0 * fraction,
                left[0] != '\0' ? ", " : "", left);
        return;
    }
    char text[128];
    snprintf(text, sizeof text, " %3.0f %%  %-16s %s", 100.0 * fraction, what,
             left);
    bar_draw(bar, fraction, text);
}

void tool_bar_hide(struct tool_bar *bar)
{
    if (!bar->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    bar->drawn = false;
}
