/* SPDX-License-Identifier: BSD-3-Clause */
/* storm run and storm bench: read the deck if there is one, and start. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <storm/deck.h>
#include <storm/run.h>

#include "tool.h"

enum { RUN_PATH_BYTES = TOOL_PATH_BYTES };

/* out/<name of the deck without directory and ending> */
static void run_default_out(const char *deck, char out_out[RUN_PATH_BYTES])
{
    const char *slash = strrchr(deck, '/');
    const char *name = slash != NULL ? slash + 1 : deck;
    const char *dot = strrchr(name, '.');
    size_t length =
        dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(out_out, RUN_PATH_BYTES, "out/%.*s", (int)length, name);
}

/* Reads the deck, checks that it can be run, and runs it. Files that it needs
 * are checked before ranks are started, while nothing is written yet, or by the
 * first of those that a launcher of the user's has started. */
static int run_with_deck(const struct tool_args *args)
{
    struct tool_args mine = *args;
    struct storm_deck *deck;
    char problem[512];
    int status = tool_read_deck(args, &deck);
    if (status != TOOL_OK)
        return status;
    mine.loaded = deck;
    if (storm_run_check(deck, problem, sizeof problem) < 0)
        status = tool_usage("%s: %s", mine.deck, problem);
    if (status == TOOL_OK && !tool_launcher().is_there)
        status = tool_check_files(deck);
    if (status == TOOL_OK)
        status = tool_check_backend(storm_options_text(args->options,
                                                       "transport.backend"));
    if (status == TOOL_OK)
        status = tool_start(&mine);
    storm_deck_destroy(deck);
    return status;
}

/* Of a file, the directory it is in is meant: checkpoints are chosen there. */
static int run_check_restart(const char *dir)
{
    struct stat found;
    const char *slash = strrchr(dir, '/');
    if (stat(dir, &found) != 0 || S_ISDIR(found.st_mode))
        return TOOL_OK;
    return tool_usage(
        "--restart: expected the directory of a run, got the file "
        "%s; its newest good checkpoint is taken: --restart %.*s",
        dir, slash != NULL ? (int)(slash - dir) : 1, slash != NULL ? dir : ".");
}

int tool_run(const struct tool_args *args)
{
    struct tool_args mine = *args;
    char path[RUN_PATH_BYTES], out[RUN_PATH_BYTES];
    int status =
        mine.restart != NULL ? run_check_restart(mine.restart) : TOOL_OK;
    if (status != TOOL_OK)
        return status;
    if (mine.deck == NULL) {
        snprintf(path, sizeof path, "%s/deck.yaml", mine.restart);
        mine.deck = path;
    }
    run_default_out(mine.deck, out);
    if (mine.out == NULL)
        mine.out = mine.restart != NULL ? mine.restart : out;
    return run_with_deck(&mine);
}

static struct storm_run_params run_params(const struct tool_args *args)
{
    return (struct storm_run_params){.size = sizeof(struct storm_run_params),
                                     .out_dir = args->out,
                                     .restart_dir = args->restart,
                                     .overwrite = args->overwrite,
                                     .replicas = args->replicas,
                                     .stop = tool_stop_asked,
                                     .time_limit_s = tool_time_limit_s(args)};
}

int tool_check_out(const struct tool_args *args)
{
    struct storm_run_params params = run_params(args);
    char problem[TOOL_PATH_BYTES + 256];
    if (storm_run_check_out(&params, problem, sizeof problem) == STORM_OK)
        return TOOL_OK;
    return tool_usage("%s", problem);
}

bool tool_is_refused(const struct tool_args *args)
{
    struct storm_run_params params = run_params(args);
    return storm_run_check_out(&params, NULL, 0) != STORM_OK;
}

int tool_bench(const struct tool_args *args)
{
    return args->bench->takes_deck ? run_with_deck(args) : tool_start(args);
}

storm_status tool_run_deck(struct storm_context *context,
                           const struct tool_args *args,
                           const struct storm_progress *progress,
                           struct storm_run_report **report_out)
{
    struct storm_run_params params = run_params(args);
    params.progress = *progress;
    return storm_run(context, args->loaded, &params, report_out);
}
