/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm lab: simulated ranks, by the program that `make lab` builds beside this
 * one.
 *
 * Each point is a run of its own and leaves its JSON in --out. A point whose
 * file is there, and was made with the same arguments, is not run again: what
 * was stopped goes on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_lab.h"
#include "tool.h"

enum { LAB_MAX_WORDS = 96, LAB_WORD = 192, LAB_ARGUMENTS = 2048 };

/* A command line. */
struct lab_words {
    char text[LAB_MAX_WORDS][LAB_WORD];
    char *argv[LAB_MAX_WORDS + 1];
    size_t n;
    bool full;
};

static void lab_word(struct lab_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void lab_word(struct lab_words *words, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (words->n < LAB_MAX_WORDS &&
        vsnprintf(words->text[words->n], LAB_WORD, format, values) < LAB_WORD) {
        words->argv[words->n] = words->text[words->n];
        words->n++;
    } else {
        words->full = true;
    }
    va_end(values);
    words->argv[words->n] = NULL;
}

/* ---- where the simulator is ---------------------------------------------- */

/* The folder of this program and what is in it. */
static bool lab_beside(const char *name, char path_out[TOOL_PATH_BYTES])
{
    char own[TOOL_PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n <= 0)
        return false;
    own[n] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return snprintf(path_out, TOOL_PATH_BYTES, "%s/%s", own, name) <
               TOOL_PATH_BYTES &&
           access(path_out, X_OK) == 0;
}

/* ---- costs of the machine ------------------------------------------------ */

/* Does one of the first n costs set what this one does? */
static bool lab_has_cost(const struct tool_args *args, size_t n,
                         const char *cost)
{
    size_t length = strcspn(cost, "=") + 1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(args->sets[i], cost, length) == 0)
            return true;
    return false;
}

/* Adds those of `text`, words NAME=VALUE and comments from # to the end of the
 * line, unless they are on the command line. The texts stay in `text`. */
static int lab_add_costs(struct tool_args *args, char *text)
{
    size_t given = args->n_sets;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *cost = line + strspn(line, " \t");
        cost[strcspn(cost, "# \t\r")] = '\0';
        if (*cost == '\0' || lab_has_cost(args, given, cost))
            continue;
        if (strchr(cost, '=') == NULL)
            return tool_usage("--costs: expected NAME=VALUE, got '%s'", cost);
        args->sets[args->n_sets++] = cost;
    }
    return TOOL_OK;
}

/* ---- one point ----------------------------------------------------------- */

/* Cells that a packet crosses in a cycle of a point. */
static double lab_crossings(const struct tool_lab *lab, uint32_t ranks)
{
    double fewer = lab->mode == STORM_BENCH_WEAK
                       ? 1
                       : (double)lab->ranks.value[0] / (double)ranks;
    return lab->crossings * fewer;
}

/* Everything that decides what a point is, as storm-sim takes it. */
static void lab_arguments(const struct tool_args *args, uint32_t ranks,
                          const char *backend, struct lab_words *words)
{
    const struct tool_lab *lab = &args->params.lab;
    lab_word(words, "transport.backend=%s", backend);
    lab_word(words, "cells-per-rank=%" PRIu64, lab->cells_per_rank);
    lab_word(words, "crossings=%.17g", lab_crossings(lab, ranks));
    lab_word(words, "emit=%" PRIu64, lab->emit);
    lab_word(words, "cycles=%" PRIu32, lab->cycles);
    lab_word(words, "timed=%" PRIu32, lab->timed);
    lab_word(words, "event-s=%.6g", 1e-9 * lab->event_ns);
    if (lab->transfer_ns > 0)
        lab_word(words, "transfer-s=%.6g", 1e-9 * lab->transfer_ns);
    lab_word(words, "uneven=%g", lab->uneven);
    if (lab->slow_every > 0)
        lab_word(words, "slow-every=%" PRIu64, lab->slow_every);
    if (lab->slow_every > 0)
        lab_word(words, "slow-factor=%g", lab->slow_factor);
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
        if (strcmp(row->key, "transport.backend") != 0 &&
            storm_options_is_set(args->options, row->key))
            lab_word(words, "%s=%s", row->key,
                     storm_options_text(args->options, row->key));
    for (size_t i = 0; i < args->n_sets; i++)
        lab_word(words, "cost-%s", args->sets[i]);
}

