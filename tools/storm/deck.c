/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a deck, and storm check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/deck.h>
#include <storm/info.h>
#include <storm/run.h>

#include "tool.h"

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

/* Memory and time of a run, as far as a deck tells. */
static void deck_print_needs(const struct tool_args *args,
                             const struct storm_deck *deck)
{
    struct storm_run_needs needs = STORM_RUN_NEEDS_INIT;
    uint64_t cores = (uint64_t)storm_host_cores();
    uint64_t ranks = args->ranks > 0 ? args->ranks : cores;
    if (storm_run_estimate(deck, ranks, cores, &needs) < 0)
        return;
    printf("  cells       %llu\n"
           "  packets     up to %llu in a step\n"
           "  memory      about %.3g MB a rank, %.3g MB in all (-n %llu)\n"
           "  time        about %.1g s a step at first, %.1g s in the longest, "
           "on %llu cores,\n"
           "              within a factor of ten\n",
           (unsigned long long)needs.cells, (unsigned long long)needs.packets,
           1e-6 * needs.rank_bytes, 1e-6 * needs.total_bytes,
           (unsigned long long)ranks, needs.step_s, needs.max_step_s,
           (unsigned long long)(ranks < cores ? ranks : cores));
}

int tool_check(const struct tool_args *args)
{
    if (args->keys)
        return deck_keys();
    struct storm_deck *deck;
    char problem[256];
    int status = tool_read_deck(args, &deck);
    if (status != TOOL_OK)
        return status;
    if (args->resolved)
        fputs(storm_deck_text(deck), stdout);
    else if (storm_run_check(deck, problem, sizeof problem) < 0)
        fprintf(stderr, "storm: warning: %s: valid, but %s\n", args->deck,
                problem);
    else if (!args->quiet) {
        printf("%s: valid\n", args->deck);
        deck_print_needs(args, deck);
    }
    storm_deck_destroy(deck);
    return TOOL_OK;
}
