/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a benchmark or a run: summary, table, picture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <storm/io.h>

#include "tool.h"

static int output_problem(const char *path)
{
    fprintf(stderr, "storm: error: cannot write %s: %s\n", path,
            strerror(errno));
    return TOOL_FAILED;
}

static int output_file(const char *path, const char *text)
{
    char problem[TOOL_PATH_BYTES + 256];
    if (storm_file_write(path, text, problem, sizeof problem) == STORM_OK)
        return TOOL_OK;
    fprintf(stderr, "storm: error: %s\n", problem);
    return TOOL_FAILED;
}

int tool_directory(const char *path)
{
    char problem[TOOL_PATH_BYTES + 256];
    if (storm_directory_make(path, problem, sizeof problem) == STORM_OK)
        return TOOL_OK;
    fprintf(stderr, "storm: error: %s\n", problem);
    return TOOL_FAILED;
}

int tool_write(const char *dir, const char *name, const char *text,
               char path_out[TOOL_PATH_BYTES])
{
    if (snprintf(path_out, TOOL_PATH_BYTES, "%s/%s", dir, name) >=
        TOOL_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return output_problem(dir);
    }
    return output_file(path_out, text);
}

/* Writes one file of --out; prints its path if `log` is not NULL. */
static int output_part(const struct tool_args *args, const char *name,
                       const char *text, FILE *log)
{
    char path[TOOL_PATH_BYTES];
    if (text == NULL)
        return TOOL_OK;
    int status = tool_write(args->out, name, text, path);
    if (status == TOOL_OK && log != NULL)
        fprintf(log, "  wrote %s\n", path);
    return status;
}

/* A file is written beside its final place and renamed: its directory must
 * allow that. */
int tool_check_json(const struct tool_args *args)
{
    char dir[TOOL_PATH_BYTES];
    struct stat info;
    if (args->json == NULL || strcmp(args->json, "-") == 0)
        return TOOL_OK;
    const char *slash = strrchr(args->json, '/');
    int n = slash == NULL ? 1 : (int)(slash - args->json) + 1;
    if (snprintf(dir, sizeof dir, "%.*s", n,
                 slash != NULL ? args->json : ".") >= (int)sizeof dir)
        errno = ENAMETOOLONG;
    else if (stat(args->json, &info) == 0 && S_ISDIR(info.st_mode))
        errno = EISDIR;
    else if (access(dir, W_OK | X_OK) == 0)
        return TOOL_OK;
    return tool_usage("--json: cannot write %s: %s", args->json,
                      strerror(errno));
}

int tool_write_json(const char *path, const char *json)
{
    return output_file(path, json);
}

int tool_output(const struct tool_args *args,
                const struct storm_run_report *report, bool one_stream)
{
    const char *json = storm_run_report_text(report, STORM_RUN_JSON);
    const char *table = storm_run_report_text(report, STORM_RUN_TABLE);
    const char *picture = storm_run_report_text(report, STORM_RUN_PICTURE);
    bool to_stdout = args->json != NULL ? strcmp(args->json, "-") == 0
                                        : args->bench != NULL && !args->demo;
    int status = TOOL_OK;
    /* People read standard output only if the summary does not go there. On a
     * terminal the bar must be gone before: launchers keep the order of one
     * pipe, not of two. */
    FILE *people = tool_on_terminal() || one_stream ? stderr : stdout;
    FILE *log = args->quiet     ? NULL
                : !to_stdout    ? people
                : args->verbose ? stderr
                                : NULL;
    if (log != NULL)
        fprintf(log, "%s\n", table);
    if (to_stdout)
        printf("%s\n", json);
    if (args->bench == NULL && log != NULL) /* a run has written it */
        fprintf(log, "  wrote %s/summary.json\n", args->out);
    bool to_dir = args->bench != NULL && args->out != NULL;
    if (to_dir)
        status = tool_directory(args->out);
    if (status == TOOL_OK && to_dir)
        status = output_part(args, "summary.json", json, log);
    if (status == TOOL_OK && to_dir && picture != NULL)
        status = output_part(args, args->bench->picture, picture, log);
    if (status == TOOL_OK && !to_stdout && args->json != NULL)
        status = output_file(args->json, json);
    if (fflush(stdout) != 0 && status == TOOL_OK)
        status = output_problem("standard output");
    return status;
}