static void lab_join(const struct lab_words *words, size_t first, char *text,
                     size_t bytes)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = first; i < words->n && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%s", i > first ? " " : "",
                              words->argv[i]);
}

/* The whole file; NULL: not there, or no memory. */
static char *lab_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t n = 0, room = 0;
    if (file == NULL)
        return NULL;
    do {
        room += 65536;
        char *more = realloc(text, room);
        if (more == NULL) {
            free(text);
            text = NULL;
            break;
        }
        text = more;
        n += fread(text + n, 1, room - n - 1, file);
        text[n] = '\0';
    } while (n == room - 1);
    fclose(file);
    return text;
}

/* Was the point made with these arguments? */
static bool lab_is_same(const char *json, const char *arguments)
{
    const char *made = json ? storm_lab_value(json, "arguments") : NULL;
    size_t n = strlen(arguments);
    return made != NULL && strncmp(made, arguments, n) == 0 && made[n] == '"';
}

static int lab_execute(char *const argv[])
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A point of one number of ranks over one backend. */
struct lab_point {
    uint32_t ranks;
    const char *backend;
    char path[TOOL_PATH_BYTES]; /* of its JSON, and until that is complete */
    char part[TOOL_PATH_BYTES + 8];
    struct lab_words words; /* the command that makes it */
    char arguments[LAB_ARGUMENTS];
};

/* The file and the command of a point; false (printed): too long, or there is
 * no simulator. */
static bool lab_plan(const struct tool_args *args, struct lab_point *point)
{
    const struct tool_lab *lab = &args->params.lab;
    struct lab_words *words = &point->words;
    char starter[TOOL_PATH_BYTES], program[TOOL_PATH_BYTES];
    int n = snprintf(point->path, sizeof point->path,
                     "%s/%s-%" PRIu32 "-%s-%.4g.json", args->out,
                     lab->uneven > 1 ? "uneven" : "uniform", point->ranks,
                     point->backend, lab_crossings(lab, point->ranks));
    if (!lab_beside("lab/smpiexec", starter) ||
        !lab_beside("lab/storm-sim", program)) {
        tool_usage("lab: no simulator beside this program any more");
        return false;
    }
    snprintf(point->part, sizeof point->part, "%s.part", point->path);
    lab_word(words, "%s", starter);
    lab_word(words, "-n");
    lab_word(words, "%" PRIu32, point->ranks);
    for (size_t i = 0; i < args->n_sets; i++) {
        lab_word(words, "-c");
        lab_word(words, "%s", args->sets[i]);
    }
    lab_word(words, "%s", program);
    lab_word(words, "json=%s", point->part);
    size_t first = words->n;
    lab_arguments(args, point->ranks, point->backend, words);
    lab_join(words, first, point->arguments, sizeof point->arguments);
    if (words->full || n >= (int)sizeof point->path) {
        tool_usage("lab: a path or a list of costs is too long");
        return false;
    }
    return true;
}

/* Runs a point unless it is there; its JSON, or NULL (printed). */
static char *lab_point(const struct tool_args *args, uint32_t ranks,
                       const char *backend)
{
    struct lab_point point = {.ranks = ranks, .backend = backend};
    if (!lab_plan(args, &point))
        return NULL;
    char *json = lab_file(point.path);
    if (lab_is_same(json, point.arguments)) {
        if (!args->quiet)
            fprintf(stderr, "storm: %s is there\n", point.path);
        return json;
    }
    free(json);
    if (!args->quiet)
        fprintf(stderr, "storm: simulating %" PRIu32 " ranks over %s\n", ranks,
                backend);
    int status = lab_execute(point.words.argv);
    if (status != 0 || rename(point.part, point.path) != 0) {
        tool_usage("lab: %" PRIu32 " ranks over %s failed (exit status %d); "
                   "the same command goes on with the points that are missing",
                   ranks, backend, status);
        return NULL;
    }
    json = lab_file(point.path);
    if (json == NULL)
        tool_usage("lab: cannot read %s", point.path);
    return json;
}

/* ---- the laboratory ------------------------------------------------------ */

