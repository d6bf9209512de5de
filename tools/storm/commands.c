/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of commands and flags: parser and help read them. */
#include <stdio.h>
#include <string.h>

#include <storm/info.h>
#include <storm/run.h>

#include "tool.h"

const struct tool_flag tool_global_flags[] = {
    {.name = "--help",
     .alias = "-h",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(help),
     .help = "print help and exit"},
    {.name = "--version",
     .alias = "-V",
     .kind = TOOL_SWITCH,
     .offset = TOOL_FIELD(version),
     .help = "print the version and exit"},
    {.name = NULL}};

/* Flags of everything that starts ranks. */
#define LAUNCH_FLAGS                                                         \
    TOOL_COUNT_FLAG("-n", ranks, 1e6,                                        \
                    "ranks to start (default: the tasks of a job of Slurm, " \
                    "else one per core; none if mpiexec or srun has "        \
                    "started some)"),                                        \
        TOOL_TEXT_FLAG(                                                      \
            "--launcher", "CMD", launcher,                                   \
            "command that starts the ranks (default: srun inside an "        \
            "allocation, else mpiexec)")

#define QUIET_FLAG(_help) TOOL_SWITCH_FLAG("--quiet", quiet, _help)

#define TALK_FLAGS                                                           \
    TOOL_WORD_FLAG("--progress", "WHEN", progress, "auto|always|never",      \
                   "auto (a bar on a terminal, lines elsewhere), always or " \
                   "never"),                                                 \
        QUIET_FLAG("print errors only"),                                     \
        TOOL_SWITCH_FLAG("--verbose", verbose, "more messages")

static const struct tool_flag bench_flags[] = {
    LAUNCH_FLAGS,
    TOOL_SET_FLAG("set an option by its key, such as transport.batch=8"),
    TOOL_TEXT_FLAG(
        "--json", "FILE", json,
        "write the summary there; - is standard output, the default"),
    TOOL_TEXT_FLAG("--out", "DIR", out,
                   "write summary.json there, and a picture (uniform, scaling "
                   "and breakdown)"),
    TALK_FLAGS,
    {.name = NULL}};

static const struct tool_flag check_flags[] = {
    TOOL_SET_FLAG("override an entry, such as time.stop=1e-10 or "
                  "materials.gold.temperature=0.1"),
    TOOL_SWITCH_FLAG("--resolved", resolved,
                     "print the deck with all defaults"),
    TOOL_SWITCH_FLAG(
        "--keys", keys,
        "print all keys, their defaults and meaning, without a deck"),
    TOOL_COUNT_FLAG("-n", ranks, 1e6,
                    "ranks to estimate memory and time for (default: one per "
                    "core)"),
    QUIET_FLAG("print nothing if the deck is valid"),
    {.name = NULL}};

static const struct tool_flag options_flags[] = {
    TOOL_SWITCH_FLAG("--markdown", markdown, "print a page of documentation"),
    TOOL_WORD_FLAG("--completion", "SHELL", completion, "none|bash|zsh",
                   "print what bash or zsh needs to complete command lines"),
    TOOL_TEXT_FLAG("--man", "COMMAND", man,
                   "print the manual page of a command"),
    {.name = NULL}};

static const struct tool_flag run_flags[] = {
    LAUNCH_FLAGS,
    TOOL_SET_FLAG("override an entry of the deck, such as time.stop=1e-10"),
    TOOL_TEXT_FLAG("--out", "DIR", out,
                   "where results go (default out/ and the deck's name)"),
    TOOL_TEXT_FLAG(
        "--restart", "DIR", restart,
        "continue from the newest valid checkpoint in DIR; results go there "
        "as well, and without DECK its deck.yaml is used"),
    TOOL_SWITCH_FLAG("--overwrite", overwrite,
                     "replace the run that the output directory holds"),
    TOOL_COUNT_FLAG("--replicas", replicas, STORM_RUN_MAX_REPLICAS,
                    "run the deck so many times as one job, with seeds seed, "
                    "seed + 1, ..., and write means and standard errors"),
    TOOL_TIME_FLAG("--time-limit", time_limit_s,
                   "stop in good time, with a checkpoint: seconds, 50m, "
                   "3h50m10s or 3:50:10 (default: the end of the Slurm job, if "
                   "known)"),
    TOOL_TEXT_FLAG("--json", "FILE", json,
                   "write the summary there as well; - is standard output"),
    TALK_FLAGS,
    {.name = NULL}};

