/* SPDX-License-Identifier: BSD-3-Clause */
/* storm compare: norms and pictures of the difference of two results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/compare.h>

#include "tool.h"

/* What has been written, and what went wrong with it. */
struct compare_target {
    const struct tool_args *args;
    int status;
};

static storm_status compare_take(void *self, const char *name,
                                 const char *caption, const char *svg)
{
    struct compare_target *target = self;
    const struct tool_args *args = target->args;
    char path[TOOL_PATH_BYTES];
    (void)caption;
    target->status = tool_directory(args->out);
    if (target->status == TOOL_OK)
        target->status = tool_write(args->out, name, svg, path);
    if (target->status == TOOL_OK && !args->quiet)
        fprintf(stderr, "  wrote %s\n", path);
    return target->status == TOOL_OK ? STORM_OK : STORM_ERR_IO;
}

/* The texts of a result, which are freed. */
static int compare_write(const struct tool_args *args,
                         struct storm_compare_result *result)
{
    bool to_stdout = args->json != NULL && strcmp(args->json, "-") == 0;
    int status = TOOL_OK;
    if (to_stdout)
        printf("%s\n", result->json);
    else if (!args->quiet)
        printf("%s", result->table);
    if (args->json != NULL && !to_stdout)
        status = tool_write_json(args->json, result->json);
    free(result->table);
    free(result->json);
    return status != TOOL_OK ? status : result->within ? TOOL_OK : TOOL_FAILED;
}

int tool_compare(const struct tool_args *args)
{
    char problem[4 * TOOL_PATH_BYTES];
    uint64_t steps[STORM_BENCH_MAX_NUMBERS];
    struct compare_target target = {.args = args};
    struct storm_compare_result result = STORM_COMPARE_RESULT_INIT;
    struct storm_compare_params params = {
        .size = sizeof params,
        .a = args->run_dir,
        .b = args->other,
        .fields = args->fields,
        .steps = steps,
        .n_steps = args->steps.n,
        .axis = tool_given(args, "--axis") ? (char)('x' + args->axis) : '\0',
        .at_cm = tool_given(args, "--at") ? &args->at : NULL,
        .tolerance = args->tolerance,
        .standard_errors = args->standard_errors,
        .take = args->out != NULL ? compare_take : NULL,
        .take_self = &target};
    for (size_t i = 0; i < args->steps.n; i++)
        steps[i] = args->steps.value[i];
    if (tool_check_json(args) != TOOL_OK)
        return TOOL_USAGE;
    storm_status status =
        storm_compare(&params, &result, problem, sizeof problem);
    if (target.status != TOOL_OK)
        return target.status; /* has been reported */
    if (status >= 0)
        return compare_write(args, &result);
    tool_usage("%s", problem);
    return status == STORM_ERR_ARG ? TOOL_USAGE : TOOL_FAILED;
}
