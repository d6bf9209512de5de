/* SPDX-License-Identifier: BSD-3-Clause */
/* storm report: one page about a finished run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/report.h>

#include "tool.h"

/* Directory and name of the page. */
static void report_place(const struct tool_args *args,
                         char dir_out[TOOL_PATH_BYTES], const char **name_out)
{
    const char *slash = args->out != NULL ? strrchr(args->out, '/') : NULL;
    if (args->out == NULL) {
        snprintf(dir_out, TOOL_PATH_BYTES, "%s", args->run_dir);
        *name_out = "report.html";
    } else if (slash == NULL) {
        snprintf(dir_out, TOOL_PATH_BYTES, ".");
        *name_out = args->out;
    } else {
        int n = slash == args->out ? 1 : (int)(slash - args->out);
        snprintf(dir_out, TOOL_PATH_BYTES, "%.*s", n, args->out);
        *name_out = slash + 1;
    }
}

int tool_report(const struct tool_args *args)
{
    struct storm_report_params params = {.size = sizeof params,
                                         .run_dir = args->run_dir,
                                         .reference = args->reference};
    char dir[TOOL_PATH_BYTES], path[TOOL_PATH_BYTES];
    char problem[TOOL_PATH_BYTES + 1024];
    const char *name;
    char *html = NULL;
    report_place(args, dir, &name);
    if (*name == '\0')
        return tool_usage("--out: expected a file, got '%s'", args->out);
    storm_status made = storm_report(&params, &html, problem, sizeof problem);
    if (made < 0) {
        tool_usage("%s", problem);
        return made == STORM_ERR_ARG ? TOOL_USAGE : TOOL_FAILED;
    }
    tool_print_state(args);
    int status = tool_directory(dir);
    if (status == TOOL_OK)
        status = tool_write(dir, name, html, path);
    if (status == TOOL_OK && !args->quiet)
        printf("%s\n", path);
    free(html);
    return status;
}