/* What an event of uniform emission costs on one core of this machine. */
static int lab_measure(struct tool_lab *lab)
{
    char own[TOOL_PATH_BYTES], command[TOOL_PATH_BYTES + 128], text[8192];
    size_t n = 0;
    FILE *bench = NULL;
    if (lab_beside("storm", own)) {
        snprintf(command, sizeof command,
                 "'%s' bench uniform -n 1 --cells-per-rank 5000 --progress "
                 "never --json - 2>/dev/null",
                 own);
        bench = popen(command, "r");
    }
    if (bench != NULL) {
        n = fread(text, 1, sizeof text - 1, bench);
        pclose(bench);
    }
    text[n] = '\0';
    const char *rate = storm_lab_value(text, "steps_per_second_per_rank");
    double steps = rate != NULL ? strtod(rate, NULL) : 0;
    if (!(steps > 0)) {
        tool_usage("lab: bench uniform failed here; give the cost of an event "
                   "with --event-ns");
        return TOOL_FAILED;
    }
    lab->event_ns = 1e9 / steps;
    return TOOL_OK;
}

static int lab_write(const struct tool_args *args,
                     const struct storm_bench_lab_report *report)
{
    char path[TOOL_PATH_BYTES];
    bool to_stdout = args->json != NULL && strcmp(args->json, "-") == 0;
    int status = tool_write(args->out, "scaling.json", report->json, path);
    for (int i = 0; i < STORM_LAB_N_PICTURES && status == TOOL_OK; i++)
        status = tool_write(args->out, storm_lab_pictures[i],
                            report->picture[i], path);
    if (to_stdout)
        printf("%s\n", report->json);
    else if (!args->quiet)
        printf("%s\n  wrote scaling.json and charts to %s\n", report->table,
               args->out);
    if (status == TOOL_OK && args->json != NULL && !to_stdout)
        status = tool_write_json(args->json, report->json);
    return status;
}

static void lab_free(struct storm_bench_lab_report *report)
{
    free(report->json);
    free(report->table);
    for (int i = 0; i < STORM_LAB_N_PICTURES; i++)
        free(report->picture[i]);
}

static int lab_report(const struct tool_args *args,
                      const struct storm_bench_lab_params *params)
{
    struct storm_bench_lab_report report = {.json = NULL};
    storm_status status = storm_bench_lab(params, &report);
    if (status < 0) {
        tool_usage(status == STORM_ERR_STATE
                       ? "lab: backends end in different states; see the "
                         "state_hash of the points in %s"
                       : "lab: a point in %s cannot be read",
                   args->out);
        return TOOL_FAILED;
    }
    int result = lab_write(args, &report);
    lab_free(&report);
    return result;
}

/* The backends of --backends, in `names`. */
static size_t lab_backends(const char *list, char names[][16],
                           struct storm_bench_lab_params *params)
{
    size_t n = 0;
    while (*list != '\0' && n < STORM_LAB_MAX_BACKENDS) {
        size_t length = strcspn(list, ",");
        snprintf(names[n], 16, "%.*s", (int)length, list);
        if (strcmp(names[n], "sim") != 0 && strcmp(names[n], "p2p") != 0)
            return 0;
        params->backend[n] = names[n];
        n++;
        list += length + (list[length] == ',');
    }
    return *list == '\0' ? n : 0;
}

/* The command line, as far as there is room. */
static void lab_command(const struct tool_args *args, char *text, size_t bytes)
{
    size_t n = (size_t)snprintf(text, bytes, "storm");
    for (int i = 1; i < args->n_child && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, " %s", args->child_argv[i]);
}

