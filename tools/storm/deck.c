/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a deck, and storm check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/deck.h>
#include <storm/info.h>
#include <storm/run.h>

#include "tool.h"

enum { DECK_BYTES_TEXT = 32 };

/* Prints each line as an error, on the first rank alone. */
static void deck_print_errors(const char *lines)
{
    struct tool_launcher launcher = tool_launcher();
    if (launcher.is_there && launcher.rank != 0)
        return;
    while (*lines != '\0') {
        int length = (int)strcspn(lines, "\n");
        fprintf(stderr, "storm: error: %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

int tool_read_deck(const struct tool_args *args, struct storm_deck **deck_out)
{
    char *problems = NULL, seed[64];
    struct storm_deck *deck = NULL;
    size_t n_sets = args->n_sets;
    /* deck.yaml of the run needs it: a restart must have the same. */
    if (storm_options_is_set(args->options, "seed")) {
        snprintf(seed, sizeof seed, "seed=%s",
                 storm_options_text(args->options, "seed"));
        args->sets[n_sets++] = seed;
    }
    storm_status status =
        storm_deck_read(args->deck, args->sets, n_sets, &deck, &problems);
    if (status == STORM_OK)
        status = storm_deck_set_options(deck, args->options);
    if (status == STORM_OK) {
        *deck_out = deck;
        return TOOL_OK;
    }
    deck_print_errors(problems != NULL ? problems : storm_status_name(status));
    free(problems);
    storm_deck_destroy(deck);
    return status == STORM_ERR_IO ? TOOL_USAGE : TOOL_FAILED;
}

static int deck_keys(void)
{
    char *text = storm_deck_reference();
    bool good = text != NULL && fputs(text, stdout) >= 0;
    free(text);
    return good ? TOOL_OK : TOOL_FAILED;
}

/* "13.5 MB": to three digits in a unit that is easy to read. */
static const char *deck_bytes(double bytes, char text_out[DECK_BYTES_TEXT])
{
    static const char *const units[] = {"MB", "GB", "TB", "PB", "EB"};
    size_t i = 0;
    for (bytes *= 1e-6; bytes >= 9999.5 && i < 4; i++)
        bytes *= 1e-3;
    snprintf(text_out, DECK_BYTES_TEXT, "%.*f %s",
             bytes < 9.995   ? 2
             : bytes < 99.95 ? 1
                             : 0,
             bytes, units[i]);
    return text_out;
}

/* All ranks are taken to be on this machine. */
static void deck_warn_memory(const struct tool_args *args, double total_bytes)
{
    char needed[DECK_BYTES_TEXT], there[DECK_BYTES_TEXT];
    double has = storm_host_memory();
    if (has > 0.0 && total_bytes > has)
        fprintf(stderr,
                "storm: warning: %s: needs about %s of memory, this machine "
                "has %s: use fewer cells or packets, or more nodes\n",
                args->deck, deck_bytes(total_bytes, needed),
                deck_bytes(has, there));
}

/* Memory and time of a run, as far as a deck tells. */
static void deck_print_needs(const struct tool_args *args,
                             const struct storm_deck *deck)
{
    struct storm_run_needs needs = STORM_RUN_NEEDS_INIT;
    char rank[DECK_BYTES_TEXT], all[DECK_BYTES_TEXT];
    uint64_t cores = (uint64_t)tool_cores();
    uint64_t ranks = args->ranks > 0 ? args->ranks : tool_default_ranks();
    if (storm_run_estimate(deck, ranks, cores, &needs) < 0)
        return;
    printf("  cells       %llu%s\n"
           "  packets     up to %llu in a step\n"
           "  memory      about %s a rank, %s in all (-n %llu)\n"
           "  time        about %.1g s a step at first, %.1g s in the longest, "
           "on %llu cores,\n"
           "              within a factor of ten\n",
           (unsigned long long)needs.cells,
           needs.is_min ? " or more (refine_levels not counted, also below)"
                        : "",
           (unsigned long long)needs.packets,
           deck_bytes(needs.rank_bytes, rank),
           deck_bytes(needs.total_bytes, all), (unsigned long long)ranks,
           needs.step_s, needs.max_step_s,
           (unsigned long long)(ranks < cores ? ranks : cores));
    deck_warn_memory(args, needs.total_bytes);
}

static void deck_print_doubts(const struct tool_args *args,
                              const struct storm_deck *deck)
{
    char text[4096];
    storm_run_doubts(deck, text, sizeof text);
    for (const char *line = text; *line != '\0';) {
        int n = (int)strcspn(line, "\n");
        fprintf(stderr, "storm: warning: %s: %.*s\n", args->deck, n, line);
        line += n + (line[n] == '\n');
    }
}

int tool_check_files(const struct storm_deck *deck)
{
    char problem[1024];
    storm_status status = storm_run_check_files(deck, problem, sizeof problem);
    if (status >= 0)
        return TOOL_OK;
    fprintf(stderr, "storm: error: %s\n",
            problem[0] != '\0' ? problem : storm_status_name(status));
    return status == STORM_ERR_NOMEM ? TOOL_FAILED : TOOL_USAGE;
}

int tool_check(const struct tool_args *args)
{
    if (args->keys)
        return deck_keys();
    struct storm_deck *deck;
    char problem[1024];
    int status = tool_read_deck(args, &deck);
    if (status != TOOL_OK)
        return status;
    status = tool_check_files(deck);
    if (status != TOOL_OK) {
        storm_deck_destroy(deck);
        return status;
    }
    if (args->resolved)
        fputs(storm_deck_text(deck), stdout);
    else if (storm_run_check(deck, problem, sizeof problem) < 0)
        fprintf(stderr, "storm: warning: %s: valid, but %s\n", args->deck,
                problem);
    else if (!args->quiet) {
        printf("%s: valid\n", args->deck);
        deck_print_doubts(args, deck);
        deck_print_needs(args, deck);
    }
    storm_deck_destroy(deck);
    return TOOL_OK;
}
