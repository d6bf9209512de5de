/* SPDX-License-Identifier: BSD-3-Clause */
/* storm bench and storm run: starts ranks, or is one. */
#include <stdio.h>
#include <unistd.h>

#include <storm/info.h>

#include "tool.h"

/* More ranks than cores run, but each waits for others to get a core. */
static void start_warn_crowded(const struct tool_args *args)
{
    int cores = tool_cores();
    if (args->quiet || args->ranks <= (uint64_t)cores)
        return;
    fprintf(stderr,
            "storm: warning: -n %llu: there are %d cores for this process; "
            "ranks will wait for each other\n",
            (unsigned long long)args->ranks, cores);
}

int tool_start(const struct tool_args *args)
{
    static char progress_flag[] = "--progress", always[] = "always";
    struct tool_launcher launcher = tool_launcher();
    if (launcher.is_there || tool_was_launched()) {
        if (args->ranks > 0 && launcher.size > 0 &&
            args->ranks != (uint64_t)launcher.size)
            return tool_usage("-n %llu: %d ranks have been started already; "
                              "leave -n out",
                              (unsigned long long)args->ranks, launcher.size);
        return tool_session(args);
    }
    struct tool_args mine = *args;
    if (args->bench == NULL && tool_check_out(args) != TOOL_OK)
        return TOOL_USAGE;
    if (tool_check_json(args) != TOOL_OK)
        return TOOL_USAGE;
    if (mine.ranks == 0)
        mine.ranks = tool_default_ranks();
    start_warn_crowded(&mine);
    /* The ranks' standard error is a pipe even if ours is a terminal. */
    if (mine.progress == TOOL_PROGRESS_AUTO && tool_stderr_is_screen()) {
        mine.child_argv[mine.n_child++] = progress_flag;
        mine.child_argv[mine.n_child++] = always;
    }
    return tool_launch(&mine);
}