static const struct tool_flag plot_flags[] = {
    TOOL_TEXT_FLAG(
        "--field", "NAMES", fields,
        "what to draw, separated by commas: material, solid (in three "
        "dimensions), owner, cell_size, volume, temperatures (radiation "
        "and material), any field of a dump such as radiation_energy, "
        "history, probes, lineout-NAME, tally-NAME or traffic (default: "
        "material, solid, cell_size, temperatures, owner, profiles, and "
        "charts of line-outs, history, probes, tallies and traffic)"),
    TOOL_WORD_FLAG("--axis", "x|y|z", axis, "x|y|z",
                   "slices are normal to it (default z)"),
    TOOL_REAL_FLAG("--at", "X", at, -1e300, 1e300,
                   "position on the axis (default: the middle)"),
    TOOL_TEXT_FLAG("--line", "X,Y,Z,X,Y,Z", line,
                   "instead of slices, fields along the line between two "
                   "points (default: both temperatures)"),
    TOOL_LIST_FLAG(
        "--step", steps, 0, 4e9,
        "which dumps, separated by commas (default: the last; profiles: "
        "up to six of all)"),
    TOOL_TEXT_FLAG(
        "--reference", "FILE", reference,
        "draw profiles against this CSV file, with columns position and "
        "any of a profile's"),
    TOOL_WORD_FLAG("--lines", "WHEN", lines, "auto|always|never",
                   "edges of cells: auto, always or never"),
    TOOL_WORD_FLAG("--scale", "WORD", scale, "auto|log|linear",
                   "auto, linear or log"),
    TOOL_TEXT_FLAG("--out", "DIR", out,
                   "where pictures go (default: plots in the run's directory)"),
    QUIET_FLAG("do not print file names"),
    {.name = NULL}};

static const struct tool_flag report_flags[] = {
    TOOL_TEXT_FLAG("--reference", "FILE", reference,
                   "draw profiles against this CSV file, as storm plot does"),
    TOOL_TEXT_FLAG("--out", "FILE", out,
                   "the page (default: report.html in the run's directory)"),
    QUIET_FLAG("do not print the file name"),
    {.name = NULL}};

static const struct tool_flag compare_flags[] = {
    TOOL_REAL_FLAG("--tolerance", "X", tolerance, 0, 1e300,
                   "max relative difference of a field, in L2, or of a number "
                   "(default 0: the same)"),
    TOOL_REAL_FLAG("--standard-errors", "X", standard_errors, 1e-300, 1e300,
                   "with replicas: max difference of a field instead, in its "
                   "standard errors (root of the mean square)"),
    TOOL_TEXT_FLAG("--field", "NAMES", fields,
                   "what to compare, separated by commas: fields of dumps, "
                   "columns of profiles, keys of JSON (default: all)"),
    TOOL_LIST_FLAG("--step", steps, 0, 4e9,
                   "which dumps of A, separated by commas (default: the last); "
                   "those of B are the ones at the same times"),
    TOOL_TEXT_FLAG("--out", "DIR", out,
                   "draw the differences, as SVG files there"),
    TOOL_WORD_FLAG("--axis", "x|y|z", axis, "x|y|z",
                   "slices are normal to it (default z)"),
    TOOL_REAL_FLAG("--at", "X", at, -1e300, 1e300,
                   "position on the axis (default: the middle)"),
    TOOL_TEXT_FLAG("--json", "FILE", json,
                   "write the norms there; - is standard output"),
    QUIET_FLAG("print neither the table nor file names"),
    {.name = NULL}};

static const struct tool_flag points_flags[] = {
    TOOL_WORD_FLAG("--shape", "WORD", shape, "box|cylinder|sphere",
                   "box, cylinder or sphere (required)"),
    TOOL_TEXT_FLAG("--lo", "X,Y,Z", lo, "box: lower corner (default 0,0,0)"),
    TOOL_TEXT_FLAG("--hi", "X,Y,Z", hi, "box: upper corner"),
    TOOL_REAL_FLAG("--radius", "R", radius, 0, 1e150, "cylinder, sphere"),
    TOOL_REAL_FLAG("--length", "L", length, 0, 1e150, "cylinder"),
    TOOL_REAL_FLAG("--from", "X", from, -1e150, 1e150,
                   "cylinder: where it begins on its axis (default 0)"),
    TOOL_WORD_FLAG("--axis", "x|y|z", axis, "x|y|z",
                   "cylinder: its direction (default z)"),
    TOOL_TEXT_FLAG("--centre", "X,Y[,Z]", centre,
                   "cylinder: across the axis, in cyclic order; sphere "
                   "(default 0)"),
    TOOL_WORD_FLAG("--part", "WORD", part, "whole|half|quarter",
                   "cylinder: whole, half or quarter, to be used with "
                   "reflecting walls (default whole)"),
    TOOL_COUNT_FLAG("--sides", sides, 1e9,
                    "cylinder: plane sides of the part; sphere: directions "
                    "(default 16 a circle, 500)"),
    TOOL_TEXT_FLAG("--spacing", "D", spacing,
                   "max thickness of layers, cm; or by coordinate: "
                   "r=0.1,z=0.2 (required)"),
    {.name = "--graded",
     .value = "C=X:D:G",
     .kind = TOOL_TEXTS,
     .help = "at the surface where coordinate C (x, y, z, r) is X, the first "
             "layer is D thick and others grow by G; X+ or X-: above or below "
             "it alone, as z=2.5-:3e-4:1.4. May be repeated"},
    TOOL_REAL_FLAG("--jitter", "J", jitter, 0, 0.9,
                   "random shift, as a part of a layer (default 0)"),
    TOOL_COUNT_FLAG("--seed", seed, 9e15, "of the shifts (default 1)"),
    TOOL_TEXT_FLAG("--out", "FILE", out,
                   "text, for mesh.points_file (default points.txt)"),
    QUIET_FLAG("print nothing"),
    {.name = NULL}};

