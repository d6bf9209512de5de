/* SPDX-License-Identifier: BSD-3-Clause */
/* storm plot: pictures of a finished run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/plot.h>
#include <storm/run.h>

#include "tool.h"

/* Where pictures go. */
struct plot_target {
    const char *dir;
    bool quiet;
    int status;
};

static storm_status plot_take(void *self, const char *name, const char *caption,
                              const char *svg)
{
    struct plot_target *target = self;
    char path[TOOL_PATH_BYTES];
    (void)caption;
    target->status = tool_directory(target->dir);
    if (target->status == TOOL_OK)
        target->status = tool_write(target->dir, name, svg, path);
    if (target->status == TOOL_OK && !target->quiet)
        printf("%s\n", path);
    return target->status == TOOL_OK ? STORM_OK : STORM_ERR_IO;
}

void tool_print_state(const struct tool_args *args)
{
    char text[512];
    (void)storm_run_read_state(args->run_dir, text, sizeof text);
    if (text[0] != '\0' && !args->quiet)
        fprintf(stderr, "storm: warning: %s: %s\n", args->run_dir, text);
}

/* Six numbers, separated by commas. */
static bool plot_line(const char *text, double ends_out[6])
{
    for (int i = 0; i < 6; i++) {
        char *end;
        ends_out[i] = strtod(text, &end);
        if (end == text || !isfinite(ends_out[i]) ||
            *end != (i < 5 ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

int tool_plot(const struct tool_args *args)
{
    char dir[TOOL_PATH_BYTES], problem[TOOL_PATH_BYTES + 1024];
    uint64_t steps[STORM_BENCH_MAX_NUMBERS];
    double line[6];
    struct plot_target target = {.dir = args->out, .quiet = args->quiet};
    struct storm_plot_params params = {
        .size = sizeof params,
        .run_dir = args->run_dir,
        .fields = args->fields,
        .axis = tool_given(args, "--axis") ? (char)('x' + args->axis) : '\0',
        .at_cm = tool_given(args, "--at") ? &args->at : NULL,
        .steps = steps,
        .n_steps = args->steps.n,
        .reference = args->reference,
        .lines = args->lines,
        .log = args->scale,
        .take = plot_take,
        .take_self = &target,
        .line_cm = args->line != NULL ? line : NULL};
    if (args->line != NULL && !plot_line(args->line, line))
        return tool_usage("--line: expected six numbers, X,Y,Z,X,Y,Z, got "
                          "'%s'",
                          args->line);
    for (size_t i = 0; i < args->steps.n; i++)
        steps[i] = args->steps.value[i];
    if (args->out == NULL) {
        snprintf(dir, sizeof dir, "%s/plots", args->run_dir);
        target.dir = dir;
    }
    storm_status status = storm_plot(&params, problem, sizeof problem);
    if (target.status != TOOL_OK)
        return target.status; /* has been reported */
    if (status >= 0) {
        tool_print_state(args);
        return TOOL_OK;
    }
    tool_usage("%s", problem);
    return status == STORM_ERR_ARG ? TOOL_USAGE : TOOL_FAILED;
}
