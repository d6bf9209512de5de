/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands and flags there are: parser and help read this. */
#include <stdio.h>
#include <string.h>

#include <storm/info.h>

#include "tool.h"

const struct tool_flag tool_global_flags[] = {
    {.name = "--help",
     .alias = "-h",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(help),
     .help = "say what can be said and stop"},
    {.name = "--version",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(version),
     .help = "print the version and stop"},
    {.name = NULL}};

/* Flags of everything that starts ranks. */
#define LAUNCH_FLAGS                                                          \
    {.name = "-n",                                                            \
     .value = "N",                                                            \
     .kind = TOOL_COUNT,                                                      \
     .offset = TOOL_FIELD(ranks),                                             \
     .min = 1,                                                                \
     .max = 1e6,                                                              \
     .help = "ranks to start (default: one per core, unless mpiexec or srun " \
             "has started some)"},                                            \
    {                                                                         \
        .name = "--launcher", .value = "CMD", .kind = TOOL_TEXT,              \
        .offset = TOOL_FIELD(launcher),                                       \
        .help = "what starts the ranks (default: srun inside an "             \
                "allocation, else mpiexec)"                                   \
    }

#define TALK_FLAGS                                                            \
    {.name = "--progress",                                                    \
     .value = "WHEN",                                                         \
     .kind = TOOL_TEXT,                                                       \
     .offset = TOOL_FIELD(progress_word),                                     \
     .help = "auto (a bar on a terminal, lines elsewhere), always or never"}, \
        {.name = "--quiet",                                                   \
         .kind = TOOL_SWITCH,                                                 \
         .offset = TOOL_FIELD(quiet),                                         \
         .help = "errors and results only"},                                  \
    {                                                                         \
        .name = "--verbose", .kind = TOOL_SWITCH,                             \
        .offset = TOOL_FIELD(verbose), .help = "more messages"                \
    }

static const struct tool_flag bench_flags[] = {
    LAUNCH_FLAGS,
    {.name = "--set",
     .value = "KEY=VALUE",
     .kind = TOOL_SET,
     .help = "set an option by its key, such as transport.batch=8"},
    {.name = "--json",
     .value = "FILE",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(json),
     .help = "write the summary there; - is standard output, the default"},
    {.name = "--out",
     .value = "DIR",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(out),
     .help = "write summary.json and pictures there"},
    TALK_FLAGS,
    {.name = NULL}};

static const struct tool_flag check_flags[] = {
    {.name = "--set",
     .value = "KEY=VALUE",
     .kind = TOOL_SET,
     .help = "override an entry, such as time.stop=1e-10 or "
             "materials.gold.temperature=0.1"},
    {.name = "--resolved",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(resolved),
     .help = "print the deck with all defaults"},
    {.name = "--keys",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(keys),
     .help = "print all keys, their defaults and meaning, without a deck"},
    {.name = "--quiet",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(quiet),
     .help = "say nothing if nothing is wrong"},
    {.name = NULL}};

static const struct tool_flag options_flags[] = {
    {.name = "--markdown",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(markdown),
     .help = "as a page of documentation"},
    {.name = NULL}};

static const struct tool_flag run_flags[] = {
    LAUNCH_FLAGS,
    {.name = "--set",
     .value = "KEY=VALUE",
     .kind = TOOL_SET,
     .help = "override an entry of the deck, such as time.stop=1e-10"},
    {.name = "--out",
     .value = "DIR",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(out),
     .help = "where results go (default out/ and the deck's name)"},
    {.name = "--restart",
     .value = "DIR",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(restart),
     .help = "go on from the newest good checkpoint in DIR; results go there "
             "as well, and without DECK its deck.yaml is used"},
    {.name = "--json",
     .value = "FILE",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(json),
     .help = "write the summary there as well; - is standard output"},
    TALK_FLAGS,
    {.name = NULL}};