static const struct tool_flag lab_flags[] = {
    TOOL_LIST_FLAG("--ranks", params.lab.ranks, 1, 1e6,
                   "numbers of simulated ranks, rising (default 64,128,256)"),
    TOOL_WORD_FLAG("--mode", "WORD", params.lab.mode, "strong|weak",
                   "strong (default): same total steps; weak: same per rank"),
    TOOL_TEXT_FLAG("--backends", "LIST", params.lab.backends,
                   "sim (one-sided), p2p or both (default sim,p2p)"),
    TOOL_REAL_FLAG("--event-ns", "X", params.lab.event_ns, 1e-3, 1e12,
                   "nanoseconds that an event costs (default: measured here by "
                   "bench uniform on a rank)"),
    TOOL_REAL_FLAG("--transfer-ns", "X", params.lab.transfer_ns, 1e-3, 1e12,
                   "nanoseconds of a rank's time for a packet that leaves it, "
                   "beyond its events (default 0)"),
    TOOL_COUNT_FLAG("--cells-per-rank", params.lab.cells_per_rank, 1e9,
                    "cells for each rank (default 100)"),
    TOOL_REAL_FLAG("--crossings", "X", params.lab.crossings, 1e-6, 1e9,
                   "cells crossed in a cycle with the fewest ranks (default "
                   "15)"),
    TOOL_COUNT_FLAG("--emit", params.lab.emit, 1e9,
                    "packets per cell and cycle (default 5)"),
    TOOL_COUNT32_FLAG("--cycles", params.lab.cycles, 1e6,
                      "time steps (default 3); packets accumulate"),
    TOOL_COUNT32_FLAG("--timed", params.lab.timed, 1e6,
                      "number of last cycles that are timed (default: all but "
                      "the first)"),
    TOOL_REAL_FLAG("--uneven", "X", params.lab.uneven, 1, 10,
                   "the first tenth of the ranks has X times the mean work, as "
                   "in a hohlraum (default 1, below 10)"),
    TOOL_COUNT_FLAG("--slow-every", params.lab.slow_every, 1e6,
                    "each N-th rank computes slower"),
    TOOL_REAL_FLAG("--slow-factor", "X", params.lab.slow_factor, 1, 1e6,
                   "how many times slower (default 2)"),
    {.name = "--cost",
     .value = "NAME=VALUE",
     .kind = TOOL_TEXTS,
     .help = "set a cost of the simulated machine, such as latency_s=1.3e-5 "
             "(see docs/scale.md). May be repeated"},
    TOOL_TEXT_FLAG(
        "--costs", "FILE", params.lab.costs,
        "read costs from lines NAME=VALUE, such as tools/lab/epyc-2core.costs; "
        "--cost overrides them"),
    TOOL_TEXT_FLAG("--published", "FILE", params.lab.published,
                   "show these times beside: lines mode,ranks,backend,seconds"),
    TOOL_SET_FLAG("set an option by its key, such as transport.batch=8"),
    TOOL_TEXT_FLAG("--out", "DIR", out,
                   "where points, JSON and charts go (default out/lab); points "
                   "that are there are not run again"),
    TOOL_TEXT_FLAG("--json", "FILE", json,
                   "write the JSON there as well; - is standard output"),
    QUIET_FLAG("print errors only"),
    {.name = NULL}};

const struct tool_command tool_commands[] = {
    {.name = "run",
     .usage = " DECK [options]",
     .summary = "run a deck, or go on with a run that was stopped",
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
    {.name = "lab",
     .usage = " scaling [options]",
     .summary = "simulate thousands of ranks, after make lab",
     .flags = lab_flags,
     .takes_options = true,
     .run = tool_lab},
    {.name = "check",
     .usage = " DECK [options]",
     .summary = "validate a deck, estimate memory and time",
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
     .usage = " DIR [options]",
     .summary = "make one HTML page about a finished run",
     .flags = report_flags,
     .takes_run = true,
     .run = tool_report},
    {.name = "compare",
     .usage = " A B [options]",
     .summary = "compare two runs, a run and a reference, two benchmarks",
     .flags = compare_flags,
     .takes_two = true,
     .run = tool_compare},
    {.name = "points",
     .usage = " [options]",
     .summary = "write points for a mesh that is fine at surfaces",
     .flags = points_flags,
     .run = tool_points},
    {.name = "info",
     .usage = "",
     .summary = "show this build, backends and devices that work here",
     .run = tool_info},
    {.name = "options",
     .usage = " [options]",
     .summary = "list the options of a run, their keys and defaults",
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