static int lab_scaling(struct tool_args *args)
{
    const struct tool_lab *lab = &args->params.lab;
    char names[STORM_LAB_MAX_BACKENDS][16], command[1100];
    struct storm_bench_lab_params params = {
        .mode = lab->mode, .uneven = lab->uneven, .ranks = lab->ranks};
    params.n_backends = lab_backends(lab->backends, names, &params);
    if (params.n_backends == 0)
        return tool_usage("--backends: sim (one-sided) and p2p are simulated");
    size_t n = lab->ranks.n * params.n_backends;
    char **points = calloc(n, sizeof *points);
    char *published = lab->published ? lab_file(lab->published) : NULL;
    int status = points != NULL ? TOOL_OK : TOOL_FAILED;
    if (lab->published != NULL && published == NULL)
        status = tool_usage("--published: cannot read %s", lab->published);
    for (size_t i = 0; i < n && status == TOOL_OK; i++) {
        points[i] = lab_point(args, lab->ranks.value[i / params.n_backends],
                              params.backend[i % params.n_backends]);
        if (points[i] == NULL)
            status = TOOL_FAILED;
    }
    lab_command(args, command, sizeof command);
    params.points = (const char *const *)points;
    params.published = published;
    params.command = command;
    if (status == TOOL_OK)
        status = lab_report(args, &params);
    for (size_t i = 0; points != NULL && i < n; i++)
        free(points[i]);
    free(points);
    free(published);
    return status;
}

static int lab_check(const struct tool_lab *lab)
{
    for (size_t i = 1; i < lab->ranks.n; i++)
        if (lab->ranks.value[i] <= lab->ranks.value[i - 1])
            return tool_usage("--ranks: the numbers must rise");
    if (lab->timed > lab->cycles)
        return tool_usage("--timed %u: there are only %u cycles", lab->timed,
                          lab->cycles);
    if (lab->uneven >= 10)
        return tool_usage("--uneven: below 10");
    return TOOL_OK;
}

/* What was not given. */
static void lab_fill_in(struct tool_args *args)
{
    struct tool_lab *lab = &args->params.lab;
    if (lab->ranks.n == 0)
        lab->ranks = (struct storm_bench_numbers){{64, 128, 256}, 3};
    lab->cells_per_rank = lab->cells_per_rank ? lab->cells_per_rank : 100;
    lab->emit = lab->emit ? lab->emit : 5;
    lab->cycles = lab->cycles ? lab->cycles : 3;
    lab->timed = lab->timed        ? lab->timed
                 : lab->cycles > 1 ? lab->cycles - 1
                                   : 1;
    lab->crossings = lab->crossings > 0 ? lab->crossings : 15;
    lab->uneven = lab->uneven > 0 ? lab->uneven : 1;
    lab->slow_factor = lab->slow_factor > 0 ? lab->slow_factor : 2;
    lab->backends = lab->backends ? lab->backends : "sim,p2p";
    args->out = args->out ? args->out : "out/lab";
}

/* With all arguments, and room for the costs of a file. */
static int lab_run(struct tool_args *args)
{
    struct tool_lab *lab = &args->params.lab;
    lab_fill_in(args);
    int status = lab_check(lab);
    if (status == TOOL_OK)
        status = tool_check_json(args);
    if (status == TOOL_OK)
        status = tool_directory(args->out);
    if (status == TOOL_OK && !(lab->event_ns > 0))
        status = lab_measure(lab);
    return status == TOOL_OK ? lab_scaling(args) : status;
}

static int lab_run_with(struct tool_args *args, char *file)
{
    const char **given = args->sets;
    size_t n_lines = 1;
    for (const char *c = file; *c != '\0'; c++)
        n_lines += *c == '\n';
    args->sets = calloc(args->n_sets + n_lines, sizeof *args->sets);
    int status = args->sets != NULL ? TOOL_OK : TOOL_FAILED;
    for (size_t i = 0; i < args->n_sets && status == TOOL_OK; i++)
        args->sets[i] = given[i];
    if (status == TOOL_OK)
        status = lab_add_costs(args, file);
    if (status == TOOL_OK)
        status = lab_run(args);
    free(args->sets);
    return status;
}

int tool_lab(const struct tool_args *given)
{
    struct tool_args args = *given;
    const char *costs = args.params.lab.costs;
    char path[TOOL_PATH_BYTES];
    if (!lab_beside("lab/storm-sim", path)) {
        fprintf(stderr, "storm: error: no simulator beside this program; in "
                        "the source tree, 'make lab' builds one, and "
                        "build/storm then has it\n");
        return TOOL_FAILED;
    }
    if (costs == NULL)
        return lab_run(&args);
    char *file = lab_file(costs);
    if (file == NULL)
        return tool_usage("--costs: cannot read %s", costs);
    int status = lab_run_with(&args, file);
    free(file);
    return status;
}