static const struct tool_flag plot_flags[] = {
    {.name = "--field",
     .value = "NAMES",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(fields),
     .help = "what to draw, separated by commas: material, solid (in three "
             "dimensions), owner, cell_size, volume, temperatures (radiation "
             "above material), or any field of a dump such as "
             "radiation_energy (default: material, solid, cell_size, "
             "temperatures, owner, and profiles)"},
    {.name = "--axis",
     .value = "x|y|z",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(axis),
     .help = "slices are normal to it (default z)"},
    {.name = "--at",
     .value = "X",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(at),
     .help = "where on the axis (default: in the middle)"},
    {.name = "--step",
     .value = "LIST",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(step),
     .help = "which dumps, separated by commas (default: the last; profiles: "
             "up to six of all)"},
    {.name = "--reference",
     .value = "FILE",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(reference),
     .help = "draw profiles against this CSV file, with columns position and "
             "any of a profile's"},
    {.name = "--lines",
     .value = "WHEN",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(lines),
     .help = "edges of cells: auto, always or never"},
    {.name = "--scale",
     .value = "WORD",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(scale),
     .help = "auto, linear or log"},
    {.name = "--out",
     .value = "DIR",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(out),
     .help = "where pictures go (default: plots in the run's directory)"},
    {.name = "--quiet",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(quiet),
     .help = "do not name the files"},
    {.name = NULL}};

static const struct tool_flag report_flags[] = {
    {.name = "--reference",
     .value = "FILE",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(reference),
     .help = "draw profiles against this CSV file, as storm plot does"},
    {.name = "--out",
     .value = "FILE",
     .kind = TOOL_TEXT,
     .offset = TOOL_FIELD(out),
     .help = "the page (default: report.html in the run's directory)"},
    {.name = "--quiet",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(quiet),
     .help = "do not name the file"},
    {.name = NULL}};

const struct tool_command tool_commands[] = {
    {.name = "run",
     .usage = " DECK [options]",
     .summary = "run a deck, or go on with one that was stopped",
     .flags = run_flags,
     .takes_options = true,
     .takes_deck = true,
     .run = tool_run},
    {.name = "bench",
     .usage = " NAME [options]",
     .summary = "run a benchmark and print a summary as JSON",
     .flags = bench_flags,
     .takes_options = true,
     .run = tool_bench},
    {.name = "check",
     .usage = " DECK [options]",
     .summary = "say everything that is wrong with a deck",
     .flags = check_flags,
     .takes_deck = true,
     .run = tool_check},
    {.name = "plot",
     .usage = " RUNDIR [options]",
     .summary = "draw pictures of a finished run",
     .flags = plot_flags,
     .takes_run = true,
     .run = tool_plot},
    {.name = "report",
     .usage = " RUNDIR [options]",
     .summary = "make one HTML page about a finished run",
     .flags = report_flags,
     .takes_run = true,
     .run = tool_report},
    {.name = "info",
     .usage = "",
     .summary = "what this build is and which backends work here",
     .run = tool_info},
    {.name = "options",
     .usage = " [--markdown]",
     .summary = "the options of a run, their keys and defaults",
     .flags = options_flags,
     .run = tool_options},
    {.name = NULL}};

int tool_check_backend(const char *name)
{
    const struct storm_backend *backend = storm_backend_find(name);
    if (strcmp(name, "auto") == 0 || (backend != NULL && backend->built))
        return TOOL_OK;
    char built[128] = "";
    for (size_t i = 0; (backend = storm_backend_at(i)) != NULL; i++)
        if (backend->built)
            snprintf(built + strlen(built), sizeof built - strlen(built),
                     "%s%s", built[0] != '\0' ? ", " : "", backend->name);
    if (storm_backend_find(name) == NULL)
        return tool_usage("there is no backend '%s'; built here: %s", name,
                          built);
    return tool_usage("backend '%s' is not part of this build; built here: %s",
                      name, built);
}
