/* SPDX-License-Identifier: BSD-3-Clause */
/* storm plot: pictures of a finished run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/plot.h>

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

/* ---- values of flags ------------------------------------------------------ */

static int plot_choice(const char *flag, const char *word,
                       const char *const words[3], storm_plot_choice *out)
{
    for (int i = 0; i < 3; i++)
        if (word == NULL || strcmp(word, words[i]) == 0) {
            *out = (storm_plot_choice)i;
            return TOOL_OK;
        }
    return tool_usage("%s: expected %s, %s or %s, got '%s'", flag, words[0],
                      words[1], words[2], word);
}

static int plot_axis(const char *word, char *axis_out)
{
    if (word == NULL)
        return TOOL_OK;
    if (strlen(word) != 1 || strchr("xyz", word[0]) == NULL)
        return tool_usage("--axis: expected x, y or z, got '%s'", word);
    *axis_out = word[0];
    return TOOL_OK;
}

static int plot_position(const char *word, double *at_out)
{
    char *end;
    double at = strtod(word, &end);
    if (end == word || *end != '\0' || at != at || at - at != 0.0)
        return tool_usage("--at: expected a number, got '%s'", word);
    *at_out = at;
    return TOOL_OK;
}

/* Numbers separated by commas; `steps` has room for as many as letters. */
static int plot_steps(const char *list, uint64_t *steps, size_t *n_out)
{
    *n_out = 0;
    for (const char *at = list;;) {
        char *end;
        if (*at < '0' || *at > '9')
            break;
        steps[(*n_out)++] = strtoull(at, &end, 10);
        if (*end == '\0')
            return TOOL_OK;
        if (*end != ',')
            break;
        at = end + 1;
    }
    return tool_usage("--step: expected whole numbers, separated by commas, "
                      "got '%s'",
                      list);
}

static int plot_fill(const struct tool_args *args,
                     struct storm_plot_params *params, double *at,
                     uint64_t *steps)
{
    static const char *const lines[] = {"auto", "always", "never"};
    static const char *const scales[] = {"auto", "log", "linear"};
    int status = plot_axis(args->axis, &params->axis);
    if (status == TOOL_OK && args->at != NULL) {
        status = plot_position(args->at, at);
        params->at_cm = at;
    }
    if (status == TOOL_OK && args->step != NULL) {
        status = plot_steps(args->step, steps, &params->n_steps);
        params->steps = steps;
    }
    if (status == TOOL_OK)
        status = plot_choice("--lines", args->lines, lines, &params->lines);
    if (status == TOOL_OK)
        status = plot_choice("--scale", args->scale, scales, &params->log);
    return status;
}

/* ---- the command ---------------------------------------------------------- */

int tool_plot(const struct tool_args *args)
{
    char dir[TOOL_PATH_BYTES], problem[TOOL_PATH_BYTES + 1024];
    struct plot_target target = {.dir = args->out, .quiet = args->quiet};
    struct storm_plot_params params = {.size = sizeof params,
                                       .run_dir = args->run_dir,
                                       .fields = args->fields,
                                       .reference = args->reference,
                                       .take = plot_take,
                                       .take_self = &target};
    double at = 0.0;
    uint64_t *steps =
        calloc(args->step != NULL ? strlen(args->step) + 1 : 1, sizeof *steps);
    if (args->out == NULL) {
        snprintf(dir, sizeof dir, "%s/plots", args->run_dir);
        target.dir = dir;
    }
    int result = TOOL_FAILED;
    if (steps != NULL)
        result = plot_fill(args, &params, &at, steps);
    else
        tool_usage("no memory");
    if (result == TOOL_OK) {
        storm_status status = storm_plot(&params, problem, sizeof problem);
        if (target.status != TOOL_OK) {
            result = target.status; /* and has said why */
        } else if (status < 0) {
            tool_usage("%s", problem);
            result = status == STORM_ERR_ARG ? TOOL_USAGE : TOOL_FAILED;
        }
    }
    free(steps);
    return result;
}
