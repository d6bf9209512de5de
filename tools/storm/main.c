/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <storm/version.h>

#include "tool.h"

static int main_run(const struct tool_args *args)
{
    if (args->version) {
        printf("storm %s\n", storm_version());
        return TOOL_OK;
    }
    if (args->help)
        return tool_help(args);
    return args->command->run(args);
}

int main(int argc, char **argv)
{
    struct tool_args args;
    int status = tool_args_parse(&args, argc, argv);
    if (status == TOOL_OK)
        status = main_run(&args);
    tool_args_clear(&args);
    if (fflush(stdout) != 0 && status == TOOL_OK) {
        perror("storm: error: standard output");
        status = TOOL_FAILED;
    }
    return status;
}
